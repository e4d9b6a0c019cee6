"""Entry points: scripts of manifests, and functions or files called main."""

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from codeplane.code.languages.registry import PROJECT_FAMILIES, languages
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore, Symbol
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_fixture, is_test, is_vendored
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.operation import Result
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.overview.library_fronts import library_fronts
from codeplane.query.search.symbols import targets
from codeplane.query.signature import opening

MAX_ENTRY_POINTS = 50
_MAX_MANIFESTS = 50
_MAX_DEPTH = 2
_MAX_NAMED = 500
_MAX_MANIFEST_BYTES = 500_000
_MAX_DOTS = 200
_GUARD = re.compile(rb"""^if __name__ == ['"]__main__['"]""", re.MULTILINE)
_HIDDEN_MAIN = re.compile(rb"^(?:int|void)\s{1,20}main\s{0,20}\(", re.MULTILINE)
# `executables = ["a"]` and `%w[a b]`, and where such programs are.
_EXECUTABLES = re.compile(rb"executables\s{0,20}=\s{0,20}((?:%w)?[\[({][^\])}]{0,500})")
_GEM_COMMAND = re.compile(r"(?<=['\"\[({ ])[A-Za-z0-9][\w.-]*")
_GEM_FOLDERS = ("exe", "bin")
_STARTS = ("main", "Main")
_FUNCTION = re.compile(r"\w+(?:\.\w+)*:\w+(?:\.\w+)*")
_FOLLOWED = 5
# Programs below these show or measure something, and are not what the repository is for.
_ASIDE = re.compile(
    r"(?:^|/)(?:examples?(?:[-_]\w+)*|samples?|demos?|bench(?:es|marks?)?|docs?|fuzz(?:ing)?|perf|metrics|tools|scripts|extras|ci"
    r"|contrib|site|support|hack)/|^utils?/|^\.[^/]+/|(?:^|/)(?:build\.rs|setup\.py)$"
)
# Under these a manifest names the file by which users import a package; the first that names one counts.
_IMPORTED = ("main", "module")
_SHELL = (".sh", ".bash")
_BEGINS = 3
_IN_TYPES = frozenset(language for family in PROJECT_FAMILIES if family.in_types for language in family.languages)


class EntryPointsRequest(WorkspaceRequest):
    """How many."""

    limit: int = Field(20, ge=1, le=MAX_ENTRY_POINTS)


class EntryPoint(Result):
    """Something that is started, not called."""

    path: str
    kind: str
    name: str
    qualified_name: str | None = None
    line: int | None = None
    defined_in: str | None = None
    defined_line: int | None = None
    begins: tuple[str, ...] = ()

    def text(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        if self.kind == "script":
            started = f"{self.name} = {self.qualified_name} ({place})"
            started += f" in {self.defined_in}:{self.defined_line}" if self.defined_in is not None else ""
            return "\n".join([started, *(f"    {line}" for line in self.begins)])
        return f"{place} {self.kind} {self.qualified_name or self.name}"


class EntryPoints(Result):
    """Where a repository is entered: by its commands and programs, as a library, and last by what only shows it."""

    entry_points: tuple[EntryPoint, ...]
    count: int
    epoch: int
    partial: str | None = None

    def text(self) -> str:
        lines = [point.text() for point in self.entry_points]
        more = [f"and {self.count - len(lines)} more"] if self.count > len(lines) else []
        return "\n".join([*lines, *more, *([self.partial] if self.partial else [])]) or "[no entry points are known]"


def all_entry_points(world: World, store: FactStore, root_name: str, limit: int) -> EntryPoints:
    """Programs and commands, then the fronts of libraries, then what is aside."""
    programs, count = entry_points(world, store)
    found = library_fronts(world.snapshot, root_name, lambda name: [path for path, _ in store.files_with(name)])
    fronts = [path for path in found if not _ASIDE.search(path)]
    libraries = [EntryPoint(path=path_text(path), kind="library", name=path.rpartition("/")[2]) for path in fronts]
    shown = [point for point in programs if point.name not in _IMPORTED or not _is_built(point, world.snapshot, fronts)]
    count -= len(programs) - len(shown)
    programs = shown
    started = {(point.defined_in, point.defined_line) for point in programs if point.defined_in is not None}
    count -= len(programs)
    # A function that a command starts is not an entry of its own.
    programs = [point for point in programs if (point.path, point.line) not in started]
    count += len(programs)
    # A script with a function `main` beside programs of another language helps to make or run them.
    scripts = [point for point in programs if point.kind == "function" and point.path.endswith(_SHELL)]
    helpers = scripts if len(scripts) < len(programs) else []
    aside = [
        point for point in programs if _ASIDE.search(point.path) or point.name == "npm run test" or point in helpers
    ]
    points = [*(point for point in programs if point not in aside), *libraries, *aside]
    return EntryPoints(entry_points=tuple(points[:limit]), count=count + len(libraries), epoch=world.snapshot.epoch)


def _is_built(point: EntryPoint, snapshot: Snapshot, fronts: Sequence[str]) -> bool:
    """Whether a manifest names a file that is made from the front of its package, and is not here itself."""
    folder = posixpath.dirname(point.path)
    if point.kind != "script" or not any(front.startswith(f"{folder}/" if folder else "") for front in fronts):
        return False
    named = posixpath.normpath(posixpath.join(folder, point.qualified_name or ""))
    return not any(f"{named}{suffix}" in snapshot.files for suffix in ("", ".js", "/index.js"))


def entry_points(world: World, store: FactStore) -> tuple[list[EntryPoint], int]:
    """The first entry points, manifests first, then nearest to the root; and their total.

    The first scripts come with the place and the first lines of their function.
    """
    snapshot = world.snapshot
    scripts = list(_scripts(snapshot))
    points = [_follow_script(world, store, script) for script in scripts[:_FOLLOWED]] + scripts[_FOLLOWED:]
    placed: dict[str, EntryPoint] = {}
    for name in _STARTS:
        for symbol in store.find_symbols(name, limit=_MAX_NAMED):
            known = snapshot.files.get(symbol.file)
            if known is None or known.digest != symbol.digest or _is_of_others(symbol.file):
                continue
            if _is_start(symbol):
                point = EntryPoint(
                    path=path_text(symbol.file),
                    kind=symbol.kind,
                    name=symbol.name,
                    qualified_name=symbol.path,
                    line=symbol.line,
                )
                placed.setdefault(symbol.file, point)
    for path, line in _hidden_mains(snapshot, store):
        point = EntryPoint(path=path_text(path), kind="function", name="main", qualified_name="main", line=line)
        placed.setdefault(path, point)
    for path in _files_with_main(snapshot, store):
        point = EntryPoint(path=path_text(path), kind="module", name=path.rpartition("/")[2], qualified_name=None)
        placed.setdefault(path, point)
    nearest = sorted(placed, key=lambda path: (path.count("/"), path))
    points += [placed[path] for path in nearest]
    return points[:MAX_ENTRY_POINTS], len(points)


def _follow_script(world: World, store: FactStore, script: EntryPoint) -> EntryPoint:
    """A script with the function it starts, if that is in this repository."""
    target = script.qualified_name or ""
    meant = targets(world, store, target.replace(":", ".")) if _FUNCTION.fullmatch(target) else []
    definition = meant[0].definition if len(meant) == 1 else None
    facts = world.facts(meant[0].bound.file) if definition is not None else None
    if definition is None or facts is None:
        return script
    path = meant[0].bound.file
    begins = opening(facts, world.text(path), definition, most=_BEGINS)
    return script.model_copy(update={"defined_in": path_text(path), "defined_line": definition.line, "begins": begins})


def _is_start(symbol: Symbol) -> bool:
    """Whether a definition is a top-level function, or a method of a top-level class where programs start in those."""
    if symbol.language in _IN_TYPES and symbol.kind == "method":
        return symbol.path.count(".") == 1
    # Elsewhere `Main` is a name like any other.
    return symbol.kind == "function" and symbol.name == "main" and "." not in symbol.path


def _is_of_others(path: str) -> bool:
    """Whether a file is of tests, or of a program that is kept along."""
    return is_test(path) or is_fixture(path) or is_vendored(path)


def _hidden_mains(snapshot: Snapshot, store: FactStore) -> Iterator[tuple[str, int]]:
    """Yield files and lines where a program of a preprocessed language starts, also between branches of `#ifdef`."""
    for path, digest in store.files_with("main")[:_MAX_NAMED]:
        known, language = snapshot.files.get(path), languages().of(path)
        if language is None or not language.preprocessed or known is None or known.digest != digest:
            continue
        if known.skipped is None and not _is_of_others(path):
            text = snapshot.text(known)
            if (match := _HIDDEN_MAIN.search(text)) is not None:
                yield path, text.count(b"\n", 0, match.start()) + 1


def _files_with_main(snapshot: Snapshot, store: FactStore) -> Iterator[str]:
    for path in snapshot.files:
        if path.endswith("__main__.py") and not _is_of_others(path):
            yield path
    for path, digest in store.files_with("__main__"):
        known = snapshot.files.get(path)
        if known is None or known.digest != digest or known.skipped is not None or _is_of_others(path):
            continue
        # What a page shows of a program is none.
        if not path.endswith((".py", ".pyw")):
            continue
        if _GUARD.search(snapshot.text(known)):
            yield path


def _scripts(snapshot: Snapshot) -> Iterator[EntryPoint]:
    manifests = [
        path
        for path in snapshot.files
        if path.rpartition("/")[2] in _READERS and path.count("/") <= _MAX_DEPTH and not _is_of_others(path)
    ]
    for path in sorted(manifests, key=lambda manifest: (manifest.count("/"), manifest))[:_MAX_MANIFESTS]:
        known = snapshot.files[path]
        if known.skipped is None:
            for name, target in _read(path, snapshot.text(known)):
                yield EntryPoint(path=path_text(path), kind="script", name=name, qualified_name=target)
    yield from _gem_commands(snapshot)


def _gem_commands(snapshot: Snapshot) -> Iterator[EntryPoint]:
    """The commands of Ruby's packages: what their specification names, where such a file is."""
    for path in sorted(path for path in snapshot.files if path.endswith(".gemspec") and path.count("/") <= 1):
        known = snapshot.files[path]
        if known.skipped is not None or not (named := _EXECUTABLES.search(snapshot.text(known)[:_MAX_MANIFEST_BYTES])):
            continue
        for name in sorted(set(_GEM_COMMAND.findall(named[1].decode("utf-8", "replace")))):
            for folder in _GEM_FOLDERS:
                target = posixpath.join(posixpath.dirname(path), folder, name)
                if target in snapshot.files:
                    yield EntryPoint(path=path_text(path), kind="script", name=name, qualified_name=path_text(target))
                    break


def _read(path: str, raw: bytes) -> list[tuple[str, str]]:
    """The scripts of a manifest; none if it cannot be read."""
    name = path.rpartition("/")[2]
    # Deeply dotted names nest tables, at a cost that grows with the square of their number.
    if len(raw) > _MAX_MANIFEST_BYTES or any(line.count(b".") > _MAX_DOTS for line in raw.splitlines()):
        return []
    try:
        loaded = _LOADERS[name.rpartition(".")[2]](raw.decode())
    except (ValueError, RecursionError, configparser.Error):
        return []
    return [(key, value) for key, value in _READERS[name](loaded) if isinstance(key, str) and isinstance(value, str)]


def _table(loaded: object, *keys: str) -> Mapping[object, object]:
    for key in keys:
        loaded = loaded.get(key) if isinstance(loaded, dict) else None
    return loaded if isinstance(loaded, dict) else {}


def _python(loaded: object) -> Iterable[tuple[object, object]]:
    yield from _table(loaded, "project", "scripts").items()
    yield from _table(loaded, "project", "gui-scripts").items()
    yield from _table(loaded, "tool", "poetry", "scripts").items()


def _node(loaded: object) -> Iterable[tuple[object, object]]:
    top = _table(loaded)
    commands = top.get("bin")
    yield from ([(top.get("name"), commands)] if isinstance(commands, str) else _table(commands).items())
    imported = [(key, top[key]) for key in _IMPORTED if isinstance(top.get(key), str)]
    yield from imported[:1]
    for key in ("start", "dev", "test"):
        yield f"npm run {key}", _table(top, "scripts").get(key)


def _rust(loaded: object) -> Iterable[tuple[object, object]]:
    listed = _table(loaded).get("bin")
    for table in listed if isinstance(listed, list) else []:
        yield _table(table).get("name"), _table(table).get("path") or "src/main.rs"


def _php(loaded: object) -> Iterable[tuple[object, object]]:
    listed = _table(loaded).get("bin")
    for path in [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else []:
        yield posixpath.basename(str(path)), path


def _setup(loaded: object) -> Iterable[tuple[object, object]]:
    for kind in ("console_scripts", "gui_scripts"):
        for line in str(_table(loaded, "options.entry_points").get(kind) or "").splitlines():
            name, _, target = line.partition("=")
            if target.strip():
                yield name.strip(), target.partition("[")[0].strip()


def _load_sections(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


_LOADERS: Mapping[str, Callable[[str], object]] = {"json": json.loads, "toml": tomllib.loads, "cfg": _load_sections}
_READERS = {
    "pyproject.toml": _python,
    "setup.cfg": _setup,
    "package.json": _node,
    "Cargo.toml": _rust,
    "composer.json": _php,
}
