"""How files are built: folds, selections and the kinds of names."""

from codeplane.kernel.errors import NotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import INVALID_PARAMS, RpcError
from codeplane.surfaces.lsp.editor import Editor, place_of, range_of

# In the order of the names that operations give, which is by alphabet, with `parameter` last.
TOKEN_TYPES = (
    "class", "enum", "enumMember", "function", "interface", "macro", "method", "namespace", "property", "struct",
    "type", "variable", "parameter",
)  # fmt: skip
TOKEN_MODIFIERS = ("declaration",)
_FOLD_KINDS = {"comment": "comment", "imports": "imports"}


class Structure:
    """Answers the requests about the syntax of a file."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    async def folding_ranges(self, params: JsonObject) -> JsonValue:
        """Return what can be folded."""
        answer = await self._ask("syntax.folds", params, "foldingRange")
        return [_fold(fold) for fold in _objects(answer, "folds")]

    async def selection_ranges(self, params: JsonObject) -> JsonValue:
        """Return for each position the stretches around it."""
        positions = params.get("positions")
        if not isinstance(positions, list) or not positions:
            raise RpcError(INVALID_PARAMS, "`positions` has to be a list of positions")
        places = [place_of(position) for position in positions]
        answer = await self._ask("syntax.selection", params, "selectionRange", places=places)
        listed = answer.get("selections")
        found: list[JsonValue] = []
        for position, spans in zip(positions, listed if isinstance(listed, list) else (), strict=False):
            nested: JsonObject | None = None
            for span in reversed(spans) if isinstance(spans, list) else ():
                assert isinstance(span, dict), "a selection is a span"
                nested = {"range": range_of(span), **({"parent": nested} if nested is not None else {})}
            found.append(nested or {"range": {"start": position, "end": position}})
        return found or None

    async def semantic_tokens(self, params: JsonObject) -> JsonValue:
        """Return the kinds of the names in a file, each place as a step from the one before."""
        answer = await self._ask("syntax.names", params, "semanticTokens")
        rows = answer.get("rows")
        kinds = answer.get("kinds")
        known = [TOKEN_TYPES.index(str(kind)) for kind in kinds] if isinstance(kinds, list) else []
        data: list[JsonValue] = []
        last_line, last_column = 1, 1
        for row in rows if isinstance(rows, list) else ():
            line, column, length, kind, declared = row
            step = column - last_column if line == last_line else column - 1
            data += [line - last_line, step, length, known[kind], int(declared)]
            last_line, last_column = line, column
        return {"data": data}

    async def _ask(self, name: str, params: JsonObject, of: str, **arguments: object) -> JsonObject:
        place = self._editor.place(params)
        if place is None:
            return {}
        try:
            return await self._editor.ask(name, place, arguments, of=of)
        except NotFound:
            # A file without a grammar has no syntax.
            return {}


def _fold(fold: JsonObject) -> JsonValue:
    first, last = fold["line"], fold["end_line"]
    assert isinstance(first, int) and isinstance(last, int), "folds are lines"
    kind = _FOLD_KINDS.get(str(fold["kind"]))
    return {"startLine": first - 1, "endLine": last - 1, **({"kind": kind} if kind else {})}


def _objects(answer: JsonObject, name: str) -> list[JsonObject]:
    listed = answer.get(name)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
