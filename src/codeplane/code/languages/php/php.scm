(class_declaration name: (name) @name [(base_clause) (class_interface_clause)]* @bases) @definition.class @scope.class
(interface_declaration name: (name) @name (base_clause)? @bases) @definition.interface @scope.class
(trait_declaration name: (name) @name) @definition.trait @scope.class
(enum_declaration name: (name) @name) @definition.enum @scope.class
(enum_case name: (name) @name) @definition.enum_member
(function_definition name: (name) @name) @definition.function @scope.function
(method_declaration name: (name) @name) @definition.method @scope.function
(namespace_definition name: (namespace_name) @name @unbound body: (compound_statement)? @scope.namespace) @definition.namespace
(const_declaration (const_element (name) @name)) @definition.constant
(property_element name: (variable_name (name) @name)) @definition.field
(property_promotion_parameter name: (variable_name (name) @name)) @definition.field
(function_call_expression function: (name) @_define arguments: (arguments . (argument (string (string_content) @name @unbound)))
  (#eq? @_define "define")) @definition.constant
[(anonymous_function) (arrow_function)] @scope.function
(anonymous_class (declaration_list) @scope.class)

(simple_parameter name: (variable_name) @bind.param)
(variadic_parameter name: (variable_name) @bind.param)
(property_promotion_parameter name: (variable_name) @bind.param)
(anonymous_function_use_clause (variable_name) @bind.param)
(catch_clause name: (variable_name) @bind.param)
(assignment_expression left: (variable_name) @bind.local)
(augmented_assignment_expression left: (variable_name) @bind.local)
(list_literal (variable_name) @bind.local)
(foreach_statement (_) . (variable_name) @bind.local)
(foreach_statement (pair (variable_name) @bind.local))
(global_declaration (variable_name) @bind.global)

(namespace_use_declaration (namespace_name) @source body: (namespace_use_group
  (namespace_use_clause (name) @imported alias: (name)? @alias))) @import.php_use
(namespace_use_declaration (namespace_use_clause
  (qualified_name prefix: (_) @source (name) @imported) alias: (name)? @alias)) @import.php_use
(namespace_use_declaration (namespace_use_clause . (name) @imported)) @import.php_use
[(require_expression (string) @source @everything) (require_once_expression (string) @source @everything)
 (include_expression (string) @source @everything) (include_once_expression (string) @source @everything)] @import.php_require

(function_call_expression function: (variable_name)) @dynamic.variable_call
(dynamic_variable_name) @dynamic.variable_variable
(function_call_expression function: (name) @_eval (#any-of? @_eval "call_user_func" "call_user_func_array" "func_get_args")) @dynamic.call
(argument name: (name) @label)
(named_label_statement (name) @label)
(use_as_clause . (name) @label)
[(comment) (string) (string_content) (heredoc_start) (nowdoc_body) (escape_sequence) (text) (php_tag)] @text
