"""The syntax of Kotlin: what stands where in calls, lambdas, checks and dotted names."""

from codeplane.code.languages.jvm.java_classes import Node, text
from codeplane.code.languages.jvm.kotlin_classes import child_of
from codeplane.code.languages.jvm.kotlin_lookup import values_of

NAMES = frozenset({"interpolated_identifier", "simple_identifier"})
_MAX_CHECKS = 4_000


def split(node: Node) -> tuple[Node | None, Node | None]:
    """Return the receiver and the name of a member, as far as a node has them."""
    if node.type not in ("directly_assignable_expression", "navigation_expression") or len(node.named_children) < 2:
        return None, None
    suffix = node.named_children[-1]
    name = child_of(suffix, "simple_identifier") if suffix.type == "navigation_suffix" else None
    return (node.named_children[-2], name) if len(node.named_children) == 2 else (None, name)


def callee_name(call: Node) -> str:
    """Return the name of what is called."""
    callee = call.named_children[0] if call.named_children else None
    if callee is None or callee.type in NAMES:
        return text(callee)
    return text(split(callee)[1])


def call_of_lambda(made: Node) -> Node | None:
    """Return the call that a lambda is an argument of."""
    around = made.parent
    while around is not None and around.type in ("annotated_lambda", "value_argument", "value_arguments", "label"):
        around = around.parent
    if around is None or around.type != "call_suffix":
        return None
    return around.parent


def argument_place(call: Node, made: Node, count: int) -> int:
    """Return which parameter a lambda is given for; the one behind a call is the last."""
    for at, value in enumerate(values_of(call)):
        if value.start_byte <= made.start_byte and made.end_byte <= value.end_byte:
            if value.type == "annotated_lambda":
                return count - 1
            return at if all(child.type != "=" for child in value.children) else -1
    return -1


def lambda_in(value: Node) -> Node | None:
    return next((child for child in (value, *value.named_children) if child.type == "lambda_literal"), None)


def written_type(node: Node | None) -> Node | None:
    """Return the type that stands behind a name and a colon."""
    for at, child in enumerate(node.children) if node is not None else ():
        if child.type == ":" and node is not None and at + 1 < len(node.children):
            return node.children[at + 1]
    return None


def dotted_names(node: Node) -> list[Node]:
    """Return the names of a dotted name; none for other expressions."""
    before, name = split(node)
    if node.type in NAMES:
        return [node]
    listed = dotted_names(before) if before is not None and name is not None else []
    return [*listed, name] if listed and name is not None else []


def is_callable_reference(name: Node) -> bool:
    """Whether a member is referred to by `::`, as `Type::member`."""
    before = name.prev_sibling
    return before is not None and before.type == "::"


def ends_in_jump(body: Node) -> bool:
    last = body.named_children[-1] if body.named_children else None
    if last is not None and last.type == "statements":
        return ends_in_jump(last)
    return last is not None and last.type == "jump_expression"


def checked_types(around: Node | None, name: str) -> list[Node]:
    """Return the types that a function checks a variable for, or casts it to."""
    found: list[Node] = []
    waiting = [around] if around is not None else []
    for _ in range(_MAX_CHECKS):
        if not waiting:
            break
        node = waiting.pop()
        waiting += node.named_children
        if node.type in ("as_expression", "check_expression") and text(node.named_children[0]) == name:
            found += node.named_children[-1:]
        elif node.type == "when_expression" and _subject(node) == name:
            for entry in node.named_children:
                for condition in entry.named_children if entry.type == "when_entry" else ():
                    test = child_of(condition, "type_test")
                    found += test.named_children[-1:] if test is not None else []
    return [node for node in found if node.type.endswith("_type")]


def _subject(when: Node) -> str:
    subject = child_of(when, "when_subject")
    declared = child_of(subject, "variable_declaration")
    if declared is not None:
        return text(child_of(declared, "simple_identifier"))
    return text(subject.named_children[0]) if subject is not None and subject.named_children else ""
