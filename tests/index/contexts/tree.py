"""A repository in memory: its files, and a parser that believes what they say."""

from collections.abc import Mapping

from codeplane.index.contexts.candidate import Candidate
from codeplane.index.contexts.contexts import Contexts
from codeplane.index.contexts.contexts_file import ContextsFile
from codeplane.index.contexts.discovery import discover
from codeplane.index.contexts.probe import ParseCheck

GOOD = b"good"
BAD = b"bad"
COMMENT = b"comment"


class Tree:
    """Files by path; `opened` counts what was read and parsed."""

    def __init__(self, files: Mapping[str, bytes | str | None]) -> None:
        self.files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        self.parsed: list[str] = []

    def read(self, path: str) -> bytes | None:
        return self.files[path]

    def parse(self, path: str, content: bytes) -> ParseCheck | None:
        self.parsed.append(path)
        if path.endswith(".nogrammar.sql"):
            return None
        if content.startswith(BAD):
            return ParseCheck(nodes=10, errors=5, has_content=True)
        if content.startswith(COMMENT):
            return ParseCheck(nodes=2, errors=0, has_content=False)
        return ParseCheck(nodes=10 if content.strip() else 1, errors=0, has_content=bool(content.strip()))

    def candidates(self, family: str) -> dict[str, Candidate]:
        """What discovery finds for a family, by root."""
        return {each.root: each for each in discover(self.files, self.read) if each.family == family}

    def statuses(self, family: str) -> dict[str, str]:
        return {root: each.status for root, each in self.candidates(family).items()}

    def contexts(self, file: ContextsFile | None = None) -> Contexts:
        return Contexts.discover(self.files, self.read, self.parse, file)
