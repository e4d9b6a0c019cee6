"""The documents people read, taken apart: sections, fenced blocks, commands, links and words of code."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_FENCE: Final = re.compile(r"^```(\S*)\s*$")
_HEADING: Final = re.compile(r"^#{1,6} (.+)$")
_LINK: Final = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_CODE: Final = re.compile(r"`([^`]+)`")
# Two commands can share a line of an overview; the second stands behind the first one's remark.
_BESIDE: Final = re.compile(r"\s{3,}(?=cpl )")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: which language, under which heading, where it begins."""

    language: str
    section: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command as it stands in a document, with the output that is shown below it."""

    document: str
    section: str
    line: int
    text: str
    shown: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One Markdown file, named by its path below the root."""

    name: str
    text: str

    @classmethod
    def at(cls, path: Path) -> "Document":
        """The document in a file."""
        return cls(name=path.relative_to(ROOT).as_posix(), text=path.read_text(encoding="utf-8"))

    def blocks(self) -> Iterator[Block]:
        """Its fenced blocks, in order."""
        section, opened, lines = "", None, list[str]()
        for number, line in enumerate(self.text.splitlines(), start=1):
            fence = _FENCE.match(line)
            if opened is None and fence:
                opened, lines = (fence[1], number), []
            elif opened is not None and line.startswith("```"):
                yield Block(language=opened[0], section=section, line=opened[1] + 1, text="\n".join(lines))
                opened = None
            elif opened is not None:
                lines.append(line)
            elif heading := _HEADING.match(line):
                section = heading[1]

    def commands(self) -> Iterator[Command]:
        """What its blocks tell people to type."""
        for block in self.blocks():
            if block.language in ("sh", "console") or is_transcript(block):
                yield from _commands(self.name, block)

    def prose(self) -> str:
        """What stands outside of blocks."""
        return re.sub(r"^```.*?^```", "", self.text, flags=re.DOTALL | re.MULTILINE)

    def words(self) -> Iterator[str]:
        """What is marked as code in its sentences."""
        for found in _CODE.finditer(self.prose()):
            yield " ".join(found[1].split())

    def links(self) -> Iterator[str]:
        """Where it leads."""
        for found in _LINK.finditer(_CODE.sub("", self.prose())):
            yield found[1]

    def anchors(self) -> set[str]:
        """The names of its headings, as they are linked to."""
        found: set[str] = set()
        for line in self.prose().splitlines():
            if heading := _HEADING.match(line):
                found.add(re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-"))
        return found


def documents() -> list[Document]:
    """All that is written by hand."""
    paths = [ROOT / "README.md", ROOT / "AGENTS.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [Document.at(path) for path in paths if path.parent.name != "reference"]


def is_transcript(block: Block) -> bool:
    """Whether a block without a language shows a terminal."""
    return block.language == "" and block.text.startswith("$ ")


def _commands(document: str, block: Block) -> Iterator[Command]:
    lines = block.text.splitlines()
    at = 0
    while at < len(lines):
        begun, text = at, lines[at]
        at += 1
        if block.language != "sh" and not text.startswith("$ "):
            continue
        if block.language != "sh":
            text = text.removeprefix("$ ")
        while not _is_whole(text) and at < len(lines):
            text = f"{text}\n{lines[at]}"
            at += 1
        shown: list[str] = []
        while block.language != "sh" and at < len(lines) and not lines[at].startswith("$ "):
            shown.append(lines[at])
            at += 1
        for one in _BESIDE.split(text):
            if without_remark := _without_remark(one):
                yield Command(
                    document=document,
                    section=block.section,
                    line=block.line + begun,
                    text=without_remark,
                    shown="\n".join(shown),
                )


def _is_whole(text: str) -> bool:
    if text.endswith("\\"):
        return False
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True


def _without_remark(text: str) -> str:
    """The command without what is said of it: a shell would skip that too, but it is not what people look for."""
    lines = text.splitlines()
    if len(lines) == 1:
        text = re.sub(r"(^|\s+)#\s.*$", "", text)
    return text.strip()
