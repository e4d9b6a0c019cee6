"""Two versions of files beside each other: definitions that changed, and syntax errors that came."""

import asyncio
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from codeplane.code.facts.language import Language, languages
from codeplane.code.facts.model import Definition, Facts, unpacked
from codeplane.edit.hunks import Hunk, hunks, lines_of
from codeplane.index.files.file import identity_of
from codeplane.index.files.paths import shown
from codeplane.index.parse_worker import Parsed, Source
from codeplane.index.parser_pool import Parsers

MAX_PARSED = 1024 * 1024
_MAX_BYTES = 8 * 1024 * 1024
_MAX_FACTS = 64 * 1024 * 1024
_START = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Contents before and after a change, by path; what came or went is on one side only."""

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Definitions that changed (`+` new, `-` gone), and what is said of errors that were not there before."""

    symbols: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    around: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """The innermost definition around each difference of a file, in order, by the path that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """One file on one side."""

    path: str
    text: bytes
    language: Language
    is_after: bool


class Syntax:
    """Parses both versions in the worker processes."""

    def __init__(self, *, parsers: Parsers, known: Callable[[str, str], Facts | None], folder: Path) -> None:
        """`known` gives the facts of a path and a content digest, where the index has them already."""
        self._parsers = parsers
        self._known = known
        self._folder = folder
        # One after another, so that those who come together share the process that is warm; in a thread of its own, so
        # that nobody who waits for a turn keeps a thread from those who write.
        self._turns = ThreadPoolExecutor(1, thread_name_prefix="codeplane-syntax")

    async def compared(self, texts: Texts) -> Compared:
        """What differs between the two."""
        return await asyncio.get_running_loop().run_in_executor(self._turns, copy_context().run, self._compared, texts)

    def _compared(self, texts: Texts) -> Compared:
        versions, unseen = _versions(texts)
        if not versions:
            return Compared(errors=_unparsed(unseen))
        try:
            with NamedTemporaryFile(dir=self._folder, prefix="parse-") as file:
                parsed = self._parsed(versions, Path(file.name), file.fileno())
        except Exception as error:  # whatever it was, it is no reason not to answer
            return Compared(errors=(f"syntax was not checked: {error}",))
        symbols: list[str] = []
        errors: list[str] = []
        around: dict[str, list[str | None]] = {}
        for path in dict.fromkeys(version.path for version in versions):
            before, after = parsed.get((path, False)), parsed.get((path, True))
            differing = hunks(lines_of(texts.before.get(path, b"")), lines_of(texts.after.get(path, b"")))
            symbols += _changed(path, differing, before, after)
            around[shown(path)] = list(_inside(differing, before, after))
            if after is not None and (line := after.introduced(before)):
                errors.append(f"syntax error at {shown(path)}:{line}")
        return Compared(symbols=tuple(symbols), errors=(*errors, *_unparsed(unseen)), around=around)

    def _parsed(self, versions: list[_Version], content: Path, descriptor: int) -> "dict[tuple[str, bool], _Parse]":
        # A newline in front: what has no bytes at all cannot be mapped.
        os.write(descriptor, b"\n")
        sources, offset = [], 1
        for key, one in enumerate(versions):
            _write(descriptor, one.text)
            sources.append(
                Source(
                    key=key,
                    name=os.fsencode(one.path).decode("latin-1"),
                    language=one.language.name,
                    offset=offset,
                    length=len(one.text),
                )
            )
            offset += len(one.text)
        digests = [identity_of(one.text) for one in versions]
        known = (self._known(one.path, digest) for one, digest in zip(versions, digests, strict=True))
        held = {key: facts for key, facts in enumerate(known) if facts}
        found = {key: _Parse(facts=facts, broken=bool(facts.errors)) for key, facts in held.items()}
        unknown = [source for source in sources if source.key not in held]
        for key, parsed in self._asked(content, unknown, check=False).items() if unknown else ():
            found[key] = _Parse(facts=_facts(parsed), broken=bool(parsed.problem))
            if parsed.facts and versions[key].is_after:
                self._parsers.keep(versions[key].path, digests[key], versions[key].language.name, parsed)
        by_side = {(versions[key].path, versions[key].is_after): parse for key, parse in found.items()}
        both = [path for path, is_after in by_side if is_after and _is_broken(by_side, path)]
        if again := [source for source in sources if versions[source.key].path in both]:
            for key, parsed in self._asked(content, again, check=True).items():
                side = (versions[key].path, versions[key].is_after)
                by_side[side] = replace(by_side[side], errors=parsed.errors)
        return by_side

    def _asked(self, content: Path, sources: list[Source], *, check: bool) -> dict[int, Parsed]:
        return {one.key: one for batch in self._parsers.parse(content, sources, check=check) for one in batch}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parse:
    """What one version has in it."""

    facts: Facts | None
    broken: bool
    errors: int | None = None

    def introduced(self, before: "_Parse | None") -> int:
        """The line of the first error, if there are more than before; 0 otherwise."""
        line = self.facts.errors if self.facts is not None else 0
        if not line or before is None or not before.broken:
            return line
        more = self.errors is not None and before.errors is not None and self.errors > before.errors
        return line if more else 0


def _is_broken(parses: Mapping[tuple[str, bool], _Parse], path: str) -> bool:
    """Whether both versions have errors, so that only their number tells."""
    return all((parse := parses.get((path, side))) is not None and parse.broken for side in (False, True))


def _versions(texts: Texts) -> tuple[list[_Version], list[str]]:
    """What can be parsed, and the paths of what is too large for that."""
    found: list[_Version] = []
    unseen: list[str] = []
    total = 0
    for is_after, side in ((False, texts.before), (True, texts.after)):
        for path, text in side.items():
            language = languages().of(path, text[:_START])
            if language is None or b"\0" in text:
                continue
            total += len(text)
            if len(text) > MAX_PARSED or total > _MAX_BYTES:
                unseen.append(path)
            else:
                found.append(_Version(path=path, text=text, language=language, is_after=is_after))
    return [one for one in found if one.path not in unseen], unseen


def _unparsed(paths: list[str]) -> tuple[str, ...]:
    different = sorted(set(paths))
    return (f"too large to be parsed: {', '.join(map(shown, different[:5]))}",) if different else ()


def _changed(path: str, differing: Sequence[Hunk], before: _Parse | None, after: _Parse | None) -> Iterator[str]:
    """The innermost definitions around every difference, of both versions."""
    old, new = _named(before), _named(after)
    gone = list(_around(before, [(hunk.start + 1, hunk.end) for hunk in differing]))
    come = list(_around(after, [(hunk.new_start + 1, hunk.new_end) for hunk in differing]))
    for name in dict.fromkeys((*(one.path for one in gone), *(one.path for one in come))):
        sign = "" if name in old and name in new else "-" if name in old else "+"
        yield f"{sign}{shown(path)}:{name}"


def _inside(differing: Sequence[Hunk], before: _Parse | None, after: _Parse | None) -> Iterator[str | None]:
    """The smallest definition that holds each difference whole, in the new version or, of what went, in the old one."""
    for hunk in differing:
        come = _innermost(after, hunk.new_start + 1, max(hunk.new_end, hunk.new_start + 1))
        yield (
            come if hunk.new_end > hunk.new_start else _innermost(before, hunk.start + 1, max(hunk.end, hunk.start + 1))
        )


def _innermost(parse: _Parse | None, first: int, last: int) -> str | None:
    if parse is None or parse.facts is None:
        return None
    holding = [one for one in parse.facts.definitions if one.line <= first and last <= one.line + one.lines_after]
    return min(holding, key=lambda one: one.end - one.start).path if holding else None


def _named(parse: _Parse | None) -> set[str]:
    return {one.path for one in parse.facts.definitions} if parse is not None and parse.facts is not None else set()


def _around(parse: _Parse | None, spans: list[tuple[int, int]]) -> Iterator[Definition]:
    if parse is None or parse.facts is None:
        return
    for start, end in spans:
        touched = [one for one in parse.facts.definitions if one.line <= end and start <= one.line + one.lines_after]
        inner = _directly_inside(touched)
        for place, one in enumerate(touched):
            # Not one whose every touched line is inside another that is touched.
            if not _cover(inner[place], max(start, one.line), min(end, one.end_line)):
                yield one


def _directly_inside(definitions: Sequence[Definition]) -> list[list[Definition]]:
    """Of each definition those that are inside of it and of no other that is, in the order of their places."""
    found: list[list[Definition]] = [[] for _ in definitions]
    order = sorted(range(len(definitions)), key=lambda at: (definitions[at].start, -definitions[at].end))
    around: list[int] = []
    for at in order:
        one = definitions[at]
        # Those of one statement, as in `a, b = 1, 2`, are beside each other.
        while around and not _is_inside(one, definitions[around[-1]]):
            around.pop()
        if around:
            found[around[-1]].append(one)
        around.append(at)
    return found


def _is_inside(one: Definition, other: Definition) -> bool:
    return other.start <= one.start and one.end <= other.end and (one.start, one.end) != (other.start, other.end)


def _cover(definitions: Sequence[Definition], first: int, last: int) -> bool:
    """Whether every line is a line of one of the definitions, which are in order."""
    line = first
    for one in definitions:
        if one.line > line:
            return False
        line = max(line, one.end_line + 1)
    return bool(definitions) and line > last


def _facts(parsed: Parsed) -> Facts | None:
    if not parsed.facts:
        return None
    return unpacked(zlib.decompressobj().decompress(parsed.facts, _MAX_FACTS))


def _write(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
