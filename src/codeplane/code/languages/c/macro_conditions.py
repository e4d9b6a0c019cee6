"""Where the conditions of the preprocessor leave a macro undefined."""

import re
from dataclasses import dataclass, field

_LINE = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|define)\b[ \t]*(\w*)", re.MULTILINE)


@dataclass(slots=True)
class _Conditional:
    """An `#if` up to its `#endif`, and which of its branches so far define the macro."""

    guard: str
    is_guard: bool = False
    has_else: bool = False
    branches: list[bool] = field(default_factory=lambda: [False])


def is_used_undefined(text: bytes, name: str) -> bool:
    """Whether a file that defines a macro in some branches of conditions uses it where none of these holds."""
    word = re.compile(rb"\b%s\b" % re.escape(name.encode()))
    places = [match.start() for match in word.finditer(text)]
    if len(places) < 2:
        return False
    stack = [_Conditional(guard="")]
    defined_in_part = False
    at = 0
    for line in _LINE.finditer(text):
        if (
            _uses(places, at, line.start())
            and defined_in_part
            and not any(conditional.branches[-1] for conditional in stack)
        ):
            return True
        word_of, named = line[1], line[2].decode()
        end = text.find(b"\n", line.end())
        at = end if end >= 0 else len(text)
        if word_of in (b"if", b"ifdef", b"ifndef"):
            stack.append(_Conditional(guard=named if word_of == b"ifndef" else ""))
        elif word_of == b"define":
            stack[-1].is_guard = stack[-1].is_guard or (bool(named) and stack[-1].guard == named)
            if named == name:
                stack[-1].branches[-1] = True
        elif len(stack) > 1 and word_of in (b"elif", b"else"):
            stack[-1].has_else = stack[-1].has_else or word_of == b"else"
            stack[-1].branches.append(False)
        elif len(stack) > 1:
            ended = stack.pop()
            whole = ended.is_guard or (ended.has_else and all(ended.branches))
            stack[-1].branches[-1] = stack[-1].branches[-1] or (whole and any(ended.branches))
            defined_in_part = defined_in_part or (any(ended.branches) and not whole)
    return (
        bool(_uses(places, at, len(text)))
        and defined_in_part
        and not any(conditional.branches[-1] for conditional in stack)
    )


def _uses(places: list[int], start: int, end: int) -> bool:
    return any(start <= place < end for place in places)
