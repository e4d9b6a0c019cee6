"""The reader of a workspace's files into the content."""

from dataclasses import replace
from pathlib import Path

from codeplane.index.content import ContentFile
from codeplane.index.files.file import FileRead, Stamp, read, stamp_of
from codeplane.index.files.file_clock import FileClock
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.kernel.errors import IndexNotReady

_ATTEMPTS = 3


class ContentReader:
    """Reads files below a root and appends their text to the content."""

    def __init__(self, *, root: Path, clock: FileClock, max_file_bytes: int) -> None:
        self._root = root
        self._clock = clock
        self._max_file_bytes = max_file_bytes

    def stamp_of(self, path: str) -> Stamp | None:
        """A file's stamp on disk, or None if it is gone."""
        return stamp_of(self._file(path))

    def read(
        self,
        path: str,
        content: ContentFile,
        *,
        tracked: bool,
        known: IndexedFile | None = None,
        snapshot: Snapshot | None = None,
    ) -> IndexedFile | None:
        """Read a file into the content, or None if it is gone; one unchanged since `known` keeps its place."""
        result = self._read_file(path)
        stamp = result.stamp
        if stamp is None:
            return None
        if result.skipped is not None:
            return IndexedFile(
                path=path,
                stamp=stamp,
                digest=result.digest,
                offset=-1,
                length=0,
                tracked=tracked,
                skipped=result.skipped,
            )
        if known is not None and known.digest == result.digest and _has_bytes(snapshot, known, result.content):
            return replace(known, stamp=stamp, tracked=tracked)
        return IndexedFile(
            path=path,
            stamp=stamp,
            digest=result.digest,
            offset=content.append(result.content),
            length=len(result.content),
            tracked=tracked,
        )

    def _read_file(self, path: str) -> FileRead:
        """Read a file, again if it was written meanwhile: the content may be half old and half new."""
        file = self._file(path)
        for _ in range(_ATTEMPTS):
            began = self._clock.now()
            result = read(file, max_bytes=self._max_file_bytes)
            if result.stamp is None:
                break
            if result.stamp.ctime_ns >= began:
                self._clock.wait(result.stamp)
            elif stamp_of(file) == result.stamp:
                break
        return result

    def _file(self, path: str) -> str:
        # Text, not a Path: this runs for every file of the repository.
        return f"{self._root}/{path}"


def _has_bytes(snapshot: Snapshot | None, known: IndexedFile, content: bytes) -> bool:
    if snapshot is None or known.skipped is not None or known.length != len(content):
        return False
    try:
        return snapshot.text(known) == content
    except IndexNotReady:
        return False
