(function_definition name: (word) @name) @definition.function @scope.function
(subshell) @scope.subshell

(declaration_command ["local" "declare" "typeset"] (variable_assignment name: (variable_name) @bind.local))
(declaration_command ["local" "declare" "typeset"] (variable_name) @bind.local)
(declaration_command ["export" "readonly"] (variable_assignment name: (variable_name) @bind.toplevel))
(variable_assignment name: (variable_name) @bind.toplevel)
(for_statement variable: (variable_name) @bind.toplevel)

(command name: (command_name (word) @_source) . argument: [(word) (string) (raw_string)] @source @everything
  (#any-of? @_source "source" ".")) @import.bash_source
(command name: (command_name (word) @_eval) (#eq? @_eval "eval")) @dynamic.eval
[(comment) (raw_string) (ansi_c_string) (string_content) (heredoc_content) (heredoc_start) (heredoc_end)] @text
