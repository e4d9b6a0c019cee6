; What JavaScript and TypeScript share.

; Definitions and the scopes they open.
[(function_declaration name: (identifier) @name)
 (generator_function_declaration name: (identifier) @name)] @definition.function @scope.function
(method_definition
  name: [(property_identifier) (private_property_identifier) (computed_property_name) (string)] @name @unbound) @definition.method @scope.function
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)] @scope.function) .) @definition.function
(variable_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)] @scope.function) .) @definition.function
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)] @scope.function) @definition.function
(variable_declarator name: (identifier) @name value: (class) @scope.class) @definition.class
(lexical_declaration (variable_declarator name: (identifier) @name value: (object) @scope.object)) @definition.variable @top
(variable_declaration (variable_declarator name: (identifier) @name value: (object) @scope.object)) @definition.variable @top
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (object) @scope.object)) @definition.variable)
[(lexical_declaration (variable_declarator value: (object (pair key: (property_identifier) @name
    value: [(arrow_function) (function_expression)] @scope.function) @definition.method)))
 (variable_declaration (variable_declarator value: (object (pair key: (property_identifier) @name
    value: [(arrow_function) (function_expression)] @scope.function) @definition.method)))
 (export_statement (lexical_declaration (variable_declarator value: (object (pair key: (property_identifier) @name
    value: [(arrow_function) (function_expression)] @scope.function) @definition.method))))] @top
(expression_statement (assignment_expression left: (member_expression)
  right: (object [(pair key: (property_identifier) @name @unbound
      value: [(arrow_function) (function_expression)] @scope.function) @definition.method
    (pair value: (object (pair key: (property_identifier) @name @unbound
      value: [(arrow_function) (function_expression)] @scope.function) @definition.method))]))) @top
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @receiver property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)] @scope.function
  (#eq? @_prototype "prototype")) @definition.method
(assignment_expression
  left: (member_expression object: [(identifier) @_exports (member_expression property: (property_identifier) @_exports)]
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)] @scope.function
  (#eq? @_exports "exports")) @definition.function @unbound
(expression_statement (assignment_expression
  left: (member_expression object: [(identifier) (member_expression)] @receiver property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)] @scope.function) @definition.function) @top
(function_expression name: (identifier) @name @unbound) @definition.function @scope.function
(class name: (_) @name @unbound) @definition.class @scope.class
(assignment_expression left: (member_expression object: (this)
  property: [(property_identifier) (private_property_identifier)] @name)) @definition.field

; Scopes alone.
[(arrow_function) (generator_function)] @scope.function
(function_expression name: (identifier)? @bind.local) @scope.function
(method_definition name: (number)) @scope.function
(class_static_block) @scope.function
[(for_statement) (for_in_statement) (switch_body) (catch_clause)] @scope.block
(if_statement consequence: (statement_block) @scope.block)
(else_clause (statement_block) @scope.block)
(while_statement body: (statement_block) @scope.block)
(do_statement body: (statement_block) @scope.block)
(try_statement body: (statement_block) @scope.block)
(finally_clause body: (statement_block) @scope.block)
(labeled_statement body: (statement_block) @scope.block)
[(switch_case (statement_block) @scope.block) (switch_default (statement_block) @scope.block)]
(for_statement body: (statement_block) @scope.block)
(for_in_statement body: (statement_block) @scope.block)
(statement_block (statement_block) @scope.block)
(program (statement_block) @scope.block)

; Bindings.
(lexical_declaration (variable_declarator name: (_) @bind.local))
(variable_declaration (variable_declarator name: (_) @bind.hoisted))
(for_in_statement kind: ["let" "const"] left: (_) @bind.local)
(for_in_statement kind: "var" left: (_) @bind.hoisted)
(catch_clause parameter: (_) @bind.param)
(arrow_function parameter: (identifier) @bind.param)
(shorthand_property_identifier_pattern) @leaf
(pair_pattern value: (identifier) @leaf)
(array_pattern (identifier) @leaf)
(rest_pattern (identifier) @leaf)
(assignment_pattern left: (identifier) @leaf)

; Imports.
(import_statement (import_clause (identifier) @default) source: (string) @source) @import.js_import
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string) @source) @import.js_import
; Names and the statement they stand in are found apart: together they cost the cube of how many names there are.
(import_specifier name: _ @imported alias: (identifier)? @alias) @import.js_import
(import_statement (import_clause (named_imports)) source: (string) @source) @given
(import_statement . source: (string) @source) @import.js_import
(variable_declarator name: (identifier) @alias
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @source .))
  (#eq? @_require "require")) @import.js_require
(object_pattern [(shorthand_property_identifier_pattern) @imported
                 (pair_pattern key: (property_identifier) @imported value: (identifier) @alias)] @import.when_given)
(variable_declarator name: (object_pattern) @given.js_require
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @source .))
  (#eq? @_require "require"))
(variable_declarator name: (identifier) @alias
  value: (member_expression
    object: (call_expression function: (identifier) @_require arguments: (arguments . (string) @source .))
    property: (property_identifier) @imported)
  (#eq? @_require "require")) @import.js_require
(call_expression function: (identifier) @_require arguments: (arguments . (string) @source .)
  (#eq? @_require "require")) @import.js_require
(variable_declarator name: (identifier) @alias
  value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @source)))) @import.js_dynamic_import
(variable_declarator name: (object_pattern) @given.js_dynamic_import
  value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @source))))
(call_expression function: (import) arguments: (arguments . (string) @source)) @import.js_dynamic_import

; Exports.
(export_specifier name: _ @exported alias: _? @alias) @export.named
(export_statement (export_clause) source: (string) @source) @given
(export_statement "*" source: (string) @source) @export.star
(export_statement (namespace_export (_) @alias) source: (string) @source) @export.star
(export_statement "default" declaration: (_ name: (_) @exported)) @export.default
(export_statement "default" value: (identifier) @exported) @export.default
(export_statement "default") @export.default
(export_statement declaration: (_)) @export.declared
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (identifier) @exported
  (#eq? @_module "module") (#eq? @_exports "exports")) @export.module_exports
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: [(function_expression name: (identifier) @exported) (class name: (_) @exported)]
  (#eq? @_module "module") (#eq? @_exports "exports")) @export.module_exports
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  (#eq? @_module "module") (#eq? @_exports "exports")) @export.module_exports
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (object [(shorthand_property_identifier) @exported
                  (pair key: (property_identifier) @alias value: (identifier)? @exported)
                  (method_definition name: (property_identifier) @alias)])
  (#eq? @_module "module") (#eq? @_exports "exports")) @export.commonjs
(assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @alias)
  right: (identifier)? @exported
  (#eq? @_exports "exports")) @export.commonjs
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    property: (property_identifier) @alias)
  right: (identifier)? @exported
  (#eq? @_module "module") (#eq? @_exports "exports")) @export.commonjs

; Identifiers that name a field.
(pair key: (property_identifier) @label)
(pair_pattern key: (property_identifier) @label)
(statement_identifier) @label

; Text in which words are no references.
[(string) (comment) (regex) (hash_bang_line)] @text
(template_string [(string_fragment) (escape_sequence)] @text)

; Names reached at run time.
(subscript_expression index: (string) @key) @dynamic.bracket_access
(subscript_expression index: [(identifier) (member_expression) (call_expression) (binary_expression) (subscript_expression)
  (template_string) (ternary_expression)]) @dynamic.bracket_access
(call_expression function: (identifier) @_eval (#eq? @_eval "eval")) @dynamic.eval
(new_expression constructor: (identifier) @_eval (#eq? @_eval "Function")) @dynamic.eval
