(function_declaration name: (identifier) @name) @definition.function @scope.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @receiver
    (pointer_type (type_identifier) @receiver)
    (generic_type type: (type_identifier) @receiver)
    (pointer_type (generic_type type: (type_identifier) @receiver))]))
  name: (field_identifier) @name) @definition.method @scope.function
(type_spec name: (type_identifier) @name type: (struct_type)) @definition.struct @scope.class
(type_spec name: (type_identifier) @name type: (interface_type)) @definition.interface @scope.class
(type_spec name: (type_identifier) @name) @definition.type @scope.type
(type_alias name: (type_identifier) @name) @definition.type
(field_declaration name: (field_identifier) @name) @definition.field
(method_elem name: (field_identifier) @name) @definition.method @scope.function
(source_file (const_declaration (const_spec name: (identifier) @name) @definition.constant))
[(func_literal) (function_type)] @scope.function
[(if_statement) (for_statement) (expression_switch_statement) (type_switch_statement) (select_statement)
 (expression_case) (type_case) (default_case) (communication_case)] @scope.block
(if_statement [consequence: (block) alternative: (block)] @scope.block)
(for_statement body: (block) @scope.block)
[(slice_type [(struct_type) (interface_type)] @scope.class)
 (array_type [(struct_type) (interface_type)] @scope.class)
 (implicit_length_array_type (struct_type) @scope.class)
 (map_type [(struct_type) (interface_type)] @scope.class)
 (channel_type [(struct_type) (interface_type)] @scope.class)
 (pointer_type (struct_type) @scope.class)
 (composite_literal type: (struct_type) @scope.class)
 (var_spec type: [(struct_type) (interface_type)] @scope.class)
 (field_declaration type: [(struct_type) (interface_type)] @scope.class)
 (parameter_declaration type: [(struct_type) (interface_type)] @scope.class)
 (variadic_parameter_declaration type: (interface_type) @scope.class)
 (type_assertion_expression type: (interface_type) @scope.class)
 (type_case type: (interface_type) @scope.class)
 (type_constraint (interface_type) @scope.class)
 (argument_list [(struct_type) (interface_type)] @scope.class)
 (function_declaration result: [(struct_type) (interface_type)] @scope.class)
 (method_declaration result: [(struct_type) (interface_type)] @scope.class)
 (function_type result: [(struct_type) (interface_type)] @scope.class)]
(statement_list (block) @scope.block)

(parameter_declaration name: (identifier) @bind.param)
(variadic_parameter_declaration name: (identifier) @bind.param)
(type_parameter_declaration name: (identifier) @bind.param)
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @bind.param)))
  (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @bind.param))))])))
(var_spec name: (identifier) @bind.local)
(const_spec name: (identifier) @bind.local)
(short_var_declaration left: (expression_list (identifier) @bind.local))
(range_clause left: (expression_list (identifier) @bind.local) ":=")
(type_switch_statement alias: (expression_list (identifier) @bind.local))
(receive_statement left: (expression_list (identifier) @bind.local) ":=")

(import_spec name: (dot) @everything path: (_) @source) @import.go_import
(import_spec name: [(package_identifier) (blank_identifier)]? @alias path: (_) @source) @import.go_import

(composite_literal type: [(type_identifier) (qualified_type) (generic_type)]
  body: (literal_value (keyed_element key: (literal_element (identifier) @label))))
(label_name) @label
[(comment) (interpreted_string_literal) (raw_string_literal) (rune_literal)] @text
