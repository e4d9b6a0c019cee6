"""A small repository written by a test, indexed and parsed for real."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codeplane.code.resolve.references import references
from codeplane.code.resolve.world import SharedModules, World
from codeplane.index.derived_index import DerivedIndex
from codeplane.index.fact_store import FactStore
from codeplane.index.fulltext import FullText
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import Snapshot
from codeplane.query.search.symbols import side_of_target, targets
from tests.harness import git, make_repo
from tests.index.recording_indexer import RecordingIndexer


class _Kept(ParserPool):
    """Parsers that stay for the next repository: starting them costs more than parsing a few lines."""

    def close(self) -> None:
        """Stay; the worker ends with this process."""


@cache
def _parsers() -> ParserPool:
    return _Kept(processes=1)


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was written, as questions see it."""

    snapshot: Snapshot
    store: FactStore
    indexer: RecordingIndexer
    follower: DerivedIndex

    def world(self) -> World:
        """A world for one question."""
        return World(self.snapshot, self.store, SharedModules())

    def uses(self, query: str) -> dict[str, str]:
        """Each reference as `path:line:column` (counted from 1) and its tier."""
        world = self.world()
        found: dict[str, str] = {}
        wanted = targets(world, self.store, query)
        sides = {side_of_target(world, target) for target in wanted}
        bounds = [target.bound for target in wanted]
        for one in references(world, self.store, bounds, side=sides.pop() if len(sides) == 1 else ""):
            text = world.text(one.path)
            line = text.count(b"\n", 0, one.offset)
            column = one.offset - (text.rfind(b"\n", 0, one.offset) + 1)
            found[f"{one.path}:{line + 1}:{column + 1}"] = one.tier
        return found


@contextmanager
def written(root: Path, files: Mapping[str, str]) -> Iterator[Written]:
    """Write files into a new repository and parse them."""
    make_repo(root)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "-A")
    home = root.parent / f"{root.name}-home"
    indexer = RecordingIndexer(root, home)
    snapshot = indexer.start()
    follower = DerivedIndex(
        facts=FactStore(home / "facts.db"),
        text=FullText(home / "tantivy"),
        parsers=_parsers(),
        on_progress=lambda progress: None,
    )
    try:
        assert follower.update(snapshot, newer=lambda: False)
        yield Written(snapshot=snapshot, store=follower.facts, indexer=indexer, follower=follower)
    finally:
        follower.close()
        indexer.close()
