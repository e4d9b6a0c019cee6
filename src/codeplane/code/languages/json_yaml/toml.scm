(table . [(bare_key) (dotted_key) (quoted_key)] @name) @definition.table @scope.object
(table_array_element . [(bare_key) (dotted_key) (quoted_key)] @name) @definition.table @scope.object
(document (pair . [(bare_key) (dotted_key) (quoted_key)] @name) @definition.key)
(table (pair . [(bare_key) (dotted_key) (quoted_key)] @name) @definition.key)
[(comment) (string)] @text
