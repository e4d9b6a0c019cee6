"""Git mutations in processes of their own that are killed where they are told to, beside what git alone leaves."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path

from codeplane.edit.journal_recovery import RecoveredMutation
from codeplane.git.safety.command import Git, GitOutput
from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.commits import CommitRequest, Commits
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.mutation_recovery import MutationRecovery
from codeplane.git.write.rebase import Rebase, RebaseExecuteRequest, RebasePlanRequest
from codeplane.git.write.rebase_todo import PlanGiven, StepGiven
from codeplane.git.write.reset import Reset, ResetRequest
from codeplane.git.write.stash import Stashes, StashPushRequest
from tests.edit.batches import killed
from tests.git.desk import Desk, RepositoryState, call, copied, repository_state, run, simple
from tests.git.random_repository import RandomRepository, environment

Step = Callable[[str], None]
Work = Callable[[Desk], Awaitable[Changed]]


class Stepping(Git):
    """Git that tells of every command before it begins."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.made.root, desk.config, lambda: environment(desk.made.at) | dict(desk.variables))
        self._step = desk.step

    def at(self, root: Path) -> Git:
        inner = copy(self)
        inner.__dict__.update(super().at(root).__dict__)
        return inner

    async def run(
        self,
        *arguments: str,
        input: bytes | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        check: bool = True,
        literal: bool = True,
        remote: bool = False,
    ) -> GitOutput:
        self._step(f"git {arguments[0]}")
        return await super().run(
            *arguments, input=input, env=env, timeout=timeout, check=check, literal=literal, remote=remote
        )


class Stopped(Desk):
    """A desk that can be stopped at every step."""

    def command(self) -> Git:
        return Stepping(self)

    def recover(self) -> list[RecoveredMutation]:
        """What the next run finds out."""
        return run(MutationRecovery(self.writer.undo_parts, lambda warning: None).recover())


async def commit(desk: Desk) -> Changed:
    return await Commits(desk.writer).commit(call(), CommitRequest(message="x", paths=("a.txt", "notes")))


async def checkout(desk: Desk) -> Changed:
    return await Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="topic"))


async def create(desk: Desk) -> Changed:
    return await Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="new", create=True, start="topic"))


async def merge(desk: Desk) -> Changed:
    return await Merges(desk.writer).merge(call(), MergeRequest(ref="topic", message="x"))


async def stop(desk: Desk) -> Changed:
    return await Merges(desk.writer).merge(call(), MergeRequest(ref="against", message="x"))


async def reset(desk: Desk) -> Changed:
    return await Reset(desk.writer).reset(call(), ResetRequest(ref="HEAD~2", mode="hard"))


async def stash(desk: Desk) -> Changed:
    request = StashPushRequest(message="x", include_untracked=True)
    return await Stashes(desk.writer).push(call(), request)


async def rebase(desk: Desk) -> Changed:
    plan = await Rebase(desk.writer).plan(call(), RebasePlanRequest(upstream="topic"))
    steps = tuple(StepGiven(commit_sha=step.commit_sha) for step in plan.steps)
    given = PlanGiven(upstream=plan.upstream, onto=plan.onto, steps=steps)
    return await Rebase(desk.writer).execute(call(), RebaseExecuteRequest(plan=given))


# What is done, and the commands that do the same, one after the other; work lies in the way of none of them.
KINDS: dict[str, tuple[Work, list[list[str]]]] = {
    "commit": (commit, [["add", "notes"], ["commit", "-m", "x", "--only", "a.txt", "notes"]]),
    "checkout": (checkout, [["checkout", "topic"]]),
    "create": (create, [["checkout", "-b", "new", "topic"]]),
    "merge": (merge, [["merge", "-m", "x", "topic"]]),
    "stop": (stop, [["merge", "-m", "x", "against"]]),
    "reset": (reset, [["reset", "--hard", "HEAD~2"]]),
    "stash": (stash, [["stash", "push", "--include-untracked", "--message", "x"]]),
    "rebase": (rebase, [["rebase", "topic"]]),
}


class Scene:
    """A repository before a mutation, copied for every try; `states` are those that git alone goes through."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._folder = folder
        self._numbers = iter(range(1_000_000))
        self._work, plain = KINDS[kind]
        self._origin = _origin(folder / "origin", dirty=kind in ("commit", "reset", "stash"))
        alone = copied(self._origin, folder / "alone")
        self.states = [repository_state(alone)]
        # Conflicts name the commit that is merged.
        against = alone.git("rev-parse", "against", check=False).decode().strip()
        for command in plain:
            alone.git(*(against if word == "against" else word for word in command), check=False)
            self.states.append(repository_state(alone))
        steps: list[str] = []
        run(self._work(self.copy(steps.append)))
        self.steps = steps

    @property
    def before(self) -> RepositoryState:
        return self.states[0]

    def copy(self, step: Step = lambda name: None) -> Stopped:
        """Another one, for one try."""
        place = self._folder / str(next(self._numbers)) / "repository"
        place.parent.mkdir()
        return Stopped(copied(self._origin, place), step=step)

    def mutated(self) -> Stopped:
        """A copy in which the work is done."""
        desk = self.copy()
        run(self._work(desk))
        return desk

    def killed(self, at: int) -> Stopped:
        """A copy in which the work was killed before a step, as the next run finds it."""
        desk = self.copy()
        assert self._is_killed(desk, at=at)
        return desk

    def killed_by_git(self, command: str) -> Stopped:
        """One in which git itself ends the process that started it, and goes on to its own end."""
        desk = self.copy()
        tools, pipe = desk.made.root.parent / "tools", desk.made.root.parent / "pipe"
        tools.mkdir()
        os.mkfifo(pipe)
        found = shutil.which("git")
        script = f"""#!/bin/sh
case " $* " in *" {command} "*) exec 9> "{pipe}"; kill -9 $PPID;; esac
"{found}" "$@"
"""
        (tools / "git").write_text(script)
        (tools / "git").chmod(0o755)
        variables = {"PATH": f"{tools}:{os.environ['PATH']}"}
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            assert self._is_killed(desk, at=len(self.steps) + 1, **variables)
            os.set_blocking(reader, True)
            assert os.read(reader, 1) == b""
        finally:
            os.close(reader)
        return desk

    def _is_killed(self, desk: Stopped, *, at: int, **variables: str) -> bool:
        def work(step: Step) -> None:
            run(self._work(Stopped(desk.made, step=step, variables=variables)))

        return killed(work, at=at)

    def cancelled(self, at: int) -> Stopped:
        """A copy in which the call was cancelled before a step, whatever is done about that."""
        seen = iter(range(at))
        tasks: list[asyncio.Task[Changed]] = []

        def step(name: str) -> None:
            if next(seen, None) is None and tasks:
                task = tasks.pop()
                task.get_loop().call_soon_threadsafe(task.cancel)

        desk = self.copy(step)

        async def work() -> None:
            tasks.append(asyncio.ensure_future(self._work(desk)))
            with suppress(asyncio.CancelledError):
                await tasks[0]

        asyncio.run(work())
        return Stopped(desk.made)

    def recovered(self, desk: Stopped) -> list[RecoveredMutation]:
        """What the next run finds out, which changes nothing."""
        left = repository_state(desk.made)
        found = desk.recover()
        assert repository_state(desk.made) == left
        assert desk.recover() == []
        return found

    def check(self, desk: Stopped) -> int:
        """How far git came; whatever it left is undone, all of it."""
        now = self.states.index(repository_state(desk.made))
        kept = desk.mutations.all()
        assert len(kept) == (1 if now else 0)
        for one in kept:
            desk.undo(one.mutation_id)
        assert repository_state(desk.made) == self.before
        shutil.rmtree(desk.made.root.parent)
        return now

    def second_kills(self, first: int) -> Iterator[int]:
        """Kill the work before a step, the recovery before each of its own, and recover again."""
        for at in range(1_000):
            desk = self.killed(first)

            def work(step: Step, desk: Stopped = desk) -> None:
                Stopped(desk.made, step=step).recover()

            if not killed(work, at=at):
                return
            self.recovered(desk)
            yield self.check(desk)


def _origin(folder: Path, *, dirty: bool) -> RandomRepository:
    """`main` and `topic` went different ways, `against` changed what `main` did; `notes` and an edit may be there."""
    folder.mkdir()
    made = simple(folder).made
    made.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    made.write("t.txt", "of topic\n")
    made.commit("topic")
    made.git("checkout", "--quiet", "-b", "against", "HEAD~1")
    made.write("a.txt", "against\nsecond\nthird\n")
    made.commit("against")
    made.git("checkout", "--quiet", "main")
    if dirty:
        made.write("a.txt", "work\nsecond\nthird\n")
        made.write("notes", "mine\n")
    return made
