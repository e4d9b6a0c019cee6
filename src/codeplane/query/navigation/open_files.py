"""Open documents as a world needs them: checked, parsed and bounded."""

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from codeplane.code.facts.extract import Extractor, Unparsable
from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import languages
from codeplane.code.model import Facts
from codeplane.code.resolve.overlaid_world import OverlaidFile
from codeplane.index.files.file import identity_of
from codeplane.index.files.paths import canonical
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.errors import PathDenied, TooLarge
from codeplane.kernel.open_document import OpenDocument

MAX_BYTES = 16 * 1024 * 1024
_MAX_PARSED_DOCUMENTS = 100
_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")
# A parser takes time by the square of how many brackets are open at once; no code that people read has so many. Files
# of the index are parsed by processes that have limits.
_MAX_DEPTH = 10_000
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[[sign[0] for sign in _OPENING]], _STEPS[[sign[0] for sign in _CLOSING]] = 1, -1


class OpenFiles:
    """Parses open documents, each text once; any thread may use it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._extractors: dict[str, Extractor] = {}
        self._lock = threading.Lock()
        self._parsed = BoundedCache[tuple[str, str], OverlaidFile](_MAX_PARSED_DOCUMENTS)
        self._identities = BoundedCache[int, tuple[OpenDocument, str]](_MAX_PARSED_DOCUMENTS)

    def overlay(self, snapshot: Snapshot, documents: Sequence[OpenDocument]) -> dict[str, OverlaidFile]:
        """Return those documents whose text is not the one of the index, by their paths; the last of a path counts.

        Those that no operation reads, as in .git, are left out: what is asked about another file is answered.
        """
        if sum(len(document.text) for document in documents) > MAX_BYTES:
            raise TooLarge(
                f"the open documents have more than {MAX_BYTES} characters together", hint="send fewer of them"
            )
        overlaid: dict[str, OverlaidFile] = {}
        for document in documents:
            try:
                path = canonical(document.path, root=self._root)
            except PathDenied:
                continue
            digest = self._identity(document)
            known = snapshot.files.get(path)
            overlaid.pop(path, None)
            if known is None or known.skipped is not None or known.digest != digest:
                overlaid[path] = self._parse(path, document, digest)
        return overlaid

    def _identity(self, document: OpenDocument) -> str:
        # By the object: clients in this process send the same one until its text changes.
        held = self._identities.get(id(document))
        if held is not None and held[0] is document:
            return held[1]
        digest = identity_of(document.data)
        self._identities.put(id(document), (document, digest))
        return digest

    def _parse(self, path: str, document: OpenDocument, digest: str) -> OverlaidFile:
        held = self._parsed.get((path, digest))
        if held is None:
            held = OverlaidFile(text=document.data, digest=digest, facts=self._facts(path, document.data))
            self._parsed.put((path, digest), held)
        return held

    def _facts(self, path: str, text: bytes) -> Facts | None:
        language = languages().of(path)
        if language is None:
            return None
        if _bracket_depth(text) > _MAX_DEPTH:
            return None
        try:
            with self._lock:
                return self._extractor(language).facts(text)
        except Unparsable:
            return None

    def _extractor(self, language: Language) -> Extractor:
        found = self._extractors.get(language.name)
        if found is None:
            found = self._extractors[language.name] = Extractor(language)
        return found


def _bracket_depth(text: bytes) -> int:
    """Return how many brackets are open at once at most; 0 where there are too few of them to matter."""
    if sum(map(text.count, _OPENING)) <= _MAX_DEPTH:
        return 0
    depth = _STEPS[np.frombuffer(text, dtype=np.uint8)].cumsum(dtype=np.int32)
    return int((depth - np.minimum.accumulate(depth)).max())
