"""Type compatibility judged by text: whether a type accepts more or returns less than another."""

import itertools
from collections.abc import Callable

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.parameters import Parameter
from codeplane.query.compare.tokens import closing_index, split_at, words

_ANYTHING = frozenset({"any", "unknown"})
# What makes a type a program of its own: conditional, mapped and inferred types.
_COMPUTING = words("extends infer keyof in typeof Pick Omit Extract Exclude ReturnType")


def is_computed(*texts: str) -> bool:
    """Whether one of some types is computed from others, so that its text does not say what users get."""
    return any(not _COMPUTING.isdisjoint(text.split(" ")) for text in texts)


def same_but_arguments(before: str, after: str) -> bool:
    """Whether two types differ only in names of parameters, or where one leaves the arguments of a type out."""
    old, new = before.split(" "), after.split(" ")
    at, there = 0, 0
    if (mine_called := _function(before)) is not None and mine_called == _function(after):
        return True
    while at < len(old) or there < len(new):
        mine, yours = old[at : at + 1], new[there : there + 1]
        if mine == yours == ["<"]:
            ends = closing_index(old, at, "<", ">"), closing_index(new, there, "<", ">")
            if not _same_arguments(old[at + 1 : ends[0] - 1], new[there + 1 : ends[1] - 1]):
                return False
            at, there = ends
        elif mine == yours:
            at, there = at + 1, there + 1
        elif mine == ["<"] and at and old[at - 1].isidentifier():
            at = closing_index(old, at, "<", ">")
        elif yours == ["<"] and there and new[there - 1].isidentifier():
            there = closing_index(new, there, "<", ">")
        else:
            return False
    return True


def _same_arguments(old: list[str], new: list[str]) -> bool:
    """Whether type arguments are the same as far as both write them."""
    sides = (split_at(tokens, ",", angles=True) for tokens in (old, new))
    return all(same_but_arguments(" ".join(mine), " ".join(yours)) for mine, yours in zip(*sides, strict=False))


def widens(before: str, after: str, *, members: bool = False, is_taken: bool = False) -> bool:
    """Whether the new type accepts every value of the old one; `members` compares object types member by member.

    Of a type that is only taken, and never handed out, members may accept more as well.
    """
    if before == after or after in _ANYTHING:
        return True
    old, new = _alternatives(before), _alternatives(after)
    if old == new or (members and _calls_the_same(before, after, is_taken=is_taken)):
        return True
    if members and len(old) == len(new) == 1:
        return _holds_all(before, after, _takes_object if is_taken else _holds)
    return _within(old, new)


def narrows(before: str, after: str) -> bool:
    """Whether every value of the new type was one of the old."""
    if before == after or before in _ANYTHING:
        return True
    old, new = _alternatives(before), _alternatives(after)
    if before.startswith("Promise <") and after.startswith("Promise <"):
        inner = [side.removeprefix("Promise < ").removesuffix(" >") for side in (before, after)]
        return narrows(inner[0], inner[1])
    return _within(new, old)


def _within(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether each of some alternatives is one of others."""
    return all(
        each in others
        or any(same_but_arguments(each, other) for other in others)
        or any(" ".join(part) in others for part in split_at(each.split(" "), "&", angles=True))
        for each in some
    )


def _alternatives(text: str) -> frozenset[str]:
    """The alternatives of a union, without parentheses around unions in it."""
    found: set[str] = set()
    if not text.startswith("( (") and _function(text) is not None:
        # A bar behind its arrow is part of what it returns.
        return frozenset({text})
    for part in split_at(text.split(" "), "|", angles=True):
        if part[:1] == ["("] and closing_index(part, 0) == len(part) and _function(" ".join(part)) is None:
            found |= _alternatives(" ".join(part[1:-1]))
        else:
            found.add(" ".join(part))
    return frozenset(found)


def _holds_all(before: str, after: str, holds: Callable[[str, str], bool]) -> bool:
    """Whether each part of an intersection is kept, and no member is required that was not."""
    old, new = ([" ".join(part) for part in split_at(text.split(" "), "&", angles=True)] for text in (before, after))
    left = [part for part in new if part not in old]
    gone = [part for part in old if part not in new]
    if len(gone) > len(left):
        return False
    kept = all(any(holds(part, other) for other in left) for part in gone)
    return kept and all(any(holds(part, other) for part in gone) or holds("{ }", other) for other in left)


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
    if before.endswith("[ ]") and after.endswith("[ ]"):
        return _takes(before.removesuffix("[ ]").strip(), after.removesuffix("[ ]").strip())
    new = _alternatives(after)
    return all(
        alternative in new
        or any(_takes_object(alternative, each) or _takes_function(alternative, each) for each in new)
        for alternative in _alternatives(before)
    )


def _calls_the_same(before: str, after: str, *, is_taken: bool) -> bool:
    """Whether a function type only has more parameters: optional ones, or any where users give the function."""
    old, new = _function(before), _function(after)
    if old is None or new is None or old[1] != new[1] or len(old[0]) > len(new[0]):
        return False
    return new[0][: len(old[0])] == old[0] and (is_taken or all(optional for optional, _ in new[0][len(old[0]) :]))


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
    while tokens[:1] == ["("] and closing_index(tokens, 0) == len(tokens):
        tokens = tokens[1:-1]
    end = closing_index(tokens, 0) if tokens[:1] == ["("] else len(tokens)
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
    if tokens[:1] != ["{"] or closing_index(tokens, 0) != len(tokens):
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
