"""Facts that are unpacked before anyone asks for them."""

import asyncio
from pathlib import Path

from codeplane.index.derived_index import DerivedIndex
from codeplane.index.fact_store import FactStore
from codeplane.index.fulltext import FullText
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import Snapshot
from codeplane.index.update_loop import UpdateLoop
from tests.code.resolve.written import written
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.interaction.requirements import requirement
from tests.kernel.plane import KEPT_WORKERS
from tests.ledger.logs import opened

pytestmark = requirement("IDX-46")

FILES = {f"m{number}.py": f"def f{number}():\n    return {number}\n" for number in range(40)}


def named(snapshot: Snapshot) -> list[tuple[str, str]]:
    return [(path, snapshot.files[path].digest) for path in FILES]


def test_what_was_unpacked_is_what_is_read(tmp_path: Path) -> None:
    with written(tmp_path / "repo", FILES) as made:
        assert made.store.unpacked == 0
        made.store.warm([("gone.py", "00" * 16), *named(made.snapshot)], stop=lambda: False)
        assert made.store.unpacked == len(FILES)
        (path, digest), *_ = named(made.snapshot)
        facts = made.store.facts(path, digest)
        assert facts is not None
        assert [one.name for one in facts.definitions] == ["f0"]
        assert made.store.unpacked == len(FILES)


def test_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    with written(tmp_path / "repo", FILES) as made:
        asked: list[int] = []

        def stop() -> bool:
            asked.append(made.store.unpacked)
            return len(asked) > 1

        made.store.warm(named(made.snapshot), stop=stop)
        first, then = asked
        assert first == 0 < then == made.store.unpacked < len(FILES)


def test_it_stops_where_there_is_no_more_room(tmp_path: Path) -> None:
    # Long names, since what a file's facts take is counted in bytes and what making them takes in definitions.
    long = "".join(f"def function_{number}_{'x' * 300}(): pass\n" for number in range(1_700))
    copies = {f"big{number}.py": f"{long}x = {number}\n" for number in range(20)}
    with written(tmp_path / "repo", copies) as made:
        files = [(path, made.snapshot.files[path].digest) for path in copies]
        made.store.warm(files, stop=lambda: False)
        assert 0 < made.store.unpacked < len(files)
        held = made.store.unpacked
        made.store.warm(files, stop=lambda: False)
        assert made.store.unpacked == held


async def test_a_large_index_is_unpacked_once_it_stands(tmp_path: Path) -> None:
    texts = {f"notes/{number}.txt": f"{number}\n" for number in range(1_000)}
    root, home = make_repo(tmp_path / "repo", {**FILES, **texts}), tmp_path / "home"
    indexer = RecordingIndexer(root, home)
    snapshot = indexer.start()

    async def whole() -> bool:
        return False

    async def follow() -> int:
        async with opened(tmp_path / "ledger.db") as log:
            following = UpdateLoop(
                follower=lambda answer: DerivedIndex(
                    facts=FactStore(home / "facts.db"),
                    text=FullText(home / "tantivy"),
                    parsers=ParserPool(processes=1, workers=KEPT_WORKERS),
                    on_progress=answer,
                ),
                vectors=None,
                newest=lambda: snapshot,
                mend=whole,
                log=log,
                stream="index",
                wait_sec=60,
                logger=lambda words, more: None,
            )
            running = asyncio.create_task(following.run())
            await following.wait_until_warm()
            found = following.derived.facts.unpacked
            running.cancel()
            await asyncio.wait({running})
            await following.close()
            return found

    assert await follow() == sum(path.endswith(".py") for path in snapshot.files) >= len(FILES)
    indexer.close()
