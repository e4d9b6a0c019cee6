"""Vectors are filled in behind everything else, whatever becomes of the text meanwhile."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from codeplane.index.vector_index import VectorIndex
from codeplane.kernel.errors import IndexNotReady
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
    assert filler.missing(indexer.snapshot) == 0
    filler.close()
    indexer.close()
