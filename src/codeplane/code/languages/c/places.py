"""What stands around a name in a syntax tree of C or C++."""

import tree_sitter

Node = tree_sitter.Node


def qualifiers_of(node: Node) -> list[Node] | None:
    """Return the path before a name, outermost first; empty for `::name`, None for a name without one."""
    found: list[Node] = []
    inner, around, any_path = node, node.parent, False
    while around is not None:
        if around.type in ("qualified_identifier", "qualified_type_identifier"):
            scope = around.child_by_field_name("scope")
            if scope is not None and scope.start_byte <= node.start_byte < scope.end_byte:
                inner, around = around, around.parent
                if inner.child_by_field_name("name") is not None and around is not None and around.type != inner.type:
                    break
                continue
            any_path = True
            if scope is not None:
                found.insert(0, scope)
        elif around.type not in (
            "template_type",
            "template_function",
            "destructor_name",
            "dependent_name",
            "template_method",
        ) or (around.child_by_field_name("name") != inner and around.type != "destructor_name"):
            break
        inner, around = around, around.parent
    return found if any_path else None


def names_constructor(node: Node) -> bool:
    """Whether a name stands where a function is defined, called or brought."""
    around = node.parent
    while around is not None and around.type == "qualified_identifier":
        around = around.parent
    return around is not None and around.type in ("function_declarator", "using_declaration", "call_expression")


def heads_body(node: Node) -> bool:
    """Whether a name is given to a macro that stands for the head of a function: `TEST(suite, name) {`."""
    around = node.parent
    while around is not None and around.type in ("parameter_declaration", "parameter_list", "function_declarator"):
        around = around.parent
    return around is not None and around.type == "function_definition" and around.child_by_field_name("type") is None


def in_error(node: Node) -> bool:
    """Whether a name is in a stretch that was not parsed."""
    around: Node | None = node
    while around is not None:
        if around.is_error:
            return True
        if around.type in ("function_definition", "field_declaration_list", "translation_unit", "compound_statement"):
            return False
        around = around.parent
    return False


def is_broken_path(node: Node) -> bool:
    """Whether the path that a name is in was not parsed as it is written."""
    around = node.parent
    while around is not None and around.type in ("qualified_identifier", "template_function", "template_type"):
        if any(child.is_error or child.is_missing for child in around.children):
            return True
        around = around.parent
    return False
