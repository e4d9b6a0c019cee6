"""Disjoint mutations side by side, overlapping ones refused, and the whole tree for one alone."""

import asyncio

import pytest

from codeplane.edit.path_locks import PathLocks
from codeplane.kernel.errors import EditOverlap
from tests.interaction.requirements import requirement


@requirement("EDT-05")
def test_disjoint_paths_are_held_together() -> None:
    locks = PathLocks()
    with locks.hold(["a/b", "c"]), locks.hold(["a/c", "d"]):
        pass
    with locks.hold(["a/b"]):
        pass


@requirement("EDT-05")
@pytest.mark.parametrize("paths", [["a/b"], ["x", "a/b/c"], ["a"]])
def test_overlapping_paths_are_refused_also_above_and_below(paths: list[str]) -> None:
    locks = PathLocks()
    with locks.hold(["a/b"]):
        with pytest.raises(EditOverlap), locks.hold(paths):
            pass
        # What was refused holds nothing.
        with locks.hold(["x"]):
            pass
    with locks.hold(paths):
        pass


@requirement("EDT-05")
async def test_everything_waits_for_those_who_hold_and_keeps_others_out() -> None:
    locks, output = PathLocks(), []
    entered = asyncio.Event()

    async def whole() -> None:
        async with locks.hold_all():
            output.append("whole")
            entered.set()
            with pytest.raises(EditOverlap), locks.hold(["b"]):
                pass
            with pytest.raises(EditOverlap):
                async with locks.hold_all(wait_sec=0.01):
                    pass

    with locks.hold(["a"]):
        task = asyncio.create_task(whole())
        await asyncio.sleep(0)
        output.append("part")
    await task
    with locks.hold(["b"]):
        output.append("after")
    assert (output) == ["part", "whole", "after"]


@requirement("EDT-05")
async def test_everything_gives_up_when_it_takes_too_long() -> None:
    locks = PathLocks()
    with locks.hold(["a"]), pytest.raises(EditOverlap, match="still at work"):
        async with locks.hold_all(wait_sec=0.01):
            pass
    async with locks.hold_all():
        pass
