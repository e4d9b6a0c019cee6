"""Linked work trees of the repository in which jobs change files, and their changes as one mutation of the checkout."""

import asyncio
import hashlib
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

from codeplane.edit.batch import Change
from codeplane.edit.engine import Engine
from codeplane.edit.file_state import FileState, sha256_of, state_at, state_of
from codeplane.edit.folder_descriptors import MISSING, open_parent, read_bytes, read_link, stat_entry
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.scope import Scope
from codeplane.git.safety.command import Git
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.config import JobsConfig
from codeplane.kernel.errors import (
    CodePlaneError,
    FileChanged,
    GitRefused,
    JobConflict,
    JobTreeGone,
    NotFound,
    NotGit,
    StorageFailed,
)
from codeplane.kernel.job_tree import AppliedTree, FileChange, FileChangeKind, TreeDiff
from codeplane.kernel.workspace import Workspace, job_folder, job_folders

TREE, HOME = "tree", "home"
_INDEX = "diff-index"
_KINDS: dict[str, FileChangeKind] = {"A": "created", "D": "deleted"}
_EXECUTABLE = 0o100
# Which of git's modes of files are executable.
_FILE_MODES = {"100644": False, "100755": True}
_NAMED = 20
_THREAD = "thr_"
_AUTHOR = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "CodePlane"), ("EMAIL", "codeplane@localhost"))
}


def trees_folder(workspace: Workspace, config: JobsConfig) -> Path:
    """Where the work trees of a repository's jobs are."""
    folder = Path(config.trees) if config.trees else job_folders(os.environ, Path.home())
    return job_folder(folder, workspace.root)


class GitJobTrees:
    """The work trees of jobs, each in a folder of its own outside of the repository."""

    def __init__(
        self, *, folder: Path, git: Git, scope: Scope, engine: Engine, mutations: MutationStore, diff_bytes: int
    ) -> None:
        """`scope`, `engine` and `mutations` are those of the checkout; of a diff at most `diff_bytes` are shown."""
        self._folder = folder
        self._git = git
        self._scope = scope
        self._engine = engine
        self._mutations = mutations
        self._diff_bytes = diff_bytes
        # Ends what runs for a work tree; set by its starter.
        self.on_close: Callable[[str], Awaitable[None]] | None = None
        self.list_open: Callable[[], list[str]] = list

    def tree(self, job_id: str) -> Path:
        """The folder of a job's files."""
        return self._folder / job_id / TREE

    def home(self, job_id: str) -> Path:
        """The folder of the index, the journal and whatever else belongs to a work tree."""
        return self._folder / job_id / HOME

    def exists(self, job_id: str) -> bool:
        """Whether there is a work tree of that job."""
        return (self.tree(job_id) / ".git").is_file()

    def list_jobs(self) -> list[str]:
        """The jobs that have a folder here, with a whole work tree or with what is left of one."""
        return [name for name in self._list_folders() if not name.startswith(_THREAD)]

    def list_threads(self) -> list[str]:
        """The threads that have a folder here."""
        return [name for name in self._list_folders() if name.startswith(_THREAD)]

    def _list_folders(self) -> list[str]:
        return sorted(entry.name for entry in self._folder.iterdir()) if self._folder.is_dir() else []

    async def newest_commit(self, revision: str = "HEAD") -> str:
        """The commit that a work tree would be made of; NotGit when there is none."""
        head = await self._git.run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", check=False
        )
        if not head.line and revision != "HEAD":
            raise NotFound(f"the repository no longer has commit {revision[:12]}", hint="fetch it, if a remote has it")
        if not head.line:
            raise NotGit(
                "a job can only change files of a repository that has a commit",
                hint="make a first commit, or create the job without changes_files",
            )
        return head.line

    async def has_uncommitted(self) -> bool:
        """Whether the checkout differs from its newest commit."""
        status = await self._git.run("status", "--porcelain", "-z", "--untracked-files=normal")
        return bool(status.fields)

    async def create(self, job_id: str, revision: str = "HEAD") -> str:
        """Check a commit out for a job, in the place of what an earlier try left; returns the commit."""
        await self.remove(job_id)
        head = await self.newest_commit(revision)
        try:
            self.home(job_id).mkdir(parents=True)
            await self._git.run("worktree", "add", "--quiet", "--detach", "--", str(self.tree(job_id)), head)
        except (OSError, CodePlaneError) as error:
            await self.remove(job_id)
            if isinstance(error, OSError):
                raise StorageFailed(f"the work tree of {job_id} cannot be made: {error}") from error
            raise
        return head

    async def move_base(self, job_id: str, base: str) -> str:
        """Take what is in a work tree now as what further changes are counted from; returns the commit of that."""
        async with self._staged(job_id) as (git, index):
            tree = await git.run("write-tree", env=index)
        message = f"applied to the checkout from {job_id}"
        commit = await git.run("commit-tree", "-p", base, "-m", message, tree.line, env=_AUTHOR)
        # Its own HEAD keeps the commit from being collected.
        await git.run("reset", "--quiet", "--mixed", commit.line)
        return commit.line

    async def close(self, job_id: str) -> None:
        """End what runs for a work tree, such as its index."""
        if self.on_close is not None:
            await self.on_close(job_id)

    async def remove(self, job_id: str) -> None:
        """Remove the work tree with all that belongs to it; nothing when there is none."""
        await self.close(job_id)
        folder, tree = self._folder / job_id, self.tree(job_id)
        if not await asyncio.to_thread(folder.exists):
            return
        try:
            await self._git.run("worktree", "remove", "--force", "--force", "--", str(tree), check=False)
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            # What git listed and could not find, as after a crash.
            await self._git.run("worktree", "prune", check=False)
        except NotGit:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if await asyncio.to_thread(folder.exists):
            raise StorageFailed(f"{path_text(str(folder))} cannot be removed", hint="look at what is left in it")

    async def diff(self, job_id: str, base: str) -> TreeDiff:
        """What the job changed since `base`."""
        async with self._staged(job_id) as (git, index):
            files = await _list_changes(git, index, base)
            shown = await git.run(
                *("diff", "--cached", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", base), env=index
            )
        diff = shown.out[: self._diff_bytes].decode("utf-8", "replace")
        return TreeDiff(
            files=tuple(files),
            diff=diff,
            truncated=len(shown.out) > self._diff_bytes,
            conflicts=tuple(path_text(path) for path in await self._find_conflicts(job_id, base, files)),
        )

    async def apply(self, call: Call, job_id: str, base: str) -> AppliedTree:
        """Make the same changes in the checkout, all of them as one mutation, or none."""
        async with self._staged(job_id) as (git, index):
            files = await _list_changes(git, index, base)
        if conflicts := await self._find_conflicts(job_id, base, files):
            shown = ", ".join(path_text(path) for path in conflicts[:_NAMED])
            more = f" and {len(conflicts) - _NAMED} more" if len(conflicts) > _NAMED else ""
            raise JobConflict(
                f"the checkout has changed since the job started: {shown}{more}",
                details={"conflicts": [path_text(path) for path in conflicts[:_NAMED]], "count": len(conflicts)},
            )
        try:
            changes = await asyncio.to_thread(self._plan, self.tree(job_id), files)
        except FileNotFoundError as error:
            raise _gone_meanwhile(job_id) from error
        if not changes:
            # Perhaps by an earlier call, which was cut off before that was recorded.
            mutation_id = await asyncio.to_thread(self._find_mutation, job_id) if files else ""
            return AppliedTree(files=tuple(files), mutation_id=mutation_id)
        applied = await self._engine.apply(call, changes, what=_what(job_id))
        for path in applied.ignored:
            call.warn(f"{path} is ignored by git in the checkout")
        return AppliedTree(files=tuple(files), mutation_id=applied.delta.mutation_id)

    def _find_mutation(self, job_id: str) -> str:
        """The mutation of the checkout that has the changes of a job; empty when there is none."""
        made = (record for record in self._mutations.all() if record.what == _what(job_id))
        return next((record.mutation_id for record in made if record.state == "applied"), "")

    @asynccontextmanager
    async def _staged(self, job_id: str) -> AsyncIterator[tuple[Git, dict[str, str]]]:
        """The job's git, and an index with everything in the work tree, which nobody else uses meanwhile."""
        if not self.exists(job_id):
            raise JobTreeGone(f"the work tree of {job_id} is gone")
        git = self._git.at(self.tree(job_id))
        index = self._folder / job_id / f"{_INDEX}-{uuid4().hex}"
        # Not the job's own index, which it may be using; its times spare git reading every file, and its own time tells
        # git which files were written in the same second as it and have to be read all the same.
        try:
            try:
                await asyncio.to_thread(shutil.copy2, git.folder / "index", index)
            except FileNotFoundError as error:
                raise _gone_meanwhile(job_id) from error
            variables = {"GIT_INDEX_FILE": str(index)}
            await git.run("add", "--all", "--", ".", env=variables)
            yield git, variables
        finally:
            index.unlink(missing_ok=True)

    async def _find_conflicts(self, job_id: str, base: str, files: Sequence[FileChange]) -> list[str]:
        """The changed files that are neither as in `base` nor as the job left them."""
        if not files:
            return []
        moved = await self._git.run("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", base, "--")
        conflicts = await asyncio.to_thread(self._list_conflicts, job_id, set(moved.fields), files)
        return [path for path in conflicts if not await self._is_as_in(base, path)]

    async def _is_as_in(self, base: str, path: str) -> bool:
        """Whether a file of the checkout is as in a commit: what was applied and not added yet, git says nothing of."""
        here = await asyncio.to_thread(state_of, self._git.root, path)
        if here is None or here.link or not here.sha256:
            return False
        listed = await self._git.run("ls-tree", "-z", base, "--", path, check=False)
        mode, _, rest = (listed.fields[0] if listed.fields else "").partition(" ")
        if mode not in _FILE_MODES or bool(here.mode & _EXECUTABLE) is not _FILE_MODES[mode]:
            return False
        content = await self._git.run("cat-file", "blob", rest.partition(" ")[2].partition("\t")[0], check=False)
        return hashlib.sha256(content.out).hexdigest() == here.sha256

    def _list_conflicts(self, job_id: str, moved: set[str], files: Sequence[FileChange]) -> list[str]:
        conflicts: list[str] = []
        for file in files:
            here = state_of(self._git.root, file.path)
            # An untracked file is in no diff of git's.
            is_moved = here is not None if file.change == "created" else file.path in moved
            if is_moved and not _is_same(here, _read_change(self.tree(job_id), file.path)[0]):
                conflicts.append(file.path)
        return conflicts

    def _plan(self, tree: Path, files: Sequence[FileChange]) -> list[Change]:
        """The changes that are not made in the checkout already; FileNotFoundError when a file is gone meanwhile."""
        changes: list[Change] = []
        for file in files:
            here, (there, content) = state_of(self._git.root, file.path), _read_change(tree, file.path)
            if there is None and file.change != "deleted":
                # Removing the work tree now must not delete files of the checkout.
                raise FileNotFoundError(file.path)
            if _is_same(here, there):
                continue
            before = here.sha256 if here is not None else None
            path = self._scope.locate(file.path)
            if there is None:
                changes.append(Change(path=path, content=None, before=before))
            elif there.link:
                changes.append(Change(path=path, content=content, before=before, link=True))
            elif there.sha256:
                executable = bool(there.mode & _EXECUTABLE)
                changes.append(Change(path=path, content=content, before=before, executable=executable))
            else:
                raise GitRefused(
                    f"{path_text(file.path)} is a repository of its own, which cannot be applied",
                    hint="discard the job, or take the folder over yourself",
                )
        return changes


def _read_change(tree: Path, path: str) -> tuple[FileState | None, bytes]:
    """Read a file of a job's work tree with its state; FileChanged when that changes while it is read.

    No link is followed: what the job has left running can write there.
    """
    try:
        with open_parent(tree, path) as (folder, name):
            state = state_at(folder, name)
            if state is None or not state.sha256:
                return state, b""
            if state.link:
                content = os.fsencode(read_link(folder, name))
            else:
                content = read_bytes(folder, name, size=stat_entry(folder, name).st_size, limit=sys.maxsize)
    except OSError as error:
        if error.errno in MISSING:
            return None, b""
        raise _changed_meanwhile(path) from error
    if sha256_of(content) != state.sha256:
        raise _changed_meanwhile(path)
    return state, content


def _changed_meanwhile(path: str) -> FileChanged:
    return FileChanged(
        f"{path_text(path)} changed in the work tree of the job while it was read",
        hint="look at what is there now, then apply again: job_diff, or thread_diff of an outside agent",
    )


def _gone_meanwhile(job_id: str) -> JobTreeGone:
    return JobTreeGone(
        f"the work tree of {job_id} was removed meanwhile", hint="nothing of it was applied by this call"
    )


def _what(job_id: str) -> str:
    """What the mutation that applies a job's changes is called."""
    return f"{'thread' if job_id.startswith(_THREAD) else 'job'} {job_id}"


def _is_same(here: FileState | None, there: FileState | None) -> bool:
    """Whether a file is the same in both: its content, and whether it is a link or can be executed."""
    if here is None or there is None:
        return here is there
    return (here.sha256, here.link, here.mode & _EXECUTABLE) == (there.sha256, there.link, there.mode & _EXECUTABLE)


async def _list_changes(git: Git, index: dict[str, str], base: str) -> list[FileChange]:
    listed = await git.run("diff", "--cached", "--name-status", "-z", "--no-renames", "--no-ext-diff", base, env=index)
    fields = iter(listed.fields)
    return [
        FileChange(path=path, change=_KINDS.get(kind[0], "changed")) for kind, path in zip(fields, fields, strict=True)
    ]
