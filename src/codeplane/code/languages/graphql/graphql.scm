(object_type_definition (name) @name (implements_interfaces)? @bases) @definition.type @scope.class
(interface_type_definition (name) @name) @definition.interface @scope.class
(input_object_type_definition (name) @name) @definition.input @scope.class
(enum_type_definition (name) @name) @definition.enum @scope.class
(enum_value_definition (enum_value (name) @name)) @definition.enum_member
(union_type_definition (name) @name) @definition.union
(scalar_type_definition (name) @name) @definition.scalar
(directive_definition (name) @name) @definition.directive
(object_type_extension (name) @scope.name) @scope.class
(field_definition (name) @name) @definition.field
(input_fields_definition (input_value_definition (name) @name) @definition.field)
(operation_definition (name) @name) @definition.operation @scope.function
(fragment_definition (fragment_name (name) @name)) @definition.fragment
(variable_definition (variable) @bind.param)
(argument (name) @label)
(input_value_definition (name) @label)
[(comment) (string_value)] @text
