"""TypeScript's types as far as their text tells: which takes more than another, which gives less."""

import itertools

from codeplane.query.compare.tokens import balanced, split_at

_ANYTHING = frozenset({"any", "unknown"})


def widens(before: str, after: str, *, members: bool = False) -> bool:
    """Whether all that one type took the other takes; `members` compares object types member by member."""
    if before == after or after in _ANYTHING:
        return True
    old, new = _alternatives(before), _alternatives(after)
    if members and before.startswith("{") and len(old) == len(new) == 1:
        return _holds(next(iter(old)), next(iter(new)))
    return old <= new


def narrows(before: str, after: str) -> bool:
    """Whether all that one type gives the other gave."""
    if before == after or before in _ANYTHING:
        return True
    old, new = _alternatives(before), _alternatives(after)
    if before.startswith("Promise <") and after.startswith("Promise <"):
        inner = [one.removeprefix("Promise < ").removesuffix(" >") for one in (before, after)]
        return narrows(inner[0], inner[1])
    return new <= old


def _alternatives(said: str) -> frozenset[str]:
    return frozenset(" ".join(part) for part in split_at(said.split(" "), "|", angles=True))


def _holds(before: str, after: str) -> bool:
    """Whether an object type still has every member it had, and asks for none that it did not."""
    old, new = _members(before), _members(after)
    if old is None or new is None:
        return False
    for name, (optional, kind) in old.items():
        if name not in new or new[name][1] != kind or new[name][0] != optional:
            return False
    return all(new[name][0] for name in new.keys() - old.keys())


def _each(tokens: list[str]) -> list[list[str]]:
    """The members of an object type; where only ends of lines part them, each begins at the name before its colon."""
    found: list[list[str]] = []
    for part in split_at(tokens, ";,", angles=True):
        starts, depth = [0], 0
        for at, token in enumerate(part):
            depth += (token in "([{<") - (token in ")]}>")
            if token == ":" and not depth and at:
                first = at - 2 if part[at - 1] == "?" else at - 1
                starts.append(first - (first > 0 and part[first - 1] == "readonly"))
        cuts = sorted({*starts, len(part)})
        found += [part[one:other] for one, other in itertools.pairwise(cuts)]
    return found


def _members(said: str) -> dict[str, tuple[bool, str]] | None:
    tokens = said.split(" ")
    if tokens[:1] != ["{"] or balanced(tokens, 0) != len(tokens):
        return None
    found = {}
    for part in _each(tokens[1:-1]):
        head = part[: part.index(":")] if ":" in part else part
        name = " ".join(token for token in head if token not in ("?", "readonly"))
        found[name] = ("?" in head, " ".join(part[len(head) :]))
    return found
