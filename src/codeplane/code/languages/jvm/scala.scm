(class_definition name: (identifier) @name extend: (_)? @bases) @definition.class @scope.class
(object_definition name: (identifier) @name extend: (_)? @bases) @definition.object @scope.class
(trait_definition name: (identifier) @name extend: (_)? @bases) @definition.trait @scope.class
(enum_definition name: (identifier) @name extend: (_)? @bases) @definition.enum @scope.class
(simple_enum_case name: (identifier) @name) @definition.enum_member
(full_enum_case name: (identifier) @name) @definition.enum_member
(function_definition name: (identifier) @name) @definition.function @scope.function
(function_declaration name: (identifier) @name) @definition.function @scope.function
(type_definition name: (type_identifier) @name) @definition.type
(template_body (val_definition pattern: (identifier) @name) @definition.field)
(template_body (var_definition pattern: (identifier) @name) @definition.field)
(template_body (val_declaration name: (identifier) @name) @definition.field)
(template_body (var_declaration name: (identifier) @name) @definition.field)
(lambda_expression) @scope.function
[(block) (for_expression) (case_clause)] @scope.block
(instance_expression (template_body) @scope.class)

(parameter name: (identifier) @bind.param)
(class_parameter name: (identifier) @bind.param)
(binding name: (identifier) @bind.param)
(lambda_expression parameters: (identifier) @bind.param)
(type_parameters name: (identifier) @bind.param)
(val_definition pattern: (identifier) @bind.local)
(var_definition pattern: (identifier) @bind.local)
(val_definition pattern: (tuple_pattern (identifier) @bind.local))
(enumerator . (identifier) @bind.local)
(enumerator . (tuple_pattern (identifier) @bind.local))
((case_clause pattern: (identifier) @bind.local) (#match? @bind.local "^[_a-z]"))
(typed_pattern pattern: (identifier) @bind.local)
((case_class_pattern type: (_) pattern: (identifier) @bind.local) (#match? @bind.local "^[_a-z]"))

(import_declaration . (identifier) @source (namespace_wildcard) @everything @until .) @import.scala_import
(import_declaration . (identifier) @source (namespace_selectors (identifier) @imported) @until) @import.scala_import
(import_declaration . (identifier) @source (namespace_selectors
  [(arrow_renamed_identifier name: (identifier) @imported alias: (identifier) @alias)
   (as_renamed_identifier name: (identifier) @imported alias: (identifier) @alias)]) @until) @import.scala_import
(import_declaration . (identifier) @source (identifier) @imported @until .) @import.scala_import

[(comment) (block_comment) (string) (character_literal) (interpolated_string)] @text
(interpolated_string_expression interpolator: (identifier) @label)
(interpolation) @hole
