"""The runs of a suite: those under way, and the stored results of those that are over."""

from pathlib import Path

from codeplane.kernel.errors import TestRunNotFound
from codeplane.testing.results import RunResult
from codeplane.testing.run import Run
from codeplane.testing.run_store import Excerpt, RunStore


class RunRegistry:
    """Knows each run by its id."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._running: dict[str, Run] = {}

    @property
    def is_idle(self) -> bool:
        """Whether no run is under way."""
        return not self._running

    def create_folder(self, run_id: str) -> Path:
        """Make the folder of a new run."""
        return self._store.create(run_id)

    def add(self, run: Run) -> None:
        """Register a run that starts."""
        self._running[run.run_id] = run

    def remove(self, run: Run) -> None:
        """Forget a run that is no longer under way."""
        self._running.pop(run.run_id, None)

    def finish(self, run: Run) -> RunResult:
        """Store the result of a run that is over."""
        self.remove(run)
        result = run.result()
        self._store.save(result, run.outputs())
        return result

    def ids(self) -> list[str]:
        """Return the stored runs, the newest first."""
        return self._store.ids()

    def find(self, run_id: str) -> Run | None:
        """Return a run that is under way; the newest without an id."""
        if run_id:
            return self._running.get(run_id)
        return self._running[max(self._running)] if self._running else None

    def result(self, run_id: str) -> RunResult:
        """Return the result of a run, so far or in the end; the newest without an id."""
        run = self.find(run_id)
        return run.result() if run is not None else self._store.load(run_id or self._newest_run())

    def output(self, run_id: str, target: str, *, offset: int | None, limit: int, margin: int) -> Excerpt:
        """Return a part of the output of a target, or of the last process; its end without an offset."""
        run_id = run_id or self._newest_run()
        target_id = target.partition("::")[0]
        if target:
            run = self._running.get(run_id)
            file = self._store.target_output(run_id, target_id, outputs=run.outputs() if run is not None else None)
        else:
            file = self._store.last_output(run_id)
        return Excerpt.of(file, run_id=run_id, target_id=target_id, offset=offset, limit=limit, margin=margin)

    async def stop(self) -> None:
        """Cancel every run that is under way."""
        for run in list(self._running.values()):
            await run.cancel()

    def _newest_run(self) -> str:
        ids = self._store.ids()
        if not ids:
            raise TestRunNotFound("no run is kept")
        return ids[0]
