(create_table (object_reference name: (identifier) @name) (column_definitions)? @scope.class) @definition.table
(create_view (object_reference name: (identifier) @name)) @definition.view
(create_materialized_view (object_reference name: (identifier) @name)) @definition.view
(create_function (object_reference name: (identifier) @name)) @definition.function @scope.function
(create_type (object_reference name: (identifier) @name)) @definition.type
(create_index column: (identifier) @name) @definition.index
(create_trigger (object_reference name: (identifier) @name)) @definition.trigger
(create_schema (identifier) @name) @definition.schema
(create_sequence (object_reference name: (identifier) @name)) @definition.sequence
(column_definition name: (identifier) @name) @definition.field
(function_argument (identifier) @bind.param)
[(comment) (marginalia)] @text
(literal) @text
