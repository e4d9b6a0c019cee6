"""Files that differ, made into outlines; what cannot be is named with the reason."""

import asyncio
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from codeplane.code.languages.registry import languages
from codeplane.code.model import Facts
from codeplane.git.read.hidden_paths import HiddenPaths
from codeplane.git.read.object_store import ObjectStore
from codeplane.git.read.reader import GitReader
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import shown
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import CodePlaneError
from codeplane.query.compare.change import FileOutlines
from codeplane.query.compare.changed_files import LINK, MODULE, Differing, with_renames
from codeplane.query.compare.content_parser import Content, Parsing
from codeplane.query.compare.outline import Outline

MAX_FILES = 4000
MAX_BYTES = 128 * 1024 * 1024
MAX_FILE = 2 * 1024 * 1024
_START = 200
_NAMED = 10
# What these define is data, or words.


@dataclass(frozen=True, slots=True, kw_only=True)
class Unparsed:
    """A file that differs and is told of as a whole."""

    file: Differing
    language: str | None = None
    note: str | None = None


@dataclass(slots=True)
class Loaded:
    """Outlines of both states, the files without, and what is to be said of all that."""

    files: list[FileOutlines] = field(default_factory=list)
    differing: dict[str, Differing] = field(default_factory=dict)
    others: list[Unparsed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Loading:
    """Reads and parses both sides of what differs."""

    def __init__(self, *, reading: GitReader, store: FactStore, parsing: Parsing) -> None:
        self._reading = reading
        self._store = store
        self._parsing = parsing
        self._objects = ObjectStore(reading.root)

    async def loaded(self, files: Sequence[Differing], snapshot: Snapshot) -> Loaded:
        """The outlines of files; objects are read from git, and what has none from the snapshot."""
        found = Loaded()
        withheld = await asyncio.to_thread(HiddenPaths, self._reading.root, self._reading.secrets)
        wanted = [one for one in files if _is_wanted(one, withheld, snapshot, found)]
        if len(wanted) > MAX_FILES:
            found.notes.append(f"only {MAX_FILES} of {len(wanted)} files were looked into; name fewer with paths")
            found.others += [Unparsed(file=one, note="not looked into") for one in wanted[MAX_FILES:]]
            wanted = wanted[:MAX_FILES]
        texts = await self._contents(wanted)

        def old_text(one: Differing) -> bytes:
            return texts.get(one.old_object or "", b"")

        def new_text(one: Differing) -> bytes:
            if one.status == "deleted":
                return b""
            if one.new_object is not None:
                return texts.get(one.new_object, b"")
            known = snapshot.files.get(one.path)
            return snapshot.text(known) if known is not None and known.skipped is None else b""

        joined = await asyncio.to_thread(with_renames, wanted, old_text, new_text)
        sides = [(one, old_text(one), new_text(one)) for one in joined]
        await asyncio.to_thread(self._outline, sides, texts.keys(), snapshot, found)
        return found

    async def _contents(self, files: Iterable[Differing]) -> dict[str, bytes]:
        """What is in git's objects, those that are too large left out."""
        wanted = sorted({oid for one in files for oid in (one.old_object, one.new_object) if oid is not None})
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
        found: dict[str, bytes] = {}
        for oid in wanted[:MAX_FILES]:
            try:
                read = await self._reading.run("cat-file", "blob", oid, max_bytes=MAX_FILE)
            except CodePlaneError:
                continue
            if not read.cut:
                found[oid] = read.out
        return found

    def _outline(
        self,
        sides: Sequence[tuple[Differing, bytes, bytes]],
        read: Iterable[str],
        snapshot: Snapshot,
        found: Loaded,
    ) -> None:
        there = set(read)
        contents: list[Content] = []
        places: list[tuple[Differing, int | None, int | None]] = []
        known: dict[int, Facts] = {}
        for one, before, after in sides:
            problem = _problem(one, before, after, there, snapshot)
            language = languages().of(one.path, after[:_START]) or languages().of(one.before, before[:_START])
            if problem is not None or language is None or language.kind != "code":
                name = language.name if language else None
                found.others.append(Unparsed(file=one, language=name, note=problem))
                continue
            at: list[int | None] = []
            for is_after, text in ((False, before), (True, after)):
                if one.status == ("deleted" if is_after else "added"):
                    at.append(None)
                    continue
                if is_after and one.new_object is None and (held := self._held(one.path, text, snapshot)) is not None:
                    known[len(contents)] = held
                at.append(len(contents))
                contents.append(Content(path=one.path, language=language.name, text=text))
            places.append((one, at[0], at[1]))
        unknown = [place for place in range(len(contents)) if place not in known]
        made, problems = self._parsing.facts([contents[place] for place in unknown])
        facts: dict[int, Facts] = {**known, **{place: one for place, one in zip(unknown, made, strict=True) if one}}
        why = dict(zip(unknown, problems, strict=True))
        self._join(places, contents, facts, why, found)

    def _join(
        self,
        places: Sequence[tuple[Differing, int | None, int | None]],
        contents: Sequence[Content],
        facts: Mapping[int, Facts],
        why: Mapping[int, str],
        found: Loaded,
    ) -> None:
        broken: list[str] = []
        for one, before, after in places:
            lost = [at for at in (before, after) if at is not None and at not in facts]
            if lost:
                note = f"could not be parsed: {why.get(lost[0]) or 'no facts'}"
                found.others.append(Unparsed(file=one, language=contents[lost[0]].language, note=note))
                continue
            old = Outline(one.before, contents[before].text, facts[before]) if before is not None else None
            new = Outline(one.path, contents[after].text, facts[after]) if after is not None else None
            for side, when in ((old, "before"), (new, "after")):
                if side is not None and side.errors:
                    broken.append(f"{shown(side.path)}:{side.errors} ({when})")
            found.files.append(FileOutlines(old=old, new=new))
            found.differing[one.path] = one
        if broken:
            more = f" and {len(broken) - _NAMED} more" if len(broken) > _NAMED else ""
            found.notes.append(f"syntax errors, judged as far as it parses: {', '.join(broken[:_NAMED])}{more}")

    def _held(self, path: str, text: bytes, snapshot: Snapshot) -> Facts | None:
        """The facts that the index has of a file, if they speak of these very bytes."""
        known = snapshot.files.get(path)
        facts = self._store.facts(path, known.digest, keep=False) if known is not None else None
        # A digest is the same whatever ends the lines; places are not.
        fits = facts is not None and all(
            text.startswith(one.name.encode(), one.name_at) for one in facts.definitions[-3:]
        )
        return facts if fits else None


def _is_wanted(one: Differing, withheld: HiddenPaths, snapshot: Snapshot, found: Loaded) -> bool:
    """Whether a file is code that may be looked into; what is not is noted."""
    note = None
    if MODULE in (one.old_mode, one.new_mode):
        old, new = (one.old_object or "")[:9] or "none", (one.new_object or "")[:9] or "another commit"
        note = f"submodule {old} → {'none' if one.status == 'deleted' else new}"
    elif LINK in (one.old_mode, one.new_mode) or (one.untracked and _is_link(one.path, snapshot)):
        note = "a link"
    elif withheld.covers(one.path) or withheld.covers(one.before):
        note = "left out by the rules for secrets or by .cplignore"
    language = languages().of(one.path)
    if note is None and language is not None and language.kind == "code":
        return True
    if note is None and language is None and "." not in one.path.rpartition("/")[2]:
        # Its first line may name the program that reads it.
        return True
    found.others.append(Unparsed(file=one, language=language.name if language else None, note=note))
    return False


def _is_link(path: str, snapshot: Snapshot) -> bool:
    known = snapshot.files.get(path)
    return known is not None and stat.S_ISLNK(known.stamp.mode)


def _problem(one: Differing, before: bytes, after: bytes, read: set[str], snapshot: Snapshot) -> str | None:
    """Why a file cannot be looked into, if so."""
    if any(oid is not None and oid not in read for oid in (one.old_object, one.new_object)):
        return "too large, or its content is not there"
    if one.new_object is None and one.status != "deleted":
        known = snapshot.files.get(one.path)
        if known is None:
            return "not in the index"
        if known.skipped is not None:
            return known.skipped
    if b"\0" in before or b"\0" in after:
        return "binary"
    return "too large" if max(len(before), len(after)) > MAX_FILE else None
