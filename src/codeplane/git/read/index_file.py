"""Git's index file, read without starting git."""

import struct
from pathlib import Path

_VERSIONS = (2, 3)
_HEADER = 12
_FIXED = struct.Struct(">24xI12x20sH")
_EXTENDED = 0x4000
_CHECKSUM = 20
# Beyond this git itself is faster.
_MAX_ENTRIES = 20_000


def index_lines(file: Path) -> frozenset[bytes] | None:
    """List the entries as `git ls-files --stage` prints them; None when only git can read the file.

    Only for repositories with SHA-1 object names.
    """
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        return frozenset()
    if len(raw) < _HEADER + _CHECKSUM or not raw.startswith(b"DIRC"):
        return None
    version, count = struct.unpack_from(">II", raw, 4)
    if version not in _VERSIONS or count > _MAX_ENTRIES:
        return None
    lines, at = [], _HEADER
    try:
        for _ in range(count):
            mode, oid, flags = _FIXED.unpack_from(raw, at)
            start = at + _FIXED.size + (2 if flags & _EXTENDED else 0)
            end = raw.index(b"\0", start)
            lines.append(b"%06o %s %d\t%s" % (mode, oid.hex().encode(), (flags >> 12) & 3, raw[start:end]))
            at += (end - at + 8) & ~7
    except (struct.error, ValueError):
        return None
    return frozenset(lines) if _is_whole(raw, at) else None


def _is_whole(raw: bytes, at: int) -> bool:
    """Whether only optional extensions follow the entries; others may say that entries are elsewhere."""
    end = len(raw) - _CHECKSUM
    while at + 8 <= end:
        if not 0x41 <= raw[at] <= 0x5A:
            return False
        at += 8 + int.from_bytes(raw[at + 4 : at + 8])
    return at == end
