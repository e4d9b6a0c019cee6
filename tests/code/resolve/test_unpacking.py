"""Several names that are given a value each are followed like one: `a, b = x, Y()`."""

from pathlib import Path

import pytest

from codeplane.code.languages.python.unpacking import with_own_value
from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-42")
CLASSES = "class A:\n    def go(self): ...\n\n\nclass B:\n    def go(self): ...\n\n\n"


@pytest.mark.parametrize(
    ("line", "followed"),
    [
        ("a, b = A(), B()", True),
        ("a, b = A(1, [2, 3]), B(\n        4)", True),
        ("x, a, b = 1, A(), B()", True),
        ("a, b = b, a = A(), B()", False),
        ("a, b = [A(), B()]", False),
        ("a, b = *items, B()", False),
        ("a, b = A(), B(), 3", False),
        ("a, b = A() if items else B(), B() if items else A()", False),
        ("a, b = 'x, y', B()", False),
    ],
)
def test_each_name_has_its_own_value(tmp_path: Path, line: str, followed: bool) -> None:
    text = f"{CLASSES}def run(items):\n    {line}\n    a.go()\n    return b.go()\n"
    places = [f"m.py:{text[: text.index(use)].count(chr(10)) + 1}" for use in ("    a.go()", "    return b.go()")]
    with written(tmp_path / "repo", {"m.py": text}) as made:
        tiers = [{place.rpartition(":")[0]: tier for place, tier in made.uses(f"{name}.go").items()} for name in "AB"]
    if followed:
        assert [tiers[at].get(places[at]) for at in (0, 1)] == ["STRONG", "STRONG"]
        assert places[1] not in tiers[0] and places[0] not in tiers[1]
    else:
        assert {tiers[at].get(place) for at in (0, 1) for place in places} == {"ANCHORED"}


def test_a_value_may_be_copied_or_awaited(tmp_path: Path) -> None:
    text = (
        f"{CLASSES}async def make() -> B: ...\n\n\nasync def run(one: A):\n    a, b = one, await make()\n"
        "    a.go()\n    b.go()\n"
    )
    with written(tmp_path / "repo", {"m.py": text}) as made:
        uses = {name: set(made.uses(f"{name}.go").items()) for name in "AB"}
    line = text[: text.index("    a.go()")].count("\n") + 1
    assert (f"m.py:{line}:7", "STRONG") in uses["A"] and (f"m.py:{line + 1}:7", "STRONG") in uses["B"]
    assert not any(place == f"m.py:{line}:7" for place, _ in uses["B"])


def test_nothing_moves_in_the_text() -> None:
    text = b"a, b = x, Y()\nc = 1\n"
    assert with_own_value(text, 1) == b"a    = x\n Y()\nc = 1\n"
    assert with_own_value(text, 4) == b"a, b    = Y()\nc = 1\n"
    assert with_own_value(b"b = Y()\n", 1) is None
