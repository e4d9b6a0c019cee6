"""Planning of moves of files and folders, with their imports."""

import re
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from codeplane.code.entity import Module
from codeplane.code.languages.javascript.modules import JavaScriptModules
from codeplane.code.languages.registry import languages
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import SURE
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import InvalidArgument, NameTaken, NotFound, NotRefactorable
from codeplane.kernel.plural import plural
from codeplane.refactor.draft import Coverage, Danger, Draft, Edit, FileMove, NewFile
from codeplane.refactor.move.javascript_file import plan_javascript_file
from codeplane.refactor.move.load_dangers import loading_dangers
from codeplane.refactor.move.module_names import absolute_name, module_parts
from codeplane.refactor.move.packages import missing_inits, shadowed_module
from codeplane.refactor.move.python_file import PythonFile, passed_on_modules
from codeplane.refactor.move.python_file_draft import MovedModule, PythonFileDraft
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.text_references import dotted_strings, package_entries, path_mentions

_PYTHON = (".py", ".pyi")
_WORD = re.compile(r"[\w$]+")
_OWN_PLACE = re.compile(rb"\b__file__\b")


def plan_file_move(world: World, store: FactStore, path: str, new_path: str, *, deadline: float) -> Draft:
    """Plan the move of a file, or of a folder with all files below it; a new name is a move too."""
    path, new_path = path.strip("/"), new_path.strip("/")
    moves = _moves(world, path, new_path)
    relocation = Relocation(world, moves, root=path, new_root=new_path)
    relocation.created = tuple(missing_inits(world.snapshot.files, moves))
    edits: list[Edit] = []
    dangers: list[Danger] = [
        Danger(kind="package_created", what=f"{path} is created, as the packages beside it have one", path=path)
        for path in relocation.created
    ]
    python = [move for move in moves if move.endswith(_PYTHON)]
    moved = {"python": python, "javascript": [move for move in moves if _has_scripts(move)]}
    scanned: set[str] = set()
    late: list[str] = []
    for family, files in moved.items():
        if files:
            found, fears, seen, left = _PLANNERS[family](world, store, relocation, path, files, deadline)
            edits, dangers, scanned, late = [*edits, *found], [*dangers, *fears], scanned | seen, [*late, *left]
    dangers += _unresolved_languages(moves)
    dangers += _file_path_dangers(world, python)
    dangers += path_mentions(world, moves, path)
    unparsed = tuple(sorted(path for path in scanned if (facts := world.facts(path)) is None or facts.errors))
    families = tuple(family for family, files in moved.items() if files)
    draft = Draft(
        title=f"move {path} to {new_path}",
        edits=_sort_edits(edits),
        moves=tuple(FileMove(path=old, new_path=new) for old, new in sorted(moves.items())),
        creates=tuple(NewFile(path=path, content="") for path in relocation.created),
        dangers=tuple(dangers),
        coverage=Coverage(
            files_scanned=len(scanned),
            unparsed=unparsed,
            truncated=f"time ran out before a look at {plural(len(late), 'file')}, among them {late[0]}"
            if late
            else "",
            families=families,
        ),
    )
    if not python or (path in moves and path.rpartition("/")[0] == new_path.rpartition("/")[0]):
        # In the same folder, modules are loaded in the same order as before.
        return draft
    came = [moves[path] for path in python if path.endswith(".py")]
    return replace(draft, dangers=(*dangers, *loading_dangers(world, store, draft, came, deadline=deadline)))


def _moves(world: World, path: str, new_path: str) -> dict[str, str]:
    """Return which files go where; refused if something is in the way."""
    files = world.snapshot.files
    if not path or not new_path or "//" in new_path or any(part in (".", "..") for part in new_path.split("/")):
        raise InvalidArgument("a move needs a path and a new path inside the repository")
    if path == new_path:
        raise InvalidArgument(f"{path_text(path)} is there already", hint="give a different new path")
    if path in files:
        found = {path: new_path}
        stub = f"{path[:-3]}.pyi"
        if path.endswith(".py") and new_path.endswith(".py") and stub in files:
            found[stub] = f"{new_path[:-3]}.pyi"
        if path.rpartition("/")[2] in ("__init__.py", "__init__.pyi"):
            raise NotRefactorable(
                f"{path_text(path)} is what makes its folder a package",
                hint="move the folder instead of its __init__",
            )
        if path.endswith(_PYTHON) and not new_path.endswith(_PYTHON):
            raise InvalidArgument(f"{path_text(new_path)} is no Python file", hint="name the new file, with its ending")
    else:
        found = {file: new_path + file[len(path) :] for file in files if file.startswith(f"{path}/")}
        if not found:
            raise NotFound(f"there is no file or folder {path_text(path)}", hint="name it from the repository's root")
        if new_path.startswith(f"{path}/"):
            raise InvalidArgument(f"{path_text(path)} cannot be moved into itself", hint="choose a place outside it")
    taken = sorted(new for new in found.values() if new in files and new not in found)
    taken += (
        [new_path]
        if any(path.startswith(f"{new_path}/") for path in files if path not in found) and path in files
        else []
    )
    steps = new_path.split("/")
    taken += [parent for parent in ("/".join(steps[:count]) for count in range(1, len(steps))) if parent in files]
    if taken:
        raise NameTaken(
            f"{path_text(taken[0])} is there already",
            hint="choose another place, or move what is there first",
            details={
                "places": [
                    {"path": taken_path, "line": 1, "column": 1, "why": "a file of this name"}
                    for taken_path in taken[:50]
                ]
            },
        )
    if (hidden := shadowed_module(files, found)) is not None:
        module, package = hidden
        raise NameTaken(
            f"{path_text(module)} and the folder {path_text(package)} would be beside each other;"
            " only one can be imported",
            hint="choose another place, or move that module first",
            details={"places": [{"path": path_text(module), "line": 1, "column": 1, "why": "a module of this name"}]},
        )
    for old, new in [*found.items(), (path, new_path)]:
        if old.endswith(_PYTHON) or (old == path and any(moved_path.endswith(_PYTHON) for moved_path in found)):
            _refuse_unimportable(old, new)
    return found


def _refuse_unimportable(old: str, new: str) -> None:
    """Refuse a name that cannot be imported for a module that could be."""
    was, name = module_parts(old)[-1:], module_parts(new)[-1:]
    if was and name and was[0].isidentifier() and not name[0].isidentifier():
        hint = "choose letters, digits and _"
        raise InvalidArgument(f"{name[0]!r} is no name a module can be imported by", hint=hint)


def _python(
    world: World,
    store: FactStore,
    relocation: Relocation,
    path: str,
    moved_files: Sequence[str],
    deadline: float,
) -> tuple[list[Edit], list[Danger], set[str], list[str]]:
    is_file = path in relocation.moves
    steps = module_parts(path)
    module = path if is_file else world.python().below("/".join(steps[:-1]), steps[-1:])
    moved = MovedModule(module=module or path, new_module=relocation.path(module or path))
    candidates = {path for path, _ in store.files_with(moved.stem) if _has_modules(path)}
    ordered = sorted(path for path in candidates | set(moved_files) if path in world.snapshot.files)
    resolver = Resolver(world)
    given = passed_on_modules(world, resolver, ordered, moved.stem)
    edits: list[Edit] = []
    dangers: list[Danger] = []
    seen: set[str] = set()
    for index, file in enumerate(ordered):
        if time.monotonic() > deadline:
            return edits, dangers, seen, ordered[index:]
        seen.add(file)
        draft = PythonFileDraft(world, resolver, relocation, moved, file)
        PythonFile(draft, given).plan()
        edits += draft.edits
        dangers += draft.dangers
    dangers += _cycles(world, relocation, moved_files, edits)
    dangers += [
        *_name_clashes(world, resolver, moved.module, moved.stem),
        *_name_clashes(world, resolver, moved.new_module, moved.new_stem),
    ]
    old_name = _dotted_name(world, moved.module)
    new_name = absolute_name(relocation, moved.new_module, moved.new_module, None)
    if old_name is not None and new_name is not None and old_name != new_name:
        placed = {(edit.path, edit.start) for edit in edits}
        strings = dotted_strings(world, store, {old_name: new_name})
        edits += [string_edit for string_edit in strings if (string_edit.path, string_edit.start) not in placed]
    if new_name is not None and new_name in sys.stdlib_module_names:
        dangers.append(Danger(kind="shadows_stdlib", what=f"{new_name} hides the module of that name in Python itself"))
    return edits, dangers, seen, []


def _name_clashes(world: World, resolver: Resolver, module: str, stem: str) -> list[Danger]:
    """Return a danger if a package has something else of a module's name: load order decides which one it gives."""
    steps = module_parts(module)
    package = f"{'/'.join(steps[:-1])}/__init__.py"
    facts = world.facts(package) if package in world.snapshot.files else None
    if facts is None:
        return []
    if any(entity != Module(module) for entity in resolver.export(package, stem)):
        what = f"{package} has a {stem} beside the module of that name"
        return [Danger(kind="name_taken", what=what, path=package)]
    for path in world.files_with(stem):
        taking = world.facts(path)
        if taking is None or not taking.star or not world.language(taking).names.binds_stars:
            continue
        for import_ in taking.imports:
            if import_.imported == "*" and package in world.python().find(import_.source, path):
                what = f"{path} takes everything from {package}, and the module {stem} with it once that is loaded"
                return [Danger(kind="name_taken", what=what, path=path, offset=import_.at)]
    return []


def _cycles(world: World, relocation: Relocation, moved_files: Sequence[str], edits: Sequence[Edit]) -> list[Danger]:
    """Return a danger for packages that import what left them while it still imports from them, which is a cycle."""
    importing = {edit.path for edit in edits if edit.path.endswith("/__init__.py") and edit.tier in SURE}
    homes = {importer.rpartition("/")[0]: importer for importer in importing if importer not in relocation.moves}
    found: dict[str, Danger] = {}
    for path in moved_files:
        facts = world.facts(path)
        for import_ in facts.imports if facts is not None and homes else ():
            for place in world.python().find(import_.source, path):
                for home, init in homes.items():
                    inside = place.startswith(f"{home}/") and place not in relocation.moves
                    left = path.startswith(f"{home}/") and not relocation.path(path).startswith(f"{home}/")
                    if inside and left:
                        what = f"{init} imports {relocation.path(path)}, which imports from {home}"
                        found.setdefault(init, Danger(kind="import_cycle", what=what, path=path, offset=import_.at))
    return list(found.values())


def _dotted_name(world: World, module: str) -> str | None:
    """Return the present dotted name of a module."""
    return absolute_name(Relocation(world, {}, root=module, new_root=module), module, module, None)


def _javascript(
    world: World, store: FactStore, relocation: Relocation, path: str, moved_files: Sequence[str], deadline: float
) -> tuple[list[Edit], list[Danger], set[str], list[str]]:
    before: JavaScriptModules | None = None
    candidates = set(moved_files)
    for file in [path] if path in relocation.moves else [f"{path}/index.ts"]:
        steps = file.split("/")
        stem = steps[-1].partition(".")[0]
        names = [stem] if stem != "index" else [stem, *steps[-2:-1]]
        for name in names:
            words = _WORD.findall(name)
            candidates |= {found for found, _ in store.files_with(max(words, key=len))} if words else set()
        if stem == "index":
            # Files in a folder or below it write `.` and `..` for the folder itself.
            home = "/".join(steps[:-1])
            candidates |= {found for found in world.snapshot.files if not home or found.startswith(f"{home}/")}
    ordered = sorted(path for path in candidates if path in world.snapshot.files and _has_scripts(path))
    edits: list[Edit] = []
    dangers: list[Danger] = []
    seen: set[str] = set()
    for index, file in enumerate(ordered):
        if time.monotonic() > deadline:
            return edits, [*dangers, *package_entries(world, relocation.moves)], seen, ordered[index:]
        facts = world.facts(file)
        seen.add(file)
        if facts is None:
            continue
        if before is None:
            found = world.modules(facts)
            assert isinstance(found, JavaScriptModules)
            before = found
        made, fears = plan_javascript_file(world, relocation, before, file)
        edits += made
        dangers += fears
    return edits, [*dangers, *package_entries(world, relocation.moves)], seen, []


_PLANNERS = {"python": _python, "javascript": _javascript}


def _file_path_dangers(world: World, moved: Sequence[str]) -> list[Danger]:
    """Return a danger for modules that read `__file__`, whose value changes."""
    found: list[Danger] = []
    for path in moved:
        facts, text = world.facts(path), world.text(path)
        places = [
            match.start() for match in _OWN_PLACE.finditer(text) if facts is None or not facts.in_text(match.start())
        ]
        if places:
            what = f"{path_text(path)} reads __file__, which is another path afterwards"
            found.append(Danger(kind="module_path", what=what, path=path, offset=places[0], count=len(places)))
    return found


def _unresolved_languages(moves: dict[str, str]) -> list[Danger]:
    """Return a danger for languages whose imports are not resolved."""
    counts: dict[str, int] = {}
    for move in moves:
        language = languages().of(move)
        if language is not None and not language.names.follows_imports and language.methods_in:
            counts[language.name] = counts.get(language.name, 0) + 1
    return [
        Danger(kind="imports_not_followed", what=f"imports of {name} are not changed", count=count)
        for name, count in sorted(counts.items())
    ]


def _has_modules(path: str) -> bool:
    """Whether a file is one of Python, whose modules have dotted names."""
    language = languages().of(path)
    return language is not None and language.names.dotted_modules


def _has_scripts(path: str) -> bool:
    """Whether a file is one of JavaScript's family."""
    language = languages().of(path)
    return language is not None and language.names.aliases_exports


def _sort_edits(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Sort edits by file and place; of two for the same text keep the surer one."""
    rank = {"PROVEN": 0, "STRONG": 1, "ANCHORED": 2, "UNKNOWN": 3}
    found: dict[tuple[str, int, int], Edit] = {}
    for edit in sorted(edits, key=lambda edit: rank[edit.tier]):
        found.setdefault((edit.path, edit.start, edit.end), edit)
    return tuple(sorted(found.values(), key=lambda moved_path: (moved_path.path, moved_path.start, moved_path.end)))
