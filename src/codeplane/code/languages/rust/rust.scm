(function_item name: (identifier) @name) @definition.function @scope.function
(function_signature_item name: (identifier) @name) @definition.function @scope.function
(struct_item name: (type_identifier) @name) @definition.struct @scope.class
(union_item name: (type_identifier) @name) @definition.union @scope.class
(enum_item name: (type_identifier) @name) @definition.enum @scope.enum
(enum_variant name: (identifier) @name) @definition.enum_member
(enum_variant body: (field_declaration_list (field_declaration name: (field_identifier) @label)))
(trait_item name: (type_identifier) @name) @definition.trait @scope.class
(type_item name: (type_identifier) @name) @definition.type @scope.type
(associated_type name: (type_identifier) @name) @definition.type
(mod_item name: (identifier) @name body: (declaration_list) @scope.namespace) @definition.module
(mod_item name: (identifier) @name) @definition.module
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.variable
(macro_definition name: (identifier) @name @unbound) @definition.macro
(field_declaration name: (field_identifier) @name) @definition.field
(impl_item type: [(type_identifier) @scope.name (generic_type type: (type_identifier) @scope.name)
  (generic_type type: (scoped_type_identifier name: (type_identifier) @scope.name))
  (scoped_type_identifier name: (type_identifier) @scope.name) (primitive_type) @scope.name]) @scope.class
(impl_item type: [(reference_type) (tuple_type) (array_type) (pointer_type) (dynamic_type) (unit_type) (function_type)]) @scope.class
(closure_expression) @scope.function
[(block) (if_expression) (while_expression) (for_expression) (match_arm)] @scope.block

(parameter pattern: (_) @bind.param)
(closure_parameters [(identifier) (tuple_pattern) (struct_pattern) (tuple_struct_pattern) (reference_pattern)] @bind.param)
(let_declaration pattern: (_) @bind.local)
(let_condition pattern: (_) @bind.local)
(for_expression pattern: (_) @bind.local)
(match_arm pattern: (_) @bind.local)
(type_parameter name: (type_identifier) @bind.param)
(const_parameter name: (identifier) @bind.param)
((tuple_pattern (identifier) @leaf) (#match? @leaf "^[_a-z]"))
((slice_pattern (identifier) @leaf) (#match? @leaf "^[_a-z]"))
((or_pattern (identifier) @leaf) (#match? @leaf "^[_a-z]"))
((match_pattern . (identifier) @leaf) (#match? @leaf "^[_a-z]"))
((tuple_struct_pattern type: (_) (identifier) @leaf) (#match? @leaf "^[_a-z]"))
((field_pattern pattern: (identifier) @leaf) (#match? @leaf "^[_a-z]"))
(field_pattern name: (shorthand_field_identifier) @leaf)
(captured_pattern . (identifier) @leaf)
(ref_pattern (identifier) @leaf)
(mut_pattern (identifier) @leaf)
(reference_pattern (identifier) @leaf)

(use_declaration argument: (scoped_use_list path: (_) @source list: (use_list (self)))) @import.rust_use
(use_declaration argument: (scoped_use_list path: (_) @source list: (use_list (identifier) @imported))) @import.rust_use
(use_declaration argument: (scoped_use_list path: (_) @source
  list: (use_list (scoped_identifier path: (_) @source name: (identifier) @imported)))) @import.rust_use
(use_declaration argument: (scoped_use_list path: (_) @source
  list: (use_list (use_as_clause path: (identifier) @imported alias: (identifier) @alias)))) @import.rust_use
(use_declaration argument: (scoped_use_list path: (_) @source list: (use_list
  (use_as_clause path: (scoped_identifier path: (_) @source name: (identifier) @imported) alias: (identifier) @alias)))) @import.rust_use
(use_declaration argument: (scoped_use_list path: (_) @source list: (use_list (use_wildcard (_) @source) @everything))) @import.rust_use
(use_declaration argument: (scoped_use_list path: (_) @source list: (use_list
  (scoped_use_list path: (_) @source list: (use_list (identifier) @imported))))) @import.rust_use
(use_declaration argument: (scoped_use_list path: (_) @source list: (use_list (scoped_use_list path: (_) @source
  list: (use_list (use_as_clause path: (identifier) @imported alias: (identifier) @alias)))))) @import.rust_use
(use_declaration argument: (use_list (scoped_identifier path: (_) @source name: (identifier) @imported))) @import.rust_use
(use_declaration argument: (scoped_identifier path: (_) @source name: (identifier) @imported)) @import.rust_use
(use_declaration argument: (use_as_clause
  path: (scoped_identifier path: (_) @source name: (identifier) @imported) alias: (identifier) @alias)) @import.rust_use
(use_declaration argument: (use_as_clause path: (identifier) @source alias: (identifier) @alias)) @import.rust_use
(use_declaration argument: (use_wildcard (_) @source) @everything) @import.rust_use
(use_declaration argument: (identifier) @source) @import.rust_use
(extern_crate_declaration name: (identifier) @source alias: (identifier)? @alias) @import.rust_extern_crate

(field_initializer field: (field_identifier) @label)
(field_pattern name: (field_identifier) @label)
[(line_comment) (block_comment) (string_literal) (raw_string_literal) (char_literal)] @text
(lifetime) @text
