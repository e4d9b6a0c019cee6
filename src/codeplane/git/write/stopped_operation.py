"""A merge, rebase or pick that stopped on its way: what it began with, so that its end can be undone as a whole."""

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
    """Its sign, the files it may write as they lay there, and those that had work in them."""

    sign: str
    reached: Mapping[str, Entry]
    dirty: frozenset[str]

    def to_json(self) -> JsonObject:
        """As it is kept beside both sides of what was done until it stopped."""
        return {"sign": self.sign, "reached": dict(self.reached), "dirty": sorted(self.dirty)}

    @classmethod
    def of_json(cls, raw: JsonObject) -> "OperationStart":
        """As it was kept."""
        return cls(
            sign=str(raw["sign"]),
            reached=cast(dict[str, Entry], raw["reached"]),
            dirty=frozenset(cast(list[str], raw["dirty"])),
        )

    @classmethod
    def now(
        cls, folder: Path, before: GitSnapshot, after: GitSnapshot, reached: Mapping[str, Entry]
    ) -> "OperationStart | None":
        """What stopped just now, when anything did."""
        if before.state != "none" or after.state == "none" or len(reached) > _MAX_REACHED:
            return None
        sign = operation_sign(folder, after.state)
        return cls(sign=sign, reached=reached, dirty=before.dirty) if sign else None


def operation_sign(folder: Path, state: str) -> str:
    """What tells the one that is under way from any other."""
    found = []
    for name in _SIGNS.get(state, ()):
        try:
            found.append(read_plain_file(folder / name).decode("utf-8", "replace").strip())
        except OSError:
            continue
    return f"{state} {' '.join(found)}" if found else ""


def original_head(folder: Path) -> str | None:
    """Where the branch was before the rebase that is under way."""
    # Older ones said so in another file, which git still reads.
    for name in (f"{kind}/{file}" for kind in ("rebase-merge", "rebase-apply") for file in ("orig-head", "head")):
        try:
            return read_plain_file(folder / name).decode("utf-8", "replace").strip() or None
        except OSError:
            continue
    return None


def find_start(mutations: MutationStore, sign: str) -> MutationRecord | None:
    """The mutation that began what has this sign."""
    for kept in mutations.all():
        begun = kept.details.get("begun")
        if kept.kind == "git" and kept.state == "applied" and isinstance(begun, dict) and begun.get("sign") == sign:
            return kept
    return None


def drop_since(mutations: MutationStore, beginning: MutationRecord, state: str) -> None:
    """Drop what was done in the middle of it, and its beginning: neither can be undone once it has ended."""
    for kept in mutations.all():
        if kept.kind == "git" and kept.mutation_id >= beginning.mutation_id and _left(kept) == state:
            mutations.drop(kept.mutation_id)


class WholeOperation:
    """Both sides of a whole merge, rebase or pick, from its beginning to its end."""

    def __init__(self, git: Git, contents: Contents) -> None:
        self._git = git
        self._contents = contents

    async def reversible(
        self, beginning: MutationRecord, before: GitSnapshot, after: GitSnapshot, prefixes: tuple[str, ...]
    ) -> ReversibleChange | None:
        """None when the beginning cannot be known exactly."""
        start = ReversibleChange.of_json(beginning.details).before
        begun = OperationStart.of_json(cast(JsonObject, beginning.details["begun"]))
        if start.head is None or after.head is None:
            return None
        # Git begins none of these with anything staged: the index was what the commit is.
        index = await self._tree(start.head)
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
        old = dict(begun.reached) | await self._late(whole, after, begun)
        # What was edited since, and is in no commit, stays as it is.
        new = await self._contents.capture(path for path in old if path not in after.dirty)
        files = {path: (old[path], entry) for path, entry in new.items() if old[path] != entry}
        return ReversibleChange.between(whole, after, files, prefixes)

    async def _late(self, start: GitSnapshot, after: GitSnapshot, begun: OperationStart) -> dict[str, Entry]:
        """Files that nobody expected to change and that had no work in them; those that are new stay."""
        options = ("-r", "-z", "--name-only", "--no-renames")
        done = await self._git.run("diff-tree", *options, str(start.head), str(after.head), "--")
        entries = start.entries()
        names = set(done.fields) - begun.reached.keys() - begun.dirty
        return {path: entries[path] for path in names if path in entries}

    async def _tree(self, commit: str) -> frozenset[bytes]:
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


def _left(kept: MutationRecord) -> str:
    after = kept.details.get("after")
    return str(after.get("state")) if isinstance(after, dict) else ""
