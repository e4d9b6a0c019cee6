"""Which macro formats a string that names variables: `println!("{count}")` uses `count`."""

from codeplane.code.languages.reserved_words import words
from codeplane.code.languages.rust.syntax import Node, field, text_of

FORMATTING = words(
    """format format_args print println eprint eprintln write writeln panic assert assert_eq assert_ne debug_assert
    debug_assert_eq debug_assert_ne todo unimplemented unreachable"""
)
"""The standard macros that take a format string."""
_TREES = frozenset({"token_tree", "token_repetition"})


def macro_given(text: bytes, literal: Node) -> str | None:
    """Return the name of the macro that a string is an argument of, nothing if it is not clear; None without one.

    The arguments of the standard macros are read as those of a function, those of others are tokens.
    """
    listed = literal.parent
    above = listed.parent if listed is not None else None
    if listed is None or above is None:
        return None
    if listed.type == "arguments":
        function = field(above, "function")
        called = function is not None and text[function.end_byte : function.end_byte + 1] == b"!"
        return text_of(function) if function is not None and called else None
    if listed.type not in _TREES:
        return None
    if above.type == "macro_invocation":
        macro = field(above, "macro")
        return text_of(macro).rpartition("::")[2] if macro is not None else ""
    mark = listed.prev_sibling
    named = mark.prev_sibling if mark is not None and mark.type == "!" else None
    return text_of(named) if named is not None else ""


def names_argument(literal: Node, name: str) -> bool:
    """Whether a macro is given an argument of a name beside a string: `name = value`."""
    listed = literal.parent
    for child in listed.named_children if listed is not None else ():
        left = field(child, "left") if child.type == "assignment_expression" else None
        behind = child.next_sibling
        if left is not None and text_of(left) == name:
            return True
        if child.type == "identifier" and text_of(child) == name and behind is not None and behind.type == "=":
            return True
    return False


def is_argument_name(text: bytes, node: Node) -> bool:
    """Whether a name stands before `=` among the arguments of a macro, which it names."""
    above = node.parent
    if above is None or above.type != "assignment_expression" or field(above, "left") != node:
        return False
    return bool(macro_given(text, above))
