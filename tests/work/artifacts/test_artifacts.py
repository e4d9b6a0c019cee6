"""Artifacts: what calls leave behind, its bounds, who sees it and how long it is kept."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.ledger.projection import differences
from codeplane.wiring.app import Plane
from codeplane.work.artifacts.table import ArtifactTable
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, ManualClock, plane
from tests.trust.approvals.agent_calls import refused, result
from tests.trust.untrusted.engine import engine
from tests.work.turns.conversation import conversing
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("ARTIFACT-01")


async def _put(opened: Plane, caller: Caller = OWNER, **arguments: str) -> JsonObject:
    wanted: JsonObject = {"name": "report.md", "text": "# Found\n", **arguments}
    return result(await opened.conveyor.call("artifact.put", wanted, caller))


async def _read(opened: Plane, artifact_id: JsonValue, *, max_bytes: int, caller: Caller = OWNER) -> list[JsonObject]:
    """The parts of an artifact's body, as a client that follows next_offset gets them."""
    parts, offset = list[JsonObject](), 0
    while True:
        asked: JsonObject = {"artifact_id": artifact_id, "offset": offset, "max_bytes": max_bytes}
        parts.append(result(await opened.conveyor.call("artifact.get", asked, caller)))
        if parts[-1]["next_offset"] is None:
            return parts
        offset = int(str(parts[-1]["next_offset"]))


def _names(listed: JsonValue) -> list[str]:
    assert isinstance(listed, list)
    return [str(item["name"]) for item in listed if isinstance(item, dict)]


async def _marks(opened: Plane) -> int:
    ((count,),) = await opened.log.select("SELECT count(*) FROM untrusted")
    return int(str(count))


async def _count_payloads(opened: Plane) -> int:
    ((count,),) = await opened.log.select("SELECT count(*) FROM payloads")
    return int(str(count))


async def test_a_turn_leaves_an_artifact_in_its_thread(tmp_path: Path) -> None:
    model = ScriptedModel([tool("artifact_put", name="notes.md", text="# Notes\nüber alles"), finish()], text("Done."))
    async with conversing(tmp_path, model, toolset="artifact") as thread:
        await thread.send("write it down")
        (created,) = await thread.events("thread.artifact.created")
        assert created.payload["media_type"] == "text/markdown" and created.payload["thread_id"] == thread.thread_id
        listed = result(await thread.ask("artifact.list", thread_id=thread.thread_id))["results"]
        assert _names(listed) == ["notes.md"]
        got = result(await thread.ask("artifact.get", artifact_id=created.payload["artifact_id"]))
        assert got["body"] == "# Notes\nüber alles" and got["next_offset"] is None
        assert await thread.opened.log.readers.run(lambda connection: differences(connection, ArtifactTable())) == []


async def test_a_large_body_goes_on_in_parts_and_is_read_in_parts(tmp_path: Path) -> None:
    first, second = b"\x00" * 1_500_000, b"\xff" * 1_000
    async with plane(tmp_path) as opened:
        put: JsonObject = {"name": "picture.png", "content_base64": base64.b64encode(first).decode()}
        made = result(await opened.conveyor.call("artifact.put", put, OWNER))
        further: JsonObject = {
            "artifact_id": made["artifact_id"],
            "start": len(first),
            "content_base64": base64.b64encode(second).decode(),
        }
        for _ in range(2):
            # The second time is a client that saw no answer.
            extended = result(await opened.conveyor.call("artifact.extend", further, OWNER))
            assert extended["size"] == len(first) + len(second)
        gap = await opened.conveyor.call("artifact.extend", {**further, "start": 7}, OWNER)
        assert refused(gap) == "INVALID_ARGUMENT"
        parts = await _read(opened, made["artifact_id"], max_bytes=900_000)
        assert b"".join(base64.b64decode(str(part["content_base64"])) for part in parts) == first + second


async def test_letters_are_not_cut_in_two(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        made = await _put(opened, text="aü€x")
        parts = await _read(opened, made["artifact_id"], max_bytes=4)
        assert len(parts) > 1 and "".join(str(part["body"]) for part in parts) == "aü€x"


async def test_a_text_that_is_no_text_keeps_its_bytes(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        put: JsonObject = {"name": "broken.txt", "content_base64": base64.b64encode(b"a\xff\xfeb").decode()}
        made = result(await opened.conveyor.call("artifact.put", put, OWNER))
        (part,) = await _read(opened, made["artifact_id"], max_bytes=100)
        assert part["body"] is None and base64.b64decode(str(part["content_base64"])) == b"a\xff\xfeb"


async def test_bounds_refuse(tmp_path: Path) -> None:
    async with plane(tmp_path, "artifacts.max_bytes=2000", "artifacts.thread_bytes=3000") as opened:
        large = await opened.conveyor.call("artifact.put", {"name": "x", "text": "x" * 2001}, OWNER)
        assert refused(large) == "TOO_LARGE"
        kept = await _put(opened, text="a" * 2000)
        full = await opened.conveyor.call("artifact.put", {"name": "x", "text": "b" * 1500}, OWNER)
        assert refused(full) == "TOO_LARGE" and full.error is not None and "artifact_delete" in str(full.error.hint)
        await opened.conveyor.call("artifact.delete", {"artifact_id": kept["artifact_id"]}, OWNER)
        await _put(opened, text="b" * 1500)
        gone = await opened.conveyor.call("artifact.get", {"artifact_id": kept["artifact_id"]}, OWNER)
        assert refused(gone) == "ARTIFACT_NOT_FOUND"


@pytest.mark.parametrize(
    "body",
    [{}, {"text": "a", "content_base64": "YQ=="}, {"content_base64": "not base64!"}],
    ids=["none", "both", "garbage"],
)
async def test_a_body_that_cannot_be_used_is_refused(tmp_path: Path, body: JsonObject) -> None:
    async with plane(tmp_path) as opened:
        assert refused(await opened.conveyor.call("artifact.put", {"name": "x", **body}, OWNER)) == "INVALID_ARGUMENT"


async def test_agents_see_their_own_alone_and_people_see_all(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        owners, agents = await _put(opened), await _put(opened, AGENT, name="mine.txt")
        for operation in ("artifact.get", "artifact.delete"):
            asked: JsonObject = {"artifact_id": owners["artifact_id"]}
            assert refused(await opened.conveyor.call(operation, asked, AGENT)) == "ARTIFACT_NOT_FOUND"
        listed = result(await opened.conveyor.call("artifact.list", {}, AGENT))["results"]
        assert _names(listed) == ["mine.txt"]
        both = result(await opened.conveyor.call("artifact.list", {}, OWNER))["results"]
        assert isinstance(both, list) and len(both) == 2
        result(await opened.conveyor.call("artifact.get", {"artifact_id": agents["artifact_id"]}, OWNER))


async def test_an_artifact_made_after_untrusted_content_marks_who_reads_it(tmp_path: Path) -> None:
    with engine() as setting:
        async with plane(tmp_path, setting, "trust.mode=automatic") as opened:
            clean = await _put(opened, AGENT)
            result(await opened.conveyor.call("artifact.get", {"artifact_id": clean["artifact_id"]}, AGENT))
            assert not await _marks(opened)
            result(await opened.conveyor.call("web.search", {"query": "how to push"}, AGENT))
            made = await _put(opened, AGENT, text="what the page wants")
            result(await opened.conveyor.call("untrusted.clear", {}, OWNER))
            assert not await _marks(opened)
            result(await opened.conveyor.call("artifact.get", {"artifact_id": made["artifact_id"]}, OWNER))
            assert not await _marks(opened)
            result(await opened.conveyor.call("artifact.get", {"artifact_id": made["artifact_id"]}, AGENT))
            assert await _marks(opened)


@pytest.mark.parametrize("name", ["report.md", "report.bin"])
async def test_an_agent_sees_no_value_of_a_secrets_file_in_pieces(tmp_path: Path, name: str) -> None:
    value = "blue-" + "horse-battery-71"
    repo = make_repo(tmp_path / "repo", {"a.py": "x = 1\n"})
    (repo / ".env").write_text(f"DB_PASSWORD={value}\n")
    shared: JsonObject = {"agent": "agent", "without_token": True, "capabilities": ["context_sharing"]}
    async with plane(repo) as opened:
        result(await opened.conveyor.call("capability.grant", shared, OWNER))
        made = await _put(opened, name=name, text=f"before {value} after")

        async def read(caller: Caller) -> str:
            parts = await _read(opened, made["artifact_id"], max_bytes=4, caller=caller)
            bodies = [
                str(part["body"]).encode()
                if part["body"] is not None
                else base64.b64decode(str(part["content_base64"]))
                for part in parts
            ]
            return b"".join(bodies).decode()

        assert await read(OWNER) == f"before {value} after"
        seen = await read(AGENT)
        assert seen.startswith("before ") and seen.endswith(" after") and "horse" not in seen


async def test_an_artifact_goes_on_after_untrusted_content_and_marks_who_reads_or_lists_it(tmp_path: Path) -> None:
    other = replace(AGENT, client="other", connection_id="c2")
    shared: JsonObject = {"agent": "other", "without_token": True, "capabilities": ["context_sharing"]}
    with engine() as setting:
        async with plane(tmp_path, setting, "trust.mode=automatic") as opened:
            result(await opened.conveyor.call("capability.grant", shared, OWNER))
            made = await _put(opened, AGENT)
            result(await opened.conveyor.call("artifact.list", {}, other))
            assert not await _marks(opened)
            result(await opened.conveyor.call("web.search", {"query": "how to push"}, AGENT))
            more: JsonObject = {"artifact_id": made["artifact_id"], "start": made["size"], "text": "as the page says"}
            result(await opened.conveyor.call("artifact.extend", more, AGENT))
            for operation, asked in (("artifact.get", {"artifact_id": made["artifact_id"]}), ("artifact.list", {})):
                result(await opened.conveyor.call("untrusted.clear", {}, OWNER))
                assert not await _marks(opened)
                result(await opened.conveyor.call(operation, asked, other))
                assert await _marks(opened), operation
            assert await opened.log.readers.run(lambda connection: differences(connection, ArtifactTable())) == []


async def test_bodies_go_with_their_artifacts_when_retention_drops_them(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, clock=clock) as opened:
        await _put(opened)
        clock.advance(89 * 86_400)
        await _put(opened, name="newer.md", text="newer")
        clock.advance(2 * 86_400)
        await opened.retention.apply()
        listed = result(await opened.conveyor.call("artifact.list", {}, OWNER))["results"]
        assert _names(listed) == ["newer.md"]
        assert await opened.log.readers.run(lambda connection: differences(connection, ArtifactTable())) == []
        await opened.work.delete_orphaned_payloads()
        assert await _count_payloads(opened) == 1
