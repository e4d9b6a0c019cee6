"""What is never indexed: secrets, noise by default, and whatever `.cplignore` says."""

import os
import stat
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from pathspec import GitIgnoreSpec

from codeplane.index.files.paths import shown
from codeplane.kernel.errors import PathDenied, StorageFailed
from codeplane.kernel.secret_files import NOTHING_SHOWN, SecretRules

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
        self._untracked = compiled((DEFAULTS + own).splitlines())
        self._tracked = compiled(own.splitlines())
        self._secrets = secrets

    @classmethod
    def of(cls, root: Path, secrets: SecretRules = NOTHING_SHOWN) -> "IgnoreRules":
        """The rules in force at a root: the defaults, then its `.cplignore`, which has no say about secrets."""
        return _kept(_own(root / _OWN), secrets)

    def is_withheld(self, path: str) -> bool:
        """Whether a path is one of those that stay out, tracked or not."""
        return self._secrets.covers(path) or self._tracked.match_file(as_text(path))

    def kept(self, paths: Iterable[str], *, tracked: bool) -> tuple[list[str], list[str]]:
        """The paths to index, and those that the rules leave out."""
        spec, covers = self._tracked if tracked else self._untracked, self._secrets.covers
        listed = list(paths)
        left_out = {path for path in listed if covers(path) or spec.match_file(as_text(path))}
        return [path for path in listed if path not in left_out], sorted(left_out)

    def refusal(self, path: str, *, said: str = "") -> PathDenied | None:
        """Why nobody may read or write a path, where that is so; `said` names it for the reader."""
        said = said or shown(path)
        if self._secrets.covers(path):
            return PathDenied(
                f"{said} holds secrets by its name or another one, so it is not shown or changed",
                hint=f'the owner can show it: index.secrets: ["{shown(path)}"] in .codeplane/config.yaml',
            )
        if self._tracked.match_file(as_text(path)):
            return PathDenied(f"{said} is left out by {_OWN}", hint=f"the owner can un-ignore it in {_OWN}")
        return None


def says_what_belongs(path: str) -> bool:
    """Whether other files come in or go out when this one changes."""
    return path.rpartition("/")[2] in RULES


class Patterns:
    """Patterns with git's meaning, in as many parts as the engine needs; the last that says something decides."""

    def __init__(self, parts: Sequence[GitIgnoreSpec]) -> None:
        self._parts = parts

    def match_file(self, path: str) -> bool:
        """Whether a path is matched, and no later pattern takes that back."""
        if len(self._parts) == 1:
            return self._parts[0].match_file(path)
        said = (part.check_file(path).include for part in reversed(self._parts))
        return next((one for one in said if one is not None), False)


def compiled(lines: Sequence[str]) -> Patterns:
    """The rules; a line that is no pattern counts for nothing, as git has it."""
    return Patterns(list(_parts(lines)))


@lru_cache(maxsize=8)
def _kept(own: str, secrets: SecretRules) -> IgnoreRules:
    """The rules of a text: it is asked for at every walk and hardly ever another."""
    return IgnoreRules(own=own, secrets=secrets)


def _own(file: Path) -> str:
    """The text of a workspace's own rules; what cannot be honoured is not passed over."""
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
    """Halved until the engine takes it: it holds only so much at once."""
    try:
        yield GitIgnoreSpec.from_lines(lines)
    except Exception:  # the library and its engines each refuse in their own way
        if len(lines) > 1:
            half = len(lines) // 2
            yield from _parts(lines[:half])
            yield from _parts(lines[half:])


def is_pattern(line: str) -> bool:
    """Whether a line can be matched at all."""
    try:
        GitIgnoreSpec.from_lines([line]).match_file("any/name")
    except Exception:
        return False
    return True


def as_text(path: str) -> str:
    """A path that matchers can take: bytes that are not UTF-8 become a stand-in."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "replace")
