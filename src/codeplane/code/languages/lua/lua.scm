(function_declaration name: (identifier) @name) @definition.function @scope.function
(function_declaration name: (dot_index_expression table: (_) @receiver field: (identifier) @name)) @definition.function @scope.function
(function_declaration name: (method_index_expression table: (_) @receiver method: (identifier) @name)) @definition.method @scope.function
(assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition) @scope.function .)) @definition.function
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @receiver field: (identifier) @name) .)
  (expression_list . value: (function_definition) @scope.function .)) @definition.function
(field name: (identifier) @name @unbound value: (function_definition) @scope.function) @definition.function
(function_definition) @scope.function
[(for_statement) (while_statement) (repeat_statement) (do_statement)] @scope.block
(if_statement consequence: (block) @scope.block)
(else_statement (block) @scope.block)
(elseif_statement consequence: (block) @scope.block)

(parameters name: (identifier) @bind.param)
(variable_declaration (assignment_statement (variable_list name: (identifier) @bind.local)))
(variable_declaration (variable_list name: (identifier) @bind.local))
(chunk (assignment_statement (variable_list name: (identifier) @bind.local)))
(for_generic_clause (variable_list name: (identifier) @bind.local))
(for_numeric_clause name: (identifier) @bind.local)

(variable_declaration (assignment_statement (variable_list . name: (identifier) @alias)
  (expression_list . value: (function_call name: (identifier) @_require arguments: (arguments . (string) @source))))
  (#eq? @_require "require")) @import.lua_require
(function_call name: (identifier) @_require arguments: (arguments . (string) @source) (#eq? @_require "require")) @import.lua_require

(field name: (identifier) @label)
(goto_statement (identifier) @label)
(label_statement (identifier) @label)
(function_call name: (identifier) @_eval (#any-of? @_eval "load" "loadstring" "dofile")) @dynamic.eval
[(comment) (string)] @text
