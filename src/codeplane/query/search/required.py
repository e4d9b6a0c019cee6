"""The plain texts that every match of a regular expression must hold: found faster than the expression itself."""

import re

_LEAST = 3
_MAX_BRANCHES = 6
_PLAIN = frozenset("_ -/:=,;<>'\"@#%&!~`")
# Escapes that take more characters along, and groups that set flags.
_UNREAD = re.compile(r"\\[xpPQ0-9]|\(\?(?!:)")


def required(expression: str) -> tuple[tuple[bytes, ...], ...]:
    """Of each alternative the texts that its matches hold, all of them; nothing where that is not easy to tell."""
    if not expression.isascii() or _UNREAD.search(expression):
        return ()
    branches, run, depth, at = [[""]], "", 0, 0
    while at < len(expression):
        char, following = expression[at], at + 1
        literal = char if char.isalnum() or char in _PLAIN else ""
        if char == "\\":
            escaped = expression[at + 1 : at + 2]
            literal, following = "" if escaped.isalnum() else escaped, at + 2
        elif char == "[":
            following = _after_class(expression, at)
        elif char in "?*{":
            # What stands before it need not be there.
            run = run[:-1]
            following = (expression.find("}", at) + 1 or len(expression)) if char == "{" else following
        depth += (char == "(") - (char == ")")
        if literal and not depth:
            run += literal
        else:
            branches[-1].append(run)
            run = ""
        if char == "|" and not depth:
            branches.append([])
        at = following
    branches[-1].append(run)
    found = tuple(tuple(dict.fromkeys(one.encode() for one in runs if len(one) >= _LEAST)) for runs in branches)
    return found if all(found) and len(found) <= _MAX_BRANCHES else ()


def _after_class(expression: str, at: int) -> int:
    """Where a class of characters ends: not at a bracket that is escaped, named or its first member."""
    at += 2 if expression[at + 1 : at + 2] == "^" else 1
    first = at
    while at < len(expression):
        if expression[at] == "\\":
            at += 2
        elif expression.startswith("[:", at) and ":]" in expression[at:]:
            at = expression.index(":]", at) + 2
        elif expression[at] == "]" and at > first:
            return at + 1
        else:
            at += 1
    return at
