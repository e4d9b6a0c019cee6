; What JavaScript has for itself.
(class_declaration name: (identifier) @name (class_heritage)? @bases) @definition.class @scope.class
(class name: (identifier)? @bind.local) @scope.class
(field_definition property: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)] @scope.function) @definition.method
(field_definition property: [(property_identifier) (private_property_identifier)] @name) @definition.field
(formal_parameters [(identifier) (object_pattern) (array_pattern) (assignment_pattern) (rest_pattern)] @bind.param)
