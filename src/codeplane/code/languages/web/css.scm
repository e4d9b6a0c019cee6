(class_selector (class_name) @name) @definition.class
(id_selector (id_name) @name) @definition.id
(keyframes_statement (keyframes_name) @name) @definition.keyframes
((declaration (property_name) @name) @definition.variable (#match? @name "^--"))
(import_statement (string_value) @source @everything) @import.css_import
(import_statement (call_expression (arguments (string_value) @source @everything))) @import.css_import
[(comment) (string_value)] @text
