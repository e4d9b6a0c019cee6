"""References against what others say they are. `python -m bench.references --data FILE --root FOLDER`.

A line of the data is a symbol: `{kind, name, qualname, file, line, col, certain, disputed}`. Places are
`[file, line, column]`, counted from 0, columns in characters; what is disputed counts for nothing.
"""

import argparse
import contextlib
import json
import os
import re
import sys
import tempfile
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import xxhash

from bench.measure import Sample, Stopwatch, machine, table
from codeplane.code.entity import Bound
from codeplane.code.languages.member_side import side_of
from codeplane.code.languages.registry import languages
from codeplane.code.model import Facts
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.references import references
from codeplane.code.resolve.tier import TIERS
from codeplane.code.resolve.world import SharedModules, World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.file import Stamp
from codeplane.index.parse_worker import Source
from codeplane.index.parsed_table import ParsedFile
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import IndexedFile, Snapshot

_SURE = ("PROVEN", "STRONG")
_LEFT_OUT = frozenset({".git", "node_modules", ".codeplane"})
_MAX_FILE = 4 * 1024 * 1024

Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A symbol of the data."""

    kind: str
    name: str
    qualname: str
    file: str
    line: int
    column: int
    certain: frozenset[Place]
    disputed: frozenset[Place]


@dataclass(slots=True)
class Score:
    """What was found of some symbols, by tier, and what a plain search for their names finds."""

    symbols: int = 0
    unknown: int = 0
    exact: int = 0
    certain: int = 0
    found: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TIERS, 0))
    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TIERS, 0))
    matched: int = 0
    matched_right: int = 0

    def note(self, asked: Asked, answer: Mapping[str, set[Place]], matched: set[Place]) -> None:
        """Count one symbol's answer."""
        self.symbols += 1
        self.certain += len(asked.certain)
        for tier, places in answer.items():
            self.found[tier] += len(places - asked.disputed)
            self.right[tier] += len(places & asked.certain)
        sure = set().union(*(answer[tier] for tier in _SURE)) - asked.disputed
        self.exact += sure == asked.certain - asked.disputed
        self.matched += len(matched - asked.disputed)
        self.matched_right += len(matched & asked.certain)

    def row(self, kind: str) -> list[str]:
        """The figures of one line."""
        sure = sum(self.right[tier] for tier in _SURE)
        claimed = sum(self.found[tier] for tier in _SURE)
        return [
            kind,
            str(self.symbols),
            str(self.certain),
            _ratio(sure, claimed),
            _ratio(sure, self.certain),
            _ratio(sum(self.right.values()), self.certain),
            f"{self.exact / max(self.symbols, 1):.3f}",
            *(f"{self.right[tier]}/{self.found[tier]}" for tier in TIERS),
            _ratio(self.matched_right, self.matched),
            _ratio(self.matched_right, self.certain),
        ]


class Lines:
    """Offsets of a text as lines and columns of characters, and back."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", text))]

    def place(self, path: str, offset: int) -> Place:
        """Where an offset is."""
        line = bisect_right(self._starts, offset) - 1
        return path, line, len(self._text[self._starts[line] : offset].decode("utf-8", "replace"))

    def offset(self, line: int, column: int) -> int:
        """The offset of a place."""
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._text)
        return start + len(self._text[start:end].decode("utf-8", "replace")[:column].encode())


def symbols(path: Path) -> list[Asked]:
    """The symbols of a data file."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        one = json.loads(line)
        found.append(
            Asked(
                kind=one["kind"],
                name=one["name"],
                qualname=one["qualname"],
                file=one["file"],
                line=one["line"],
                column=one["col"],
                certain=frozenset((str(file), int(at), int(column)) for file, at, column in one["certain"]),
                disputed=frozenset((str(file), int(at), int(column)) for file, at, column in one["disputed"]),
            )
        )
    return found


def snapshot_of(root: Path, content_file: Path) -> Snapshot:
    """Every file of a folder as an index would hold it; which files count is not what is measured."""
    files: dict[str, IndexedFile] = {}
    content = bytearray()
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(set(inner) - _LEFT_OUT)
        for name in sorted(names):
            whole = Path(folder, name)
            path = str(whole.relative_to(root))
            if languages().of(path) is None and not name.endswith((".json", "go.mod", "go.work")):
                continue
            text = whole.read_bytes() if whole.is_file() else b""
            if len(text) > _MAX_FILE:
                continue
            digest = xxhash.xxh3_128_hexdigest(text)
            files[path] = IndexedFile(
                path=path,
                stamp=Stamp(len(text), 0, 0, 0, 0),
                digest=digest,
                offset=len(content),
                length=len(text),
                tracked=True,
            )
            content += text
    content_file.write_bytes(content)
    return Snapshot(
        epoch=1,
        commit=None,
        files=files,
        content=bytes(content),
        content_file=content_file,
        sorted_until=len(content),
        verified_at_ns=0,
        left_out={},
    )


@contextlib.contextmanager
def parsed(root: Path, home: Path) -> Iterator[tuple[Snapshot, FactStore]]:
    """A folder's texts and facts; what a former run parsed is not parsed again."""
    home.mkdir(parents=True, exist_ok=True)
    snapshot = snapshot_of(root, home / "content.bin")
    store, parsers = FactStore(home / "facts.db"), ParserPool(processes=2)
    try:
        known, held = list(snapshot.files.values()), store.digests()
        sources = [
            Source(key=key, name=one.path, language=language.name, offset=one.offset, length=one.length)
            for key, one in enumerate(known)
            if held.get(one.path) != one.digest and (language := languages().of(one.path)) is not None
        ]
        named = {source.key: source.language for source in sources}
        for batch in parsers.parse(snapshot.content_file, sources):
            files = [
                ParsedFile(path=known[one.key].path, digest=known[one.key].digest, language=named[one.key], parsed=one)
                for one in batch
            ]
            store.put(files, epoch=1)
        yield snapshot, store
    finally:
        parsers.close()
        store.close()


def bound_at(facts: Facts, path: str, at: int) -> Bound | None:
    """What is bound at a place of a file."""
    for one in facts.definitions:
        if one.name_at == at:
            return Bound(path, one.scope, one.name)
    for row, name in enumerate(facts.bind_names):
        if facts.bind_at(row) == at:
            return Bound(path, facts.bind_scope(row), name)
    return None


def matched_names(snapshot: Snapshot, store: FactStore, name: str, lines: Mapping[str, Lines]) -> set[Place]:
    """The peer: the name as a token, wherever the language has code."""
    found = set()
    for path, digest in store.files_with(name):
        facts = store.facts(path, digest)
        text = snapshot.text(snapshot.files[path])
        for offset in occurrences(text, name):
            if facts is not None and not facts.in_text(offset):
                found.add(lines[path].place(path, offset))
    return found


class _Texts(dict[str, Lines]):
    """The lines of each file, once asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self._snapshot = snapshot

    def __missing__(self, path: str) -> Lines:
        self[path] = found = Lines(self._snapshot.text(self._snapshot.files[path]))
        return found


def scored(snapshot: Snapshot, store: FactStore, asked: Sequence[Asked], *, verbose: bool, under: str = "") -> None:
    """Ask for every symbol and print the figures; places outside of the folder `under` do not count."""
    shared = SharedModules()
    lines = _Texts(snapshot)
    scores: dict[str, Score] = defaultdict(Score)
    latencies: list[int] = []
    peer_ns: list[int] = []
    with Stopwatch() as watch:
        for one in asked:
            world = World(snapshot, store, shared)
            facts = world.facts(one.file)
            at = lines[one.file].offset(one.line, one.column)
            bound = bound_at(facts, one.file, at) if facts is not None else None
            defined = next((it for it in facts.definitions if it.name_at == at), None) if facts is not None else None
            side = side_of(facts, world.text(one.file), defined) if facts is not None and defined is not None else ""
            began = time.perf_counter_ns()
            found = list(references(world, store, [bound], side=side)) if bound is not None else []
            latencies.append(time.perf_counter_ns() - began)
            answer: dict[str, set[Place]] = {tier: set() for tier in TIERS}
            for reference in found:
                if not reference.path.startswith(under):
                    continue
                answer[reference.tier].add(lines[reference.path].place(reference.path, reference.offset))
            began = time.perf_counter_ns()
            matched = matched_names(snapshot, store, one.name, lines)
            peer_ns.append(time.perf_counter_ns() - began)
            for kind in (one.kind, "all"):
                scores[kind].unknown += bound is None
                scores[kind].note(one, answer, matched)
            if verbose:
                _tell(one, answer, known=bound is not None)
    ours, peer = Sample.of(watch, latencies), Sample.of(watch, peer_ns)
    heads = ["kind", "symbols", "certain", "precision", "recall", "+proposed", "exact", *TIERS, "name: prec.", "recall"]
    print(table(heads, [scores[kind].row(kind) for kind in sorted(scores, key=lambda one: (one == "all", one))]))
    print(f"not known as definitions: {scores['all'].unknown}")
    print(
        f"p50 {ours.p50_ms:.1f} ms, p95 {ours.p95_ms:.1f} ms; the name alone: {peer.p50_ms:.1f}, {peer.p95_ms:.1f} ms"
    )


def _tell(one: Asked, answer: Mapping[str, set[Place]], *, known: bool) -> None:
    sure = answer["PROVEN"] | answer["STRONG"]
    wrong = sorted(sure - one.certain - one.disputed)
    proposed = answer["ANCHORED"] | answer["UNKNOWN"]
    missed = sorted(one.certain - sure)
    if wrong or missed or not known:
        print(f"{one.kind} {one.qualname} {one.file}:{one.line + 1}:{one.column + 1}{'' if known else ' NOT KNOWN'}")
        for path, line, column in wrong[:6]:
            print(f"    wrong   {path}:{line + 1}:{column + 1}")
        for place in missed[:8]:
            path, line, column = place
            print(f"    {'guessed' if place in proposed else 'missed '} {path}:{line + 1}:{column + 1}")


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def main() -> None:
    """Score a folder against a data file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="symbols and their references, a JSON object a line")
    parser.add_argument("--root", type=Path, required=True, help="the folder they are of")
    parser.add_argument("--home", type=Path, help="where facts are kept for the next run")
    parser.add_argument("--verbose", action="store_true", help="name what is wrong and what is missed")
    parser.add_argument("--under", default="", help="the folder that the data covers, if it is not all of the root")
    options = parser.parse_args()
    asked = symbols(options.data)
    if not asked:
        sys.exit(f"no symbols in {options.data}")
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        home = options.home or Path(name)
        print(f"{options.data.name}: {machine(Path(name))}")
        with parsed(options.root.resolve(), home) as (snapshot, store):
            scored(snapshot, store, asked, verbose=options.verbose, under=options.under)


if __name__ == "__main__":
    main()
