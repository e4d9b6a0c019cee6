"""The tests of a file: those that reach it, the ones that are most about it first."""

import asyncio

from codeplane.code.resolve.world import World
from codeplane.git.read.co_change import CoChangeReader, CoChanges
from codeplane.index.path_kinds import is_test
from codeplane.index.snapshot import Snapshot
from codeplane.query.explain.explain import TestFinder
from codeplane.query.knowledge import Knowledge
from codeplane.query.search.file_kinds import kind_of
from codeplane.query.task_context.evidence import Candidate, Evidence, Sign
from codeplane.query.task_context.task_input import TaskInput

# Without a text to go by: fitted to the tests that commits changed beside one of their files.
_WEIGHTS: dict[Sign, float] = {"together": 2.2, "alike": 1.3, "changed": 1.0, "near": 0.4}
_REACHED = 0.7
# Tests that nothing shows to reach the file are listed where this much speaks for them.
_LEAST = 1.2
_WHOLE = ((1, 1_000_000_000),)


class RelatedTests:
    """Finds tests by imports, names, what they use and what changed together."""

    def __init__(self, *, knowledge: Knowledge, reaching: TestFinder, history: CoChangeReader) -> None:
        self._knowledge = knowledge
        self._reaching = reaching
        self._history = history

    async def test_files(self, snapshot: Snapshot, path: str) -> tuple[str, ...] | None:
        """The test files of a file, best first; None while it is not known which reach it."""
        reaching = await self._reaching.test_files(snapshot, path)
        if reaching is None:
            return None
        history = await self._history.changed_with([path], snapshot.commit)
        return await asyncio.to_thread(self._rank, snapshot, path, reaching, history)

    def _rank(self, snapshot: Snapshot, path: str, reaching: tuple[str, ...], history: CoChanges) -> tuple[str, ...]:
        task = TaskInput(prose="", given={path: _WHOLE}, changed_text="", failed={}, failed_names=(), is_failure=False)
        world = World(snapshot, self._knowledge.store, self._knowledge.modules)

        def keep(other: str) -> bool:
            known = snapshot.files.get(other)
            return known is not None and known.skipped is None and is_test(other) and kind_of(other) == "tests"

        evidence = Evidence(world, self._knowledge.store, self._knowledge.text, task, keep)
        found = {candidate.path: _score(candidate) for candidate in evidence.collect(history.shares)}
        place = {test: at for at, test in enumerate(reaching)}
        scores = {test: found.get(test, 0.0) + (_REACHED if test in place else 0.0) for test in {*found, *place}}
        listed = [test for test in scores if test in place or scores[test] >= _LEAST]
        return tuple(sorted(listed, key=lambda test: (-scores[test], place.get(test, len(place)), test)))


def _score(candidate: Candidate) -> float:
    return sum(_WEIGHTS.get(sign, 0.0) * value for sign, value in candidate.signs.items())
