; The keys of the outermost object, and one level below.
(document (object (pair key: (string (string_content) @name) value: (object) @scope.object) @definition.key))
(document (object (pair key: (string (string_content) @name)) @definition.key))
(document (object (pair value: (object (pair key: (string (string_content) @name)) @definition.key))))
(string_content) @text
