"""What is never indexed: noise by default, and whatever `.cplignore` says."""

import os
from collections.abc import Iterable
from pathlib import Path

from pathspec import GitIgnoreSpec

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
# Secrets stay out, tracked or not, unless `.cplignore` un-ignores them.
SECRETS = """\
.env
.env.*
!.env.example
!.env.sample
!.env.template
*.pem
*.key
*.p12
*.pfx
id_rsa
id_ecdsa
id_ed25519
"""


class IgnoreRules:
    """The rules of one workspace, compiled once."""

    def __init__(self, *, own: str = "") -> None:
        self._untracked = compiled((DEFAULTS + SECRETS + own).splitlines())
        self._tracked = compiled((SECRETS + own).splitlines())

    @classmethod
    def of(cls, root: Path) -> "IgnoreRules":
        """The rules in force at a root: the defaults, then its `.cplignore`."""
        try:
            own = (root / ".cplignore").read_text(encoding="utf-8", errors="replace")
        except OSError:
            own = ""
        return cls(own=own)

    def is_secret(self, path: str) -> bool:
        """Whether a path is one of those that stay out, tracked or not."""
        return self._tracked.match_file(as_text(path))

    def kept(self, paths: Iterable[str], *, tracked: bool) -> tuple[list[str], list[str]]:
        """The paths to index, and those that the rules leave out."""
        spec = self._tracked if tracked else self._untracked
        listed = list(paths)
        left_out = {path for path in listed if spec.match_file(as_text(path))}
        return [path for path in listed if path not in left_out], sorted(left_out)


def compiled(lines: list[str]) -> GitIgnoreSpec:
    """The rules; a line that is no pattern counts for nothing, as git has it."""
    try:
        return GitIgnoreSpec.from_lines(lines)
    except Exception:
        return GitIgnoreSpec.from_lines([line for line in lines if is_pattern(line)])


def is_pattern(line: str) -> bool:
    """Whether a line can be matched at all; the library and its engines each refuse in their own way."""
    try:
        GitIgnoreSpec.from_lines([line]).match_file("any/name")
    except Exception:
        return False
    return True


def as_text(path: str) -> str:
    """A path that matchers can take: bytes that are not UTF-8 become a stand-in."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "replace")
