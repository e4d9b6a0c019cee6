"""The `checkpoint` operation: lint, test and commit the changed files in one call."""

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from codeplane.git.safety.contents import Entry
from codeplane.git.write.commits import MAX_MESSAGE, CommitRequest, CommitResult, Commits
from codeplane.git.write.git_snapshot import GitSnapshot, take_snapshot
from codeplane.git.write.preview_facts import list_lines
from codeplane.git.write.revision import resolve_commit
from codeplane.git.write.staging import StageRequest, Staging
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import canonical, path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import FileChanged, InvalidArgument, PathDenied, RefNotFound
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Budget, Preview, Result, Risk, assesses, operation, previews
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.testing.checkpoint.baseline_result import BaselineResult
from codeplane.testing.checkpoint.diff_summary import Since, summarise_diff
from codeplane.testing.checkpoint.lint import Linted, Linters
from codeplane.testing.checkpoint.untracked_files import nested_repositories, refuse_generated
from codeplane.testing.operations import TestOperations, failure
from codeplane.testing.requests import RunRequest
from codeplane.testing.results import RunResult

STREAM = "checkpoints"
MADE = "checkpoint.made"
_MAX_FILES = 200
_MAX_PATHS = 5000
_MAX_COMMAND = 2000
_MAX_SUBJECT = 200
_DIGITS = 24


class CheckpointRequest(WorkspaceRequest):
    """What to commit, and what must hold first."""

    message: str = Field(min_length=1, max_length=MAX_MESSAGE)
    paths: tuple[str, ...] = Field((), max_length=_MAX_PATHS, description="files or folders; all changes without")
    tests: Literal["impacted", "all", "none"] = Field(
        "impacted", description="only failures that HEAD does not have stop it"
    )
    lint: bool = True


class CheckpointResult(Result):
    """A commit, or the first thing that was red."""

    committed: bool
    stopped_by: Literal["lint", "tests"] | None = None
    changed: tuple[str, ...] = ()
    lint: tuple[Linted, ...] = ()
    tests: RunResult | None = None
    baseline: BaselineResult | None = None
    commit: CommitResult | None = None
    since: Since | None = None
    left_out: tuple[str, ...] = Field((), description="repositories of their own, and names nobody may write")

    def unmet(self) -> str | None:
        return None if self.committed else f"nothing was committed: {self.stopped_by} failed"

    def text(self) -> str:
        lines = [result.text() for result in self.lint]
        if self.tests is not None and self.baseline is not None:
            lines += [self.tests.select_failures(self.baseline.blocking).text(), *self.baseline.lines()]
        elif self.tests is not None:
            lines.append(self.tests.text())
        if self.commit is None:
            return "\n".join([*lines, f"NOT committed: {self.stopped_by} failed; nothing was staged"])
        if self.since is None:
            lines.append(self.commit.text())
        else:
            # The summary since the last checkpoint lists the same files, and shows which were renamed.
            bare = self.commit.delta.model_copy(update={"files_changed": 0})
            lines += [self.commit.model_copy(update={"delta": bare}).text(), self.since.text()]
        if self.left_out:
            own = all(path.endswith("/") for path in self.left_out)
            why = "as git repositories of their own" if own else "as repositories, secrets, or names nobody may write"
            lines.append(f"left out, {why}: {', '.join(self.left_out)}")
        return "\n".join(lines)


class CheckpointOperations:
    """Lints, tests and commits."""

    def __init__(
        self,
        *,
        root: Path,
        writer: Writer,
        commits: Commits,
        staging: Staging,
        tests: TestOperations,
        linters: Linters,
    ) -> None:
        self._root = root
        self._writer = writer
        self._commits = commits
        self._staging = staging
        self._tests = tests
        self._linters = linters

    @operation(
        "checkpoint",
        risk=Risk.WRITE,
        budget=Budget.MUTATION,
        capability="write_files",
        toolset="core",
        timeout_sec=0,
    )
    async def checkpoint(self, call: Call, request: CheckpointRequest) -> CheckpointResult:
        """Lint, run the tests that reach the changes, then commit them all (or `paths`) with this message. Stops at the
        first new red, committing nothing; failures that HEAD has too do not stop it. undo takes the commit back."""
        before = await take_snapshot(self._writer.git)
        wanted = [canonical(path, root=self._root) for path in request.paths]
        changed = self._changed_files(before, wanted)
        inner = await asyncio.to_thread(nested_repositories, self._root, sorted(before.untracked & set(changed)))
        changed = [path for path in changed if not any(path.startswith(folder) for folder in inner)]
        refused = {path: why for path in changed if (why := self._refusal(call, path, path in before.untracked))}
        denied = [path for path in changed if path in refused]
        changed = [path for path in changed if path not in denied]
        left_out = tuple(map(path_text, [*inner, *denied][:_MAX_FILES]))
        if not changed and inner and not denied:
            raise InvalidArgument(
                f"nothing else has changed, and these are git repositories of their own: {', '.join(left_out[:5])}",
                hint="ignore them (.gitignore), or add them with git submodule add",
            )
        if not changed and denied:
            raise PathDenied(
                f"nothing else has changed, and these may not be written: {', '.join(left_out[:5])}",
                hint=refused[denied[0]].hint,
            )
        if not changed:
            raise InvalidArgument("nothing has changed since the last commit", hint="see git_status")
        refuse_generated(before.untracked & set(changed), wanted)
        if before.conflicts:
            self._writer.refuse_busy(before)
        contents = await self._writer.contents.capture(changed, write=False)
        names = tuple(map(path_text, changed[:_MAX_FILES]))
        lint: tuple[Linted, ...] = ()
        if request.lint and self._linters:
            await call.progress(0, None, "linting")
            lint = await self._linters.run(changed)
            if not all(result.passed for result in lint):
                return CheckpointResult(committed=False, stopped_by="lint", changed=names, lint=lint)
        tests, baseline = await self._run_tests(call, request, changed)
        if tests is not None and not tests.is_green and (baseline is None or not baseline.excuses(tests)):
            return CheckpointResult(
                committed=False, stopped_by="tests", changed=names, lint=lint, tests=tests, baseline=baseline
            )
        await self._refuse_changed(contents)
        commit = await self._commit(call, request.message, before, changed)
        since = await self._since(call, before.head, commit.oid)
        made: JsonObject = {"commit": commit.oid, "mutation_id": commit.delta.mutation_id, "tests": request.tests}
        if baseline is not None:
            made |= {"baseline": baseline.commit, "old_failures": baseline.old_count}
        await call.record([(STREAM, MADE, made)])
        if tests is not None:
            await self._tests.record_at_head(tests)
        return CheckpointResult(
            committed=True,
            changed=names,
            lint=lint,
            tests=tests,
            baseline=baseline,
            commit=commit,
            since=since,
            left_out=left_out,
        )

    @assesses("checkpoint")
    def assess_checkpoint(self, request: CheckpointRequest) -> Assessment:
        """Assess the commands it runs."""
        if request.tests == "none" and not (request.lint and self._linters):
            return Assessment(risk=Risk.WRITE)
        return self._tests.assess_run(RunRequest())

    @previews("checkpoint")
    async def preview_checkpoint(self, request: CheckpointRequest) -> Preview:
        """Show which files would be committed with which message, after which commands."""
        picture = await take_snapshot(self._writer.git)
        changed = self._changed_files(picture, [canonical(path, root=self._root) for path in request.paths])
        inner = await asyncio.to_thread(nested_repositories, self._root, sorted(picture.untracked & set(changed)))
        changed = [path for path in changed if not any(path.startswith(folder) for folder in inner)]
        named = [f"{path_text(path)}{' (new)' if path in picture.untracked else ''}" for path in changed]
        facts = [
            f"in {path_text(str(self._root))}",
            f"on {picture.branch or 'no branch'} at {picture.head or 'no commit'}",
        ]
        facts += [
            f"message: {request.message}",
            *list_lines(f"committed: {plural(len(named), 'file')}", named, len(named)),
        ]
        if request.lint and self._linters:
            lint = [shlex.join(command) for command in self._linters.commands(changed)]
            facts += list_lines("after linting", [path_text(result[:_MAX_COMMAND]) for result in lint], len(lint))
        if request.tests != "none":
            tests = await self._tests.preview_run(self._run_request(request, changed))
            facts += [f"after tests: {tests.summary}", tests.body]
            facts.append("tests that fail are run again as they are at the last commit, in a copy of it")
        contents = await self._writer.contents.capture(changed, write=False)
        state = digest(repr(sorted(contents.items())).encode("utf-8", "backslashreplace"))
        facts.append(f"Only while these files are as they are now: {state[:_DIGITS]}")
        first = request.message.partition("\n")[0][:_MAX_SUBJECT]
        return Preview(summary=f"commit {plural(len(named), 'file')}: {first}", body="\n".join(facts))

    def _refusal(self, call: Call, path: str, untracked: bool) -> PathDenied | None:
        """Return why a file is left out of the commit: it holds secrets, or is new and may not be written."""
        try:
            self._writer.permission.refuse_secrets(call, [path])
            if untracked:
                call.may_write(path)
        except PathDenied as error:
            return error
        return None

    @staticmethod
    def _changed_files(picture: GitSnapshot, wanted: Sequence[str]) -> list[str]:
        """Return the files that differ from HEAD, untracked ones included."""
        return sorted(
            path
            for path in picture.dirty
            if not wanted
            or any(not selection or path == selection or path.startswith(f"{selection}/") for selection in wanted)
        )

    async def _run_tests(
        self, call: Call, request: CheckpointRequest, changed: Sequence[str]
    ) -> tuple[RunResult | None, BaselineResult | None]:
        """Run the tests, and compare failures with the last commit."""
        if request.tests == "none":
            return None, None
        result, failures = await self._tests.run_with_failures(call, self._run_request(request, changed))
        if result.status != "completed" or not failures:
            return result, None
        await call.progress(0, None, "comparing failures with the last commit")
        compared = await self._tests.compare(call, result, failures)
        baseline = BaselineResult.of(compared, untested=await self._is_untested(call, compared.commit))
        if baseline.blocking:
            call.report_failure(failure(result.select_failures(baseline.blocking)))
        return result, baseline

    @staticmethod
    async def _is_untested(call: Call, commit: str) -> bool:
        """Whether a commit is a checkpoint that ran no tests."""
        events = await call.log.query(EventQuery(stream=STREAM, types=(MADE,), newest=True, limit=20))
        return any(event.payload["commit"] == commit and event.payload.get("tests") == "none" for event in events)

    @staticmethod
    def _run_request(request: CheckpointRequest, changed: Sequence[str]) -> RunRequest:
        if request.tests == "all":
            return RunRequest()
        return RunRequest(impacted=True, paths=tuple(changed[:_MAX_PATHS]))

    async def _refuse_changed(self, contents: dict[str, Entry]) -> None:
        """Refuse to commit files that changed while they were tested."""
        now = await self._writer.contents.capture(contents, write=False)
        if moved := sorted(path for path in contents if now.get(path) != contents[path]):
            raise FileChanged(
                f"changed while it was being tested: {', '.join(map(path_text, moved[:5]))}",
                hint="call checkpoint again; if tests or linters write these files, commit what they write first",
                details={"paths": [path_text(path) for path in moved[:100]]},
            )

    async def _commit(self, call: Call, message: str, before: GitSnapshot, changed: list[str]) -> CommitResult:
        if before.state != "none" or len(changed) > _MAX_PATHS:
            # In the middle of a merge git commits only everything.
            for start in range(0, len(changed), _MAX_PATHS):
                await self._staging.stage(call, StageRequest(paths=tuple(changed[start : start + _MAX_PATHS])))
            return await self._commits.commit(call, CommitRequest(message=message))
        return await self._commits.commit(call, CommitRequest(message=message, paths=tuple(changed)))

    async def _since(self, call: Call, head: str | None, commit: str) -> Since:
        base = await self._last_checkpoint(call, commit) or head
        git = self._writer.git
        if base is None:
            return await summarise_diff(git, None, await self._writer.contents.tree({}), commit, commits=1)
        count = int((await git.run("rev-list", "--count", f"{base}..{commit}")).line)
        return await summarise_diff(git, base, base, commit, commits=count)

    async def _last_checkpoint(self, call: Call, commit: str) -> str | None:
        """Return the newest checkpoint that is an ancestor of this commit, not one that was undone or is elsewhere."""
        events: list[Event] = await call.log.query(EventQuery(stream=STREAM, types=(MADE,), newest=True, limit=20))
        for event in sorted(events, key=lambda event: event.position, reverse=True):
            try:
                made = await resolve_commit(self._writer.git, str(event.payload["commit"]))
            except RefNotFound:
                continue
            done = await self._writer.git.run("merge-base", "--is-ancestor", made, commit, check=False)
            if done.code == 0:
                return made
        return None
