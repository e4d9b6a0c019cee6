"""Compares two versions of files: changed definitions and new syntax errors."""

import asyncio
import os
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Protocol

from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import languages
from codeplane.code.model import Definition, Facts, unpack_facts
from codeplane.edit.line_diff import Hunk, diff_lines, split_lines
from codeplane.index.files.file import identity_of
from codeplane.index.files.paths import path_text
from codeplane.index.parse_worker import ParseResult, Source
from codeplane.index.parser_pool import ParserPool

MAX_PARSED = 1024 * 1024
_MAX_BYTES = 8 * 1024 * 1024
_MAX_FACTS = 64 * 1024 * 1024
_START = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Contents before and after a change, by path; a created or deleted file is on one side only."""

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    hunks: Mapping[str, Sequence[Hunk]] = field(default_factory=dict)
    """The lines in which the versions of a path differ, where they have been compared."""

    def find_hunks(self, path: str) -> Sequence[Hunk]:
        """Return the lines in which the versions of a path differ."""
        if (known := self.hunks.get(path)) is not None:
            return known
        return diff_lines(split_lines(self.before.get(path, b"")), split_lines(self.after.get(path, b"")))


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxDiff:
    """Changed definitions (`+` added, `-` removed), and descriptions of new syntax errors."""

    symbols: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    around: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """By shown path, the innermost definition around each hunk of the file, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """One file on one side."""

    path: str
    text: bytes
    language: Language
    is_after: bool


class KnownFacts(Protocol):
    """The facts of the index."""

    def facts(self, path: str, digest: str) -> Facts | None:
        """Return the facts of a path and content digest when the index has them."""
        ...

    def expect(self, path: str, digest: str, packed: bytes) -> Facts:
        """Unpack the facts that the index is about to have of a path."""
        ...


class SyntaxComparer:
    """Parse both versions of files in the worker processes and compare them."""

    def __init__(self, *, parsers: ParserPool, known: KnownFacts | None = None) -> None:
        self._parsers = parsers
        self._known = known
        # One at a time, so that callers share the warm process, and in a thread of its own, so that waiting callers
        # take no thread from those that write.
        self._turns = ThreadPoolExecutor(1, thread_name_prefix="codeplane-syntax")

    async def compare(self, texts: Texts) -> SyntaxDiff:
        """Compare the texts before and after."""
        return await asyncio.get_running_loop().run_in_executor(self._turns, copy_context().run, self._compare, texts)

    def _compare(self, texts: Texts) -> SyntaxDiff:
        versions, too_large = _versions(texts)
        if not versions:
            return SyntaxDiff(errors=_too_large_warning(too_large))
        try:
            parsed = self._parse(versions)
        except Exception as error:  # the call must be answered whatever fails here
            return SyntaxDiff(errors=(f"syntax was not checked: {error}",))
        symbols: list[str] = []
        errors: list[str] = []
        around: dict[str, list[str | None]] = {}
        for path in dict.fromkeys(version.path for version in versions):
            before, after = parsed.get((path, False)), parsed.get((path, True))
            hunks = texts.find_hunks(path)
            old, new = _DefinitionLines(before), _DefinitionLines(after)
            symbols += _changed_symbols(path, hunks, old, new)
            around[path_text(path)] = list(_enclosing_symbols(hunks, old, new))
            if after is not None and (line := after.new_error_line(before)):
                errors.append(f"syntax error at {path_text(path)}:{line}")
        return SyntaxDiff(symbols=tuple(symbols), errors=(*errors, *_too_large_warning(too_large)), around=around)

    def _parse(self, versions: list[_Version]) -> "dict[tuple[str, bool], _Parse]":
        # With their texts: to write a file for the worker and to empty it takes longer than to parse a small edit.
        sources = [
            Source(
                key=key,
                name=os.fsencode(version.path).decode("latin-1"),
                language=version.language.name,
                offset=0,
                length=len(version.text),
                text=version.text,
            )
            for key, version in enumerate(versions)
        ]
        digests = [identity_of(version.text) for version in versions]
        known_facts: dict[int, Facts] = {}
        for key, version in enumerate(versions):
            if self._known is not None and (facts := self._known.facts(version.path, digests[key])):
                known_facts[key] = facts
        parses = {key: _Parse(facts=facts, broken=bool(facts.errors)) for key, facts in known_facts.items()}
        unknown = [source for source in sources if source.key not in known_facts]
        for key, parsed in self._run_parsers(unknown, check=False).items() if unknown else ():
            version, digest = versions[key], digests[key]
            if not parsed.facts:
                parses[key] = _Parse(facts=None, broken=bool(parsed.problem))
            elif self._known is None or not version.is_after:
                parses[key] = _Parse(facts=_unpack(parsed.facts), broken=bool(parsed.problem))
            else:
                # What comes after this edit is what comes before the next one.
                facts = self._known.expect(version.path, digest, parsed.facts)
                parses[key] = _Parse(facts=facts, broken=bool(parsed.problem))
                self._parsers.keep(version.path, digest, version.language.name, parsed)
        by_side = {(versions[key].path, versions[key].is_after): parse for key, parse in parses.items()}
        broken = [path for path, is_after in by_side if is_after and _is_broken_twice(by_side, path)]
        if again := [source for source in sources if versions[source.key].path in broken]:
            for key, parsed in self._run_parsers(again, check=True).items():
                side = (versions[key].path, versions[key].is_after)
                by_side[side] = replace(by_side[side], errors=parsed.errors)
        return by_side

    def _run_parsers(self, sources: list[Source], *, check: bool) -> dict[int, ParseResult]:
        batches = self._parsers.parse(None, sources, check=check)
        return {parsed.key: parsed for batch in batches for parsed in batch}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parse:
    """The parse result of one version."""

    facts: Facts | None
    broken: bool
    errors: int | None = None

    def new_error_line(self, before: "_Parse | None") -> int:
        """Return the line of the first error if there are more errors than before, else 0."""
        line = self.facts.errors if self.facts is not None else 0
        if not line or before is None or not before.broken:
            return line
        more = self.errors is not None and before.errors is not None and self.errors > before.errors
        return line if more else 0


def _is_broken_twice(parses: Mapping[tuple[str, bool], _Parse], path: str) -> bool:
    """Whether both versions have errors, so that only their number shows a new one."""
    return all((parse := parses.get((path, side))) is not None and parse.broken for side in (False, True))


def _versions(texts: Texts) -> tuple[list[_Version], list[str]]:
    """Return the versions to parse, and the paths that are too large."""
    versions: list[_Version] = []
    too_large: list[str] = []
    total = 0
    for is_after, side in ((False, texts.before), (True, texts.after)):
        for path, text in side.items():
            language = languages().of(path, text[:_START])
            if language is None or b"\0" in text:
                continue
            total += len(text)
            if len(text) > MAX_PARSED or total > _MAX_BYTES:
                too_large.append(path)
            else:
                versions.append(_Version(path=path, text=text, language=language, is_after=is_after))
    return [version for version in versions if version.path not in too_large], too_large


def _too_large_warning(paths: list[str]) -> tuple[str, ...]:
    different = sorted(set(paths))
    return (f"too large to be parsed: {', '.join(map(path_text, different[:5]))}",) if different else ()


class _DefinitionLines:
    """The definitions of one version by the lines that they take, so that not all are looked at for every hunk."""

    def __init__(self, parse: _Parse | None) -> None:
        self._definitions = parse.facts.definitions if parse is not None and parse.facts is not None else ()
        self._order = sorted(range(len(self._definitions)), key=lambda at: self._definitions[at].line)
        self._starts = [self._definitions[at].line for at in self._order]
        # How far those up to each one reach.
        self._reach = list(accumulate((self._definitions[at].end_line for at in self._order), max))

    @cached_property
    def paths(self) -> set[str]:
        """The paths of all definitions."""
        return {definition.path for definition in self._definitions}

    def definitions_in(self, first: int, last: int) -> list[Definition]:
        """Return the definitions that have a line of a span, in their order in the file."""
        found: list[int] = []
        place = bisect_right(self._starts, last) - 1
        while place >= 0 and self._reach[place] >= first:
            if self._definitions[self._order[place]].end_line >= first:
                found.append(self._order[place])
            place -= 1
        return [self._definitions[at] for at in sorted(found)]

    def innermost(self, first: int, last: int) -> str | None:
        """Return the path of the smallest definition around a span."""
        around = [
            definition
            for definition in self.definitions_in(first, last)
            if definition.line <= first and last <= definition.end_line
        ]
        return min(around, key=lambda definition: definition.end - definition.start).path if around else None


def _changed_symbols(path: str, hunks: Sequence[Hunk], old: _DefinitionLines, new: _DefinitionLines) -> Iterator[str]:
    """Return the innermost definitions around every hunk, of both versions."""
    in_old = _touched_definitions(old, [(hunk.start + 1, hunk.end) for hunk in hunks])
    in_new = _touched_definitions(new, [(hunk.new_start + 1, hunk.new_end) for hunk in hunks])
    for name in dict.fromkeys(definition.path for definition in (*in_old, *in_new)):
        sign = "" if name in old.paths and name in new.paths else "-" if name in old.paths else "+"
        yield f"{sign}{path_text(path)}:{name}"


def _enclosing_symbols(hunks: Sequence[Hunk], old: _DefinitionLines, new: _DefinitionLines) -> Iterator[str | None]:
    """Return the smallest definition around each hunk, in the new version or, for a deletion, in the old one."""
    for hunk in hunks:
        if hunk.insertions:
            yield new.innermost(hunk.new_start + 1, hunk.new_end)
        else:
            yield old.innermost(hunk.start + 1, max(hunk.end, hunk.start + 1))


def _touched_definitions(lines: _DefinitionLines, spans: Sequence[tuple[int, int]]) -> Iterator[Definition]:
    """Return the innermost definitions that these spans of lines touch."""
    for start, end in spans:
        touched = lines.definitions_in(start, end)
        inner = _directly_inside(touched)
        for place, definition in enumerate(touched):
            # Not one whose touched lines are all inside other touched definitions.
            if not _cover(inner[place], max(start, definition.line), min(end, definition.end_line)):
                yield definition


def _directly_inside(definitions: Sequence[Definition]) -> list[list[Definition]]:
    """Return for each definition those directly inside it, in order."""
    inner: list[list[Definition]] = [[] for _ in definitions]
    if len(definitions) < 2:
        return inner
    order = sorted(range(len(definitions)), key=lambda at: (definitions[at].start, -definitions[at].end))
    outer: list[int] = []
    for at in order:
        definition = definitions[at]
        # Definitions of one statement, as in `a, b = 1, 2`, are siblings.
        while outer and not _is_inside(definition, definitions[outer[-1]]):
            outer.pop()
        if outer:
            inner[outer[-1]].append(definition)
        outer.append(at)
    return inner


def _is_inside(inner: Definition, outer: Definition) -> bool:
    return (
        outer.start <= inner.start and inner.end <= outer.end and (inner.start, inner.end) != (outer.start, outer.end)
    )


def _cover(definitions: Sequence[Definition], first: int, last: int) -> bool:
    """Whether the definitions, which are in order, cover every line."""
    line = first
    for definition in definitions:
        if definition.line > line:
            return False
        line = max(line, definition.end_line + 1)
    return bool(definitions) and line > last


def _unpack(packed: bytes) -> Facts:
    return unpack_facts(zlib.decompressobj().decompress(packed, _MAX_FACTS))
