"""Random deletes of a real checkout, each judged by the compiler. `python -m bench.delete_compile FOLDER`.

Of `--count` symbols drawn by a seed those that are deleted are compiled without: `broken` was in use, and none may be;
`unused` compiles. Of `--unused` private functions, each a copy of one that is there under a name that nothing uses, as
many as possible should be deleted. Every delete is undone.
"""

import argparse
import asyncio
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.compilers import Compiler, Project, compiling
from bench.measure import machine, table
from bench.rename_compile import described
from bench.scratch import Ask, asking, changed_files, commit_all, scratch_copy, undo
from bench.symbol_sample import KINDS, Symbol, all_symbols, drawn, parsed_facts
from codeplane.code.model import Definition
from codeplane.index.path_kinds import is_copy, is_test

# What makes a function private, in the text from its start to its name.
_PRIVATE: Mapping[str, re.Pattern[bytes]] = {
    "go": re.compile(rb"func [a-z]\w*$"),
    "rust": re.compile(rb"^(?:const |unsafe )*fn \w+$"),
    "java": re.compile(rb"^private\b[^@]* \w+$", re.DOTALL),
    "kotlin": re.compile(rb"^private\b[^@(]*fun [^(]*\w+$", re.DOTALL),
    "csharp": re.compile(rb"^private\b[^\[]* \w+$", re.DOTALL),
    "c": re.compile(rb"^static\b[^{;#]*\b\w+$", re.DOTALL),
    "cpp": re.compile(rb"^static\b[^{;#]*\b\w+$", re.DOTALL),
}
_SUFFIX = "Unused"
_FROM_FILE = 8
_SHOWN = 20


def private_functions(root: Path, language: str, counts: Compiler) -> Iterator[tuple[str, Definition]]:
    """Functions and methods that no other file can reach, with bodies, tests left out."""
    pattern = _PRIVATE[language]
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        if not file.is_file() or not counts.covers(path) or is_test(path) or is_copy(path):
            continue
        text = file.read_bytes()
        facts = parsed_facts(path, text)
        for one in facts.definitions if facts is not None else ():
            named = text[one.start : one.name_at] + one.name.encode()
            has_body = one.body_after >= 0 or b"{" in text[one.start : one.end]
            if one.kind in ("function", "method") and has_body and pattern.search(named):
                yield path, one


def add_unused(root: Path, language: str, compiler: Compiler, count: int, seed: int) -> list[Symbol]:
    """Write copies of private functions below them, file by file as far as that compiles; where the copies are."""
    by_file: dict[str, dict[str, Definition]] = {}
    for path, one in private_functions(root, language, compiler):
        by_file.setdefault(path, {})[one.name] = one
    made: list[Symbol] = []
    chance = random.Random(seed)
    for path in chance.sample(sorted(by_file), len(by_file)):
        some = list(by_file[path].values())
        chosen = chance.sample(some, min(len(some), _FROM_FILE, count - len(made)))
        before = (root / path).read_bytes()
        text = with_copies(before, chosen)
        (root / path).write_bytes(text)
        if compiler.check([path]):
            (root / path).write_bytes(before)
            continue
        made += [_located(path, text, one.name + _SUFFIX) for one in chosen]
    return made


def with_copies(text: bytes, functions: Sequence[Definition]) -> bytes:
    """A file with a copy of each function below it."""
    for one in sorted(functions, key=lambda function: -function.start):
        name = one.name_at + len(one.name.encode())
        copy = text[text.rfind(b"\n", 0, one.start) + 1 : name] + _SUFFIX.encode() + text[name : one.end]
        text = text[: one.end] + b"\n\n" + copy + text[one.end :]
    return text


def _located(path: str, text: bytes, name: str) -> Symbol:
    above = text[: text.index(name.encode())]
    column = len(above.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
    return Symbol(kind="private", name=name, path=path, line=above.count(b"\n") + 1, column=column)


async def deleted(ask: Ask, compiler: Compiler, root: Path, symbol: Symbol) -> tuple[str, str]:
    """What became of one delete: a word to count, and why."""
    envelope = await ask("refactor.delete", target=symbol.place, apply=True)
    result = envelope.get("result")
    if not isinstance(result, dict):
        error = envelope["error"]
        assert isinstance(error, dict)
        return ("refused" if error["error"] == "STILL_USED" else "not possible"), str(error["message"])[:200]
    if result["status"] != "applied":
        return "asked", str(result["status"])
    problem = await asyncio.to_thread(compiler.check, changed_files(root))
    left = await undo(ask, root)
    return ("broken" if problem else "unused"), left or problem.replace(f"{root}/", "")


async def measured(
    compiler: Compiler, root: Path, symbols: Sequence[Symbol], *, verbose: bool
) -> list[tuple[Symbol, str, str]]:
    """Delete every symbol; what should not have been is printed at once."""
    found = []
    async with asking(root) as ask:
        for symbol in symbols:
            outcome, why = await deleted(ask, compiler, root, symbol)
            found.append((symbol, outcome, why))
            if verbose or outcome == "broken":
                print(f"{outcome:12} {symbol.kind:9} {symbol.place} {symbol.name}  {why}", file=sys.stderr, flush=True)
    return found


_OUTCOMES = ("refused", "asked", "not possible", "unused", "broken")


def rows(verdicts: Sequence[tuple[Symbol, str, str]]) -> list[list[str]]:
    """The figures by kind, and of all that are in the checkout."""
    found = []
    for kind in (*KINDS, "all", "private"):
        some = [outcome for symbol, outcome, _ in verdicts if symbol.kind == kind]
        some = [outcome for symbol, outcome, _ in verdicts if symbol.kind != "private"] if kind == "all" else some
        counts = Counter(some)
        if some:
            found.append([kind, str(len(some)), *(str(counts[outcome]) for outcome in _OUTCOMES)])
    return found


def main() -> None:
    """Measure one checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", default="", help="unless FOLDER.json names it")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--unused", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write every verdict here")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    folder = options.folder.resolve()
    known = described(folder, options.language)
    language = str(known["language"])
    print(f"{folder.name} ({language}), seed {options.seed}: {machine(folder)}", flush=True)
    with scratch_copy(folder) as root, compiling(Project.at(root, known)) as compiler:
        # Locals are not offered.
        some = [symbol for symbol in all_symbols(root, compiler.covers) if symbol.kind != "local"]
        symbols = drawn(some, options.count, options.seed)
        verdicts = asyncio.run(measured(compiler, root, symbols, verbose=options.verbose))
        unused = add_unused(root, language, compiler, options.unused, options.seed)
        commit_all(root, "with unused functions")
        verdicts += asyncio.run(measured(compiler, root, unused, verbose=options.verbose))
    print(table(["kind", "symbols", *_OUTCOMES], rows(verdicts)))
    refused = [(symbol, why) for symbol, outcome, why in verdicts if symbol.kind == "private" and outcome != "unused"]
    for symbol, why in refused[:_SHOWN]:
        print(f"not deleted  {symbol.place} {symbol.name}  {why}")
    if options.json:
        kept = [
            {"place": symbol.place, "kind": symbol.kind, "outcome": word, "why": why} for symbol, word, why in verdicts
        ]
        options.json.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
