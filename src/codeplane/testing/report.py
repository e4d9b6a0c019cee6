"""Reports of runners: found, read within bounds, and parsed by the name of their format."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from codeplane.index.files.file import TOO_LARGE, read
from codeplane.testing.case import MAX_CASES, Case, UnreadableReport
from codeplane.testing.reports import cargo, go, jest, junit, mix, rspec, trx, unittest
from codeplane.testing.runner import Runner

MAX_REPORT_BYTES = 64 * 1024 * 1024
_MAX_FILES = 2000

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


def read_report(runner: Runner, report: Path, *, output: Path, root: Path, began: float) -> list[Case] | None:
    """Return the cases that a runner reported, None when it wrote no report; UnreadableReport when it is malformed.

    `output` is what the runner printed; `root` the folder that some runners put reports below, of which only those
    written since `began` belong to this run.
    """
    if runner.from_output:
        return parse_cases(runner.report, output.read_bytes())
    if runner.found:
        return _placed_cases(runner, root, began)
    data = read_contents(report)
    return None if data is None else parse_cases(runner.report, data)


def parse_cases(report_format: str, data: bytes) -> list[Case]:
    """Return the cases of a report, each of bounded length; UnreadableReport when it is not in its format."""
    cases = _READERS[report_format](data)
    if len(cases) > MAX_CASES:
        raise UnreadableReport(f"the report has {len(cases):,} cases, and at most {MAX_CASES:,} are read")
    return [case.cut_texts() for case in cases]


def formats() -> Iterable[str]:
    """Return the names of the formats that can be read."""
    return _READERS.keys()


def _placed_cases(runner: Runner, root: Path, began: float) -> list[Case] | None:
    """Return the cases of reports that the runner itself puts below its root."""
    files: dict[Path, None] = {}
    for pattern in runner.found:
        for file in sorted(root.glob(pattern))[:_MAX_FILES]:
            with suppress(OSError):
                if file.lstat().st_mtime >= began - 1:
                    files[file] = None
    if not files:
        return None
    return [case for file in files for case in parse_cases(runner.report, read_contents(file) or b"")]


def read_contents(path: Path) -> bytes | None:
    """Return a report's bytes, None when there is none; never through a link, which tested code could have made."""
    file = read(str(path), max_bytes=MAX_REPORT_BYTES)
    if file.skipped == TOO_LARGE:
        raise UnreadableReport(f"the report is larger than {MAX_REPORT_BYTES // 2**20} MB")
    return file.content if file.skipped is None else None
