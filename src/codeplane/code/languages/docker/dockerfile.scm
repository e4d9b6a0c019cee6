(from_instruction as: (image_alias) @name) @definition.stage
(arg_instruction name: (unquoted_string) @name) @definition.argument
(env_pair name: (unquoted_string) @name) @definition.variable
(from_instruction (image_spec) @source) @import.docker_from
(comment) @text
