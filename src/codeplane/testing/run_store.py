"""Stored runs with their output, by id; the oldest are deleted first."""

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
class OutputFile:
    """The file with a target's output, and how many other targets share it."""

    file: Path
    shared_with: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A part of an output, and its place in the whole: `around` holds it from `begin` to `end`."""

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
        cls, output: OutputFile, *, run_id: str, target_id: str, offset: int | None, limit: int, margin: int
    ) -> "Excerpt":
        """Read `limit` bytes from an offset, or the last ones, with a margin on both sides."""
        size = output.file.stat().st_size
        begin = max(0, size - limit) if offset is None else min(offset, size)
        first = max(0, begin - margin)
        with output.file.open("rb") as file:
            file.seek(first)
            around = file.read(begin - first + limit + margin)
        return cls(
            run_id=run_id,
            target_id=target_id,
            offset=begin,
            total=max(size, first + len(around)),
            shared_with=output.shared_with,
            around=around,
            begin=begin - first,
            end=min(begin - first + limit, len(around)),
        )


class RunStore:
    """The folders of runs below one folder, which holds nothing else."""

    def __init__(self, folder: Path, *, most: int) -> None:
        self._folder = folder
        self._most = most

    def create(self, run_id: str) -> Path:
        """Make the folder of a new run, and delete the oldest ones beyond the limit."""
        folder = self._folder / run_id
        folder.mkdir(parents=True)
        for old in self.ids()[self._most :]:
            shutil.rmtree(self._folder / old, ignore_errors=True)
        return folder

    def ids(self) -> list[str]:
        """Return the stored runs, the newest first."""
        try:
            return sorted((entry.name for entry in self._folder.iterdir() if entry.is_dir()), reverse=True)
        except OSError:
            return []

    def save(self, result: RunResult, outputs: dict[str, tuple[str, int]]) -> None:
        """Store the result of a run."""
        folder = self._folder / result.run_id
        if folder.is_dir():
            (folder / _OUTPUTS).write_bytes(msgspec.json.encode(outputs))
            (folder / _RESULT).write_text(result.model_dump_json(), "utf-8")

    def load(self, run_id: str) -> RunResult:
        """Return the result of a run; TestRunNotFound when it is not stored, or was interrupted by the server's end."""
        if run_id not in self.ids():
            raise TestRunNotFound(f"no run {run_id!r} is kept", details={"kept": list(self.ids()[:5])})
        try:
            return RunResult.model_validate_json((self._folder / run_id / _RESULT).read_bytes())
        except (OSError, ValidationError) as error:
            raise TestRunNotFound(
                f"the run {run_id} was interrupted, and has no result", hint="run it again"
            ) from error

    def last_output(self, run_id: str) -> OutputFile:
        """Return the output of the process that printed last, whether or not it is over."""
        if run_id not in self.ids():
            raise TestRunNotFound(f"no run {run_id!r} is kept", details={"kept": list(self.ids()[:5])})
        found = sorted((self._folder / run_id).glob("*.txt"), key=lambda file: file.stat().st_mtime_ns)
        if not found:
            raise TestRunNotFound(f"the run {run_id} has printed nothing yet", hint="ask again in a moment")
        return OutputFile(file=found[-1], shared_with=0)

    def target_output(self, run_id: str, target_id: str, *, outputs: dict[str, tuple[str, int]] | None) -> OutputFile:
        """Return the output of a target; `outputs` are those of a run that is under way."""
        if run_id not in self.ids():
            raise TestRunNotFound(f"no run {run_id!r} is kept", details={"kept": list(self.ids()[:5])})
        folder = self._folder / run_id
        try:
            stored = (folder / _OUTPUTS).read_bytes() if outputs is None else b""
            outputs = outputs or msgspec.json.decode(stored, type=dict[str, tuple[str, int]])
        except (OSError, msgspec.MsgspecError):
            outputs = {}
        if target_id not in outputs:
            known = ", ".join(sorted(outputs)[:5])
            raise TestRunNotFound(
                f"the run {run_id} has no output of {target_id!r}", hint=f"its targets: {known}" if known else None
            )
        name, shared = outputs[target_id]
        return OutputFile(file=folder / name, shared_with=shared - 1)
