; What C and C++ share.
(preproc_def name: (identifier) @name) @definition.macro
(preproc_function_def name: (identifier) @name) @definition.macro @scope.function
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @definition.function @scope.function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @definition.function @scope.function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name)))) @definition.function @scope.function
(function_definition declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))) @definition.function @scope.function
(function_definition declarator: [(function_declarator declarator: (parenthesized_declarator (identifier) @name))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (identifier) @name)))]) @definition.function @scope.function
(type_definition type: (struct_specifier !name body: (_) @scope.class) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (union_specifier !name body: (_) @scope.class) declarator: (type_identifier) @name) @definition.union
(type_definition type: (enum_specifier !name) declarator: (type_identifier) @name) @definition.enum
(struct_specifier name: (type_identifier) @name body: (_) @scope.class) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @scope.class) @definition.union
(struct_specifier !name body: (_) @scope.class)
(union_specifier !name body: (_) @scope.class)
(enumerator name: (identifier) @name) @definition.enum_member
(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (array_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
  (function_declarator declarator: (type_identifier) @name)]) @definition.type
(field_declaration declarator: [
  (field_identifier) @name
  (pointer_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
  (array_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (array_declarator declarator: (field_identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))]) @definition.field

(compound_statement (compound_statement) @scope.block)
[(case_statement (compound_statement) @scope.block) (labeled_statement (compound_statement) @scope.block)
  (preproc_if (compound_statement) @scope.block) (preproc_ifdef (compound_statement) @scope.block)
  (preproc_elif (compound_statement) @scope.block) (preproc_else (compound_statement) @scope.block)]
[(for_statement) (switch_statement)] @scope.block
(if_statement consequence: (compound_statement) @scope.block)
(else_clause (compound_statement) @scope.block)
(while_statement body: (compound_statement) @scope.block)
(do_statement body: (compound_statement) @scope.block)
(declaration declarator: [(function_declarator parameters: (parameter_list) @scope.function)
  (pointer_declarator declarator: (function_declarator parameters: (parameter_list) @scope.function))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator parameters: (parameter_list) @scope.function)))])
(function_declarator declarator: (parenthesized_declarator) parameters: (parameter_list) @scope.function)

(preproc_params (identifier) @bind.param)
(parameter_declaration declarator: [
  (identifier) @bind.param
  (pointer_declarator declarator: (identifier) @bind.param)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @bind.param))
  (array_declarator declarator: (identifier) @bind.param)
  (array_declarator declarator: (array_declarator declarator: (identifier) @bind.param))
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @bind.param))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bind.param)))])
(declaration declarator: [
  (identifier) @bind.local
  (pointer_declarator declarator: (identifier) @bind.local)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @bind.local))
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @bind.local))
  (array_declarator declarator: (identifier) @bind.local)
  (array_declarator declarator: (array_declarator declarator: (identifier) @bind.local))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bind.local)))])
(init_declarator declarator: [
  (identifier) @bind.local
  (pointer_declarator declarator: (identifier) @bind.local)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @bind.local))
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @bind.local))
  (array_declarator declarator: (identifier) @bind.local)
  (array_declarator declarator: (array_declarator declarator: (identifier) @bind.local))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bind.local)))])

(preproc_include path: [(system_lib_string) (string_literal)] @source @everything) @import.c_include
(statement_identifier) @label
(field_designator (field_identifier) @label)
[(comment) (string_literal) (char_literal) (system_lib_string)] @text
