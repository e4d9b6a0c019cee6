"""Reports by the name of their format."""

from collections.abc import Callable, Iterable
from pathlib import Path

from codeplane.index.files.file import TOO_LARGE, read
from codeplane.testing.case import MAX_CASES, Case
from codeplane.testing.reports import cargo, go, jest, junit, mix, rspec, trx, unittest
from codeplane.testing.reports.unreadable import Unreadable

MAX_REPORT_BYTES = 64 * 1024 * 1024

_READERS: dict[str, Callable[[bytes], list[Case]]] = {
    "junit": junit.read,
    "jest": jest.read,
    "go": go.read,
    "cargo": cargo.read,
    "trx": trx.read,
    "rspec": rspec.read,
    "mix": mix.read,
    "unittest": unittest.read,
}


def cases(report_format: str, data: bytes) -> list[Case]:
    """The cases of a report, each of bounded length; Unreadable when it is not in its format."""
    found = _READERS[report_format](data)
    if len(found) > MAX_CASES:
        raise Unreadable(f"the report has {len(found):,} cases, and at most {MAX_CASES:,} are read")
    return [one.bounded() for one in found]


def formats() -> Iterable[str]:
    """The names of the formats that can be read."""
    return _READERS.keys()


def contents(path: Path) -> bytes | None:
    """A report's bytes, None when there is none; never through a link, since tested code could have put one there."""
    found = read(str(path), max_bytes=MAX_REPORT_BYTES)
    if found.skipped == TOO_LARGE:
        raise Unreadable(f"the report is larger than {MAX_REPORT_BYTES // 2**20} MB")
    return found.content if found.skipped is None else None
