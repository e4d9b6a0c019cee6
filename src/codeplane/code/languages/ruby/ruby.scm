(class name: (constant) @name superclass: (_)? @bases) @definition.class @scope.class
(class name: (scope_resolution scope: (_) @receiver name: (constant) @name) superclass: (_)? @bases) @definition.class @scope.class
(module name: (constant) @name) @definition.module @scope.class
(module name: (scope_resolution scope: (_) @receiver name: (constant) @name)) @definition.module @scope.class
(singleton_class) @scope.class
(method name: (_) @name) @definition.function @scope.function
(singleton_method object: (self) name: (_) @name) @definition.method @scope.function
(singleton_method object: (constant) @receiver name: (_) @name) @definition.method @scope.function
(alias name: (_) @name) @definition.alias
(call method: (identifier) @_alias arguments: (argument_list . (simple_symbol) @name)
  (#eq? @_alias "alias_method")) @definition.alias
(call method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_attr "attr_reader" "attr_writer" "attr_accessor")) @definition.accessor
(assignment left: (instance_variable) @name) @definition.field
(operator_assignment left: (instance_variable) @name) @definition.field
(call method: (identifier) @_opens block: [(block) (do_block)] @scope.class
  (#any-of? @_opens "refine" "class_eval" "class_exec" "class_methods" "included" "instance_eval" "module_eval" "prepended"))
(call receiver: (constant) @_made method: (identifier) @_new block: [(block) (do_block)] @scope.class
  (#any-of? @_made "Class" "Data" "Module" "Struct") (#any-of? @_new "define" "new"))
[(block) (do_block) (lambda)] @scope.lambda

(method_parameters [(identifier) @bind.param
  (optional_parameter name: (identifier) @bind.param) (keyword_parameter name: (identifier) @bind.param)
  (splat_parameter name: (identifier) @bind.param) (hash_splat_parameter name: (identifier) @bind.param)
  (block_parameter name: (identifier) @bind.param) (destructured_parameter (identifier) @bind.param)])
(block_parameters [(identifier) @bind.param
  (optional_parameter name: (identifier) @bind.param) (keyword_parameter name: (identifier) @bind.param)
  (splat_parameter name: (identifier) @bind.param) (hash_splat_parameter name: (identifier) @bind.param)
  (block_parameter name: (identifier) @bind.param) (destructured_parameter (identifier) @bind.param)])
(lambda_parameters [(identifier) @bind.param (optional_parameter name: (identifier) @bind.param)
  (keyword_parameter name: (identifier) @bind.param) (splat_parameter name: (identifier) @bind.param)])
(assignment left: [(identifier) (constant)] @bind.assigned)
(operator_assignment left: (identifier) @bind.assigned)
(left_assignment_list (identifier) @bind.assigned)
(exception_variable (identifier) @bind.local)
(for pattern: (identifier) @bind.local)

(call method: (identifier) @_require arguments: (argument_list . (string (string_content) @source @everything))
  (#any-of? @_require "require" "load")) @import.ruby_require
(call method: (identifier) @_require arguments: (argument_list . (string (string_content) @source @everything))
  (#eq? @_require "require_relative")) @import.ruby_require_relative

(call method: (identifier) @_send arguments: (argument_list . [(simple_symbol) (string)]? @key)
  (#any-of? @_send "send" "public_send" "__send__" "define_method" "instance_variable_get" "instance_variable_set" "const_get")) @dynamic.send
(call method: (identifier) @_eval (#any-of? @_eval "eval" "instance_eval" "class_eval" "module_eval")) @dynamic.eval
(hash_key_symbol) @label
(keyword_parameter name: (identifier) @label)
[(comment) (string_content) (simple_symbol) (heredoc_content) (heredoc_beginning) (heredoc_end) (escape_sequence)] @text
