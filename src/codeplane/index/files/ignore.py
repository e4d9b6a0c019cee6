"""Ignore rules: secrets, default noise, and `.cplignore`."""

import os
import stat
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from pathspec import GitIgnoreSpec

from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import PathDenied, StorageFailed
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules

_OWN = ".cplignore"
# The files that say which files belong.
RULES = (".gitignore", _OWN)
_MAX_BYTES = 100_000

# Only files that git does not track are judged by these: a tracked `build/` can be source.
DEFAULTS = """\
node_modules/
dist/
build/
.venv/
venv/
__pycache__/
*.pyc
*.log
coverage/
.pytest_cache/
.mypy_cache/
.ruff_cache/
"""


class IgnoreRules:
    """The rules of one workspace, compiled once."""

    def __init__(self, *, own: str = "", secrets: SecretRules = NOTHING_SHOWN) -> None:
        self._untracked = compile_patterns((DEFAULTS + own).splitlines())
        self._tracked = compile_patterns(own.splitlines())
        self._secrets = secrets

    @classmethod
    def of(cls, root: Path, secrets: SecretRules = NOTHING_SHOWN) -> "IgnoreRules":
        """The rules of a root: the defaults, then its `.cplignore`, which cannot reveal secrets."""
        return _cached_rules(_read_own_rules(root / _OWN), secrets)

    def is_withheld(self, path: str) -> bool:
        """Whether a path is excluded even if tracked."""
        return self._secrets.covers(path) or self._tracked.match_file(as_text(path))

    def split_paths(self, paths: Iterable[str], *, tracked: bool) -> tuple[list[str], list[str]]:
        """Split paths into those to index and those left out."""
        spec, covers = self._tracked if tracked else self._untracked, self._secrets.covers
        listed = list(paths)
        left_out = {path for path in listed if covers(path) or spec.match_file(as_text(path))}
        return [path for path in listed if path not in left_out], sorted(left_out)

    def refusal(self, path: str, *, display: str = "") -> PathDenied | None:
        """The error for reading or writing an excluded path, or None; `name` is its name in the message."""
        display = display or path_text(path)
        if self._secrets.covers(path):
            return PathDenied(
                f"{display} holds secrets by its name or another one, so it is not shown or changed",
                hint=f'the owner can show it: index.secrets: ["{path_text(path)}"] in .codeplane/config.yaml',
            )
        if self._tracked.match_file(as_text(path)):
            return PathDenied(f"{display} is left out by {_OWN}", hint=f"the owner can un-ignore it in {_OWN}")
        return None


def says_what_belongs(path: str) -> bool:
    """Whether a file decides which files are indexed."""
    return path.rpartition("/")[2] in RULES


class Patterns:
    """Git patterns, split into as many specs as the engine needs; the last match decides."""

    def __init__(self, parts: Sequence[GitIgnoreSpec]) -> None:
        self._parts = parts

    def match_file(self, path: str) -> bool:
        """Whether a path matches and no later pattern negates it."""
        if len(self._parts) == 1:
            return self._parts[0].match_file(path)
        verdicts = (part.check_file(path).include for part in reversed(self._parts))
        return next((verdict for verdict in verdicts if verdict is not None), False)


def compile_patterns(lines: Sequence[str]) -> Patterns:
    """Compile patterns; invalid lines are ignored, as git does."""
    return Patterns(list(_parts(lines)))


@lru_cache(maxsize=8)
def _cached_rules(own: str, secrets: SecretRules) -> IgnoreRules:
    """Cached rules of a text, which seldom changes between walks."""
    return IgnoreRules(own=own, secrets=secrets)


def _read_own_rules(file: Path) -> str:
    """Read `.cplignore`; an unreadable file is an error."""
    try:
        # Not waiting on a FIFO that is called so.
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise StorageFailed(f"{_OWN} cannot be read: {error.strerror}", hint=f"look at it: ls -l {_OWN}") from error
    try:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        raw = os.read(descriptor, _MAX_BYTES + 1) if is_file else b""
    finally:
        os.close(descriptor)
    if len(raw) > _MAX_BYTES:
        raise StorageFailed(f"{_OWN} is larger than {_MAX_BYTES} bytes", hint="say it in fewer patterns")
    return raw.decode("utf-8", "replace")


def _parts(lines: Sequence[str]) -> Iterable[GitIgnoreSpec]:
    """Split the patterns in halves until the engine accepts them."""
    try:
        yield GitIgnoreSpec.from_lines(lines)
    except Exception:  # the library and its engines each refuse in their own way
        if len(lines) > 1:
            half = len(lines) // 2
            yield from _parts(lines[:half])
            yield from _parts(lines[half:])


def is_pattern(line: str) -> bool:
    """Whether a line is a valid pattern."""
    try:
        GitIgnoreSpec.from_lines([line]).match_file("any/name")
    except Exception:
        return False
    return True


def as_text(path: str) -> str:
    """A path as valid text, with replacement characters for other bytes."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "replace")
