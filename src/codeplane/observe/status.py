"""The `status` operation."""

import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from codeplane import __version__
from codeplane.kernel.call import Call
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.plural import plural

API_VERSION = "1.0.0"
_MAX_CONTEXTS = 5

Section = Literal[
    "daemon", "index", "contexts", "session", "indexers", "config", "ledger", "policy", "work", "schedules"
]


_SECTIONS: tuple[Section, ...] = (
    *("daemon", "ledger", "session", "config", "index", "contexts", "indexers", "policy", "work", "schedules"),
)


class StatusRequest(Request):
    """Which sections to include; all by default."""

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
    work: JsonObject | None = None
    schedules: JsonObject | None = None
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
            lines.append(describe_index(self.index))
        if description := describe_contexts(self.contexts):
            lines.append(f"contexts: {description}")
        if description := describe_last_error(self.daemon, self.index):
            lines.append(f"last error: {description}")
        if self.ledger:
            lines.append(f"ledger at {self.ledger['position']}, {self.ledger['waiting']} waiting")
            if problem := self.ledger.get("problem"):
                lines.append(f"ledger: {problem}")
            if left := self.ledger.get("git_still_runs"):
                assert isinstance(left, list)
                lines.append(f"git of the last run still runs: {', '.join(map(str, left))}")
        if self.session:
            lines.append(f"session {self.session['session_id']} task {self.session['task_state']}")
        if description := describe_changed_settings(self.config):
            lines.append(f"settings: {description}")
        if description := describe_policy_problems(self.policy):
            lines.append(f"policy: {description}")
        if description := describe_work(self.work):
            lines.append(f"work: {description}")
        if description := describe_schedules(self.schedules):
            lines.append(f"schedules: {description}")
        if self.unavailable:
            lines.append(f"not there yet: {', '.join(self.unavailable)}")
        return "\n".join(lines)


def describe_contexts(contexts: JsonValue) -> str:
    """The projects that own files, in words; empty while they are unknown."""
    if not isinstance(contexts, dict) or not isinstance(active := contexts.get("active"), list):
        return ""
    more = int(str(contexts.get("valid", 0))) - len(active[:_MAX_CONTEXTS])
    return (", ".join(map(str, active[:_MAX_CONTEXTS])) or "none") + (f" and {more} more" if more > 0 else "")


def describe_last_error(daemon: JsonValue, index: JsonValue) -> str:
    """The index's present error, else the newest error of the log; empty without one."""
    if isinstance(index, dict) and (failure := index.get("last_error")):
        return f"index: {failure}"
    error = daemon.get("last_error") if isinstance(daemon, dict) else None
    if not isinstance(error, dict):
        return ""
    return " ".join(str(error[name]) for name in ("at", "logger", "event", "reason") if error.get(name))


def describe_changed_settings(config: JsonValue) -> str:
    """The settings that were changed since the start and need a restart, in words; empty without any."""
    if not isinstance(config, dict):
        return ""
    if problem := config.get("settings_problem"):
        return f"the files were changed, and no server could start with them: {problem}"
    changed = config.get("changed_settings")
    if not isinstance(changed, list) or not changed:
        return ""
    return f"changed and not in force until a restart: {', '.join(map(str, changed))}; then: cpl down && cpl up"


def describe_policy_problems(policy: JsonValue) -> str:
    """The problems and warnings of the policy, in words; empty without any."""
    if not isinstance(policy, dict):
        return ""
    messages = [
        message
        for name in ("problems", "warnings")
        if isinstance(listed := policy.get(name), list)
        for message in listed
    ]
    return f"{'; '.join(map(str, messages))}; see: cpl policy check" if messages else ""


def describe_work(work: JsonValue) -> str:
    """Describe the background work in one line; empty without any."""
    if not isinstance(work, dict):
        return ""
    counts = [f"{work[state]} {state}" for state in ("running", "queued", "waiting") if work.get(state)]
    if not counts:
        return ""
    jobs = f" ({work['jobs']} of them jobs: cpl jobs)" if work.get("jobs") else ""
    stays = "; the server stays up for it" if work.get("running") else ""
    return f"{', '.join(counts)}{jobs}{stays}"


def describe_schedules(schedules: JsonValue) -> str:
    """How many schedules are enabled, when the next one is due, and that they keep a server up; empty without any."""
    if not isinstance(schedules, dict):
        return ""
    enabled, stopped = int(str(schedules.get("enabled") or 0)), int(str(schedules.get("stopped") or 0))
    parts = []
    if enabled:
        stay = "; a server in the background stays up for them" if schedules.get("keeps_server_up") else ""
        parts.append(f"{enabled} enabled, next at {str(schedules.get('next_run_at'))[:19]}Z{stay}")
    if stopped:
        parts.append(f"{stopped} stopped by themselves: cpl schedules")
    return "; ".join(parts)


def describe_index(index: JsonObject) -> str:
    """The index in one line."""
    if not index.get("version"):
        return f"index: {index.get('state')}"
    watched = "watching" if index.get("watching") else "not watching, every answer walks"
    line = f"index epoch {index['version']}, {plural(int(str(index['file_count'])), 'file')}"
    if isinstance(symbols := index.get("symbol_count"), int):
        line += f", {plural(symbols, 'symbol')}{'' if _are_symbols_current(index) else ' so far'}"
    if isinstance(size := index.get("size_bytes"), int):
        line += f", {size / 1_000_000:.1f} MB"
    if isinstance(last := index.get("last_reconcile"), dict):
        line += f", reconciled {str(last['at'])[:19]}Z"
    line += f", {watched}"
    line += _describe_progress(index.get("symbols"))
    if left_out := _counts(index.get("skipped")):
        line += f"; left out: {left_out}"
    if incomplete := _counts(index.get("parse_problems")):
        line += f"; searched, but symbols may be missing: {incomplete}"
    return line


def _counts(by_reason: JsonValue) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in by_reason.items()) if isinstance(by_reason, dict) else ""


def _are_symbols_current(index: JsonObject) -> bool:
    """Whether the symbols are those of the published epoch."""
    symbols = index.get("symbols")
    return not isinstance(symbols, dict) or symbols.get("epoch", index["version"]) == index["version"]


def _describe_progress(symbols: JsonValue) -> str:
    """The progress of parsing and vectors, while they are not done."""
    if not isinstance(symbols, dict):
        return ""
    progress = ""
    if "files_total" in symbols:
        eta = symbols.get("eta_sec")
        share = symbols.get("share")
        progress += f"; {share:.0%} parsed" if isinstance(share, float | int) else "; being parsed"
        progress += f", {symbols['files']} of {symbols['files_total']} files, at {symbols['mb_per_sec']} MB/s"
        progress += f", about {eta} s more" if eta is not None else ""
    vectors = symbols.get("vectors")
    if isinstance(vectors, dict) and vectors.get("waiting"):
        progress += f"; {plural(int(str(vectors['waiting'])), 'file', verbs=('waits', 'wait'))} for vectors"
    failures = [part.get("failure") for part in (symbols, vectors) if isinstance(part, dict) and part.get("failure")]
    return progress + "".join(f"; FAILED: {failure}" for failure in failures)


class StatusOperations:
    """Collects the sections that the planes report."""

    def __init__(self, *, parts: "dict[str, Callable[[Call], JsonObject | Awaitable[JsonObject]]]") -> None:
        self._parts = parts

    @operation("status", risk=Risk.READ)
    async def status(self, call: Call, request: StatusRequest) -> StatusResult:
        """Which repository and commit this is, server health, the ledger and this session's task."""
        wanted = request.include or _SECTIONS
        sections: dict[str, JsonObject] = {}
        for name in wanted:
            if name in self._parts:
                section = self._parts[name](call)
                sections[name] = section if isinstance(section, dict) else await section
        if "config" in sections and "contexts" in sections:
            sections["config"]["active_contexts"] = sections["contexts"].get("active", [])
        return StatusResult(**sections, unavailable=tuple(name for name in wanted if name not in self._parts))


def daemon_part(
    *, port: Callable[[], int | None], started_ns: int, last_error: Callable[[], JsonObject | None]
) -> Callable[[Call], JsonObject]:
    """The section about the process; `last_error` returns the newest error of the log."""

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
    """The process's resident memory; 0 where the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
