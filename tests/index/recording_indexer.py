"""An indexer on a folder of the test's own."""

from collections.abc import Callable
from pathlib import Path

from codeplane.adapters.git_cli import GitCli
from codeplane.adapters.pygit2_repo import GitRepo
from codeplane.index.content import ContentFile
from codeplane.index.index_changes import Changes
from codeplane.index.indexer import Indexer
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.kernel.clock import Clock, SystemClock

MAX_FILE_BYTES = 1_000_000


class RecordingIndexer(Indexer):
    """An indexer that remembers what it published."""

    def __init__(
        self,
        root: Path,
        home: Path,
        saw: Callable[[ContentFile, IndexedFile], None] = lambda content, known: None,
        max_file_bytes: int = MAX_FILE_BYTES,
        clock: Clock | None = None,
    ) -> None:
        self.told: list[tuple[int, Changes]] = []
        home.mkdir(parents=True, exist_ok=True)
        super().__init__(
            root=root,
            home=home,
            git_at=GitCli,
            repo=GitRepo(root),
            clock=clock or SystemClock(),
            max_file_bytes=max_file_bytes,
            published=self._tell,
            saw=saw,
        )

    def _tell(self, snapshot: Snapshot, changes: Changes) -> None:
        self.told.append((snapshot.epoch, changes))


def texts(snapshot: Snapshot) -> dict[str, bytes]:
    """Every text the snapshot holds."""
    return {known.path: snapshot.text(known) for known in snapshot.texts}
