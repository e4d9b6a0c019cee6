"""Files of Python that are run, and never imported by users of a package."""

from collections.abc import Callable, Container

_RUN = frozenset({"setup.py", "noxfile.py", "conftest.py", "fabfile.py"})


def is_program(path: str, files: Container[str], read: Callable[[str], bytes | None]) -> bool:
    """Whether a file is a script of the repository's own tools."""
    folder, _, name = path.rpartition("/")
    return name in _RUN and f"{folder}/__init__.py" not in files
