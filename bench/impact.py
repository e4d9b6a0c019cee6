"""How well tests are chosen by what changed: one-line faults in real packages, and the tests that notice them.

`python -m bench.impact FOLDER [FOLDER …]` takes unpacked source distributions whose suites pass under the interpreter
named by --python. Of each fault the whole suite is run once; a fault that no test notices does not count. --known
keeps which tests notice which fault, so that a second measurement is quick.
"""

import argparse
import ast
import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config, run_plane

_FAILED = re.compile(r"(?m)^(?:FAILED|ERROR) (\S+?\.py(?:::\S+)?)")
_SUITE_SEC = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A line of a file, and what is wrong instead."""

    path: str
    line: int
    before: str
    after: str


def faults(root: Path, seed: int) -> Iterator[Fault]:
    """One-line faults in the package's functions, in random order: turned conditions, lost results, other values."""
    found: list[Fault] = []
    for file in sorted((root / "src").rglob("*.py") if (root / "src").is_dir() else root.rglob("*.py")):
        path = file.relative_to(root).as_posix()
        if re.search(r"(?:^|/)(?:tests?|docs|examples|\.\w+)/|(?:^|/)(?:conftest|setup)\.py|typing|test_", path):
            continue
        lines = file.read_text().splitlines()
        for node in ast.walk(ast.parse("\n".join(lines))):
            found += _in(path, lines, node)
    random.Random(seed).shuffle(found)
    yield from found


def _in(path: str, lines: list[str], node: ast.AST) -> Iterator[Fault]:
    if not isinstance(node, ast.If | ast.Return | ast.Compare | ast.Assign):
        return
    test = node.test if isinstance(node, ast.If) else node
    if test.lineno != test.end_lineno:
        return
    line = lines[node.lineno - 1]
    after = line
    if isinstance(node, ast.If) and line.lstrip().startswith("if ") and line.rstrip().endswith(":"):
        after = re.sub(r"if (.*):\s*$", r"if not (\1):", line)
    elif isinstance(node, ast.Return) and node.value is not None and node.col_offset > 0:
        after = line[: node.col_offset] + "return None"
    elif isinstance(node, ast.Compare):
        after = line.replace(" == ", " != ", 1) if " == " in line else line.replace(" is not None", " is None", 1)
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.col_offset > 0:
        after = re.sub(r"= .*$", "= 'fault'", line)
    if after != line:
        yield Fault(path=path, line=node.lineno, before=line, after=after)


def failing(root: Path, python: str) -> set[str]:
    """The tests that fail now."""
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
        "tests",
    ]
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=_SUITE_SEC, check=False
        )
    except subprocess.TimeoutExpired:
        return set()
    if "conftest" in done.stderr and "Error" in done.stderr:
        return {"tests/conftest.py"}
    return set(_FAILED.findall(done.stdout))


class Noticed:
    """Which tests notice a fault, kept in a file."""

    def __init__(self, file: Path | None, python: str) -> None:
        self._file = file
        self._python = python
        self._known: dict[str, list[str]] = json.loads(file.read_text()) if file is not None and file.exists() else {}

    def __call__(self, root: Path, fault: str) -> set[str]:
        """Run the whole suite, or remember how it went."""
        if fault not in self._known:
            self._known[fault] = sorted(failing(root, self._python))
            if self._file is not None:
                self._file.write_text(json.dumps(self._known))
        return set(self._known[fault])


async def measure(source: Path, noticing: Noticed, wanted: int, seed: int) -> tuple[int, int, float, float]:
    """The faults tried and caught, the share of test files chosen, and the place of the first that fails."""
    with tempfile.TemporaryDirectory() as folder:
        root = (Path(folder) / "repo").resolve()
        shutil.copytree(source, root, ignore=shutil.ignore_patterns(".git", ".codeplane"))
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "as it was"]):
            subprocess.run(
                ["git", "-c", "user.name=b", "-c", "user.email=b@example.org", *command], cwd=root, check=True
            )
        always = noticing(root, source.name)
        print(f"{source.name}: fail without a fault: {', '.join(sorted(always)) or 'none'}", file=sys.stderr)
        workspace = Workspace(root=root)
        loaded = load_workspace_config(workspace, ("embeddings.model=none",), {}).without_terminal()
        async with run_plane(workspace, loaded=loaded) as plane:
            index, suite = plane.index, plane.edits.suite
            tried = caught = 0
            shares: list[float] = []
            ranks: list[int] = []
            for fault in faults(root, seed):
                if tried == wanted:
                    break
                file = root / fault.path
                text = file.read_text()
                lines = text.splitlines(keepends=True)
                lines[fault.line - 1] = fault.after + "\n"
                try:
                    ast.parse("".join(lines))
                except SyntaxError:
                    continue
                file.write_text("".join(lines))
                try:
                    tests = noticing(root, f"{source.name} {fault}") - always
                    noticed = {test.partition("::")[0] for test in tests}
                    if not noticed:
                        continue
                    fresh = await index.wait_until_ready()
                    snapshot = await fresh.verify()
                    everything = suite.targets_of(snapshot)
                    chosen = [one.path for one in (await suite.impact.selection([fault.path])).reached]
                finally:
                    file.write_text(text)
                tried += 1
                hit = bool(noticed.intersection(chosen)) or not noticed & {one.path for one in everything}
                caught += hit
                shares.append(len(chosen) / len(everything))
                ranks += [at for at, path in enumerate(chosen, 1) if path in noticed][:1]
                print(
                    f"{'ok  ' if hit else 'MISS'} {fault.path}:{fault.line} {fault.after.strip()[:60]!r}"
                    f" chosen {len(chosen)}/{len(everything)}, noticed by {len(noticed)}"
                    f"{f', first at {ranks[-1]}' if hit and ranks else ''}"
                    f"{'' if hit else ' ' + ', '.join(sorted(noticed)[:4])}",
                    file=sys.stderr,
                    flush=True,
                )
        return tried, caught, sum(shares) / max(1, len(shares)), sum(ranks) / max(1, len(ranks))


def main() -> None:
    """Print a line a package."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folders", nargs="+", type=Path)
    arguments.add_argument("--python", default=sys.executable)
    arguments.add_argument("--faults", type=int, default=30)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--known", type=Path)
    given = arguments.parse_args()
    for folder in given.folders:
        tried, caught, share, rank = asyncio.run(
            measure(folder, Noticed(given.known, given.python), given.faults, given.seed)
        )
        rate = caught / max(1, tried)
        print(f"{folder.name}: {caught}/{tried} faults caught ({rate:.0%}; target 95 %),", end=" ")
        print(f"{share:.0%} of the test files run (at most 40 %), a failing one is number {rank:.1f} on average")


if __name__ == "__main__":
    main()
