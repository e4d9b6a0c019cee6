"""A rename of a small repository, as a test reads it."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.edited_text import edited

from codeplane.query.search.symbols import Target, targets
from codeplane.refactor.draft import Draft, Edit
from codeplane.refactor.rename.planner import plan_rename
from tests.code.resolve.written import Written, written

SURE = ("PROVEN", "STRONG")


@dataclass(frozen=True, kw_only=True)
class Repo:
    """What was written, and renames of it."""

    written: Written

    def plan(self, symbol: str, new: str, *, seconds: float = 60.0) -> Draft:
        """A plan for a symbol that is named by place or name."""
        (target,) = targets(self.written.world(), self.written.store, symbol)
        return self.planned(target, new, seconds=seconds)

    def planned(self, target: Target, new: str, *, seconds: float = 60.0) -> Draft:
        """A plan for a target."""
        world = self.written.world()
        return plan_rename(world, self.written.store, target, new, deadline=time.monotonic() + seconds)

    def after(self, symbol: str, new: str) -> dict[str, str]:
        """The files that change when the sure edits are applied."""
        draft = self.plan(symbol, new)
        assert not draft.candidates, [candidate.id for candidate in draft.candidates]
        return self.applied(draft.edits)

    def applied(self, edits: Iterable[Edit], tiers: Iterable[str] = SURE) -> dict[str, str]:
        """Files with edits of some tiers made."""
        world = self.written.world()
        chosen = [edit for edit in edits if edit.tier in tiers]
        return {
            path: edited(world.text(path), [edit for edit in chosen if edit.path == path]).decode()
            for path in sorted({edit.path for edit in chosen})
        }

    def proposed(self, draft: Draft) -> dict[str, str]:
        """The edits that are not applied, as `path:line:column`, and their tiers."""
        return {self.place(edit): edit.tier for edit in draft.edits if edit.tier not in SURE}

    def place(self, edit: Edit) -> str:
        """An edit's place, counted from 1."""
        text = self.written.world().text(edit.path)
        start = text.rfind(b"\n", 0, edit.start) + 1
        line = text.count(b"\n", 0, edit.start) + 1
        return f"{edit.path}:{line}:{edit.start - start + 1}"


@contextmanager
def repo(root: Path, files: Mapping[str, str]) -> Iterator[Repo]:
    """Write files and parse them."""
    with written(root / "repo", files) as found:
        yield Repo(written=found)


def kinds(draft: Draft) -> set[str]:
    """The kinds of dangers that are told."""
    return {danger.kind for danger in draft.dangers}
