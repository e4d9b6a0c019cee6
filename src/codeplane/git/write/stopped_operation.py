"""Merges, rebases and picks that stopped: the state they started from, so that undo can take back the whole."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.git.read.repository import read_plain_file
from codeplane.git.safety.command import Git
from codeplane.git.safety.contents import Contents, Entry
from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.git.write.reversible_change import ReversibleChange, Side
from codeplane.kernel.json import JsonObject

_SIGNS = {
    "merge": ("MERGE_HEAD",),
    "cherrypick": ("CHERRY_PICK_HEAD",),
    "revert": ("REVERT_HEAD",),
    "rebase": tuple(
        f"{folder}/{name}" for folder in ("rebase-merge", "rebase-apply") for name in ("orig-head", "onto")
    ),
}
_MAX_REACHED = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationStart:
    """The start of an operation: its sign, the files it may write, and those with uncommitted work."""

    sign: str
    reached: Mapping[str, Entry]
    dirty: frozenset[str]

    def to_json(self) -> JsonObject:
        """Return it for the mutation record."""
        return {"sign": self.sign, "reached": dict(self.reached), "dirty": sorted(self.dirty)}

    @classmethod
    def of_json(cls, raw: JsonObject) -> "OperationStart":
        """Read it from a mutation record."""
        return cls(
            sign=str(raw["sign"]),
            reached=cast(dict[str, Entry], raw["reached"]),
            dirty=frozenset(cast(list[str], raw["dirty"])),
        )

    @classmethod
    def now(
        cls, folder: Path, before: GitSnapshot, after: GitSnapshot, reached: Mapping[str, Entry]
    ) -> "OperationStart | None":
        """Return the start of an operation that has just stopped; None when none has."""
        if before.state != "none" or after.state == "none" or len(reached) > _MAX_REACHED:
            return None
        sign = operation_sign(folder, after.state)
        return cls(sign=sign, reached=reached, dirty=before.dirty) if sign else None


def operation_sign(folder: Path, state: str) -> str:
    """Return a string that identifies the operation under way; empty when there is none."""
    heads = []
    for name in _SIGNS.get(state, ()):
        try:
            heads.append(read_plain_file(folder / name).decode("utf-8", "replace").strip())
        except OSError:
            continue
    return f"{state} {' '.join(heads)}" if heads else ""


def original_head(folder: Path) -> str | None:
    """Return the commit of the branch before the rebase under way."""
    # Older versions of git used another file, which git still reads.
    for name in (f"{kind}/{file}" for kind in ("rebase-merge", "rebase-apply") for file in ("orig-head", "head")):
        try:
            return read_plain_file(folder / name).decode("utf-8", "replace").strip() or None
        except OSError:
            continue
    return None


def find_start(mutations: MutationStore, sign: str) -> MutationRecord | None:
    """Return the mutation that started the operation with this sign."""
    for record in mutations.all():
        start = record.details.get("begun")
        if record.kind == "git" and record.state == "applied" and isinstance(start, dict) and start.get("sign") == sign:
            return record
    return None


def drop_since(mutations: MutationStore, beginning: MutationRecord, state: str) -> None:
    """Drop the mutations within an operation that has ended, and its start: they cannot be undone alone."""
    for record in mutations.all():
        if record.kind == "git" and record.mutation_id >= beginning.mutation_id and _rest_of(record) == state:
            mutations.drop(record.mutation_id)


class WholeOperation:
    """Build the reversible change of a whole merge, rebase or pick, from its start to its end."""

    def __init__(self, git: Git, contents: Contents) -> None:
        self._git = git
        self._contents = contents

    async def reversible(
        self, beginning: MutationRecord, before: GitSnapshot, after: GitSnapshot, prefixes: tuple[str, ...]
    ) -> ReversibleChange | None:
        """Return both sides; None when the start cannot be known exactly."""
        start = ReversibleChange.of_json(beginning.details).before
        operation = OperationStart.of_json(cast(JsonObject, beginning.details["begun"]))
        if start.head is None or after.head is None:
            return None
        # Git starts none of these with staged changes, so the index was the tree of the commit.
        index = await self._tree_lines(start.head)
        if not {os.fsencode(line) for line in start.index} <= index:
            return None
        whole = replace(
            before,
            symbolic=start.symbolic,
            head=start.head,
            state="none",
            refs=_refs(before, start),
            stashes=before.stashes if start.stashes is None else start.stashes,
            index=index,
            intended=frozenset(),
        )
        old = dict(operation.reached) | await self._unexpected_files(whole, after, operation)
        # Files with uncommitted edits stay as they are.
        new = await self._contents.capture(path for path in old if path not in after.dirty)
        files = {path: (old[path], entry) for path, entry in new.items() if old[path] != entry}
        return ReversibleChange.between(whole, after, files, prefixes)

    async def _unexpected_files(
        self, start: GitSnapshot, after: GitSnapshot, operation: OperationStart
    ) -> dict[str, Entry]:
        """Return files that changed unexpectedly and had no uncommitted work; new files stay."""
        options = ("-r", "-z", "--name-only", "--no-renames")
        done = await self._git.run("diff-tree", *options, str(start.head), str(after.head), "--")
        entries = start.entries()
        names = set(done.fields) - operation.reached.keys() - operation.dirty
        return {path: entries[path] for path in names if path in entries}

    async def _tree_lines(self, commit: str) -> frozenset[bytes]:
        """List a commit's tree as lines of the index."""
        listed = await self._git.run("ls-tree", "-r", "-z", "--full-tree", commit)
        lines = set()
        for line in listed.out.split(b"\0"):
            facts, _, name = line.partition(b"\t")
            if name:
                mode, _, oid = facts.split(b" ")
                lines.add(b"%s %s 0\t%s" % (mode, oid, name))
        return frozenset(lines)


def _refs(before: GitSnapshot, start: Side) -> dict[str, str]:
    refs = before.refs | {ref: oid for ref, oid in start.refs.items() if oid is not None}
    return {ref: oid for ref, oid in refs.items() if start.refs.get(ref, oid) is not None}


def _rest_of(record: MutationRecord) -> str:
    after = record.details.get("after")
    return str(after.get("state")) if isinstance(after, dict) else ""
