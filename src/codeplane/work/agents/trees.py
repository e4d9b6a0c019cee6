"""The life of the work trees of threads: made before an agent works, applied or discarded by a person, and swept."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.errors import StorageFailed, ThreadNotFound, ThreadTreeGone
from codeplane.kernel.event import Correlation
from codeplane.kernel.job_tree import AppliedTree, JobTrees, TreeDiff
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import Ledger
from codeplane.work.agents.events import AGENT_CHANGED, TREE_APPLIED, TREE_DISCARDED, TREE_OPENED
from codeplane.work.agents.thread_tree import COLUMNS, ThreadTree, tree_from_row
from codeplane.work.threads.events import thread_draft
from codeplane.work.threads.store import ThreadStore

_DAY_NS = 86_400 * SECOND_NS
_SYSTEM = "system"
_NAMED = 50


class ThreadTrees:
    """Records what becomes of the work trees of threads."""

    def __init__(self, *, log: Ledger, threads: ThreadStore, trees: JobTrees, clock: Clock, keep_days: float) -> None:
        self._log = log
        self._threads = threads
        self.trees = trees
        self._clock = clock
        self._keep_ns = int(keep_days * _DAY_NS)
        # A tree is applied, discarded or made again by one at a time.
        self._changing: dict[str, asyncio.Lock] = {}

    def get(self, thread_id: str) -> ThreadTree:
        """The work tree of a thread; one that is not open when there is none."""
        rows = self._log.lookup(f"SELECT {COLUMNS} FROM thread_trees WHERE thread_id = ?", (thread_id,))
        return tree_from_row(rows[0]) if rows else ThreadTree(thread_id=thread_id)

    def get_open(self, thread_id: str) -> ThreadTree:
        """The work tree of a thread; ThreadTreeGone when there is none."""
        tree = self.get(thread_id)
        if not tree.is_open or not self.trees.exists(thread_id):
            raise ThreadTreeGone(f"{thread_id} has no work tree")
        return tree

    def lock(self, thread_id: str) -> asyncio.Lock:
        """Held while the tree of a thread is changed as a whole."""
        return self._changing.setdefault(thread_id, asyncio.Lock())

    async def prepare(self, thread_id: str, agent: str, ids: Correlation) -> ThreadTree:
        """Make the work tree of a thread, or bring one without changes to the newest commit."""
        async with self.lock(thread_id):
            tree = self.get(thread_id)
            if tree.is_open and self.trees.exists(thread_id) and not await self._is_outdated(tree):
                return tree
            is_lost = tree.is_open and not self.trees.exists(thread_id)
            base = await self.trees.create(thread_id)
            # The agent's own home went with the old tree, and its sessions with that.
            fresh = ThreadTree(thread_id=thread_id, agent=agent, base_commit=base, opened_at=base)
            more: JsonObject = {"lost": True} if is_lost else {}
            await self.record(TREE_OPENED, fresh, ids, by=_SYSTEM, base_commit=base, **more)
            return fresh

    async def note_changes(self, tree: ThreadTree, ids: Correlation, *, by: str) -> ThreadTree:
        """Find what the agent has changed, and offer it for review."""
        diff = await self.trees.diff(tree.thread_id, tree.base_commit)
        tree = replace(tree, changed_files=len(diff.files))
        paths: list[JsonValue] = [f"{file.change} {file.path}" for file in diff.files[:_NAMED]]
        await self.record(AGENT_CHANGED, tree, ids, by=by, files=len(diff.files), paths=paths)
        return tree

    async def diff(self, tree: ThreadTree) -> TreeDiff:
        """What the agent has changed since it began, or since its changes were applied last."""
        return await self.trees.diff(tree.thread_id, tree.base_commit)

    async def record_applied(self, tree: ThreadTree, applied: AppliedTree, ids: Correlation, *, by: str) -> None:
        """Record that the changes are in the checkout now, and count further ones from here on."""
        base = await self.trees.move_base(tree.thread_id, tree.base_commit)
        tree = replace(tree, base_commit=base, changed_files=0, mutation_id=applied.mutation_id)
        await self.record(TREE_APPLIED, tree, ids, by=by, mutation_id=applied.mutation_id, files=len(applied.files))

    async def discard(self, tree: ThreadTree, reason: str, ids: Correlation, *, by: str) -> None:
        """Remove the work tree with all that was changed there, and the agent's home."""
        gone = replace(tree, base_commit="", opened_at="", session_id="", changed_files=0)
        await self.record(TREE_DISCARDED, gone, ids, by=by, reason=reason)
        # What cannot be removed now is tried again.
        with suppress(StorageFailed):
            await self.trees.remove(tree.thread_id)

    async def sweep(self) -> None:
        """Close the indexes of trees in which no turn runs."""
        threads = set(self.trees.list_threads())
        for thread_id in self.trees.list_open():
            if thread_id in threads and not await self._threads.unfinished_turns(thread_id):
                await self.trees.close(thread_id)

    async def remove_leftovers(self) -> None:
        """Remove the folders of threads that are gone or have no tree any more, and those that nobody uses."""
        for thread_id in self.trees.list_threads():
            try:
                thread = await self._threads.thread(thread_id)
            except ThreadNotFound:
                with suppress(StorageFailed):
                    await self.trees.remove(thread_id)
                continue
            if await self._threads.unfinished_turns(thread_id):
                continue
            tree = self.get(thread_id)
            if not tree.is_open:
                with suppress(StorageFailed):
                    await self.trees.remove(thread_id)
            elif self._clock.now_ns() - thread.updated_ns > self._keep_ns:
                await self.discard(tree, "nobody used it for long", Correlation(thread_id=thread_id), by=_SYSTEM)

    async def record(self, kind: str, tree: ThreadTree, ids: Correlation, *, by: str, **facts: JsonValue) -> None:
        """Append an event about a tree, with all that is known of it now."""
        await self._log.append([thread_draft(kind, {**facts, "tree": tree.to_json()}, actor=by, ids=ids)])

    async def _is_outdated(self, tree: ThreadTree) -> bool:
        """Whether the checkout has moved on and nothing in the tree would be lost by starting over."""
        if await self.trees.newest_commit() == tree.opened_at:
            return False
        if (await self.trees.diff(tree.thread_id, tree.base_commit)).files:
            return False
        # What was applied and is not committed yet is only in the tree and in the checkout.
        return not tree.mutation_id or not await self.trees.has_uncommitted()
