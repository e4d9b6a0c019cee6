"""The summary of an exploration: what a newcomer wants to know first."""

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural
from codeplane.work.explore.facts import Facts
from codeplane.work.explore.target import Target

_FILES_OF_MANIFESTS = ("main", "module")
# Of these, uses are counted by a name that parameters and members of others have as well.
_COMMON_NAMES = frozenset({"method", "variable", "property", "field", "attribute"})
_MIN_SYMBOLS = 5
_MAX_ENTRY_POINTS, _MAX_FILES, _MAX_SYMBOLS, _MAX_FOLDERS, _MAX_FOLLOWUPS = 20, 20, 15, 20, 12


class CamelResult(Result):
    """A result whose fields are named as the specification names them."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True)


class GitDeltas(CamelResult):
    """The state of the work tree against its last commit."""

    branch: str | None = None
    head_commit: str | None = None
    clean: bool = True
    deltas: tuple[JsonObject, ...] = ()
    total: int = 0


class ExploreSummary(CamelResult):
    """What an exploration found; lines are counted in text files that are searched."""

    repo_name: str
    languages: dict[str, int] = Field(description="lines of each language, the most first")
    entrypoints: tuple[str, ...]
    top_files: tuple[str, ...]
    followups: tuple[str, ...]
    git_status: GitDeltas = GitDeltas()
    description: str = ""
    files: int = 0
    size_bytes: int = 0
    folders: tuple[JsonObject, ...] = ()
    symbols: tuple[JsonObject, ...] = Field((), description="the definitions that most other files use")
    tests: JsonObject | None = None
    dependencies: tuple[str, ...] = ()
    goals: dict[str, tuple[str, ...]] = Field({}, description="files that speak of the caller's own goals")
    partial: tuple[str, ...] = Field((), description="what is not whole, and why")
    artifact_id: str | None = None

    def text(self) -> str:
        lines = [self.repo_name + (f": {self.description}" if self.description else "")]
        shares = ", ".join(f"{name} {count:,}" for name, count in list(self.languages.items())[:8])
        lines.append(f"lines: {shares or 'no code that is known'}; {plural(self.files, 'file')}")
        lines += [f"entry: {point}" for point in self.entrypoints[:10]]
        lines += [f"read: {path}" for path in self.top_files[:10]]
        lines += [f"next: {followup}" for followup in self.followups]
        return "\n".join([*lines, *(f"[partial: {reason}]" for reason in self.partial)])


def summarize(target: Target, facts: Facts, goals: Sequence[str]) -> ExploreSummary:
    """The summary of what is known, whole or not."""
    lines = facts.lines
    readme = facts.summaries[0] if facts.summaries else {}
    tests, needs = facts.map.get("tests"), facts.map.get("dependencies")
    modules = needs.get("external_modules") if isinstance(needs, dict) else None
    return ExploreSummary(
        repo_name=target.name,
        languages={str(name): _int(count) for name, count in _object(lines.get("languages")).items()},
        entrypoints=tuple(_describe_entry_points(facts.entry_points)[:_MAX_ENTRY_POINTS]),
        top_files=tuple(str(file["path"]) for file in _objects(facts.map.get("files"))[:_MAX_FILES]),
        followups=tuple(_followups(facts)[:_MAX_FOLLOWUPS]),
        git_status=_git(facts.git),
        description=str(readme.get("text") or readme.get("title") or ""),
        files=_int(lines.get("files")) or _int(facts.listing.get("fileCount")),
        size_bytes=_int(lines.get("sizeBytes")) or _int(facts.listing.get("sizeBytes")),
        folders=tuple(part for part in _objects(lines.get("parts")) if part.get("isDir"))[:_MAX_FOLDERS],
        symbols=tuple(_choose_symbols(facts.symbols)),
        tests=_object(tests) if isinstance(tests, dict) else None,
        dependencies=tuple(map(str, modules[:20])) if isinstance(modules, (list, tuple)) else (),
        goals={goal: tuple(paths) for goal, paths in facts.by_goal.items() if goal in goals},
        partial=tuple(facts.notes),
    )


def _describe_entry_points(points: Sequence[JsonObject]) -> list[str]:
    """The entry points in a line each; the front of a library that a manifest names already is left out."""
    lines = [describe_entry_point(point) for point in points]
    named = {line.partition(" ")[0] for line, point in zip(lines, points, strict=True) if point["kind"] != "library"}
    return [
        line
        for line, point in zip(lines, points, strict=True)
        if point["kind"] != "library" or str(point["path"]) not in named
    ]


def describe_entry_point(point: Mapping[str, JsonValue]) -> str:
    """An entry point in one line that begins with the place to read."""
    path, line, kind = point["path"], point.get("line"), point["kind"]
    if kind == "library":
        return f"{path} (library)"
    if kind == "script":
        if point.get("definedIn"):
            return f"{point['definedIn']}:{point.get('definedLine')} {point['name']} = {point.get('qualifiedName')}"
        if point["name"] in _FILES_OF_MANIFESTS:
            # The place to read is the file that the manifest names.
            named = posixpath.join(posixpath.dirname(str(path)), str(point.get("qualifiedName")))
            return f"{posixpath.normpath(named)} ({point['name']} of {path})"
        return f"{path} {point['name']} = {point.get('qualifiedName')}"
    place = f"{path}:{line}" if line is not None else str(path)
    return place if kind == "module" else f"{place} {point.get('qualifiedName') or point['name']}"


def _choose_symbols(symbols: list[JsonObject]) -> list[JsonObject]:
    """The most used definitions, each once; names that many things share only when there are too few others."""
    named: dict[tuple[JsonValue, JsonValue], JsonObject] = {}
    for symbol in symbols:
        # Declarations of one function, and a name that stands for none.
        if symbol.get("name") != "_":
            named.setdefault((symbol.get("path"), symbol.get("name")), symbol)
    chosen = [*named.values()]
    if len(others := [symbol for symbol in chosen if symbol.get("kind") not in _COMMON_NAMES]) >= _MIN_SYMBOLS:
        chosen = others
    return chosen[:_MAX_SYMBOLS]


def _git(found: JsonObject) -> GitDeltas:
    if not found.get("git"):
        return GitDeltas()
    return GitDeltas(
        branch=str(found["branch"]) if found.get("branch") else None,
        head_commit=str(found["headCommit"]) if found.get("headCommit") else None,
        clean=found.get("clean") is True,
        deltas=tuple(_objects(found.get("deltas"))),
        total=_int(found.get("total")),
    )


def _followups(facts: Facts) -> list[str]:
    """What to do next, the most useful first."""
    found: list[str] = []
    files = _int(facts.lines.get("files")) or _int(facts.listing.get("fileCount"))
    if not files:
        return ["there are no files that are searched: add some, or look at what is left out (list_dir skipped=true)"]
    if facts.entry_points:
        point = describe_entry_point(facts.entry_points[0])
        found.append(f"follow {point} into what it calls (explain_symbol symbol={point.partition(' ')[0]})")
    elif facts.map:
        found.append("no entry point is known: start with the top files")
    if facts.more_entry_points:
        found.append("there are more entry points than are listed (repo_entry_points)")
    if facts.listing and not facts.summaries:
        found.append("there is no README: ask what the repository is for")
    tests = facts.map.get("tests")
    if isinstance(tests, dict):
        count = _int(tests.get("count"))
        folders = ", ".join(list(_object(tests.get("folders")))[:3])
        found.append(
            f"run the tests: {plural(count, 'file')} in {folders} (test_run)" if count else "no tests are known by name"
        )
    if facts.git.get("git") and not facts.git.get("headCommit"):
        found.append("make a first commit: there is none yet")
    elif facts.git.get("git") and not facts.git.get("clean"):
        found.append(f"look at what is not committed: {plural(_int(facts.git.get('total')), 'path')} (git_diff)")
    if facts.marks:
        (path, _), *_rest = Counter(str(hit["path"]) for hit in facts.marks).most_common(1)
        least = "+" if facts.more_marks else ""
        found.append(f"look at {len(facts.marks)}{least} lines with TODO or FIXME, as in {path}")
    found += [f"nothing here speaks of {goal!r}" for goal, paths in facts.by_goal.items() if not paths]
    return found


def _object(value: JsonValue) -> JsonObject:
    return dict(value) if isinstance(value, Mapping) else {}


def _objects(value: JsonValue) -> list[JsonObject]:
    return [dict(item) for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []


def _int(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
