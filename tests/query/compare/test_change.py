"""What changed: nested, judged, renamed, moved; and what is no change."""

from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.query.compare.change import FileOutlines
from codeplane.query.compare.comparison import Comparison
from codeplane.query.compare.outline import Outline
from tests.interaction.requirements import requirement
from tests.query.compare.versions import changes_by_path, compared, compared_files, every, outline

BODY = "    total = 0\n    for one in things:\n        total += one.price * one.count\n    return total\n"


@requirement("CMP-02")
def test_members_are_nested_in_their_class() -> None:
    before = "class A:\n    def one(self): return 1\n    class B:\n        def two(self, a): return a\n"
    (change,) = compared("a.py", before, before.replace("two(self, a)", "two(self)"))
    assert not change.itself and change.is_broken and change.tags == ["members_changed"]
    (inner,) = change.nested
    assert [one.pair.now.path for one in inner.nested] == ["A.B.two"]
    assert inner.nested[0].why == ("a removed",)


@requirement("CMP-02")
def test_what_came_or_went_with_its_class_is_told_once() -> None:
    text = "class A:\n    x = 1\n    def one(self): return 1\n"
    assert changes_by_path(compared("a.py", "", text)) == {"A": ("added", False)}
    assert changes_by_path(compared("a.py", text, "")) == {"A": ("removed", True)}


@requirement("CMP-02")
def test_comments_layout_and_documentation_are_no_changes() -> None:
    before = 'def f(a, b):\n    """One."""\n    # why\n    return a + b\n'
    after = 'def f(\n    a,\n    b,\n):\n    """Two."""\n\n    return a + b  # because\n'
    assert compared("a.py", before, after) == []
    before = "export function f(a: number) {\n  // one\n  return a;\n}\n"
    assert compared("a.ts", before, "export function f(\n  a: number\n)\n{ /* two */ return a; }\n") == []
    before = "type Query {\n  # one\n  user(id: ID): User\n}\n"
    assert compared("a.graphql", before, before.replace("# one", "# two\n  # three")) == []
    before = "def f(a)\n=begin\none\n=end\n  a\nend\n"
    assert compared("a.rb", before, before.replace("one", "two")) == []


@requirement("CMP-02")
def test_indentation_and_ends_of_lines_count_where_they_mean_something() -> None:
    before = "def f(a):\n    if a:\n        go()\n    return a\n"
    assert changes_by_path(compared("a.py", before, before.replace("    return", "        return"))) == {
        "f": ("body_changed", False)
    }
    assert compared("a.py", before, before.replace("    ", "  ")) == []
    before = "export function f() {\n  return { a: 1 };\n}\n"
    assert changes_by_path(compared("a.js", before, before.replace("return {", "return\n  {"))) == {
        "f": ("body_changed", False)
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.sampled_from(["", "# note", "   ", "\t# deep"])), max_size=8))
def test_lines_that_say_nothing_change_nothing(extra: list[tuple[int, str]]) -> None:
    lines = (
        "import os\n\nclass A:\n    def one(self, x):\n        if x:\n            return 1\n        return [\n"
        "            2,\n        ]\n\ndef two():\n    return 3"
    ).splitlines()
    changed = list(lines)
    for at, output in sorted(extra, reverse=True):
        changed.insert(at, output)
    assert compared("a.py", "\n".join(lines), "\n".join(changed)) == []


def test_size_and_risk_of_a_body() -> None:
    before = "def f(a):\n    x = 1\n    y = 2\n    return a\n"
    (small,) = compared("a.py", before, before.replace("x = 1", "x = 2"))
    assert small.lines is not None and small.lines.count == 1 and "minor_change" in small.tags and small.risk == "low"
    assert small.lines.preview == "-    x = 1\n+    x = 2"
    (flow,) = compared("a.py", before, before.replace("return a", "return a or 1"))
    assert flow.risk == "medium"
    long = "".join(f"    step_{number}()\n" for number in range(30))
    (large,) = compared("a.py", before, before.replace("    x = 1\n", long))
    assert large.risk == "high" and "major_change" in large.tags
    assert large.lines is not None and "more" in large.lines.preview


def test_a_rename_is_the_same_under_another_name() -> None:
    before = f"def total(things):\n{BODY}\ndef other(things):\n    return len(things)\n"
    changes = list(every(compared("a.py", before, before.replace("def total", "def price_of"))))
    assert [(one.change, one.breaking) for one in changes] == [("renamed", True)]
    assert changes[0].pair.before is not None and changes[0].pair.before.name == "total"


def test_of_several_with_one_signature_the_body_tells_which_was_renamed() -> None:
    other = "def {}(things):\n    names = [one.name for one in things]\n    names.sort()\n    return names\n"
    before = f"def total(things):\n{BODY}\n{other.format('names')}"
    after = f"{other.format('listed')}\ndef price(things):\n{BODY}"
    pairs = {
        one.pair.before.name: one.pair.now.name for one in every(compared("a.py", before, after)) if one.pair.before
    }
    assert pairs == {"total": "price", "names": "listed"}


def test_something_else_with_the_same_signature_is_no_rename() -> None:
    before = "def start():\n    server = make()\n    server.listen(80)\n    return server\n"
    after = "def words():\n    for line in open('x'):\n        yield from line.split()\n"
    assert changes_by_path(compared("a.py", before, after)) == {"start": ("removed", True), "words": ("added", False)}
    assert {one.change for one in every(compared("a.py", "A = None\n", "B = None\n"))} == {"removed", "added"}


def test_moved_to_another_file() -> None:
    function = f"def total(things):\n{BODY}"
    stays = "def stays():\n    return 1\n"
    before = {"a.py": f"{function}\n\n{stays}", "b.py": stays}
    (change,) = compared_files(before, {"a.py": stays, "b.py": f"{stays}\n\n{function}"})
    assert (change.change, change.moved, change.breaking) == ("moved", True, True)
    assert change.pair.old is not None and (change.pair.old.path, change.path) == ("a.py", "b.py")
    kept = {"a.py": f"from b import total\n{stays}", "b.py": f"{stays}\n\n{function}"}
    (change,) = compared_files(before, kept)
    assert change.moved and not change.breaking


def test_a_class_moved_and_changed() -> None:
    inner = "".join(f"    {line}\n" for line in BODY.splitlines())
    text = f"class A:\n    def total(self, things):\n{inner}    def b(self): return 1\n"
    after = text.replace("def b(self)", "def b(self, x)")
    (change,) = compared_files({"a.py": text}, {"b.py": after})
    assert change.moved and changes_by_path(change.nested) == {"A.b": ("signature_changed", True)}


def test_in_one_go_package_files_do_not_matter() -> None:
    text = "package p\n\nfunc Total(a int) int {\n\tb := a * 2\n\tc := b + a\n\treturn c\n}\n"
    (change,) = compared_files({"p/a.go": text, "p/b.go": "package p\n"}, {"p/a.go": "package p\n", "p/b.go": text})
    assert change.moved and not change.breaking
    (change,) = compared_files({"p/a.go": text}, {"q/a.go": text})
    assert change.moved and change.breaking


def test_a_file_with_another_name() -> None:
    text = "def f(): return 1\n"
    files = FileOutlines(old=outline("pkg/util.py", text), new=outline("pkg/Util.py", text))
    (change,) = Comparison([files]).changes
    assert change.is_module and change.breaking
    files = FileOutlines(old=outline("tests/test_a.py", text), new=outline("tests/test_b.py", text))
    assert not Comparison([files]).changes[0].breaking


def test_nobody_builds_on_tests_or_private_modules() -> None:
    for path in ("tests/test_a.py", "pkg/_own.py", "internal/a.go"):
        gone = "def f(): return 1\n" if path.endswith(".py") else "package a\nfunc F() {}\n"
        (change,) = compared(path, gone, "" if path.endswith(".py") else "package a\n")
        assert (change.change, change.breaking) == ("removed", False)


def test_what_a_module_lists_is_what_it_gives() -> None:
    before = '__all__ = ["f"]\ndef f(): return 1\ndef g(): return 2\n'
    assert changes_by_path(compared("a.py", before, before.replace("def g(): return 2\n", ""))) == {
        "g": ("removed", False)
    }
    changes = changes_by_path(compared("a.py", before, before.replace("f(): return 1", "f(a): return 1")))
    assert changes == {"f": ("signature_changed", True)}


def test_names_that_are_passed_on() -> None:
    before, after = "from .a import f, g\n", "from .a import f\n"
    assert changes_by_path(compared("pkg/__init__.py", before, after)) == {"g": ("removed", True)}
    assert compared("pkg/other.py", before, after) == []
    before = "export { a, b as c } from './x';\n"
    assert changes_by_path(compared("i.ts", before, "export { a } from './x';\n")) == {"c": ("removed", True)}


def test_a_member_that_is_inherited_now_is_still_there() -> None:
    before = "class A:\n    pass\nclass B(A):\n    def f(self): return 1\n    def g(self): return 2\n"
    after = "class A:\n    def f(self): return 1\nclass B(A):\n    pass\n"
    assert changes_by_path(compared("a.py", before, after))["B.f"] == ("removed", False)
    assert changes_by_path(compared("a.py", before, after))["B.g"] == ("removed", True)


def test_behind_overloads_the_implementation_is_nobodys_affair() -> None:
    before = (
        "export function f(a: string): string;\nexport function f(a: number): number;\n"
        "export function f(a: any): any {\n  return a;\n}\n"
    )
    assert not compared("a.ts", before, before.replace("f(a: any): any", "f(b: string, c: any): any"))[0].is_broken
    gone = compared("a.ts", before, before.replace("export function f(a: number): number;\n", ""))
    (one,) = every(gone)
    assert (one.change, one.breaking, one.why) == ("signature_changed", True, ("an overload less",))


def test_a_setter_that_is_gone() -> None:
    before = "class A:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, v): self.y = v\n"
    after = "class A:\n    @property\n    def x(self): return 1\n"
    told_of = {one.pair.now.path: one for one in every(compared("a.py", before, after))}
    assert told_of["A.x"].breaking and told_of["A.x"].why == ("can no longer be set",)
    assert not {one.pair.now.path: one for one in every(compared("a.py", after, before))}["A.x"].breaking


def test_code_that_does_not_parse_is_compared_as_far_as_it_does() -> None:
    before = "def f(a): return 1\n\n\ndef g(): return 2\n"
    changes = changes_by_path(compared("a.py", before, "def f(a, b): return 1\n\n\ndef g(: return 2\n"))
    assert changes["f"] == ("signature_changed", True)


def test_an_epoch_knows_names_and_signatures() -> None:
    rows = [("function", "f", "f", "aa", 1), ("class", "A", "A", "", 3), ("method", "m", "A.m", "bb", 4)]
    rows += [("function", "inner", "f.inner", "cc", 2)]
    old = Outline.of_rows("a.py", "python", rows)
    assert [one.path for one in old.entities] == ["f", "A", "A.m"]
    new = Outline.of_rows("a.py", "python", [("function", "f", "f", "xx", 1), ("class", "A", "A", "", 3)])
    changes = Comparison([FileOutlines(old=old, new=new)]).changes
    assert changes_by_path(changes) == {"f": ("signature_changed", True), "A.m": ("removed", True)}
    assert {one.risk for one in every(changes) if one.change == "signature_changed"} == {"unknown"}


def test_a_decorator_with_a_long_table_is_told_by_its_name() -> None:
    table = ", ".join(f'("case {number}", {number})' for number in range(20))
    before = f'@mark.parametrize(("name", "value"), [{table}])\ndef test_it(name, value): ...\n'
    (change,) = compared("test_it.py", before, before.replace("19", "91"))
    assert change.why == ("@mark.parametrize(…) with other arguments",)
    (change,) = compared("test_it.py", "@cache(1)\ndef f(): ...\n", "@cache(2)\ndef f(): ...\n")
    assert change.why == ("+@cache(2), -@cache(1)",)
