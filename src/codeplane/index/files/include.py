"""`index.include`: git-ignored files that the owner wants indexed."""

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from codeplane.index.files.ignore import DEFAULTS, Patterns, as_text, compile_patterns

# More would be a mistake in a pattern, such as `**` over a folder of packages.
MAX_INCLUDED = 50_000
BEYOND = f"beyond the {MAX_INCLUDED:,} files that index.include may bring in"
_MAX_WALKED = 500_000
_OURS = frozenset({".git", ".codeplane"})
_NOISE = compile_patterns(DEFAULTS.splitlines())


class IncludeRules:
    """Git patterns of files to index although they are ignored."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._lines = tuple(patterns)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def covers(self, path: str) -> bool:
        """Whether a file is included; files of git and CodePlane never are."""
        if not self._lines or not _OURS.isdisjoint(path.split("/")):
            return False
        return self._patterns.match_file(as_text(path))

    def below(self, root: Path, entries: Iterable[str]) -> Iterator[str]:
        """The included files among ignored entries; folders end in `/`."""
        walked = 0
        folders: list[str] = []
        for entry in entries:
            if not entry.endswith("/"):
                yield from (entry,) if self.covers(entry) else ()
            elif self._may_lie_in(entry):
                folders.append(entry)
        while folders and walked < _MAX_WALKED:
            folder = folders.pop()
            try:
                children = sorted(os.scandir(root / folder), key=lambda child: child.name)
            except OSError:
                continue
            walked += len(children)
            for child in children:
                path = f"{folder}{child.name}"
                if child.is_dir(follow_symlinks=False):
                    if child.name not in _OURS and self._may_lie_in(f"{path}/"):
                        folders.append(f"{path}/")
                elif (child.is_file(follow_symlinks=False) or child.is_symlink()) and self.covers(path):
                    yield path

    def _may_lie_in(self, folder: str) -> bool:
        """Whether a folder may hold included files; packages and caches only if a pattern leads there."""
        leads = any(folder.startswith(start) or start.startswith(folder) for start in self._starts if start)
        return leads or ("" in self._starts and not _NOISE.match_file(as_text(folder)))

    @cached_property
    def _patterns(self) -> Patterns:
        return compile_patterns(self._lines)

    @cached_property
    def _starts(self) -> frozenset[str]:
        return frozenset(_literal_start(line) for line in self._lines if not line.startswith("!"))


NOTHING_INCLUDED = IncludeRules()


def _literal_start(line: str) -> str:
    """The folder prefix of every match of a pattern, ending in `/`; empty if it matches at any depth."""
    if "/" not in line.rstrip("/"):
        return ""
    parts: list[str] = []
    for part in line.strip("/").split("/"):
        if any(sign in part for sign in "*?[\\"):
            break
        parts.append(part)
    return "".join(f"{part}/" for part in parts)
