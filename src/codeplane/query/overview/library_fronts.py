"""The files by which users of a library enter it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from codeplane.code.languages.project_family import Family
from codeplane.code.languages.registry import PROJECT_FAMILIES, ROOT_FRONTS
from codeplane.index.contexts.discovery import discover
from codeplane.index.contexts.family import FAMILY
from codeplane.index.path_kinds import is_copy, is_fixture, is_test
from codeplane.index.snapshot import Snapshot

MAX_FRONTS = 20
_MAX_PROJECTS = 50
# Types that fewer tests speak of are not what a library is for.
_MIN_TESTS, _MAX_TYPES, _MAX_FILES = 2, 3, 1000
_MODULE = re.compile(rb"^module\s+(\S+)", re.MULTILINE)
_OF_C = re.compile(r"^lib|[-_.](?:c|cc|cpp|cxx|c\+\+)$", re.IGNORECASE)
_README = re.compile(r"readme(?:\.\w+)?", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_MAY_BE_PROSE = re.compile(r"[A-Z][a-z]*|[A-Z]+s?")
# `Parse.letter`, `Parse(`, `Parse<` and `new Parse`.
_IN_CODE = re.compile(r"\b([A-Z]\w*)(?=[.(<]\w|\(\))|\bnew (\w+)")
_VERSION = re.compile(r"v\d+")
_FRONTS = {family.name: family.fronts for family in PROJECT_FAMILIES if family.fronts}


def library_fronts(snapshot: Snapshot, root_name: str, files_with: Callable[[str], Iterable[str]]) -> list[str]:
    """The front files of the repository's packages, those nearest to the root first.

    `files_with` finds the files in which an identifier occurs.
    """

    def read(path: str) -> bytes | None:
        known = snapshot.files.get(path)
        return snapshot.text(known) if known is not None and known.skipped is None else None

    projects = [each for each in discover(snapshot.files, read) if each.status != "detached" and each.tier]
    fronts: dict[str, None] = {}
    chosen = sorted(projects, key=lambda each: (each.root.count("/") + bool(each.root), each.root))[:_MAX_PROJECTS]
    for project in chosen:
        if (
            not is_test(f"{project.root}/x")
            and not is_fixture(f"{project.root}/x")
            and (patterns := _FRONTS.get(project.family))
        ):
            names = _names(project.root, root_name, project.markers, read)
            fronts |= dict.fromkeys(_first_matches(snapshot.files, project.root, patterns, names))
    if not fronts:
        families = {FAMILY[project.family] for project in chosen if FAMILY[project.family].in_types}
        readme = next(
            (text for path in sorted(snapshot.files) if _README.fullmatch(path) and (text := read(path))), b""
        )
        written = _count_names(readme.decode("utf-8", "replace"))
        fronts = dict.fromkeys(_types_of_users(snapshot.files, families, written, files_with))
    if not fronts:
        fronts = dict.fromkeys(
            _first_matches(snapshot.files, "", ROOT_FRONTS, _without_language(_without_digits(root_name)))
        )
    return list(fronts)[:MAX_FRONTS]


def _count_names(readme: str) -> Counter[str]:
    """How often a README speaks of each name; one that may be a word of prose counts where it is code.

    In "the SQL mapper" and "Commons IO", `SQL` and `IO` are no types.
    """
    in_code = Counter(name for used in _IN_CODE.finditer(readme) for name in used.groups() if name)
    return Counter(
        {
            name: in_code[name] if _MAY_BE_PROSE.fullmatch(name) else count
            for name, count in Counter(_WORD.findall(readme)).items()
        }
    )


def _types_of_users(
    paths: Iterable[str], families: Iterable[Family], written: Counter[str], files_with: Callable[[str], Iterable[str]]
) -> list[str]:
    """The files of the types that the README speaks of most, else of those that most files of tests speak of."""
    suffixes = tuple(pattern.removeprefix("**/*") for family in families for pattern in family.include)
    if not suffixes:
        return []
    uses: dict[str, tuple[int, int]] = {}
    for path in sorted(path for path in paths if path.endswith(suffixes) and not is_test(path) and not is_copy(path)):
        name = path.rpartition("/")[2].rpartition(".")[0]
        # A name of two parts is that of a part of a type, and types begin with a capital.
        if name.isidentifier() and name[0].isupper() and len(uses) < _MAX_FILES:
            uses[path] = written[name], sum(map(is_test, files_with(name)))
    named = [path for path, (in_readme, tests) in uses.items() if in_readme and tests]
    ranked = sorted(named or uses, key=lambda path: (-uses[path][0], -uses[path][1], path))
    return [path for path in ranked if named or uses[path][1] >= _MIN_TESTS][:_MAX_TYPES]


def _names(root: str, root_name: str, markers: Iterable[str], read: Callable[[str], bytes | None]) -> set[str]:
    """What a package may be called: as its folder, as the repository, or as its module says."""
    names = _without_digits(root.rpartition("/")[2] or root_name, root_name)
    for marker in markers:
        if marker.rpartition("/")[2] == "go.mod" and (found := _MODULE.search(read(marker) or b"")):
            parts = found[1].decode("utf-8", "replace").split("/")
            names.add(next((part for part in reversed(parts) if not _VERSION.fullmatch(part)), root_name))
    return names


def _without_digits(*names: str) -> set[str]:
    """The names, and what they are without a version at their end."""
    return {spelled for name in names for spelled in (name, name.rstrip("0123456789.-") or name)}


def _without_language(names: set[str]) -> set[str]:
    """The names, and what they are without the language they are written in."""
    return {spelled for name in names for spelled in (name, _OF_C.sub("", name) or name)}


def _first_matches(paths: Iterable[str], root: str, patterns: tuple[str, ...], names: set[str]) -> list[str]:
    """The files that the first pattern matches which matches any."""
    prefix = f"{root}/" if root else ""
    inside = [
        path[len(prefix) :]
        for path in paths
        if path.startswith(prefix) and not is_test(path) and not is_copy(path[len(prefix) :])
    ]
    for pattern in patterns:
        compiled = re.compile(_expression(pattern, names), re.IGNORECASE)
        if matches := sorted(path for path in inside if compiled.fullmatch(path)):
            return [prefix + path for path in matches]
    return []


def _expression(pattern: str, names: set[str]) -> str:
    """A glob as a regular expression; a name may be written with other dashes, or without any."""
    spelled = "|".join(sorted("[-_.]?".join(map(re.escape, re.split(r"[-_.]", name))) for name in names))
    parts = {"**/": "(?:.*/)?", "*": "[^/]*", "{name}": f"(?:{spelled})"}
    return "".join(parts.get(part, re.escape(part)) for part in re.split(r"(\*\*/|\*|\{name\})", pattern))
