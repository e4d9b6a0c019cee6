; What C++ has for itself; it stands before what it shares.
(class_specifier name: (type_identifier) @name (base_class_clause)? @bases body: (_) @scope.class) @definition.class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_) @scope.class) @definition.class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_) @scope.class) @definition.struct
(class_specifier name: (qualified_identifier scope: (_) @receiver name: (type_identifier) @name) (base_class_clause)? @bases body: (_) @scope.class) @definition.class
(struct_specifier name: (qualified_identifier scope: (_) @receiver name: (type_identifier) @name) (base_class_clause)? @bases body: (_) @scope.class) @definition.struct
(namespace_definition name: (namespace_identifier) @name body: (_) @scope.namespace) @definition.namespace
(namespace_definition name: (nested_namespace_specifier) @name @unbound body: (_) @scope.namespace) @definition.namespace
(namespace_alias_definition name: (namespace_identifier) @name) @definition.namespace
(alias_declaration name: (type_identifier) @name) @definition.type
(enum_specifier ["class" "struct"] name: (type_identifier) @name body: (_) @scope.enum) @definition.enum
(enum_specifier name: (type_identifier) @name body: (_)) @definition.enum
(concept_definition name: (identifier) @name) @definition.concept
(function_definition declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name) (destructor_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name)))
  (pointer_declarator declarator: (reference_declarator
    (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name)))
  (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))]) @definition.function @scope.function
(function_definition declarator: (operator_cast) @name @unbound) @definition.method @scope.function
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier
    scope: [(namespace_identifier) @receiver (template_type name: (type_identifier) @receiver)]
    name: [(identifier) (destructor_name) (operator_name)] @name))
  (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier
    scope: [(namespace_identifier) @receiver (template_type name: (type_identifier) @receiver)]
    name: [(identifier) (operator_name)] @name)))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier
    scope: [(namespace_identifier) @receiver (template_type name: (type_identifier) @receiver)]
    name: [(identifier) (operator_name)] @name))))
  (reference_declarator (function_declarator declarator: (qualified_identifier
    scope: [(namespace_identifier) @receiver (template_type name: (type_identifier) @receiver)]
    name: [(identifier) (operator_name)] @name)))]) @definition.method @scope.function
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier scope: (_) name: (qualified_identifier
    scope: [(namespace_identifier) @receiver (template_type name: (type_identifier) @receiver)]
    name: [(identifier) (destructor_name) (operator_name)] @name)))
  (function_declarator declarator: (qualified_identifier name: (qualified_identifier name: (qualified_identifier
    scope: [(namespace_identifier) @receiver (template_type name: (type_identifier) @receiver)]
    name: [(identifier) (destructor_name) (operator_name)] @name))))
  (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier
    name: (qualified_identifier name: (qualified_identifier
      scope: [(namespace_identifier) @receiver (template_type name: (type_identifier) @receiver)]
      name: [(identifier) (operator_name)] @name)))))
  (reference_declarator (function_declarator declarator: (qualified_identifier
    name: (qualified_identifier name: (qualified_identifier
      scope: [(namespace_identifier) @receiver (template_type name: (type_identifier) @receiver)]
      name: [(identifier) (operator_name)] @name)))))
  (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier
    scope: (_) name: (qualified_identifier
      scope: [(namespace_identifier) @receiver (template_type name: (type_identifier) @receiver)]
      name: [(identifier) (operator_name)] @name))))
  (reference_declarator (function_declarator declarator: (qualified_identifier
    scope: (_) name: (qualified_identifier
      scope: [(namespace_identifier) @receiver (template_type name: (type_identifier) @receiver)]
      name: [(identifier) (operator_name)] @name))))]) @definition.method @scope.function
(field_declaration_list [(field_declaration declarator: (function_declarator
    declarator: [(field_identifier) (operator_name) (destructor_name)] @name))
  (declaration declarator: (function_declarator declarator: [(identifier) (destructor_name) (operator_name)] @name))
  (field_declaration declarator: [(pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))
    (pointer_declarator declarator: (pointer_declarator
      declarator: (function_declarator declarator: (field_identifier) @name)))
    (pointer_declarator declarator: (reference_declarator
      (function_declarator declarator: [(field_identifier) (operator_name)] @name)))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))])] @definition.method)
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @definition.field
(declaration declarator: (function_declarator declarator: (identifier) @name)) @definition.prototype
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @definition.prototype
(declaration declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name)))) @definition.prototype
(declaration declarator: [(function_declarator declarator: (parenthesized_declarator (identifier) @name))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (identifier) @name)))]) @definition.prototype
(template_declaration) @scope.template
(lambda_expression) @scope.function
[(for_range_loop) (catch_clause) (if_statement) (while_statement)] @scope.block
(try_statement body: (compound_statement) @scope.block)
(field_declaration declarator: [(function_declarator parameters: (parameter_list) @scope.function)
  (pointer_declarator declarator: (function_declarator parameters: (parameter_list) @scope.function))
  (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator parameters: (parameter_list) @scope.function)))
  (pointer_declarator declarator: (reference_declarator (function_declarator parameters: (parameter_list) @scope.function)))
  (reference_declarator (function_declarator parameters: (parameter_list) @scope.function))])
(declaration declarator: (reference_declarator (function_declarator parameters: (parameter_list) @scope.function)))
(template_instantiation declarator: [(function_declarator parameters: (parameter_list) @scope.function)
  (pointer_declarator declarator: (function_declarator parameters: (parameter_list) @scope.function))
  (reference_declarator (function_declarator parameters: (parameter_list) @scope.function))])

(type_parameter_declaration (type_identifier) @bind.param)
(optional_type_parameter_declaration name: (type_identifier) @bind.param)
(optional_parameter_declaration declarator: [(identifier) @bind.param
  (pointer_declarator declarator: (identifier) @bind.param) (reference_declarator (identifier) @bind.param)])
(parameter_declaration declarator: [(reference_declarator (identifier) @bind.param)
  (pointer_declarator declarator: (reference_declarator (identifier) @bind.param))])
(variadic_parameter_declaration declarator: [(variadic_declarator (identifier) @bind.param)
  (reference_declarator (variadic_declarator (identifier) @bind.param))])
(for_range_loop declarator: [(identifier) @bind.local (reference_declarator (identifier) @bind.local)
  (pointer_declarator declarator: (identifier) @bind.local)
  (reference_declarator (pointer_declarator declarator: (identifier) @bind.local))
  (structured_binding_declarator (identifier) @bind.local)
  (reference_declarator (structured_binding_declarator (identifier) @bind.local))])
(init_declarator declarator: [(reference_declarator (identifier) @bind.local)
  (pointer_declarator declarator: (reference_declarator (identifier) @bind.local))
  (structured_binding_declarator (identifier) @bind.local)
  (reference_declarator (structured_binding_declarator (identifier) @bind.local))])

(using_declaration "namespace" (_) @source @everything) @import.cpp_using_namespace
(using_declaration [(qualified_identifier scope: (_) @source name: (identifier) @imported)
  (qualified_identifier name: (qualified_identifier scope: (_) @source name: (identifier) @imported))
  (qualified_identifier name: (qualified_identifier
    name: (qualified_identifier scope: (_) @source name: (identifier) @imported)))]) @import.cpp_using
(raw_string_literal) @text
