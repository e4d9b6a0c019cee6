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
