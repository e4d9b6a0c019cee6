"""Other languages: what a file binds is applied, the rest is proposed."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import repo


@requirement("REF-04")
def test_methods_of_other_receivers_are_left_alone(tmp_path: Path) -> None:
    files = {
        "a.go": (
            "package a\ntype A struct{}\ntype B struct{}\n"
            "func (a A) Run() {}\nfunc (b B) Run() {}\nfunc help() { help() }\n"
        )
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.go:4:12", "Go") == {"a.go": files["a.go"].replace("(a A) Run", "(a A) Go")}
        assert found.after("a.go:6:6", "aid")["a.go"].endswith("func aid() { aid() }\n")


@requirement("REF-04")
def test_locals_of_rust_and_java_are_proven(tmp_path: Path) -> None:
    files = {
        "a.rs": "fn f(count: i32) -> i32 { let total = count + 1; total }\n",
        "A.java": "class A { int f(int count) { int total = count; return total; } }\n",
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.rs:1:6", "n")["a.rs"] == "fn f(n: i32) -> i32 { let total = n + 1; total }\n"
        assert found.after("A.java:1:34", "sum")["A.java"] == (
            "class A { int f(int count) { int sum = count; return sum; } }\n"
        )


ARROWS = {
    "a.cpp": (
        "struct A { int foo() { return 1; } };\ntemplate <class T> int b(T* a) { return a->foo() + T::foo(); }\n",
        ["2:44", "2:55"],
    ),
    "a.php": ("<?php class A { function foo() { return $this->foo() + self::foo() + $x?->foo(); } }\n", None),
}


@requirement("REF-02")
@pytest.mark.parametrize("path", ARROWS)
def test_members_behind_an_arrow_or_colons_are_proposed(path: str, tmp_path: Path) -> None:
    text, places = ARROWS[path]
    line = next(number for number, output in enumerate(text.split("\n"), start=1) if "foo" in output)
    column = text.split("\n")[line - 1].index("foo") + 1
    with repo(tmp_path, {path: text}) as found:
        proposed = found.proposed(found.plan(f"{path}:{line}:{column}", "fresh"))
    assert set(proposed.values()) == {"ANCHORED"}
    assert len(proposed) == text.count("foo") - 1
    if places is not None:
        assert sorted(proposed) == [f"{path}:{place}" for place in places]


def test_a_function_of_another_module_is_not_the_one_that_is_called_alike(tmp_path: Path) -> None:
    text = "mod other;\n\nfn size() -> i32 { 1 }\n\nfn b() -> i32 { size() + other::size() }\n"
    with repo(tmp_path, {"a.rs": text, "other.rs": "pub fn size() -> i32 { 2 }\n"}) as found:
        assert found.after("a.rs:3:4", "fresh") == {
            "a.rs": "mod other;\n\nfn fresh() -> i32 { 1 }\n\nfn b() -> i32 { fresh() + other::size() }\n"
        }


def test_what_an_instance_of_ruby_holds_is_not_the_local_name(tmp_path: Path) -> None:
    text = "class A\n  def initialize(size)\n    @size = size\n  end\nend\n"
    with repo(tmp_path, {"a.rb": text}) as found:
        assert found.after("a.rb:2:18", "fresh")["a.rb"] == (
            "class A\n  def initialize(fresh)\n    @size = fresh\n  end\nend\n"
        )


@requirement("REF-04")
def test_a_variable_of_rust_that_is_a_field_too_is_written_out(tmp_path: Path) -> None:
    text = (
        "struct P { count: u8, b: u8 }\n\nfn f() -> P {\n    let count = 1;\n    P { count, b: 2 }\n}\n\n"
        "fn g(p: P) -> u8 {\n    let P { mut count, b } = p;\n    count += b;\n    count\n}\n"
    )
    with repo(tmp_path, {"src/main.rs": text}) as found:
        assert found.after("src/main.rs:4:9", "sum")["src/main.rs"] == text.replace(
            "let count = 1;\n    P { count,", "let sum = 1;\n    P { count: sum,"
        )
        assert found.after("src/main.rs:9:17", "sum")["src/main.rs"] == text.replace(
            "{ mut count, b }", "{ count: mut sum, b }"
        ).replace("    count += b;\n    count\n", "    sum += b;\n    sum\n")
        assert found.after("src/main.rs:1:12", "sum")["src/main.rs"] == text.replace("P { count:", "P { sum:").replace(
            "P { count,", "P { sum: count,"
        ).replace("{ mut count, b }", "{ sum: mut count, b }")


@requirement("REF-04")
def test_modules_written_in_a_file_of_rust_are_not_the_file(tmp_path: Path) -> None:
    text = (
        "fn help() {}\n\nmod inner {\n    pub fn help() {}\n    fn g() {\n"
        "        super::help();\n        self::help();\n"
        "    }\n}\n\nfn k() {\n    crate::help();\n    inner::help();\n}\n"
    )
    with repo(tmp_path, {"src/main.rs": text}) as found:
        assert found.after("src/main.rs:1:4", "aid")["src/main.rs"] == text.replace(
            "fn help() {}\n\nmod", "fn aid() {}\n\nmod"
        ).replace("super::help", "super::aid").replace("crate::help", "crate::aid")
        inner = text.replace("pub fn help", "pub fn aid").replace("self::help", "self::aid")
        assert found.after("src/main.rs:4:12", "aid")["src/main.rs"] == inner.replace("inner::help", "inner::aid")


@requirement("REF-04")
def test_variants_that_patterns_compare_with_and_fields_of_embedded_types_follow(tmp_path: Path) -> None:
    rust = "enum E { Aa, Bb }\nuse E::*;\nfn g(e: E) { match e { Aa => {}, E::Bb => {} } }\n"
    go = "package m\n\ntype Base struct{}\n\ntype Kid struct{ *Base }\n\nfunc k(x Kid) { _ = Kid{Base: x.Base} }\n"
    with repo(tmp_path, {"src/main.rs": rust, "go.mod": "module m\n", "a.go": go}) as found:
        assert found.after("src/main.rs:1:10", "Cc")["src/main.rs"] == rust.replace("Aa", "Cc")
        assert found.after("a.go:3:6", "Root")["a.go"] == go.replace("Base", "Root")
