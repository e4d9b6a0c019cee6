"""Which targets a request means."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from codeplane.index.files.paths import canonical
from codeplane.kernel.errors import NotFound
from codeplane.testing.history import History
from codeplane.testing.target import Target, Wanted


def chosen(names: Sequence[str], targets: Sequence[Target], root: Path) -> list[Wanted]:
    """The targets that names mean: ids, files, folders, classes, or `path::test`; NotFound with what is near."""
    found: dict[str, set[str]] = {}
    by_id = {one.target_id: one for one in targets}
    for name in names:
        place, _, test = name.strip().partition("::")
        # The package at the root is called so too, but whoever says "here" means all of it.
        means = [by_id[place]] if place in by_id and place != "." else _at(place, targets, root)
        if not means:
            known = list(dict.fromkeys([*by_id, *(one.path for one in targets)]))
            near = difflib.get_close_matches(place, known, n=3, cutoff=0.4)
            raise NotFound(
                f"no test is called {place!r}",
                hint=f"did you mean {', '.join(near)}?" if near else "test_discover lists them",
            )
        for one in means:
            parts = found.setdefault(one.target_id, set())
            # Nothing stands for all of it, and stays so whatever is named beside.
            parts.add(test)
    return [
        Wanted(target=by_id[target_id], names=() if "" in parts else tuple(sorted(parts)))
        for target_id, parts in found.items()
    ]


def failed(wanted: Sequence[Wanted], history: History) -> list[Wanted]:
    """Of these, what failed when it ran last, test by test where that can be said."""
    found: list[Wanted] = []
    for one in wanted:
        failing = history.failing(one.target_id)
        if failing:
            start = f"{one.target_id}::"
            names = tuple(test.removeprefix(start) for test in failing if test.startswith(start))
            is_named = len(names) == len(failing) and can_name(one.target)
            found.append(Wanted(target=one.target, names=names if is_named else ()))
    return found


def can_name(target: Target) -> bool:
    """Whether its runner can be told to run one test of it."""
    return target.custom is None and target.runner is not None and bool(target.runner.node_ids or target.runner.pattern)


def _at(place: str, targets: Sequence[Target], root: Path) -> list[Target]:
    path = canonical(place, root=root)
    exact = [one for one in targets if one.is_at(path)]
    if exact or "/" in path or "." not in path:
        return exact
    # A class, or a file by its name alone.
    return [one for one in targets if one.path.endswith(f"/{path}") or one.target_id.endswith(f".{path}")]
