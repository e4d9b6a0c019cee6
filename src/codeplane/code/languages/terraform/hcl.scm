; Blocks by their last label: `resource "kind" "name"` is `name`, received by its kind.
(config_file (body (block (identifier) . (string_lit (template_literal) @receiver) . (string_lit (template_literal) @name)) @definition.block @scope.block))
(config_file (body (block (identifier) . (string_lit (template_literal) @name) . (block_start)) @definition.block @scope.block))
(config_file (body (block . (identifier) @_locals (body (attribute (identifier) @name) @definition.local) (#eq? @_locals "locals"))))
(config_file (body (block . (identifier) @name . (block_start)) @definition.block))
(config_file (body (attribute (identifier) @name) @definition.key))
(config_file (body (block . (identifier) @_module (body (attribute (identifier) @_source (expression (literal_value (string_lit) @source @everything)))) (#eq? @_module "module") (#eq? @_source "source")))) @import.hcl_module
(attribute (identifier) @label)
(object_elem key: (expression (variable_expr (identifier) @label)))
[(comment) (template_literal)] @text
