"""Where names are bound and defined in a file, looked for one by one: an answer asks a file about a few of hundreds."""

from collections.abc import Mapping, Sequence

from codeplane.repo.facts.model import Facts

# A file that is asked about more names than these has all of them sorted at once, which its facts then keep.
_FEW = 8


class Bindings:
    """The bindings and definitions of some files, for the length of one answer."""

    def __init__(self) -> None:
        self._bound: dict[str, dict[str, Mapping[int, Sequence[int]]]] = {}
        self._declared: dict[str, dict[str, Mapping[int, Sequence[int]]]] = {}

    def rows(self, path: str, facts: Facts, scope: int, name: str) -> Sequence[int]:
        """The rows of a file's bindings that a scope has under a name, in their order."""
        held = self._bound.setdefault(path, {})
        found = held.get(name)
        if found is None:
            if len(held) >= _FEW or "bound" in facts.__dict__:
                return facts.bound.get((scope, name), ())
            found = held[name] = _bound(facts, name)
        return found.get(scope, ())

    def scopes(self, path: str, facts: Facts, name: str) -> Mapping[int, Sequence[int]]:
        """The rows of a file's bindings under a name, by their scopes."""
        held = self._bound.setdefault(path, {})
        if name not in held:
            held[name] = _bound(facts, name)
        return held[name]

    def definitions(self, path: str, facts: Facts, scope: int, name: str) -> Sequence[int]:
        """The definitions of a file that a scope has under a name, in their order."""
        held = self._declared.setdefault(path, {})
        found = held.get(name)
        if found is None:
            if len(held) >= _FEW or "declared" in facts.__dict__:
                return facts.declared.get((scope, name), ())
            found = held[name] = _declared(facts, name)
        return found.get(scope, ())


def _bound(facts: Facts, name: str) -> Mapping[int, Sequence[int]]:
    names, found, row = facts.bind_names, dict[int, list[int]](), -1
    for _ in range(names.count(name)):
        row = names.index(name, row + 1)
        found.setdefault(int(facts.binds[row, 0]), []).append(row)
    return found


def _declared(facts: Facts, name: str) -> Mapping[int, Sequence[int]]:
    found: dict[int, list[int]] = {}
    for index, one in enumerate(facts.definitions):
        if one.name == name:
            found.setdefault(one.scope, []).append(index)
    return found
