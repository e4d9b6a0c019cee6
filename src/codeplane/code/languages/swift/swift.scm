(class_declaration "extension" name: (user_type . (type_identifier) @scope.name)) @scope.class
(class_declaration "struct" name: (type_identifier) @name (inheritance_specifier)* @bases) @definition.struct @scope.class
(class_declaration "enum" name: (type_identifier) @name (inheritance_specifier)* @bases) @definition.enum @scope.class
(class_declaration "actor" name: (type_identifier) @name (inheritance_specifier)* @bases) @definition.class @scope.class
(class_declaration "class" name: (type_identifier) @name (inheritance_specifier)* @bases) @definition.class @scope.class
(protocol_declaration name: (type_identifier) @name (inheritance_specifier)* @bases) @definition.protocol @scope.class
(function_declaration name: (simple_identifier) @name) @definition.function @scope.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.method @scope.function
(init_declaration "init" @name @unbound) @definition.constructor @scope.function
(deinit_declaration "deinit" @name @unbound) @definition.method @scope.function
(subscript_declaration "subscript" @name @unbound) @definition.method @scope.function
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type
(enum_entry name: (simple_identifier) @name) @definition.enum_member
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field
(lambda_literal) @scope.function
(computed_property) @scope.function
[(for_statement) (if_statement) (while_statement) (catch_block) (switch_entry) (do_statement)] @scope.block

(parameter name: (simple_identifier) @bind.param)
(lambda_parameter name: (simple_identifier) @bind.param)
(type_parameter (type_identifier) @bind.param)
(property_declaration name: (pattern bound_identifier: (simple_identifier) @bind.local))
(property_declaration name: (pattern (pattern (simple_identifier) @bind.local)))
(for_statement item: (pattern bound_identifier: (simple_identifier) @bind.local))
(for_statement item: (pattern (pattern (simple_identifier) @bind.local)))
(guard_statement bound_identifier: (simple_identifier) @bind.local)
(if_statement bound_identifier: (simple_identifier) @bind.local)
(while_statement bound_identifier: (simple_identifier) @bind.local)
(catch_block error: (pattern bound_identifier: (simple_identifier) @bind.local))

(import_declaration (identifier) @source) @import.swift_import
(value_argument_label (simple_identifier) @label)
(parameter external_name: (simple_identifier) @label)
[(comment) (multiline_comment) (line_str_text) (multi_line_str_text) (raw_str_part) (str_escaped_char)] @text
