"""Paths of moved files in documentation: in links, as code, or in sentences."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, unquote

from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.path_kinds import is_copy
from codeplane.index.snapshot import IndexedFile
from codeplane.query.search.memmem import find
from codeplane.refactor.documents.changelogs import is_historical
from codeplane.refactor.documents.code_blocks import Flavour
from codeplane.refactor.documents.markup import Markup
from codeplane.refactor.draft import Confidence, Edit

MAX_EDITS = 2000
_ENDINGS: dict[str, Flavour] = {
    ".md": "markdown",
    ".mdx": "markdown",
    ".markdown": "markdown",
    ".adoc": "adoc",
    ".rst": "rst",
    ".txt": "rst",
}
_MANY = 200
# Rewritten by a tool whenever it runs.
_MADE = re.compile(r"\.(?:egg|dist)-info/")
# A path after these is relative to the folder of the document.
_TARGET = re.compile(
    r"\]\(\s*<?(?P<link>[^()\s<>]+)|^[ \t]*\[[^\]\n]+\]:[ \t]*<?(?P<named>[^\s<>]+)"
    r"|\b(?:href|src)=[\"'](?P<html>[^\"'\n]+)"
    r"|^[ \t]*\.\. (?:[\w|-]+\s+)?(?:include|literalinclude|image|figure)::[ \t]+(?P<included>\S+)"
    r"|(?:link|image|include|xref):{1,2}(?P<adoc>[^\s\[\]]+)\[|`[^`<\n]*<(?P<rst>[^>\s]+)>`_",
    re.MULTILINE,
)
_TOKEN = re.compile(r"[^\s`'\"()<>\[\]{}|*,;=]+")
_SPAN = re.compile(r"(`{1,3})(?P<code>[^`\s/]{1,200})\1(?!`)")
_LONGEST = 1000
_ELSEWHERE = re.compile(r"[a-zA-Z][\w+.-]*:|//|#|$")
_PLACE = re.compile(r"(?::\d+(?:[:-]\d+)?|#L\d+\S*|[.:!?]+)$")


def path_edits(world: World, store: FactStore, moved: Mapping[str, str]) -> list[Edit]:
    """Return edits for places in documentation that name moved files, and in moved documents for all their links.

    A link or a path marked as code has `high` confidence, a path in a sentence `medium`; a name without its folder,
    and anything in a changelog, `low`.
    """
    del store
    sweep = _PathSweep(world, moved)
    found: list[Edit] = []
    for known in world.snapshot.texts:
        flavour = _ENDINGS.get(posixpath.splitext(known.path.lower())[1])
        if flavour is None or is_copy(known.path) or _MADE.search(known.path) or not sweep.may_name(known):
            continue
        found += sweep.edits(known.path, flavour)
        if len(found) >= MAX_EDITS:
            return found[:MAX_EDITS]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _PathMention:
    start: int
    end: int
    new: str
    confidence: Confidence
    why: str


class _Document:
    """A document's text, whose markup is parsed only if something is found."""

    def __init__(self, text: str, flavour: Flavour) -> None:
        self.text = text
        self._flavour = flavour

    @cached_property
    def markup(self) -> Markup:
        """The parsed markup."""
        return Markup(self.text, self._flavour)


class _PathSweep:
    """Finds moved paths in documents."""

    def __init__(self, world: World, moved: Mapping[str, str]) -> None:
        self._world = world
        self._files = {old: new for old, new in moved.items() if old != new}
        self._folders = _folders(world, self._files)
        names = {posixpath.basename(path) for path in (*self._files, *self._folders)}
        self._names = sorted({spelled.encode() for name in names for spelled in (name, quote(name))})
        self._unique_names = _unique_names(world, self._files)

    def may_name(self, known: IndexedFile) -> bool:
        """Whether a document is worth reading."""
        if known.path in self._files or len(self._names) > _MANY:
            return bool(self._files)
        content, end = self._world.snapshot.content, known.offset + known.length
        return any(find(content, name, known.offset, end) >= 0 for name in self._names)

    def edits(self, path: str, flavour: Flavour) -> Iterator[Edit]:
        """The edits of one document."""
        document = _Document(self._world.text(path).decode("latin-1"), flavour)
        text, past = document.text, is_historical(path)
        taken: list[tuple[int, int]] = []
        for mention in sorted(self._mentions(path, document), key=lambda mention: (mention.start, -mention.end)):
            if any(start < mention.end and mention.start < end for start, end in taken[-1:]):
                continue
            taken.append((mention.start, mention.end))
            if mention.new == _decode(text[mention.start : mention.end]):
                continue
            yield Edit(
                path=path,
                start=mention.start,
                end=mention.end,
                new=mention.new,
                tier="UNKNOWN",
                role="DOCUMENT",
                semantic=False,
                confidence="low" if past else mention.confidence,
                why="in a record of what was" if past else mention.why,
            )

    def _mentions(self, path: str, document: _Document) -> Iterator[_PathMention]:
        text = document.text
        folder = posixpath.dirname(path)
        goes_to = posixpath.dirname(self._files.get(path, path))
        for match in _TARGET.finditer(text):
            group = next(name for name, value in match.groupdict().items() if value is not None)
            for mention in self._link_mentions(match[group], match.start(group), folder, goes_to):
                if document.markup.block(mention.start) < 0:
                    yield mention
        for start, end in _lines_with(text, "/"):
            for match in _TOKEN.finditer(text, start, end):
                if "/" in match[0] and len(match[0]) < _LONGEST:
                    yield from self._path_mentions(match[0], match.start(), folder, goes_to, document)
        for match in _SPAN.finditer(text) if self._unique_names else ():
            new = self._unique_names.get(_decode(match["code"]))
            if new is not None and document.markup.block(match.start()) < 0:
                start, end = match.span("code")
                yield _PathMention(
                    start=start, end=end, new=new, confidence="low", why="a file's name without its folder"
                )

    def _link_mentions(self, link: str, start: int, folder: str, goes_to: str) -> Iterator[_PathMention]:
        """Rewrite a link's target: a path from the document's folder, or from the root if it starts with a slash."""
        target = re.split(r"[#?]", link)[0]
        if _ELSEWHERE.match(link) or not target:
            return
        plain = _decode(target)
        meant = unquote(plain)
        rooted = meant.startswith("/")
        path = posixpath.normpath(posixpath.join("" if rooted else folder, meant.lstrip("/") if rooted else meant))
        new = self._new_path(path)
        stays = new is None
        if stays and (folder == goes_to or rooted or not self._is_there(path)):
            return
        leads_to = new if new is not None else path
        written = f"/{leads_to}" if rooted else posixpath.relpath(leads_to, goes_to or ".")
        if meant.startswith("./") and not written.startswith("."):
            written = f"./{written}"
        if meant.endswith("/"):
            written += "/"
        link = quote(written, safe="/._-~()@+") if plain != meant else written
        yield _PathMention(
            start=start,
            end=start + len(target),
            new=link,
            confidence="high",
            why="a link, from where the document lies" if stays else "a link to it",
        )

    def _path_mentions(
        self, written_path: str, start: int, folder: str, goes_to: str, document: _Document
    ) -> Iterator[_PathMention]:
        """Rewrite a path in the text, relative to the root or to the document's folder."""
        if "//" in written_path or written_path.startswith("/"):
            return
        cut = _PLACE.search(written_path)
        token = written_path[: cut.start()] if cut else written_path
        plain = _decode(token)
        path = posixpath.normpath(plain) if plain else ""
        new = self._new_path(path) if not plain.startswith(".") else None
        if new is None and plain:
            near = posixpath.normpath(posixpath.join(folder, plain))
            found = self._new_path(near) if near != path or plain.startswith(".") else None
            new = posixpath.relpath(found, goes_to or ".") if found is not None else None
        if new is None or "/" not in plain.rstrip("/") + ("/" if plain.endswith("/") else ""):
            return
        if plain.startswith("./") and not new.startswith("."):
            new = f"./{new}"
        written = f"{new}/" if plain.endswith("/") else new
        setting = document.markup.at(start, start + len(token))
        is_code = setting.kind != "prose" or document.markup.block(start) >= 0
        yield _PathMention(
            start=start,
            end=start + len(token),
            new=written,
            confidence="high" if is_code else "medium",
            why="its path, marked as code" if is_code else "its path, in a sentence",
        )

    def _new_path(self, path: str) -> str | None:
        return self._files.get(path) or self._folders.get(path)

    def _is_there(self, path: str) -> bool:
        return path in self._world.snapshot.files or path in self._existing_folders

    @cached_property
    def _existing_folders(self) -> frozenset[str]:
        return frozenset(folder for path in self._world.snapshot.files for folder in _parent_folders(path))


def _lines_with(text: str, sign: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of the lines that contain a sign."""
    at = text.find(sign)
    while at >= 0:
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        end = end if end >= 0 else len(text)
        yield start, end
        at = text.find(sign, end)


def _folders(world: World, moved: Mapping[str, str]) -> dict[str, str]:
    """Return the folders that move as a whole, and their new paths."""
    found: dict[str, set[str]] = {}
    for old, new in moved.items():
        before, after = posixpath.dirname(old), posixpath.dirname(new)
        if posixpath.basename(old) != posixpath.basename(new):
            found.setdefault(before, set()).add("")
        while before:
            found.setdefault(before, set()).add(after)
            alike = posixpath.basename(before) == posixpath.basename(after)
            before = posixpath.dirname(before)
            after = posixpath.dirname(after) if alike else ""
    staying = {folder for path in world.snapshot.files if path not in moved for folder in _parent_folders(path)}
    return {
        folder: next(iter(goes))
        for folder, goes in found.items()
        if len(goes) == 1 and "" not in goes and folder not in staying and folder not in goes
    }


def _parent_folders(path: str) -> Iterator[str]:
    folder = posixpath.dirname(path)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)


def _unique_names(world: World, moved: Mapping[str, str]) -> dict[str, str]:
    """Return the new names of files that are renamed and whose old name no other file has."""
    wanted = {posixpath.basename(old): posixpath.basename(new) for old, new in moved.items()}
    counts = dict.fromkeys(wanted, 0)
    for path in world.snapshot.files:
        name = posixpath.basename(path)
        if name in counts:
            counts[name] += 1
    return {old: new for old, new in wanted.items() if old != new and counts[old] == 1}


def _decode(text: str) -> str:
    """Decode a text that has one character per byte."""
    return text.encode("latin-1").decode("utf-8", "surrogateescape")
