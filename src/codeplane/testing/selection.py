"""Selection of the targets that a request names."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from codeplane.index.files.paths import canonical
from codeplane.kernel.errors import NotFound
from codeplane.testing.history import History
from codeplane.testing.target import Target, TargetSelection


def select_named(names: Sequence[str], targets: Sequence[Target], root: Path) -> list[TargetSelection]:
    """Return the targets of names: ids, files, folders, classes, or `path::test`; NotFound suggests similar ones."""
    found: dict[str, set[str]] = {}
    by_id = {target.target_id: target for target in targets}
    for name in names:
        place, _, test = name.strip().partition("::")
        # The package at the root has this id too, but "." means everything.
        means = [by_id[place]] if place in by_id and place != "." else _at(place, targets, root)
        if not means:
            known = list(dict.fromkeys([*by_id, *(target.path for target in targets)]))
            near = difflib.get_close_matches(place, known, n=3, cutoff=0.4)
            raise NotFound(
                f"no test is called {place!r}",
                hint=f"did you mean {', '.join(near)}?" if near else "test_discover lists them",
            )
        for target in means:
            parts = found.setdefault(target.target_id, set())
            # An empty name means the whole target, whatever else is named.
            parts.add(test)
    return [
        TargetSelection(target=by_id[target_id], names=() if "" in parts else tuple(sorted(parts)))
        for target_id, parts in found.items()
    ]


def select_failed(wanted: Sequence[TargetSelection], history: History) -> list[TargetSelection]:
    """Return those that failed when they ran last, test by test if the runner can run single tests."""
    found: list[TargetSelection] = []
    for selection in wanted:
        failing = history.failing_tests(selection.target_id)
        if failing:
            start = f"{selection.target_id}::"
            names = tuple(test.removeprefix(start) for test in failing if test.startswith(start))
            is_named = len(names) == len(failing) and can_run_single_tests(selection.target)
            found.append(TargetSelection(target=selection.target, names=names if is_named else ()))
    return found


def can_run_single_tests(target: Target) -> bool:
    """Whether its runner can run a single test of it."""
    return target.custom is None and target.runner is not None and bool(target.runner.node_ids or target.runner.pattern)


def _at(place: str, targets: Sequence[Target], root: Path) -> list[Target]:
    path = canonical(place, root=root)
    exact = [target for target in targets if target.matches_path(path)]
    if exact or "/" in path or "." not in path:
        return exact
    # A class, or a file by its name alone.
    return [target for target in targets if target.path.endswith(f"/{path}") or target.target_id.endswith(f".{path}")]
