"""Facts that follow edits which come one upon another."""

import asyncio
from dataclasses import replace
from itertools import count
from pathlib import Path

from codeplane.index.derived_index import DerivedIndex
from codeplane.index.fact_store import FactStore
from codeplane.index.fulltext import FullText
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import Snapshot
from codeplane.index.update_loop import UpdateLoop
from codeplane.index.vector_index import VectorIndex
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.index.test_vector_index import Counting
from tests.interaction.requirements import requirement
from tests.kernel.plane import KEPT_WORKERS
from tests.ledger.logs import opened

pytestmark = requirement("IDX-48")


async def test_a_wait_in_vain_is_not_repeated_by_every_question(tmp_path: Path) -> None:
    """A file that takes long costs one long wait, and answers are partial until it is parsed."""
    root, home = make_repo(tmp_path / "repo", {"m.py": "def f():\n    return 1\n"}), tmp_path / "home"
    indexer = RecordingIndexer(root, home)
    snapshot = indexer.start()

    async def whole() -> bool:
        return False

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
            wait_sec=0.6,
            logger=lambda what, more: None,
        )
        assert following.longest_wait_sec == 0.6
        assert (await following.wait_for_facts(snapshot)).files == 1
        assert following.longest_wait_sec == 0.5
        running = asyncio.create_task(following.run())
        while (await following.wait_for_facts(snapshot)).files:
            pass
        # Complete again, the next file is waited for as before.
        assert following.longest_wait_sec == 0.6
        running.cancel()
        await asyncio.wait({running})
        await following.close()
    indexer.close()


async def test_facts_are_reached_though_there_is_always_a_newer_state(tmp_path: Path) -> None:
    root, home = make_repo(tmp_path / "repo", {"m.py": "def f():\n    return 1\n"}), tmp_path / "home"
    indexer = RecordingIndexer(root, home)
    snapshot = indexer.start()
    epochs = count(snapshot.epoch)

    def newest() -> Snapshot:
        return replace(snapshot, epoch=next(epochs))

    async def whole() -> bool:
        return False

    async def follow() -> tuple[int, bool]:
        async with opened(tmp_path / "ledger.db") as log:
            following = UpdateLoop(
                follower=lambda answer: DerivedIndex(
                    facts=FactStore(home / "facts.db"),
                    text=FullText(home / "tantivy"),
                    parsers=ParserPool(processes=1, workers=KEPT_WORKERS),
                    on_progress=answer,
                ),
                vectors=None,
                newest=newest,
                mend=whole,
                log=log,
                stream="index",
                wait_sec=10.0,
                logger=lambda what, more: None,
            )
            running = asyncio.create_task(following.run())
            behind = await following.wait_for_facts(snapshot)
            running.cancel()
            await asyncio.wait({running})
            await following.close()
            return behind.files, following.epoch >= snapshot.epoch

    assert await follow() == (0, True)
    indexer.close()


@requirement("IDX-43")
async def test_vectors_that_a_question_waits_for_are_made_though_a_newer_state_came_meanwhile(tmp_path: Path) -> None:
    """What is cut short by a newer state goes on at once, not at the next time that nobody waits for."""
    files = {f"{number}.py": f"def price_{number}():\n    return {number}\n" for number in range(4)}
    root, home = make_repo(tmp_path / "repo", files), tmp_path / "home"
    indexer = RecordingIndexer(root, home)
    states = [indexer.start()]
    asked: list[int] = []
    first_made, loop = asyncio.Event(), asyncio.get_running_loop()
    following: UpdateLoop | None = None

    def note() -> None:
        asked.append(1)
        if len(asked) == len(files):
            loop.call_soon_threadsafe(first_made.set)
        if len(asked) == len(files) + 1:
            # While the first vectors of the second state are being made.
            states.append(replace(states[1], epoch=states[1].epoch + 1))
            assert following is not None
            following.wake()

    async def whole() -> bool:
        return False

    async with opened(tmp_path / "ledger.db") as log:
        following = UpdateLoop(
            follower=lambda answer: DerivedIndex(
                facts=FactStore(home / "facts.db"),
                text=FullText(home / "tantivy"),
                parsers=ParserPool(processes=1, workers=KEPT_WORKERS),
                on_progress=answer,
            ),
            vectors=lambda facts: VectorIndex(
                home / "vectors", embedder=lambda: Counting(note), facts=lambda path, digest, *, keep: None
            ),
            newest=lambda: states[-1],
            mend=whole,
            log=log,
            stream="index",
            wait_sec=10.0,
            logger=lambda what, more: None,
        )
        running = asyncio.create_task(following.run())
        await first_made.wait()
        for name in files:
            (root / name).write_text(f"def price():\n    return {name!r}\n")
        states.append(indexer.refresh(files))
        following.wake()
        await following.wait_for_facts(states[-1])
        await following.wait_for_vectors()
        assert following.vectors is not None
        assert len(states) == 3 and following.vectors.count_missing(states[-1]) == 0
        running.cancel()
        await asyncio.wait({running})
        await following.close()
    indexer.close()
