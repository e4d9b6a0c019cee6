"""Structural comparison next to griffe, and on changes with known labels. `python -m bench.semantic_diff`.

Two versions of a Python package become two commits of a repository; both programs say what breaks its users. A finding
is the dotted path of a definition; both look at the package alone. Corpora are folders or sdists (`--old`, `--new`), or
taken from the package index. griffe stops at names it cannot resolve (optional dependencies), so those are left out of
what it compares.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.labelled_edits import labelled_edits
from bench.measure import machine
from bench.mutations import Mutation, mutations
from codeplane.adapters.git_cli import clean_environment
from codeplane.code.facts.extract import extractor
from codeplane.code.languages.registry import languages
from codeplane.git.read.reader import GitReader
from codeplane.index.fact_store import FactStore
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import Snapshot
from codeplane.query.compare.change import Change, FileOutlines
from codeplane.query.compare.changed_files import list_changed_files
from codeplane.query.compare.comparison import Comparison
from codeplane.query.compare.content_parser import ContentParser
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.outline_loader import OutlineLoader
from codeplane.query.compare.states import states

_GRIFFE = """
import json, logging, sys, time
import griffe
logging.disable(logging.CRITICAL)

def pruned(one):
    gone = 0
    for name, member in list(one.members.items()):
        if member.is_alias:
            try:
                member.final_target
            except Exception:
                del one.members[name]
                gone += 1
        elif member.is_module or member.is_class:
            gone += pruned(member)
    return gone

wall, cpu = time.monotonic(), time.process_time()
old, new = (griffe.load(sys.argv[3], search_paths=[path], allow_inspection=False) for path in sys.argv[1:3])
gone = pruned(old) + pruned(new)
found = [[one.kind.name, one.obj.path] for one in griffe.find_breaking_changes(old, new)]
print(json.dumps({
    "wall": time.monotonic() - wall, "cpu": time.process_time() - cpu, "found": found, "left_out": gone,
    "version": getattr(griffe, "__version__", "") or __import__("importlib.metadata").metadata.version("griffe"),
}))
"""
# Values are no promise of ours: they are told of, and not called breaking.
_VALUES = frozenset({"PARAMETER_CHANGED_DEFAULT", "ATTRIBUTE_CHANGED_VALUE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one program says breaks users, by dotted path, and what it took."""

    found: dict[str, str]
    wall: float
    cpu: float
    said: str


def main(arguments: Sequence[str] | None = None) -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", default="Django==5.1", help="folder, sdist or requirement")
    parser.add_argument("--new", default="Django==5.2", help="the later one")
    parser.add_argument("--package", default="django")
    parser.add_argument("--griffe", default="", help="a Python that has griffe; made if there is none")
    parser.add_argument("--verbose", action="store_true", help="list every finding that is not shared")
    parser.add_argument("--labels-only", action="store_true", help="only the changes with known labels")
    asked = parser.parse_args(arguments)
    print(machine(Path.cwd()))
    for output, edits in (("written with the rules", mutations()), ("written from the languages", labelled_edits())):
        print(f"\nedits {output}:")
        labelled(edits)
    if asked.labels_only:
        return
    with tempfile.TemporaryDirectory(prefix="semantic-diff-") as folder:
        scratch = Path(folder)
        old, new = (corpus(one, scratch / name) for one, name in ((asked.old, "old"), (asked.new, "new")))
        python = asked.griffe or griffe_python(scratch / "griffe")
        theirs = by_griffe(python, old, new, asked.package)
        ours = by_codeplane(repository(scratch / "repository", old, new), asked.package)
        compare(ours, theirs, verbose=asked.verbose)


def labelled(edits: Iterable[Mutation]) -> None:
    """Breaking or not on every labelled change, by language."""
    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    started = time.process_time()
    wrong = []
    for one in edits:
        answer = is_breaking(one)
        counts.setdefault(one.language, Counter())[one.breaking, answer] += 1
        if answer != one.breaking:
            wrong.append(f"{one.language}: {one.what}: {'breaking' if one.breaking else 'harmless'} by its label")
    took = time.process_time() - started
    print(f"{'language':<12}{'changes':>8}{'breaking':>9}{'precision':>10}{'recall':>8}{'accuracy':>9}")
    for language, count in [*counts.items(), ("all", sum(counts.values(), Counter[tuple[bool, bool]]()))]:
        right, extra, missed = count[True, True], count[False, True], count[True, False]
        accuracy = (right + count[False, False]) / count.total()
        print(
            f"{language:<12}{count.total():>8}{right + missed:>9}{right / max(right + extra, 1):>10.3f}"
            f"{right / max(right + missed, 1):>8.3f}{accuracy:>9.3f}"
        )
    print(f"{took:.1f} s of CPU, parsing included", *wrong, sep="\n")


def is_breaking(one: Mutation) -> bool:
    """What a comparison of the two versions says."""
    files = FileOutlines(old=_outline(one.path, one.before), new=_outline(one.path, one.after))
    return any(change.is_broken for change in Comparison([files]).changes)


def _outline(path: str, text: str) -> Outline:
    language = languages().of(path)
    assert language is not None
    return Outline(path, text.encode(), extractor(language).facts(text.encode()))


def corpus(named: str, folder: Path) -> Path:
    """The unpacked sources of a version."""
    place = Path(named)
    if place.is_dir():
        return place
    folder.mkdir(parents=True)
    if not place.is_file():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "--dest", str(folder), named], check=True)
        place = next(folder.glob("*.tar.gz"))
    with tarfile.open(place) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    return next((folder / "unpacked").iterdir())


def griffe_python(folder: Path) -> str:
    """A Python of its own with griffe."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "griffe"], check=True)
    return python


def by_griffe(python: str, old: Path, new: Path, package: str) -> Told:
    """What griffe finds."""
    command = [python, "-c", _GRIFFE, str(old), str(new), package]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    values = sum(kind in _VALUES for kind, _ in done["found"])
    return Told(
        found={path: kind for kind, path in done["found"] if kind not in _VALUES},
        wall=done["wall"],
        cpu=done["cpu"],
        said=f"griffe {done['version']}: {len(done['found'])} findings, {values} of them about values;"
        f" {done['left_out']} names it cannot resolve were taken out for it",
    )


def repository(folder: Path, old: Path, new: Path) -> Path:
    """Two commits: one version, and the other."""
    shutil.copytree(old, folder, symlinks=True)
    named = ["git", "-c", "user.name=Bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false"]
    for command in (["init", "--quiet"], ["add", "--all", "--force"], ["commit", "--quiet", "--message", "old"]):
        subprocess.run([*named, *command], cwd=folder, check=True)
    for entry in folder.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(new, folder, symlinks=True, dirs_exist_ok=True)
    for command in (["add", "--all", "--force"], ["commit", "--quiet", "--message", "new"]):
        subprocess.run([*named, *command], cwd=folder, check=True)
    return folder


def by_codeplane(root: Path, package: str) -> Told:
    """What we find between the two commits, from git's objects, with workers that are still to start."""
    home = root.parent / "home"
    home.mkdir()
    parsers = ParserPool(processes=min(os.cpu_count() or 1, 4))
    store = FactStore(home / "facts.db")
    reading = GitReader(root=root, environment=clean_environment)
    loading = OutlineLoader(reading=reading, store=store, parsing=ContentParser(parsers=parsers, folder=home))
    nothing = Snapshot(
        epoch=0,
        commit=None,
        files={},
        content=b"",
        content_file=home / "none",
        sorted_until=0,
        verified_at_ns=0,
        left_out={},
    )

    async def compared() -> tuple[list[Change], int]:
        base, target = await states(reading, "HEAD~1", "HEAD")
        files = await list_changed_files(reading, base, target, [package])
        loaded = await loading.load(files, nothing)
        return Comparison(loaded.files).changes, len(loaded.files)

    wall, cpu = time.monotonic(), _cpu()
    try:
        changes, files = asyncio.run(compared())
    finally:
        parsers.close()
        store.close()
    wall, cpu = time.monotonic() - wall, _cpu() - cpu
    every = [inner for one in changes for inner in one.every()]
    found = {
        name: f"{one.change}: {'; '.join(one.why)}"
        for one in every
        if one.breaking and (name := _dotted(one)).startswith(f"{package}.")
    }
    kinds = Counter(one.change for one in every)
    output = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return Told(found=found, wall=wall, cpu=cpu, said=f"CodePlane: {files} files that differ: {output}")


def _dotted(change: Change) -> str:
    outline = change.pair.old or change.pair.new
    assert outline is not None
    module = outline.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    entity = None if change.is_module else change.pair.before or change.pair.now
    return module if entity is None else f"{module}.{entity.path}"


def _cpu() -> float:
    """CPU of this process and of those it has seen end."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def compare(ours: Told, theirs: Told, *, verbose: bool) -> None:
    """Print what both find, and what each finds alone, with griffe's repetitions told apart."""
    both = ours.found.keys() & theirs.found.keys()
    only_ours, only_theirs = ours.found.keys() - both, theirs.found.keys() - both
    # griffe tells of an inherited member at every class below, and of a module where we tell of what was in it.
    names = {name.rpartition(".")[2] for name in ours.found}
    repeated = {name for name in only_theirs if name.rpartition(".")[2] in names}
    modules = {name for name in only_theirs - repeated if any(one.startswith(f"{name}.") for one in ours.found)}
    print(f"\n{ours.said}\n{theirs.said}\n")
    print(f"{'':<12}{'breaking':>9}{'alone':>7}{'wall s':>9}{'CPU s':>8}")
    for name, answer, alone in (("CodePlane", ours, only_ours), ("griffe", theirs, only_theirs)):
        print(f"{name:<12}{len(answer.found):>9}{len(alone):>7}{answer.wall:>9.1f}{answer.cpu:>8.1f}")
    print(f"both: {len(both)}; of what griffe alone names, {len(repeated)} repeat a name we tell of once (inherited),")
    print(f"{len(modules)} are modules whose names we list; left: {len(only_theirs - repeated - modules)}")
    print(f"CPU ratio, griffe to CodePlane: {theirs.cpu / max(ours.cpu, 0.001):.2f}")
    for name in sorted(only_theirs if verbose else only_theirs - repeated - modules):
        print(f"  only griffe: {name} ({theirs.found[name]})")
    for name in sorted(only_ours):
        print(f"  only CodePlane: {name} ({ours.found[name][:120]})")


if __name__ == "__main__":
    main()
