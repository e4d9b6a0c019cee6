(class_declaration name: (identifier) @name [(superclass) (super_interfaces)]* @bases) @definition.class @scope.class
(interface_declaration name: (identifier) @name (extends_interfaces)? @bases) @definition.interface @scope.class
(enum_declaration name: (identifier) @name (super_interfaces)? @bases) @definition.enum @scope.class
(record_declaration name: (identifier) @name (super_interfaces)? @bases) @definition.record @scope.class
(annotation_type_declaration name: (identifier) @name) @definition.annotation @scope.class
(method_declaration name: (identifier) @name) @definition.method @scope.function
(constructor_declaration name: (identifier) @name @unbound) @definition.constructor @scope.function
(compact_constructor_declaration name: (identifier) @name @unbound) @definition.constructor @scope.function
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.field
(enum_constant name: (identifier) @name body: (class_body)? @scope.class) @definition.enum_member
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @definition.field))
(object_creation_expression (class_body) @scope.class)
[(method_declaration type_parameters: (_)) (constructor_declaration type_parameters: (_))] @scope.template
(lambda_expression) @scope.function
[(block) (for_statement) (enhanced_for_statement) (try_with_resources_statement) (catch_clause) (switch_block)
 (switch_block_statement_group) (switch_rule)] @scope.block

(formal_parameter name: (identifier) @bind.param)
(spread_parameter (variable_declarator name: (identifier) @bind.param))
(lambda_expression parameters: (identifier) @bind.param)
(inferred_parameters (identifier) @bind.param)
(catch_formal_parameter name: (identifier) @bind.param)
(type_parameter . (type_identifier) @bind.param)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @bind.local))
(enhanced_for_statement name: (identifier) @bind.local)
(resource name: (identifier) @bind.local)
(instanceof_expression name: (identifier) @bind.local)
(type_pattern (identifier) @bind.local)
(record_pattern_component (identifier) @bind.local)

(import_declaration "static" (scoped_identifier scope: (_) @source name: (identifier) @imported) .) @import.java_import_static
(import_declaration "static" (scoped_identifier) @source (asterisk) @everything) @import.java_import_static
(import_declaration (scoped_identifier scope: (_) @source name: (identifier) @imported) .) @import.java_import
(import_declaration (scoped_identifier) @source (asterisk) @everything) @import.java_import

(element_value_pair key: (identifier) @label)
(labeled_statement . (identifier) @label)
(method_invocation name: (identifier) @_f arguments: (argument_list . (string_literal) @key)
  (#any-of? @_f "forName" "getMethod" "getDeclaredMethod" "getField" "getDeclaredField")) @dynamic.reflect
[(line_comment) (block_comment) (string_literal) (character_literal)] @text
(package_declaration (_) @text)
