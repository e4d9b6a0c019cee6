"""Which places compilers say refer to a symbol: a data file for `bench.references` and `bench.rename`.

`python -m bench.compiler_truth FOLDER --out FILE` asks Go's type checker, `javac`, `clangd` (`bench.clangd_truth`) or
`rust-analyzer` (`bench.rust_truth`) about symbols of a checkout, drawn by a seed as `bench.rename_compile` draws them;
`python -m bench.references --data FILE --root FOLDER` scores by tier.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.clangd_truth import ClangdTruth, clangd
from bench.compilers import Compiler, Project, UnitCompiler, WarmCompiler, compiling
from bench.rename_compile import described
from bench.rust_truth import RustTruth, rust_analyzer, rust_symbols
from bench.symbol_sample import Symbol, all_symbols, drawn

Place = tuple[str, int, int]


@dataclass(slots=True)
class Uses:
    """The places that mean a declaration, itself included, and those that may count as such."""

    certain: set[Place] = field(default_factory=set)
    disputed: set[Place] = field(default_factory=set)


def references(lines: Iterable[str], root: Path) -> dict[Place, Uses]:
    """The uses of each declaration; lines and columns of bytes count from 1."""
    found: dict[Place, Uses] = defaultdict(Uses)
    for line in lines:
        declared, used, *disputed = line.rstrip("\n").split("\t")
        declaration, use = _place(declared, root), _place(used, root)
        if declaration is not None and use is not None:
            uses = found[declaration]
            (uses.disputed if disputed else uses.certain).add(use)
    return found


def _place(text: str, root: Path) -> Place | None:
    path, line, column = text.rsplit(":", 2)
    if not Path(path).is_relative_to(root):
        return None
    return Path(path).relative_to(root).as_posix(), int(line), int(column)


def row(number: int, symbol: Symbol, certain: Iterable[Place], disputed: Iterable[Place]) -> dict[str, object]:
    """A line of the data, in characters from 0."""
    known = set(certain)
    return {
        "id": number,
        "kind": symbol.kind,
        "name": symbol.name,
        "qualname": symbol.name,
        "file": symbol.path,
        "line": symbol.line - 1,
        "col": symbol.column - 1,
        "certain": sorted(known),
        "disputed": sorted(set(disputed) - known),
    }


def truth_rows(
    compiler: Compiler, symbols: Iterable[Symbol], root: Path
) -> Iterator[tuple[Symbol, dict[str, object] | None]]:
    """What is known about each symbol; nothing where the compiler knows no such declaration."""
    if isinstance(compiler, UnitCompiler):
        with clangd(compiler, root) as server:
            truth = ClangdTruth(server, compiler)
            for number, symbol in enumerate(symbols):
                places = truth.uses(symbol)
                yield symbol, row(number, symbol, *places) if places is not None else None
        return
    if not isinstance(compiler, WarmCompiler):
        raise SystemExit("only Go's type checker, javac and clangd are asked")
    known = references(compiler.references(), root)
    for number, symbol in enumerate(symbols):
        uses = known.get((symbol.path, symbol.line, _bytes(root, symbol.path, symbol.line, symbol.column)))
        if uses is None:
            yield symbol, None
            continue
        certain, disputed = ([_from_zero(root, place) for place in some] for some in (uses.certain, uses.disputed))
        yield symbol, row(number, symbol, certain, disputed)


def rust_rows(
    root: Path, known: Mapping[str, object], count: int, seed: int
) -> Iterator[tuple[Symbol, dict[str, object] | None]]:
    """What `rust-analyzer` knows about drawn symbols of a checkout."""
    everything = rust_symbols(root)
    with rust_analyzer(root, known) as server:
        truth = RustTruth(server, everything)
        for number, symbol in enumerate(drawn(everything, count, seed)):
            places = truth.uses(symbol)
            yield symbol, row(number, symbol, *places) if places is not None else None


def compiler_rows(
    root: Path, known: Mapping[str, object], count: int, seed: int
) -> Iterator[tuple[Symbol, dict[str, object] | None]]:
    """What the compiler of a checkout knows about drawn symbols."""
    with compiling(Project.at(root, known)) as compiler:
        yield from truth_rows(compiler, drawn(all_symbols(root, compiler.covers), count, seed), root)


def _row(root: Path, path: str, line: int) -> bytes:
    return (root / path).read_bytes().split(b"\n")[line - 1]


def _bytes(root: Path, path: str, line: int, column: int) -> int:
    return len(_row(root, path, line).decode("utf-8", "replace")[: column - 1].encode()) + 1


def _from_zero(root: Path, place: Place) -> Place:
    path, line, column = place
    return path, line - 1, len(_row(root, path, line)[: column - 1].decode("utf-8", "replace"))


def main() -> None:
    """Draw, ask and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", default="", help="unless FOLDER.json names it")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    root = options.folder.resolve()
    known = described(root, options.language)
    rows = rust_rows if known["language"] == "rust" else compiler_rows
    written: Counter[str] = Counter()
    with options.out.open("w") as out:
        for symbol, found in rows(root, known, options.count, options.seed):
            written[symbol.kind if found else "not known to the compiler"] += 1
            if found:
                out.write(json.dumps(found) + "\n")
    print(", ".join(f"{kind} {count}" for kind, count in sorted(written.items())))


if __name__ == "__main__":
    main()
