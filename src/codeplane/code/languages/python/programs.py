"""Files of Python that are run, and never imported by users of a package."""

from collections.abc import Callable, Container

_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
_RUN = frozenset({"setup.py", "noxfile.py", "conftest.py", "fabfile.py"})


def is_program(path: str, files: Container[str], read: Callable[[str], bytes | None]) -> bool:
    """Whether a file is a script of the repository's own tools, or of a repository that has no packages of Python."""
    folder, _, name = path.rpartition("/")
    if f"{folder}/__init__.py".lstrip("/") in files:
        return False
    return name in _RUN or (bool(folder) and not _is_in_project(folder, files))


def _is_in_project(folder: str, files: Container[str]) -> bool:
    """Whether a folder, or one above it, has a file that says what is installed from it."""
    while True:
        if any(f"{folder}/{name}".lstrip("/") in files for name in _MANIFESTS):
            return True
        if not folder:
            return False
        folder = folder.rpartition("/")[0]
