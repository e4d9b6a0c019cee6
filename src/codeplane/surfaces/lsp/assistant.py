"""CodePlane's own methods: questions about the repository, and tasks with progress."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from codeplane.kernel.errors import CapabilityDenied, CodePlaneError, InvalidArgument, NotFound, PolicyDenied
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import INVALID_PARAMS, RpcError
from codeplane.surfaces.lsp.approvals import ask_about
from codeplane.surfaces.lsp.editor import Editor

_MAX_QUESTION = 4000
_MAX_TASKS = 20
_MAX_STEPS = 200
_TURN_SEC = 600
# For each list: the operation, where its rows are, and what of them is shown.
_LISTS = {
    "approvals": ("approval.list", "items", "deterministic_summary", "status"),
    "threads": ("thread.list", "results", "title", "status"),
    "changes": ("mutation.list", "mutations", "what", "state"),
}
_STATUS = {
    "turn.queued": "pending",
    "turn.started": "in_progress",
    "turn.resumed": "in_progress",
    "turn.paused": "in_progress",
    "turn.completed": "completed",
    "turn.failed": "failed",
}


@dataclass(slots=True, kw_only=True)
class _Task:
    """A task of this client, and what is known of it."""

    turn_id: str
    thread_id: str
    status: str = "pending"
    steps: dict[str, JsonObject] = field(default_factory=dict)
    watching: "asyncio.Task[None] | None" = None


class Assistant:
    """Answers questions and follows tasks in the name of one client."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._tasks: dict[str, _Task] = {}

    async def ask(self, params: JsonObject) -> JsonValue:
        """Answer a question: by a turn where a model may be asked, else from the index; with the places it found."""
        question = params.get("question")
        if not isinstance(question, str) or not question.strip():
            raise RpcError(INVALID_PARAMS, "`question` has to be a text")
        context = params.get("context")
        around = await self._around(context if isinstance(context, dict) else {})
        found = await self._editor.plane.call("search", {"query": question[:_MAX_QUESTION], "limit": 8})
        references = [*around, *self._hits(found)]
        note = ""
        try:
            answer = await self._ask_assistant(question, around)
        except (CapabilityDenied, PolicyDenied) as refusal:
            answer = _from_index(references)
            note = f"this is what the index finds; an assistant was not asked: {refusal.message}"
        caveat = found.get("partial")
        return {
            "answer": "\n\n".join(filter(None, (answer, note, str(caveat) if caveat else ""))),
            "references": references,
        }

    async def execute_task(self, params: JsonObject) -> JsonValue:
        """Begin a task; its progress comes as `$/codeplane/taskProgress`."""
        task = params.get("task")
        if not isinstance(task, str) or not task.strip():
            raise RpcError(INVALID_PARAMS, "`task` has to be a text")
        if params.get("planId"):
            raise InvalidArgument("there are no plans yet, so planId cannot be taken", hint="send the task alone")
        running = [each for each in self._tasks.values() if each.status in ("pending", "in_progress")]
        if len(running) >= _MAX_TASKS:
            raise InvalidArgument(f"{_MAX_TASKS} tasks of this editor are under way", hint="wait for one, or cancel it")
        context = params.get("context")
        around = await self._around(context if isinstance(context, dict) else {})
        thread = await self._editor.plane.call("thread.create", {"title": task.strip().splitlines()[0][:80]})
        sent = await self._editor.plane.call(
            "turn.send", {"thread_id": thread["thread_id"], "user_text": _with_places(task, around)}
        )
        known = _Task(turn_id=str(sent["turn_id"]), thread_id=str(thread["thread_id"]))
        self._tasks[known.turn_id] = known
        known.watching = asyncio.ensure_future(self._follow(known, sent))
        return {"taskId": known.turn_id, "threadId": known.thread_id, "status": "pending"}

    async def cancel_task(self, params: JsonObject) -> JsonValue:
        """End a task."""
        task_id = params.get("taskId")
        if not isinstance(task_id, str):
            raise RpcError(INVALID_PARAMS, "`taskId` has to be the id of a task")
        ended = await self._editor.plane.call("turn.cancel", {"turn_id": task_id, "reason": "cancelled in the editor"})
        return {"taskId": task_id, "status": str(ended["status"]).lower()}

    async def list_rows(self, params: JsonObject) -> JsonValue:
        """Return the rows of a list that editors show beside the text."""
        name = str(params.get("list"))
        if name not in _LISTS:
            raise RpcError(INVALID_PARAMS, f"`list` has to be one of {', '.join(_LISTS)}")
        operation, field_name, label, description = _LISTS[name]
        answer = await self._editor.plane.call(operation, {"limit": 50})
        listed = answer.get(field_name)
        rows = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        return {
            "items": [
                {"label": str(row.get(label) or ""), "description": str(row.get(description) or "")} for row in rows
            ]
        }

    async def end(self) -> None:
        """Stop following; the tasks go on."""
        watching = [task.watching for task in self._tasks.values() if task.watching is not None]
        for each in watching:
            each.cancel()
        if watching:
            await asyncio.wait(watching)

    async def _ask_assistant(self, question: str, around: list[JsonObject]) -> str:
        thread = await self._editor.plane.call("thread.create", {"title": question.strip().splitlines()[0][:80]})
        turn = await self._editor.plane.call(
            "turn.send",
            {
                "thread_id": thread["thread_id"],
                "user_text": _with_places(question, around),
                "wait_sec": _TURN_SEC,
            },
        )
        answer = str(turn.get("assistant_message") or "")
        return answer or f"the turn is {turn['status']}: {turn.get('message') or 'see cpl work'}"

    async def _follow(self, task: _Task, sent: JsonObject) -> None:
        arguments: Mapping[str, object] = {
            "thread_id": task.thread_id,
            "turn_id": task.turn_id,
            "from_sequence": sent["from_sequence"],
        }
        try:
            async for item in self._editor.plane.stream("thread.watch", arguments):
                event = item.get("event")
                if isinstance(event, dict):
                    await self._take(task, event)
        except CodePlaneError as error:
            await self._tell(task, f"its progress cannot be followed: {error.message}")

    async def _take(self, task: _Task, event: JsonObject) -> None:
        kind, payload = str(event.get("type")), event.get("payload")
        payload = payload if isinstance(payload, dict) else {}
        task.status = _STATUS.get(kind, task.status)
        if kind.startswith("tool."):
            self._note_step(task, kind.partition(".")[2], payload)
            await self._tell(task, None)
        elif kind in _STATUS:
            await self._tell(task, str(payload.get("message") or payload.get("reason") or kind.partition(".")[2]))
            if kind == "turn.paused":
                await self._ask_person(task)
        elif kind == "assistant.message_committed":
            await self._tell(task, str(payload.get("text") or payload.get("content") or "answered")[:2000])

    async def _ask_person(self, task: _Task) -> None:
        """Ask about what a paused task waits for, where this editor may."""
        turn = await self._editor.plane.call("turn.show", {"turn_id": task.turn_id})
        pending = turn.get("pending_action_ids")
        for action_id in pending if isinstance(pending, list) else ():
            await self._tell(task, await ask_about(self._editor.peer, self._editor.plane, str(action_id)))

    def _note_step(self, task: _Task, state: str, payload: JsonObject) -> None:
        name = str(payload.get("tool") or payload.get("operation") or payload.get("name") or "tool")
        key = str(payload.get("tool_call_id") or payload.get("step") or payload.get("call_id") or name)
        if key in task.steps or len(task.steps) < _MAX_STEPS:
            known = task.steps.get(key, {"tool": name})
            tool = name if name != "tool" else known["tool"]
            task.steps[key] = {**known, "tool": tool, "status": _step_status(state)}

    async def _tell(self, task: _Task, message: str | None) -> None:
        steps = list(task.steps.values())
        finished = sum(step["status"] == "completed" for step in steps)
        params: JsonObject = {"taskId": task.turn_id, "status": task.status, "toolExecutions": list(steps)}
        if task.status == "completed":
            params["progress"] = 1.0
        elif steps:
            params["progress"] = finished / (len(steps) + 1)
        if message:
            params["message"] = message
        await self._editor.peer.notify("$/codeplane/taskProgress", params)

    async def _around(self, context: JsonObject) -> list[JsonObject]:
        """Return what the person looks at: the innermost definition around the selection, or the file."""
        active, selection = context.get("activeFile"), context.get("selection")
        if not isinstance(active, str):
            return []
        uri = active if "://" in active else self._editor.folders.uri("", active)
        place = self._editor.folders.place(uri)
        if place is None:
            return []
        start = selection.get("start") if isinstance(selection, dict) else None
        line = start.get("line") if isinstance(start, dict) else None
        try:
            outline = await self._editor.ask("symbol.outline", place, {}, of="ask")
        except NotFound:
            return []
        entries = outline["entries"]
        inside: JsonObject | None = None
        for entry in entries if isinstance(entries, list) and isinstance(line, int) else ():
            assert isinstance(entry, dict) and isinstance(entry["span"], dict), "an entry has a span"
            first, last = entry["span"]["line"], entry["span"]["end_line"]
            if isinstance(line, int) and isinstance(first, int) and isinstance(last, int) and first <= line + 1 <= last:
                inside = entry
        if inside is None:
            return [{"uri": uri, "path": place.path, "line": 1, "text": place.path}]
        span = inside["span"]
        assert isinstance(span, dict), "an entry has a span"
        return [{"uri": uri, "path": place.path, "line": span["line"], "text": str(inside["signature"])}]

    def _hits(self, found: JsonObject) -> list[JsonObject]:
        results = found.get("results")
        return [
            {
                "uri": self._editor.folders.uri("", str(hit["path"])),
                "path": hit["path"],
                "line": hit["line"],
                "text": str(hit["snippet"]).strip(),
            }
            for hit in (results if isinstance(results, list) else ())
            if isinstance(hit, dict)
        ]


def _step_status(state: str) -> str:
    return {"planned": "pending", "started": "in_progress"}.get(state, "completed")


def _with_places(text: str, around: list[JsonObject]) -> str:
    lines = [f"(the person looks at {place['path']}:{place['line']}: {place['text']})" for place in around]
    return "\n\n".join([text, *lines])


def _from_index(references: list[JsonObject]) -> str:
    if not references:
        return "nothing in the index fits the question"
    return "\n".join(f"{place['path']}:{place['line']}: {place['text']}" for place in references)
