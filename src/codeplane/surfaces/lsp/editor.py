"""One client's editor as its features see it: documents, folders, calls and notifications."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from codeplane.kernel.errors import TooLarge
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import INVALID_PARAMS, RpcError
from codeplane.surfaces.json_rpc.peer import Peer
from codeplane.surfaces.lsp.client_features import ClientFeatures
from codeplane.surfaces.lsp.documents import Documents
from codeplane.surfaces.lsp.folders import FilePlace, Folders
from codeplane.surfaces.lsp.plane_calls import PlaneCalls

REQUEST_FAILED = -32803
_WARNING = 2
# A path of 4,096 bytes, all of them escaped, and what is around it.
_LONGEST_URI = 16_384
_CAVEATS = ("partial", "cut")


@dataclass(slots=True, kw_only=True)
class Editor:
    """What the features of one connection share."""

    peer: Peer
    plane: PlaneCalls
    features: ClientFeatures
    folders: Folders
    documents: Documents = field(default_factory=Documents)

    def place(self, params: JsonObject) -> FilePlace | None:
        """Return the file that parameters name; None if it is in no workspace."""
        return self.folders.place(uri_of(params))

    async def ask(self, name: str, place: FilePlace, arguments: Mapping[str, object], *, of: str) -> JsonObject:
        """Return an operation's answer about a file, under the open documents; `of` is the method that asks.

        An incomplete answer comes with a notification that says so.
        """
        answer = await self.plane.call(name, {**self._about(place), **arguments})
        await self.flag(answer, of)
        return answer

    async def ask_all(self, name: str, place: FilePlace, arguments: Mapping[str, object]) -> AsyncIterator[JsonObject]:
        """Yield the parts of an operation's answer about a file, under the open documents."""
        async for part in self.plane.stream(name, {**self._about(place), **arguments}):
            yield part

    async def flag(self, answer: JsonObject, of: str) -> None:
        """Tell the client what an answer does not know; RequestFailed for one that is empty because of it."""
        caveats = [str(answer[name]) for name in _CAVEATS if answer.get(name)]
        stale = answer.get("stale")
        if isinstance(stale, list | tuple) and stale:
            caveats.append(f"changed meanwhile: {', '.join(map(str, stale[:5]))}")
        if caveats:
            text = "; ".join(caveats)
            await self.peer.notify("$/codeplane/partial", {"method": of, "message": text})
            await self.peer.notify("window/logMessage", {"type": _WARNING, "message": f"{of} is partial: {text}"})

    def _about(self, place: FilePlace) -> dict[str, object]:
        if self.documents.too_large(self.folders.uri(place.workspace, place.path)):
            raise TooLarge(f"{place.path} is larger than open documents may be", hint="search finds its text")
        return {
            "workspace": place.workspace,
            "path": place.path,
            "columns": self.features.encoding,
            "documents": self.documents.overlay(place.workspace, place.path),
        }

    def location(self, workspace: str, place: JsonObject, span: str = "name_span") -> JsonObject:
        """Return where a symbol is, by its name or by another of its spans."""
        found = place[span]
        assert isinstance(found, dict), "a symbol has spans"
        return {"uri": self.folders.uri(workspace, str(place["path"])), "range": range_of(found)}


def uri_of(params: JsonObject) -> str:
    """Return the address of the document that parameters name."""
    document = params.get("textDocument")
    uri = document.get("uri") if isinstance(document, dict) else None
    if not isinstance(uri, str):
        raise RpcError(INVALID_PARAMS, "`textDocument.uri` has to be a text")
    if len(uri) > _LONGEST_URI:
        raise RpcError(INVALID_PARAMS, f"`textDocument.uri` is longer than {_LONGEST_URI} characters")
    return uri


def position_of(params: JsonObject, name: str = "position") -> dict[str, object]:
    """Return the position that parameters name, as operations count: from 1."""
    return place_of(params.get(name))


def place_of(position: JsonValue) -> dict[str, object]:
    """Return a position as operations count."""
    line, character = (position.get("line"), position.get("character")) if isinstance(position, dict) else (None, None)
    if not _is_count(line) or not _is_count(character):
        raise RpcError(INVALID_PARAMS, "a position has to have a line and a character, from 0")
    assert isinstance(line, int) and isinstance(character, int), "both are counts"
    # Beyond what any text has is the same as at its end.
    return {"line": min(line, 2**31 - 1) + 1, "column": min(character, 2**31 - 1) + 1}


def range_of(span: JsonObject) -> JsonObject:
    """Return a span as the protocol writes it."""
    line, column, end_line, end_column = (span[name] for name in ("line", "column", "end_line", "end_column"))
    assert isinstance(line, int) and isinstance(column, int), "spans are numbers"
    assert isinstance(end_line, int) and isinstance(end_column, int), "spans are numbers"
    return {
        "start": {"line": line - 1, "character": column - 1},
        "end": {"line": end_line - 1, "character": end_column - 1},
    }


def _is_count(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
