"""Names as disks compare them: some know no case, drop trailing dots and spaces, or leave out characters."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

# Unicode's default ignorable code points: what ext4, f2fs and disks of macOS leave out where they know no case.
_IGNORABLE = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
_LEFT_OUT = dict.fromkeys(code for first, last in _IGNORABLE for code in range(first, last + 1))
# What else gives a file another name: the separator of Windows, streams, trailing dots and spaces.
_ODD = re.compile(r"[^\x00-\x7f]|[\\:]|[. ](?:/|$)")


def has_plain_name(path: str) -> bool:
    """Whether no disk takes a path for another one, but for its case."""
    return _ODD.search(path) is None


@lru_cache(maxsize=1024)
def fold_path(path: str) -> tuple[str, ...]:
    """The parts of a path as a disk may take them: without case, streams, trailing dots and spaces, ignored signs."""
    return tuple(map(_fold_part, PurePosixPath(path.replace("\\", "/")).parts))


def _fold_part(part: str) -> str:
    return part.translate(_LEFT_OUT).partition(":")[0].rstrip(". ").casefold()
