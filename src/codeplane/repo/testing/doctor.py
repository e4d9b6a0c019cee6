"""What `doctor` says of test runners, for a repository that nobody serves."""

from collections.abc import Mapping
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
    known = runners()
    found = [
        f"Test runner '{name}' not found in PATH" for name in sorted(needed) if programs.at(known[name], "") is None
    ]
    words = {custom.cmd[0] for custom in config.custom}
    found += [f"Test runner '{word}' not found in PATH" for word in sorted(words) if programs.command(word, "") is None]
    return tuple(found)


def _is_marked(root: Path, name: str, contains: str) -> bool:
    for file in root.glob(name):
        try:
            if file.is_file() and (not contains or contains in file.read_text(errors="replace")):
                return True
        except OSError:
            continue
    return False
