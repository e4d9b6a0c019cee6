(class_declaration name: (identifier) @name (base_list)? @bases) @definition.class @scope.class
(interface_declaration name: (identifier) @name (base_list)? @bases) @definition.interface @scope.class
(struct_declaration name: (identifier) @name (base_list)? @bases) @definition.struct @scope.class
(record_declaration name: (identifier) @name (base_list)? @bases) @definition.record @scope.class
(enum_declaration name: (identifier) @name) @definition.enum @scope.enum
(enum_member_declaration name: (identifier) @name) @definition.enum_member
(namespace_declaration name: (_) @name @unbound) @definition.namespace @scope.namespace
(file_scoped_namespace_declaration name: (_) @name @unbound) @definition.namespace
(delegate_declaration name: (identifier) @name) @definition.delegate @scope.function
(method_declaration name: (identifier) @name) @definition.method @scope.function
(local_function_statement name: (identifier) @name) @definition.function @scope.function
(constructor_declaration name: (identifier) @name @unbound) @definition.constructor @scope.function
(destructor_declaration name: (identifier) @name @unbound) @definition.method @scope.function
(property_declaration name: (identifier) @name) @definition.property
(event_declaration name: (identifier) @name) @definition.event
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.event
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field
(record_declaration (parameter_list (parameter name: (identifier) @name) @definition.field))
[(operator_declaration) (conversion_operator_declaration) (indexer_declaration) (lambda_expression)
 (anonymous_method_expression) (accessor_declaration)] @scope.function
[(block) (for_statement) (foreach_statement) (catch_clause) (using_statement) (switch_section)] @scope.block

(parameter name: (identifier) @bind.param)
(parameter_list name: (identifier) @bind.param)
(implicit_parameter) @bind.param
(type_parameter name: (identifier) @bind.param)
(catch_declaration name: (identifier) @bind.param)
(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @bind.local)))
(for_statement initializer: (variable_declaration (variable_declarator name: (identifier) @bind.local)))
(using_statement (variable_declaration (variable_declarator name: (identifier) @bind.local)))
(foreach_statement left: (identifier) @bind.local)
(declaration_pattern name: (identifier) @bind.local)
(declaration_expression name: (identifier) @bind.local)

(using_directive "static" [(identifier) (qualified_name)] @source @everything) @import.csharp_using_static
(using_directive name: (identifier) @alias [(qualified_name) (identifier) (generic_name)] @source .) @import.csharp_using_alias
(using_directive !name [(identifier) (qualified_name)] @source @everything) @import.csharp_using

(argument name: (identifier) @label)
(labeled_statement . (identifier) @label)
[(comment) (string_literal) (verbatim_string_literal) (raw_string_literal) (character_literal) (string_content)
 (interpolation_start)] @text
