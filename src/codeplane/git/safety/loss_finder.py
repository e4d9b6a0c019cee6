"""Finds what a git call would lose, from the present state of the repository."""

import os
import stat
from collections.abc import Collection, Iterable, Sequence
from hashlib import sha1, sha256
from pathlib import Path

from codeplane.git.safety.command import Git
from codeplane.git.safety.loss import Loss, lost_files
from codeplane.git.safety.obstacles import ChangedPaths, Obstacles, find_obstacles, parse_raw_diff, parse_tree_listing
from codeplane.index.files.paths import canonical

# Ids of a fixed length: git's own short ids grow with the repository.
ONELINE = ("--abbrev=12", "--format=%h %s")
STATUS = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
# The length of the two letters and the space before each path of a status.
STATE = 3
_HEADS, _TAGS = "refs/heads/", "refs/tags/"
# Lists entries with a tag in front; lower-case letters mean assume-unchanged.
_LISTED = ("ls-files", "-v", "--stage", "-z")
_SKIPPED = "S"
_SHA1_DIGITS = 40


class LossFinder:
    """Find commits and files that would be lost."""

    def __init__(self, git: Git) -> None:
        self.git = git

    @property
    def head(self) -> str | None:
        """The commit that is checked out, if any."""
        done = self.git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False)
        return done.line or None

    @property
    def head_ref(self) -> str | None:
        """The full name of the branch that is checked out."""
        return self.git.ask("symbolic-ref", "--quiet", "HEAD", check=False).line or None

    def commits(self, tip: str, *, gone: str | None = None, kept: Iterable[str] = ()) -> list[str]:
        """List the commits that only `tip` reaches once the ref `gone` is deleted and `kept` remain."""
        branches = [f"--exclude={gone.removeprefix(_HEADS)}"] if gone and gone.startswith(_HEADS) else []
        tags = [f"--exclude={gone.removeprefix(_TAGS)}"] if gone and gone.startswith(_TAGS) else []
        elsewhere = [*branches, "--branches", *tags, "--tags", "--remotes", *kept]
        head, head_ref = self.head, self.head_ref
        if head is not None and head_ref is not None and head_ref != gone:
            elsewhere.append(head)
        done = self.git.ask("log", "-z", "--max-count=1000", *ONELINE, tip, "--not", *elsewhere, "--")
        return done.fields

    def is_pushed(self, tip: str) -> bool:
        """Whether a remote has a commit, as of the last fetch."""
        return not self.git.ask("rev-list", "--max-count=1", tip, "--not", "--remotes", "--").line

    def count_pushed(self, tip: str, *, base: str | None = None) -> int:
        """Count the commits after `base` up to `tip` that a remote has."""
        start = [f"^{base}"] if base else []
        count = self.git.ask("rev-list", "--count", tip, *start, "--").line
        ours = self.git.ask("rev-list", "--count", tip, *start, "--not", "--remotes", "--").line
        return int(count) - int(ours)

    def files(self, paths: Sequence[str], what: str) -> list[Loss]:
        """Describe the loss of work in files of this work tree."""
        return lost_files(self.git.root, paths, what)

    def list_edited(self, paths: Sequence[str] = (), *, against: str | None = None) -> list[str]:
        """List tracked files that differ from the index or a commit, and untracked files in their place."""
        names = [canonical(path, root=self.git.root) or "." for path in paths]
        commit = [against] if against else []
        options = ("--raw", "-z", "--no-renames", "--no-ext-diff")
        named = parse_raw_diff(self.git.ask("diff", *options, *commit, "--", *names).fields)
        hidden = named.paths.union(self.list_hidden(names))
        in_place = self._obstacles(hidden - named.links).files
        return [*sorted(hidden), *self._list_untracked(in_place - hidden)]

    def list_untracked(self, paths: Sequence[str] = ()) -> list[str]:
        """List files that git neither tracks nor ignores."""
        names = [canonical(path, root=self.git.root) or "." for path in paths]
        return self.git.ask("ls-files", "--others", "--exclude-standard", "-z", "--", *names).fields

    def list_hidden(self, names: Sequence[str] = ()) -> list[str]:
        """List edited files marked assume-unchanged or skip-worktree, below canonical names; `.` is everything."""
        return _hidden_edits(self.git.root, self.git.ask(*_LISTED, "--", *names).fields)

    def changed_paths(self, old: str | None, new: str) -> ChangedPaths:
        """List the paths that differ between two commits; without the first, all of the second."""
        if old is None:
            return parse_tree_listing(self.git.ask("ls-tree", "-r", "-z", "--full-tree", new).fields)
        return parse_raw_diff(self.git.ask("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new, "--").fields)

    def below(self, paths: Sequence[str]) -> list[str]:
        """List the paths, and every changed file below those that are folders."""
        names = [canonical(path, root=self.git.root) or "." for path in paths]
        folders = [name for name in names if not (self.git.root / name).is_file()]
        listed = self.git.ask(*STATUS, "--", *folders).fields if folders else []
        return [*(name for name in names if name != "."), *(line[STATE:] for line in listed)]

    def list_overwritten(self, named: ChangedPaths) -> list[str]:
        """List untracked files, ignored ones too, in the place of these paths."""
        return self._list_untracked(self.in_place(named))

    def list_ignored(self, named: ChangedPaths) -> list[str]:
        """List ignored files in the place of these paths; git itself refuses to overwrite other untracked files."""
        overwritten = self.list_overwritten(named)
        return sorted(set(overwritten).difference(self.list_untracked())) if overwritten else []

    def in_place(self, named: ChangedPaths) -> frozenset[str]:
        """List all files on disk in the place of these paths."""
        return self._obstacles(named.files).files

    def _obstacles(self, paths: Iterable[str]) -> Obstacles:
        in_the_way = find_obstacles(self.git.root, paths)
        in_the_way.refuse_repositories()
        return in_the_way

    def _list_untracked(self, paths: Collection[str]) -> list[str]:
        return sorted(set(paths).difference(self.git.ask("ls-files", "-z").fields)) if paths else []


def _hidden_edits(root: Path, listed: Iterable[str]) -> list[str]:
    """Return the entries marked assume-unchanged or skip-worktree whose file differs from the index."""
    edited = []
    for line in listed:
        tag, _, rest = line.partition(" ")
        if not (tag.islower() or tag == _SKIPPED):
            continue
        facts, _, path = rest.partition("\t")
        mode, oid, _ = facts.split(" ")
        if _differs(root / path, mode, oid):
            edited.append(path)
    return edited


def _differs(place: Path, mode: str, oid: str) -> bool:
    try:
        file_mode = os.lstat(place).st_mode
        if stat.S_ISDIR(file_mode):
            return mode != "160000"
        content = os.fsencode(place.readlink()) if stat.S_ISLNK(file_mode) else place.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    hashed = sha1(usedforsecurity=False) if len(oid) == _SHA1_DIGITS else sha256()
    hashed.update(b"blob %d\0" % len(content) + content)
    return hashed.hexdigest() != oid
