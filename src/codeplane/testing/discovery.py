"""Discovery of targets: by settings, then by the files around a test file, then by its language."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

from codeplane.code.languages.registry import languages
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import IndexedFile
from codeplane.kernel.config import CustomRunner, TestsConfig
from codeplane.kernel.errors import ConfigInvalid
from codeplane.testing.runner import Marker, Runner, glob_regex, runners
from codeplane.testing.target import Target

_NEVER = re.compile(r"(?:^|/)(?:node_modules|site-packages|\.venv|venv)/")
_PYTHON_FILES = re.compile(r"(?m)^\s*python_files\s*=\s*(.+(?:\n[ \t]+.+)*)")
_CRATE_ROOTS = ("src/lib.rs", "src/main.rs")
_PYTEST_SETTINGS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_NAMES = re.compile(r"[\w*?.\[\]-]+\.py")
_JAVA_ROOT = re.compile(r"(?:^|.*/)src/test/(?:java|kotlin|groovy|scala)/")


@lru_cache(maxsize=1)
def _leading_names() -> tuple[frozenset[str], tuple[str, ...]]:
    """The names of files by which runners and their roots are found, and their endings."""
    names = {name for runner in runners().values() for name in runner.roots}
    names |= {marker.file for runner in runners().values() for marker in runner.markers}
    names |= set(_PYTEST_SETTINGS)
    exact = frozenset(name for name in names if not name.startswith("*"))
    return exact, tuple(name[1:] for name in names if name.startswith("*"))


# Cached, since every edit calls it for all paths.
@lru_cache(maxsize=65_536)
def _leads_to_runner(path: str) -> bool:
    exact, endings = _leading_names()
    name = path.rpartition("/")[2]
    return name in exact or name.endswith(endings)


@lru_cache(maxsize=65_536)
def _is_crate_root(path: str) -> bool:
    return path.endswith(_CRATE_ROOTS)


class FileTree(Protocol):
    """The files of a repository: a snapshot of the index, or the disk where there is none."""

    @property
    def files(self) -> Mapping[str, IndexedFile]: ...

    @property
    def texts(self) -> tuple[IndexedFile, ...]: ...

    def text(self, known: IndexedFile) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryState:
    """The discovery of one state: files that tell runners, runners that are installed, and the target of each file.

    `listed` are all of these targets, in the order of paths.
    """

    surroundings: frozenset[tuple[str, str]]
    installed: Mapping[tuple[str, str], bool]
    digests: Mapping[str, str]
    targets: Mapping[str, Target | None]
    listed: tuple[Target, ...]
    marked: Mapping[tuple[str, str], int]


_NOTHING = DiscoveryState(surroundings=frozenset(), installed={}, digests={}, targets={}, listed=(), marked={})


@dataclass(frozen=True, kw_only=True)
class Discovery:
    """Discovers targets in one snapshot; `available` says whether a root has a runner, `before` is the last state.

    `changed` are the paths whose content differs from `before`, where that is known and no file came or went.
    """

    snapshot: FileTree
    config: TestsConfig
    available: Callable[[Runner, str], bool]
    before: "DiscoveryState | None" = None
    changed: frozenset[str] | None = None

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """All targets, in the order of paths; the same tuple as before while all of them are the same."""
        if self.before is not None and self.by_file is self.before.targets:
            return self.before.listed
        found: dict[tuple[str, str], Target] = {}
        for target in self.by_file.values():
            if target is None:
                continue
            key = (target.runner_name, target.target_id)
            before = found.get(key)
            found[key] = target if before is None else _merge_targets(before, target)
        return tuple(sorted(found.values(), key=lambda target: (target.path, target.runner_name)))

    @cached_property
    def by_file(self) -> Mapping[str, Target | None]:
        """The target of each file, taken from the state before if neither the file nor its surroundings changed."""
        before = self.before if self.before is not None and self._has_same_surroundings(self.before) else _NOTHING
        if self.changed is not None and before is not _NOTHING and self._are_all_texts(self.changed, before):
            files = self.snapshot.files
            now = {path: self._target(files[path]) for path in self.changed}
            is_same = all(before.targets[path] == target for path, target in now.items())
            return before.targets if is_same else {**before.targets, **now}
        found: dict[str, Target | None] = {}
        for known in self.snapshot.texts:
            is_same = before.digests.get(known.path) == known.digest
            found[known.path] = before.targets[known.path] if is_same else self._target(known)
        return found

    @property
    def marked_at_root(self) -> list[str]:
        """The runners that files at the root ask for, whether there are tests or not."""
        return [name for name, folder in self._marked if not folder]

    def state(self) -> "DiscoveryState":
        """Return what the next discovery can build on."""
        return DiscoveryState(
            surroundings=self.surroundings,
            installed=dict(self._installed),
            digests=self._digests(),
            targets=self.by_file,
            listed=self.targets,
            marked=self._marked,
        )

    def _digests(self) -> Mapping[str, str]:
        files = self.snapshot.files
        if self.changed is not None and self.before is not None and self._are_all_texts(self.changed, self.before):
            return {**self.before.digests, **{path: files[path].digest for path in self.changed}}
        return {path: files[path].digest for path in self.by_file}

    def _are_all_texts(self, paths: Iterable[str], before: "DiscoveryState") -> bool:
        """Whether files are texts now and were before."""
        return all(path in before.digests and self.snapshot.files[path].skipped is None for path in paths)

    def _has_same_surroundings(self, before: "DiscoveryState") -> bool:
        """Whether the same runners are configured and installed as before; programs come and go."""
        if before.surroundings != self.surroundings:
            return False
        known = runners()
        self._installed.update({(name, root): self.available(known[name], root) for name, root in before.installed})
        return self._installed == before.installed

    @cached_property
    def surroundings(self) -> frozenset[tuple[str, str]]:
        """The files by which runners and their roots are found, with their content."""
        files = self.snapshot.files
        if self.changed is not None and self.before is not None and not any(map(_leads_to_runner, self.changed)):
            return self.before.surroundings
        found = {(path, files[path].digest) for path in filter(_leads_to_runner, files)}
        # Only their existence counts, not their content.
        return frozenset(found | {(path, "") for path in filter(_is_crate_root, files)})

    def _target(self, known: IndexedFile) -> Target | None:
        path = known.path
        if _NEVER.search(path) or any(pattern.fullmatch(path) for pattern in self._excluded):
            return None
        for custom, pattern in self._custom:
            if pattern.fullmatch(path):
                return self._custom_target(known, custom)
        language = languages().of(path)
        name = language.name if language is not None else ""
        choice = self._choice(known, name, (language.family if language is not None else None) or name)
        if choice is None:
            return None
        runner, root = choice
        library, program = (_join(root, file) in self.snapshot.files for file in _CRATE_ROOTS)
        return _known_target(runner, root, known, name, self._text(known), only_program=program and not library)

    def _choice(self, known: IndexedFile, language: str, family: str) -> tuple[Runner, str] | None:
        """Return the runner of a file and the folder it runs in; None when it is no test."""
        can: list[tuple[Runner, str, int]] = []
        for runner in runners().values():
            if runner.unit != "project" and language not in runner.languages:
                continue
            root, priority = self._root(runner, known.path)
            inner = known.path[len(root) :].lstrip("/") if root else known.path
            if not (runner.is_named(inner) or self._is_configured(runner, root, known.path)):
                continue
            if runner.needs_text and not re.search(runner.needs_text, self._text(known)):
                continue
            can.append((runner, root, priority))
        if not can:
            return None
        chosen = self.config.runners.get(language) or self.config.runners.get(family)
        if chosen is not None:
            if chosen not in runners():
                raise ConfigInvalid(
                    f"tests.runners names {chosen!r} for {language}, which is no known runner",
                    hint=f"known: {', '.join(runners())}; or give a command under tests.custom",
                )
            if language not in runners()[chosen].languages:
                raise ConfigInvalid(
                    f"tests.runners names {chosen!r} for {language}, which it does not run",
                    hint=f"it runs {', '.join(runners()[chosen].languages)}; or give a command under tests.custom",
                )
            # A file that is not named like its tests is not a test of it.
            return next(((runner, root) for runner, root, _ in can if runner.name == chosen), None)
        text = self._text(known)
        for runner, root, _ in can:
            if any(f'"{import_}"' in text or f"'{import_}'" in text for import_ in runner.imports):
                return runner, root
        marked = [choice for choice in can if choice[2] > 0]
        if marked:
            runner, root, _ = max(marked, key=lambda choice: (choice[1].count("/") + bool(choice[1]), choice[2]))
            return runner, root
        return self._default(can, language)

    def _default(self, can: list[tuple[Runner, str, int]], language: str) -> tuple[Runner, str] | None:
        usual = [(runner, root) for runner, root, _ in can if language in runner.default_for]
        others = [
            (runner, root) for runner, root, _ in can if language not in runner.default_for and not runner.imports
        ]
        for runner, root in (*usual, *others):
            key = (runner.name, root)
            if key not in self._installed:
                self._installed[key] = self.available(runner, root)
            if self._installed[key]:
                return runner, root
        # It is not installed, which is reported when it is to run.
        return usual[0] if usual else None

    def _root(self, runner: Runner, path: str) -> tuple[str, int]:
        """Return the nearest folder with a marker and its priority, else the nearest with a manifest."""
        manifest: str | None = None
        for folder in _upwards(path):
            priority = self._marked.get((runner.name, folder), 0)
            if priority:
                return folder, priority
            if manifest is None and any(_join(folder, name) in self.snapshot.files for name in runner.roots):
                manifest = folder
        return manifest or "", 0

    @cached_property
    def _marked(self) -> Mapping[tuple[str, str], int]:
        if self.before is not None and self.before.surroundings == self.surroundings:
            return self.before.marked
        exact: dict[str, list[tuple[Runner, Marker]]] = {}
        endings: list[tuple[str, Runner, Marker]] = []
        for runner in runners().values():
            for marker in runner.markers:
                if marker.file.startswith("*"):
                    endings.append((marker.file[1:], runner, marker))
                else:
                    exact.setdefault(marker.file, []).append((runner, marker))
        found: dict[tuple[str, str], int] = {}
        for known in self.snapshot.texts:
            folder, _, name = known.path.rpartition("/")
            near = exact.get(name, [])
            near = near + [(runner, marker) for ending, runner, marker in endings if name.endswith(ending)]
            for runner, marker in near:
                if marker.contains and marker.contains not in self._text(known):
                    continue
                key = (runner.name, folder)
                found[key] = max(found.get(key, 0), marker.priority)
        return found

    def _is_configured(self, runner: Runner, root: str, path: str) -> bool:
        """Whether the settings of pytest name such files as tests."""
        if runner.name != "pytest":
            return False
        name = path.rpartition("/")[2]
        return any(glob_regex(pattern).fullmatch(name) for pattern in self._python_files(root))

    def _python_files(self, root: str) -> tuple[str, ...]:
        found: list[str] = []
        for name in _PYTEST_SETTINGS:
            known = self.snapshot.files.get(_join(root, name))
            if known is not None and known.skipped is None:
                for match in _PYTHON_FILES.finditer(self._text(known)):
                    found += _NAMES.findall(match[1])
        return tuple(found)

    def _custom_target(self, known: IndexedFile, custom: CustomRunner) -> Target:
        language = languages().of(known.path)
        runner = runners().get(custom.runner)
        return Target(
            target_id=path_text(known.path),
            path=known.path,
            root="",
            language=language.name if language is not None else "",
            runner_name=custom.runner,
            runner=runner,
            words=(known.path,),
            custom=custom,
            test_count=_count(runner, self._text(known)),
        )

    @cached_property
    def _installed(self) -> dict[tuple[str, str], bool]:
        """Which runners are installed, asked once and not for every file."""
        return {}

    @cached_property
    def _custom(self) -> tuple[tuple[CustomRunner, re.Pattern[str]], ...]:
        return tuple((runner, glob_regex(runner.pattern)) for runner in self.config.custom)

    @cached_property
    def _excluded(self) -> tuple[re.Pattern[str], ...]:
        return tuple(glob_regex(pattern) for pattern in self.config.exclude)

    def _text(self, known: IndexedFile) -> str:
        return self.snapshot.text(known).decode(errors="replace")


def _known_target(
    runner: Runner, root: str, known: IndexedFile, language: str, text: str, *, only_program: bool = False
) -> Target:
    """Build the target of a file; `only_program`: its crate has no library."""
    path = known.path
    inner = path[len(root) :].lstrip("/") if root else path
    target_id = path
    values = {"path": inner, "stem": inner.rpartition("/")[2].partition(".")[0]}
    words = runner.target
    if runner.unit == "package":
        path = path.rpartition("/")[0]
        target_id = path or "."
        values["path"] = inner.rpartition("/")[0] or "."
    elif runner.unit == "class":
        values["class"] = _JAVA_ROOT.sub("", path).rpartition(".")[0].replace("/", ".")
        target_id = values["class"]
    elif runner.unit == "crate":
        if inner.startswith("tests/"):
            values["name"] = inner.removeprefix("tests/").removesuffix(".rs").removesuffix("/main")
        else:
            # All unit tests belong to one program, whichever file they are in.
            is_binary = only_program or inner == "src/main.rs" or inner.startswith("src/bin/")
            words = ("--bins",) if is_binary else ("--lib",)
            path = target_id = _join(root, "src/main.rs" if is_binary else "src/lib.rs")
    return Target(
        target_id=path_text(target_id),
        path=path,
        root=root,
        language=language or "csharp",
        runner_name=runner.name,
        runner=runner,
        words=tuple(word.format_map(values) for word in words),
        test_count=_count(runner, text),
        covers=(known.path,),
    )


def _merge_targets(target: Target, other: Target) -> Target:
    return Target(
        target_id=target.target_id,
        path=target.path,
        root=target.root,
        language=target.language,
        runner_name=target.runner_name,
        runner=target.runner,
        words=target.words,
        custom=target.custom,
        test_count=(target.test_count or 0) + (other.test_count or 0),
        covers=(*target.covers, *other.covers),
    )


def _count(runner: Runner | None, text: str) -> int | None:
    return len(re.findall(runner.counts, text)) if runner is not None and runner.counts else None


def _upwards(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(len(parts), -1, -1)]


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
