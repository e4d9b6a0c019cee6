; The keys of each document's outermost mapping, and one level below.
(document (block_node (block_mapping (block_mapping_pair key: (flow_node (_) @name) value: (block_node) @scope.object) @definition.key)))
(document (block_node (block_mapping (block_mapping_pair key: (flow_node (_) @name)) @definition.key)))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping
  (block_mapping_pair key: (flow_node (_) @name)) @definition.key))))))
[(comment) (double_quote_scalar) (single_quote_scalar) (block_scalar) (plain_scalar)] @text
