"""rope's own cases of renames and moves, run through our planners. `python -m bench.rope_cases [--verbose]`.

The sdist of rope is fetched and unpacked in a temporary folder, its tests are run there by an environment of their own,
and what they ask for is written down by `rope_recorder`: files before, the call, files after. Nothing of it is kept.

A case is `exact` (the same bytes), `same` (every name means the same as in rope's files, written another way), or a
difference, which is listed with what kind it is.
"""

import argparse
import ast
import io
import json
import posixpath
import subprocess
import sys
import tarfile
import tempfile
import time
import tokenize
import venv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.edited_text import edited
from bench.measure import machine, table
from bench.memory_index import memory_index
from codeplane.code.entity import Module
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import SharedModules, World
from codeplane.index.fact_store import FactStore
from codeplane.kernel.errors import CodePlaneError
from codeplane.query.search.symbols import Target, targets
from codeplane.refactor.draft import Draft, Edit
from codeplane.refactor.move.file_move import plan_file_move
from codeplane.refactor.move.symbol_move import plan_symbol_move
from codeplane.refactor.rename.planner import plan_rename

_SURE = ("PROVEN", "STRONG")
_SECONDS = 30
# Why a case differs, by words of its name: what we do instead is meant.
_REASONS = {
    "parameters_on_calls": "the place is an argument's name at a call: a parameter is named where it is declared",
    "parameters_spaces_before_call": "the same",
    "parameters_with_multiple_params2": "the same",
    "rename_on_parameters": "the same",
    "strings_and_comments": "words in comments are the documentation sweep's, not the planner's",
    "when_unsure": "a receiver nobody knows is proposed, not applied",
    "resources_parameter": "renaming in some files only leaves broken code; it is not offered",
    "constant_multiple_statements": "all statements of a constant go, not the first alone",
    "relative_import": "`import mod5` finds no sibling in Python 3: it is left, or proposed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call of a test of rope."""

    test: str
    kind: str
    path: str
    offset: int | None
    to: str
    options: Mapping[str, bool]
    before: Mapping[str, str]
    after: Mapping[str, str] | None
    refused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What we made of it."""

    verdict: str
    why: str = ""
    ms: float = 0.0


def recorded(folder: Path) -> list[Case]:
    """The cases of the newest rope that can be had."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    download = [*pip, "download", "--no-deps", "--no-binary", ":all:", "--dest", str(folder), "rope"]
    subprocess.run(download, check=True, stderr=subprocess.DEVNULL)
    (archive,) = folder.glob("rope-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    venv.create(folder / "env", with_pip=True)
    python = str(folder / "env" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "--quiet", "install", str(archive)], check=True, stderr=subprocess.DEVNULL)
    home, output = archive.with_name(archive.name.removesuffix(".tar.gz")), folder / "cases.jsonl"
    recorder = str(Path(__file__).with_name("rope_recorder.py"))
    subprocess.run([python, recorder, str(home), str(output)], check=True, stderr=subprocess.DEVNULL)
    print(f"{home.name}: ", end="")
    return cases(output)


def cases(path: Path) -> list[Case]:
    """The cases that were written down."""
    return [Case(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def planned(world: World, store: FactStore, case: Case) -> Draft:
    """Our plan for a case."""
    deadline = time.monotonic() + _SECONDS
    if case.kind == "move_module":
        return _moved(
            world, store, case.path, posixpath.join(case.to.lstrip("/"), posixpath.basename(case.path)), deadline
        )
    if case.offset is None:
        return _module_renamed(world, store, case.path, case.to, deadline)
    # rope counts a line ending as one character.
    text = case.before[case.path].replace("\r\n", "\n")
    line = text.count("\n", 0, case.offset) + 1
    column = case.offset - (text.rfind("\n", 0, case.offset) + 1) + 1
    query = f"{case.path}:{line}:{column}"
    found = targets(world, store, query)
    if case.kind == "move_global":
        return plan_symbol_move(world, store, _one(found), _file(case.to or "destination_module.py"), deadline=deadline)
    module = _module_at(world, case.path, text, case.offset) if not found else None
    if module is not None:
        return _module_renamed(world, store, module, case.to, deadline)
    return plan_rename(world, store, _one(found), case.to, deadline=deadline)


def _one(found: list[Target]) -> Target:
    if len(found) != 1:
        raise LookupError(f"{len(found)} symbols at the place")
    return found[0]


def _file(to: str) -> str:
    return to if to.endswith(".py") or "/" in to else f"{to.replace('.', '/')}.py"


def _module_at(world: World, path: str, text: str, offset: int) -> str | None:
    """The module a name stands for."""
    start = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    end = start
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    name = text[start:end]
    meant = Resolver(world).at(path, len(text[:start].encode()), name).entities
    if not meant:
        meant = tuple(map(Module, world.python().find(name, path)))
    return meant[0].path if len(meant) == 1 and isinstance(meant[0], Module) else None


def _module_renamed(world: World, store: FactStore, path: str, name: str, deadline: float) -> Draft:
    home = path.removesuffix("/__init__.py")
    ending = ".py" if home.endswith(".py") else ""
    return _moved(world, store, home, posixpath.join(posixpath.dirname(home), name + ending), deadline)


def _moved(world: World, store: FactStore, path: str, new_path: str, deadline: float) -> Draft:
    return plan_file_move(world, store, path.removesuffix("/__init__.py"), new_path, deadline=deadline)


def applied(case: Case, draft: Draft) -> dict[str, str]:
    """The files after the sure edits of a plan; of candidates the one rope was asked for."""
    edits = draft.edits
    if draft.candidates:
        wanted = "family" if case.options.get("in_hierarchy") else "this_one"
        chosen = next((one for one in draft.candidates if one.id == wanted), draft.candidates[-1])
        edits = chosen.edits
    found = {path: text.encode("utf-8", "surrogateescape") for path, text in case.before.items()}
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        if edit.tier in _SURE and edit.semantic:
            by_path.setdefault(edit.path, []).append(edit)
    found |= {path: edited(found[path], some) for path, some in by_path.items()}
    moved = {one.new_path: found.pop(one.path) for one in draft.moves}
    found |= moved | {one.path: one.content.encode() for one in draft.creates}
    return {path: text.decode("utf-8", "surrogateescape") for path, text in found.items()}


def judged(case: Case, home: Path) -> Outcome:
    """Plan, apply and compare one case."""
    if case.kind == "move_method":
        return Outcome(verdict="not offered", why="a method moved to an attribute's class")
    with memory_index(case.before, home) as (snapshot, store):
        world = World(snapshot, store, SharedModules())
        began = time.perf_counter()
        try:
            draft = planned(world, store, case)
        except (CodePlaneError, LookupError) as error:
            answer = getattr(error, "message", str(error))
            return Outcome(verdict="exact" if case.refused else "refused", why=f"{type(error).__name__}: {answer}")
        ms = (time.perf_counter() - began) * 1000
    if case.refused:
        return Outcome(verdict="different", why="rope refuses, we plan", ms=ms)
    assert case.after is not None
    try:
        after = applied(case, draft)
    except ValueError as error:
        return Outcome(verdict="broken", why=str(error), ms=ms)
    differing = [path for path in sorted({*after, *case.after}) if after.get(path, "") != case.after.get(path, "")]
    if not differing:
        return Outcome(verdict="exact", ms=ms)
    broken = [path for path in differing if path in after and not _parses(after[path])]
    broken = [path for path in broken if _parses(case.after.get(path, ""))]
    if broken:
        return Outcome(verdict="broken", why=f"{broken[0]} does not parse: {after[broken[0]]!r}", ms=ms)
    if all(_meant(after.get(path, ""), path) == _meant(case.after.get(path, ""), path) for path in differing):
        return Outcome(verdict="same", why=_shown(case, after, differing[0]), ms=ms)
    unsure = sum(edit.tier not in _SURE for edit in draft.edits)
    verdict = "proposed" if unsure else "different"
    return Outcome(verdict=verdict, why=_shown(case, after, differing[0]), ms=ms)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _meant(text: str, path: str) -> str:
    """A file with every imported name written out and the imports and their order left away."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                top = one.name.partition(".")[0]
                names[one.asname or top] = one.name if one.asname else top
        elif isinstance(node, ast.ImportFrom):
            home = path.split("/")[: -node.level] if node.level else []
            source = ".".join([*home, *([node.module] if node.module else [])])
            for one in node.names:
                names[one.asname or one.name] = f"{source}.{one.name}".strip(".")
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    unused = sorted(whole for name, whole in names.items() if name not in used)
    whole = [_WrittenOut(names).visit(one) for one in tree.body if not isinstance(one, ast.Import | ast.ImportFrom)]
    printed = [
        one.string for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type == tokenize.COMMENT
    ]
    return "\n".join([*unused, *printed, *sorted(ast.unparse(one) for one in whole)])


class _WrittenOut(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(id=self._names.get(node.id, node.id), ctx=node.ctx)


def _shown(case: Case, after: Mapping[str, str], path: str) -> str:
    assert case.after is not None
    return f"{path}: rope {case.after.get(path, '(none)')!r}, we {after.get(path, '(none)')!r}"


def main() -> None:
    """Run all of them and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--cases", type=Path, help="what rope_recorder wrote, instead of fetching rope")
    arguments.add_argument("--verbose", action="store_true", help="every case that is not exact")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="rope-cases-") as name:
        folder = Path(name)
        found = cases(asked.cases) if asked.cases else recorded(folder)
        print(f"{len(found)} cases; {machine(folder)}")
        counts: dict[str, Counter[str]] = {}
        answer: list[tuple[Case, Outcome]] = []
        latencies: list[float] = []
        for index, case in enumerate(found):
            home = folder / str(index)
            home.mkdir()
            outcome = judged(case, home)
            latencies.append(outcome.ms)
            for kind in (case.kind, "all"):
                counts.setdefault(kind, Counter())[outcome.verdict] += 1
            if outcome.verdict != "exact":
                answer.append((case, outcome))
    verdicts = ["exact", "same", "proposed", "refused", "not offered", "different", "broken"]
    rows = []
    for kind in sorted(counts, key=lambda one: (one == "all", one)):
        total = sum(counts[kind].values())
        passed = counts[kind]["exact"] + counts[kind]["same"]
        rows.append([kind, str(total), *(str(counts[kind][one]) for one in verdicts), f"{passed / total:.3f}"])
    print(table(["kind", "cases", *verdicts, "passed"], rows))
    print(f"a plan takes {sorted(latencies)[len(latencies) // 2]:.1f} ms in the middle")
    for case, outcome in answer:
        if asked.verbose or outcome.verdict not in ("same", "not offered"):
            reason = next((why for words, why in _REASONS.items() if words in case.test), "")
            print(f"{outcome.verdict:11} {case.kind:11} {case.test}: {reason or 'no reason is known'}")
            print(f"            {outcome.why[: 1200 if asked.verbose else 160]}")


if __name__ == "__main__":
    main()
