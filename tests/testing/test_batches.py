"""Which worker runs what."""

from hypothesis import given
from hypothesis import strategies as st

from codeplane.testing.batches import MAX_BATCH, assign_batches
from codeplane.testing.runner import runners
from codeplane.testing.target import Target, TargetSelection
from tests.interaction.requirements import requirement


def _wanted(name: str, runner: str = "pytest") -> TargetSelection:
    target = Target(
        target_id=name,
        path=name,
        root="",
        language="python",
        runner_name=runner,
        runner=runners()[runner],
        words=(name,),
    )
    return TargetSelection(target=target)


@requirement("TST-02")
@given(st.lists(st.floats(0.01, 100), max_size=150), st.integers(1, 8))
def test_nothing_is_lost_and_no_worker_waits_long(costs: list[float], workers: int) -> None:
    cost = {f"test_{at}.py": one for at, one in enumerate(costs)}
    given_out = assign_batches([_wanted(name) for name in cost], workers, lambda one: cost[one.target_id])
    loads = [sum(cost[selection.target_id] for batch in worker for selection in batch.wanted) for worker in given_out]
    assert sorted(
        selection.target_id for worker in given_out for batch in worker for selection in batch.wanted
    ) == sorted(cost)
    assert len(given_out) <= workers
    if loads:
        assert max(loads) - min(loads) <= max(costs) + 1e-6
    assert all(len(batch.wanted) <= MAX_BATCH for worker in given_out for batch in worker)


@requirement("TST-02")
def test_what_builds_in_one_folder_is_one_worker_s() -> None:
    wanted = [_wanted(f"tests/{at}.rs", "cargo") for at in range(6)]
    given_out = assign_batches(wanted, 4, lambda one: 1.0)
    assert len(given_out) == 1


@requirement("TST-02")
def test_runners_do_not_share_a_process() -> None:
    wanted = [_wanted("a.py"), _wanted("b.py", "unittest"), _wanted("c.py")]
    (worker,) = assign_batches(wanted, 1, lambda one: 1.0)
    assert [[selection.target_id for selection in batch.wanted] for batch in worker] == [["a.py", "c.py"], ["b.py"]]
