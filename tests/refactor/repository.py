"""A plan made over a few files and applied to their texts, as an engine would."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.edited_text import edited
from bench.memory_index import memory_index

from codeplane.code.resolve.world import SharedModules, World
from codeplane.index.fact_store import FactStore
from codeplane.index.snapshot import Snapshot
from codeplane.query.search.symbols import Target, targets
from codeplane.refactor.draft import Draft

SURE = ("PROVEN", "STRONG")


@dataclass(frozen=True, kw_only=True)
class Repository:
    """What a test wrote, and what plans make of it."""

    files: Mapping[str, str]
    snapshot: Snapshot
    store: FactStore

    def world(self) -> World:
        """A world for one question."""
        return World(self.snapshot, self.store, SharedModules())

    def target(self, query: str) -> Target:
        """The one symbol of a name or place."""
        (found,) = targets(self.world(), self.store, query)
        return found

    def plan(self, planner: Callable[..., Draft], *args: object, **named: object) -> Draft:
        """A planner's answer; the sure edits of it never overlap."""
        given = {"deadline": time.monotonic() + 60} | named
        draft = planner(self.world(), self.store, *args, **given)
        applied(self.files, draft)
        return draft

    def after(self, draft: Draft, *, tiers: tuple[str, ...] = SURE) -> dict[str, str]:
        """The files once the sure edits are made; only those that differ, and None for those that are gone."""
        after = applied(self.files, draft, tiers=tiers)
        return {path: text for path, text in after.items() if self.files.get(path) != text}


def applied(files: Mapping[str, str], draft: Draft, *, tiers: tuple[str, ...] = SURE) -> dict[str, str]:
    """Every file after a plan."""
    found = {path: text.encode() for path, text in files.items()}
    chosen = [edit for edit in draft.edits if edit.tier in tiers]
    assert not any("\r" in edit.new for edit in chosen)
    for path in {edit.path for edit in chosen}:
        found[path] = edited(found[path], [edit for edit in chosen if edit.path == path])
    moved = {move.path: found.pop(move.path) for move in draft.moves}
    found |= {move.new_path: moved[move.path] for move in draft.moves}
    found |= {new.path: new.content.encode() for new in draft.creates}
    for path in draft.removes:
        del found[path]
    return {path: text.decode() for path, text in found.items()}


@contextmanager
def repository(home: Path, files: Mapping[str, str]) -> Iterator[Repository]:
    """Files as an index holds them, and what plans are made from."""
    with memory_index(files, home) as (snapshot, store):
        yield Repository(files=files, snapshot=snapshot, store=store)
