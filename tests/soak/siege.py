"""A real server under load, killed again and again; after each restart everything is held against the log."""

import random
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tests.harness import CPL, make_repo, start
from tests.soak.gate import Gate
from tests.soak.promises import Promises
from tests.soak.wire import Wire
from tests.soak.witness import Witness
from tests.soak.workers import KeyUser, LogWatcher, Reader, SessionUser, TaskWatcher, Worker

_SEC = 120.0
_DURING_START = 0.1

W = TypeVar("W", bound=Worker)


@dataclass
class Tally:
    """What happened."""

    kills: int = 0
    during_start: int = 0
    repositories: int = 0
    events: int = 0
    acknowledged: int = 0
    answers: int = 0
    keys: dict[str, int] = field(default_factory=lambda: {"replayed": 0, "unknown": 0, "first": 0})
    resumed: int = 0
    crashes_watched: int = 0
    seconds: float = 0.0

    def line(self) -> str:
        """In one line; what would have been wrong has failed the test before."""
        return (
            f"soak: {self.kills} kills ({self.during_start} during a start) over {self.repositories} repositories in "
            f"{self.seconds:.0f} s: {self.answers} answers, {self.acknowledged} acknowledged mutations, {self.events} "
            f"events: 0 lost, 0 gaps, 0 duplicates; keys {self.keys['first']} ran, {self.keys['replayed']} replayed, "
            f"{self.keys['unknown']} of unknown outcome, 0 ran twice; the log's watch resumed {self.resumed} times, "
            f"{self.crashes_watched} crashes seen by the task they ended"
        )


class Siege:
    """One repository, its server, and the clients around it."""

    def __init__(self, repo: Path, *, seed: int, tally: Tally) -> None:
        self._repo = make_repo(repo)
        self._random = random.Random(seed)
        self._tally = tally
        self._server = start(self._repo)
        self._started_sec = 1.0
        self._gate, self._promises = Gate(), Promises()
        self._witness = Witness(self._server.workspace.ledger)
        common = {"gate": self._gate, "promises": self._promises, "connect": self._connect, "seed": seed}
        kinds: Sequence[tuple[str, type[Worker]]] = (
            ("sessions-a", SessionUser),
            ("sessions-b", SessionUser),
            ("keys-a", KeyUser),
            ("keys-b", KeyUser),
            ("reader", Reader),
            ("log-watcher", LogWatcher),
            ("task-watcher", TaskWatcher),
        )
        self._workers = [kind(name, **common) for name, kind in kinds]  # type: ignore[arg-type]  # each value fits its name

    def run(self, kills: int) -> None:
        """Kill the server so often, look after each restart, and end it properly at the last."""
        try:
            while kills > 0:
                kills -= self._strike(kills)
                self._look()
            self._gate.open()
            self._promises.wait_for(50, sec=_SEC)
            assert self._server.stop() == 0
            self._gate.close(sec=_SEC)
            self._server = start(self._repo)
            self._look()
        finally:
            self._server.kill()
            self._gate.close(sec=_SEC)
            self._gate.end()
            for worker in self._workers:
                worker.join()
        self._count()

    def _connect(self, name: str) -> Wire:
        return Wire(port=self._server.port, token=self._server.token, connection_id=name)

    def _strike(self, most: int) -> int:
        """Load, a kill at some moment, perhaps another during the restart; returns how many kills it were."""
        self._gate.open()
        self._promises.wait_for(self._random.randint(1, 200), sec=_SEC)
        time.sleep(self._random.uniform(0, 0.02))
        self._server.kill()
        self._gate.close(sec=_SEC)
        kills = 1
        if most > 1 and self._random.random() < _DURING_START:
            self._kill_starting()
            kills = 2
        began = time.monotonic()
        self._server = start(self._repo)
        self._started_sec = time.monotonic() - began
        self._tally.kills += kills
        return kills

    def _kill_starting(self) -> None:
        quiet = subprocess.DEVNULL
        process = subprocess.Popen([CPL, "up", "--repo", str(self._repo)], stdout=quiet, stderr=quiet)
        try:
            process.wait(self._random.uniform(0.3, 1.0) * self._started_sec)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait(_SEC)
        self._tally.during_start += 1

    def _look(self) -> None:
        """With nobody at work: what the log holds, what was promised, and what the server says of its tables."""
        self._witness.look()
        self._tally.acknowledged += self._witness.hold(self._promises.take())
        for user in self._of(KeyUser):
            self._witness.hold_keys(user)
        for watcher in self._of(LogWatcher):
            self._witness.hold_watch(watcher)
        problems = [problem for worker in self._workers for problem in worker.problems]
        assert not problems, f"{len(problems)} problems, among them:\n" + "\n".join(problems[:5])
        with self._connect("witness") as wire:
            verdict = wire.call("ledger.verify", {}).get("result")
        assert isinstance(verdict, dict) and verdict["ok"] is True, verdict

    def _of(self, kind: type[W]) -> list[W]:
        return [worker for worker in self._workers if isinstance(worker, kind)]

    def _count(self) -> None:
        tally = self._tally
        tally.repositories += 1
        tally.events += self._witness.position
        tally.answers += self._promises.answers
        for user in self._of(KeyUser):
            tally.keys = {kind: number + user.resent[kind] for kind, number in tally.keys.items()}
        for whole in self._of(LogWatcher):
            tally.resumed += whole.resumed
        for one in self._of(TaskWatcher):
            tally.crashes_watched += one.ended


def besiege(folder: Path, *, kills: int, repositories: int, seed: int) -> Tally:
    """So many kills, shared out over several repositories, because checking a log takes as long as the log is."""
    tally, began = Tally(), time.monotonic()
    for number in range(repositories):
        share = kills // repositories + (number < kills % repositories)
        Siege(folder / f"repo-{number}", seed=seed + number, tally=tally).run(share)
    tally.seconds = time.monotonic() - began
    return tally
