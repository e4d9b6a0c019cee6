"""Vectors of whole texts for other rooms: by key, kept on disk, bounded, with one model for all."""

import asyncio
from pathlib import Path

import pytest

from codeplane.kernel.errors import EmbedderFailed, TooLarge
from codeplane.kernel.json import JsonValue
from codeplane.kernel.nearest import keys_of, text_key
from codeplane.vectors.embedder import Embedder
from codeplane.vectors.static_vectors import load_wordllama
from codeplane.vectors.text_vectors import SharedEmbedder, TextVectors
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, plane
from tests.trust.approvals.agent_calls import refused, result

pytestmark = requirement("VEC-06")

TEXTS = ("rename a function everywhere", "push commits to a remote", "run the unit tests", "")


async def test_the_nearest_of_the_named_keys_come_first_and_stay_over_a_restart(tmp_path: Path) -> None:
    embedder = SharedEmbedder(load_wordllama)
    vectors = TextVectors(tmp_path / "texts", embedder=embedder)
    await vectors.add(TEXTS)
    keys = [text_key(text) for text in TEXTS]
    near = await vectors.nearest("execute tests", keys, 2)
    assert near[0].key == text_key("run the unit tests") and near[0].score > near[1].score
    others = await vectors.nearest("execute tests", [key for key in keys if key != near[0].key], 9)
    assert near[0].key not in {found.key for found in others}
    assert await vectors.nearest("execute tests", [text_key("never added")], 5) == []
    vectors.close()
    again = TextVectors(tmp_path / "texts", embedder=embedder)
    assert await again.nearest("execute tests", keys, 2) == near
    await again.keep(keys[:1])
    assert [found.key for found in await again.nearest("execute tests", keys, 9)] == keys[:1]
    again.close()


async def test_too_many_are_refused_and_nothing_is_added(tmp_path: Path) -> None:
    vectors = TextVectors(tmp_path / "texts", embedder=SharedEmbedder(load_wordllama), max_texts=2)
    with pytest.raises(TooLarge):
        await vectors.add(TEXTS[:3])
    await vectors.add(TEXTS[:2])
    await vectors.add(TEXTS[:2])
    assert len(await vectors.nearest("tests", [text_key(text) for text in TEXTS], 9)) == 2
    vectors.close()


async def test_the_model_is_loaded_once_for_all_and_tried_again_after_a_failure() -> None:
    loads: list[str] = []

    def load() -> Embedder:
        loads.append("load")
        if len(loads) == 1:
            raise EmbedderFailed("not yet")
        return load_wordllama()

    shared = SharedEmbedder(load)
    with pytest.raises(EmbedderFailed):
        shared()
    first, second = await asyncio.gather(asyncio.to_thread(shared), asyncio.to_thread(shared))
    assert first is second and len(loads) == 2


def test_equal_texts_share_a_key() -> None:
    assert keys_of({"a": "same", "b": "same", "c": "other"}) == {text_key("same"): ["a", "b"], text_key("other"): ["c"]}


async def test_operations_are_found_by_what_they_do(tmp_path: Path) -> None:
    async with plane(tmp_path, "embeddings.model=wordllama") as opened:
        for query, name in (("push my branch", "git.push"), ("attach another folder", "workspace.attach")):
            asked: dict[str, JsonValue] = {"query": query, "limit": 5}
            found = result(await opened.conveyor.call("operation.list", asked, OWNER))["operations"]
            assert isinstance(found, list) and len(found) == 5
            assert isinstance(found[0], dict) and found[0]["name"] == name
        empty = await opened.conveyor.call("operation.list", {"query": ""}, OWNER)
        assert refused(empty) == "INVALID_ARGUMENT"


async def test_without_vectors_it_says_what_to_do(tmp_path: Path) -> None:
    async with plane(tmp_path, "embeddings.model=none") as opened:
        outcome = await opened.conveyor.call("operation.list", {"query": "push"}, OWNER)
        assert refused(outcome) == "INVALID_ARGUMENT" and "embeddings.model" in str(
            outcome.error and outcome.error.hint
        )
