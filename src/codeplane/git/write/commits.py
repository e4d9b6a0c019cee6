"""`git.commit` and `git.amend`."""

import asyncio
import re
from collections.abc import Iterable

from pydantic import Field

from codeplane.git.read.git_error import conflict_error, git_error, name_first, redact_urls
from codeplane.git.safety.command import GitOutput
from codeplane.git.safety.loss import Loss, assess_losses, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.write.git_delta import Changed, GitDelta
from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.git.write.preview_facts import PreviewFacts
from codeplane.git.write.revision import resolve_commit
from codeplane.git.write.sequence import stashes_left
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import canonical
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, GitRefused, InvalidArgument
from codeplane.kernel.operation import (
    Assessment,
    Budget,
    Preview,
    Request,
    Risk,
    assesses,
    foresees,
    operation,
    previews,
)
from codeplane.kernel.workspace_request import WorkspaceRequest

MAX_MESSAGE = 100_000
_MAX_SAID = 1500
_SHORT = 9
_NOTHING = re.compile(r"^(nothing to commit|(no changes|nothing) added to commit)", re.MULTILINE)


class Author(Request):
    """Whose work it is, when it is not the user's."""

    name: str = Field(min_length=1, max_length=200)
    email: str = Field(min_length=1, max_length=200)

    @property
    def option(self) -> str:
        """The option that tells git the author."""
        if any(char in "<>\n\r\0" for char in self.name + self.email):
            raise InvalidArgument("an author's name and address cannot hold <, > or line ends")
        return f"--author={self.name} <{self.email}>"


class CommitRequest(WorkspaceRequest):
    """What to commit."""

    message: str = Field(min_length=1, max_length=MAX_MESSAGE)
    paths: tuple[str, ...] = Field(
        (), max_length=5000, description="only these, as they are on disk; else what is staged"
    )
    author: Author | None = None
    allow_empty: bool = False


class AmendRequest(WorkspaceRequest):
    """What to change about the last commit; what is staged goes into it."""

    message: str = Field("", max_length=MAX_MESSAGE, description="instead of the present one")
    paths: tuple[str, ...] = Field((), max_length=5000, description="add only these, as they are on disk")
    author: Author | None = None


class CommitResult(Changed):
    """The commit; `said` is what hooks had to say."""

    oid: str
    short_oid: str
    said: str = ""

    def text(self) -> str:
        return "\n".join(part for part in (f"commit {self.short_oid}", self.delta.text(), self.said) if part)


class Commits:
    """Create commits, with the user's hooks and signing."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)

    @operation("git.commit", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def commit(self, call: Call, request: CommitRequest) -> CommitResult:
        """Commit what is staged, or the given paths as they are on disk, new files included."""
        options = ["--allow-empty"] if request.allow_empty else []
        return await self._commit(call, "commit", options, request.message, request.paths, request.author)

    @operation("git.amend", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def amend(self, call: Call, request: AmendRequest) -> CommitResult:
        """Replace the last commit: with what is staged, another message, or both; the old one stays for undo."""
        await resolve_commit(self._git, "HEAD")
        options = ["--amend", *([] if request.message else ["--no-edit"])]
        return await self._commit(call, "amend", options, request.message, request.paths, request.author)

    @foresees("git.commit")
    def foresee_commit(self, request: CommitRequest) -> Iterable[str]:
        """List the changed files at or below the paths."""
        return self._losses.below(request.paths)

    @foresees("git.amend")
    def foresee_amend(self, request: AmendRequest) -> Iterable[str]:
        """List the changed files at or below the paths."""
        return self._losses.below(request.paths)

    @assesses("git.amend")
    def assess_amend(self, request: AmendRequest) -> Assessment:
        """Assess whether the replaced commit was pushed."""
        return assess_losses(self._find_losses(), kinds=("history",))

    @previews("git.amend")
    async def preview_amend(self, request: AmendRequest) -> Preview:
        """Preview the replaced commit and its new content."""
        return await asyncio.to_thread(self._preview, request)

    def _preview(self, request: AmendRequest) -> Preview:
        preview_facts = PreviewFacts(self._git, self._writer.secrets)
        facts = [f"on {preview_facts.head()}", f"replaces {preview_facts.describe_commit('HEAD')}"]
        facts += [f"message: {request.message}"] if request.message else []
        facts += [f"author: {request.author.name} <{request.author.email}>"] if request.author else []
        if request.paths:
            paths = [canonical(path, root=self._git.root) or "." for path in request.paths]
            facts += [f"with {name_first(paths)} as on disk", *preview_facts.diff("HEAD", paths=paths)]
            fresh = self._losses.list_untracked(request.paths)
            facts += [f"new: {name_first(fresh)}"] if fresh else []
            edited = self._losses.list_edited(request.paths, against=self._losses.head)
            files = [self._git.root / path for path in (*edited, *fresh)]
            return preview_losses("Replace the last commit", self._find_losses(), facts, files=files)
        facts += [*preview_facts.list_staged(), *preview_facts.diff("--cached")]
        return preview_losses("Replace the last commit", self._find_losses(), facts, bound=[preview_facts.index()])

    def _find_losses(self) -> list[Loss]:
        head = self._losses.head
        if head is None or not self._losses.is_pushed(head):
            return []
        return [Loss(text=f"the last commit, {head[:9]}, was pushed: others may have it", kind="history")]

    async def _commit(
        self,
        call: Call,
        what: str,
        options: list[str],
        message: str,
        given: tuple[str, ...],
        author: Author | None,
    ) -> CommitResult:
        paths = self._writer.permission.admit_paths(call, given)
        who = [author.option] if author else []
        words = ["--file=-"] if message else []
        async with self._writer.mutation(call, what, calm=what == "amend") as mutation:
            if conflicts := mutation.before.conflicts:
                raise conflict_error([conflict.path for conflict in conflicts])
            await self._writer.permission.admit_commits(call, await stashes_left(self._git))
            if what == "amend" and mutation.before.head:
                await mutation.keep_losses(commits=[mutation.before.head])
            self._writer.permission.refuse_secrets(call, await self._writer.permission.admit_below(call, paths))
            fresh = await self._untracked_files(paths)
            # With nothing to commit git would list all untracked files; our error names them.
            quiet = ("--quiet", "--untracked-files=no")
            only = ["--only", "--", *paths] if paths else []
            try:
                await self._git.each("add", paths=fresh)
                done = await self._git.run(
                    *("commit", *quiet, *options, *who, *words, *only),
                    input=message.encode() if message else None,
                    check=False,
                )
                if done.code != 0:
                    raise _commit_error(done, mutation.before, given)
            except BaseException:
                await asyncio.shield(self._git.each("reset", "--quiet", paths=fresh))
                raise
            delta = await mutation.finish(compared="commits")
            return _result(delta, done.err)

    async def _untracked_files(self, paths: list[str]) -> list[str]:
        """List the untracked files below the paths."""
        if not paths:
            return []
        return (await self._git.run("ls-files", "--others", "--exclude-standard", "-z", "--", *paths)).fields


def _commit_error(done: GitOutput, before: GitSnapshot, given: tuple[str, ...]) -> CodePlaneError:
    """Return the reason for a failed commit; when nothing was staged, with what could have been."""
    # Git says so on stdout; what is on stderr comes from a hook.
    if not _NOTHING.search(done.line):
        return git_error("commit", done.err or done.line, done.code)
    changed, untracked = sorted(before.changed), sorted(before.untracked)
    if given:
        return GitRefused(f"nothing has changed in {name_first(given)}", hint="git_status shows what has")
    if not changed and not untracked:
        return GitRefused(
            "nothing has changed since the last commit", hint="allow_empty=true makes a commit without changes"
        )
    parts = [
        f"{kind}: {name_first(names)}" for kind, names in (("changed", changed), ("untracked", untracked)) if names
    ]
    return GitRefused(
        f"nothing is staged; {'; '.join(parts)}", hint='give paths=["."] or some of these, or git_stage first'
    )


def _result(delta: GitDelta, output: str) -> CommitResult:
    oid = delta.head or ""
    return CommitResult(delta=delta, oid=oid, short_oid=oid[:_SHORT], said=redact_urls(output).strip()[:_MAX_SAID])
