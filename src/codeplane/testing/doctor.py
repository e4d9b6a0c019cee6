"""The checks of `doctor` on test runners, which need no server."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from codeplane.git.read.git_error import name_first
from codeplane.index.files.file import Stamp, read
from codeplane.index.snapshot import IndexedFile
from codeplane.kernel.config import TestsConfig
from codeplane.testing.discovery import Discovery
from codeplane.testing.program import Programs
from codeplane.testing.runner import runners
from codeplane.testing.target import Target

_UNREAD = Stamp(0, 0, 0, 0, 0)
_MAX_FILE_BYTES = 1024 * 1024
_REPOSITORY = "the repository"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerState:
    """A runner that tests need: the folders it runs tests of, the program, or the problem and its fix."""

    name: str
    roots: tuple[str, ...]
    program: str = ""
    problem: str = ""
    fix: str = ""

    def __str__(self) -> str:
        where = name_first([root or _REPOSITORY for root in self.roots])
        return f"{self.name} for {where}: {self.program}" if self.program else f"{self.problem} (for {where})"


def runner_states(
    root: Path, paths: Sequence[str], config: TestsConfig, environment: Mapping[str, str]
) -> tuple[RunnerState, ...]:
    """Return the runners of all tests among `paths`, and those that settings or markers at the root name."""
    programs = Programs(root, path=environment.get("PATH", ""))
    discovery = Discovery(
        snapshot=_Disk(root, paths), config=config, available=lambda runner, at: programs.at(runner, at) is not None
    )
    used = {(target.runner_name, target.root): target for target in discovery.targets}
    found = [_target_state(programs, target) for target in used.values()]
    asked = [*discovery.marked_at_root, *config.runners.values()]
    found += [_state(programs, name, "") for name in dict.fromkeys(asked) if _is_unused(name, used.values())]
    words = {custom.cmd[0] for custom in config.custom} - {
        target.custom.cmd[0] for target in used.values() if target.custom
    }
    found += [_custom_state(programs, word, word, "") for word in sorted(words)]
    return _merge_states(found)


def missing_configured(programs: Programs, config: TestsConfig) -> tuple[str, ...]:
    """Return a message for each configured runner that is not installed."""
    known = runners()
    named = sorted({name for name in config.runners.values() if name in known and not programs.at(known[name], "")})
    words = sorted({custom.cmd[0] for custom in config.custom if programs.command(custom.cmd[0], "") is None})
    return tuple(map(_not_found, (*named, *words)))


def unknown_runners(config: TestsConfig) -> tuple[str, ...]:
    """Return a message for each configured runner that is not known."""
    found = [(language, name) for language, name in config.runners.items() if name not in runners()]
    return tuple(
        f"tests.runners names {name!r} for {language}, which is no known runner{_nearest_name(name)}"
        for language, name in found
    )


def missing_linters(root: Path, config: TestsConfig, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return a message for each program of `tests.lint` that is not installed."""
    programs = Programs(root, path=environment.get("PATH", ""))
    words = sorted({command[0] for command in config.lint if command})
    return tuple(f"tests.lint names {word!r}, which is not found" for word in words if not programs.command(word, ""))


class _Disk:
    """Files on disk, each read when its text is needed."""

    def __init__(self, root: Path, paths: Sequence[str]) -> None:
        self._root = root
        self.files = {
            path: IndexedFile(path=path, stamp=_UNREAD, digest="", offset=0, length=0, tracked=True) for path in paths
        }

    @cached_property
    def texts(self) -> tuple[IndexedFile, ...]:
        return tuple(self.files.values())

    def text(self, known: IndexedFile) -> bytes:
        return read(str(self._root / known.path), max_bytes=_MAX_FILE_BYTES).content


def _is_unused(name: str, used: Iterable[Target]) -> bool:
    """Whether neither a runner nor another one of the same languages runs any test."""
    runner = runners().get(name)
    return runner is not None and not any(target.language in runner.languages for target in used)


def _target_state(programs: Programs, target: Target) -> RunnerState:
    if target.custom is not None:
        return _custom_state(programs, target.runner_name, target.custom.cmd[0], target.root)
    return _state(programs, target.runner_name, target.root)


def _state(programs: Programs, name: str, root: str) -> RunnerState:
    runner = runners()[name]
    program = programs.at(runner, root)
    problem = _not_found(name) if program is None else programs.fault(runner, root)
    if program is None or problem:
        return RunnerState(name=name, roots=(root,), problem=problem, fix=programs.remedy(runner, root))
    first, *more = program.words
    return RunnerState(name=name, roots=(root,), program=" ".join([programs.relative_path(Path(first)), *more]))


def _custom_state(programs: Programs, name: str, word: str, root: str) -> RunnerState:
    program = programs.command(word, root)
    if program is None:
        return RunnerState(
            name=name, roots=(root,), problem=_not_found(word), fix=f"install {word}, or fix tests.custom"
        )
    return RunnerState(name=name, roots=(root,), program=programs.relative_path(Path(program.words[0])))


def _merge_states(states: Iterable[RunnerState]) -> tuple[RunnerState, ...]:
    """Merge states that differ only in their folders."""
    found: dict[RunnerState, list[str]] = {}
    for state in states:
        found.setdefault(replace(state, roots=()), []).extend(state.roots)
    return tuple(replace(state, roots=tuple(roots)) for state, roots in found.items())


def _not_found(name: str) -> str:
    return f"Test runner '{name}' not found in PATH"


def _nearest_name(name: str) -> str:
    near = get_close_matches(name, runners(), n=1)
    return f" (did you mean {near[0]}?)" if near else ""
