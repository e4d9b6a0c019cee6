"""The queue: priority then order, bounds, cancelled operations and what depends on them."""

from hypothesis import given
from hypothesis import strategies as st

from codeplane.work.explore.agent_op import GREP, INDEX_REPO, LIST_DIR, MAP_REPO, READ_SPAN, AgentOp
from codeplane.work.explore.concurrency import Concurrency
from codeplane.work.explore.op_queue import OpQueue, OpState
from codeplane.work.explore.plan import ExplorePlan
from tests.interaction.requirements import requirement

pytestmark = requirement("EXR-02")


def read(number: int, *, priority: int = 0, depends_on: tuple[str, ...] = ()) -> AgentOp:
    return AgentOp.new(READ_SPAN, priority=priority, depends_on=depends_on, path=f"{number}.py", startLine=1, endLine=2)


def bound(most: int, **caps: int) -> Concurrency:
    named = {name.replace("_", "."): value for name, value in caps.items()}
    return Concurrency.default().change(most, named)


def test_lower_priorities_come_first_and_equal_ones_in_their_order() -> None:
    queue, ops = OpQueue(), [read(number, priority=priority) for number, priority in enumerate([2, 0, 1, 0, 2])]
    queue.add(ops)
    assert queue.take(bound(4)) == [ops[1], ops[3], ops[2], ops[0]]
    assert queue.take(bound(4)) == []
    queue.finish(ops[3].op_id, ok=True)
    assert queue.take(bound(4)) == [ops[4]]


def test_what_waits_for_the_index_never_fills_all_places() -> None:
    queue = OpQueue()
    waiting = [AgentOp.new(LIST_DIR, path=str(number), depth=1) for number in range(5)]
    queue.add([*waiting, read(1, priority=9)])
    started = queue.take(bound(4))
    assert [op.kind for op in started] == [LIST_DIR, LIST_DIR, LIST_DIR, READ_SPAN]
    assert queue.take(bound(4)) == []
    queue.is_index_ready = True
    queue.finish(started[3].op_id, ok=True)
    assert queue.take(bound(4)) == [waiting[3]]


def test_one_place_alone_is_enough_for_the_index() -> None:
    queue = OpQueue()
    queue.add([AgentOp.new(INDEX_REPO, path="")])
    assert len(queue.take(bound(1))) == 1


def test_greps_have_a_bound_of_their_own() -> None:
    queue = OpQueue()
    queue.is_index_ready = True
    queue.add([AgentOp.new(GREP, pattern=str(number)) for number in range(4)] + [read(1)])
    assert [op.kind for op in queue.take(Concurrency.default().change(4, {"grep.parallel": 1}))] == [GREP, READ_SPAN]


def test_cancelled_operations_are_dropped_with_their_dependents_and_running_ones_finish() -> None:
    queue, first = OpQueue(), read(0)
    second = read(1, depends_on=(first.op_id,))
    third = read(2, depends_on=(second.op_id,))
    alone = read(3)
    queue.add([first, second, third, alone])
    assert queue.take(bound(4)) == [first, alone]
    assert queue.cancel([first.op_id, alone.op_id]) == []
    assert queue.state(first.op_id) is OpState.RUNNING
    assert queue.finish(first.op_id, ok=True) == [second, third]
    assert queue.finish(alone.op_id, ok=True) == [] and queue.is_empty
    assert [queue.state(op.op_id) for op in (first, second, third)] == ["done", "canceled", "canceled"]


def test_a_failure_drops_what_depends_on_it() -> None:
    queue, index = OpQueue(), AgentOp.new(INDEX_REPO, path="")
    needs = AgentOp.new(MAP_REPO, path="", depends_on=(index.op_id,))
    queue.add([index, needs])
    assert queue.take(bound(4)) == [index]
    assert queue.finish(index.op_id, ok=False) == [needs]
    assert queue.state(needs.op_id) is OpState.CANCELED


def test_equal_operations_are_planned_once() -> None:
    plan = ExplorePlan(goals=("all",))
    first, same = read(1), read(1, priority=5)
    assert first.op_id != same.op_id and first.op_hash == same.op_hash
    assert plan.append([first, same, read(2)]) == [first, plan.ops[1]]
    assert plan.append([same]) == []
    assert [op.op_hash for op in ExplorePlan.from_snapshot(plan.snapshot()).ops] == [op.op_hash for op in plan.ops]


def test_a_plan_says_what_found_no_place() -> None:
    plan = ExplorePlan(goals=())
    assert len(plan.append(read(number) for number in range(250))) == 200
    assert plan.snapshot()["leftOut"] == 50


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8)), min_size=1, max_size=20),
    st.integers(1, 5),
    st.lists(st.integers(0, 19), max_size=5),
)
def test_every_operation_ends_exactly_once_whatever_is_cancelled(
    shapes: list[tuple[int, int]], most: int, cancelled: list[int]
) -> None:
    queue, ops = OpQueue(), list[AgentOp]()
    for number, (priority, back) in enumerate(shapes):
        depends = (ops[number - back - 1].op_id,) if 0 <= number - back - 1 < number and back < 4 else ()
        ops.append(read(number, priority=priority, depends_on=depends))
    queue.add(ops)
    ended: list[AgentOp] = []
    running: list[AgentOp] = queue.take(bound(most))
    ended += queue.cancel([ops[index].op_id for index in cancelled if index < len(ops)])
    while running:
        assert queue.count(OpState.RUNNING) == len(running) <= most
        done = running.pop(0)
        ended += [done, *queue.finish(done.op_id, ok=done.params["path"] != "3.py")]
        running += queue.take(bound(most))
    assert sorted(op.op_id for op in ended) == sorted(op.op_id for op in ops)
    assert queue.is_empty
