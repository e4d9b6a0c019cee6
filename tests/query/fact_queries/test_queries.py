"""`FactQueries` from Python, where time runs out: what is not counted is said, never passed off as nothing."""

from pathlib import Path

import pytest

from codeplane.code.resolve.world import SharedModules, World
from codeplane.index.fact_store import FactStore
from codeplane.index.parse_worker import Source, parse_source
from codeplane.index.parsed_table import ParsedFile
from codeplane.kernel.errors import DeadlineExceeded
from codeplane.query.fact_queries.queries import FactQueries
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.interaction.requirements import requirement
from tests.query.shop import SHOP


@pytest.fixture
def asked(tmp_path: Path) -> tuple[World, FactStore]:
    root = make_repo(tmp_path / "shop", SHOP)
    snapshot = RecordingIndexer(root, tmp_path / "home").start()
    store = FactStore(tmp_path / "facts.db")
    parsed = []
    for known in snapshot.texts:
        if known.path.endswith(".py"):
            source = Source(key=0, name=known.path, language="python", offset=0, length=known.length)
            found = parse_source(source, snapshot.text(known))
            parsed.append(ParsedFile(path=known.path, digest=known.digest, language="python", parsed=found))
    store.put(parsed, epoch=snapshot.epoch)
    return World(snapshot, store, SharedModules()), store


@requirement("FCT-01")
def test_proven_references_and_limits(asked: tuple[World, FactStore]) -> None:
    facts = FactQueries(*asked)
    (cart,) = facts.list_defs_by_name("ShoppingCart", limit=10).items
    assert [one.ref_tier for one in facts.list_proven_refs(cart.def_uid, limit=10).items] == ["PROVEN"]
    two = facts.list_refs_by_def_uid(cart.def_uid, limit=2)
    assert len(two.items) == 2 and two.cut == "only the first 2 are listed"
    assert facts.list_refs_by_def_uid("0" * 16, limit=2).items == ()
    assert facts.list_imports("nowhere.py", limit=5).items == ()
    assert facts.get_export_surface("nowhere") is None


def test_a_surface_changes_with_what_is_given_alone(asked: tuple[World, FactStore]) -> None:
    facts = FactQueries(*asked)
    one, same = facts.get_export_surface("shop/__init__.py"), facts.get_export_surface("shop/__init__.py")
    assert one is not None and one == same
    other = facts.get_export_surface("shop/cli.py")
    assert other is not None and other.surface_hash != one.surface_hash


@requirement("FCT-01")
def test_out_of_time(asked: tuple[World, FactStore]) -> None:
    facts = FactQueries(*asked, for_sec=-1.0)
    (cart,) = facts.list_defs_by_name("ShoppingCart", limit=10).items
    assert "no time" in facts.list_refs_by_def_uid(cart.def_uid, limit=10).cut
    assert "no time" in facts.list_anchor_groups(member_token="save", limit=10).cut
    assert "only the first 0 files" in facts.list_dynamic_access_sites(limit=10).cut
    with pytest.raises(DeadlineExceeded):
        facts.get_anchor_group("save", "thing.")
