"""Edits that git was told not to look for: entries marked assume-unchanged or skip-worktree."""

import os
import stat
from collections.abc import Iterable
from hashlib import sha1, sha256
from pathlib import Path

# Printed beside what is there of each entry; small letters are for assume-unchanged.
LISTED = ("ls-files", "-v", "--stage", "-z")
_SKIPPED = "S"
_SHA1_DIGITS = 40


def hidden_edits(root: Path, listed: Iterable[str]) -> list[str]:
    """The marked entries, of those that git lists so, whose place holds something else than the index says."""
    found = []
    for line in listed:
        tag, _, rest = line.partition(" ")
        if not (tag.islower() or tag == _SKIPPED):
            continue
        facts, _, path = rest.partition("\t")
        mode, oid, _ = facts.split(" ")
        if _differs(root / path, mode, oid):
            found.append(path)
    return found


def _differs(place: Path, mode: str, oid: str) -> bool:
    try:
        there = os.lstat(place).st_mode
        if stat.S_ISDIR(there):
            return mode != "160000"
        content = os.fsencode(place.readlink()) if stat.S_ISLNK(there) else place.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    hashed = sha1(usedforsecurity=False) if len(oid) == _SHA1_DIGITS else sha256()
    hashed.update(b"blob %d\0" % len(content) + content)
    return hashed.hexdigest() != oid
