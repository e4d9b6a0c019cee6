"""The operations on what an outside agent changed in a thread: look at it, apply it to the checkout, or discard it."""

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.errors import ThreadBusy
from codeplane.kernel.event import Correlation
from codeplane.kernel.operation import Budget, Preview, Request, Result, Risk, operation, previews
from codeplane.kernel.plural import plural
from codeplane.work.agents.thread_tree import ThreadTree
from codeplane.work.agents.trees import ThreadTrees
from codeplane.work.jobs.tree_models import FileChangeView, applied_text, diff_text
from codeplane.work.threads.operations import ThreadAccess
from codeplane.work.threads.store import ThreadStore


class ThreadTreeRequest(Request):
    """A thread that an outside agent runs."""

    thread_id: str = Field(min_length=4, max_length=100, description="its id, or a beginning or end that only it has")


class ApplyThreadRequest(ThreadTreeRequest):
    """A thread whose changes are wanted in the checkout."""


class DiscardThreadRequest(ThreadTreeRequest):
    """A thread whose changes nobody wants."""


class ThreadDiff(Result):
    """What an outside agent changed in its own work tree and is not in the checkout."""

    thread_id: str
    agent: str
    base_commit: str
    files: tuple[FileChangeView, ...]
    diff: str
    truncated: bool
    conflicts: tuple[str, ...]

    def text(self) -> str:
        if not self.files:
            return f"{self.agent} changed nothing that is not applied"
        head = f"{self.agent} changed {plural(len(self.files), 'file')}"
        return diff_text(head, self.diff, truncated=self.truncated, conflicts=self.conflicts)


class AppliedThread(Result):
    """The changes of an outside agent, now in the checkout."""

    thread_id: str
    mutation_id: str
    files: tuple[FileChangeView, ...]

    def text(self) -> str:
        return applied_text(self.mutation_id, self.files)


class DiscardedThread(Result):
    """A thread whose work tree is gone."""

    thread_id: str

    def text(self) -> str:
        return f"discarded what was changed in {self.thread_id}; the conversation stays"


class ThreadTreeOperations:
    """What clients can do with the changes of outside agents."""

    def __init__(self, *, access: ThreadAccess, threads: ThreadStore, trees: ThreadTrees) -> None:
        self._access = access
        self._threads = threads
        self._trees = trees

    @operation("thread.diff", risk=Risk.READ, timeout_sec=120)
    async def diff(self, call: Call, request: ThreadTreeRequest) -> ThreadDiff:
        """What the outside agent of a thread changed in its own work tree, as one diff, and which files of the checkout
        stand in its way."""
        tree = await self._tree(call, request.thread_id)
        found = await self._trees.diff(tree)
        return ThreadDiff(
            thread_id=tree.thread_id,
            agent=tree.agent,
            base_commit=tree.base_commit,
            files=tuple(map(FileChangeView.of, found.files)),
            diff=found.diff,
            truncated=found.truncated,
            conflicts=found.conflicts,
        )

    @operation(
        "thread.apply",
        risk=Risk.WRITE,
        budget=Budget.MUTATION,
        capability="write_files",
        people=True,
        timeout_sec=300,
    )
    async def apply(self, call: Call, request: ApplyThreadRequest) -> AppliedThread:
        """Make the changes of a thread's outside agent in the checkout, as one mutation that undo takes back; nothing
        is changed when the checkout has moved on in one of these files. For a person."""
        tree = await self._idle_tree(call, request.thread_id)
        async with self._trees.lock(tree.thread_id):
            tree = self._trees.get_open(tree.thread_id)
            applied = await self._trees.trees.apply(call, tree.thread_id, tree.base_commit)
            if applied.files:
                await self._trees.record_applied(tree, applied, _ids(call, tree), by=str(call.actor))
        return AppliedThread(
            thread_id=tree.thread_id,
            mutation_id=applied.mutation_id,
            files=tuple(map(FileChangeView.of, applied.files)),
        )

    @previews("thread.apply")
    async def preview_apply(self, request: ApplyThreadRequest) -> Preview:
        """The diff that is applied."""
        thread = await self._threads.thread(request.thread_id)
        found = await self._trees.diff(self._trees.get_open(thread.thread_id))
        return Preview(summary=f"apply what {thread.agent} changed: {thread.title}", body=found.diff)

    @operation("thread.discard", risk=Risk.WRITE, timeout_sec=120)
    async def discard(self, call: Call, request: DiscardThreadRequest) -> DiscardedThread:
        """Remove the work tree of a thread's outside agent with all that it changed there and its session; the checkout
        and the conversation stay as they are."""
        tree = await self._idle_tree(call, request.thread_id)
        async with self._trees.lock(tree.thread_id):
            await self._trees.discard(tree, "it was discarded", _ids(call, tree), by=str(call.actor))
        return DiscardedThread(thread_id=tree.thread_id)

    async def _tree(self, call: Call, thread_id: str) -> ThreadTree:
        thread = await self._access.thread(call, thread_id)
        return self._trees.get_open(thread.thread_id)

    async def _idle_tree(self, call: Call, thread_id: str) -> ThreadTree:
        """The tree of a thread in which no turn runs."""
        tree = await self._tree(call, thread_id)
        if unfinished := await self._threads.unfinished_turns(tree.thread_id):
            raise ThreadBusy(
                f"{unfinished[0].turn_id} has not ended, and may still change files",
                hint="wait for it, or cancel it: turn_cancel",
            )
        return tree


def _ids(call: Call, tree: ThreadTree) -> Correlation:
    return Correlation(call_id=call.call_id, thread_id=tree.thread_id)
