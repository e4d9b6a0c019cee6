"""Runs that are over, with their output: kept by id, the oldest go first."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec
from pydantic import ValidationError

from codeplane.kernel.errors import TestRunNotFound
from codeplane.testing.results import RunResult

_RESULT = "result.json"
_OUTPUTS = "outputs.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """Where a target's output is, and how many others share it."""

    file: Path
    shared_with: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A part of an output, and where it is in the whole: `around` holds it from `begin` to `end`."""

    run_id: str
    target_id: str
    offset: int
    total: int
    shared_with: int
    around: bytes
    begin: int
    end: int

    @classmethod
    def of(
        cls, printed: Printed, *, run_id: str, target_id: str, offset: int | None, limit: int, margin: int
    ) -> "Excerpt":
        """So many bytes from a place, or the last ones, with a margin on both sides."""
        size = printed.file.stat().st_size
        begin = max(0, size - limit) if offset is None else min(offset, size)
        first = max(0, begin - margin)
        with printed.file.open("rb") as file:
            file.seek(first)
            around = file.read(begin - first + limit + margin)
        return cls(
            run_id=run_id,
            target_id=target_id,
            offset=begin,
            total=max(size, first + len(around)),
            shared_with=printed.shared_with,
            around=around,
            begin=begin - first,
            end=min(begin - first + limit, len(around)),
        )


class KeptRuns:
    """The folders of runs below one folder, which is nobody else's."""

    def __init__(self, folder: Path, *, most: int) -> None:
        self._folder = folder
        self._most = most

    def begin(self, run_id: str) -> Path:
        """A folder for a new run; the oldest ones make room."""
        folder = self._folder / run_id
        folder.mkdir(parents=True)
        for old in self.ids()[self._most :]:
            shutil.rmtree(self._folder / old, ignore_errors=True)
        return folder

    def ids(self) -> list[str]:
        """The runs that are kept, the newest first."""
        try:
            return sorted((one.name for one in self._folder.iterdir() if one.is_dir()), reverse=True)
        except OSError:
            return []

    def put(self, result: RunResult, outputs: dict[str, tuple[str, int]]) -> None:
        """Keep how a run went."""
        folder = self._folder / result.run_id
        if folder.is_dir():
            (folder / _OUTPUTS).write_bytes(msgspec.json.encode(outputs))
            (folder / _RESULT).write_text(result.model_dump_json(), "utf-8")

    def get(self, run_id: str) -> RunResult:
        """How a run went; TestRunNotFound when it is not kept, or was interrupted by the server's end."""
        if run_id not in self.ids():
            raise TestRunNotFound(f"no run {run_id!r} is kept", details={"kept": list(self.ids()[:5])})
        try:
            return RunResult.model_validate_json((self._folder / run_id / _RESULT).read_bytes())
        except (OSError, ValidationError) as error:
            raise TestRunNotFound(
                f"the run {run_id} was interrupted, and has no result", hint="run it again"
            ) from error

    def last_printed(self, run_id: str) -> Printed:
        """Where the output of the process is that printed last, whether or not it is over."""
        if run_id not in self.ids():
            raise TestRunNotFound(f"no run {run_id!r} is kept", details={"kept": list(self.ids()[:5])})
        found = sorted((self._folder / run_id).glob("*.txt"), key=lambda one: one.stat().st_mtime_ns)
        if not found:
            raise TestRunNotFound(f"the run {run_id} has printed nothing yet", hint="ask again in a moment")
        return Printed(file=found[-1], shared_with=0)

    def printed(self, run_id: str, target_id: str, *, outputs: dict[str, tuple[str, int]] | None) -> Printed:
        """Where the output of a target of a run is; a run under way knows its `outputs` itself."""
        if run_id not in self.ids():
            raise TestRunNotFound(f"no run {run_id!r} is kept", details={"kept": list(self.ids()[:5])})
        folder = self._folder / run_id
        try:
            kept = (folder / _OUTPUTS).read_bytes() if outputs is None else b""
            outputs = outputs or msgspec.json.decode(kept, type=dict[str, tuple[str, int]])
        except (OSError, msgspec.MsgspecError):
            outputs = {}
        if target_id not in outputs:
            known = ", ".join(sorted(outputs)[:5])
            raise TestRunNotFound(
                f"the run {run_id} has no output of {target_id!r}", hint=f"its targets: {known}" if known else None
            )
        name, shared = outputs[target_id]
        return Printed(file=folder / name, shared_with=shared - 1)
