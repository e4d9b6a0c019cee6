"""The audit: what belongs in it, how it is asked, taken away and forgotten."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from codeplane.kernel.config import RetentionConfig
from codeplane.kernel.errors import CursorInvalid
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.ledger.retention import Retention
from codeplane.trust.audit.entry import AuditExport, AuditPage, AuditRequest
from codeplane.trust.audit.table import AUDITED, MAX_BYTES, AuditTable, truncate_payload
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock
from tests.trust.capabilities.grants_setup import AGENT, OWNER, Rig, rig

pytestmark = requirement("TRUST-27")

DAY = 86_400.0


def finished(operation: str, status: str = "ok", *, code: int = 0, mutates: bool = True, **more: JsonValue) -> Draft:
    """How a call ended, as the conveyor records it."""
    payload: JsonObject = {
        "operation": operation, "mutates": mutates, "budget": "mutation", "arguments_hash": "h", "executed": code == 0,
        "status": status, "duration_us": 5, **more,
    }  # fmt: skip
    if code:
        payload["error"] = {"code": code, "message": f"no {operation}", "retryable": False}
    ids = Correlation(call_id=f"call_{operation}", task_id="t", session_id="s", thread_id="th", job_id="j")
    return Draft(stream="task/t", type="call.finished", payload=payload, actor="agent:bot", correlation=ids)


def draft_event(kind: str, actor: str = "owner:owner", **payload: JsonValue) -> Draft:
    return Draft(stream=kind.partition(".")[0], type=kind, payload=payload, actor=actor)


async def listed(opened: Rig, **arguments: JsonValue) -> AuditPage:
    answer = await opened.call("audit.list", arguments, OWNER)
    assert isinstance(answer, AuditPage)
    return answer


async def types(opened: Rig, **arguments: JsonValue) -> list[str]:
    return [one.operation or one.event_type for one in (await listed(opened, **arguments)).results]


MIXED = (
    finished("write_files", changed_paths=["src/a.py"]),
    finished("search", mutates=False),
    finished("search", "POLICY_DENIED", code=2003, mutates=False),
    finished("read_files", "NOT_FOUND", code=1009, mutates=False),
    finished("git.push", "REJECTED", code=2010, action_id="act_1"),
    draft_event("call.refused", "system:unidentified", operation="status", status="UNAUTHORIZED", reason="no token"),
    draft_event("action.created", "agent:bot", action_id="act_1", operation="git.push", summary="push main"),
    draft_event("action.rejected", action_id="act_1", by="owner:owner", reason="not today"),
    draft_event("capability.granted", grant_id="g", agent="agent:bot", verified=True, capabilities=[], context={}),
    draft_event("idempotency.conflict", "system", operation="git.push", key="k"),
    draft_event("policy.loaded", "system", version="v1"),
    draft_event("device.revoked", device_id="dev_1"),
    draft_event("session.opened"),
    draft_event("index.epoch_published"),
)


async def test_what_changes_something_or_is_refused_or_decided_is_in_it_and_nothing_else(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append(MIXED)
        assert (await types(opened))[::-1] == [
            "write_files", "search", "git.push", "status", "git.push", "action.rejected", "capability.granted",
            "git.push", "policy.loaded", "device.revoked",
        ]  # fmt: skip
        assert opened.differing() == []


async def test_an_entry_has_what_the_wire_promises(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append(MIXED)
        (rejected,) = (await listed(opened, outcome="REJECTED")).results
        assert (rejected.event_type, rejected.action_id, rejected.thread_id, rejected.job_id) == (
            "call.finished", "act_1", "th", "j",
        )  # fmt: skip
        assert rejected.actor == "agent:bot"
        assert rejected.operation == "git.push"
        assert rejected.occurred_at.endswith("Z")
        assert rejected.payload["error"] == {"code": 2010, "message": "no git.push", "retryable": False}
        assert "no git.push" in rejected.text()


FILTERS: list[tuple[JsonObject, int]] = [
    ({"actor": "agent:bot"}, 4), ({"actor": "agent:*"}, 4), ({"actor": "agent:b"}, 0), ({"operation": "git.*"}, 3),
    ({"operation": "git.push"}, 3), ({"event_type": "action.*"}, 2), ({"event_type": "policy.loaded"}, 1),
    ({"outcome": "POLICY_DENIED"}, 1), ({"action_id": "act_1"}, 3), ({"text": "NOT TODAY"}, 1), ({"text": "%"}, 0),
    ({"text": "act_"}, 2), ({"actor": "agent:bot", "operation": "search"}, 1), ({"operation": "' OR 1=1 --"}, 0),
    ({"since": "2000-01-01"}, 10), ({"until": "2000-01-01"}, 0), ({"since": "2100-01-01T00:00:00+02:00"}, 0), ({}, 10),
]  # fmt: skip


async def test_filters(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append(MIXED)
        assert [len((await listed(opened, **asked)).results) for asked, _ in FILTERS] == [n for _, n in FILTERS]


async def test_an_outcome_that_nothing_had_is_answered_with_those_there_are(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append(MIXED)
        found = await listed(opened, outcome="policy_denied")
        assert found.text().startswith("no entries; outcomes there are: ") and "POLICY_DENIED" in found.outcomes
        assert (await listed(opened, actor="agent:nobody")).text() == "no entries"


async def test_a_line_says_what_was_decided_and_who_was_given_what(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        both: list[JsonValue] = ["read_files", "write_files"]
        granted = draft_event(
            "capability.granted", grant_id="g", agent="agent:bot", verified=True, capabilities=both, context={}
        )
        await opened.log.append([granted])
        await opened.log.append([draft_event("policy.decided", operation="git.push", decision="REQUIRE_APPROVAL")])
        decided, given = (await listed(opened)).results
        assert "git.push decided REQUIRE_APPROVAL" in decided.text()
        assert "capability.granted granted agent:bot · read_files, write_files" in given.text()


async def test_times_are_told_apart_to_the_second(tmp_path: Path) -> None:
    clock = ManualClock(1_750_000_000 * 10**9)
    async with rig(tmp_path, clock=clock) as opened:
        for number in range(3):
            await opened.log.append([draft_event("policy.loaded", version=str(number))])
            clock.advance(1)
        between = {"since": "2025-06-15T15:06:41Z", "until": "2025-06-15T15:06:42Z"}
        (one,) = (await listed(opened, **between)).results
        assert one.payload == {"version": "1"}


@pytest.mark.parametrize(
    "bad", [{"since": "yesterday"}, {"until": "2025-13-01"}, {"text": ""}, {"limit": 0}, {"who": "x"}]
)
def test_nonsense_is_refused(bad: JsonObject) -> None:
    with pytest.raises(ValidationError):
        AuditRequest.model_validate(bad)


async def test_pages_go_on_where_they_ended_though_more_comes(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append([draft_event("policy.loaded", version=str(number)) for number in range(25)])
        seen, cursor = [], None
        while True:
            page = await listed(opened, limit=10, **({"cursor": cursor} if cursor else {}))
            seen += [one.payload["version"] for one in page.results]
            await opened.log.append([draft_event("policy.loaded", version="later")])
            if (cursor := page.pagination.next_cursor) is None:
                break
        assert seen == [str(number) for number in reversed(range(25))]
        first = (await listed(opened, limit=10)).pagination.next_cursor
        with pytest.raises(CursorInvalid):
            await listed(opened, cursor=first, actor="owner:owner")


async def test_an_export_holds_every_entry_oldest_first_for_the_owner_alone(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append(MIXED)
        await opened.log.append([draft_event("policy.loaded", version=str(number)) for number in range(4100)])
        answer = await opened.call("audit.export", {}, OWNER)
        assert isinstance(answer, AuditExport)
        path = Path(answer.file)
        lines = path.read_text().splitlines()
        assert len(lines) == answer.entries == 4110
        assert path.stat().st_size == answer.bytes
        assert path.stat().st_mode & 0o777 == 0o600
        positions = [json.loads(line)["position"] for line in lines]
        assert positions == sorted(positions)
        assert list(path.parent.iterdir()) == [path]


async def test_it_outlives_the_streams_it_is_made_from_and_is_forgotten_in_its_own_time(tmp_path: Path) -> None:
    clock = ManualClock()
    async with rig(tmp_path, clock=clock) as opened:
        retention = Retention(log=opened.log, config=RetentionConfig(), clock=clock)
        await opened.log.append([finished("write_files")])
        clock.advance(80 * DAY)
        await opened.log.append([draft_event("policy.loaded", version="2")])
        assert (await retention.apply())["streams"] == 1
        assert await types(opened) == ["retention.applied", "policy.loaded", "write_files"]
        assert opened.differing() == []
        clock.advance(11 * DAY)
        await retention.apply()
        assert await types(opened) == ["retention.applied", "policy.loaded"]
        assert opened.differing() == []
        # A clock that was wrong for a while makes no holes.
        clock.jump(-300 * DAY)
        await opened.log.append([draft_event("policy.loaded", version="3")])
        clock.jump(300 * DAY)
        await retention.apply()
        assert "policy.loaded" in await types(opened)
        assert opened.differing() == []


async def test_what_the_ledger_says_of_its_settings_is_followed(tmp_path: Path) -> None:
    clock = ManualClock()
    async with rig(tmp_path, clock=clock) as opened:
        await opened.log.append([draft_event("policy.loaded", version="1")])
        clock.advance(1)
        before: JsonObject = {"streams": [], "idempotency_before_ns": 0, "audit_before_ns": clock.now_ns()}
        await opened.log.append([Draft(stream="system", type="retention.applied", payload=before)])
        assert await types(opened) == []
        assert opened.differing() == []


async def test_reads_of_the_audit_are_open_to_agents_too(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append(MIXED)
        answer = await opened.call("audit.list", {}, AGENT)
        assert isinstance(answer, AuditPage)
        assert len(answer.results) == 10


TEXTS = st.builds(
    lambda part, times: part * times, st.sampled_from(["x", "ü", '"', "\n", "日本"]), st.integers(0, 3000)
)
VALUES = st.recursive(
    st.none() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: (
        st.builds(lambda one, times: [one] * times, inner, st.integers(0, 60))
        | st.dictionaries(TEXTS, inner, max_size=4)
    ),
    max_leaves=6,
)
PAYLOADS = st.builds(
    lambda one, times: {f"{'n' * number}{number}": one for number in range(times)}, VALUES, st.integers(0, 90)
)


@settings(max_examples=50)
@given(PAYLOADS)
def test_no_payload_makes_a_large_entry(payload: JsonObject) -> None:
    text = truncate_payload(payload)
    assert len(text.encode()) <= MAX_BYTES
    assert isinstance(json.loads(text), dict)


def test_a_small_payload_stays_whole_and_a_cut_says_so() -> None:
    small: JsonObject = {"a": [1, 2, {"b": "c"}], "d": None}
    assert json.loads(truncate_payload(small)) == small
    assert "5000 characters" in truncate_payload({"a": "x" * 5000})
    assert "980 more" in truncate_payload({"a": list(range(1000))})
    assert "2 more" in truncate_payload({f"name{number}": number for number in range(42)})
    many = {f"name{number}": "x" * 290 for number in range(30)}
    cut = json.loads(truncate_payload({**many, "small": 1}))
    assert cut["small"] == 1
    assert "name29" in cut["left_out"] or len(cut["left_out"]) == 10


def test_every_audited_type_reaches_the_table() -> None:
    assert AuditTable.types > AUDITED


async def test_names_are_understood_as_people_know_them(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append(list(MIXED))
        await opened.log.append([draft_event("agent.revoked", "agent:agent_reviewer")])
        assert await types(opened, operation="git_push") == await types(opened, operation="git.push") != []
        assert await types(opened, operation="write_files") == ["write_files"]
        assert await types(opened, actor="bot") == await types(opened, actor="agent:bot") != []
        assert await types(opened, actor="reviewer") == ["agent.revoked"]
        assert await types(opened, actor="rev") == []
