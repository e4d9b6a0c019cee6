"""Source trees to measure on: copies as git repositories, TypeScript from npm packages, and a generated tree."""

import random
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codeplane.code.languages.registry import languages

# Packages that ship the TypeScript they are written in.
PACKAGES = ("effect@3", "viem@2", "zod@4", "openai@6", "ethers@6", "rxjs@7", "@wagmi/core@3", "@tanstack/query-core@5")
_LEFT_OUT = frozenset({".git", ".codeplane", "node_modules", "__pycache__"})
_NAMES = ("reader", "writer", "parser", "session", "request", "answer", "token", "ledger", "packet", "window", "cursor")
_PER_FOLDER = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A repository and how much text is in it; `code` is the part in languages that are parsed."""

    root: Path
    files: int
    text: int
    code: int

    def says(self, name: str) -> str:
        """One line about it."""
        return f"{name}: {self.files:,} text files, {self.text / 1e6:.1f} MB, of it code {self.code / 1e6:.1f} MB"


def texts(root: Path) -> Iterator[tuple[str, bytes]]:
    """The text files of a tree, by their paths in it."""
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.is_file() and not path.is_symlink() and not _LEFT_OUT.intersection(relative.parts):
            content = path.read_bytes()
            if b"\0" not in content[:8192]:
                yield relative.as_posix(), content


def repository(source: Path, folder: Path) -> Corpus:
    """A copy of a tree as a git repository with one commit, so that nothing is written beside the original."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*_LEFT_OUT), symlinks=True)
    return committed(folder)


def committed(folder: Path) -> Corpus:
    """A folder made a git repository with one commit."""
    named = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false"]
    quick = ["-c", "gc.auto=0", "-c", "core.fsync=none"]
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "first"]):
        subprocess.run(["git", *named, *quick, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    files = text = code = 0
    tables = languages()
    for path, content in texts(folder):
        files += 1
        text += len(content)
        code += len(content) if tables.of(path, content[:80]) is not None else 0
    return Corpus(root=folder, files=files, text=text, code=code)


def typescript(folder: Path) -> Path | None:
    """The TypeScript sources of some npm packages, or None when they cannot be had."""
    packed, sources = folder / "packed", folder / "sources"
    packed.mkdir(parents=True)
    for package in PACKAGES:
        try:
            subprocess.run(
                ["npm", "pack", "--silent", package], cwd=packed, check=True, capture_output=True, timeout=120
            )
        except (OSError, subprocess.SubprocessError):
            continue
    for archive in packed.iterdir():
        with tarfile.open(archive) as opened:
            for member in opened:
                name = Path(member.name)
                if member.isfile() and name.suffix in (".ts", ".tsx", ".mts") and not name.name.endswith(".d.ts"):
                    opened.extract(member, sources / archive.stem, filter="data")
    return sources if sources.exists() else None


def generated(folder: Path, *, files: int) -> Path:
    """A tree of many small files, mostly Python and TypeScript, the same for the same number."""
    chance = random.Random(0)
    for number in range(files):
        path = folder / f"area{number // (_PER_FOLDER * 40):03}" / f"part{number // _PER_FOLDER:05}"
        if number % _PER_FOLDER == 0:
            path.mkdir(parents=True)
        one, two = chance.choice(_NAMES), chance.choice(_NAMES)
        write, ending = chance.choice(((_python, "py"), (_python, "py"), (_typescript, "ts"), (_prose, "md")))
        (path / f"{one}_{number}.{ending}").write_text(write(number, one, two))
    return folder


def _python(number: int, one: str, two: str) -> str:
    return (
        f'"""The {one} of the {two}, number {number}."""\n\nimport json\n\nLIMIT = {number % 97}\n\n\n'
        f"class {one.title()}{number}:\n    def __init__(self, {two}: str) -> None:\n        self.{two} = {two}\n\n"
        f"    def {one}_of(self, count: int) -> str:\n        found = []\n        for turn in range(count):\n"
        f"            if turn % LIMIT == 0 and self.{two}.startswith('{one}'):\n"
        f"                # What the {two} says is kept for the {one} that asks next.\n"
        f"                found.append({{'turn': turn, '{two}': self.{two}, 'limit': LIMIT}})\n"
        f"            elif len(found) > {number % 13}:\n                found.pop()\n"
        f"        return json.dumps(found, indent=2, sort_keys=True)\n\n\n"
        f"def make_{one}({two}: str) -> {one.title()}{number}:\n"
        f"    if not {two}:\n        raise ValueError('a {one} needs a {two}, and there is none')\n"
        f"    return {one.title()}{number}({two}.strip().lower())\n"
    )


def _typescript(number: int, one: str, two: str) -> str:
    return (
        f"import {{ readFileSync }} from 'node:fs';\n\n"
        f"export interface {two.title()} {{ {two}: string; count: number }}\n\n"
        f"export class {one.title()}{number} {{\n  constructor(private readonly {two}: {two.title()}) {{}}\n\n"
        f"  {one}Of(times: number): string {{\n    const found: string[] = [];\n"
        f"    for (let turn = 0; turn < times; turn += 1) {{\n"
        f"      // What the {two} says is kept for the {one} that asks next.\n"
        f"      if (turn % {number % 97 + 1} === 0) {{\n        found.push(this.{two}.{two}.repeat(turn));\n"
        f"      }} else if (found.length > this.{two}.count) {{\n        found.pop();\n      }}\n    }}\n"
        f"    return found.join(readFileSync('{one}.txt', 'utf8'));\n  }}\n}}\n\n"
        f"export const make = ({two}: {two.title()}) => new {one.title()}{number}({two});\n"
    )


def _prose(number: int, one: str, two: str) -> str:
    return f"# The {one} and the {two}\n\nNote {number}: a {one} asks a {two}, and the {two} answers.\n"
