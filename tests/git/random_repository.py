"""Repositories made at random from a seed: commits, renames, merges, odd names, and work that is half staged."""

import os
import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

# Names that tools get wrong: spaces, quotes, newlines, tabs, arrows, brackets, leading dashes, bytes that are no UTF-8.
NAMES: tuple[bytes, ...] = (
    b"a.py",
    b"b.txt",
    b"dir/c.py",
    b"dir/deep/d.md",
    b"with space.txt",
    b"na\xc3\xafve.txt",
    b"latin\xe9.txt",
    b"new\nline",
    b"tab\there",
    b'quo"te',
    b"back\\slash",
    b"-dash",
    b"a -> b",
    b"[glob]*.x",
    b":colon",
    b"dir/A.py",
)
BRANCHES = ("topic", "feature/x", "we.ird-näme", "release-1.0")
WORDS = (
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "\tindented",
    "",
    "ünï",
    "--- a",
    "@@ -1",
)
MESSAGES = (
    b"plain",
    b"subject\n\nbody line\n  indented\n",
    "gr\u00fc\u00dfe".encode(),
    b"latin \xe9",
    b"  spaced  ",
    b"a\tb",
)


def environment(at: int = 0) -> dict[str, str]:
    """Git without this machine's settings, at a time of the test's own."""
    when = f"{1_700_000_000 + at * 60} +0200"
    return {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada L\u00f6velace",
        "GIT_AUTHOR_EMAIL": "ada@example.com",
        "GIT_COMMITTER_NAME": "Test",
        "GIT_COMMITTER_EMAIL": "test@example.com",
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
    }


@dataclass
class RandomRepository:
    """A repository under test, with the git command line as the witness of what is true."""

    root: Path
    at: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(0))

    @classmethod
    def empty(cls, root: Path, *options: str, seed: int = 0) -> "RandomRepository":
        """A repository without commits."""
        root.mkdir(parents=True, exist_ok=True)
        made = cls(root=root.resolve(), chance=random.Random(seed))
        made.git("init", "--quiet", "--initial-branch=main", *options)
        return made

    def git(self, *arguments: str | bytes, check: bool = True, stdin: bytes = b"") -> bytes:
        """What git prints."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=environment(self.at),
            input=stdin,
            capture_output=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {arguments!r}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def path(self, name: str | bytes) -> Path:
        """A file of the work tree."""
        return self.root / os.fsdecode(name)

    def write(self, name: str | bytes, content: str | bytes) -> Path:
        """Put content into a file, whatever was in its place."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            path.unlink()
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def commit(self, message: str | bytes = "message", *options: str) -> str:
        """Commit everything there is, and give the commit."""
        self.at += 1
        self.git("add", "--all")
        self.git(
            "commit", "--quiet", "--allow-empty", "--allow-empty-message", "-F", "-", *options, stdin=_raw(message)
        )
        return self.git("rev-parse", "HEAD").decode().strip()

    def tracked(self) -> list[bytes]:
        """The files in the index that are in the work tree too."""
        found = self.git("ls-files", "-z").split(b"\0")
        return [name for name in found if name and os.path.lexists(self.path(name))]

    def change(self) -> None:
        """Do one thing to the work tree."""
        chance, tracked = self.chance, self.tracked()
        kind = chance.choice(
            ("edit", "edit", "edit", "add", "add", "delete", "rename", "mode", "link", "binary", "tail")
        )
        name = chance.choice(tracked) if tracked else None
        if kind == "add" or name is None:
            self._put(chance.choice(NAMES), self._text())
        elif kind in ("edit", "tail") and not self.path(name).is_symlink():
            self.write(name, self._edited(self.path(name).read_bytes(), tail=kind == "tail"))
        elif kind == "delete":
            self.path(name).unlink()
        elif kind == "rename":
            to = chance.choice(NAMES) + chance.choice((b"", b".moved"))
            if self._free(to):
                self.path(to).parent.mkdir(parents=True, exist_ok=True)
                self.path(name).rename(self.path(to))
        elif kind == "mode" and not self.path(name).is_symlink():
            self.path(name).chmod(chance.choice((0o644, 0o755)))
        elif kind == "link":
            self.path(name).unlink()
            self.path(name).symlink_to(chance.choice(("a.py", "nowhere", "dir")))
        elif kind == "binary":
            self.write(name, chance.randbytes(200) + b"\0")

    def history(self, commits: int) -> None:
        """Commit, branch, merge and tag at random; the branch that is out at the end is one of several."""
        chance = self.chance
        for _ in range(commits):
            for _ in range(chance.randint(1, 4)):
                self.change()
            self.commit(chance.choice(MESSAGES))
            act = chance.random()
            if act < 0.2:
                self.git("checkout", "--quiet", "-B", chance.choice(BRANCHES))
            elif act < 0.35:
                self.merge(self.chance.choice(self.branches()))
            elif act < 0.45:
                self.git("tag", "--force", f"v{chance.randint(0, 9)}")
            elif act < 0.55:
                self.git("tag", "--force", "--annotate", "-F", "-", f"t{chance.randint(0, 9)}", stdin=b"tag\n\nbody")

    def merge(self, branch: str) -> None:
        """Merge a branch; what is in conflict stays as git left it, committed."""
        self.at += 1
        self.git("merge", "--quiet", "--no-edit", branch, check=False)
        if (self.root / ".git" / "MERGE_HEAD").exists():
            self.commit("merged by force")

    def branches(self) -> list[str]:
        """The local branches."""
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").decode().split()

    def unfinished(self) -> None:
        """Leave work behind: some of it staged, some changed again after, some untracked, some meant to be added."""
        chance = self.chance
        for _ in range(chance.randint(0, 6)):
            self.change()
            act = chance.random()
            if act < 0.4:
                self.git("add", "--all")
            elif act < 0.5:
                self.write(b"intended", b"later\n")
                self.git("add", "--intent-to-add", "intended")
        if (
            chance.random() < 0.2
            and len(self.branches()) > 1
            and self.git("rev-parse", "--verify", "HEAD", check=False)
        ):
            self.git("stash", "--quiet", "--include-untracked", check=False)
            self.git(chance.choice(("merge", "cherry-pick")), chance.choice(self.branches()), check=False)

    def _put(self, name: bytes, content: bytes) -> None:
        if self._free(name) or (self.path(name).is_file() and not self.path(name).is_symlink()):
            self.write(name, content)

    def _free(self, name: bytes) -> bool:
        path = self.path(name)
        above = [parent for parent in path.parents if parent != self.root and self.root in parent.parents]
        return not os.path.lexists(path) and all(one.is_dir() or not os.path.lexists(one) for one in above)

    def _text(self) -> bytes:
        ends = self.chance.choice((b"\n", b"\n", b"\r\n"))
        lines = [self.chance.choice(WORDS).encode() for _ in range(self.chance.randint(0, 30))]
        return ends.join(lines) + self.chance.choice((ends, b""))

    def _edited(self, content: bytes, *, tail: bool) -> bytes:
        if tail:
            return content.removesuffix(b"\n") if content.endswith(b"\n") else content + b"\n"
        lines = content.split(b"\n")
        at = self.chance.randrange(len(lines))
        lines[at : at + self.chance.randint(0, 2)] = [self.chance.choice(WORDS).encode() for _ in range(2)]
        return b"\n".join(lines)


def made(root: Path, seed: int, *, commits: int = 6) -> RandomRepository:
    """A whole repository from a seed: some history, and work that is not finished."""
    repository = RandomRepository.empty(root, seed=seed)
    if repository.chance.random() > 0.05:
        repository.history(commits)
    repository.unfinished()
    return repository


def _raw(message: str | bytes) -> bytes:
    return message.encode() if isinstance(message, str) else message
