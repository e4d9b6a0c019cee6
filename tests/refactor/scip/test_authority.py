"""What SCIP does to a plan: it raises where it agrees with the text, and never lets through what it denies."""

from pathlib import Path

from codeplane.code.resolve.tier import Tier
from codeplane.index.snapshot import Snapshot
from codeplane.refactor.draft import Candidate, Draft, Edit, Role
from codeplane.refactor.scip.authority import ScipAuthority, apply_authority
from codeplane.refactor.scip.index import read_index
from codeplane.refactor.scip.store import ScipStore
from codeplane.refactor.scip.validation import accept_documents
from tests.code.resolve.written import written
from tests.interaction.requirements import requirement
from tests.refactor.scip.index_writer import Doc, index_bytes

FILES = {
    "a.py": "class Cart:\n    def total(self): ...\nclass Other:\n    def total(self): ...\n",
    "b.py": "x.total()\ny.total()\nz.total()\nw.total()\nalias()\nv.total()\nu.total()\n",
}
CART, OTHER, CHILD = "p a `a`/Cart#total().", "p a `a`/Other#total().", "p a `a`/Child#total()."
# What an indexer calls the same thing, and another, where it finds them installed.
COPY, OUTSIDE = "p installed 1 `shop.a`/Cart#total().", "p library 1 `lib`/Thing#total()."
DOCS = (
    Doc(path="a.py", places=((1, 8, 5, CART, 1), (3, 8, 5, OTHER, 1)), relations=((CHILD, CART),)),
    Doc(
        path="b.py",
        places=(
            (0, 2, 5, CART, 8),
            (1, 2, 5, OTHER, 8),
            (2, 2, 5, CHILD, 8),
            *((0, 2, 5, CART, 8),) * 20,
            (4, 0, 5, CART, 8),
            (5, 2, 5, COPY, 8),
            (6, 2, 5, OUTSIDE, 8),
        ),
    ),
)


def edit(path: str, line: int, column: int, tier: Tier, role: Role = "REFERENCE", length: int = 5) -> Edit:
    start = sum(len(field) + 1 for field in FILES[path].split("\n")[:line]) + column
    return Edit(path=path, start=start, end=start + length, new="sum", tier=tier, role=role, why="a member")


def imported(store: ScipStore, snapshot: Snapshot) -> None:
    index = read_index(index_bytes(DOCS))
    found = accept_documents(index, snapshot, prefix="", written_ns=2**62, keep=None)
    store.put("index.scip", tool="t", version="1", at_ns=1, documents=found)


@requirement("REF-24")
def test_tiers_go_up_where_it_agrees_and_down_where_it_does_not(tmp_path: Path) -> None:
    with written(tmp_path / "a", FILES) as repo:
        store = ScipStore(tmp_path / "scip.db")
        draft = Draft(
            title="total → sum",
            edits=(
                edit("a.py", 1, 8, "PROVEN", "DEFINITION"),
                edit("b.py", 0, 2, "ANCHORED"),
                edit("b.py", 1, 2, "UNKNOWN"),
                edit("b.py", 2, 2, "ANCHORED"),
                edit("b.py", 3, 2, "ANCHORED"),
                edit("b.py", 4, 0, "UNKNOWN"),
            ),
        )
        assert apply_authority(draft, ScipAuthority(store, repo.snapshot)) == draft
        imported(store, repo.snapshot)
        found = apply_authority(draft, ScipAuthority(store, repo.snapshot))
        assert [(edit.path, edit.start, edit.tier) for edit in found.edits] == [
            ("a.py", 20, "PROVEN"),
            ("b.py", 2, "STRONG"),
            ("b.py", 22, "ANCHORED"),
            ("b.py", 32, "ANCHORED"),
            ("b.py", 40, "UNKNOWN"),
        ]
        assert found.edits[1].why == "a member; SCIP agrees"
        assert [(danger.kind, danger.path, danger.offset) for danger in found.dangers] == [
            ("scip_disagrees", "b.py", 12)
        ]
        store.close()


@requirement("REF-24")
def test_what_was_sure_and_is_denied_is_only_proposed(tmp_path: Path) -> None:
    with written(tmp_path / "a", FILES) as repo:
        store = ScipStore(tmp_path / "scip.db")
        imported(store, repo.snapshot)
        edits = (edit("a.py", 1, 8, "PROVEN", "DEFINITION"), edit("b.py", 1, 2, "STRONG"), edit("b.py", 0, 2, "STRONG"))
        for draft in (
            Draft(title="t", edits=edits),
            Draft(
                title="t",
                candidates=(
                    Candidate(id="family", description="", confidence=1.0, provenance="", edits=edits),
                    Candidate(id="one", description="", confidence=1.0, provenance="", edits=edits),
                ),
            ),
        ):
            found = apply_authority(draft, ScipAuthority(store, repo.snapshot))
            for plan in (found.edits, *(candidate.edits for candidate in found.candidates)):
                assert [one.tier for one in plan] in ([], ["PROVEN", "ANCHORED", "STRONG"])
            assert len(found.dangers) == 1 and "Other#total" in found.dangers[0].what
        store.close()


@requirement("REF-24")
def test_a_family_is_no_disagreement_and_comments_are_not_its_business(tmp_path: Path) -> None:
    with written(tmp_path / "a", FILES) as repo:
        store = ScipStore(tmp_path / "scip.db")
        imported(store, repo.snapshot)
        definition = edit("a.py", 1, 8, "PROVEN", "DEFINITION")
        both = edit("a.py", 3, 8, "PROVEN", "DEFINITION")
        text = Edit(
            path="b.py", start=12, end=17, new="sum", tier="UNKNOWN", role="COMMENT", semantic=False, confidence="low"
        )
        draft = Draft(title="t", edits=(definition, edit("b.py", 2, 2, "STRONG"), text))
        assert apply_authority(draft, ScipAuthority(store, repo.snapshot)) == draft
        family = Draft(title="t", edits=(definition, both, edit("b.py", 1, 2, "ANCHORED")))
        assert [edit.tier for edit in apply_authority(family, ScipAuthority(store, repo.snapshot)).edits] == [
            "PROVEN"
        ] * 2 + ["STRONG"]
        unknown = Draft(title="t", edits=(edit("b.py", 0, 2, "ANCHORED"),))
        assert apply_authority(unknown, ScipAuthority(store, repo.snapshot)) == unknown
        store.close()


@requirement("REF-24")
def test_an_installed_copy_is_no_other_thing(tmp_path: Path) -> None:
    with written(tmp_path / "a", FILES) as repo:
        store = ScipStore(tmp_path / "scip.db")
        imported(store, repo.snapshot)
        definition = edit("a.py", 1, 8, "PROVEN", "DEFINITION")
        draft = Draft(title="t", edits=(definition, edit("b.py", 5, 2, "STRONG"), edit("b.py", 6, 2, "STRONG")))
        found = apply_authority(draft, ScipAuthority(store, repo.snapshot))
        assert [edit.tier for edit in found.edits] == ["PROVEN", "STRONG", "ANCHORED"]
        guesses = Draft(title="t", edits=(definition, edit("b.py", 5, 2, "UNKNOWN"), edit("b.py", 6, 2, "UNKNOWN")))
        assert [edit.tier for edit in apply_authority(guesses, ScipAuthority(store, repo.snapshot)).edits] == [
            "PROVEN",
            "UNKNOWN",
        ]
        store.close()


@requirement("REF-24")
def test_a_file_that_changed_is_no_longer_spoken_of(tmp_path: Path) -> None:
    root = tmp_path / "a"
    with written(root, FILES) as repo:
        store = ScipStore(tmp_path / "scip.db")
        imported(store, repo.snapshot)
        (root / "b.py").write_text(FILES["b.py"] + "# more\n")
        newer = repo.indexer.reconcile()
        draft = Draft(title="t", edits=(edit("a.py", 1, 8, "PROVEN", "DEFINITION"), edit("b.py", 0, 2, "ANCHORED")))
        assert apply_authority(draft, ScipAuthority(store, newer)) == draft
        assert apply_authority(draft, ScipAuthority(store, repo.snapshot)).edits[1].tier == "STRONG"
        store.close()
        again = ScipStore(tmp_path / "scip.db")
        assert apply_authority(draft, ScipAuthority(again, repo.snapshot)).edits[1].tier == "STRONG"
        assert again.drop("other") == 0 and again.drop() == 1 and again.imports() == ()
        assert apply_authority(draft, ScipAuthority(again, repo.snapshot)) == draft
        again.close()
