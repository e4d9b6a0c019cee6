"""Runs one operation of a plan: as calls through the door, under the rights of whom the exploration acts for."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from codeplane.kernel.actor import Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, IndexNotReady, NotGit
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.redaction import Redactor
from codeplane.work.explore import agent_op
from codeplane.work.explore.agent_op import AgentOp
from codeplane.work.explore.concurrency import SEMANTIC_TOP_K, Concurrency
from codeplane.work.explore.op_answers import answer
from codeplane.work.explore.target import Target
from codeplane.work.explore.typed_result import TypedResult
from codeplane.work.items.kind import Door

_CONTEXT_LINES = 2
_PAGE = 100
_MAP_BUDGET = 12_000
_LISTED = 200
_SUMMARIZED_LINES = 60
_SYMBOLS = 100
_NO_GIT: JsonObject = {"git": False, "branch": None, "headCommit": None, "clean": True, "deltas": [], "total": 0}
# Text that stands nowhere, for a search that is asked for its walk alone.
_RARE = "\ue000explore\ue000"
# How often the index is asked for again; each time the wait is bounded by the index itself.
_INDEX_TRIES = 120

Tell = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpOutcome:
    """How an operation ended: a result or an error, and what of the result is not whole."""

    result: TypedResult | None = None
    error: CodePlaneError | None = None
    partial: str = ""


class OpRunner:
    """Makes the calls of one exploration."""

    def __init__(self, *, door: Door, caller: Caller, target: Target, redactor: Redactor) -> None:
        self._door = door
        self._caller = caller
        self._target = target
        self._redactor = redactor
        self._walk: asyncio.Task[None] | None = None

    async def run(self, op: AgentOp, concurrency: Concurrency, tell: Tell) -> OpOutcome:
        """Run an operation to its end; `tell` is given how far one that takes long has come."""
        if op.waits_for_index:
            await self._walk_disk()
        if op.kind == agent_op.INDEX_REPO:
            return await self._index(op, tell)
        if op.kind == agent_op.SEMANTIC:
            outcome = await self._semantic(op, concurrency)
        else:
            name, arguments = _request(op, self._target)
            outcome = await self._call(name, arguments)
        if isinstance(outcome.error, NotGit) and op.kind == agent_op.GIT_STATUS:
            return OpOutcome(result=TypedResult(op_id=op.op_id, type="GitStatus", value=_NO_GIT))
        if outcome.error is not None or outcome.result is None:
            return OpOutcome(error=outcome.error)
        found = outcome.result.model_dump(mode="json")
        made = answer(op, self._target, found)
        # As the log would: the checksum is of what is recorded.
        value = self._redactor.json(made.value)
        result = TypedResult(op_id=op.op_id, type=made.type, value=value, truncated=made.truncated)
        return OpOutcome(result=result, partial=str(found.get("partial") or ""))

    async def _walk_disk(self) -> None:
        """Have the index look at the disk once before anything is asked of it: a file may have just been written."""
        if self._walk is None:
            self._walk = asyncio.ensure_future(self._walk_once())
        # Others wait for it too: one that is cancelled does not end it.
        await asyncio.shield(self._walk)

    async def _walk_once(self) -> None:
        strict: JsonObject = {"query": _RARE, "mode": "literal", "limit": 1, "fresh": "strict"}
        await self._call("search", {**strict, **self._target.scope})

    async def _index(self, op: AgentOp, tell: Tell) -> OpOutcome:
        """Wait until text and symbols answer; report what is still behind after many tries."""
        partial, error = "", None
        for _ in range(_INDEX_TRIES):
            outcome = await self._call("symbol.most_used", {"limit": 1, **self._target.scope})
            error = outcome.error
            if error is not None and not isinstance(error, IndexNotReady):
                return OpOutcome(error=error)
            if outcome.result is not None:
                found = outcome.result.model_dump(mode="json")
                partial = str(found.get("partial") or "")
                if not partial:
                    break
            await tell(partial or (error.message if error is not None else ""))
        if error is not None:
            return OpOutcome(error=error)
        value: JsonObject = {"codeFiles": found["code_files"], "ready": not partial}
        return OpOutcome(result=TypedResult(op_id=op.op_id, type="IndexStatus", value=value), partial=partial)

    async def _semantic(self, op: AgentOp, concurrency: Concurrency) -> Outcome:
        """Search by meaning; what is more than one page goes on with its cursor."""
        wanted = min(_int(op.params.get("k"), 10), concurrency.op_caps[SEMANTIC_TOP_K])
        arguments: JsonObject = {
            "query": op.params["query"],
            "mode": "semantic",
            "context": _CONTEXT_LINES,
            "paths": self._target.paths,
            **self._target.scope,
        }
        outcome = await self._call("search", {**arguments, "limit": min(wanted, _PAGE)})
        if outcome.result is None or wanted <= _PAGE:
            return outcome
        first = outcome.result.model_dump(mode="json")
        if (cursor := first["pagination"].get("next_cursor")) is None:
            return outcome
        rest = await self._call("search", {**arguments, "limit": wanted - _PAGE, "cursor": cursor})
        if rest.result is None:
            return rest
        both = {**first, "results": [*first["results"], *rest.result.model_dump(mode="json")["results"]]}
        return Outcome(operation=outcome.operation, meta=outcome.meta, result=type(outcome.result).model_validate(both))

    async def _call(self, name: str, arguments: JsonObject) -> Outcome:
        return await self._door.call(name, arguments, self._caller)


def _request(op: AgentOp, target: Target) -> tuple[str, JsonObject]:
    """The operation that is called, and its arguments."""
    params, scope = op.params, target.scope
    match op.kind:
        case agent_op.LIST_DIR:
            return "list_dir", {"path": params["path"], "depth": params["depth"], "limit": _LISTED, **scope}
        case agent_op.GREP:
            prefix = params.get("pathPrefix")
            return "search", {
                "query": params["pattern"],
                "mode": "regex" if params.get("isRegex", True) else "literal",
                "paths": [prefix] if prefix else target.paths,
                "limit": min(_int(params.get("k"), 20), _PAGE),
                "context": _CONTEXT_LINES,
                **scope,
            }
        case agent_op.READ_SPAN:
            around = _int(params.get("context"), 0)
            span: JsonObject = {
                "path": params["path"],
                "start_line": max(1, _int(params["startLine"], 1) - around),
                "end_line": _int(params["endLine"], 1) + around,
            }
            return "read_files", {"ranges": [span], "include_metadata": True, **scope}
        case agent_op.SUMMARIZE:
            paths = params["paths"]
            assert isinstance(paths, (list, tuple))
            spans: list[JsonValue] = [{"path": path, "start_line": 1, "end_line": _SUMMARIZED_LINES} for path in paths]
            return "read_files", {"ranges": spans, **scope}
        case agent_op.GIT_STATUS:
            return "git.status", {**({"paths": [target.folder]} if target.folder else {}), **scope}
        case agent_op.COUNT_LINES:
            return "folder.make_up", {"folder": target.folder, "lines": True, **scope}
        case agent_op.MAP_REPO:
            parts: list[JsonValue] = ["structure", "test_layout", "dependencies"]
            return "map_repo", {"include": parts, "depth": 2, "budget": _MAP_BUDGET, **scope}
        case agent_op.ENTRY_POINTS:
            return "repo.entry_points", {"limit": 50 if target.folder else 20, **scope}
        case _:
            return "symbol.most_used", {"limit": _SYMBOLS, **scope}


def command(op: AgentOp, target: Target) -> tuple[str, JsonObject]:
    """The operation as a command of the specification: its case and fields."""
    params = dict(op.params)
    match op.kind:
        case agent_op.INDEX_REPO:
            return "indexBuild", {"maxConcurrency": None}
        case agent_op.LIST_DIR:
            return "fsListDir", params
        case agent_op.READ_SPAN:
            return "contentGetSpan", {"context": None, **params}
        case agent_op.GREP:
            return "searchGrep", {"pathPrefix": None, "isRegex": True, "flags": None, "k": 20, **params}
        case agent_op.SEMANTIC:
            return "searchSemantic", {"filters": None, **params}
        case agent_op.GIT_STATUS:
            return "gitStatus", {"path": target.folder}
        case kind:
            return kind, params


def _int(value: JsonValue, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default
