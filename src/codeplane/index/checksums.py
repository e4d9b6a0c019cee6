"""Verify the checksum that Tantivy writes at the end of each index file."""

import json
import struct
import zlib
from pathlib import Path

_END = struct.Struct("<II")
_MAGIC = 1337
_CHUNK = 1024 * 1024


def verify_checksums(folder: Path) -> None:
    """Raise ValueError if a file of a live segment is damaged."""
    try:
        segments = json.loads((folder / "meta.json").read_bytes())["segments"]
    except FileNotFoundError:
        return
    # What a writer left that was ended is of no segment.
    names = {str(segment["segment_id"]).replace("-", "") for segment in segments}
    for file in sorted(folder.iterdir()):
        if file.name.partition(".")[0] in names and not _is_whole(file):
            raise ValueError(f"{file.name} is damaged: its checksum differs")


def _is_whole(file: Path) -> bool:
    size = file.stat().st_size
    with file.open("rb") as opened:
        if size < _END.size:
            return False
        opened.seek(size - _END.size)
        length, magic = _END.unpack(opened.read(_END.size))
        left = size - _END.size - length
        if magic != _MAGIC or left < 0:
            return False
        opened.seek(left)
        footer = json.loads(opened.read(length))
        opened.seek(0)
        checksum = 0
        while left:
            block = opened.read(min(left, _CHUNK))
            checksum, left = zlib.crc32(block, checksum), left - len(block)
        return bool(checksum == footer["crc"])
