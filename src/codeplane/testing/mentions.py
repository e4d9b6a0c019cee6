"""Tests that mention what changed without importing it: by the name of a file, package or definition."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from codeplane.code.languages.registry import languages
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.testing.changes import Lines
from codeplane.testing.target import Target

_MAX_HITS = 2000
_MAX_NAMES = 50
_MAX_FILES = 200
_MIN_NAME = 4
_PARTS = ("class", "interface", "struct", "trait", "enum", "function", "method", "module", "type", "constant", "macro")


def files_mentioning(snapshot: Snapshot, path: str) -> list[str]:
    """Return the files whose text contains the name of a file, for data that code reads by name."""
    wanted = path.rpartition("/")[2].encode(errors="surrogateescape")
    stem = wanted.partition(b".")[0]
    found = _with(snapshot, wanted)
    # Some code names it without its extension, in quotes.
    if not found and len(stem) >= _MIN_NAME:
        found = _with(snapshot, b'"' + stem + b'"') + _with(snapshot, b"'" + stem + b"'")
    return sorted(set(found) - {path})


def _with(snapshot: Snapshot, wanted: bytes) -> list[str]:
    found: dict[str, None] = {}
    at = snapshot.content.find(wanted)
    for _ in range(_MAX_HITS):
        if at < 0:
            break
        known = snapshot.at(at)
        if known is not None and languages().of(known.path) is not None:
            found[known.path] = None
        at = snapshot.content.find(wanted, at + 1)
    return list(found)


def targets_built_with(targets: Sequence[Target], changed: Iterable[str]) -> Iterator[tuple[Target, str]]:
    """Yield the targets that are built with a changed file: packages of Go, crates of Rust, other projects."""
    for path in changed:
        language = languages().of(path)
        if language is None or language.names.follows_imports:
            continue
        folder = path.rpartition("/")[0]
        for target in targets:
            if target.language != language.name or target.runner is None:
                continue
            unit = target.runner.unit
            if unit == "package" and target.path == folder:
                yield target, f"in the package of {path_text(path)}"
            elif unit == "crate" and (not target.root or path.startswith(f"{target.root}/")):
                yield target, f"in the crate of {path_text(path)}"


def targets_naming(
    world: World, store: FactStore, targets: Sequence[Target], changed: Mapping[str, Lines]
) -> Iterator[tuple[Target, str]]:
    """Yield the targets that name a definition of a changed file, or are named after the file.

    This is a guess, for languages whose imports are not resolved, and its reason says so.
    """
    files: dict[str, Target] = {}
    for path in changed:
        language = languages().of(path)
        if language is None or language.names.follows_imports or language.names.follows_packages:
            continue
        files = files or {path: target for target in targets for path in target.files}
        stem = path.rpartition("/")[2].partition(".")[0].lower()
        for other, target in files.items():
            named = other.rpartition("/")[2].partition(".")[0].lower()
            if len(stem) >= 3 and target.language == language.name and _is_after(named, stem):
                yield target, f"is called after {path_text(path)}"
        facts = world.facts(path)
        names = (
            [definition.name for definition in facts.definitions if definition.kind in _PARTS]
            if facts is not None
            else []
        )
        for name in list(dict.fromkeys(names))[:_MAX_NAMES]:
            users = store.files_with(name) if len(name) >= _MIN_NAME else []
            if len(users) > _MAX_FILES:
                continue
            for user, _ in users:
                if user in files and user != path:
                    yield files[user], f"names {name}, by name only"
            for target in targets:
                if _is_project(target) and any(user.startswith(_folder(target)) for user, _ in users):
                    yield target, f"names {name}, by name only"


def _is_after(named: str, stem: str) -> bool:
    return named in {f"{stem}test", f"{stem}tests", f"{stem}_test", f"{stem}_spec", f"test{stem}", f"{stem}spec"}


def _is_project(target: Target) -> bool:
    return target.runner is not None and target.runner.unit == "project"


def _folder(target: Target) -> str:
    folder = target.path.rpartition("/")[0]
    return f"{folder}/" if folder else ""
