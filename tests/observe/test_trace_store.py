"""The last calls and the slowest are kept, found by what they were, and shown without secrets or prompts."""

import asyncio
from typing import cast

import pytest

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CursorInvalid, NotFound
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import Trace
from codeplane.observe.trace_operations import (
    TraceList,
    TraceListRequest,
    TraceOperations,
    TraceShow,
    TraceShowRequest,
)
from codeplane.observe.trace_store import MAX_OPERATIONS, SLOWEST, TraceStore
from tests.interaction.requirements import requirement
from tests.observe.clock import HandClock
from tests.observe.tracing import made

pytestmark = requirement("OBS-10")

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Asked:
    """The operations over some traces."""

    def __init__(self, *traces: Trace, kept: int = 1000, known: tuple[str, ...] = ()) -> None:
        self.traces = TraceStore(kept=kept)
        for trace in traces:
            self.traces.end_trace(trace)
        self._operations = TraceOperations(
            traces=self.traces, cursors=Cursors(clock=HandClock()), redactor=Redactor(known=known)
        )

    def listed(self, **arguments: object) -> TraceList:
        request = TraceListRequest.model_validate(arguments)
        return asyncio.run(self._operations.list(self._call("trace.list"), request))

    def show(self, call_id: str) -> TraceShow:
        return asyncio.run(self._operations.show(self._call("trace.show"), TraceShowRequest(call_id=call_id)))

    def _call(self, name: str) -> Call:
        """A call of the owner's."""
        return Call(
            call_id="call",
            request_id="request",
            operation=Catalogue([self._operations]).get(name),
            caller=Caller(surface="test"),
            actor=Actor(kind=ActorKind.OWNER, actor_id="owner"),
            task=None,
            idempotency_key=None,
            log=cast(EventLog, None),
            check_path=lambda call, path: None,
            find_scope=lambda call: None,
            warnings=[],
        )

    def names(self, **arguments: object) -> list[str]:
        return [found.operation for found in self.listed(**arguments).traces]


class TestKeeping:
    def test_only_so_many_are_kept_but_the_slowest_of_each_stay(self) -> None:
        slow = made("search", ms=900)
        asked = Asked(slow, *(made("search", ms=1 + number / 100) for number in range(50)), kept=10)
        kept = asked.listed(limit=100)
        assert kept.kept == 10 + SLOWEST - 4  # four of the five slowest are among the last ten
        assert asked.listed(order="slowest", limit=1).traces[0].duration_ms == 900
        assert slow.trace_id not in {found.trace_id for found in asked.listed(limit=5).traces}

    def test_names_that_are_made_up_do_not_fill_the_memory(self) -> None:
        traces = TraceStore(kept=1)
        for number in range(1000):
            traces.end_trace(made(f"made.up.{number}"))
        assert len(traces.all()) <= MAX_OPERATIONS + 1

    def test_the_dashboards_own_questions_push_nothing_out(self) -> None:
        asked = Asked(made("search"), *(made("status", surface="web") for _ in range(500)), kept=5)
        assert asked.names(limit=100) == ["search"]
        assert set(asked.names(surface="web", limit=100)) == {"status"}
        assert asked.listed().kept == 101

    def test_who_listens_is_told_of_each(self) -> None:
        heard: list[Trace] = []
        traces = TraceStore(kept=1, listeners=(heard.append,))
        for _ in range(3):
            traces.end_trace(made())
        assert len(heard) == 3


class TestList:
    def test_the_newest_first_or_the_slowest(self) -> None:
        asked = Asked(made("a", ms=5), made("b", ms=50), made("c", ms=1))
        assert asked.names() == ["c", "b", "a"]
        assert asked.names(order="slowest") == ["b", "a", "c"]

    def test_filters_choose(self) -> None:
        asked = Asked(
            made("search", ms=5, task_id="t1", actor="owner:owner"),
            made("git.status", ms=50, inner="git", status="NOT_FOUND"),
            made("read_files", ms=1, surface="grpc", status="replayed"),
            made("trace.list", ms=1),
        )
        assert asked.names(operation="search") == ["search"]
        assert asked.names(status="failed") == asked.names(status="NOT_FOUND") == ["git.status"]
        assert asked.names(task_id="t1") == asked.names(actor="owner:owner") == ["search"]
        assert asked.names(surface="grpc") == ["read_files"]
        assert asked.names(span="git") == asked.names(min_ms=20) == ["git.status"]
        assert "trace.list" not in asked.names()
        assert asked.names(operation="trace.list") == ["trace.list"]
        assert asked.listed(task_id="nobody").text() == "no call fits; 4 are kept"

    @pytest.mark.parametrize("order", ["recent", "slowest"])
    def test_pages_hold_everything_once_though_more_comes(self, order: str) -> None:
        asked = Asked(*(made(f"op{number}", ms=number % 7 + 1) for number in range(23)))
        seen, cursor = [], None
        while True:
            page = asked.listed(order=order, limit=5, cursor=cursor)
            seen += [found.operation for found in page.traces]
            asked.traces.end_trace(made("new", ms=1000))
            cursor = page.pagination.next_cursor
            if cursor is None:
                break
        assert sorted(name for name in seen if name != "new") == sorted(f"op{number}" for number in range(23))
        assert len([name for name in seen if name != "new"]) == 23

    def test_a_cursor_is_for_its_own_question(self) -> None:
        asked = Asked(*(made() for _ in range(3)))
        cursor = asked.listed(limit=1).pagination.next_cursor
        with pytest.raises(CursorInvalid):
            asked.listed(limit=1, cursor=cursor, order="slowest")


class TestShow:
    def test_a_call_is_a_tree_with_offsets(self) -> None:
        trace = made(ms=10)
        found = Asked(trace).show(str(trace.facts["call_id"])).traces[0]
        shown = [(span.name, span.depth, span.offset_ms, span.duration_ms, span.self_ms) for span in found.spans]
        assert shown == [("authorise", 0, 0, 1, 1), ("execute", 0, 1, 9, 0), ("index.query", 1, 1, 9, 9)]
        assert found.spans[2].parent_id == found.spans[1].span_id
        assert found.spans[0].parent_id == found.span_id
        assert found.call.slowest_span == "index.query"
        assert "index.query mode=literal" in found.text()

    def test_calls_of_one_trace_are_shown_together(self) -> None:
        asked = Asked(made("a", traceparent=PARENT), made("b", traceparent=PARENT), made("c"))
        found = asked.show("0af7651916cd43dd8448eb211c80319c").traces
        assert sorted(one.call.operation for one in found) == ["a", "b"]
        assert {one.parent_id for one in found} == {"b7ad6b7169203331"}

    def test_what_is_not_kept_is_said_to_be_so(self) -> None:
        with pytest.raises(NotFound, match="call_x"):
            Asked(made()).show("call_x")

    def test_secrets_prompts_and_contents_are_not_in_it(self) -> None:
        trace = made(
            arguments={
                "query": "plain words",
                "prompt": "what a person wrote",
                "content": "x",
                "code": "ABCD-1234",
                "long": "y" * 5000,
                "edits": [{"path": "a", "content": "whole file"}],
                "paths": ["a", "b"],
                "header": "the-owners-token-0123456789",
                "limit": 5,
            }
        )
        found = Asked(trace, known=("the-owners-token-0123456789",)).show(trace.trace_id)
        arguments = found.traces[0].facts["arguments"]
        assert isinstance(arguments, dict)
        assert (arguments["query"], arguments["limit"], arguments["paths"]) == ("plain words", 5, ["a", "b"])
        assert str(arguments["prompt"]).startswith("sha256:")
        assert str(arguments["long"]).startswith("sha256:")
        assert arguments["edits"] == "1 items"
        everything = found.model_dump_json()
        for secret in ("what a person wrote", "ABCD-1234", "whole file", "the-owners-token", "yyyy"):
            assert secret not in everything
