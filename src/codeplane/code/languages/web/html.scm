; Elements with an id, and headings by their text.
(attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name) (#eq? @_id "id")) @definition.id
(element (start_tag (tag_name) @_heading) . (text) @name (#match? @_heading "^[hH][1-6]$")) @definition.heading
[(text) (comment) (attribute_value) (raw_text)] @text
