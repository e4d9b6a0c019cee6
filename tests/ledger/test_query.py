"""Asking the whole log."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.kernel.event import Correlation, Draft, Event
from codeplane.kernel.ports import EventQuery
from tests.kernel.plane import run
from tests.ledger.logs import opened

DRAFTS = [
    Draft(
        stream=stream,
        type=kind,
        payload={},
        correlation=Correlation(task_id=task, session_id=session, call_id=call),
    )
    for stream, kind, task, session, call in [
        ("task/1", "a", "1", "s1", "c1"),
        ("task/10", "a", "10", "s1", "c2"),
        ("task/1", "b", "1", "s2", None),
        ("audit", "b", None, None, "c1"),
        ("task0", "c", None, None, None),
        ("task", "c", None, None, None),
        ("task/1", "c", "1", "s1", "c1"),
        ("ünï/x", "a", None, "s1", None),
    ]
]


def fits(event: Event, query: EventQuery) -> bool:
    ids, prefix = event.correlation, (query.stream or "").removesuffix("*")
    return (
        event.position > query.after
        and (query.until is None or event.position <= query.until)
        and (not query.types or event.type in query.types)
        and (query.task_id is None or ids.task_id == query.task_id)
        and (query.session_id is None or ids.session_id == query.session_id)
        and (query.call_id is None or ids.call_id == query.call_id)
        and (
            query.stream is None
            or (event.stream.startswith(prefix) if query.stream.endswith("*") else event.stream == query.stream)
        )
    )


QUERIES = st.builds(
    EventQuery,
    after=st.integers(0, 9),
    until=st.none() | st.integers(0, 9),
    limit=st.integers(1, 10),
    stream=st.sampled_from([None, "task/1", "task/*", "task*", "*", "audit", "ünï/*", "nothing", "nothing*"]),
    types=st.sampled_from([(), ("a",), ("a", "c"), ("x",)]),
    task_id=st.sampled_from([None, "1", "10", "2"]),
    session_id=st.sampled_from([None, "s1", "s2"]),
    call_id=st.sampled_from([None, "c1"]),
    newest=st.booleans(),
)


def test_every_filter_means_what_it_says(tmp_path: Path) -> None:
    async def scenario(queries: list[EventQuery]) -> None:
        async with opened(tmp_path / "l.db") as log:
            if not log.position:
                await log.append(DRAFTS)
            everything = await log.query(EventQuery())
            assert [event.stream for event in everything] == [draft.stream for draft in DRAFTS]
            for query in queries:
                expected = [event for event in everything if fits(event, query)]
                cut = expected[-query.limit :] if query.newest else expected[: query.limit]
                assert await log.query(query) == cut

    @settings(max_examples=20, deadline=None)
    @given(st.lists(QUERIES, min_size=10, max_size=30))
    def check(queries: list[EventQuery]) -> None:
        run(scenario(queries))

    check()


def test_a_page_of_a_stream_has_its_limit(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with opened(tmp_path / "l.db") as log:
            await log.append(DRAFTS)
            assert [event.sequence for event in await log.read(stream="task/1", limit=2)] == [1, 2]
            assert [event.sequence for event in await log.read(stream="task/1", after=2, limit=2)] == [3]
            assert await log.read(stream="nothing") == []

    run(scenario())
