"""Threads of a busy server stay on one core, and what it starts does not."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.index.worker_process import Worker
from codeplane.processes.child import PIPE, Child
from codeplane.processes.home_core import HomeCore, every_core
from tests.interaction.requirements import requirement

ALL = os.sched_getaffinity(0)
pytestmark = [requirement("SRV-19"), pytest.mark.skipif(len(ALL) < 2, reason="one core alone")]
SCHEDULING = [sys.executable, "-c", "import os; print(os.sched_getscheduler(0))"]
CORES = [sys.executable, "-c", "import os; print(len(os.sched_getaffinity(0)))"]


@pytest.fixture
def home() -> Iterator[HomeCore]:
    core = HomeCore()
    yield core
    core.release()
    assert os.sched_getaffinity(0) == ALL


@pytest.fixture
def thread() -> Iterator[threading.Thread]:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    yield thread
    end.set()
    thread.join()


def core_of(home: HomeCore) -> int | None:
    return home.core


def use_cpu(sec: float) -> None:
    until = time.thread_time() + sec
    while time.thread_time() < until:
        pass


def test_threads_of_a_busy_loop_are_bound_and_released_when_it_is_idle(
    home: HomeCore, thread: threading.Thread
) -> None:
    home.turn()
    home.turn()
    assert core_of(home) is None and thread.native_id is not None
    use_cpu(0.2)
    home.turn()
    assert core_of(home) in ALL
    assert os.sched_getaffinity(0) == os.sched_getaffinity(thread.native_id) == {core_of(home)}
    home.turn()
    assert core_of(home) is None
    assert os.sched_getaffinity(0) == os.sched_getaffinity(thread.native_id) == ALL


def test_bound_threads_let_the_loop_finish_first(home: HomeCore, thread: threading.Thread) -> None:
    assert thread.native_id is not None
    home.bind()
    assert os.sched_getscheduler(thread.native_id) == os.SCHED_BATCH
    # The event loop's thread is run as soon as something comes for it.
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
    home.release()
    assert os.sched_getscheduler(thread.native_id) == os.SCHED_OTHER


def test_threads_that_are_started_later_are_bound_at_the_next_turn(home: HomeCore) -> None:
    home.bind()
    end = threading.Event()
    later = threading.Thread(target=end.wait)
    later.start()
    try:
        use_cpu(0.06)
        home.turn()
        assert later.native_id is not None
        assert os.sched_getscheduler(later.native_id) == os.SCHED_BATCH
        assert os.sched_getaffinity(later.native_id) == {core_of(home)}
    finally:
        end.set()
        later.join()


def test_what_a_bound_thread_starts_runs_when_it_is_woken(home: HomeCore) -> None:
    seen: list[bytes] = []
    bound = threading.Event()

    def start() -> None:
        bound.wait()
        # Without care a child inherits it.
        seen.append(subprocess.run(SCHEDULING, capture_output=True, check=True).stdout)
        with every_core():
            seen.append(subprocess.run(SCHEDULING, capture_output=True, check=True).stdout)
        seen.append(f"{os.sched_getscheduler(0)}\n".encode())

    thread = threading.Thread(target=start)
    thread.start()
    home.bind()
    bound.set()
    thread.join()
    assert seen == [f"{kind}\n".encode() for kind in (os.SCHED_BATCH, os.SCHED_OTHER, os.SCHED_BATCH)]


def test_threads_are_not_bound_while_others_than_the_loop_work(home: HomeCore) -> None:
    home.turn()
    other = threading.Thread(target=use_cpu, args=(0.5,))
    other.start()
    other.join()
    home.turn()
    assert core_of(home) is None


def test_now_and_then_every_core_counts_again(home: HomeCore) -> None:
    home.bind()
    for _ in range(14):
        use_cpu(0.06)
        home.turn()
        assert core_of(home) is not None
    use_cpu(0.06)
    home.turn()
    assert core_of(home) is None


def test_what_is_started_runs_on_every_core(home: HomeCore) -> None:
    home.bind()
    # Without care a child inherits it.
    assert subprocess.run(CORES, capture_output=True, check=True).stdout == b"1\n"
    with every_core():
        assert subprocess.run(CORES, capture_output=True, check=True).stdout == f"{len(ALL)}\n".encode()
    assert os.sched_getaffinity(0) == {core_of(home)}
    worker = Worker()
    try:
        assert os.sched_getaffinity(worker.pid) == ALL
    finally:
        worker.end()


async def test_commands_run_on_every_core(home: HomeCore, tmp_path: Path) -> None:
    home.bind()
    child = Child(CORES, cwd=tmp_path, env=os.environ, stdout=PIPE)
    assert child.out is not None
    assert await child.out.read() == f"{len(ALL)}\n".encode()
    await child.wait()
