(declarations (function name: (variable) @name) @definition.function @scope.function)
(declarations (bind name: (variable) @name) @definition.function @scope.function)
(class_declarations (function name: (variable) @name) @definition.method @scope.function)
(class_declarations (signature name: (variable) @name) @definition.method)
(instance_declarations (function name: (variable) @name @unbound) @definition.method @scope.function)
(instance_declarations (bind name: (variable) @name @unbound) @definition.method @scope.function)
(local_binds (function name: (variable) @name) @definition.function @scope.function)
(data_type name: (name) @name) @definition.type
(newtype name: (name) @name) @definition.type
(type_synomym name: (name) @name) @definition.type
(class name: (name) @name declarations: (_)? @scope.class) @definition.class
(instance name: (name) @scope.name declarations: (_)) @scope.instance
(data_constructor [(prefix name: (constructor) @name) (record name: (constructor) @name)]) @definition.constructor
(newtype_constructor name: (constructor) @name) @definition.constructor
(field name: (field_name (variable) @name)) @definition.function
(header module: (module) @name @unbound) @definition.module
[(lambda) (alternative)] @scope.lambda
[(do) (let_in)] @scope.block

(patterns (variable) @bind.param)
(patterns [(apply) (parens) (infix) (list) (tuple) (as)] @bind.param)
(alternative pattern: [(variable) (apply) (parens) (infix) (list) (tuple) (as)] @bind.param)
(local_binds (bind name: (variable) @bind.local))
(do (bind pattern: [(variable) (apply) (parens) (infix) (list) (tuple) (as)] @bind.local))
(apply argument: (variable) @leaf)
(infix left_operand: (variable) @leaf)
(infix right_operand: (variable) @leaf)
(list element: (variable) @leaf)
(tuple element: (variable) @leaf)
(parens pattern: (variable) @leaf)

(import "hiding" names: (import_list name: (import_name [variable: (variable) type: (name)] @imported))) @import.none
(import module: (module) @source @everything "hiding") @import.haskell_import
(import module: (module) @source names: (import_list name: (import_name [variable: (variable) type: (name)] @imported))) @import.haskell_import
(import module: (module) @source alias: (module) @alias) @import.haskell_import
(import module: (module) @source @everything !names !alias) @import.haskell_import
[(comment) (haddock) (string) (char) (pragma)] @text
