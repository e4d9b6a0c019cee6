"""Imported indexes, as others depend on them."""

from pathlib import Path

from codeplane.refactor.scip.store import ScipStore, newest_by_language
from tests.interaction.requirements import requirement

pytestmark = requirement("REF-33")


def test_what_was_taken_in_and_when_is_known(tmp_path: Path) -> None:
    store = ScipStore(tmp_path / "scip.db")
    assert store.list_indexes() == ()
    store.put("b", tool="t", version="1", at_ns=5, documents=())
    store.put("a", tool="t", version="1", at_ns=6, documents=())
    assert store.list_indexes() == (("a", 6), ("b", 5))
    store.put("b", tool="t", version="2", at_ns=7, documents=())
    assert store.list_indexes() == (("a", 6), ("b", 7))
    store.drop("a")
    assert store.list_indexes() == (("b", 7),)
    store.close()


def test_indexers_are_known_by_their_languages(tmp_path: Path) -> None:
    store = ScipStore(tmp_path / "scip.db")
    assert set(newest_by_language(store.tools()).values()) == {None}
    store.put("a", tool="scip-python", version="1", at_ns=6, documents=())
    store.put("b", tool="scip-python", version="1", at_ns=5, documents=())
    store.put("c", tool="made-up", version="1", at_ns=4, documents=())
    found = newest_by_language(store.tools())
    assert {language: at_ns for language, at_ns in found.items() if at_ns} == {"python": 6, "other": 4}
    store.close()
