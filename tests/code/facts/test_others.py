"""Imports and bindings of the other languages; their definitions are checked against ctags and below."""

from pathlib import Path

import pytest

from tests.code.facts.reading import bound, defined, facts_of, imported, words
from tests.interaction.requirements import requirement

SAMPLES = Path(__file__).parent / "samples"


@requirement("FCT-11")
@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("go", 'import "a/b"', [("go_import", "a/b", "", "b")]),
        ("go", 'import "a/b/v2"', [("go_import", "a/b/v2", "", "b")]),
        ("go", 'import x "a/b"', [("go_import", "a/b", "", "x")]),
        ("go", 'import . "a/b"', [("go_import", "a/b", "*", "*")]),
        ("rust", "use a::b;", [("rust_use", "a", "b", "b")]),
        ("rust", "use a::b::{c, d as e};", [("rust_use", "a::b", "c", "c"), ("rust_use", "a::b", "d", "e")]),
        ("rust", "use a::{self, b::c};", [("rust_use", "a", "", "a"), ("rust_use", "a::b", "c", "c")]),
        ("rust", "use a::{b::{c, d}};", [("rust_use", "a::b", "c", "c"), ("rust_use", "a::b", "d", "d")]),
        ("rust", "use crate::a::*;", [("rust_use", "crate::a", "*", "*")]),
        ("java", "import a.b.C;", [("java_import", "a.b", "C", "C")]),
        ("java", "import a.b.*;", [("java_import", "a.b", "*", "*")]),
        ("java", "import static a.B.c;", [("java_import_static", "a.B", "c", "c")]),
        ("kotlin", "import a.b.C", [("kotlin_import", "a.b", "C", "C")]),
        ("kotlin", "import a.b.C as D", [("kotlin_import", "a.b", "C", "D")]),
        ("kotlin", "import a.b.*", [("kotlin_import", "a.b", "*", "*")]),
        ("scala", "import a.b.C", [("scala_import", "a.b", "C", "C")]),
        ("scala", "import a.{B, C => D}", [("scala_import", "a", "B", "B"), ("scala_import", "a", "C", "D")]),
        ("scala", "import a.b._", [("scala_import", "a.b", "*", "*")]),
        ("c", "#include <a.h>\n", [("c_include", "a.h", "*", "*")]),
        ("c", '#include "a.h"\n', [("c_include", "a.h", "*", "*")]),
        ("cpp", "using namespace a;", [("cpp_using_namespace", "a", "*", "*")]),
        ("cpp", "using a::b;", [("cpp_using", "a", "b", "b")]),
        ("csharp", "using A.B;", [("csharp_using", "A.B", "*", "*")]),
        ("csharp", "using static A.B;", [("csharp_using_static", "A.B", "*", "*")]),
        ("csharp", "using C = A.B;", [("csharp_using_alias", "A.B", "", "C")]),
        ("ruby", "require 'a/b'", [("ruby_require", "a/b", "*", "*")]),
        ("ruby", "require_relative 'a'", [("ruby_require_relative", "a", "*", "*")]),
        ("php", "<?php use A\\B;", [("php_use", "A", "B", "B")]),
        ("php", "<?php use A\\{B, C as D};", [("php_use", "A", "B", "B"), ("php_use", "A", "C", "D")]),
        ("php", "<?php require 'a.php';", [("php_require", "a.php", "*", "*")]),
        ("swift", "import A", [("swift_import", "A", "", "A")]),
        ("bash", "source ./a.sh", [("bash_source", "./a.sh", "*", "*")]),
        ("elixir", "alias A.B", [("elixir_alias", "A.B", "", "B")]),
        ("elixir", "alias A.B, as: C", [("elixir_alias", "A.B", "", "C")]),
        ("elixir", "alias A.{B, C}", [("elixir_alias", "A", "B", "B"), ("elixir_alias", "A", "C", "C")]),
        ("elixir", "import A", [("elixir_import", "A", "*", "*")]),
        ("lua", "local a = require('b')", [("lua_require", "b", "", "a")]),
        ("haskell", "import A.B (c, D)", [("haskell_import", "A.B", "c", "c"), ("haskell_import", "A.B", "D", "D")]),
        ("haskell", "import qualified A.B as C", [("haskell_import", "A.B", "", "C")]),
        ("haskell", "import A hiding (b)", [("haskell_import", "A", "*", "*")]),
        ("proto", 'syntax = "proto3"; import "a.proto";', [("proto_import", "a.proto", "*", "*")]),
        ("css", '@import "a.css";', [("css_import", "a.css", "*", "*")]),
    ],
)
def test_imports(language: str, text: str, found: list[tuple[str, str, str, str]]) -> None:
    assert imported(language, text) == found


@requirement("FCT-11")
@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("go", "func (s *S) M(a int) { b := a; for i, c := range b {} }", "s a b i c"),
        ("go", "func f() { a = 1; for b = range c {} }", "f"),
        ("rust", "fn f((a, b): P) { let Some(c) = d else {}; match e { None => 1, x => x } }", "f a b c x"),
        ("java", "class A { void m(int a) { for (B b : c) {} try {} catch (E e) {} f(g -> g); } }", "A m a b e g"),
        ("java", "class A { <T> T m(T a) {} int f; }", "A T m a f"),
        ("kotlin", "fun <T> f(a: T) { val (b, c) = d; e { g -> g } }", "T f a b c g"),
        ("c", "int f(int *a, char b[]) { int c = 1, *d; { long e; } }", "f a b c d e"),
        ("cpp", "template <class T> class A { T f(T &a) { auto [b, c] = d; } };", "T A f a b c"),
        ("csharp", "class A { void M(int a) { var b = 1; foreach (var c in d) {} } }", "A M a b c"),
        ("ruby", "def f(a, b = 1, *c, d:, &e)\n  g = 1\n  h.each { |i| g = i; j = 1 }\nend", "f a b c d e g i g j"),
        ("php", "<?php function f($a) { $b = 1; foreach ($c as $d => $e) {} }", "f $a $b $d $e"),
        ("swift", "func f(x a: Int) { let b = a; if let c = b {} ; g { d in d } }", "f a b c d"),
        ("scala", "def f(a: Int) = { val b = a; g(c => c); for (d <- e) yield d }", "f a b c d"),
        ("bash", "f() { local a=1; b=2; a=3; }", "f a b a"),
        ("elixir", "def f(a, %{k: b}, [c | d]), do: fn e -> g = e end", "f a b c d e g"),
        ("lua", "local function f(a, b) local c = 1; for i, d in e do end end", "f a b c i d"),
        ("haskell", "f a (B c) = let d = a in \\e -> e\n", "f a c d e"),
        ("json", '{"a": {"b": 1}}', ""),
    ],
)
def test_bindings(language: str, text: str, found: str) -> None:
    assert [one.split()[0] for one in bound(language, text)] == found.split()


@requirement("FCT-11")
def test_an_assignment_goes_to_the_variable_it_sees() -> None:
    text = "def f\n  a = 1\n  g { a = 2; b = 3 }\n  b = 4\nend"
    assert [one for one in bound("ruby", text) if one[0] in "ab"] == [
        "a LOCAL_ASSIGN function<file",
        "a LOCAL_ASSIGN function<file",
        "b LOCAL_ASSIGN lambda<function<file",
        "b LOCAL_ASSIGN function<file",
    ]
    assert "b LOCAL_ASSIGN file" in bound("bash", "f() { local a=1; b=2; }")


@requirement("FCT-11")
def test_names_before_the_name_do_not_hide_it() -> None:
    assert bound("cpp", "template <class T> class A {};") == ["T PARAM template<file", "A DEF_IN_SCOPE file"]
    assert defined("cpp", "template <class T> int A<T>::f() {}") == ["method A.f"]


@pytest.mark.parametrize(
    ("language", "text", "owner"),
    [
        ("go", "type S struct{}\nfunc (s *S) M() {}", "S"),
        ("rust", "struct S;\nimpl<T> S { fn m() {} }", "S"),
        ("rust", "impl T for S { fn m() {} }\nstruct S;", "S"),
        ("swift", "struct S {}\nextension S { func m() {} }", "S"),
        ("cpp", "class S { void m(); };\nvoid S::m() {}", "S"),
    ],
)
def test_members_outside_their_type_know_it(language: str, text: str, owner: str) -> None:
    facts = facts_of(language, text)
    member = [one for one in facts.definitions if one.kind == "method"][-1]
    assert member.path.lower() == f"{owner}.m".lower()
    assert facts.definitions[member.container].name == owner


def test_bare_members_are_bound_where_the_language_says_so() -> None:
    assert "f DEF_IN_SCOPE class<file" in bound("java", "class A { int f; }")
    assert not [one for one in bound("go", "type A struct { f int }") if one.startswith("f ")]


def test_text_holds_code_and_code_holds_text() -> None:
    assert words("scala", 'val a = s"said ${b + "inner"} $c tail"') == {"val", "a", "b", "c"}
    assert words("kotlin", 'val a = "said ${b("inner")} tail"') == {"val", "a", "b"}
    assert words("csharp", 'var a = $"said {b} tail";') == {"var", "a", "b"}
    assert words("elixir", 'a = "said #{b} tail"') == {"a", "b"}


def test_the_script_of_a_component_is_read_and_the_rest_is_text() -> None:
    text = "<p>run</p>\n<script lang='ts'>\nimport a from 'b'\nexport function run(x: number) {}\n</script>\n{run}"
    for language in ("vue", "svelte"):
        assert defined(language, text) == ["function run"]
        assert imported(language, text) == [("js_import", "b", "default", "a")]
        facts = facts_of(language, text)
        assert facts.definitions[0].line == 4
        assert facts.in_text(text.index("run")) and facts.in_text(text.rindex("run"))
        assert not facts.in_text(text.index("run(x"))
    assert defined("vue", "<p>no script</p>") == []


@pytest.mark.parametrize(
    ("sample", "language", "found"),
    [
        ("main.tf", "hcl", {"block region", "block aws_instance.web", "block network", "local name", "block address"}),
        ("sample.nix", "nix", {"attribute version", "function build", "attribute nested.deep"}),
        ("Dockerfile", "dockerfile", {"stage build", "stage test", "argument VERSION", "variable MODE"}),
        ("sample.graphql", "graphql", {"type Item", "field Item.name", "enum_member Kind.PLAIN", "field Query.more"}),
        ("sample.toml", "toml", {"key title", "table project", "key project.name", "table project.scripts"}),
        ("sample.yaml", "yaml", {"key name", "key jobs", "key jobs.build", "key quoted", "key second"}),
        ("sample.json", "json", {"key name", "key scripts", "key scripts.build"}),
        ("sample.css", "css", {"class item", "id content", "class narrow", "keyframes fade", "variable --accent"}),
        ("sample.html", "html", {"heading The store", "id content", "id more"}),
        ("sample.md", "markdown", {"heading Store", "heading Store.Use"}),
        ("sample.sql", "sql", {"table items", "field items.id", "view named", "function total", "type mood"}),
        ("sample.proto", "proto", {"message Item.Inner", "rpc Store.Watch", "field Item.text", "enum Kind"}),
        (
            "sample.swift",
            "swift",
            {"protocol Reader", "method Reader.read", "constructor Store.init", "method Store.extra"},
        ),
        (
            "sample.scala",
            "scala",
            {"trait Reader", "object Store.Nested", "method Store.Nested.deep", "class Store.Shout"},
        ),
    ],
)
def test_what_ctags_does_not_know(sample: str, language: str, found: set[str]) -> None:
    assert found <= set(defined(language, (SAMPLES / sample).read_text("utf-8")))
