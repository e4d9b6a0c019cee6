"""Untracked files that should not be committed: nested repositories, and installed or generated files."""

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.plural import plural

MAX_UNTRACKED = 500
_MOST_GENERATED = 50
_ENVIRONMENT = "pyvenv.cfg"
_GENERATED = frozenset({"node_modules", ".venv", "venv", "__pycache__", "target", "dist"})


def nested_repositories(root: Path, untracked: Iterable[str]) -> list[str]:
    """Return the folders among these paths that are git repositories or work trees, each with a trailing slash."""
    found: set[str] = set()
    is_repository: dict[str, bool] = {}
    for path in untracked:
        if path.endswith("/"):
            found.add(path)
            continue
        # Git lists the files of a nested repository that it can no longer read.
        folder = path.rpartition("/")[0]
        while folder:
            if folder not in is_repository:
                is_repository[folder] = os.path.lexists(root / folder / ".git")
            if is_repository[folder]:
                found.add(f"{folder}/")
            folder = folder.rpartition("/")[0]
    return sorted(found)


def refuse_generated(untracked: Collection[str], named: Sequence[str]) -> None:
    """Refuse installed or generated files that are not ignored, unless the caller named them."""
    environments = {path.rpartition("/")[0] for path in untracked if path.endswith(f"/{_ENVIRONMENT}")}
    folders: dict[str, int] = {}
    for path in untracked:
        folder = _generated_folder(path, environments)
        if folder is not None and not any(name == folder or name.startswith(f"{folder}/") for name in named if name):
            folders[folder] = folders.get(folder, 0) + 1
    by_name: dict[str, int] = {}
    for folder, count in folders.items():
        name = folder.rpartition("/")[2]
        by_name[name] = by_name.get(name, 0) + count
    bad = {
        folder: count
        for folder, count in folders.items()
        if folder in environments or by_name[folder.rpartition("/")[2]] > _MOST_GENERATED
    }
    if bad:
        listed = sorted(bad, key=lambda folder: (-bad[folder], folder))
        folders_text = ", ".join(f"{path_text(folder)}/ ({plural(bad[folder], 'file')})" for folder in listed[:3]) + (
            " …" if len(bad) > 3 else ""
        )
        raise InvalidArgument(
            f"nothing was committed: {folders_text} would be new in git, and looks installed or generated",
            hint=f"add {path_text(listed[0].rpartition('/')[2])}/ to .gitignore, or name what to commit as paths",
            details={"folders": [path_text(folder) for folder in listed[:100]]},
        )
    unnamed = [
        path for path in untracked if not any(path == name or path.startswith(f"{name}/") for name in named if name)
    ]
    if len(unnamed) > MAX_UNTRACKED:
        tops = sorted({path.partition("/")[0] + ("/" if "/" in path else "") for path in unnamed})
        raise InvalidArgument(
            f"nothing was committed: {len(unnamed):,} files would be new in git, more than the {MAX_UNTRACKED} that are"
            f" taken unasked; they are in {', '.join(map(path_text, tops[:5]))}{' …' if len(tops) > 5 else ''}",
            hint="ignore what is not meant (.gitignore), or name files or folders as paths",
        )


def _generated_folder(path: str, environments: Collection[str]) -> str | None:
    """Return the outermost folder of a path that is a Python environment or has a usual name of generated folders."""
    parts = path.split("/")[:-1]
    for end in range(1, len(parts) + 1):
        folder = "/".join(parts[:end])
        if parts[end - 1] in _GENERATED or folder in environments:
            return folder
    return None
