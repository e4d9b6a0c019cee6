"""The sweep after a rename: the old name in comments, docstrings and documentation, each with how sure it is."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from codeplane.code.languages.registry import languages
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore, Symbol
from codeplane.index.path_kinds import is_copy
from codeplane.kernel.config import DocSweepConfig
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.byte_search import find
from codeplane.query.search.language_names import known_family
from codeplane.refactor.documents.blocks import Flavour
from codeplane.refactor.documents.comments import remarks
from codeplane.refactor.documents.judged import Judgement, Meant, judged
from codeplane.refactor.documents.local import Local, judged_inside, local
from codeplane.refactor.documents.markup import Markup
from codeplane.refactor.documents.mentions import Mentions
from codeplane.refactor.documents.records import is_record
from codeplane.refactor.documents.whole import Found, as_wholes
from codeplane.refactor.documents.words import word
from codeplane.refactor.draft import Coverage, Draft, Edit, Role

MAX_MATCHES = 2000
_MAX_NAMED = 1000
_FLAVOURS: dict[str, Flavour] = {
    "md": "markdown",
    "mdx": "markdown",
    "markdown": "markdown",
    "adoc": "adoc",
}


def swept(
    world: World,
    store: FactStore,
    *,
    name: str,
    new_name: str,
    qualified: str,
    near: frozenset[str],
    config: DocSweepConfig,
    deadline: float,
    bounds: frozenset[Bound] = frozenset(),
    mentions: Mentions | None = None,
    paths: frozenset[str] | None = None,
) -> Draft:
    """The places in texts where a symbol is, or may be, spoken of.

    `qualified` is its dotted name with its module's, and with its function's where it is a parameter or a local
    variable: then the texts of that function alone are looked at. `near` are the files that define or import it.
    `bounds` are the definitions that are renamed: a dotted name that leads to one of them is sure. `mentions` are
    names that an earlier sweep resolved. `paths` are the only files to look at: others are known to say nothing.
    """
    title = f"{name} → {new_name} in comments and documentation"
    if not config.enabled:
        return Draft(title=title, coverage=Coverage(truncated="the documentation sweep is switched off"))
    meant = _meant(world, store, name, qualified, near, bounds)
    sweep = _Sweep(world, store, meant, mentions or Mentions(world, store, name), bounds, new_name, near, deadline)
    inside = local(world, store, qualified, near)
    for path, role in sweep.files(config.scan_extensions) if inside is None else ((inside.file, "COMMENT"),):
        if (paths is None or path in paths) and not sweep.look(path, role, inside):
            break
    return Draft(
        title=title,
        name=name,
        edits=tuple(sweep.edits),
        coverage=Coverage(
            files_scanned=sweep.scanned,
            unparsed=tuple(sweep.unparsed),
            truncated=sweep.truncated,
            families=tuple(sorted(sweep.meant.families)),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    start: int
    judgement: Judgement


class _Sweep:
    """One sweep: what was found, and what was not looked at."""

    def __init__(
        self,
        world: World,
        store: FactStore,
        meant: Meant,
        mentions: Mentions,
        bounds: frozenset[Bound],
        new_name: str,
        near: frozenset[str],
        deadline: float,
    ) -> None:
        self._world, self._store = world, store
        self._name, self._new_name = meant.name, new_name
        self._near, self._deadline = near, deadline
        self._mentions, self._bounds = mentions, bounds
        self.meant = meant
        self.edits: list[Edit] = []
        self.unparsed: list[str] = []
        self.scanned = 0
        self.truncated = ""

    def files(self, extensions: tuple[str, ...]) -> Iterator[tuple[str, Role]]:
        """The files that hold the name: documentation, and source files with comments; in the order of paths."""
        snapshot, wanted = self._world.snapshot, self._name.encode()
        ends = tuple(one.lower() for one in extensions)
        for known in snapshot.texts:
            if not (ends and known.path.lower().endswith(ends)):
                continue
            if find(snapshot.content, wanted, known.offset, known.offset + known.length) >= 0:
                yield known.path, "DOCUMENT"
        for path, _ in self._store.files_with(self._name):
            if not (ends and path.lower().endswith(ends)):
                yield path, "COMMENT"

    def look(self, path: str, role: Role, inside: Local | None) -> bool:
        """Look at one file; False when no further one may be looked at."""
        known = self._world.snapshot.files.get(path)
        if known is None or known.skipped is not None or is_copy(path):
            return True
        if time.monotonic() > self._deadline:
            self.truncated = f"out of time at {path}: later files were not looked at"
            return False
        self.scanned += 1
        for place in self._places(path, role, inside):
            if len(self.edits) >= MAX_MATCHES:
                self.truncated = f"more than {MAX_MATCHES} matches: from {path} on nothing was looked at"
                return False
            confidence, why = place.judgement
            end = place.start + len(self._name.encode())
            self.edits.append(
                Edit(
                    path=path,
                    start=place.start,
                    end=end,
                    new=self._new_name,
                    tier="UNKNOWN",
                    role=role,
                    semantic=False,
                    confidence=confidence,
                    why=why,
                )
            )
        return True

    def _places(self, path: str, role: Role, inside: Local | None) -> Iterator[_Place]:
        text = self._world.text(path)
        if role == "DOCUMENT":
            yield from self._in_document(path, text)
            return
        facts = self._world.facts(path)
        if facts is None:
            if languages().of(path) is not None:
                self.unparsed.append(path)
            return
        if facts.errors:
            self.unparsed.append(path)
        for remark in remarks(facts, text, self._name.encode()):
            if inside is not None and not inside.holds(remark, text):
                continue
            markup = Markup(remark.text, "rst" if remark.is_docstring else "plain")
            words = list(_words(remark.text, self._name))
            if inside is not None:
                for start, end in words:
                    told = judged_inside(self.meant, markup.at(start, end), remark.text, start, end)
                    yield _Place(start=remark.start + start, judgement=told)
                continue
            found = [self._seen(markup, path, start, end) for start, end in words]
            for one, judgement in zip(found, as_wholes(self.meant, found), strict=True):
                yield _Place(start=remark.start + one.start, judgement=judgement)

    def _in_document(self, path: str, text: bytes) -> Iterator[_Place]:
        said = text.decode("latin-1")
        words = list(_words(said, self._name))
        if not words:
            return
        markup = Markup(said, _FLAVOURS.get(path.rpartition(".")[2].lower(), "rst"))
        past = is_record(path)
        found = [self._seen(markup, path, start, end) for start, end in words]
        for one, judgement in zip(found, as_wholes(self.meant, found), strict=True):
            yield _Place(start=one.start, judgement=("low", "in a record of what was") if past else judgement)

    def _seen(self, markup: Markup, path: str, start: int, end: int) -> Found:
        setting = markup.at(start, end)
        before, after = markup.beside(start, end)
        reading = self._mentions.read(path, setting.before, setting.member, self._bounds)
        family = _family(setting.language)
        judgement = judged(self.meant, setting, near=path in self._near, family=family, reading=reading)
        block = markup.block(start)
        return Found(start=start, block=block, setting=setting, judgement=judgement, before=before, after=after)


def _meant(
    world: World, store: FactStore, name: str, qualified: str, near: frozenset[str], bounds: frozenset[Bound]
) -> Meant:
    parts = tuple(part for part in re.split(r"[./:#\\]+", qualified) if part)
    inside = parts[:-1] if parts and parts[-1] == name else parts
    whole = ".".join((*inside, name))
    own, others = [], 0
    for one in store.named(name, limit=_MAX_NAMED):
        by_name = one.file in near and (whole == one.path or whole.endswith(f".{one.path}"))
        if by_name or any(bound.file == one.file and bound == _bound(world, one) for bound in bounds):
            own.append(one)
        else:
            others += 1
    named = [languages().of(path) for path in near]
    return Meant(
        name=name,
        inside=inside,
        word=word(name),
        is_member=any("." in one.path for one in own),
        others=others,
        families=frozenset(one.family or one.name for one in named if one is not None),
    )


def _bound(world: World, one: Symbol) -> Bound | None:
    facts = world.facts(one.file)
    if facts is None or one.position >= len(facts.definitions):
        return None
    return Bound(one.file, facts.definitions[one.position].scope, one.name)


def _family(language: str) -> str:
    """The family of what a code block says it is in; empty where that is not known."""
    try:
        return known_family(language) if language else ""
    except InvalidArgument:
        return ""


def _words(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Where a name stands as a whole word in a text of a character a byte."""
    wanted = name.encode().decode("latin-1")
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not _joins(text[max(0, at - 4) : at], before=True) and not _joins(text[end : end + 4], before=False):
            yield at, end
        at = text.find(wanted, at + 1)


def _joins(beside: str, *, before: bool) -> bool:
    """Whether what stands beside a match makes it a piece of a longer identifier."""
    near = beside.encode("latin-1").decode("utf-8", "ignore")
    char = near[-1:] if before else near[:1]
    return char.isalnum() or char in ("_", "$") if char else False
