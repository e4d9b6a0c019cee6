"""The loader of outlines of changed files; files without an outline are listed with the reason."""

import asyncio
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from codeplane.code.languages.module_layouts import MODULE_LAYOUTS
from codeplane.code.languages.registry import LANGUAGES, languages
from codeplane.code.model import Facts
from codeplane.git.read.hidden_paths import HiddenPaths
from codeplane.git.read.object_store import ObjectStore
from codeplane.git.read.reader import GitReader
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import CodePlaneError
from codeplane.query.compare.change import FileOutlines
from codeplane.query.compare.changed_files import LINK, MODULE, ChangedFile, join_renames
from codeplane.query.compare.content_parser import Content, ContentParser
from codeplane.query.compare.outline import Outline

MAX_FILES = 4000
MAX_BYTES = 128 * 1024 * 1024
MAX_FILE = 2 * 1024 * 1024
_START = 200
_NAMED = 10
# What these define is data, or words.


@dataclass(frozen=True, slots=True, kw_only=True)
class Unparsed:
    """A changed file that is reported as a whole."""

    file: ChangedFile
    language: str | None = None
    note: str | None = None


@dataclass(slots=True)
class LoadedOutlines:
    """Outlines of both states, files without outlines, and notes."""

    files: list[FileOutlines] = field(default_factory=list)
    differing: dict[str, ChangedFile] = field(default_factory=dict)
    others: list[Unparsed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    old_manifests: dict[str, bytes] = field(default_factory=dict)
    new_manifests: dict[str, bytes] = field(default_factory=dict)
    """The changed files that decide how packages are used, in both states."""

    def every(self) -> list[ChangedFile]:
        """All changed files."""
        return [*self.differing.values(), *(unparsed.file for unparsed in self.others)]


class OutlineLoader:
    """Reads and parses both sides of changed files."""

    def __init__(self, *, reading: GitReader, store: FactStore, parsing: ContentParser) -> None:
        self._reading = reading
        self._store = store
        self._parsing = parsing
        self._objects = ObjectStore(reading.root)

    async def load(self, files: Sequence[ChangedFile], snapshot: Snapshot) -> LoadedOutlines:
        """Load the outlines of changed files, from git's objects or the snapshot."""
        loaded = LoadedOutlines()
        hidden = await asyncio.to_thread(HiddenPaths, self._reading.root, self._reading.secrets)
        wanted = [file for file in files if _is_wanted(file, hidden, snapshot, loaded)]
        if len(wanted) > MAX_FILES:
            loaded.notes.append(f"only {MAX_FILES} of {len(wanted)} files were looked into; name fewer with paths")
            loaded.others += [Unparsed(file=file, note="not looked into") for file in wanted[MAX_FILES:]]
            wanted = wanted[:MAX_FILES]
        deciding = set(_manifests(files))
        manifests = [file for file in files if file.path in deciding and not hidden.covers(file.path)]
        texts = await self._contents([*wanted, *manifests])

        def old_text(file: ChangedFile) -> bytes:
            return texts.get(file.old_object or "", b"")

        def new_text(file: ChangedFile) -> bytes:
            if file.status == "deleted":
                return b""
            if file.new_object is not None:
                return texts.get(file.new_object, b"")
            known = snapshot.files.get(file.path)
            return snapshot.text(known) if known is not None and known.skipped is None else b""

        loaded.old_manifests = {file.before: old_text(file) for file in manifests if file.status != "added"}
        loaded.new_manifests = {file.path: new_text(file) for file in manifests if file.status != "deleted"}
        joined = await asyncio.to_thread(join_renames, wanted, old_text, new_text)
        sides = [(file, old_text(file), new_text(file)) for file in joined]
        await asyncio.to_thread(self._outline, sides, texts.keys(), snapshot, loaded)
        return loaded

    async def _contents(self, files: Iterable[ChangedFile]) -> dict[str, bytes]:
        """Read git objects, skipping those that are too large."""
        wanted = sorted({oid for file in files for oid in (file.old_object, file.new_object) if oid is not None})
        sizes = await asyncio.to_thread(self._objects.sizes, wanted) if wanted else {}
        if sizes is not None:
            chosen, room = [], MAX_BYTES
            for oid in wanted:
                if sizes[oid] <= min(MAX_FILE, room):
                    chosen.append(oid)
                    room -= sizes[oid]
            here = await asyncio.to_thread(self._objects.contents, chosen)
            if here is not None:
                return here
        # libgit2 does not read every repository that git does.
        contents: dict[str, bytes] = {}
        for oid in wanted[:MAX_FILES]:
            try:
                read = await self._reading.run("cat-file", "blob", oid, max_bytes=MAX_FILE)
            except CodePlaneError:
                continue
            if not read.cut:
                contents[oid] = read.out
        return contents

    def _outline(
        self,
        sides: Sequence[tuple[ChangedFile, bytes, bytes]],
        read: Iterable[str],
        snapshot: Snapshot,
        loaded: LoadedOutlines,
    ) -> None:
        there = set(read)
        contents: list[Content] = []
        places: list[tuple[ChangedFile, int | None, int | None]] = []
        known: dict[int, Facts] = {}
        for file, before, after in sides:
            problem = _problem(file, before, after, there, snapshot)
            language = languages().of(file.path, after[:_START]) or languages().of(file.before, before[:_START])
            if problem is not None or language is None or language.kind != "code":
                name = language.name if language else None
                loaded.others.append(Unparsed(file=file, language=name, note=problem))
                continue
            at: list[int | None] = []
            for is_after, text in ((False, before), (True, after)):
                if file.status == ("deleted" if is_after else "added"):
                    at.append(None)
                    continue
                if (
                    is_after
                    and file.new_object is None
                    and (held := self._indexed_facts(file.path, text, snapshot)) is not None
                ):
                    known[len(contents)] = held
                at.append(len(contents))
                contents.append(Content(path=file.path, language=language.name, text=text))
            places.append((file, at[0], at[1]))
        unknown = [place for place in range(len(contents)) if place not in known]
        made, problems = self._parsing.facts([contents[place] for place in unknown])
        facts: dict[int, Facts] = {**known, **{place: file for place, file in zip(unknown, made, strict=True) if file}}
        why = dict(zip(unknown, problems, strict=True))
        self._join(places, contents, facts, why, loaded)
        every = loaded.every()
        come = {file.path for file in every if file.status in ("added", "renamed")}
        old_files = (snapshot.files.keys() - come) | {file.before for file in every if file.status != "added"}
        for outlines in loaded.files:
            for side in (outlines.old, outlines.new):
                if side is not None and side.rules.is_program is not None:
                    # A package that is private now may have been published.
                    is_old = side is outlines.old and side.rules.package_entries
                    files = old_files if is_old else snapshot.files
                    manifests = loaded.old_manifests if is_old else loaded.new_manifests
                    side.is_program = side.rules.is_program(side.path, files, partial(_text, snapshot, side, manifests))

    def _join(
        self,
        places: Sequence[tuple[ChangedFile, int | None, int | None]],
        contents: Sequence[Content],
        facts: Mapping[int, Facts],
        why: Mapping[int, str],
        loaded: LoadedOutlines,
    ) -> None:
        broken: list[str] = []
        for file, before, after in places:
            lost = [at for at in (before, after) if at is not None and at not in facts]
            if lost:
                note = f"could not be parsed: {why.get(lost[0]) or 'no facts'}"
                loaded.others.append(Unparsed(file=file, language=contents[lost[0]].language, note=note))
                continue
            old = Outline(file.before, contents[before].text, facts[before]) if before is not None else None
            new = Outline(file.path, contents[after].text, facts[after]) if after is not None else None
            for side, when in ((old, "before"), (new, "after")):
                if side is not None and side.errors:
                    broken.append(f"{path_text(side.path)}:{side.errors} ({when})")
            loaded.files.append(FileOutlines(old=old, new=new))
            loaded.differing[file.path] = file
        if broken:
            more = f" and {len(broken) - _NAMED} more" if len(broken) > _NAMED else ""
            loaded.notes.append(f"syntax errors, judged as far as it parses: {', '.join(broken[:_NAMED])}{more}")

    def _indexed_facts(self, path: str, text: bytes, snapshot: Snapshot) -> Facts | None:
        """The indexed facts of a file, if they fit these bytes."""
        known = snapshot.files.get(path)
        facts = self._store.facts(path, known.digest, keep=False) if known is not None else None
        # A digest is the same whatever ends the lines; places are not.
        fits = facts is not None and all(
            text.startswith(definition.name.encode(), definition.name_at) for definition in facts.definitions[-3:]
        )
        return facts if fits else None


def _is_wanted(file: ChangedFile, hidden: HiddenPaths, snapshot: Snapshot, loaded: LoadedOutlines) -> bool:
    """Whether a file is code that may be read; others are added to `loaded`."""
    note = None
    if MODULE in (file.old_mode, file.new_mode):
        old, new = (file.old_object or "")[:9] or "none", (file.new_object or "")[:9] or "another commit"
        note = f"submodule {old} → {'none' if file.status == 'deleted' else new}"
    elif LINK in (file.old_mode, file.new_mode) or (file.untracked and _is_link(file.path, snapshot)):
        note = "a link"
    elif hidden.covers(file.path) or hidden.covers(file.before):
        note = "left out by the rules for secrets or by .cplignore"
    language = languages().of(file.path)
    if note is None and language is not None and language.kind == "code":
        return True
    if note is None and language is None and "." not in file.path.rpartition("/")[2]:
        # Its first line may name the program that reads it.
        return True
    loaded.others.append(Unparsed(file=file, language=language.name if language else None, note=note))
    return False


def _manifests(files: Sequence[ChangedFile]) -> Iterable[str]:
    """The changed files that decide how packages are used."""
    paths = [file.path for file in files]
    named = {language.contract.manifest for language in LANGUAGES.values()} - {""}
    yield from (path for path in paths if path.rpartition("/")[2] in named)
    for family in {language.family_name for language in LANGUAGES.values() if language.contract.package_entries}:
        find = MODULE_LAYOUTS[family].manifests
        yield from find(paths) if find is not None else ()


def _text(snapshot: Snapshot, outline: Outline, manifests: Mapping[str, bytes], path: str) -> bytes | None:
    """The text of a file: that of the outline as it is there, changed manifests, others as they are indexed."""
    if path == outline.path:
        return outline.text
    if path in manifests:
        return manifests[path]
    known = snapshot.files.get(path)
    return snapshot.text(known) if known is not None and known.skipped is None else None


def _is_link(path: str, snapshot: Snapshot) -> bool:
    known = snapshot.files.get(path)
    return known is not None and stat.S_ISLNK(known.stamp.mode)


def _problem(file: ChangedFile, before: bytes, after: bytes, read: set[str], snapshot: Snapshot) -> str | None:
    """Why a file cannot be read, or None."""
    if any(oid is not None and oid not in read for oid in (file.old_object, file.new_object)):
        return "too large, or its content is not there"
    if file.new_object is None and file.status != "deleted":
        known = snapshot.files.get(file.path)
        if known is None:
            return "not in the index"
        if known.skipped is not None:
            return known.skipped
    if b"\0" in before or b"\0" in after:
        return "binary"
    return "too large" if max(len(before), len(after)) > MAX_FILE else None
