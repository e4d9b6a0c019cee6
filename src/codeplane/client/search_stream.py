"""The pages of a search as they are found, over lost connections."""

import uuid
from collections.abc import Generator
from dataclasses import dataclass

from codeplane.client.errors import to_exception
from codeplane.client.records import list_field, number_field, object_field, text_field
from codeplane.client.resuming_stream import SILENCE_SEC, Reconnection, ResumingStream
from codeplane.client.wire import Wire
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue

_PATH = "/codeplane.v1.OperationService/Stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A line that answers; `symbol` is the definition that it is, or belongs to, if there is one."""

    path: str
    line: int
    column: int
    snippet: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    score: float
    match_type: str
    symbol: str
    symbol_kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """Some of the hits; `total` counts all of them, and `is_exact` says whether it counts to the end.

    `partial` says why something may be missing, `stale` names files that changed meanwhile; both are empty as a rule.
    """

    hits: tuple[SearchHit, ...]
    mode: str
    total: int
    is_exact: bool
    epoch: int
    commit: str
    partial: str
    stale: tuple[str, ...]


class SearchStream(ResumingStream[SearchPage]):
    """Pages of a search, each exactly once; after a lost connection it goes on behind the last one.

    Raises CursorInvalid or CursorExpired when the server was restarted meanwhile: then search again.
    """

    def __init__(self, wire: Wire, *, arguments: JsonObject, most: int, reconnection: Reconnection) -> None:
        """`most` is how many hits are wanted in all."""
        super().__init__(wire, reconnection=reconnection)
        self._arguments: JsonObject = {**arguments, "most": most}
        self._left = most
        # A cursor is good in one session, which calls with the same id share.
        self._connection_id = str(uuid.uuid4())
        self._cursor = ""
        self._is_over = False

    def _read_connection(self) -> Generator[SearchPage, None, None]:
        if self._is_over:
            return
        arguments: JsonObject = {**self._arguments, **({"cursor": self._cursor} if self._cursor else {})}
        request: JsonObject = {
            "operation": "search.stream",
            "arguments": arguments,
            "connectionId": self._connection_id,
        }
        for reply in self._wire.stream(_PATH, request, silence_sec=SILENCE_SEC):
            if self._handle.is_closed():
                return
            if reply.error is not None:
                raise to_exception(reply.error)
            if reply.end:
                return
            item = object_field(reply.message or {}, "item")
            page = _page(item)
            self._cursor = text_field(object_field(item, "pagination"), "next_cursor")
            self._left -= len(page.hits)
            # The server's own end may be lost with the connection.
            self._is_over = not self._cursor or self._left <= 0
            self._failures = 0
            yield page
            if self._is_over:
                return

    def _lost(self, error: CodePlaneError) -> CodePlaneError:
        return type(error)(
            f"{error.message} (tried {self._failures} times)",
            hint="start the server (cpl up), then search again",
        )


def _page(item: JsonObject) -> SearchPage:
    return SearchPage(
        hits=tuple(map(_hit, list_field(item, "results"))),
        mode=text_field(item, "mode"),
        total=number_field(item, "total"),
        is_exact=item.get("total_is_exact") is True,
        epoch=number_field(item, "epoch"),
        commit=text_field(item, "commit"),
        partial=text_field(item, "partial"),
        stale=_texts(item.get("stale")),
    )


def _hit(hit: JsonObject) -> SearchHit:
    symbol, score = object_field(hit, "symbol"), hit.get("score")
    return SearchHit(
        path=text_field(hit, "path"),
        line=number_field(hit, "line"),
        column=number_field(hit, "column"),
        snippet=text_field(hit, "snippet"),
        before=_texts(hit.get("before")),
        after=_texts(hit.get("after")),
        score=float(score) if isinstance(score, int | float) else 0.0,
        match_type=text_field(hit, "match_type"),
        symbol=text_field(symbol, "name"),
        symbol_kind=text_field(symbol, "kind"),
    )


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(str(text) for text in value) if isinstance(value, list) else ()
