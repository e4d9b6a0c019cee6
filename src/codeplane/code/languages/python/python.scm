; Definitions and the scopes they open.
(class_definition
  name: (identifier) @name
  type_parameters: (_)
  superclasses: (argument_list)? @bases
  body: (block) @scope.class) @definition.class @scope.type
(class_definition
  name: (identifier) @name
  superclasses: (argument_list)? @bases
  body: (block) @scope.class) @definition.class
(function_definition
  name: (identifier) @name
  parameters: (parameters)) @definition.function @scope.function
(type_alias_statement left: (type [(identifier) @name (generic_type (identifier) @name)])) @definition.type @scope.type
(lambda) @scope.lambda
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope.comprehension

; Fields a class gets in its methods.
(assignment left: (attribute object: (identifier) @self attribute: (identifier) @name)
  (#any-of? @self "self" "cls")) @definition.field

(pattern_list (attribute object: (identifier) @self attribute: (identifier) @name) @definition.field
  (#any-of? @self "self" "cls"))

; Bindings.
(parameters (identifier) @bind.param)
(parameters [(default_parameter name: (identifier) @bind.param)
             (typed_default_parameter name: (identifier) @bind.param)
             (typed_parameter . (identifier) @bind.param)
             (typed_parameter (list_splat_pattern (identifier) @bind.param))
             (typed_parameter (dictionary_splat_pattern (identifier) @bind.param))
             (list_splat_pattern (identifier) @bind.param)
             (dictionary_splat_pattern (identifier) @bind.param)])
(lambda_parameters [(identifier) @bind.param
                    (default_parameter name: (identifier) @bind.param)
                    (list_splat_pattern (identifier) @bind.param)
                    (dictionary_splat_pattern (identifier) @bind.param)])
(default_parameter value: (_) @outer)
(typed_default_parameter value: (_) @outer)
(function_definition !type_parameters parameters: (parameters
  [(typed_parameter type: (type) @outer) (typed_default_parameter type: (type) @outer)]))
(function_definition !type_parameters return_type: (type) @outer)
[(list_comprehension body: (_) . (for_in_clause right: (_) @outer))
 (set_comprehension body: (_) . (for_in_clause right: (_) @outer))
 (dictionary_comprehension body: (_) . (for_in_clause right: (_) @outer))
 (generator_expression body: (_) . (for_in_clause right: (_) @outer))]
[(function_definition type_parameters: (type_parameter (type [(identifier) @bind.param
   (splat_type (identifier) @bind.param) (constrained_type . (type (identifier) @bind.param))])))
 (class_definition type_parameters: (type_parameter (type [(identifier) @bind.param
   (splat_type (identifier) @bind.param) (constrained_type . (type (identifier) @bind.param))])))]
(type_alias_statement left: (type (generic_type (type_parameter (type (identifier) @bind.param)))))
(assignment left: (identifier) @bind.local)
(augmented_assignment left: (identifier) @bind.local)
(pattern_list (identifier) @bind.local)
(tuple_pattern (identifier) @bind.local)
(list_pattern (identifier) @bind.local)
(pattern_list (list_splat_pattern (identifier) @bind.local))
(tuple_pattern (list_splat_pattern (identifier) @bind.local))
(list_pattern (list_splat_pattern (identifier) @bind.local))
(for_statement left: (identifier) @bind.local)
(for_in_clause left: (identifier) @bind.local)
(as_pattern_target (identifier) @bind.local)
(as_pattern_target [(tuple (identifier) @bind.local) (list (identifier) @bind.local)])
(case_pattern (as_pattern (identifier) @bind.local .))
(keyword_pattern (dotted_name . (identifier) @bind.local .))
(union_pattern (dotted_name . (identifier) @bind.local .))
(named_expression name: (identifier) @bind.walrus)
((case_pattern (dotted_name . (identifier) @bind.local .)) (#not-eq? @bind.local "_"))
(splat_pattern (identifier) @bind.local)
(global_statement (identifier) @bind.global)
(nonlocal_statement (identifier) @bind.nonlocal)

; Imports.
(import_statement name: (dotted_name) @source) @import.python_import
(import_statement name: (aliased_import name: (dotted_name) @source alias: (identifier) @alias)) @import.python_import
(import_from_statement module_name: (_) @source name: (dotted_name) @imported) @import.python_from
(import_from_statement module_name: (_) @source
  name: (aliased_import name: (dotted_name) @imported alias: (identifier) @alias)) @import.python_from
(import_from_statement module_name: (_) @source (wildcard_import) @imported) @import.python_from

; What `*` gives away.
(assignment left: (identifier) @_all right: [(list (string (string_content) @export.all))
    (tuple (string (string_content) @export.all))
    (binary_operator left: (list (string (string_content) @export.all)))
    (binary_operator left: (tuple (string (string_content) @export.all)))
    (binary_operator right: (list (string (string_content) @export.all)))]
  (#eq? @_all "__all__"))
(augmented_assignment left: (identifier) @_all right: [(list (string (string_content) @export.all))
    (tuple (string (string_content) @export.all))]
  (#eq? @_all "__all__"))
(call
  function: (attribute object: (identifier) @_all attribute: (identifier) @_grow)
  arguments: (argument_list [(string (string_content) @export.all) (list (string (string_content) @export.all))])
  (#eq? @_all "__all__") (#any-of? @_grow "append" "extend"))

; Identifiers that name an argument.
(keyword_argument name: (identifier) @label)
(keyword_pattern . (identifier) @label)

; Text in which words are no references.
[(string) (comment) (type_conversion)] @text
(interpolation) @hole

; Names reached at run time.
(call function: (identifier) @_f arguments: (argument_list . (_) . (string (string_content) @key)?)
  (#any-of? @_f "getattr" "setattr" "hasattr" "delattr")) @dynamic.getattr
(call function: (identifier) @_f (#any-of? @_f "eval" "exec" "__import__")) @dynamic.eval
(call function: (attribute attribute: (identifier) @_f) arguments: (argument_list . (string (string_content) @key)?)
  (#eq? @_f "import_module")) @dynamic.import_module
