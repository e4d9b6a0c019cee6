"""Which of some paths git tracks, and which the last commit holds."""

import os
import subprocess
from pathlib import Path

from codeplane.disk.git_variables import NO_FETCH
from codeplane.disk.program_path import path_outside

_TIMEOUT_SEC = 30.0


def tracked_paths(root: Path, paths: list[Path]) -> set[Path]:
    """Return the paths that git tracks or that contain tracked files; none where git fails."""
    files = {root / os.fsdecode(name) for name in _list(root, "ls-files", paths)}
    return {path for path in paths if path in files or any(path in file.parents for file in files)}


def committed_files(root: Path, paths: list[Path]) -> dict[Path, dict[Path, str]]:
    """Return for each path its files in the last commit, with their object ids; nothing where git fails."""
    committed: dict[Path, dict[Path, str]] = {}
    for line in _list(root, "ls-tree", paths):
        facts, _, name = line.partition(b"\t")
        file, object_id = root / os.fsdecode(name), facts.rpartition(b" ")[2].decode()
        for path in paths:
            if path == file or path in file.parents:
                committed.setdefault(path, {})[file] = object_id
    return committed


def _list(root: Path, command: str, paths: list[Path]) -> list[bytes]:
    """Return what git lists of the paths, from the index (`ls-files`) or the last commit (`ls-tree`)."""
    settings = ("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit", "--literal-pathspecs")
    options = ("-z", "--") if command == "ls-files" else ("-r", "-z", "HEAD", "--")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["PATH"] = path_outside(environment.get("PATH", ""), root)
    names = [str(path.relative_to(root)) for path in paths]
    try:
        output = subprocess.run(
            ["git", *settings, command, *options, *names],
            cwd=root,
            env=environment | NO_FETCH,
            capture_output=True,
            timeout=_TIMEOUT_SEC,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [line for line in output.split(b"\0") if line]
