"""The documentation sweep of a rename: the old name in comments, docstrings and documents, with a confidence."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from codeplane.code.entity import Bound
from codeplane.code.languages.registry import languages
from codeplane.code.model import Facts
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore, Symbol
from codeplane.index.path_kinds import is_copy
from codeplane.kernel.config import DocSweepConfig
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.language_names import known_family
from codeplane.query.search.memmem import find
from codeplane.refactor.documents.block_levels import Mention, level_blocks
from codeplane.refactor.documents.changelogs import is_historical
from codeplane.refactor.documents.code_blocks import Flavour
from codeplane.refactor.documents.comments import find_comments
from codeplane.refactor.documents.confidence import DocumentedSymbol, Judgement, judge_mention
from codeplane.refactor.documents.dotted_names import DottedNames
from codeplane.refactor.documents.local_names import EnclosingFunction, enclosing_function, judge_local_mention
from codeplane.refactor.documents.markup import Markup
from codeplane.refactor.documents.word_kinds import word_kind
from codeplane.refactor.draft import Coverage, Draft, Edit, Role

MAX_MATCHES = 2000
_MAX_NAMED = 1000
_FLAVOURS: dict[str, Flavour] = {
    "md": "markdown",
    "mdx": "markdown",
    "markdown": "markdown",
    "adoc": "adoc",
}


def sweep_documents(
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
    mentions: DottedNames | None = None,
    paths: frozenset[str] | None = None,
) -> Draft:
    """Return the places in texts that mention a symbol, or may do so.

    `qualified`: its dotted name with its module, and with its function if it is a parameter or local variable; then
    only the texts of that function are searched. `near`: the files that define or import it. `bounds`: the renamed
    definitions; a dotted name that leads to one of them is certain. `mentions`: names that an earlier sweep resolved.
    `paths`: the only files to search, if others are known not to mention it.
    """
    title = f"{name} → {new_name} in comments and documentation"
    if not config.enabled:
        return Draft(title=title, coverage=Coverage(truncated="the documentation sweep is switched off"))
    meant = _documented_symbol(world, store, name, qualified, near, bounds)
    sweep = _Sweep(world, store, meant, mentions or DottedNames(world, store, name), bounds, new_name, near, deadline)
    inside = enclosing_function(world, store, qualified, near)
    for path, role in sweep.files(config.scan_extensions) if inside is None else ((inside.file, "COMMENT"),):
        if (paths is None or path in paths) and not sweep.scan(path, role, inside):
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
    """One sweep: the edits it found, and what it did not search."""

    def __init__(
        self,
        world: World,
        store: FactStore,
        meant: DocumentedSymbol,
        mentions: DottedNames,
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
        """Yield the files that contain the name: documents, then source files with comments, each in path order."""
        snapshot, wanted = self._world.snapshot, self._name.encode()
        ends = tuple(extension.lower() for extension in extensions)
        for known in snapshot.texts:
            if not (ends and known.path.lower().endswith(ends)):
                continue
            if find(snapshot.content, wanted, known.offset, known.offset + known.length) >= 0:
                yield known.path, "DOCUMENT"
        for path, _ in self._store.files_with(self._name):
            if not (ends and path.lower().endswith(ends)):
                yield path, "COMMENT"

    def scan(self, path: str, role: Role, inside: EnclosingFunction | None) -> bool:
        """Search one file; return False if no further file may be searched."""
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

    def _places(self, path: str, role: Role, inside: EnclosingFunction | None) -> Iterator[_Place]:
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
        for remark in find_comments(facts, text, self._name.encode()):
            if inside is not None and not inside.holds(remark, text):
                continue
            markup = Markup(remark.text, "rst" if remark.is_docstring else "plain")
            words = list(_words(remark.text, self._name))
            if inside is not None:
                for start, end in words:
                    judgement = judge_local_mention(self.meant, markup.at(start, end), remark.text, start, end)
                    yield _Place(start=remark.start + start, judgement=judgement)
                continue
            found = [self._mention(markup, path, start, end) for start, end in words]
            other = bool(words and self._bounds) and self._is_of_another(path, facts, remark.start)
            for mention, judgement in zip(found, level_blocks(self.meant, found), strict=True):
                if other and not mention.setting.before:
                    judgement = ("low", "what is around it has another of that name")
                yield _Place(start=remark.start + mention.start, judgement=judgement)

    def _is_of_another(self, path: str, facts: Facts, offset: int) -> bool:
        """Whether the innermost class or function around a comment that has the name has another symbol by it."""
        scope = facts.scope_at(offset)
        while scope > 0:
            if facts.rows(scope, self._name) or facts.definitions_in(scope, self._name):
                return Bound(path, scope, self._name) not in self._bounds
            scope = facts.scopes[scope].parent
        return False

    def _in_document(self, path: str, text: bytes) -> Iterator[_Place]:
        decoded = text.decode("latin-1")
        words = list(_words(decoded, self._name))
        if not words:
            return
        markup = Markup(decoded, _FLAVOURS.get(path.rpartition(".")[2].lower(), "rst"))
        past = is_historical(path)
        found = [self._mention(markup, path, start, end) for start, end in words]
        for mention, judgement in zip(found, level_blocks(self.meant, found), strict=True):
            yield _Place(start=mention.start, judgement=("low", "in a record of what was") if past else judgement)

    def _mention(self, markup: Markup, path: str, start: int, end: int) -> Mention:
        setting = markup.at(start, end)
        before, after = markup.line_context(start, end)
        reading = self._mentions.read(path, setting.before, setting.member, self._bounds)
        family = _family(setting.language)
        judgement = judge_mention(self.meant, setting, near=path in self._near, family=family, reading=reading)
        block = markup.block(start)
        return Mention(start=start, block=block, setting=setting, judgement=judgement, before=before, after=after)


def _documented_symbol(
    world: World, store: FactStore, name: str, qualified: str, near: frozenset[str], bounds: frozenset[Bound]
) -> DocumentedSymbol:
    parts = tuple(part for part in re.split(r"[./:#\\]+", qualified) if part)
    inside = parts[:-1] if parts and parts[-1] == name else parts
    whole = ".".join((*inside, name))
    own, others = [], 0
    for symbol in store.find_symbols(name, limit=_MAX_NAMED):
        by_name = symbol.file in near and (whole == symbol.path or whole.endswith(f".{symbol.path}"))
        if by_name or any(bound.file == symbol.file and bound == _find_binding(world, symbol) for bound in bounds):
            own.append(symbol)
        else:
            others += 1
    named = [languages().of(path) for path in near]
    return DocumentedSymbol(
        name=name,
        inside=inside,
        word=word_kind(name),
        is_member=any("." in symbol.path for symbol in own),
        others=others,
        families=frozenset(language.family or language.name for language in named if language is not None),
    )


def _find_binding(world: World, symbol: Symbol) -> Bound | None:
    facts = world.facts(symbol.file)
    if facts is None or symbol.position >= len(facts.definitions):
        return None
    return Bound(symbol.file, facts.definitions[symbol.position].scope, symbol.name)


def _family(language: str) -> str:
    """Return the language family of a code block; empty if it is not known."""
    try:
        return known_family(language) if language else ""
    except InvalidArgument:
        return ""


def _words(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield where a name is a whole word in a text that has one character per byte."""
    wanted = name.encode().decode("latin-1")
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not _joins(text[max(0, at - 4) : at], before=True) and not _joins(text[end : end + 4], before=False):
            yield at, end
        at = text.find(wanted, at + 1)


def _joins(beside: str, *, before: bool) -> bool:
    """Whether the text beside a match makes it part of a longer identifier."""
    near = beside.encode("latin-1").decode("utf-8", "ignore")
    char = near[-1:] if before else near[:1]
    return char.isalnum() or char in ("_", "$") if char else False
