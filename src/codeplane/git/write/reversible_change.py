"""Both sides of what a git mutation changed, so that either can be restored."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from codeplane.git.safety.contents import Entry
from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.kernel.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side: only what differs between the two, and always the head and state."""

    symbolic: str | None
    head: str | None
    state: str
    refs: Mapping[str, str | None]
    stashes: tuple[tuple[str, str], ...] | None
    settings: tuple[tuple[str, str], ...]
    index: tuple[str, ...]
    intended: tuple[str, ...]
    files: Mapping[str, Entry]

    def to_json(self) -> JsonObject:
        """Return the side for the mutation record."""
        return {
            "symbolic": self.symbolic,
            "head": self.head,
            "state": self.state,
            "refs": dict(self.refs),
            "stashes": [list(stash) for stash in self.stashes] if self.stashes is not None else None,
            "settings": [list(setting) for setting in self.settings],
            "index": list(self.index),
            "intended": list(self.intended),
            "files": dict(self.files),
        }

    @classmethod
    def of_json(cls, raw: JsonObject) -> "Side":
        """Read a side from a mutation record; KeyError or TypeError when it has another form."""
        stashes = raw["stashes"]
        return cls(
            symbolic=cast(str | None, raw["symbolic"]),
            head=cast(str | None, raw["head"]),
            state=str(raw["state"]),
            refs=cast(dict[str, str | None], raw["refs"]),
            stashes=_pairs(stashes) if stashes is not None else None,
            settings=_pairs(raw["settings"]),
            index=tuple(cast(list[str], raw["index"])),
            intended=tuple(cast(list[str], raw["intended"])),
            files=cast(dict[str, Entry], raw["files"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversibleChange:
    """Both sides of a mutation; `branches` are the branches whose settings it changed."""

    before: Side
    after: Side
    branches: tuple[str, ...]

    @classmethod
    def between(
        cls,
        before: GitSnapshot,
        after: GitSnapshot,
        files: Mapping[str, tuple[Entry, Entry]],
        prefixes: tuple[str, ...],
    ) -> "ReversibleChange":
        """Compare two snapshots; of the refs, only those with one of the prefixes."""
        refs = [
            ref
            for ref in sorted(before.refs.keys() | after.refs.keys())
            if before.refs.get(ref) != after.refs.get(ref) and ref.startswith(prefixes)
        ]
        branches = tuple(sorted({_branch(key) for key, _ in set(before.settings) ^ set(after.settings)}))

        def side(snapshot: GitSnapshot, other: GitSnapshot, at: int) -> Side:
            paths = {_path(line) for line in snapshot.index ^ other.index} | (snapshot.intended ^ other.intended)
            return Side(
                symbolic=snapshot.symbolic,
                head=snapshot.head,
                state=snapshot.state,
                refs={ref: snapshot.refs.get(ref) for ref in refs},
                stashes=snapshot.stashes if snapshot.stashes != other.stashes else None,
                settings=tuple(pair for pair in snapshot.settings if _branch(pair[0]) in branches),
                index=tuple(sorted(os.fsdecode(line) for line in snapshot.index if _path(line) in paths)),
                intended=tuple(sorted(snapshot.intended & paths)),
                files={path: sides[at] for path, sides in files.items()},
            )

        return cls(before=side(before, after, 0), after=side(after, before, 1), branches=branches)

    @property
    def is_nothing(self) -> bool:
        """Whether both sides are the same."""
        return self.before == self.after

    @property
    def index_paths(self) -> set[str]:
        """The paths whose index entries differ."""
        return {line.partition("\t")[2] for line in (*self.before.index, *self.after.index)}

    def to_json(self) -> JsonObject:
        """Return both sides for the mutation record."""
        return {"before": self.before.to_json(), "after": self.after.to_json(), "branches": list(self.branches)}

    @classmethod
    def of_json(cls, raw: JsonObject) -> "ReversibleChange":
        """Read both sides from a mutation record."""
        return cls(
            before=Side.of_json(cast(JsonObject, raw["before"])),
            after=Side.of_json(cast(JsonObject, raw["after"])),
            branches=tuple(cast(list[str], raw["branches"])),
        )


def entries_at(picture: GitSnapshot, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the index lines of these paths."""
    wanted = set(paths)
    return tuple(sorted(os.fsdecode(line) for line in picture.index if _path(line) in wanted))


def _path(line: bytes) -> str:
    return os.fsdecode(line.partition(b"\t")[2])


def _branch(key: str) -> str:
    """Return `topic` for `branch.topic.merge`."""
    return key.removeprefix("branch.").rpartition(".")[0]


def _pairs(raw: object) -> tuple[tuple[str, str], ...]:
    return tuple((str(key), str(value)) for key, value in cast(list[list[str]], raw))
