(section (atx_heading heading_content: (inline) @name)) @definition.heading @scope.section
(section (setext_heading heading_content: (paragraph) @name)) @definition.heading @scope.section
(setext_heading heading_content: (paragraph) @name) @definition.heading
[(paragraph) (code_fence_content)] @text
