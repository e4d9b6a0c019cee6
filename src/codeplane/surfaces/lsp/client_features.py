"""What a client can do, from the parameters of its `initialize`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.lsp.text import ENCODINGS, Encoding

_MAX_NAME = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFeatures:
    """The features of a client that change what it is answered."""

    name: str
    encoding: Encoding
    nests_symbols: bool
    shows_markdown: bool
    shows_progress: bool
    applies_annotations: bool
    takes_document_changes: bool
    approves_tools: bool
    folds_lines_only: bool
    refreshes: frozenset[str]
    lists_possible: bool
    """Whether references list uncertain places; otherwise only their number is reported."""

    @classmethod
    def of(cls, params: JsonObject) -> "ClientFeatures":
        """Read them; a missing feature counts as unsupported."""
        capabilities = _object(params.get("capabilities"))
        text, workspace = _object(capabilities.get("textDocument")), _object(capabilities.get("workspace"))
        edits = _object(workspace.get("workspaceEdit"))
        hover = _object(text.get("hover")).get("contentFormat")
        name = str(_object(params.get("clientInfo")).get("name") or "")[:_MAX_NAME]
        return cls(
            name="".join(char if char.isprintable() else "?" for char in name) or "editor",
            encoding=_encoding(_object(capabilities.get("general")).get("positionEncodings")),
            nests_symbols=_object(text.get("documentSymbol")).get("hierarchicalDocumentSymbolSupport") is True,
            shows_markdown=not isinstance(hover, list) or "markdown" in hover,
            shows_progress=_object(capabilities.get("window")).get("workDoneProgress") is True,
            applies_annotations=isinstance(edits.get("changeAnnotationSupport"), Mapping),
            takes_document_changes=edits.get("documentChanges") is True,
            approves_tools=_codeplane(capabilities).get("approveTool") is True,
            folds_lines_only=_object(text.get("foldingRange")).get("lineFoldingOnly") is True,
            refreshes=frozenset(
                kind
                for kind in ("codeLens", "semanticTokens", "diagnostics")
                if _object(workspace.get(kind)).get("refreshSupport") is True
            ),
            lists_possible=_object(params.get("initializationOptions")).get("possibleReferences") is True,
        )


def _encoding(offered: JsonValue) -> Encoding:
    """Return the first encoding of the client's that is known here; without any, the protocol's own."""
    for name in offered if isinstance(offered, list) else ():
        if name in ENCODINGS:
            return cast(Encoding, name)
    return "utf-16"


def _codeplane(capabilities: JsonObject) -> JsonObject:
    return _object(_object(capabilities.get("experimental")).get("codeplane"))


def _object(value: JsonValue) -> JsonObject:
    return cast(JsonObject, value) if isinstance(value, Mapping) else {}
