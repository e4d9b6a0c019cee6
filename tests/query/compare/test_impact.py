"""Who a change reaches, and how much is looked at for that."""

from pathlib import Path

from codeplane.query.compare.impact import Impacts
from codeplane.query.compare.summary import flatten
from tests.code.resolve.written import written
from tests.interaction.requirements import requirement
from tests.query.compare.versions import compared

pytestmark = requirement("CMP-10")

NOW = "def rare(a):\n    return a\n\n\ndef often(a):\n    return a\n"
FILES = {
    "pkg/__init__.py": "",
    "pkg/sums.py": NOW,
    "pkg/one.py": "from pkg.sums import rare\n\nrare(1)\n",
    **{f"pkg/use_{number}.py": "from pkg.sums import often\n\n" + "often(1)\n" * 10 for number in range(12)},
}


def test_rare_names_first_and_what_is_left_is_said(tmp_path: Path) -> None:
    changes = flatten(compared("pkg/sums.py", NOW.replace("(a)", "()"), NOW))
    rare, often = sorted(changes, key=lambda one: one.pair.now.name, reverse=True)
    with written(tmp_path, FILES) as repo:
        few = Impacts(repo.world(), repo.store, is_present=True)
        few.search(changes, work=20)
        first, second = few.of(rare), few.of(often)
        assert first is not None and first.tiers == {"STRONG": 2} and first.basis == "ref_facts_resolved"
        assert second is not None and 0 < second.tiers["STRONG"] < 132 and second.basis == "ref_facts_partial"
        assert few.count_truncated(changes) == 1
        few.search(changes, work=20)
        again = few.of(often)
        assert again is not None and again.tiers == {"STRONG": 132} and few.count_truncated(changes) == 0
        none = Impacts(repo.world(), repo.store, is_present=True)
        none.search(changes, work=0)
        assert none.of(rare) is None and none.count_truncated(changes) == 2
        whole = Impacts(repo.world(), repo.store, is_present=True)
        whole.search(changes)
        found = whole.of(often)
        assert found is not None and found.tiers == {"STRONG": 132} and found.basis == "ref_facts_resolved"
        assert whole.count_truncated(changes) == 0


def test_two_of_one_name_are_told_apart(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/a.py": "class A:\n    def go(self, x): return x\n\n\nclass B:\n    def go(self, x): return x\n",
        "pkg/use.py": "from pkg.a import A, B\n\nA().go(1)\nA().go(2)\nB().go(3)\n",
    }
    changes = flatten(compared("pkg/a.py", files["pkg/a.py"].replace("self, x", "self"), files["pkg/a.py"]))
    with written(tmp_path, files) as repo:
        impacts = Impacts(repo.world(), repo.store, is_present=True)
        impacts.search(changes)
        found = {one.pair.now.path: one for one in changes}
        of_a, of_b = impacts.of(found["A.go"]), impacts.of(found["B.go"])
        assert of_a is not None and of_a.tiers == {"STRONG": 2}
        assert of_b is not None and of_b.tiers == {"STRONG": 1}
