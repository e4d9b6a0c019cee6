(binding attrpath: (attrpath . attr: (identifier) @name .) expression: (function_expression) @scope.function) @definition.function
(binding attrpath: (attrpath) @name) @definition.attribute
(inherit (inherited_attrs attr: (identifier) @name)) @definition.inherited @unbound
[(let_expression) (rec_attrset_expression)] @scope.block
(attrset_expression) @scope.object
(function_expression) @scope.function
(formal name: (identifier) @bind.param)
(function_expression universal: (identifier) @bind.param)
(apply_expression function: (variable_expression name: (identifier) @_import) argument: [(path_expression) (spath_expression)] @source
  (#eq? @_import "import")) @import.nix_import
[(comment) (string_fragment) (path_expression) (spath_expression) (uri_expression)] @text
