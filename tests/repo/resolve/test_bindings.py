"""Bindings looked for name by name are those of the whole file."""

from pathlib import Path

from codeplane.repo.resolve.bindings import Bindings
from tests.repo.resolve.written import written

SOURCE = """
import os
a = b = c = 1
a = 2
def f(a, b, *c, d=1, **e):
    a = b
    global g
    g = [x for x in c if x]
    def h(x, y, z): return x, y, z, os
class K:
    a = 1
    def m(self, a): self.a = a
"""


def test_name_by_name_and_all_at_once(tmp_path: Path) -> None:
    with written(tmp_path, {"one.py": SOURCE}) as made:
        facts = made.world().facts("one.py")
        assert facts is not None
        whole = facts.bound
        assert len({name for _, name in whole}) > 8, "more names than are looked for one by one"
        bindings = Bindings()
        scopes = range(len(facts.scopes))
        for name in (*dict.fromkeys(facts.bind_names), "absent"):
            for scope in scopes:
                assert list(bindings.rows("one.py", facts, scope, name)) == whole.get((scope, name), [])


def test_definitions_name_by_name_and_all_at_once(tmp_path: Path) -> None:
    source = SOURCE + "".join(f"def n{number}(): pass\ndef n{number}(): return n{number}\n" for number in range(12))
    with written(tmp_path, {"one.py": source}) as made:
        facts = made.world().facts("one.py")
        assert facts is not None
        names = [*dict.fromkeys(one.name for one in facts.definitions), "absent"]
        assert len(names) > 9, "more names than are looked for one by one"
        few, asked = Bindings(), [(scope, name) for name in names for scope in range(len(facts.scopes))]
        found = [list(few.definitions("one.py", facts, scope, name)) for scope, name in asked]
        assert found == [facts.declared.get(one, []) for one in asked]
        assert [list(Bindings().definitions("one.py", facts, *one)) for one in asked] == found
