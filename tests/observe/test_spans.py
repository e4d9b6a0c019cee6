"""Spans: they nest, follow a call into threads and tasks, are bounded, and carry W3C trace context."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.errors import NotFound
from codeplane.kernel.trace import MAX_SPANS, Remote, Span, Trace, span, traceparent
from tests.interaction.requirements import requirement
from tests.observe.clock import HandClock

pytestmark = requirement("OBS-10")

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def names(trace: Trace) -> list[tuple[str, str]]:
    """Each span and what it hangs on."""
    known = {0: "call", **{one.number: one.name for one in trace.spans}}
    return [(one.name, known[one.parent]) for one in trace.spans]


def test_spans_nest_and_tell_when_they_were() -> None:
    clock = HandClock()
    trace = Trace.begin("search", clock=clock)
    with trace.stage("execute"):
        clock.pass_ms(1)
        with span("index.query", mode="literal") as query:
            clock.pass_ms(5)
            query.note(found=3)
        with span("files.stat"):
            clock.pass_ms(2)
    with trace.stage("record"):
        clock.pass_ms(1)
    trace.finish("ok", {})
    assert names(trace) == [
        ("execute", "call"),
        ("index.query", "execute"),
        ("files.stat", "execute"),
        ("record", "call"),
    ]
    took = [(one.started_ns - trace.started_ns, one.ended_ns - one.started_ns) for one in trace.spans]
    assert [(at // 1_000_000, spent // 1_000_000) for at, spent in took] == [(0, 8), (1, 5), (6, 2), (8, 1)]
    assert trace.spans[1].attributes == {"mode": "literal", "found": 3}
    assert trace.duration_ns == 9_000_000


def test_what_fails_says_so_by_name() -> None:
    trace = Trace.begin("x", clock=HandClock())
    with pytest.raises(NotFound), trace.stage("execute"):
        try:
            with span("git"):
                raise KeyError("x")
        except KeyError:
            raise NotFound("gone") from None
    assert [(one.name, one.error) for one in trace.spans] == [("execute", "NOT_FOUND"), ("git", "KeyError")]
    with span("after") as nothing:
        assert not isinstance(nothing, Span)


def test_outside_of_a_call_nothing_is_kept() -> None:
    with span("git", command="status") as unseen:
        unseen.note(code=0)
        assert traceparent() is None


async def test_threads_are_part_of_the_call_and_other_calls_are_not() -> None:
    async def call(name: str) -> Trace:
        trace = Trace.begin(name, clock=HandClock())
        with trace.stage("execute"):

            def work() -> None:
                with span(f"{name}.thread"):
                    pass

            await asyncio.gather(asyncio.to_thread(work), asyncio.to_thread(work))
            with span(f"{name}.own"):
                await asyncio.sleep(0)
        return trace

    async def both() -> list[Trace]:
        return list(await asyncio.gather(call("a"), call("b")))

    for trace in await both():
        name = trace.name
        assert sorted(names(trace)) == sorted(
            [("execute", "call"), *[(f"{name}.thread", "execute")] * 2, (f"{name}.own", "execute")]
        )


def test_what_outlives_its_call_adds_nothing_to_it() -> None:
    async def run() -> Trace:
        trace, ended = Trace.begin("x", clock=HandClock()), asyncio.Event()

        async def later() -> None:
            await ended.wait()
            assert traceparent() is None
            with span("late"):
                pass

        with trace.stage("execute"):
            left = asyncio.ensure_future(later())
        trace.finish("ok", {})
        ended.set()
        await left
        return trace

    assert [one.name for one in asyncio.run(run()).spans] == ["execute"]


def test_a_trace_holds_so_many_spans_and_counts_the_rest() -> None:
    trace = Trace.begin("x", clock=HandClock())
    with trace.stage("execute"):
        for _ in range(MAX_SPANS + 9):
            with span("sqlite.read"):
                pass
    assert (len(trace.spans), trace.dropped) == (MAX_SPANS, 10)


def test_one_that_nobody_sees_takes_no_spans() -> None:
    trace = Trace.begin("x", clock=HandClock(), seen=False)
    with trace.stage("execute"), span("git"):
        assert traceparent() is None
    assert trace.spans == []


def test_a_call_goes_on_with_its_callers_trace_and_passes_it_on() -> None:
    trace = Trace.begin("x", clock=HandClock(), traceparent=PARENT)
    assert trace.trace_id == "0af7651916cd43dd8448eb211c80319c"
    assert trace.remote == Remote(trace_id=trace.trace_id, span_id="b7ad6b7169203331")
    with trace.stage("execute"), span("sandbox"):
        answer = traceparent()
        inner = Trace.begin("y", clock=HandClock())
    assert answer == f"00-{trace.trace_id}-{trace.span_id(2)}-01"
    # A call within a call is one below it.
    assert inner.remote == Remote.of(answer)
    assert inner.trace_id == trace.trace_id
    assert inner.span_id(0) != trace.span_id(0)


def test_who_asks_for_no_sampling_is_told_on_like_that() -> None:
    trace = Trace.begin("x", clock=HandClock(), traceparent=PARENT[:-1] + "0")
    assert trace.traceparent().endswith("-00")


@pytest.mark.parametrize(
    "header",
    [
        "",
        "nonsense",
        PARENT.upper(),
        PARENT + "-more",
        "ff" + PARENT[2:],
        PARENT.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32),
        PARENT.replace("b7ad6b7169203331", "0" * 16),
        PARENT + "\n",
        "01" + PARENT[2:] + "-" + "x" * 600,
    ],
)
def test_what_is_not_well_formed_is_ignored(header: str) -> None:
    assert Remote.of(header) is None
    trace = Trace.begin("x", clock=HandClock(), traceparent=header)
    assert trace.remote is None
    assert len(trace.trace_id) == 32


def test_a_later_version_may_say_more() -> None:
    assert Remote.of("01" + PARENT[2:] + "-what-will-be") == Remote.of(PARENT)


@given(st.integers(1, 2**128 - 1), st.integers(1, 2**64 - 1), st.booleans())
def test_what_is_passed_on_is_understood(trace_id: int, span_id: int, sampled: bool) -> None:
    given_one = f"00-{trace_id:032x}-{span_id:016x}-{'01' if sampled else '00'}"
    trace = Trace.begin("x", clock=HandClock(), traceparent=given_one)
    understood = Remote.of(trace.traceparent(3))
    assert understood is not None
    assert (understood.trace_id, understood.sampled) == (f"{trace_id:032x}", sampled)


@given(st.text(max_size=80))
def test_no_text_breaks_it(header: str) -> None:
    Remote.of(header)
