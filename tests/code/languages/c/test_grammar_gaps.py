"""Syntax that the grammar of C++ does not know, and conditions in the middle of declarations: read all the same."""

from pathlib import Path

import pytest

from codeplane.code.facts.extract import extractor
from codeplane.code.languages.c.source_repair import blank_macros
from codeplane.code.languages.registry import languages
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import made, texts

pytestmark = requirement("RES-62")


@pytest.mark.parametrize(
    "text",
    [
        "void f() { if LIB_CONSTEXPR17 (sizeof(int) != 1) g(); }",
        "struct A { enum : unsigned { a, b }; };",
        "int f() { return (a & ~b) | (unsigned(size) << c); }",
        "#if __has_include(<version>)\nint a;\n#endif\n",
        "LIB_PRAGMA_CLANG(diagnostic ignored)\nauto& f = g();",
        "struct A { A(char x LIB_BUILTIN) : v(x) {} };",
        "struct A { void (C::*m)(); };",
        "void f() { (f->*m)(); }",
        "void f() { operator++(); }",
        "void f() { if (a) operator()<bool>(value); }",
        "template <typename T, typename P = const T*> P find(P first);",
        "auto f() { return vis(typename B<C>::handle(arg)); }",
        "int f(S, const char* const = nullptr);",
        "void f() { A** list = new A*[n]; }",
        'void f() { printf("%" PRIu64\n "b", x); }',
        "template <typename U> auto has(U* p) -> decltype(made<U, C>().format(*p, *c), std::true_type());",
        "template <typename S, typename V> auto has(int) -> decltype(made<S&>() << made<V>(), std::true_type());",
        "template <typename U> auto has(int) -> decltype(std::text(made<U>()), std::true_type{});",
        "template <typename T, typename if_<is<T>::value>::type * = nullptr> auto &into(T &var) { return var; }",
        "auto f() { return vis( typename B<C>::handle(arg), 0); }",
        "void f() { std::unique_ptr<std::vector<A<C>>, decltype(pop)>\n guard{&data, pop}; }",
        'struct A {\n LIB_DEPRECATED("use g()")\n String f() const;\n};',
        "LIB_ATTRIBUTE_NO_SANITIZE\ninline const std::string& A::f() const { return a; }",
        'template <typename T>\nLIB_VISIBILITY("hidden")  // why\nauto f(T& a) -> const char* { return a; }',
        "struct A { V* operator->() LIB_ATTRIBUTE_BOUND {\n return v; }\n operator V*() const LIB_ATTRIBUTE_BOUND; };",
        "LIB_TYPE_CONSTANT(unsigned long, ulong_type);",
        "struct A {\n LIB_COMPARED( lt, < )\n int a;\n};",
        "void f() { LIB_TRY { a(); } LIB_CATCH(...) { b(); } }",
        "void f() { LIB_TRY { a(); } LIB_CATCH_ALL { b(); } }",
        "struct A { LIB_CONSTEVAL LIB_ALWAYS_INLINE A(const S& s) : str(s) { int a; } };",
        "#define LIB_ASSERT(c) \\\n  ((c) /* fails */ \\\n ? 0 : 1)\nint a;\n",
        "class A\n#if OLD\n    : public B\n#endif\n{\n int a;\n};",
        "template <typename... T>\n#if NEW\nusing text = a<T...>;\n#else\nusing text = b<T...>;\n#endif\n",
        "A::A() : a(1)\n#ifdef X\n , b(2)\n#endif\n , c(3) {}",
        "void Log(const char* f, ...)\n#if defined(__GNUC__)\n __attribute__((x))\n#endif\n;",
        "namespace\n#ifdef X\n std\n#else\n fmt\n#endif\n{ int a; }",
        'void f() {\n#ifdef X\nextern "C" {\n#endif\n int a;\n#ifdef X\n}\n#endif\n}',
    ],
)
def test_what_the_grammar_does_not_know_is_read_without_an_error(text: str) -> None:
    language = languages().of("a.cpp")
    assert language is not None
    assert len(blank_macros(text.encode())) == len(text.encode())
    assert extractor(language).facts(text.encode()).errors == 0


@pytest.mark.parametrize(
    "text",
    [
        "int f(const unsigned LIB_COUNT);",
        "typedef unsigned (*callback)(int);",
        "enum class Kind : unsigned { a };",
        "#if A\nint f();\n#else\nint g();\n#endif\n",
        "enum { a,\n#if X\n b,\n#else\n c,\n#endif\n d };",
    ],
)
def test_what_the_grammar_knows_is_left_as_it_is(text: str) -> None:
    assert blank_macros(text.encode()).decode().replace(" ", "") == text.replace(" ", "")


CHECKED = {
    "lib/base.h": (
        "#define LIB_BEGIN_NAMESPACE namespace lib {\n#define LIB_END_NAMESPACE }\n"
        "#ifdef MODULE\n#define LIB_BEGIN_EXPORT export {\n#define LIB_END_EXPORT }\n"
        "#else\n#define LIB_BEGIN_EXPORT\n#define LIB_END_EXPORT\n#endif\n"
        "LIB_BEGIN_NAMESPACE\n"
        "LIB_BEGIN_EXPORT\nstruct Part { int size; };\nLIB_END_EXPORT\n"
        "int weigh(const Part& part);\n"
        "int swap(int a);\n"
        "LIB_END_NAMESPACE\n"
    ),
    "lib/base.cc": (
        '#include "base.h"\n#include <utility>\n'
        "namespace std { template <> struct hash<lib::Part> {}; }\n"
        "LIB_BEGIN_NAMESPACE\nLIB_BEGIN_EXPORT\nLIB_END_EXPORT\n"
        "int weigh(const Part& part) { int a = 0, b = 0; std::swap(a, b); return swap(part.size); }\n"
        "LIB_END_NAMESPACE\n"
    ),
    "test.cc": (
        '#include "lib/base.h"\n#include <gtest/gtest.h>\n'
        "TEST(part_test, weigh) {\n  lib::Part part;\n  EXPECT_EQ(1, weigh(part));\n}\n"
    ),
}


async def test_a_call_finds_functions_by_its_arguments_and_a_word_of_a_test_is_none(tmp_path: Path) -> None:
    root = made(tmp_path, CHECKED)
    async with asking(root) as ask:
        done = await ask("refactor.rename", symbol="lib/base.h:14:5", new_name="weight", apply=True)
        assert result(done)["status"] == "applied"
    after = texts(root)
    assert "int weight(const Part& part);" in after["lib/base.h"]
    assert "int weight(const Part& part) {" in after["lib/base.cc"]
    assert "EXPECT_EQ(1, weight(part))" in after["test.cc"] and "TEST(part_test, weigh) {" in after["test.cc"]


async def test_names_of_the_standard_library_are_left_though_the_repository_specializes_some(tmp_path: Path) -> None:
    root = made(tmp_path, CHECKED)
    async with asking(root) as ask:
        done = await ask("refactor.rename", symbol="lib/base.h:15:5", new_name="turned", apply=True)
        assert result(done)["status"] == "applied"
    after = texts(root)
    assert "std::swap(a, b); return turned(part.size);" in after["lib/base.cc"]


USED = {
    "lib.h": (
        "#define LIB_BEGIN_DETAIL_NAMESPACE namespace detail {\n#define LIB_END_DETAIL_NAMESPACE }\n"
        "#define LIB_BEGIN_NAMESPACE namespace lib {\n#define LIB_END_NAMESPACE }\n"
        "LIB_BEGIN_NAMESPACE\nnamespace detail { template <typename T> using sink = T*; }\n"
        "LIB_BEGIN_DETAIL_NAMESPACE\n"
        "template <typename T> void fill(T& buf) {\n  using detail::sink;\n  auto out = sink<T>(&buf);\n}\n"
        "LIB_END_DETAIL_NAMESPACE\nLIB_END_NAMESPACE\n"
    ),
}


async def test_a_using_declaration_is_renamed_as_what_it_brings(tmp_path: Path) -> None:
    root = made(tmp_path, USED)
    async with asking(root) as ask:
        done = await ask("refactor.rename", symbol="lib.h:6:48", new_name="target", apply=True)
        assert result(done)["status"] == "applied"
    after = texts(root)["lib.h"]
    assert "  using detail::target;\n" in after and "target<T>(&buf)" in after


def test_a_macro_between_a_template_type_and_a_name_is_left_out() -> None:
    text = b"std::basic_string<wchar_t> LIB_CALL as_wide(int n);\n"
    assert blank_macros(text) == text.replace(b"LIB_CALL", b"        ")
