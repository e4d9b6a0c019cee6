(message (message_name (identifier) @name) (message_body) @scope.class) @definition.message
(enum (enum_name (identifier) @name) (enum_body)) @definition.enum
(enum_field . (identifier) @name) @definition.enum_member
(service (service_name (identifier) @name)) @definition.service @scope.class
(rpc (rpc_name (identifier) @name)) @definition.rpc
(extend (full_ident) @scope.name) @scope.class
(field (identifier) @name) @definition.field
(map_field (identifier) @name) @definition.field
(oneof . (identifier) @name) @definition.oneof
(oneof_field (identifier) @name) @definition.field
(import path: (string) @source @everything) @import.proto_import
[(comment) (string)] @text
