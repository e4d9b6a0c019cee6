"""Where names are bound in a file, looked for name by name: an answer asks a file about a few of its hundreds."""

from collections.abc import Sequence

from codeplane.repo.facts.model import Facts

# A file that is asked about more names than these has all of them sorted at once, which its facts then keep.
_FEW = 8


class Bindings:
    """The bindings of some files, for the length of one answer."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, dict[int, list[int]]]] = {}

    def rows(self, path: str, facts: Facts, scope: int, name: str) -> Sequence[int]:
        """The rows of a file's bindings that a scope has under a name, in their order."""
        held = self._held.setdefault(path, {})
        found = held.get(name)
        if found is None:
            if len(held) >= _FEW:
                return facts.bound.get((scope, name), ())
            found = held[name] = _by_scope(facts, name)
        return found.get(scope, ())


def _by_scope(facts: Facts, name: str) -> dict[int, list[int]]:
    names, found, row = facts.bind_names, dict[int, list[int]](), -1
    for _ in range(names.count(name)):
        row = names.index(name, row + 1)
        found.setdefault(int(facts.binds[row, 0]), []).append(row)
    return found
