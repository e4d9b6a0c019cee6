"""The documents that a client has open."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.kernel.document_limits import MAX_CHARACTERS, MAX_DOCUMENTS
from codeplane.kernel.errors import TooLarge
from codeplane.kernel.json import JsonValue
from codeplane.kernel.open_document import OpenDocument
from codeplane.surfaces.lsp.text import Encoding, apply_changes, is_whole

# Of all documents of a client together.
MAX_ALL_CHARACTERS = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An open document: its text in the client's newest version."""

    uri: str
    path: str | None
    """Its path in the workspace; None for one that belongs to none, such as an untitled one."""
    workspace: str
    version: int
    text: str | None
    """None for one that is too large to be kept: it is unknown until the client sends it as a whole."""
    shared: OpenDocument | None
    """The same as operations take it; None for one that is not kept, or belongs to no workspace."""


class Documents:
    """Keeps the newest text of each document, bounded."""

    def __init__(self) -> None:
        self._by_uri: dict[str, Document] = {}
        self._characters = 0

    def __contains__(self, uri: str) -> bool:
        return uri in self._by_uri

    def get(self, uri: str) -> Document | None:
        """Return an open document."""
        return self._by_uri.get(uri)

    def all(self) -> tuple[Document, ...]:
        """Return the documents, the most recently changed last."""
        return tuple(self._by_uri.values())

    def open(self, uri: str, path: str | None, workspace: str, version: int, text: str) -> Document:
        """Take a document that the client has opened, or changed as a whole."""
        self.close(uri)
        if len(self._by_uri) >= MAX_DOCUMENTS * 5:
            raise TooLarge(f"more than {MAX_DOCUMENTS * 5} documents are open", hint="close some of them")
        is_kept = len(text) <= MAX_CHARACTERS and self._characters + len(text) <= MAX_ALL_CHARACTERS
        document = Document(
            uri=uri,
            path=path,
            workspace=workspace,
            version=version,
            text=text if is_kept else None,
            shared=OpenDocument(path=path, text=text) if is_kept and path is not None else None,
        )
        self._by_uri[uri] = document
        self._characters += len(document.text or "")
        return document

    def change(self, uri: str, version: int, changes: Sequence[JsonValue], encoding: Encoding) -> Document | None:
        """Apply the client's changes to a document; None if it is not open."""
        document = self._by_uri.get(uri)
        if document is None:
            return None
        text = document.text
        if text is None:
            whole = [number for number, change in enumerate(changes) if is_whole(change)]
            if not whole:
                return document
            text, changes = "", changes[whole[-1] :]
        text = apply_changes(text, changes, encoding)
        return self.open(uri, document.path, document.workspace, version, text)

    def close(self, uri: str) -> Document | None:
        """Drop a document: from now on its file counts."""
        document = self._by_uri.pop(uri, None)
        self._characters -= len(document.text or "") if document is not None else 0
        return document

    def overlay(self, workspace: str, path: str) -> tuple[OpenDocument, ...]:
        """Return what an operation needs: the file it asks about, and the others that were changed last."""
        inside = [document for document in self._by_uri.values() if document.workspace == workspace]
        own = [document.shared for document in inside if document.path == path and document.shared is not None]
        others = [document.shared for document in inside if document.path != path and document.shared is not None]
        room = MAX_CHARACTERS * 2 - sum(len(document.text) for document in own)
        chosen: list[OpenDocument] = []
        for document in reversed(others[-(MAX_DOCUMENTS - 1) :]):
            room -= len(document.text)
            if room < 0:
                break
            chosen.append(document)
        return (*chosen, *own)

    def too_large(self, uri: str) -> bool:
        """Whether a document is open that operations do not take."""
        document = self._by_uri.get(uri)
        return document is not None and document.path is not None and document.shared is None
