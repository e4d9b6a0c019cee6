"""Exports events as JSON lines, in segments that rotate and are compressed."""

import gzip
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from codeplane.kernel.event import Event
from codeplane.kernel.json import dumps

_SEGMENT = re.compile(r"trace-\d{6,}\.ndjson(\.gz)?")


class ExportFolder:
    """A folder of `trace-NNNNNN.ndjson` segments: the newest is plain, the older ones gzipped."""

    def __init__(self, folder: Path, *, segment_bytes: int) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes

    def write(self, events: Iterable[Event]) -> int:
        """Append events to the newest segment, starting another where it is full; returns the bytes written."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._tidy()
        path = self._newest_export()
        written, size = 0, path.stat().st_size if path.exists() else 0
        file = path.open("ab")
        try:
            for event in events:
                line = dumps(event.to_wire()).encode() + b"\n"
                if size and size + len(line) > self._segment_bytes:
                    _close(file)
                    _compress(path)
                    path, size = self._numbered_path(self._number(path) + 1), 0
                    file = path.open("ab")
                file.write(line)
                size += len(line)
                written += len(line)
        finally:
            _close(file)
        return written

    def segments(self) -> list[Path]:
        """The segments, oldest first."""
        return sorted((path for path in self._folder.iterdir() if _SEGMENT.fullmatch(path.name)), key=self._number)

    def _tidy(self) -> None:
        """Finish what a crash interrupted: delete a plain segment whose compressed form is complete."""
        for path in self.segments():
            if path.suffix == ".gz":
                path.with_suffix("").unlink(missing_ok=True)

    def _newest_export(self) -> Path:
        segments = self.segments()
        if not segments:
            return self._numbered_path(1)
        last = segments[-1]
        return last if last.suffix == ".ndjson" else self._numbered_path(self._number(last) + 1)

    def _numbered_path(self, number: int) -> Path:
        return self._folder / f"trace-{number:06d}.ndjson"

    @staticmethod
    def _number(path: Path) -> int:
        return int(path.name.removeprefix("trace-").partition(".")[0])


def _close(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
    file.close()


def _compress(path: Path) -> None:
    target = path.with_name(path.name + ".gz")
    partial = path.with_name(path.name + ".gz.part")
    with path.open("rb") as plain, partial.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)
        packed.close()
        raw.flush()
        os.fsync(raw.fileno())
    partial.replace(target)
    path.unlink()
