"""Git mutations under way, recorded before git starts, so that the next run can tell what became of them."""

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from codeplane.git.read.state import State
from codeplane.git.safety.contents import Entry
from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.git.write.pending_reversals import PendingReversals
from codeplane.git.write.process_lock import is_locked
from codeplane.kernel.errors import GitBusy
from codeplane.kernel.json import JsonObject
from codeplane.processes.open_files import commands_holding

Step = Callable[[str], None]
_BEGUN, _INDEX, _REACHED, _RUNNING = "begun.json", "index", "reached.json", "running"
_SUBMODULE = "submodule.json"
_MAX_NOTES = 200
_IN_BACKGROUND = frozenset({"maintenance", "gc", "daemon"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedMutation:
    """The start of a mutation; `reached` are the files it may write, `undoes` the refs that an undo moves back."""

    mutation_id: str
    what: str
    at_ns: int
    session_id: str | None
    call_id: str | None
    undoable: bool
    undoes: tuple[str, ...]
    sign: str
    before: GitSnapshot
    reached: Mapping[str, Entry] | None = None
    # The folder of the work tree that it adds.
    worktree: str | None = None
    # The state before the submodule that it adds.
    submodule: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNote:
    """The outcome of one call's change; not `done` when it has only started or failed, `reason` says why."""

    what: str
    mutation_id: str | None
    done: bool
    reason: str = ""


class PendingMutations:
    """Store a folder for each mutation under way, which outlives this process.

    After a power cut a part may be missing; then the mutation counts as unknown.
    """

    def __init__(self, folder: Path, *, step: Step = lambda name: None) -> None:
        """`step` is called before or after every step, so that tests can stop there."""
        self._folder = folder
        self._step = step
        self._running: dict[str, int] = {}
        # Mutations of the last run that git still works on.
        self.left: dict[str, StartedMutation] = {}
        self.reversals = PendingReversals(folder.with_name(f"{folder.name}-reversals"), step=step)

    def begin(self, started: StartedMutation) -> None:
        """Record the start of a mutation."""
        place = self._folder / started.mutation_id
        self._step("before begin")
        place.mkdir(parents=True)
        self._hold(started.mutation_id, place / _RUNNING)
        (place / _INDEX).write_bytes(b"\0".join(started.before.index))
        self._step("index written")
        _write(place / _BEGUN, _to_json(started))
        self._step("begun")

    def record_reached(self, started: StartedMutation) -> None:
        """Record the files that it may write, before it does."""
        _write(self._folder / started.mutation_id / _REACHED, dict(started.reached or {}))
        self._step("reached")

    def record_submodule(self, started: StartedMutation) -> None:
        """Record the state before the submodule that it adds."""
        _write(self._folder / started.mutation_id / _SUBMODULE, started.submodule)
        self._step("submodule written")

    def end(self, mutation_id: str) -> None:
        """Remove a mutation that is over."""
        self._step("before end")
        if (descriptor := self._running.pop(mutation_id, None)) is not None:
            os.close(descriptor)
        place = self._folder / mutation_id
        # Without this file the rest counts for nothing, however much of it is left.
        (place / _BEGUN).unlink(missing_ok=True)
        self._step("beginning gone")
        shutil.rmtree(place, ignore_errors=True)

    def inherited_descriptors(self, mutation_id: str) -> tuple[int, ...]:
        """Return the descriptors that git and its children keep open while they work on a mutation."""
        return (self._running[mutation_id],) if mutation_id in self._running else ()

    def is_git_running(self, mutation_id: str) -> bool:
        """Whether git itself still works on a mutation of the last run, or waits for a hook."""
        return any(_is_git(command) for command in commands_holding(self._folder / mutation_id / _RUNNING))

    def refuse_while_running(self) -> None:
        """Raise GitBusy while git of the last run still works on a mutation."""
        for mutation_id, started in self.left.items():
            raise GitBusy(
                f"git of the last run still runs: {started.what} ({mutation_id})",
                hint="wait until it has ended, or end it; status says when it has",
            )

    def is_running(self, mutation_id: str) -> bool:
        """Whether a process that git started for a mutation of the last run still runs; waits a moment for its end."""
        return is_locked(self._folder / mutation_id / _RUNNING, missing=True)

    def note(self, call_id: str, *, what: str, mutation_id: str | None, done: bool, reason: str = "") -> None:
        """Note the outcome of a call's change for a while, for a later run whose log lacks it."""
        raw = {"what": what, "mutation_id": mutation_id, "done": done, **({"reason": reason} if reason else {})}
        with suppress(OSError):
            self._notes.mkdir(parents=True, exist_ok=True)
            _write(self._notes / call_id, raw)
            for old in sorted(os.listdir(self._notes))[:-_MAX_NOTES]:  # noqa: PTH208
                (self._notes / old).unlink(missing_ok=True)

    def notes(self) -> dict[str, CallNote]:
        """Return the notes by call id."""
        notes: dict[str, CallNote] = {}
        with suppress(OSError):
            for name in os.listdir(self._notes):  # noqa: PTH208
                with suppress(OSError, ValueError, KeyError, TypeError):
                    raw = json.loads((self._notes / name).read_bytes())
                    notes[name] = CallNote(
                        what=str(raw["what"]),
                        mutation_id=raw["mutation_id"],
                        done=bool(raw["done"]),
                        reason=str(raw.get("reason", "")),
                    )
        return notes

    @property
    def _notes(self) -> Path:
        return self._folder.with_name(f"{self._folder.name}-ended")

    def _hold(self, mutation_id: str, file: Path) -> None:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._running[mutation_id] = descriptor
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def all(self) -> list[StartedMutation]:
        """Return the mutations that the last run left, oldest first; remove incomplete ones."""
        mutations = []
        for name in self._names():
            started = self._read(self._folder / name)
            if started is None:
                shutil.rmtree(self._folder / name, ignore_errors=True)
            else:
                mutations.append(started)
        return mutations

    @property
    def is_empty(self) -> bool:
        """Whether no mutation was left."""
        return not self._names()

    def _names(self) -> list[str]:
        with suppress(OSError):
            return sorted(os.listdir(self._folder))  # noqa: PTH208
        return []

    def _read(self, place: Path) -> StartedMutation | None:
        try:
            raw = json.loads((place / _BEGUN).read_bytes())
            lines = (place / _INDEX).read_bytes().split(b"\0")
            started = _of_json(raw, frozenset(line for line in lines if line))
        except (OSError, ValueError, TypeError, KeyError):
            return None
        with suppress(OSError, ValueError):
            started = replace(started, reached=cast(dict[str, Entry], json.loads((place / _REACHED).read_bytes())))
        with suppress(OSError, ValueError):
            started = replace(started, submodule=cast(JsonObject, json.loads((place / _SUBMODULE).read_bytes())))
        return started if started.mutation_id == place.name else None


def _is_git(command: list[str]) -> bool:
    """Whether a command is git in the foreground, not its background maintenance."""
    if not command or not Path(command[0]).name.startswith("git"):
        return False
    return not any(word.endswith("--daemon") or word in _IN_BACKGROUND for word in command)


def _write(path: Path, raw: object) -> None:
    part = path.with_name(f".{path.name}.part")
    # Escaped, so that names that are not UTF-8 survive.
    part.write_bytes(json.dumps(raw, ensure_ascii=True, separators=(",", ":")).encode())
    part.replace(path)


def _to_json(started: StartedMutation) -> JsonObject:
    before = started.before
    return {
        "mutation_id": started.mutation_id,
        "what": started.what,
        "at_ns": started.at_ns,
        "session_id": started.session_id,
        "call_id": started.call_id,
        "undoable": started.undoable,
        "undoes": started.undoes,
        "sign": started.sign,
        "worktree": started.worktree,
        "before": {
            "symbolic": before.symbolic,
            "head": before.head,
            "refs": before.refs,
            "stashes": before.stashes,
            "settings": before.settings,
            "state": before.state,
            "intended": sorted(before.intended),
            "changed": sorted(before.changed),
            "staged": sorted(before.staged),
            "untracked": sorted(before.untracked),
        },
    }


def _of_json(raw: JsonObject, index: frozenset[bytes]) -> StartedMutation:
    before = cast(dict[str, object], raw["before"])
    return StartedMutation(
        mutation_id=str(raw["mutation_id"]),
        what=str(raw["what"]),
        at_ns=cast(int, raw["at_ns"]),
        session_id=cast(str | None, raw["session_id"]),
        call_id=cast(str | None, raw.get("call_id")),
        worktree=cast(str | None, raw.get("worktree")),
        undoable=bool(raw["undoable"]),
        undoes=tuple(cast(list[str], raw["undoes"])),
        sign=str(raw["sign"]),
        before=GitSnapshot(
            symbolic=cast(str | None, before["symbolic"]),
            head=cast(str | None, before["head"]),
            refs=cast(dict[str, str], before["refs"]),
            # Only needed for pruning, which reads them again.
            recoveries={},
            stashes=_pairs(before["stashes"]),
            settings=_pairs(before["settings"]),
            index=index,
            intended=_names(before["intended"]),
            changed=_names(before["changed"]),
            staged=_names(before["staged"]),
            untracked=_names(before["untracked"]),
            # Undo finds them in the index.
            conflicts=(),
            state=cast(State, before["state"]),
        ),
    )


def _pairs(raw: object) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in cast(list[tuple[str, str]], raw))


def _names(raw: object) -> frozenset[str]:
    return frozenset(cast(list[str], raw))
