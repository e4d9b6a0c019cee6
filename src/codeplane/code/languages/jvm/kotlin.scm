(class_declaration "interface" (type_identifier) @name (delegation_specifier)* @bases) @definition.interface @scope.class
(class_declaration "enum" (type_identifier) @name (delegation_specifier)* @bases) @definition.enum @scope.class
(class_declaration (type_identifier) @name (delegation_specifier)* @bases) @definition.class @scope.class
(object_declaration (type_identifier) @name (delegation_specifier)* @bases) @definition.object @scope.class
(companion_object (type_identifier) @name (delegation_specifier)* @bases) @definition.object @scope.class
(companion_object "object" . (class_body) @scope.class)
(companion_object "object" . ":" (class_body) @scope.class)
(object_literal (class_body) @scope.class)
(function_declaration receiver: (receiver_type (user_type (type_identifier) @receiver)) (simple_identifier) @name) @definition.function @scope.function
(function_declaration (simple_identifier) @name) @definition.function @scope.function
(function_declaration (type_parameters)) @scope.template
(secondary_constructor) @scope.function
(anonymous_initializer) @scope.function
[(lambda_literal) (anonymous_function) (getter) (setter)] @scope.function
(type_alias (type_identifier) @name) @definition.type
(enum_entry (simple_identifier) @name) @definition.enum_member
(class_body (property_declaration (variable_declaration (simple_identifier) @name)) @definition.field)
(enum_class_body (property_declaration (variable_declaration (simple_identifier) @name)) @definition.field)
(class_parameter (binding_pattern_kind) (simple_identifier) @name . ":") @definition.field
[(control_structure_body) (for_statement) (catch_block) (when_entry) (when_expression)] @scope.block
(try_expression (statements) @scope.block)

(class_parameter (simple_identifier) @bind.param . ":")
(parameter (simple_identifier) @bind.param)
(type_parameter (type_identifier) @bind.param)
(lambda_parameters (variable_declaration (simple_identifier) @bind.param))
(lambda_parameters (multi_variable_declaration (variable_declaration (simple_identifier) @bind.param)))
(catch_block . (simple_identifier) @bind.param)
(property_declaration (variable_declaration (simple_identifier) @bind.local))
(multi_variable_declaration (variable_declaration (simple_identifier) @bind.local))
(for_statement (variable_declaration (simple_identifier) @bind.local))
(when_subject (variable_declaration (simple_identifier) @bind.local))

(import_header (identifier) @source (wildcard_import) @everything) @import.kotlin_import
(import_header (identifier . (simple_identifier) @source (simple_identifier) @imported @until .)
  (import_alias (type_identifier) @alias)) @import.kotlin_import
(import_header (identifier . (simple_identifier) @source (simple_identifier) @imported @until .) .) @import.kotlin_import

(value_argument . (simple_identifier) @label "=")
(label) @label
[(line_comment) (multiline_comment) (character_literal)] @text
(string_content) @text
(package_header (_) @text)
