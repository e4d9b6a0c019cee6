"""Checks whether a caller may have git write files, and keeps secrets files out of git."""

import asyncio
from collections.abc import Iterable, Sequence

from codeplane.git.read.git_error import name_first
from codeplane.git.safety.command import Git
from codeplane.git.safety.loss_finder import STATE, STATUS
from codeplane.index.files.paths import canonical, path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import PathDenied
from codeplane.kernel.secret_paths import SecretRules

_CHECKED_AT_ONCE = 500


class WritePermission:
    """Check the paths that a git call would write; PathDenied when the caller may not write one of them."""

    def __init__(self, git: Git, secrets: SecretRules) -> None:
        self._git = git
        self._secrets = secrets

    def admit_paths(self, call: Call, paths: Iterable[str]) -> list[str]:
        """Return the caller's paths in canonical form, with `.` for the root; each must be allowed."""
        names = []
        for path in paths:
            name = canonical(path, root=self._git.root)
            if name:
                call.may_write(name)
            names.append(name or ".")
        return names

    async def admit_below(self, call: Call, paths: Sequence[str]) -> Sequence[str]:
        """Check every changed file below the folders among the paths; return the paths with those files."""
        folders = [path for path in paths if not (self._git.root / path).is_file()]
        if not folders:
            return paths
        listed = await self._git.run(*STATUS, "--", *folders)
        changed = [line[STATE:].rstrip("/") for line in listed.fields]
        for path in changed:
            call.may_write(path)
        return [*paths, *changed]

    async def admit_tree(self, call: Call, commit: str, *, prefix: str = "") -> None:
        """Check every file of a commit, with `prefix` before its path."""
        listed = await self._git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        await self.admit_all(call, (f"{prefix}{path}" for path in listed.fields))

    async def admit_difference(self, call: Call, old: str | None, new: str) -> None:
        """Check every file that differs between two commits."""
        if old is None:
            await self.admit_tree(call, new)
            return
        done = await self._git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new, "--")
        await self.admit_all(call, done.fields)

    async def admit_commits(self, call: Call, commits: Iterable[str]) -> None:
        """Check every file that one of these commits changes, even if a later one changes it back."""
        given = "".join(f"{oid}\n" for oid in commits).encode()
        if not given:
            return
        options = ("-r", "-z", "-m", "--root", "--name-only", "--no-renames", "--no-commit-id")
        done = await self._git.run("diff-tree", "--stdin", *options, input=given)
        await self.admit_all(call, done.fields)

    @staticmethod
    async def admit_all(call: Call, paths: Iterable[str]) -> None:
        """Check every path, letting other tasks run in between."""
        for number, path in enumerate(dict.fromkeys(paths)):
            if number % _CHECKED_AT_ONCE == 0:
                await asyncio.sleep(0)
            call.may_write(path)

    def changed_secrets(self, changed: Iterable[str]) -> list[str]:
        """Return the secrets files among changed paths."""
        return sorted(path for path in changed if self._secrets.covers(path))

    def refuse_secrets(self, call: Call, paths: Iterable[str], *, hint: str = "") -> None:
        """Raise PathDenied when an agent would store a secrets file in git, where sandboxes can read it."""
        secrets = [path for path in paths if not call.actor.is_person and self._secrets.covers(path)]
        if secrets:
            them = "it" if len(secrets) == 1 else "them"
            raise PathDenied(
                f"{describe_secrets(sorted(secrets))}, so only the owner gives {them} to git",
                hint=hint
                or f"name the other files, or have the owner ignore {them} (.gitignore) or stage {them}: git add",
                details={"paths": [path_text(path) for path in secrets[:100]]},
            )

    def refuse_secret_changes(self, call: Call | None, paths: Iterable[str]) -> None:
        """Raise PathDenied when an agent would have git change a secrets file."""
        if call is None or call.actor.is_person:
            return
        if secrets := sorted({path for path in paths if self._secrets.covers(path)}):
            raise PathDenied(
                f"{describe_secrets(secrets)}, so only the owner changes {'it' if len(secrets) == 1 else 'them'}",
                hint="name the other files",
                details={"paths": [path_text(path) for path in secrets[:100]]},
            )


def describe_secrets(paths: Sequence[str]) -> str:
    """Say that these files hold secrets by their names."""
    return f"{name_first(paths)} {'holds secrets by its name' if len(paths) == 1 else 'hold secrets by their names'}"
