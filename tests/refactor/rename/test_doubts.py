"""What only looks certain: each is proposed, or named before anything is applied."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import kinds, repo

PAIR = "class A:\n    def run(self):\n        return 1\n\n\nclass B:\n    def run(self):\n        return 2\n"


@requirement("REF-02")
def test_a_decorator_may_call_a_method_on_something_else(tmp_path: Path) -> None:
    files = {
        "a.py": f"{PAIR}\n\ndef other(f):\n    def wrapper(self):\n        return f(B())\n\n    return wrapper\n\n\n"
        "def same(f):\n    def wrapper(self, *args):\n        return f(self, *args)\n\n    return wrapper\n\n\n"
        "class C(A):\n    @other\n    def go(self):\n        return self.run()\n\n"
        "    @same\n    def come(self):\n        return self.run()\n"
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("a.py:2:9", "fresh")
        assert found.proposed(draft) == {"a.py:28:21": "ANCHORED"}


@requirement("REF-02")
def test_code_that_is_kept_as_text_is_named(tmp_path: Path) -> None:
    files = {
        "a.py": "def f(size):\n    return eval('size + 1')\n\n\ndef g(size, code):\n    exec(code)\n    return size\n"
    }
    with repo(tmp_path, files) as found:
        assert "dynamic_access" in kinds(found.plan("a.py:1:7", "fresh"))
        assert "computed_access" in kinds(found.plan("a.py:5:7", "fresh"))


def test_names_that_are_taken_as_a_mapping_are_named(tmp_path: Path) -> None:
    text = "def f(size):\n    return '{size}'.format(**locals())\n\n\ndef g(size):\n    return size\n"
    with repo(tmp_path, {"a.py": text}) as found:
        assert "computed_access" in kinds(found.plan("a.py:1:7", "fresh"))
        assert "computed_access" not in kinds(found.plan("a.py:5:7", "fresh"))


def test_a_generator_does_not_give_what_it_is_annotated_with(tmp_path: Path) -> None:
    files = {"a.py": f"{PAIR}\n\ndef all_of() -> A:\n    yield B()\n\n\nall_of().run()\n"}
    with repo(tmp_path, files) as found:
        assert found.proposed(found.plan("a.py:2:9", "fresh")) == {"a.py:15:10": "ANCHORED"}


@requirement("REF-02")
def test_an_override_that_returns_something_else_makes_its_base_uncertain(tmp_path: Path) -> None:
    maker = "class Maker:\n    def make(self) -> A:\n        return A()\n\n\n"
    maker += "def use(maker: Maker):\n    maker.make().run()\n"
    heir = "class Heir(Maker):\n    def make(self):\n        return {}()\n"
    for name, made, sure in (("x", "B", False), ("y", "A", True)):
        files = {"a.py": f"{PAIR}\n\n{maker}\n\n{heir.format(made)}"}
        with repo(tmp_path / name, files) as found:
            assert found.proposed(found.plan("a.py:2:9", "fresh")) == ({} if sure else {"a.py:17:18": "ANCHORED"})


def test_a_method_and_what_instances_have_instead_are_told_of(tmp_path: Path) -> None:
    text = "class A:\n    def __init__(self, run):\n        self.run = run\n\n    def run(self):\n        return 1\n"
    with repo(tmp_path, {"a.py": text}) as found:
        assert "two_members" in kinds(found.plan("a.py:5:9", "fresh"))
    with repo(tmp_path / "plain", {"a.py": PAIR}) as found:
        assert "two_members" not in kinds(found.plan("a.py:2:9", "fresh"))


@requirement("REF-02")
def test_code_in_strings_that_calls_the_name_is_mentioned(tmp_path: Path) -> None:
    made = 'fn main() {\n    let made = format!("|| join_parts({})", 1);\n    println!("join_parts of it");\n}\n'
    files = {"src/lib.rs": "fn join_parts(a: u8) -> u8 { a }\npub fn f() -> u8 { join_parts(1) }\n", "build.rs": made}
    with repo(tmp_path, files) as found:
        draft = found.plan("src/lib.rs:1:4", "glue")
        assert [(danger.kind, danger.path, danger.count) for danger in draft.dangers] == [("in_strings", "build.rs", 1)]
        # A sentence that has the word is none.
        assert "code with join_parts( are left alone" in draft.dangers[0].what
