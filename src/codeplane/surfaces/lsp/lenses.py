"""How often definitions are referred to, and which tests reach them, above each of them."""

import asyncio

from codeplane.kernel.errors import CodePlaneError, NotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import INVALID_PARAMS, RpcError
from codeplane.surfaces.lsp.commands import RUN_TESTS
from codeplane.surfaces.lsp.editor import Editor, range_of
from codeplane.surfaces.lsp.folders import FilePlace

_SHOWN = frozenset({"class", "function", "method", "interface", "struct", "trait", "enum", "constructor"})
_MAX_LENSES = 1_000
_MAX_COUNTED = 2_000
_MAX_FILES = 50
_SURE = ("PROVEN", "STRONG")


class Lenses:
    """Shows a lens for each definition, and counts when the client looks at it."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._reaching: dict[str, asyncio.Future[int]] = {}

    async def lenses(self, params: JsonObject) -> JsonValue:
        """Return two lenses without a count for each definition of a file."""
        place = self._editor.place(params)
        if place is None:
            return []
        # A client that asks for lenses has changed the file, or looks at it for the first time.
        self._reaching.pop(place.path, None)
        try:
            answer = await self._editor.ask("symbol.outline", place, {"detail": False}, of="codeLens")
        except NotFound:
            return []
        entries = answer["entries"]
        found: list[JsonValue] = []
        for entry in entries if isinstance(entries, list) else ():
            assert isinstance(entry, dict) and isinstance(entry["name_span"], dict), "an entry has a span"
            if entry["kind"] in _SHOWN and len(found) < _MAX_LENSES:
                data: JsonObject = {"workspace": place.workspace, "path": place.path, "span": entry["name_span"]}
                found.append({"range": range_of(entry["name_span"]), "data": data})
                if not place.workspace:
                    of_tests: JsonObject = {**data, "span": entry["span"], "tests": True}
                    found.append({"range": range_of(entry["name_span"]), "data": of_tests})
        return found

    async def resolve(self, lens: JsonObject) -> JsonValue:
        """Return a lens with the number of its references, by certainty, or of the tests that reach it."""
        data = lens.get("data")
        span = data.get("span") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(span, dict):
            raise RpcError(INVALID_PARAMS, "the lens has lost its data")
        place = FilePlace(workspace=str(data.get("workspace", "")), path=str(data.get("path", "")))
        if data.get("tests") is True:
            return {**lens, "command": await self._tests(place, span)}
        arguments = {"line": span.get("line"), "column": span.get("column"), "declaration": False}
        sure = possible = 0
        more = ""
        async for part in self._editor.ask_all("symbol.references", place, arguments):
            listed = part["places"]
            for each in listed if isinstance(listed, list | tuple) else ():
                assert isinstance(each, dict), "a place is an object"
                sure += each["tier"] in _SURE
                possible += each["tier"] not in _SURE
            if sure + possible > _MAX_COUNTED and not part["done"]:
                more = "+"
                break
            more = more or ("+" if part.get("cut") or part.get("partial") else "")
        noun = "reference" if sure == 1 and not more else "references"
        title = f"{sure}{more} {noun}" + (f", {possible}{more} possible" if possible else "")
        return {**lens, "command": {"title": title, "command": ""}}

    async def _tests(self, place: FilePlace, span: JsonObject) -> JsonObject:
        """Return the command that runs the tests which reach a definition: the nearest, where they are many."""
        waiting = self._reaching.get(place.path)
        if waiting is None:
            if len(self._reaching) >= _MAX_FILES:
                self._reaching.clear()
            waiting = self._reaching[place.path] = asyncio.ensure_future(self._count_reaching(place.path))
        # What one lens waits for, the others of its file wait for too: its client ends its own question alone.
        total = await asyncio.shield(waiting)
        if not total:
            return {"title": "no test reaches it", "command": ""}
        title = f"{total} test targets reach it" if total != 1 else "1 test target reaches it"
        return {"title": title, "command": RUN_TESTS, "arguments": [place.path, span.get("line"), span.get("end_line")]}

    async def _count_reaching(self, path: str) -> int:
        try:
            found = await self._editor.plane.call("test.reaching", {"path": path})
        except CodePlaneError:
            # What was never saved is in no index.
            return 0
        total = found["total"]
        return total if isinstance(total, int) else 0
