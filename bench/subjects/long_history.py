"""A ledger with a long history: agents at work for two weeks, told through the log's own append, tables and all."""

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.config import LedgerConfig, TaskLimits
from codeplane.kernel.event import ContentTrust, Correlation, Draft, Source
from codeplane.kernel.ids import digest, new_id
from codeplane.kernel.json import JsonObject
from codeplane.ledger.log import SqliteLog
from codeplane.wiring.app import tables

DAYS = 13
_BATCH = 2000
_HOUR_NS = 3600 * SECOND_NS
_YEAR_NS = 365 * 24 * _HOUR_NS
_HEAD = digest(b"head")[:40]
_WORDS = ("tax", "rate", "cart", "total", "price", "session", "ledger", "epoch", "writer", "reader", "cursor",
          "policy", "grant", "token", "stream", "index")  # fmt: skip
_READS = ("search", "search", "search", "read_files", "read_files", "read_files", "explain_symbol", "map_repo",
          "git.status", "git.diff", "semantic_diff", "list_dir")  # fmt: skip
_CLIENTS = (("mcp", "claude-code"), ("mcp", "claude-code"), ("mcp", "cursor"), ("mcp", "codex"), ("cli", "cpl"))
_COMMANDS = ("grep -c def shop/*.py", "make lint", "npm run build", "pip list --outdated", "du -sh build")


class Hurried:
    """A clock that a story is told by."""

    def __init__(self, at_ns: int) -> None:
        self.at_ns = at_ns

    def now_ns(self) -> int:
        return self.at_ns

    def monotonic_ns(self) -> int:
        return time.monotonic_ns()


class History:
    """Drafts of what agents do, the same each time but for the ids."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._epoch = 1

    def task(self, calls: int) -> Iterator[Draft]:
        """A session with its task from its opening to its end."""
        surface, client = self._random.choice(_CLIENTS)
        actor = "owner:owner" if surface == "cli" else f"agent:{client}"
        ids = Correlation(session_id=new_id("ses"), task_id=new_id("task"))
        opened: JsonObject = {"task_id": ids.task_id, "surface": surface, "client": client, "actor": actor}
        yield Draft(stream=f"session/{ids.session_id}", type="session.opened", payload=opened, correlation=ids)
        begun: JsonObject = {
            "description": f"make {self._words(4)} work",
            "limits": TaskLimits().model_dump(),
            "repo_head": _HEAD,
            "index_version": None,
        }
        yield Draft(stream=f"task/{ids.task_id}", type="task.opened", payload=begun, correlation=ids)
        for _ in range(calls):
            yield from self._call(ids, actor, surface, client)
        state = self._random.choice(("CLOSED_SUCCESS", "CLOSED_SUCCESS", "CLOSED_FAILED", "CLOSED_INTERRUPTED"))
        ended: JsonObject = {"state": state, "reason": "close"}
        yield Draft(stream=f"task/{ids.task_id}", type="task.closed", payload=ended, correlation=ids)
        left: JsonObject = {"reason": "close"}
        yield Draft(stream=f"session/{ids.session_id}", type="session.closed", payload=left, correlation=ids)

    def question(self, number: int, ids: Correlation, actor: str, surface: str, client: str) -> tuple[str, list[Draft]]:
        """A command that waits for a person, and its action's id."""
        action_id, command = new_id("act"), f"{self._random.choice(_COMMANDS)} # {number}"
        judged: JsonObject = {
            "operation": "run_bash",
            "decision": "REQUIRE_APPROVAL",
            "reason": "a shell command always asks",
            "risk": "HIGH",
        }
        asked: JsonObject = {
            "action_id": action_id,
            "operation": "run_bash",
            "tool": "run_bash",
            "actor_kind": actor.partition(":")[0],
            "actor_id": actor.partition(":")[2],
            "owner_id": "owner",
            "surface": surface,
            "client": client,
            "risk": "HIGH",
            "idempotency_key": action_id,
            "arguments_hash": digest(command.encode()),
            "preview_hash": digest(action_id.encode()),
            "kind": f"run_bash {digest(command.encode())[:16]}",
            "summary": f"run {command}",
            "body": f"$ {command}\nin the workspace, without network\n" + "environment as configured\n" * 8,
            "reasons": "a shell command always asks",
            "expires_ns": time.time_ns() + _YEAR_NS,
        }
        return action_id, [
            Draft(stream="policy", type="policy.decided", payload=judged, actor=actor, source=Source.POLICY_ENGINE,
                  correlation=ids),
            Draft(stream=f"action/{action_id}", type="action.created", payload=asked, actor=actor, correlation=ids),
        ]  # fmt: skip

    def seldom(self) -> Iterator[Draft]:
        """What happens a few times in the life of a ledger."""
        loaded: JsonObject = {"hash": digest(b"policy"), "files": ["main.rego"]}
        yield Draft(stream="policy", type="policy.loaded", payload=loaded, source=Source.POLICY_ENGINE)
        yield Draft(stream="system", type="storage.recovered", payload={"lost_records": 1})

    def _call(self, session: Correlation, actor: str, surface: str, client: str) -> Iterator[Draft]:
        ids = Correlation(session_id=session.session_id, task_id=session.task_id, call_id=new_id("call"))
        dice = self._random.random()
        if dice < 0.72:
            yield self._read(ids, actor)
        elif dice < 0.88:
            yield from self._edit(ids, actor)
        elif dice < 0.95:
            yield from self._tests(ids, actor)
        elif dice < 0.99:
            yield from self._command(ids, actor, surface, client)
        else:
            refused: JsonObject = {
                "operation": "git.push",
                "status": "POLICY_DENIED",
                "reason": "outward calls are not allowed here",
                "surface": surface,
                "client": client,
            }
            alone = Correlation(call_id=ids.call_id)
            yield Draft(stream="audit", type="call.refused", payload=refused, actor=actor, correlation=alone,
                        source=Source.POLICY_ENGINE)  # fmt: skip

    def _read(self, ids: Correlation, actor: str) -> Draft:
        name = self._random.choice(_READS)
        payload = self._common(name, mutates=False) | {"arguments": self._asked(name)}
        failed = self._random.random() < 0.02
        payload |= self._ended("NOT_FOUND" if failed else "ok", self._random.lognormvariate(8, 1))
        if failed:
            payload["error"] = {"code": 1004, "message": f"there is no {self._path()}", "retryable": False}
        return self._draft("call.finished", ids, actor, payload)

    def _asked(self, name: str) -> JsonObject:
        """Arguments that the operation takes, so that it can be asked again."""
        if name == "search":
            return {"query": self._words(3), "mode": "auto", "limit": 20, "paths": [self._path()]}
        named: dict[str, JsonObject] = {
            "read_files": {"paths": [self._path()]},
            "explain_symbol": {"symbol": self._words(1)},
            "map_repo": {"focus": self._words(2)},
            "semantic_diff": {"base": "HEAD"},
            "list_dir": {"path": ""},
        }
        return named.get(name, {})

    def _edit(self, ids: Correlation, actor: str) -> Iterator[Draft]:
        common = self._common("write_files", mutates=True) | {"repo_before": _HEAD}
        yield self._draft("call.started", ids, actor, common)
        paths = [self._path() for _ in range(self._random.randint(1, 4))]
        applied: JsonObject = {
            "mutation_id": new_id("mut"),
            "what": "write_files",
            "state": "applied",
            "files": len(paths),
            "paths": list(paths),
        }
        yield Draft(stream="mutations", type="mutation.applied", payload=applied, actor=actor, correlation=ids)
        changed: JsonObject = {
            "changed_paths": list(paths),
            "diff_stats": {"files_changed": len(paths), "insertions": 9, "deletions": 4},
            "short_diff": [f"{path} +4 -2" for path in paths],
            "mutation_fingerprint": digest(self._words(2).encode()),
            "repo_after": _HEAD,
        }
        yield self._draft(
            "call.finished", ids, actor, common | self._ended("ok", self._random.lognormvariate(10, 1)) | changed
        )
        self._epoch += 1
        published: JsonObject = {
            "epoch": self._epoch,
            "commit": _HEAD,
            "files": 412,
            "changed": list(paths),
            "changed_count": len(paths),
            "removed": [],
            "removed_count": 0,
            "renamed": [],
        }
        yield Draft(stream="index", type="index.epoch_published", payload=published)

    def _tests(self, ids: Correlation, actor: str) -> Iterator[Draft]:
        common = self._common("test.run", mutates=True, budget="test_run") | {"repo_before": _HEAD}
        yield self._draft("call.started", ids, actor, common)
        ended = common | self._ended("ok", self._random.lognormvariate(14, 1)) | {"repo_after": _HEAD}
        if self._random.random() < 0.3:
            ended["failure_class"] = "AssertionError"
            ended["failing_tests"] = [f"tests/test_{self._random.choice(_WORDS)}.py::test_it"]
            ended["failure_fingerprint"] = digest(self._words(1).encode())
        yield self._draft("call.finished", ids, actor, ended)

    def _command(self, ids: Correlation, actor: str, surface: str, client: str) -> Iterator[Draft]:
        action_id, drafts = self.question(self._random.randrange(10**6), ids, actor, surface, client)
        yield from drafts
        common = self._common("run_bash", mutates=True)
        waits = common | self._ended("APPROVAL_PENDING", 900) | {"executed": False}
        yield self._draft("call.finished", ids, actor, waits)
        decided: JsonObject = {"action_id": action_id, "by": "owner:owner", "reason": ""}
        verdict = "rejected" if self._random.random() < 0.2 else "approved"
        yield Draft(stream=f"action/{action_id}", type=f"action.{verdict}", payload=decided, actor="owner:owner",
                    correlation=ids)  # fmt: skip
        if verdict == "rejected":
            return
        again = Correlation(session_id=ids.session_id, task_id=ids.task_id, call_id=new_id("call"))
        common |= {"action_id": action_id}
        yield self._draft("call.started", again, actor, common)
        execution = new_id("exe")
        stream = f"execution/{execution}"
        answer: JsonObject = {"execution_id": execution, "display_command": "make lint", "action_id": action_id}
        yield Draft(stream=stream, type="shell.started", payload=answer, actor=actor, correlation=again,
                    source=Source.TOOL_EXECUTOR)  # fmt: skip
        for number in range(self._random.randint(1, 12)):
            printed: JsonObject = {
                "execution_id": execution,
                "stream": "STDOUT",
                "offset_bytes": number * 400,
                "bytes": 400,
                "chunk": f"{self._words(8)}\n" * 8,
                "utf8": True,
            }
            yield Draft(stream=stream, type="shell.output", payload=printed, actor=actor, correlation=again,
                        source=Source.TOOL_EXECUTOR, content_trust=ContentTrust.UNTRUSTED_MODEL)  # fmt: skip
        over: JsonObject = {"execution_id": execution, "exit_code": 0, "duration_ms": 812, "stdout_bytes": 4000}
        yield Draft(stream=stream, type="shell.finished", payload=over, actor=actor, correlation=again,
                    source=Source.TOOL_EXECUTOR)  # fmt: skip
        yield self._draft("call.finished", again, actor, common | self._ended("ok", 812_000))

    def _common(self, name: str, *, mutates: bool, budget: str | None = None) -> JsonObject:
        return {
            "operation": name,
            "mutates": mutates,
            "budget": budget or ("mutation" if mutates else "none"),
            "arguments_hash": digest(str(self._random.random()).encode()),
        }

    @staticmethod
    def _ended(status: str, duration_us: float) -> JsonObject:
        return {
            "duration_us": int(duration_us),
            "executed": True,
            "status": status,
            "result_hash": digest(status.encode()),
            "result_bytes": 2312,
        }

    @staticmethod
    def _draft(kind: str, ids: Correlation, actor: str, payload: JsonObject) -> Draft:
        return Draft(stream=f"task/{ids.task_id}", type=kind, payload=payload, actor=actor, correlation=ids,
                     source=Source.TOOL_EXECUTOR)  # fmt: skip

    def _words(self, count: int) -> str:
        return " ".join(self._random.choices(_WORDS, k=count))

    def _path(self) -> str:
        return f"shop/{self._random.choice(_WORDS)}/{self._random.choice(_WORDS)}.py"


def opened(path: Path, clock: Hurried) -> SqliteLog:
    """The log with every table that a server keeps."""
    return SqliteLog(
        path=path,
        projections=tables(),
        config=LedgerConfig(batch_events=_BATCH, queue_events=20 * _BATCH),
        clock=clock,
    )


async def tell(path: Path, *, events: int, pending: int, tasks: int = 2500) -> int:
    """Fill a new ledger up to so many events, the last of them questions that nobody has answered."""
    now = time.time_ns()
    clock, history = Hurried(now - DAYS * 24 * _HOUR_NS), History(seed=7)
    log = opened(path, clock)
    try:
        step = (DAYS * 24 - 1) * _HOUR_NS // events
        story = _story(history, events - 2 * pending, tasks)
        while batch := [draft for _, draft in zip(range(_BATCH), story, strict=False)]:
            clock.at_ns += step * len(batch)
            await log.append(batch)
        ids = Correlation(session_id=new_id("ses"), task_id=new_id("task"))
        for start in range(0, pending, _BATCH // 2):
            asked = [
                draft
                for number in range(start, min(pending, start + _BATCH // 2))
                for draft in history.question(number, ids, f"agent:ci-{number % 12}", "mcp", "ci")[1]
            ]
            await log.append(asked)
        return log.position
    finally:
        await asyncio.to_thread(log.close)


async def last_hour(path: Path, calls: int = 1500) -> int:
    """What an hour adds that ends now, so that figures of the last hour have something to tell."""
    clock, history = Hurried(time.time_ns() - _HOUR_NS), History(seed=time.time_ns())
    log = opened(path, clock)
    try:
        for _ in range(5):
            drafts = list(history.task(calls // 5))
            for start in range(0, len(drafts), 10):
                clock.at_ns += _HOUR_NS // 5 * 10 // len(drafts)
                # Not waited for: each commit takes the time of its beginning for what it holds.
                await log.append(drafts[start : start + 10])
        return log.position
    finally:
        await asyncio.to_thread(log.close)


def _story(history: History, events: int, tasks: int) -> Iterator[Draft]:
    """Tasks of very different lengths until there is enough; the rare things early on."""
    answer, size, number = 0, events // tasks, 0
    chance = random.Random(11)
    while answer < events:
        number += 1
        if number <= 40:
            for draft in history.seldom():
                answer += 1
                yield draft
        # A few tasks are as long as a hundred others.
        calls = size * 60 if number % 200 == 100 else chance.randint(size // 8, size // 2)
        for draft in history.task(calls):
            answer += 1
            yield draft
