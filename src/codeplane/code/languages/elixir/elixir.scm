(call target: (identifier) @_def (arguments . (alias) @name) (do_block) @scope.module
  (#any-of? @_def "defmodule")) @definition.module
(call target: (identifier) @_def (arguments . (alias) @name) (do_block) @scope.module
  (#eq? @_def "defprotocol")) @definition.protocol
(call target: (identifier) @_def (arguments . (alias) @scope.name) (#eq? @_def "defimpl")) @scope.module
(call target: (identifier) @_def (arguments . [
    (call target: (identifier) @name)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")])
  (#any-of? @_def "def" "defp" "defdelegate" "defn" "defnp")) @definition.function @scope.function
(call target: (identifier) @_def (arguments . [
    (call target: (identifier) @name)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name) operator: "when")])
  (#any-of? @_def "defmacro" "defmacrop" "defguard" "defguardp")) @definition.macro @scope.function
(unary_operator operator: "@" operand: (call target: (identifier) @_attribute
  (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @_attribute "type" "typep" "opaque")) @definition.type @unbound
(unary_operator operator: "@" operand: (call target: (identifier) @_attribute
  (arguments (binary_operator left: (call target: (identifier) @name) operator: "::")))
  (#any-of? @_attribute "callback" "macrocallback")) @definition.callback @unbound
[(anonymous_function) (stab_clause)] @scope.function

(call target: (identifier) @_def (arguments . [
    (call target: (identifier) (arguments) @bind.param)
    (binary_operator left: (call target: (identifier) (arguments) @bind.param) operator: "when")])
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate"))
(stab_clause left: (arguments) @bind.param)
(binary_operator left: [(identifier) (tuple) (list) (map)] @bind.local operator: "=")
(arguments (identifier) @leaf)
(tuple (identifier) @leaf)
(list (identifier) @leaf)
(pair value: (identifier) @leaf)
(binary_operator left: (identifier) @leaf operator: ["|" "=" "\\\\" "<>"])
(binary_operator operator: ["|" "=" "<>"] right: (identifier) @leaf)

(call target: (identifier) @_import (arguments . (dot left: (alias) @source right: (tuple (alias) @imported)))
  (#any-of? @_import "alias" "import" "require" "use")) @import.elixir_alias
(call target: (identifier) @_import (arguments . (alias) @source (keywords (pair key: (keyword) @_as value: (alias) @alias)))
  (#any-of? @_import "alias" "require") (#match? @_as "^as:")) @import.elixir_alias
(call target: (identifier) @_import (arguments . (alias) @source) (#eq? @_import "alias")) @import.elixir_alias
(call target: (identifier) @_import (arguments . (alias) @source @everything)
  (#any-of? @_import "import" "use")) @import.elixir_import
(call target: (identifier) @_import (arguments . (alias) @source) (#eq? @_import "require")) @import.elixir_require

(keyword) @label
[(comment) (quoted_content) (escape_sequence) (atom) (sigil_name) (sigil_modifiers)] @text
