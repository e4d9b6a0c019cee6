"""Exports: segments that rotate, hold exactly what the log holds, and go on where they ended."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from codeplane.ledger.export_folder import ExportFolder
from codeplane.ledger.models import ExportResult
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, FixtureOps, events, plane
from tests.ledger.logs import n, opened


def lines(folder: Path) -> list[JsonObject]:
    found: list[JsonObject] = []
    for path in ExportFolder(folder, segment_bytes=1).segments():
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        found += [json.loads(line) for line in data.splitlines()]
    return found


async def made(tmp_path: Path, count: int) -> list[Event]:
    async with opened(tmp_path / "l.db") as log:
        await log.append([n("a", number, text="ü" * 20) for number in range(count)])
        return await log.query(EventQuery())


def wire(found: list[Event]) -> list[JsonObject]:
    return [json.loads(json.dumps(event.to_wire())) for event in found]


@requirement("LOG-08")
async def test_segments_rotate_at_their_size_and_hold_what_the_log_holds(tmp_path: Path) -> None:
    found, folder = await made(tmp_path, 40), ExportFolder(tmp_path / "x", segment_bytes=2000)
    size = folder.write(found)
    segments = folder.segments()
    assert [path.name for path in segments[:2]] == ["trace-000001.ndjson.gz", "trace-000002.ndjson.gz"]
    assert [path.suffix for path in segments] == [".gz"] * (len(segments) - 1) + [".ndjson"]
    plain = [gzip.decompress(p.read_bytes()) if p.suffix == ".gz" else p.read_bytes() for p in segments]
    assert all(len(data) <= 2000 for data in plain)
    assert sum(map(len, plain)) == size
    assert lines(tmp_path / "x") == wire(found)
    assert not list((tmp_path / "x").glob("*.part"))


async def test_it_goes_on_after_reopening(tmp_path: Path) -> None:
    found = await made(tmp_path, 60)
    for start in range(0, 60, 7):
        ExportFolder(tmp_path / "x", segment_bytes=1500).write(found[start : start + 7])
    assert lines(tmp_path / "x") == wire(found)
    numbers = [path.name for path in ExportFolder(tmp_path / "x", segment_bytes=1500).segments()]
    assert numbers == sorted(numbers)


async def test_an_event_larger_than_a_segment_has_one_of_its_own(tmp_path: Path) -> None:
    found = await made(tmp_path, 3)
    folder = ExportFolder(tmp_path / "x", segment_bytes=1)
    folder.write(found)
    assert len(folder.segments()) == 3
    assert lines(tmp_path / "x") == wire(found)


async def test_a_crash_while_compressing_neither_loses_nor_repeats(tmp_path: Path) -> None:
    found, folder = await made(tmp_path, 20), tmp_path / "x"
    ExportFolder(folder, segment_bytes=10**6).write(found[:10])
    plain = folder / "trace-000001.ndjson"
    # Cut off before the compressed form was complete …
    (folder / "trace-000001.ndjson.gz.part").write_bytes(b"half")
    ExportFolder(folder, segment_bytes=10**6).write(found[10:15])
    assert lines(folder) == wire(found[:15])
    # … and after, but before the plain one was removed.
    (folder / "trace-000001.ndjson.gz").write_bytes(gzip.compress(plain.read_bytes()))
    ExportFolder(folder, segment_bytes=10**6).write(found[15:])
    assert lines(folder) == wire(found)


async def test_other_files_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "trace-notes.txt").write_text("mine")
    ExportFolder(folder, segment_bytes=10).write(await made(tmp_path, 3))
    assert (folder / "trace-notes.txt").read_text() == "mine"


@pytest.mark.parametrize("times", [1, 3])
async def test_the_operation_exports_what_fits_even_if_asked_twice_at_once(tmp_path: Path, times: int) -> None:
    async with plane(tmp_path, "ledger.export_segment_bytes=4096", operations=[FixtureOps()]) as opened:
        for _ in range(30):
            await opened.conveyor.call("fixture.write", {}, OWNER)
        await opened.conveyor.call("session.create", {}, OWNER)
        asked: JsonObject = {"types": ["call.finished"], "stream": "task/*"}
        before = await events(opened, "call.finished")
        exports = [opened.conveyor.call("ledger.export", asked, OWNER) for _ in range(times)]
        outcomes = await asyncio.gather(*exports)
        folders = set()
        for outcome in outcomes:
            assert isinstance(outcome.result, ExportResult)
            folder = Path(outcome.result.folder)
            folders.add(folder)
            written = lines(folder)
            assert written[: len(before)] == wire(before)
            assert len(written) == outcome.result.events
            assert all(line["type"] == "call.finished" for line in written)
            assert len(outcome.result.segments) > 2
            assert folder.parent == tmp_path / ".codeplane" / "exports"
        assert len(folders) == times
