"""Each writing operation against the plain commands on a copy: equal trees, refs, index and status; then back again."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.git.random_operations import CASES, Case, Draw, compare
from tests.git.random_repository import RandomRepository, made
from tests.interaction.requirements import requirement

SEEDS = (3, 14)
# Those whose ways part most: they are tried on both repositories.
MANIFOLD = {"merge", "cherrypick", "revert", "rebase", "reset", "checkout", "stash_pop"}
CHOSEN = [
    (kind, seed)
    for number, kind in enumerate(CASES)
    for at, seed in enumerate(SEEDS)
    if number % 2 == at or kind.__name__ in MANIFOLD
]


@pytest.fixture(scope="module")
def origins(tmp_path_factory: pytest.TempPathFactory) -> dict[int, RandomRepository]:
    return {seed: made(tmp_path_factory.mktemp("origin") / "made", seed) for seed in SEEDS}


@requirement("GIT-05")
@pytest.mark.parametrize(("kind", "seed"), CHOSEN, ids=[f"{kind.__name__}-{seed}" for kind, seed in CHOSEN])
def test_it_leaves_what_git_leaves_and_undo_what_was(
    kind: Callable[[Draw], Case], seed: int, origins: dict[int, RandomRepository], tmp_path: Path
) -> None:
    assert compare(kind, origins[seed], seed, tmp_path / "pair") in ("done", "refused", "undone")
