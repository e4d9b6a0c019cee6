; What TypeScript has for itself; it stands before what it shares, and so decides.
[(class_declaration name: (type_identifier) @name (class_heritage)? @bases)
 (abstract_class_declaration name: (type_identifier) @name (class_heritage)? @bases)] @definition.class @scope.class
(class name: (type_identifier)? @bind.local) @scope.class
(interface_declaration name: (type_identifier) @name (extends_type_clause)? @bases) @definition.interface @scope.interface
(type_alias_declaration name: (type_identifier) @name) @definition.type @scope.type
(enum_declaration name: (identifier) @name body: (enum_body) @scope.enum) @definition.enum
(enum_body name: (property_identifier) @name @definition.enum_member)
(enum_assignment name: (property_identifier) @name) @definition.enum_member
(enum_body name: (string (string_fragment) @name) @definition.enum_member)
(enum_assignment name: (string (string_fragment) @name)) @definition.enum_member
(internal_module name: (nested_identifier) @name @unbound body: (statement_block) @scope.namespace) @definition.namespace
(internal_module name: (identifier) @name body: (statement_block) @scope.namespace) @definition.namespace
(module name: (string (string_fragment) @name @unbound) body: (statement_block) @scope.namespace) @definition.module
(module name: (identifier) @name body: (statement_block) @scope.namespace) @definition.namespace
(ambient_declaration (statement_block) @scope.namespace)
(function_signature name: (identifier) @name) @definition.function @scope.function
(method_signature name: [(property_identifier) (private_property_identifier)] @name) @definition.method @scope.function
(abstract_method_signature name: (property_identifier) @name) @definition.method @scope.function
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)] @scope.function) @definition.method
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name) @definition.field
(interface_body (property_signature name: (property_identifier) @name) @definition.field)
; The fields of a type that is one object, or several: each further one of these lies a level deeper.
(type_alias_declaration value: [
  (object_type (property_signature name: (property_identifier) @name) @definition.field)
  (union_type (object_type (property_signature name: (property_identifier) @name) @definition.field))
  (union_type (union_type (object_type (property_signature name: (property_identifier) @name) @definition.field)))
  (union_type (union_type (union_type (object_type (property_signature name: (property_identifier) @name) @definition.field))))
  (union_type (union_type (union_type (union_type (object_type (property_signature name: (property_identifier) @name) @definition.field)))))
  (union_type (union_type (union_type (union_type (union_type (object_type (property_signature name: (property_identifier) @name) @definition.field))))))
  (union_type (union_type (union_type (union_type (union_type (union_type (object_type (property_signature name: (property_identifier) @name) @definition.field)))))))
  (union_type (union_type (union_type (union_type (union_type (union_type (union_type (object_type (property_signature name: (property_identifier) @name) @definition.field))))))))
  (intersection_type (object_type (property_signature name: (property_identifier) @name) @definition.field))
  (intersection_type (intersection_type (object_type (property_signature name: (property_identifier) @name) @definition.field)))
  (intersection_type (intersection_type (intersection_type (object_type (property_signature name: (property_identifier) @name) @definition.field))))
  (generic_type type_arguments: (type_arguments (object_type (property_signature name: (property_identifier) @name) @definition.field)))])
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @definition.field
(required_parameter "readonly" pattern: (identifier) @name) @definition.field
(optional_parameter (accessibility_modifier) pattern: (identifier) @name) @definition.field

[(function_type) (constructor_type) (call_signature) (construct_signature)] @scope.function
(index_signature (mapped_type_clause name: (type_identifier) @bind.param)) @scope.block
(conditional_type) @scope.block

(formal_parameters (required_parameter pattern: [(identifier) (object_pattern) (array_pattern) (rest_pattern)] @bind.param))
(formal_parameters (optional_parameter pattern: [(identifier) (object_pattern) (array_pattern) (rest_pattern)] @bind.param))
(type_parameter name: (type_identifier) @bind.param)
(infer_type . (type_identifier) @bind.param)
(import_alias . (identifier) @bind.local)

(import_statement "type" (import_clause (identifier) @default) source: (string) @source) @import.ts_import_type
(import_statement "type" (import_clause (namespace_import (identifier) @alias)) source: (string) @source) @import.ts_import_type
(import_statement "type" (import_clause (named_imports)) source: (string) @source) @given.ts_import_type
(import_specifier "type" name: _ @imported alias: (identifier)? @alias) @import.ts_import_type
(import_statement (import_require_clause (identifier) @alias source: (string) @source)) @import.js_require

(export_statement "=" (identifier) @exported) @export.module_exports

(property_signature name: (property_identifier) @label)
(index_signature name: (identifier) @label)
(tuple_type (required_parameter pattern: (identifier) @label))
(tuple_type (optional_parameter pattern: (identifier) @label))
(template_literal_type (string_fragment) @text)
