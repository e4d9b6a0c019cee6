"""Vectors are filled in behind everything else, whatever becomes of the text meanwhile."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from codeplane.index.vector_index import VectorIndex
from codeplane.kernel.errors import IndexNotReady
from codeplane.vectors.rows import row_type
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.interaction.requirements import requirement

pytestmark = requirement("IDX-43")


class Counting:
    """A model that says the same of every text, and calls somebody when it is asked."""

    name = "counting"
    dimensions = 2

    def __init__(self, asked: Callable[[], None]) -> None:
        self._asked = asked

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._asked()
        return np.tile(np.asarray([1.0, 0.0], np.float32), (len(texts), 1))


def test_content_that_is_cut_off_while_vectors_are_made_ends_the_filling(tmp_path: Path) -> None:
    files = {f"{number}.py": f"def price_{number}():\n    return {number}\n" for number in range(20)}
    indexer = RecordingIndexer(make_repo(tmp_path / "repo", files), tmp_path / "home")
    snapshot = indexer.start()
    asked: list[int] = []

    def cut_off() -> None:
        asked.append(1)
        if len(asked) == 5:
            os.truncate(snapshot.content_file, 0)

    filler = VectorIndex(
        tmp_path / "vectors", embedder=lambda: Counting(cut_off), facts=lambda path, digest, *, keep: None
    )
    with pytest.raises(IndexNotReady, match="cut off"):
        filler.fill(snapshot, stop=lambda: False)
    assert len(asked) == 5
    assert indexer.mend() and indexer.snapshot is not None
    filler.fill(indexer.snapshot, stop=lambda: False)
    assert filler.count_missing(indexer.snapshot) == 0
    filler.close()
    indexer.close()


def test_what_waits_is_counted_before_a_filling_begins(tmp_path: Path) -> None:
    files = {f"{number}.py": f"def price_{number}():\n    return {number}\n" for number in range(5)}
    root = make_repo(tmp_path / "repo", files)
    indexer = RecordingIndexer(root, tmp_path / "home")
    filler = VectorIndex(
        tmp_path / "vectors", embedder=lambda: Counting(lambda: None), facts=lambda path, digest, *, keep: None
    )
    snapshot = indexer.start()
    assert filler.waiting_for(snapshot) == 5
    filler.fill(snapshot, stop=lambda: False)
    assert filler.waiting_for(snapshot) == filler.count_missing(snapshot) == 0
    # A checkout changes files, and the next filling has not begun.
    for name in ("0.py", "1.py"):
        (root / name).write_text("def other():\n    return 0\n" + name)
    changed = indexer.refresh(files)
    assert filler.waiting_for(changed) == filler.count_missing(changed) == 2
    filler.close()
    indexer.close()


def test_vectors_of_old_contents_go_though_edits_never_let_a_filling_end(tmp_path: Path) -> None:
    files = {f"{number}.py": f"def price_{number}():\n    return {number}\n" for number in range(60)}
    root = make_repo(tmp_path / "repo", files)
    indexer = RecordingIndexer(root, tmp_path / "home")
    filler = VectorIndex(
        tmp_path / "vectors", embedder=lambda: Counting(lambda: None), facts=lambda path, digest, *, keep: None
    )
    filler.fill(indexer.start(), stop=lambda: False)
    held = 0
    for turn in range(60):
        for name in files:
            (root / name).write_text(f"def price():\n    return {turn}, {name!r}\n")
        answers = chain([False] * 40, repeat(True))
        filler.fill(indexer.refresh(files), stop=partial(next, answers))
        assert filler.waiting == 20
        held = max(
            held, *(file.stat().st_size // row_type(2).itemsize for file in (tmp_path / "vectors").glob("*.bin"))
        )
    filler.close()
    indexer.close()
    assert 60 * 40 > 2040 >= held
