"""Whether the files of a Tantivy index are as they were written: each ends with a checksum nobody looked at."""

import json
import struct
import zlib
from pathlib import Path

_END = struct.Struct("<II")
_MAGIC = 1337
_CHUNK = 1024 * 1024


def must_be_whole(folder: Path) -> None:
    """ValueError where a file of a segment that counts is not what was written."""
    try:
        segments = json.loads((folder / "meta.json").read_bytes())["segments"]
    except FileNotFoundError:
        return
    # What a writer left that was ended is of no segment.
    names = {str(one["segment_id"]).replace("-", "") for one in segments}
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
        found = 0
        while left:
            block = opened.read(min(left, _CHUNK))
            found, left = zlib.crc32(block, found), left - len(block)
        return bool(found == footer["crc"])
