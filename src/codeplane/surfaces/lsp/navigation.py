"""Where names are defined and used, and what they are."""

from collections.abc import AsyncIterator, Callable

from codeplane.kernel.errors import NotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import RpcError
from codeplane.surfaces.lsp.editor import REQUEST_FAILED, Editor, position_of, range_of
from codeplane.surfaces.lsp.kinds import symbol_kind

_SURE = ("PROVEN", "STRONG")
_READ, _WRITE = 2, 3


class Navigation:
    """Answers the requests that are about a name at a place."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    async def definition(self, params: JsonObject) -> JsonValue:
        """Return the definitions of a name."""
        return await self._symbols("definition", params, "definition")

    async def declaration(self, params: JsonObject) -> JsonValue:
        """Return where a name is brought into its file; else its definitions."""
        return await self._symbols("declaration", params, "definition")

    async def type_definition(self, params: JsonObject) -> JsonValue:
        """Return the class of a value."""
        return await self._symbols("typeDefinition", params, "type")

    async def implementation(self, params: JsonObject) -> JsonValue:
        """Return what builds on a class or overrides a method."""
        return await self._symbols("implementation", params, "implementation")

    async def hover(self, params: JsonObject) -> JsonValue:
        """Return what a name is."""
        answer = await self._at(params, "hover", "definition", detail=True)
        span = answer.get("name_span") if answer is not None else None
        if answer is None or not isinstance(span, dict):
            return None
        text = _hover_text(answer, markdown=self._editor.features.shows_markdown)
        kind = "markdown" if self._editor.features.shows_markdown else "plaintext"
        return {"contents": {"kind": kind, "value": text}, "range": range_of(span)} if text else None

    async def references(self, params: JsonObject) -> JsonValue:
        """Return the places that refer to a name, certain ones and possible ones, in parts if the client asks so."""
        context = params.get("context")
        declaration = not isinstance(context, dict) or context.get("includeDeclaration") is not False
        token = params.get("partialResultToken")
        found: list[JsonValue] = []
        async for part in self._references(params, "references", declaration=declaration):
            if token is not None and part:
                await self._editor.peer.notify("$/progress", {"token": token, "value": list(part)})
            else:
                found += part
        return found

    async def highlight(self, params: JsonObject) -> JsonValue:
        """Return the places in the same file that refer to a name for certain."""
        found: list[JsonValue] = []
        parts = self._references(params, "documentHighlight", declaration=True, only_file=True, write=_highlight)
        async for part in parts:
            found += part
        return found

    async def _symbols(self, of: str, params: JsonObject, want: str) -> JsonValue:
        answer = await self._at(params, of, want)
        place = self._editor.place(params)
        if answer is None or place is None:
            return None
        declared = _items(answer, "declarations") if of == "declaration" else []
        defined = _items(answer, "definitions")
        listed = declared or defined
        if not listed and answer.get("outside"):
            # What is not here can be shown where it is brought in.
            listed = _items(answer, "declarations")
        if not defined:
            await self._tell_unknown(answer, of)
        return [self._editor.location(place.workspace, symbol) for symbol in listed]

    async def _tell_unknown(self, answer: JsonObject, of: str) -> None:
        """Say why there is no answer; fail if that may be because the index is behind."""
        if answer.get("partial"):
            raise RpcError(REQUEST_FAILED, f"{of}: nothing found yet, {answer['partial']}")
        why = f"from outside this repository: {answer['outside']}" if answer.get("outside") else answer.get("unknown")
        if answer.get("name") and why:
            count = answer.get("candidate_count")
            near = f"; {count} definitions have the name: hover lists them" if count else ""
            note = f"{of} of {answer['name']} is not known: {why}{near}"
            await self._editor.peer.notify("$/codeplane/unknown", {"method": of, "message": note})

    async def _at(self, params: JsonObject, of: str, want: str, *, detail: bool = False) -> JsonObject | None:
        place = self._editor.place(params)
        if place is None:
            return None
        arguments = {**position_of(params), "want": want, "detail": detail}
        try:
            return await self._editor.ask("symbol.at", place, arguments, of=of)
        except NotFound:
            # A file without symbols has none to show; it is no failure of the request.
            return None

    async def _references(
        self,
        params: JsonObject,
        of: str,
        *,
        declaration: bool,
        only_file: bool = False,
        write: "Callable[[Editor, str, JsonObject], JsonValue] | None" = None,
    ) -> AsyncIterator[list[JsonValue]]:
        place = self._editor.place(params)
        if place is None:
            return
        write = write or _location
        arguments = {**position_of(params), "declaration": declaration, "only_file": only_file}
        try:
            total = left_out = 0
            async for part in self._editor.ask_all("symbol.references", place, arguments):
                listed = [write(self._editor, place.workspace, each) for each in _items(part, "places")]
                kept: list[JsonValue] = [each for each in listed if each is not None]
                total += len(kept)
                if kept:
                    yield kept
                left_out += len(listed) - len(kept) if write is _location else 0
                if part["done"]:
                    if left_out:
                        more = f"{left_out} further places may refer to it: possibleReferences lists them"
                        part = {**part, "cut": "; ".join(filter(None, (str(part.get("cut") or ""), more)))}
                    if not total and part.get("partial"):
                        raise RpcError(REQUEST_FAILED, f"{of}: nothing found yet, {part['partial']}")
                    await self._editor.flag(part, of)
        except NotFound:
            return


def _location(editor: Editor, workspace: str, place: JsonObject) -> JsonValue:
    if place["tier"] not in _SURE and not editor.features.lists_possible:
        return None
    return {"uri": editor.folders.uri(workspace, str(place["path"])), "range": _name_range(place)}


def _highlight(editor: Editor, workspace: str, place: JsonObject) -> JsonValue:
    if place["tier"] not in _SURE:
        return None
    return {"range": _name_range(place), "kind": _WRITE if place["role"] == "DEFINITION" else _READ}


def _name_range(place: JsonObject) -> JsonObject:
    return range_of({**place, "end_line": place["line"]})


def _hover_text(answer: JsonObject, *, markdown: bool) -> str:
    parts: list[str] = []
    for symbol in _items(answer, "definitions")[:3]:
        shown = str(symbol.get("signature") or f"{symbol['kind']} {symbol['qualified_name']}")
        parts.append(f"```\n{shown}\n```" if markdown else shown)
        if symbol.get("doc"):
            parts.append(str(symbol["doc"]))
        parts.append(_origin(symbol))
    if answer.get("outside"):
        parts.append(f"from outside this repository: {answer['outside']}")
    if answer.get("unknown"):
        parts.append(str(answer["unknown"]))
    candidates = _items(answer, "candidates")
    if candidates:
        parts.append(f"definitions with this name ({answer['candidate_count']}):")
        parts += [f"- {_origin(symbol)}" for symbol in candidates]
    return "\n\n".join(parts)


def _origin(symbol: JsonObject) -> str:
    span = symbol["name_span"]
    assert isinstance(span, dict), "a symbol has a span"
    kind = symbol_kind(str(symbol["kind"]))
    assert kind, "every kind has a number"
    return f"{symbol['path']}:{span['line']} · {symbol['kind']} · {str(symbol['tier']).lower()}"


def _items(answer: JsonObject, name: str) -> list[JsonObject]:
    listed = answer.get(name)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list | tuple) else []
