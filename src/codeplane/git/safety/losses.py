"""What a git call would lose: judged from the repository as it stands, before anyone is asked."""

from collections.abc import Collection, Iterable, Sequence

from codeplane.git.safety.command import Git
from codeplane.git.safety.hidden import LISTED, hidden_edits
from codeplane.git.safety.loss import Loss, lost_files
from codeplane.git.safety.obstacles import Named, Obstacles, named_in_raw, named_in_tree, obstacles
from codeplane.index.files.paths import canonical

# Ids of one length: git's own short ones grow with the repository.
ONELINE = ("--abbrev=12", "--format=%h %s")
STATUS = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
# Two letters and a space stand before each path of a status.
STATE = 3
_HEADS, _TAGS = "refs/heads/", "refs/tags/"


class Losses:
    """Counts commits and files that nothing would hold any more."""

    def __init__(self, git: Git) -> None:
        self.git = git

    @property
    def head(self) -> str | None:
        """The commit that is checked out, if there is any."""
        done = self.git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False)
        return done.line or None

    @property
    def head_ref(self) -> str | None:
        """The branch that is checked out, in full."""
        return self.git.ask("symbolic-ref", "--quiet", "HEAD", check=False).line or None

    def commits(self, tip: str, *, gone: str | None = None, kept: Iterable[str] = ()) -> list[str]:
        """Commits, as lines, that only `tip` reaches once the ref `gone` is no more and `kept` are still there."""
        branches = [f"--exclude={gone.removeprefix(_HEADS)}"] if gone and gone.startswith(_HEADS) else []
        tags = [f"--exclude={gone.removeprefix(_TAGS)}"] if gone and gone.startswith(_TAGS) else []
        elsewhere = [*branches, "--branches", *tags, "--tags", "--remotes", *kept]
        head, head_ref = self.head, self.head_ref
        if head is not None and head_ref is not None and head_ref != gone:
            elsewhere.append(head)
        done = self.git.ask("log", "-z", "--max-count=1000", *ONELINE, tip, "--not", *elsewhere, "--")
        return done.fields

    def is_pushed(self, tip: str) -> bool:
        """Whether some remote has a commit, as far as was fetched."""
        return not self.git.ask("rev-list", "--max-count=1", tip, "--not", "--remotes", "--").line

    def pushed(self, tip: str, *, base: str | None = None) -> int:
        """How many commits up to `tip`, after `base`, some remote has as well."""
        start = [f"^{base}"] if base else []
        count = self.git.ask("rev-list", "--count", tip, *start, "--").line
        ours = self.git.ask("rev-list", "--count", tip, *start, "--not", "--remotes", "--").line
        return int(count) - int(ours)

    def files(self, paths: Sequence[str], what: str) -> list[Loss]:
        """The loss of work in files of this work tree."""
        return lost_files(self.git.root, paths, what)

    def edited(self, paths: Sequence[str] = (), *, against: str | None = None) -> list[str]:
        """Tracked files on disk that differ from the index, or from a commit, and what lies in their place."""
        names = [canonical(path, root=self.git.root) or "." for path in paths]
        commit = [against] if against else []
        options = ("--raw", "-z", "--no-renames", "--no-ext-diff")
        named = named_in_raw(self.git.ask("diff", *options, *commit, "--", *names).fields)
        hidden = named.paths.union(self.hidden(names))
        in_place = self._obstacles(hidden - named.links).files
        return [*sorted(hidden), *self._unknown(in_place - hidden)]

    def untracked(self, paths: Sequence[str] = ()) -> list[str]:
        """Files that git neither tracks nor ignores."""
        names = [canonical(path, root=self.git.root) or "." for path in paths]
        return self.git.ask("ls-files", "--others", "--exclude-standard", "-z", "--", *names).fields

    def hidden(self, names: Sequence[str] = ()) -> list[str]:
        """Edited files that git was told not to look at, by canonical names or folders; `.` is everything."""
        return hidden_edits(self.git.root, self.git.ask(*LISTED, "--", *names).fields)

    def differing(self, old: str | None, new: str) -> Named:
        """What differs between two commits; without the first, everything in the second."""
        if old is None:
            return named_in_tree(self.git.ask("ls-tree", "-r", "-z", "--full-tree", new).fields)
        return named_in_raw(self.git.ask("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new, "--").fields)

    def below(self, paths: Sequence[str]) -> list[str]:
        """The paths as they are named, and every changed file that a folder among them stands for."""
        names = [canonical(path, root=self.git.root) or "." for path in paths]
        folders = [name for name in names if not (self.git.root / name).is_file()]
        listed = self.git.ask(*STATUS, "--", *folders).fields if folders else []
        return [*(name for name in names if name != "."), *(line[STATE:] for line in listed)]

    def overwritten(self, named: Named) -> list[str]:
        """Files that git does not track and that lie where these are to come, the ignored ones too."""
        return self._unknown(self.in_place(named))

    def ignored(self, named: Named) -> list[str]:
        """Of these files only those that git ignores: for the others it stops by itself."""
        found = self.overwritten(named)
        return sorted(set(found).difference(self.untracked())) if found else []

    def in_place(self, named: Named) -> frozenset[str]:
        """Everything on disk that lies where these are to come."""
        return self._obstacles(named.files).files

    def _obstacles(self, paths: Iterable[str]) -> Obstacles:
        found = obstacles(self.git.root, paths)
        found.refuse_repositories()
        return found

    def _unknown(self, paths: Collection[str]) -> list[str]:
        return sorted(set(paths).difference(self.git.ask("ls-files", "-z").fields)) if paths else []
