"""A member's rename applies where all that is written agrees on the receiver, and is proposed anywhere else."""

import textwrap
from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import Repo, repo

pytestmark = requirement("REF-34")

_TWO = "class A:\n    def m(self): ...\nclass B:\n    def m(self): ...\n"


def _applied(found: Repo, candidate: str = "") -> tuple[set[int], set[int]]:
    """The lines below the classes that are changed, and those that are proposed."""
    draft = found.plan("a.py:2:9", "zz")
    chosen = [one.edits for one in draft.candidates if one.id == candidate]
    edits = chosen[0] if chosen else draft.edits
    lines = {edit: int(found.place(edit).split(":")[1]) for edit in edits if edit.path == "a.py"}
    sure = {line for edit, line in lines.items() if edit.tier in ("PROVEN", "STRONG")}
    return sure - {2, 4}, set(lines.values()) - sure


def check(tmp_path: Path, code: str, more: dict[str, str] | None = None, *, candidate: str = "") -> None:
    """Compare with what the comments of the code say: `# sure`, `# guess`, `# other`."""
    text = _TWO + textwrap.dedent(code)
    output = {
        word: {line for line, field in enumerate(text.split("\n"), 1) if field.endswith(f"# {word}")}
        for word in ("sure", "guess", "other")
    }
    with repo(tmp_path, {"a.py": text, **(more or {})}) as found:
        applied, proposed = _applied(found, candidate)
    assert applied == output["sure"]
    assert output["guess"] <= proposed
    assert not output["other"] & proposed


_FLOWS = {
    "a branch": "def f(c):\n    o = A()\n    if c:\n        o = B()\n    o.m()  # guess\n",
    "a loop": "def f(c):\n    o = A()\n    for i in c:\n        o.m()  # guess\n        o = B()\n",
    "a closure": "def f(c):\n    o = A()\n    def g():\n        o.m()  # guess\n    o = B()\n    g()\n",
    "a try": "def f(c):\n    try:\n        o = A()\n        o = B()\n    except E:\n        o.m()  # guess\n",
    "a walrus": "def f(c):\n    o = A()\n    if (o := B()): ...\n    o.m()  # guess\n",
    "a parameter": "def f(o: A, c):\n    if c:\n        o = B()\n    o.m()  # guess\n",
    "the last one": "def f():\n    o = A()\n    o.m()  # sure\n    o = B()\n    o.m()  # other\n",
    "a ternary": "def f(c):\n    o = A() if c else B()\n    o.m()  # guess\n",
    "several targets": "class H:\n    def f(self):\n        self.o = p = A()\n        self.o.m()  # sure\n",
    "a comparison": "class H:\n    def f(self):\n        self.o = p == A()\n        self.o.m()  # guess\n",
}


@pytest.mark.parametrize("code", _FLOWS.values(), ids=_FLOWS)
def test_a_variable_is_what_reaches_the_use(tmp_path: Path, code: str) -> None:
    check(tmp_path, code)


@pytest.mark.parametrize(
    "code",
    [
        "def f(o: A):\n    o.m()  # sure\n    if isinstance(o, B):\n        o.m()  # guess\n",
        "def f(o: A):\n    if not isinstance(o, B):\n        return\n    o.m()  # guess\n",
        "class S(A): ...\ndef f(o: A):\n    if isinstance(o, (S, A)):\n        o.m()  # sure\n",
        "def f(o: A):\n    if isinstance(o, str):\n        o.m()  # guess\n    o.m()  # sure\n",
        "def f(o: A):\n    if type(o) is B:\n        o.m()  # guess\n",
        "def f(o: A):\n    match o:\n        case B():\n            o.m()  # guess\n    o.m()  # sure\n",
        "class S(A):\n    def f(self):\n        if isinstance(self, B):\n            self.m()  # guess\n",
        "class H:\n    o: A\n    def f(self):\n        if isinstance(self.o, B):\n            self.o.m()  # guess\n",
    ],
)
def test_a_receiver_that_is_asked_about_may_be_something_else(tmp_path: Path, code: str) -> None:
    check(tmp_path, code)


@pytest.mark.parametrize(
    "code",
    [
        "def f(*o: A):\n    o.m()  # guess\n",
        "def f(**o: A):\n    o.m()  # guess\n",
        "def f(*, o: A):\n    o.m()  # sure\n",
        "class H:\n    o: ClassVar[A]\n    def f(self):\n        self.o.m()  # sure\n",
    ],
)
def test_an_annotation_is_read_with_what_stands_around_it(tmp_path: Path, code: str) -> None:
    check(tmp_path, code)


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("def made() -> A: ...\nmade = B\nmade().m()  # guess\n", ""),
        ("def made() -> A: ...\ndef f():\n    global made\n    made = B\nmade().m()  # guess\n", ""),
        ("def made() -> A: ...\nmade().m()  # guess\n", "import a\na.made = a.B\n"),
        ("def made() -> A: ...\nmade().m()  # sure\n", "import a\na.made()\n"),
        (
            "class H:\n    def made(self) -> A: ...\n    def f(self):\n        self.made().m()  # guess\n",
            "import a\na.H.made = a.B\n",
        ),
        ("class H:\n    def made(self) -> A: ...\n    def f(self):\n        self.made().m()  # sure\n", ""),
    ],
)
def test_what_a_function_says_holds_while_it_is_the_function(tmp_path: Path, code: str, more: str) -> None:
    check(tmp_path, code, {"b.py": more})


_HOLDER = (
    "class H:\n    def __init__(self, **kw):\n        self.o = A()\n        {}\n"
    "    def f(self):\n        self.o.m()  # {}\n"
)


@pytest.mark.parametrize(
    ("filled", "tier"),
    [
        ("for name, value in kw.items(): setattr(self, name, value)", "guess"),
        ("self.__dict__.update(kw)", "guess"),
        ("vars(self)['o'] = kw", "guess"),
        ("setattr(self, 'other', 1)", "sure"),
        ("print('self.__dict__.update(kw)')", "sure"),
    ],
)
def test_members_that_are_set_by_computed_names_are_guesses(tmp_path: Path, filled: str, tier: str) -> None:
    check(tmp_path, _HOLDER.format(filled, tier))


@pytest.mark.parametrize(
    ("code", "tier"),
    [
        ("globals()['o'] = B()", "guess"),
        ("globals().update(o=B())", "guess"),
        ("globals()[name] = B()", "guess"),
        ("globals()['other'] = B()", "sure"),
        ("print(globals()['o'])", "sure"),
    ],
)
def test_variables_that_are_set_by_name_are_guesses(tmp_path: Path, code: str, tier: str) -> None:
    check(tmp_path, f"o = A()\n{code}\ndef f():\n    o.m()  # {tier}\n")


@pytest.mark.parametrize(
    "code",
    [
        "class D(A):\n    def __get__(self, one, of): ...\nclass H:\n    o = D()\nH().o.m()  # guess\n",
        "class H(Enum):\n    o = A()\nH.o.m()  # guess\n",
        "class H(A):\n    def __getattribute__(self, name): ...\n    def f(self):\n        self.m()  # guess\n",
        "class H(A):\n    def f(self):\n        self.m()  # guess\n    f = staticmethod(f)\n",
        "class H(A):\n    @classmethod\n    def f(cls):\n        cls().m()  # sure\n",
        "class H(A):\n    @classmethod\n    def f(cls):\n        cls = B\n        cls().m()  # guess\n",
    ],
)
def test_a_class_may_give_something_else(tmp_path: Path, code: str) -> None:
    check(tmp_path, code)


def test_super_looks_behind_the_class_it_names(tmp_path: Path) -> None:
    check(tmp_path, "class C(A):\n    def f(self):\n        super(C, self).m()  # sure\n")
    code = "class C(A, B):\n    def f(self):\n        super(A, self).m()  # guess\n        super().m()  # sure\n"
    check(tmp_path / "2", code, candidate="this_one")


def test_a_class_that_is_written_twice_has_a_member_in_each(tmp_path: Path) -> None:
    text = "if 1:\n    class A:\n        def m(self): ...\nelse:\n    class A:\n        def m(self): ...\nA().m()\n"
    with repo(tmp_path, {"a.py": text}) as found:
        draft = found.plan("a.py:3:13", "zz")
        family, alone = ({found.place(edit) for edit in candidate.edits} for candidate in draft.candidates)
    assert family == {"a.py:3:13", "a.py:6:13", "a.py:7:5"}
    assert alone == {"a.py:3:13", "a.py:7:5"}
