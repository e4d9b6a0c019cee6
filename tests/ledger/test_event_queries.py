"""Asking the whole log."""

import json
import sqlite3
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.kernel.event import Correlation, Draft, Event
from codeplane.kernel.event_log import EventQuery, PayloadCondition
from codeplane.kernel.json import JsonObject
from codeplane.ledger.event_queries import find_events
from tests.interaction.requirements import requirement
from tests.kernel.plane import run
from tests.ledger.logs import opened

DRAFTS = [
    Draft(
        stream=stream,
        type=kind,
        payload=payload,
        actor=actor,
        correlation=Correlation(task_id=task, session_id=session, call_id=call),
    )
    for stream, kind, task, session, call, actor, payload in cast(
        list[tuple[str, str, str | None, str | None, str | None, str, JsonObject]],
        [
            ("task/1", "a", "1", "s1", "c1", "agent:x", {"operation": "git.push", "status": "ok", "mutates": True}),
            ("task/10", "a", "10", "s1", "c2", "agent:y", {"operation": "git", "status": "REJECTED", "mutates": False}),
            ("task/1", "b", "1", "s2", None, "agent:x", {"operation": "search", "status": "ok", "mutates": False}),
            ("audit", "b", "1", None, "c1", "owner:owner", {"operation": "git.diff", "mutates": False}),
            ("task0", "c", None, None, None, "system", {"surface": "web"}),
            ("task0", "c", None, None, None, "system", {"surface": "mcp", "client": "web"}),
            ("task0", "c", None, "s3", None, "system", {"surface": "web"}),
            ("task", "c", None, None, None, "system", {"status": None, "operation": 7}),
            ("task/1", "c", "1", "s1", "c1", "agent:x", {"mutates": False}),
            ("ünï/x", "a", None, "s1", None, "agent:ünï", {"operation": "ünï*", "status": ""}),
        ],
    )
]
# More of them than are looked through one by one, and in more streams than are counted.
FILLERS = [Draft(stream=f"filler/{number % 2100}", type="filler", payload={}) for number in range(5100)]
SAID = [
    PayloadCondition(field="operation", value="git.*"),
    PayloadCondition(field="operation", value="git"),
    PayloadCondition(field="operation", value="ünï**"),
    PayloadCondition(field="status", value="ok"),
    PayloadCondition(field="status", value="ok", other=True),
    PayloadCondition(field="nothing", value="x"),
    PayloadCondition(field="surface", value="web", other=True, or_session=True),
]


def alike(value: str, wanted: str) -> bool:
    return value.startswith(wanted[:-1]) if wanted.endswith("*") else value == wanted


def says(event: Event, wanted: PayloadCondition) -> bool:
    found = event.payload.get(wanted.field)
    if found is None or (wanted.or_session and event.correlation.session_id is not None):
        return True
    return found != wanted.value if wanted.other else isinstance(found, str) and alike(found, wanted.value)


def fits(event: Event, query: EventQuery) -> bool:
    ids = event.correlation
    return (
        event.position > query.after
        and (query.until is None or event.position <= query.until)
        and (not query.types or event.type in query.types)
        and (query.task_id is None or ids.task_id == query.task_id)
        and (query.session_id is None or ids.session_id == query.session_id)
        and (query.call_id is None or ids.call_id == query.call_id)
        and (query.stream is None or alike(event.stream, query.stream))
        and (query.actor is None or alike(event.actor, query.actor))
        and all(says(event, output) for output in query.conditions)
        and (ids.session_id not in query.quiet or event.payload.get("mutates") is not False)
        and all(word in json.dumps(event.payload, ensure_ascii=False).lower() for word in query.words)
    )


def queries(last: int) -> st.SearchStrategy[EventQuery]:
    near = st.integers(max(0, last - 9), last + 1)
    return st.builds(
        EventQuery,
        after=st.just(0) | near,
        until=st.none() | near,
        limit=st.integers(1, 10),
        stream=st.sampled_from(
            [None, "task/1", "task/*", "task*", "*", "audit", "ünï/*", "nothing", "nothing*", "filler/*", "filler/7"]
        ),
        types=st.sampled_from([(), ("a",), ("a", "c"), ("c", "a", "c"), ("x",), ("filler",), ("filler", "b")]),
        task_id=st.sampled_from([None, None, "1", "10", "2"]),
        session_id=st.sampled_from([None, None, "s1", "s2"]),
        call_id=st.sampled_from([None, None, "c1"]),
        actor=st.sampled_from([None, None, "agent:x", "agent:*", "nobody"]),
        conditions=st.lists(st.sampled_from(SAID), max_size=2).map(tuple),
        quiet=st.sampled_from([(), (), ("s1",), ("s1", "s2")]),
        words=st.sampled_from([(), (), ("git",), ("operation", "push"), ("nowhere",)]),
        newest=st.booleans(),
    )


@requirement("LOG-05")
@pytest.mark.parametrize("fillers", [(), FILLERS], ids=["a short log", "a long log"])
def test_every_filter_means_what_it_says(tmp_path: Path, fillers: list[Draft]) -> None:
    drafts = [*DRAFTS[:3], *fillers, *DRAFTS[3:]]

    async def compare(asked: list[EventQuery]) -> None:
        async with opened(tmp_path / "l.db") as log:
            if not log.position:
                await log.append(drafts)
            everything = await log.query(EventQuery(limit=10_000))
            assert [event.stream for event in everything] == [draft.stream for draft in drafts]
            for query in asked:
                expected = [event for event in everything if fits(event, query)]
                cut = expected[-query.limit :] if query.newest else expected[: query.limit]
                assert await log.query(query) == cut

    @settings(max_examples=10, deadline=None)
    @given(st.lists(queries(len(drafts)), min_size=10, max_size=30))
    def check(asked: list[EventQuery]) -> None:
        run(compare(asked))

    check()


@requirement("LOG-05")
@pytest.mark.parametrize(
    "query",
    [
        EventQuery(types=("filler",), newest=True, limit=5),
        EventQuery(types=("a", "b", "filler"), newest=True, limit=5),
        EventQuery(types=("nothing",), limit=5),
        EventQuery(task_id="1", limit=5),
        EventQuery(session_id="s1", newest=True, limit=5),
        EventQuery(stream="filler/7", newest=True, limit=5),
        EventQuery(stream="task/*", limit=5),
        EventQuery(newest=True, limit=5),
    ],
    ids=str,
)
async def test_a_page_is_found_without_reading_the_log(tmp_path: Path, query: EventQuery) -> None:
    async with opened(tmp_path / "l.db") as log:
        await log.append([*DRAFTS[:3], *FILLERS, *DRAFTS[3:]])

        def steps(connection: sqlite3.Connection) -> int:
            taken = 0

            def count() -> int:
                nonlocal taken
                taken += 1
                return 0

            connection.set_progress_handler(count, 100)
            find_events(connection, query, log.position)
            connection.set_progress_handler(None, 0)
            return taken

        # A read of everything takes a few hundred; these are hundreds of SQLite's own steps, not of time.
        assert await log.readers.run(steps) < 30


async def test_a_page_of_a_stream_has_its_limit(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        await log.append(DRAFTS)
        assert [event.sequence for event in await log.read(stream="task/1", limit=2)] == [1, 2]
        assert [event.sequence for event in await log.read(stream="task/1", after=2, limit=2)] == [3]
        assert await log.read(stream="nothing") == []


async def test_a_page_ends_where_the_log_ends_and_not_where_it_was_last_told_to(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.sqlite") as writer, opened(tmp_path / "l.sqlite") as reader:
        # Another writer stands for the moment between a commit and the word of it.
        await writer.append(DRAFTS)
        assert reader.position == 0
        page = await reader.page(EventQuery(newest=True, limit=1))
        assert (page.last, page.events[0].stream, await reader.end()) == (len(DRAFTS), "ünï/x", len(DRAFTS))
