"""Renames in a real package, each judged by the package's own tests.

`python -m bench.rename_suite FOLDER --python PYTHON` takes an unpacked source distribution whose suite passes under
that interpreter. Symbols are chosen at random; each is renamed through the door, the package compiled, imported and
tested, and the rename undone, after which git must see no difference. A test that fails for the old name failed for a
place that was not changed: `said` when the answer proposed places or named risks, `unsaid` when it did not. Any other
failure is `wrong`: an edit that should not have been made.
"""

import argparse
import ast
import asyncio
import os
import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from bench.measure import machine
from bench.scratch import Ask, asking, scratch_copy, undo

_SUITE_SEC = 300
_GRAVE = ("outside_base", "overriding_parameter")
_ERROR = re.compile(r"(?m)^(?:E\s+)?\S*(?:Error|Exception|Exit)\b.*$")
_COMPILES = """
import ast, pathlib
for folder in ("src", "tests"):
    for file in pathlib.Path(folder).rglob("*.py"):
        ast.parse(file.read_text())
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A name to change: lines and columns count from 1."""

    kind: str
    name: str
    path: str
    line: int
    column: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


def symbols(root: Path) -> Iterator[Chosen]:
    """Functions, classes, methods, constants, attributes, parameters and variables of the package."""
    for file in sorted((root / "src").rglob("*.py")):
        path = file.relative_to(root).as_posix()
        text = file.read_text()
        lines = text.splitlines()
        tree = ast.parse(text)
        for node in ast.walk(tree):
            for kind, name, line, near in _named(node, tree):
                column = lines[line - 1].find(name, near)
                if column >= 0 and not name.startswith("__") and name not in ("self", "cls", "_"):
                    yield Chosen(kind=kind, name=name, path=path, line=line, column=column + 1)


def _named(node: ast.AST, tree: ast.Module) -> Iterator[tuple[str, str, int, int]]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        top = node in tree.body
        yield "function" if top else "method", node.name, node.lineno, node.col_offset
        for one in (*node.args.args, *node.args.kwonlyargs):
            yield "parameter", one.arg, one.lineno, one.col_offset
    elif isinstance(node, ast.ClassDef):
        yield "class", node.name, node.lineno, node.col_offset
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        kind = "constant" if node in tree.body else "variable"
        yield kind, node.targets[0].id, node.targets[0].lineno, node.targets[0].col_offset
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            yield "attribute", target.attr, target.lineno, target.col_offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the package says of itself: the tests that passed, and what each of the others said."""

    passed: frozenset[str] = frozenset()
    failed: Mapping[str, str] = field(default_factory=dict)
    broken: str = ""


def verdict(root: Path, python: str) -> Verdict:
    """Compile, import and test the package."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    package = next(one.name for one in sorted((root / "src").iterdir()) if (one / "__init__.py").exists())

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [python, *arguments],
            cwd=root,
            env=environment,
            capture_output=True,
            check=False,
            timeout=_SUITE_SEC,
            text=True,
        )

    for program in (_COMPILES, f"import {package}"):
        done = run("-c", program)
        if done.returncode:
            return Verdict(broken=done.stderr.strip().splitlines()[-1])
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        # With what the program logged: a server that answers 500 says why only there.
        logged = ("-o", "junit_logging=all", "-o", "junit_log_passing_tests=false")
        done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", *logged, f"--junitxml={report.name}")
        try:
            cases = list(ElementTree.parse(report.name).getroot().iter("testcase"))
        except ElementTree.ParseError:
            return Verdict(broken=(done.stderr or done.stdout).strip()[-500:])
    found = {f"{one.get('classname')}::{one.get('name')}": one for one in cases}
    return Verdict(
        passed=frozenset(name for name, one in found.items() if _outcome(one) is None),
        failed={name: _said(one) for name, one in found.items() if _outcome(one) is not None},
    )


def _outcome(case: ElementTree.Element) -> ElementTree.Element | None:
    return next((one for one in case if one.tag in ("failure", "error", "skipped")), None)


def _said(case: ElementTree.Element) -> str:
    return " ".join(f"{one.get('message')} {one.text}" for one in case)


async def judged(
    ask: Ask, root: Path, python: str, baseline: frozenset[str], one: Chosen, new_name: str
) -> tuple[str, str]:
    """What became of one rename: a word to count, and what there is to say."""
    made = await _renamed(ask, one, new_name)
    if isinstance(made, str):
        return "refused", made
    now = verdict(root, python)
    left = await undo(ask, root)
    assert not left, left
    lost = sorted(baseline - now.passed)
    if not lost and not now.broken:
        return "green", ""
    output = {name: now.failed.get(name, now.broken) for name in lost} or {"": now.broken}
    old = re.compile(rf"\b{re.escape(one.name)}\b")
    errors = {name: _ERROR.findall(text) or [text] for name, text in output.items()}
    mistaken = [name for name, lines in errors.items() if any(f"attribute '{new_name}'" in line for line in lines)]
    missed = [name for name, lines in errors.items() if any(old.search(line) for line in lines)]
    # What fails for neither name fails because something before it did.
    wrong = mistaken or ([] if missed else list(output))
    word = "wrong" if wrong else "said" if made else "unsaid"
    first = (wrong or missed)[0]
    return word, f"{len(lost)} tests fail, as {first}: {errors[first][0].strip()[:160]}"


async def _renamed(ask: Ask, one: Chosen, new_name: str) -> bool | str:
    """Rename it: whether the answer named anything it left alone; a text when it was refused."""
    done = await ask("refactor.rename", symbol=one.place, new_name=new_name, apply=True)
    result = done.get("result")
    if isinstance(result, dict) and result["status"] == "needs_decision":
        grave = [risk["kind"] for risk in result["manifest"]["risks"] if risk["kind"] in _GRAVE]
        if grave:
            return f"asked back: {grave[0]}"
        done = await ask("refactor.apply", refactor_id=result["refactor_id"], candidate="family")
        result = done.get("result")
    if not isinstance(result, dict):
        return _error(done)
    if result["status"] == "previewed":
        meta = done["meta"]
        assert isinstance(meta, dict)
        return f"asked back: {meta['warnings']}"
    if result["status"] != "applied":
        return str(result["status"])
    return bool(result["applied"]["not_applied"] or result["manifest"]["risk_count"])


def _error(envelope: dict[str, object]) -> str:
    error = envelope["error"]
    assert isinstance(error, dict)
    return f"{error['error']}: {error['message']}"[:160]


async def measured(root: Path, python: str, count: int, seed: int, *, verbose: bool) -> Counter[str]:
    before = verdict(root, python)
    baseline = before.passed
    print(f"{len(baseline)} tests pass before, {len(before.failed)} do not{before.broken}", flush=True)
    chosen = list(symbols(root))
    random.Random(seed).shuffle(chosen)
    tally: Counter[str] = Counter()
    async with asking(root) as ask:
        for one in chosen:
            if sum(tally.values()) - tally["refused"] >= count:
                break
            word, output = await judged(ask, root, python, baseline, one, f"{one.name}_renamed")
            tally[word] += 1
            if verbose or word not in ("green", "refused"):
                print(f"{word:22} {one.kind:10} {one.name:28} {one.place}  {output}", flush=True)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", required=True, help="an interpreter that has what the suite needs")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    chosen = parser.parse_args()
    print(f"renames judged by {chosen.folder.name}'s own tests: {machine(chosen.folder)}")
    with scratch_copy(chosen.folder) as root:
        tally = asyncio.run(measured(root, chosen.python, chosen.count, chosen.seed, verbose=chosen.verbose))
    renamed = sum(tally.values()) - tally["refused"]
    print(f"{renamed} renames: " + ", ".join(f"{count} {word}" for word, count in sorted(tally.items())))


if __name__ == "__main__":
    main()
