; Markup inside the language.
(jsx_attribute (property_identifier) @label)
(jsx_text) @text
(jsx_opening_element name: (identifier) @label (#match? @label "^[a-z]"))
(jsx_closing_element name: (identifier) @label (#match? @label "^[a-z]"))
(jsx_self_closing_element name: (identifier) @label (#match? @label "^[a-z]"))
