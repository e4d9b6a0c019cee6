"""The bar while the first index is built: rate, what is left, and an end."""

import io
from collections.abc import Iterator

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.progress import Progress, follow, format_seconds
from tests.interaction.requirements import requirement

pytestmark = requirement("CLI-20")

PARSING: JsonObject = {
    "version": 1,
    "healthy": True,
    "file_count": 6900,
    "symbols": {
        "epoch": 0,
        "files": 725,
        "files_total": 6900,
        "bytes": 9_100_000,
        "bytes_total": 36_400_000,
        "share": 0.25,
        "mb_per_sec": 5.25,
        "eta_sec": 6.6,
    },
}
READY: JsonObject = {"version": 2, "healthy": True, "file_count": 6900, "symbols": {"epoch": 2}}


def test_rate_and_what_is_left() -> None:
    line = Progress.of(PARSING).line()
    assert line == "index  ███████░░░░░░░░░░░░░░░░░░░░░  25%  9.1/36.4 MB, 5.2 MB/s, 7 s left"


@pytest.mark.parametrize(
    ("index", "output"),
    [
        ({"version": 0, "healthy": True, "state": "building"}, "reading files"),
        ({"version": 0, "healthy": False, "state": "no space left"}, "no space left"),
        ({"version": 1, "healthy": True, "file_count": 3, "symbols": {"epoch": 0}}, "reading files"),
    ],
)
def test_before_anything_can_be_counted(index: JsonObject, output: str) -> None:
    found = Progress.of(index)
    assert (found.line(), found.ready) == (f"index  {output} …", False)


@pytest.mark.parametrize(("seconds", "output"), [(0.2, "0 s"), (89, "89 s"), (90, "1 min 30 s"), (605, "10 min 05 s")])
def test_time_as_people_say_it(seconds: float, output: str) -> None:
    assert format_seconds(seconds) == output


def test_it_is_followed_until_it_is_ready() -> None:
    states: Iterator[JsonObject] = iter([{"version": 0, "healthy": True}, PARSING, READY])
    now = iter(range(100))
    out, pauses = io.StringIO(), list[float]()
    done = follow(lambda: next(states), out=out, clock=lambda: float(next(now)), pause=pauses.append)
    assert done
    assert len(pauses) == 2
    lines = out.getvalue().split("\r")
    assert lines[1].startswith("index  reading files")
    assert "25%" in lines[2]
    assert lines[3].startswith("index  6,900 files ready after ")
    # What was longer before is written over.
    assert len(lines[3].rstrip("\n")) >= len(lines[2].rstrip())


def test_one_that_is_ready_already_says_nothing() -> None:
    out = io.StringIO()
    assert follow(lambda: READY, out=out)
    assert out.getvalue() == ""


def test_a_server_that_goes_away_leaves_no_bar_behind() -> None:
    states = iter([PARSING, None])
    out = io.StringIO()
    assert not follow(lambda: next(states), out=out, pause=lambda sec: None)
    assert out.getvalue().endswith(" \r")
