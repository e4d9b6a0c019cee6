"""Type compatibility judged by text: whether a type accepts more or returns less than another."""

import itertools

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.parameters import Parameter
from codeplane.query.compare.tokens import balanced, split_at

_ANYTHING = frozenset({"any", "unknown"})


def widens(before: str, after: str, *, members: bool = False) -> bool:
    """Whether the new type accepts every value of the old one; `members` compares object types member by member."""
    if before == after or after in _ANYTHING:
        return True
    old, new = _alternatives(before), _alternatives(after)
    if members and before.startswith("{") and len(old) == len(new) == 1:
        return _holds(next(iter(old)), next(iter(new)))
    return old <= new


def narrows(before: str, after: str) -> bool:
    """Whether every value of the new type was one of the old."""
    if before == after or before in _ANYTHING:
        return True
    old, new = _alternatives(before), _alternatives(after)
    if before.startswith("Promise <") and after.startswith("Promise <"):
        inner = [side.removeprefix("Promise < ").removesuffix(" >") for side in (before, after)]
        return narrows(inner[0], inner[1])
    return new <= old


def _alternatives(text: str) -> frozenset[str]:
    return frozenset(" ".join(part) for part in split_at(text.split(" "), "|", angles=True))


def _holds(before: str, after: str) -> bool:
    """Whether an object type kept its members and requires no new ones."""
    old, new = _members(before), _members(after)
    if old is None or new is None:
        return False
    for name, (optional, kind) in old.items():
        if name not in new or new[name][1] != kind or new[name][0] != optional:
            return False
    return all(new[name][0] for name in new.keys() - old.keys())


def _takes(before: str, after: str) -> bool:
    """Whether a parameter of the new type takes every argument of the old one: more members may be optional."""
    if widens(before, after):
        return True
    new = _alternatives(after)
    return all(
        one in new or any(_takes_object(one, each) or _takes_function(one, each) for each in new)
        for one in _alternatives(before)
    )


def _takes_function(before: str, after: str) -> bool:
    """Whether a function of the old type can be given for one of the new: it may ignore further arguments."""
    old, new = _function(before), _function(after)
    if old is None or new is None:
        return False
    if len(old[0]) > len(new[0]) or not widens(old[1], new[1]):
        return False
    return all(mine == yours and (was or not now) for (was, mine), (now, yours) in zip(old[0], new[0], strict=False))


def _function(text: str) -> tuple[list[tuple[bool, str]], str] | None:
    """The parameters of a function type, each optional or not and with its type, and what it returns."""
    tokens = text.split(" ")
    while tokens[:1] == ["("] and balanced(tokens, 0) == len(tokens):
        tokens = tokens[1:-1]
    end = balanced(tokens, 0) if tokens[:1] == ["("] else len(tokens)
    if tokens[end : end + 1] != ["=>"]:
        return None
    given = []
    for part in split_at(tokens[1 : end - 1], ",", angles=True):
        head = part.index(":") if ":" in part else 0
        given.append(("?" in part[:head], " ".join(part[head:])))
    return given, " ".join(tokens[end + 1 :])


def _takes_object(before: str, after: str) -> bool:
    old, new = _members(before), _members(after)
    if old is None or new is None:
        return False
    for name, (optional, kind) in old.items():
        if name not in new or (optional and not new[name][0]):
            return False
        if not _takes(kind.removeprefix(": "), new[name][1].removeprefix(": ")):
            return False
    return all(new[name][0] for name in new.keys() - old.keys())


def _each(tokens: list[str]) -> list[list[str]]:
    """The members of an object type; without separators each starts at the name before its colon."""
    members: list[list[str]] = []
    for part in split_at(tokens, ";,", angles=True):
        starts, depth = [0], 0
        for at, token in enumerate(part):
            depth += (token in "([{<") - (token in ")]}>")
            if token == ":" and not depth and at:
                first = at - 2 if part[at - 1] == "?" else at - 1
                starts.append(first - (first > 0 and part[first - 1] == "readonly"))
        cuts = sorted({*starts, len(part)})
        members += [part[start:end] for start, end in itertools.pairwise(cuts)]
    return members


def _members(text: str) -> dict[str, tuple[bool, str]] | None:
    tokens = text.split(" ")
    if tokens[:1] != ["{"] or balanced(tokens, 0) != len(tokens):
        return None
    members = {}
    for part in _each(tokens[1:-1]):
        head = part[: part.index(":")] if ":" in part else part
        name = " ".join(token for token in head if token not in ("?", "readonly"))
        members[name] = ("?" in head, " ".join(part[len(head) :]))
    return members


def _by_value(text: str) -> str:
    """A type without `const`, which only concerns the callee."""
    words = text.split(" ")
    if "*" not in words and "&" not in words:
        return " ".join(word for word in words if word != "const")
    return " ".join(words[:-1] if words[-1] == "const" else words)


def accepts(before: Parameter, after: Parameter, rules: Contract) -> bool:
    """Whether every argument of the old parameter fits the new one."""
    old_type, new_type = before.type or before.name, after.type or after.name
    if old_type == new_type:
        return True
    if rules.c_declarations:
        old_type, new_type = _by_value(old_type), _by_value(new_type)
        return (
            old_type == new_type
            or new_type == f"const {old_type} &"
            or (new_type == f"const {old_type}" and old_type[-1:] in ("*", "&"))
        )
    if rules.nullable_types:
        return new_type == f"{old_type} ?"
    modes = rules.self_modes
    if old_type in modes and new_type in modes:
        return modes.index(new_type) < modes.index(old_type) or {old_type, new_type} == {"self", "mut self"}
    if rules.array_varargs and after.how == "rest":
        return old_type.removesuffix("[ ]").strip() == new_type.replace("...", "").strip()
    return rules.unions and bool(before.type) and bool(after.type) and _takes(old_type, new_type)


def returns_no_more(before: str, after: str, rules: Contract) -> bool:
    """Whether the new return type is a subset of the old one."""
    return rules.nullable_results and before == f"{after} ?"
