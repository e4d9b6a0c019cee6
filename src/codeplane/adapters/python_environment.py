"""Recognising a Python environment, such as `.env/` or `venv/`."""

import os
from pathlib import Path

_MARKERS = ("pyvenv.cfg", "conda-meta")
_MEMBERS = frozenset(
    {
        *(*_MARKERS, ".gitignore", "CACHEDIR.TAG", ".lock"),
        *("bin", "lib", "lib64", "include", "share", "Scripts", "Lib", "Include"),
    }
)


def is_python_environment(folder: Path) -> bool:
    """Return whether a folder looks like a Python environment."""
    return (
        any((folder / marker).exists() for marker in _MARKERS)
        and any(os.path.lexists(folder / program) for program in ("bin/python", "bin/python3", "Scripts/python.exe"))
        and any((folder / name).is_dir() for name in ("lib", "Lib"))
    )


def foreign_entries(environment: Path) -> list[Path]:
    """Return the entries of a Python environment that are not part of one."""
    try:
        return sorted(path for path in environment.iterdir() if path.name not in _MEMBERS and not path.is_symlink())
    except OSError:
        return []
