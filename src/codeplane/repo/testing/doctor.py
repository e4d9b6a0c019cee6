"""What `doctor` says of test runners, for a repository that nobody serves."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from codeplane.kernel.config import TestsConfig
from codeplane.repo.testing.program import Programs
from codeplane.repo.testing.runner import runners


def missing_runners(root: Path, config: TestsConfig, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The runners that the settings or the markers at the root ask for and that are not there."""
    programs = Programs(root, path=environment.get("PATH", ""))
    needed = {name for name in config.runners.values() if name in runners()}
    for runner in runners().values():
        if any(_is_marked(root, marker.file, marker.contains) for marker in runner.markers):
            needed.add(runner.name)
    return _missing(programs, config, needed)


def missing_configured(programs: Programs, config: TestsConfig) -> tuple[str, ...]:
    """The runners that the settings name and that are not there."""
    return _missing(programs, config, {name for name in config.runners.values() if name in runners()})


def _missing(programs: Programs, config: TestsConfig, needed: set[str]) -> tuple[str, ...]:
    known = runners()
    found = [
        f"Test runner '{name}' not found in PATH" for name in sorted(needed) if programs.at(known[name], "") is None
    ]
    words = {custom.cmd[0] for custom in config.custom}
    found += [f"Test runner '{word}' not found in PATH" for word in sorted(words) if programs.command(word, "") is None]
    return tuple(found)


def unknown_runners(config: TestsConfig) -> tuple[str, ...]:
    """What the settings name as a runner and is none."""
    found = [(language, name) for language, name in config.runners.items() if name not in runners()]
    return tuple(
        f"tests.runners names {name!r} for {language}, which is no known runner{_nearest(name)}"
        for language, name in found
    )


def missing_linters(root: Path, config: TestsConfig, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The programs that `tests.lint` names and that are not there."""
    programs = Programs(root, path=environment.get("PATH", ""))
    words = sorted({command[0] for command in config.lint if command})
    return tuple(f"tests.lint names {word!r}, which is not found" for word in words if not programs.command(word, ""))


def _nearest(name: str) -> str:
    near = get_close_matches(name, runners(), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _is_marked(root: Path, name: str, contains: str) -> bool:
    for file in root.glob(name):
        try:
            if file.is_file() and (not contains or contains in file.read_text(errors="replace")):
                return True
        except OSError:
            continue
    return False
