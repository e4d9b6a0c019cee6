"""What a person can have done at a place, and what it does: through the journal, never as edits of the editor."""

from collections.abc import Awaitable, Callable

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import INVALID_PARAMS, RpcError
from codeplane.surfaces.lsp.diagnostics import Diagnostics
from codeplane.surfaces.lsp.editor import Editor, place_of
from codeplane.surfaces.lsp.progress import WorkProgress

_DELETE, _MOVE, _RENAME = "codeplane.delete", "codeplane.move", "codeplane.rename"
_UNDO, _TESTS = "codeplane.undo", "codeplane.runImpactedTests"
RUN_TESTS = "codeplane.runTests"
COMMANDS = (_DELETE, _MOVE, _RENAME, _UNDO, _TESTS, RUN_TESTS)
_INFO = 3
_MAX_SHOWN = 2000


class Commands:
    """Offers commands at a place, and runs them."""

    def __init__(self, editor: Editor, diagnostics: Diagnostics) -> None:
        self._editor = editor
        self._diagnostics = diagnostics
        self._runs: dict[str, Callable[[list[str], JsonValue], Awaitable[JsonObject]]] = {
            _DELETE: self._delete,
            _MOVE: self._move,
            _RENAME: self._rename,
            _UNDO: self._undo,
            _TESTS: self._run_impacted_tests,
            RUN_TESTS: self._run_reaching_tests,
        }

    async def actions(self, params: JsonObject) -> JsonValue:
        """Return what can be done at a place."""
        place = self._editor.place(params)
        if place is None or place.workspace:
            return []
        span = params.get("range")
        start = place_of(span.get("start") if isinstance(span, dict) else None)
        listed: list[JsonValue] = [
            _action("Undo CodePlane's last change", "source", _UNDO),
            _action("Run the tests that reach what changed", "source", _TESTS),
        ]
        answer = await self._editor.ask("symbol.at", place, {**start, "columns": "characters"}, of="codeAction")
        symbols = answer.get("definitions")
        if isinstance(symbols, list) and len(symbols) == 1 and isinstance(symbols[0], dict) and symbols[0].get("id"):
            symbol = symbols[0]
            name, uid = str(symbol["name"]), str(symbol["id"])
            listed.append(_action(f"Delete {name} if nothing refers to it", "refactor", _DELETE, uid))
            listed.append(_action(f"Move {name} to another module…", "refactor.move", _MOVE, uid))
            listed.append(_action(f"Rename {name} through CodePlane's journal…", "refactor.rewrite", _RENAME, uid))
        return listed

    async def execute(self, params: JsonObject) -> JsonValue:
        """Run a command and return what it says."""
        command, given = params.get("command"), params.get("arguments")
        run = self._runs.get(str(command))
        if run is None:
            raise RpcError(INVALID_PARAMS, f"there is no command {str(command)[:100]!r}")
        arguments = [str(each) for each in given] if isinstance(given, list) else []
        result = await run(arguments, params.get("workDoneToken"))
        message = str(result.get("title") or result.get("what") or result.get("status") or command)[:_MAX_SHOWN]
        await self._editor.peer.notify("window/showMessage", {"type": _INFO, "message": message})
        return result

    async def _delete(self, arguments: list[str], token: JsonValue) -> JsonObject:
        (symbol,) = _exactly(arguments, "the symbol")
        return await self._editor.plane.call("refactor.delete", {"target": symbol, "apply": True})

    async def _move(self, arguments: list[str], token: JsonValue) -> JsonObject:
        symbol, to_path = _exactly(arguments, "the symbol", "the path of the module it goes to")
        return await self._editor.plane.call("refactor.move", {"symbol": symbol, "to_path": to_path, "apply": True})

    async def _rename(self, arguments: list[str], token: JsonValue) -> JsonObject:
        symbol, new_name = _exactly(arguments, "the symbol", "its new name")
        return await self._editor.plane.call("refactor.rename", {"symbol": symbol, "new_name": new_name, "apply": True})

    async def _undo(self, arguments: list[str], token: JsonValue) -> JsonObject:
        return await self._editor.plane.call("undo", {"mutation_id": arguments[0] if arguments else ""})

    async def _run_impacted_tests(self, arguments: list[str], token: JsonValue) -> JsonObject:
        return await self._run_tests({"impacted": True}, token)

    async def _run_reaching_tests(self, arguments: list[str], token: JsonValue) -> JsonObject:
        path, line, end_line = _exactly(arguments, "a path", "the first line", "the last line of a definition")
        if not line.isdecimal() or not end_line.isdecimal():
            raise RpcError(INVALID_PARAMS, "lines have to be numbers")
        asked: JsonObject = {"path": path, "line": int(line), "end_line": int(end_line)}
        listed = (await self._editor.plane.call("test.reaching", asked))["targets"]
        targets: list[JsonValue] = [
            each["target_id"] for each in (listed if isinstance(listed, list) else ()) if isinstance(each, dict)
        ]
        if not targets:
            raise RpcError(INVALID_PARAMS, f"no test reaches {path}")
        return await self._run_tests({"targets": targets}, token)

    async def _run_tests(self, asked: JsonObject, token: JsonValue) -> JsonObject:
        async with WorkProgress(self._editor, token, "Running tests") as progress:
            result = await self._editor.plane.call("test.run", asked, on_progress=progress.report)
        self._diagnostics.look_at_all()
        return result


def _action(title: str, kind: str, command: str, *arguments: str) -> JsonObject:
    run: JsonObject = {"title": title, "command": command, "arguments": list(arguments)}
    return {"title": title, "kind": kind, "command": run}


def _exactly(arguments: list[str], *names: str) -> list[str]:
    if len(arguments) != len(names):
        raise RpcError(INVALID_PARAMS, f"the arguments have to be {' and '.join(names)}")
    return arguments
