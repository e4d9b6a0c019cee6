"""The symbols of a file, and of the whole workspace."""

from codeplane.kernel.errors import NotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import INVALID_PARAMS, RpcError
from codeplane.surfaces.lsp.editor import Editor, range_of
from codeplane.surfaces.lsp.kinds import symbol_kind

_MAX_FOUND = 200


class Symbols:
    """Answers the requests for outlines and for symbols by name."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    async def document_symbols(self, params: JsonObject) -> JsonValue:
        """Return the definitions of a file, nested where the client nests them."""
        place = self._editor.place(params)
        if place is None:
            return []
        try:
            answer = await self._editor.ask("symbol.outline", place, {"detail": False}, of="documentSymbol")
        except NotFound:
            return []
        entries = answer["entries"]
        assert isinstance(entries, list), "an outline has entries"
        if self._editor.features.nests_symbols:
            return _nested([entry for entry in entries if isinstance(entry, dict)])
        uri = self._editor.folders.uri(place.workspace, place.path)
        return [_flat(entry, entries, uri) for entry in entries if isinstance(entry, dict)]

    async def workspace_symbols(self, params: JsonObject) -> JsonValue:
        """Return the definitions whose names are like a query."""
        query = params.get("query")
        if not isinstance(query, str):
            raise RpcError(INVALID_PARAMS, "`query` has to be a text")
        if not query.strip():
            return []
        arguments = {"query": query[:500], "limit": _MAX_FOUND, "columns": self._editor.features.encoding}
        answer = await self._editor.plane.call("symbol.find", arguments)
        await self._editor.flag(answer, "workspace/symbol")
        listed = answer["symbols"]
        assert isinstance(listed, list), "an answer has symbols"
        return [
            {
                "name": symbol["name"],
                "kind": symbol_kind(str(symbol["kind"])),
                "location": self._editor.location("", symbol),
                "containerName": str(symbol["qualified_name"]).rpartition(".")[0],
            }
            for symbol in listed
            if isinstance(symbol, dict)
        ]


def _nested(entries: list[JsonObject]) -> list[JsonValue]:
    shown: list[JsonObject] = []
    tops: list[JsonValue] = []
    for entry in entries:
        name, whole = _ranges(entry)
        symbol: JsonObject = {
            "name": _name(entry),
            "kind": symbol_kind(str(entry["kind"])),
            "range": whole,
            "selectionRange": name,
        }
        shown.append(symbol)
        container = entry["container"]
        if isinstance(container, int) and 0 <= container < len(shown) - 1:
            children = shown[container].setdefault("children", [])
            assert isinstance(children, list), "children are a list"
            children.append(symbol)
        else:
            tops.append(symbol)
    return tops


def _flat(entry: JsonObject, entries: list[JsonValue], uri: str) -> JsonObject:
    container = entry["container"]
    around = entries[container] if isinstance(container, int) and container >= 0 else None
    symbol: JsonObject = {
        "name": _name(entry),
        "kind": symbol_kind(str(entry["kind"])),
        "location": {"uri": uri, "range": _ranges(entry)[1]},
    }
    if isinstance(around, dict):
        symbol["containerName"] = around["name"]
    return symbol


def _name(entry: JsonObject) -> str:
    # Clients refuse a symbol without a name, such as an empty heading.
    return str(entry["name"]).strip() or str(entry["kind"])


def _ranges(entry: JsonObject) -> tuple[JsonObject, JsonObject]:
    """Return the ranges of the name and of all of a definition, which by the protocol holds the name."""
    name, whole = entry["name_span"], entry["span"]
    assert isinstance(name, dict) and isinstance(whole, dict), "a definition has spans"
    start = min((_start(name), _start(whole)))
    end = max((_end(name), _end(whole)))
    around: JsonObject = {"line": start[0], "column": start[1], "end_line": end[0], "end_column": end[1]}
    return range_of(name), range_of(around)


def _start(span: JsonObject) -> tuple[int, int]:
    line, column = span["line"], span["column"]
    assert isinstance(line, int) and isinstance(column, int), "spans are numbers"
    return line, column


def _end(span: JsonObject) -> tuple[int, int]:
    line, column = span["end_line"], span["end_column"]
    assert isinstance(line, int) and isinstance(column, int), "spans are numbers"
    return line, column
