"""The `status` operation: what a person or agent asks first."""

import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from codeplane import __version__
from codeplane.kernel.call import Call
from codeplane.kernel.counted import counted
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Request, Result, Risk, operation

API_VERSION = "1.0.0"
_NAMED = 5

Section = Literal["daemon", "index", "contexts", "session", "indexers", "config", "ledger", "policy"]


class StatusRequest(Request):
    """Which parts are wanted; all by default."""

    include: tuple[Section, ...] = ()
    session_id: str | None = None


class StatusResult(Result):
    """Health, the log, this session and the settings in force."""

    api_version: str = API_VERSION
    daemon: JsonObject | None = None
    ledger: JsonObject | None = None
    index: JsonObject | None = None
    contexts: JsonObject | None = None
    session: JsonObject | None = None
    config: JsonObject | None = None
    policy: JsonObject | None = None
    unavailable: tuple[str, ...] = ()

    def text(self) -> str:
        lines = []
        if self.config:
            lines.append(f"repo {self.config['repo_root']} at {self.config['head'] or 'no commit'}")
        if self.daemon:
            lines.append(
                f"codeplane {self.daemon['version']} pid {self.daemon['pid']} port {self.daemon['port'] or 'none'}"
                f" up {self.daemon['uptime_sec']} s, {self.daemon['memory_mb']} MB"
            )
        if self.index:
            lines.append(index_line(self.index))
        if said := contexts_said(self.contexts):
            lines.append(f"contexts: {said}")
        if said := error_said(self.daemon, self.index):
            lines.append(f"last error: {said}")
        if self.ledger:
            lines.append(f"ledger at {self.ledger['position']}, {self.ledger['waiting']} waiting")
            if problem := self.ledger.get("problem"):
                lines.append(f"ledger: {problem}")
            if left := self.ledger.get("git_still_runs"):
                assert isinstance(left, list)
                lines.append(f"git of the last run still runs: {', '.join(map(str, left))}")
        if self.session:
            lines.append(f"session {self.session['session_id']} task {self.session['task_state']}")
        if said := settings_said(self.config):
            lines.append(f"settings: {said}")
        if said := policy_said(self.policy):
            lines.append(f"policy: {said}")
        if self.unavailable:
            lines.append(f"not there yet: {', '.join(self.unavailable)}")
        return "\n".join(lines)


def contexts_said(contexts: JsonValue) -> str:
    """The projects that own files, as people read it; nothing while they are not known."""
    if not isinstance(contexts, dict) or not isinstance(active := contexts.get("active"), list):
        return ""
    more = int(str(contexts.get("valid", 0))) - len(active[:_NAMED])
    return (", ".join(map(str, active[:_NAMED])) or "none") + (f" and {more} more" if more > 0 else "")


def error_said(daemon: JsonValue, index: JsonValue) -> str:
    """What went wrong last: what is wrong with the index now, else the newest error of the log."""
    if isinstance(index, dict) and (failure := index.get("last_error")):
        return f"index: {failure}"
    error = daemon.get("last_error") if isinstance(daemon, dict) else None
    if not isinstance(error, dict):
        return ""
    return " ".join(str(error[name]) for name in ("at", "logger", "event", "reason") if error.get(name))


def settings_said(config: JsonValue) -> str:
    """Which settings were changed since the start and wait for the next, as people read it; nothing when none were."""
    if not isinstance(config, dict):
        return ""
    if problem := config.get("settings_problem"):
        return f"the files were changed, and no server could start with them: {problem}"
    changed = config.get("changed_settings")
    if not isinstance(changed, list) or not changed:
        return ""
    return f"changed and not in force until a restart: {', '.join(map(str, changed))}; then: cpl down && cpl up"


def policy_said(policy: JsonValue) -> str:
    """What is wrong with the policy and what holds meanwhile, as people read it; nothing when all is well."""
    if not isinstance(policy, dict):
        return ""
    said = [one for name in ("problems", "warnings") if isinstance(listed := policy.get(name), list) for one in listed]
    return f"{'; '.join(map(str, said))}; see: cpl policy check" if said else ""


def index_line(index: JsonObject) -> str:
    """The index in one line, as people read it."""
    if not index.get("version"):
        return f"index: {index.get('state')}"
    watched = "watching" if index.get("watching") else "not watching, every answer walks"
    said = f"index epoch {index['version']}, {counted(int(str(index['file_count'])), 'file')}"
    if isinstance(symbols := index.get("symbol_count"), int):
        said += f", {counted(symbols, 'symbol')}{'' if _is_followed(index) else ' so far'}"
    if isinstance(size := index.get("size_bytes"), int):
        said += f", {size / 1_000_000:.1f} MB"
    if isinstance(last := index.get("last_reconcile"), dict):
        said += f", reconciled {str(last['at'])[:19]}Z"
    said += f", {watched}"
    said += _symbols(index.get("symbols"))
    if left_out := _counts(index.get("skipped")):
        said += f"; left out: {left_out}"
    if incomplete := _counts(index.get("parse_problems")):
        said += f"; searched, but symbols may be missing: {incomplete}"
    return said


def _counts(by_reason: JsonValue) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in by_reason.items()) if isinstance(by_reason, dict) else ""


def _is_followed(index: JsonObject) -> bool:
    """Whether the symbols are those of the published epoch."""
    symbols = index.get("symbols")
    return not isinstance(symbols, dict) or symbols.get("epoch", index["version"]) == index["version"]


def _symbols(symbols: JsonValue) -> str:
    """How far parsing and vectors are, while they are not done."""
    if not isinstance(symbols, dict):
        return ""
    said = ""
    if "files_total" in symbols:
        eta = symbols.get("eta_sec")
        share = symbols.get("share")
        said += f"; {share:.0%} parsed" if isinstance(share, float | int) else "; being parsed"
        said += f", {symbols['files']} of {symbols['files_total']} files, at {symbols['mb_per_sec']} MB/s"
        said += f", about {eta} s more" if eta is not None else ""
    vectors = symbols.get("vectors")
    if isinstance(vectors, dict) and vectors.get("waiting"):
        said += f"; {counted(int(str(vectors['waiting'])), 'file', verbs=('waits', 'wait'))} for vectors"
    failures = [part.get("failure") for part in (symbols, vectors) if isinstance(part, dict) and part.get("failure")]
    return said + "".join(f"; FAILED: {failure}" for failure in failures)


class StatusOperations:
    """Puts the parts together that the planes report."""

    def __init__(self, *, parts: "dict[str, Callable[[Call], JsonObject | Awaitable[JsonObject]]]") -> None:
        self._parts = parts

    @operation("status", risk=Risk.READ)
    async def status(self, call: Call, request: StatusRequest) -> StatusResult:
        """Which repository and commit this is, server health, the ledger and this session's task."""
        wanted = request.include or ("daemon", "ledger", "session", "config", "index", "contexts", "indexers", "policy")
        found: dict[str, JsonObject] = {}
        for name in wanted:
            if name in self._parts:
                part = self._parts[name](call)
                found[name] = part if isinstance(part, dict) else await part
        if "config" in found and "contexts" in found:
            found["config"]["active_contexts"] = found["contexts"].get("active", [])
        return StatusResult(**found, unavailable=tuple(name for name in wanted if name not in self._parts))


def daemon_part(
    *, port: Callable[[], int | None], started_ns: int, last_error: Callable[[], JsonObject | None]
) -> Callable[[Call], JsonObject]:
    """What the process says about itself; `last_error` is the newest line of the log that tells of one."""

    def part(call: Call) -> JsonObject:
        return {
            "version": __version__,
            "uptime_sec": (time.monotonic_ns() - started_ns) // 1_000_000_000,
            "pid": os.getpid(),
            "port": port(),
            "memory_mb": resident_bytes() // (1024 * 1024),
            "last_error": last_error(),
        }

    return part


def resident_bytes() -> int:
    """Memory the process holds; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
