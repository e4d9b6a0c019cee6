"""Recovery refs: commits and files that would be lost, kept below `refs/codeplane/recovery/` for some days."""

from collections.abc import Iterable, Mapping

from codeplane.git.safety.command import Git
from codeplane.git.safety.contents import Contents, Entry
from codeplane.kernel.clock import SECOND_NS, Clock

PREFIX = "refs/codeplane/recovery/"
_PRUNED_NS = 3600 * SECOND_NS
_DAY_NS = 24 * 3600 * SECOND_NS
AUTHOR = ("CodePlane", "codeplane@localhost")


class RecoveryRefs:
    """Keep commits and files under the id of the mutation that removes them."""

    def __init__(self, git: Git, clock: Clock, contents: Contents | None = None) -> None:
        self._git = git
        self._clock = clock
        self._contents = contents or Contents(git)
        self._pruned_ns: int | None = None

    async def keep(
        self,
        mutation_id: str,
        *,
        name: str,
        what: str,
        files: Mapping[str, Entry] | str,
        commits: Iterable[str],
        tags: Iterable[str] = (),
    ) -> str:
        """Keep files, or a tree of them, in a commit whose parents are the commits to keep; return its ref."""
        parents = [word for commit in dict.fromkeys(commits) for word in ("-p", commit)]
        tree = files if isinstance(files, str) else await self._contents.tree(files)
        when = f"@{self._clock.now_ns() // SECOND_NS} +0000"
        env = identity(when)
        message = f"Kept before {what}\n\nFiles as they lay in the work tree; parents are what it had reached.\n"
        # Not signed: a locked key must not stop this.
        made = await self._git.run(
            *("-c", "commit.gpgsign=false", "commit-tree", tree, *parents), input=message.encode(), env=env
        )
        ref = f"{PREFIX}{mutation_id}/{name}"
        lines = [f"update {ref} {made.line}"]
        lines += [f"update {ref}-tag-{number} {oid}" for number, oid in enumerate(dict.fromkeys(tags), start=1)]
        await self._git.run("update-ref", "--stdin", input="".join(f"{line}\n" for line in lines).encode())
        return ref

    async def drop(self, mutation_id: str, *, name: str) -> None:
        """Delete the refs of a mutation whose content is reachable elsewhere."""
        ref = f"{PREFIX}{mutation_id}/{name}"
        commands = await self._git.run("for-each-ref", "--format=delete %(refname)", ref, f"{ref}-tag-*")
        await self._git.run("update-ref", "--stdin", input=commands.out)

    async def has_unreachable(self, oids: Iterable[str]) -> bool:
        """Whether one of these is reachable from no branch, tag, remote or HEAD."""
        elsewhere = ("--not", "--branches", "--tags", "--remotes", "HEAD")
        done = await self._git.run("rev-list", "--max-count=1", *oids, *elsewhere, "--", check=False)
        return done.code != 0 or bool(done.line)

    async def prune(self, recoveries: Mapping[str, str]) -> None:
        """Delete refs older than the configured days, at most once an hour; `recoveries` are the present refs."""
        now = self._clock.now_ns()
        if not recoveries or (self._pruned_ns is not None and now - self._pruned_ns < _PRUNED_NS):
            return
        self._pruned_ns = now
        done = await self._git.run("for-each-ref", "--format=%(committerdate:unix) %(refname)", PREFIX)
        since = (self._clock.now_ns() - int(self._git.config.recovery_days * _DAY_NS)) // SECOND_NS
        dated = [(int(at), name) for at, _, name in (line.partition(" ") for line in done.line.splitlines()) if at]
        # Tags have their own dates, so they are deleted with the commit beside them.
        old = {name for at, name in dated if at < since and "-tag-" not in name}
        gone = [name for name in recoveries if name in old or name.partition("-tag-")[0] in old]
        if gone:
            lines = "".join(f"delete {name}\n" for name in gone)
            await self._git.run("update-ref", "--stdin", input=lines.encode(), check=False)


def identity(when: str) -> dict[str, str]:
    """Return the variables that make CodePlane the author of a commit at that time."""
    parts = (("NAME", AUTHOR[0]), ("EMAIL", AUTHOR[1]), ("DATE", when))
    return {f"GIT_{role}_{part}": text for role in ("AUTHOR", "COMMITTER") for part, text in parts}
