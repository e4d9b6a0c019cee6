"""C++ that macros make unreadable for its grammar: specifiers, namespaces, conditions in lists, instantiations."""

from pathlib import Path

import pytest

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import made, texts

pytestmark = requirement("RES-57")

LOG = {
    "lib/config.h": (
        '#define LIB_API __attribute__((visibility("default")))\n'
        "#define LIB_INLINE inline\n"
        "#define LIB_TRY try\n"
        "#define LIB_ENABLE_IF(...) enable_if_t<(__VA_ARGS__), int> = 0\n"
        "#define LIB_BEGIN_NAMESPACE \\\n  namespace lib {           \\\n  inline namespace v1 {\n"
        "#define LIB_END_NAMESPACE \\\n  }                         \\\n  }\n"
    ),
    "lib/log.h": (
        '#include "config.h"\n'
        "LIB_BEGIN_NAMESPACE\n"
        "namespace detail {\n"
        "struct Entry { int level; };\n"
        "template <typename T, LIB_ENABLE_IF(!is_small<T>::value)> int weigh(T t) { return t; }\n"
        "}\n"
        "template <typename F> LIB_API int make(int level);\n"
        "template <typename M> class Sink { void write(const detail::Entry &e); int total_; };\n"
        "LIB_END_NAMESPACE\n"
    ),
    "lib/log-inl.h": (
        '#include "log.h"\n'
        "template <typename M>\n"
        "void LIB_INLINE lib::Sink<M>::write(const detail::Entry &e) {\n"
        "  LIB_TRY { total_ += e.level + detail::weigh(e.level); }\n"
        "}\n"
        "template <typename F> LIB_INLINE int lib::make(int level) { return level; }\n"
    ),
    "lib/log.cc": '#include "log-inl.h"\ntemplate LIB_API int lib::make<long>(int level);\n',
    "app.cc": '#include "lib/log.h"\nint run() { return lib::make<long>(1) + lib::detail::weigh(2); }\n',
}


@pytest.mark.parametrize(
    ("symbol", "uses"),
    [
        ("lib/log.h:7:35", ["app.cc:2:25", "lib/log-inl.h:6:43", "lib/log.cc:2:27", "lib/log.h:7:35"]),
        ("lib/log.h:5:63", ["app.cc:2:54", "lib/log-inl.h:4:41", "lib/log.h:5:63"]),
        ("lib/log.h:4:8", ["lib/log-inl.h:3:51", "lib/log.h:4:8", "lib/log.h:8:61"]),
        ("lib/log.h:4:20", ["lib/log-inl.h:4:25", "lib/log-inl.h:4:49", "lib/log.h:4:20"]),
        ("lib/log.h:8:76", ["lib/log-inl.h:4:13", "lib/log.h:8:76"]),
    ],
)
def test_names_behind_macros_that_are_specifiers_or_namespaces_are_found(
    tmp_path: Path, symbol: str, uses: list[str]
) -> None:
    with written(tmp_path / "repo", LOG) as repo:
        found = repo.uses(symbol)
        assert sorted(found) == uses
        assert set(found.values()) <= {"PROVEN", "STRONG"}


def test_a_name_behind_a_macro_that_reads_like_a_type_is_proposed(tmp_path: Path) -> None:
    files = {
        "log.h": "#define VISIBLE\nnamespace lib {\ntemplate <typename F> std::shared_ptr<F> make(int level);\n}\n",
        "log.cc": '#include "log.h"\ntemplate VISIBLE std::shared_ptr<long> lib::make<long>(int level);\n',
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("log.h:3:42") == {"log.h:3:42": "PROVEN", "log.cc:2:45": "ANCHORED"}


def test_conditions_in_lists_leave_the_rest_of_a_file_readable(tmp_path: Path) -> None:
    files = {
        "limit.cc": (
            "namespace env {\n"
            "class Limiter {\n"
            " public:\n"
            "  Limiter(int most)\n"
            "      :\n"
            "#if !defined(NDEBUG)\n"
            "        most_(most),\n"
            "#endif\n"
            "        left_(most) {}\n"
            "  bool take() { return --left_ > 0; }\n"
            " private:\n"
            "#if !defined(NDEBUG)\n"
            "  const int most_;\n"
            "#endif\n"
            "  int left_;\n"
            "};\n"
            "int use() { Limiter limiter(3); return limiter.take(); }\n"
            "}\n"
        )
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("limit.cc:15:7") == {
            "limit.cc:15:7": "PROVEN",
            "limit.cc:9:9": "PROVEN",
            "limit.cc:10:26": "PROVEN",
        }
        assert repo.uses("limit.cc:10:8") == {"limit.cc:10:8": "PROVEN", "limit.cc:17:48": "STRONG"}


SHOP = {
    "shop.h": (
        "#include <memory>\n#include <vector>\n"
        "namespace shop {\n"
        "namespace detail { struct Item { int price() const; void clear(); }; int tax(int price); }\n"
        "using item_ptr = std::shared_ptr<detail::Item>;\n"
        "enum Level { low, high };\n"
        "#define SHOP_TOP shop::detail::tax(shop::high)  // tax of price\n"
        "struct Cart { std::vector<item_ptr> items; int total(const detail::Item &item); };\n"
        "}\n"
    ),
    "fwd.h": "namespace shop { struct Cart; }\n",
    "cart.cc": (
        '#include "shop.h"\n'
        "#if SHOP_HAS(<price>)\n#endif\n"
        "int shop::Cart::total(const detail::Item &item) {\n"
        "  using detail::tax;\n"
        "  int sum = 0;\n"
        "  for (auto &one : items) sum += one->price() + item.price();\n"
        "  items.clear();\n"
        "  return tax(sum);\n"
        "}\n"
    ),
    "main.cc": '#include "shop.h"\nusing shop::detail::Item;\nint price(Item &item) { return item.price(); }\n',
}


@pytest.mark.parametrize(
    ("symbol", "uses"),
    [
        # A container of pointers by another name; a condition of the preprocessor and a comment name nothing.
        ("shop.h:4:38", ["cart.cc:7:39", "cart.cc:7:54", "main.cc:3:37", "shop.h:4:38"]),
        # What a template of the standard library has is no member of its argument.
        ("shop.h:4:58", ["shop.h:4:58"]),
        # In the text of a macro, by its whole path.
        ("shop.h:4:74", ["cart.cc:5:17", "cart.cc:9:10", "shop.h:4:74", "shop.h:7:32"]),
        ("shop.h:6:19", ["shop.h:6:19", "shop.h:7:42"]),
        # `using a::b::Name`, and the parameters of a method that is defined with its namespace.
        (
            "shop.h:4:27",
            ["cart.cc:4:37", "main.cc:2:21", "main.cc:3:11", "shop.h:4:27", "shop.h:5:42", "shop.h:8:68"],
        ),
        # A declaration before, in a file that sees no other.
        ("shop.h:8:8", ["cart.cc:4:11", "fwd.h:1:25", "shop.h:8:8"]),
    ],
)
def test_names_are_looked_for_as_the_language_does(tmp_path: Path, symbol: str, uses: list[str]) -> None:
    with written(tmp_path / "repo", SHOP) as repo:
        found = repo.uses(symbol)
        assert sorted(found) == uses
        assert set(found.values()) <= {"PROVEN", "STRONG"}


CACHE = {
    "cache.h": (
        "namespace lib {\n"
        "template <typename T> struct cache;\n"
        "template <> struct cache<float> { struct result { int all; }; static result get(); };\n"
        "template <> struct cache<double> { struct result { int all; }; static result get(); };\n"
        "template <typename T> int read() { typename cache<T>::result r = cache<T>::get(); return r.all; }\n"
        "template <typename T> struct shape { int size; };\n"
        "}\n"
    ),
    "user.h": (
        '#include "cache.h"\n'
        "namespace\n#ifdef USE_STD\n    std\n#else\n    lib\n#endif\n{\n"
        "template <typename T> struct shape<T*> { int depth; };\n}\n"
    ),
}


async def test_what_specializations_have_is_renamed_in_all_of_them(tmp_path: Path) -> None:
    root = made(tmp_path, CACHE)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="cache.h:3:42", new_name="product", apply=True))
        assert done["status"] == "applied", done
    assert texts(root)["cache.h"] == CACHE["cache.h"].replace("result", "product")


async def test_a_specialization_in_a_namespace_that_is_not_readable_is_asked_about(tmp_path: Path) -> None:
    root = made(tmp_path, CACHE)
    async with asking(root) as ask:
        for symbol in ("cache.h:6:30", "user.h:9:30"):
            plan = result(await ask("refactor.rename", symbol=symbol, new_name="form", apply=True))
            assert plan["status"] != "applied", plan
    assert texts(root) == CACHE


OWN_MACROS = {
    "text.hpp": (
        "#ifndef LIB_CLASS\n#define LIB_CLASS\n#endif\n"
        "#if __cplusplus >= 201703L\n#define LIB_VARIABLE inline\n#else\n#define LIB_VARIABLE // old\n#endif\n"
        "#define LIB_CALL LIB_CLASS\n"
        "namespace lib {\n"
        "LIB_VARIABLE const unsigned int flags = 1;\n"
        "class LIB_CLASS Text { public: bool as_bool(bool def = false) const; int size_; };\n"
        "bool LIB_CALL operator!(const Text &text);\n"
        "}\n"
    ),
    "text.cpp": (
        '#include "text.hpp"\n'
        "#ifdef LIB_INLINE_ALL\n#define LIB_NS_BEGIN namespace lib { namespace impl {\n"
        "#define LIB_NS_END } }\n#define LIB_FN inline\n"
        "#else\n#define LIB_NS_BEGIN namespace lib { namespace impl { namespace {\n"
        "#define LIB_NS_END } } }\n#define LIB_FN\n"
        "#endif\n"
        "LIB_NS_BEGIN\n\tLIB_FN unsigned weigh(unsigned level) { return level; }\nLIB_NS_END\n"
        "namespace lib\n{\n"
        "\tLIB_FN bool Text::as_bool(bool def) const { return def && size_ > impl::weigh(flags); }\n"
        "\tLIB_FN bool LIB_CALL operator!(const Text &text) { return !text.as_bool(); }\n"
        "}\n"
    ),
}


@pytest.mark.parametrize(
    ("symbol", "uses"),
    [
        ("text.hpp:12:37", ["text.cpp:16:20", "text.cpp:17:66", "text.hpp:12:37"]),
        ("text.hpp:12:74", ["text.cpp:16:60", "text.hpp:12:74"]),
        ("text.hpp:11:33", ["text.cpp:16:80", "text.hpp:11:33"]),
        ("text.cpp:12:18", ["text.cpp:12:18", "text.cpp:16:74"]),
        ("text.hpp:12:17", ["text.cpp:16:14", "text.cpp:17:39", "text.hpp:12:17", "text.hpp:13:31"]),
    ],
)
def test_macros_that_a_file_defines_as_specifiers_leave_the_rest_readable(
    tmp_path: Path, symbol: str, uses: list[str]
) -> None:
    with written(tmp_path / "repo", OWN_MACROS) as repo:
        found = repo.uses(symbol)
        assert sorted(found) == uses
        assert set(found.values()) <= {"PROVEN", "STRONG"}


def test_a_macro_that_means_something_in_one_branch_is_left_as_it_is(tmp_path: Path) -> None:
    files = {
        "a.cpp": (
            "#ifdef A\n#define GUARD if (ready())\n#else\n#define GUARD\n#endif\n"
            "bool ready();\nvoid all() { GUARD { ready(); } }\n"
        )
    }
    with written(tmp_path / "repo", files) as repo:
        assert sorted(repo.uses("a.cpp:6:6")) == ["a.cpp:2:19", "a.cpp:6:6", "a.cpp:7:22"]


def test_a_macro_of_another_file_between_a_template_and_a_name_is_none_of_both(tmp_path: Path) -> None:
    files = {
        "wide.hpp": "#define LIB_CALL\nnamespace lib {\nstd::basic_string<wchar_t> LIB_CALL as_wide(int n);\n}\n",
        "wide.cpp": (
            '#include "wide.hpp"\nnamespace lib {\n'
            "\tstd::basic_string<wchar_t> LIB_CALL as_wide(int n) { return as_wide(n); }\n}\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        found = repo.uses("wide.hpp:3:37")
        assert sorted(found) == ["wide.cpp:3:38", "wide.cpp:3:62", "wide.hpp:3:37"]
        assert set(found.values()) <= {"PROVEN", "STRONG"}


@pytest.mark.parametrize(
    "meaning", ["if (ready())", "if (level == 1 && (ready()))", "while (ready())", "if (0) ; else"]
)
def test_a_call_behind_a_macro_that_is_a_condition_is_a_use(tmp_path: Path, meaning: str) -> None:
    files = {
        "a.cpp": (
            f"#ifdef A\n#define GUARD {meaning}\n#else\n#define GUARD\n#endif\n"
            "bool ready();\nvoid run();\nint level;\nvoid all() {\n  GUARD run();\n}\n"
        )
    }
    with written(tmp_path / "repo", files) as repo:
        assert "a.cpp:10:9" in repo.uses("a.cpp:7:6")


async def test_the_definition_of_a_method_in_a_namespace_that_cannot_be_read_is_asked_about(tmp_path: Path) -> None:
    files = {
        "macros.h": "#define OPENING namespace hidden {\n#define CLOSING }\n",
        "text.h": "namespace lib {\nclass Text { public: bool as_bool(bool def) const; };\n}\n",
        "text.cpp": (
            '#include "macros.h"\n#include "text.h"\nOPENING\nstruct auto_deleter { int x; };\nCLOSING\n'
            "OPENING namespace lib\n{\n"
            "OPENING bool Text::as_bool(bool def) const { return def; }\n"
            "}\n"
        ),
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        found = result(await ask("refactor.rename", symbol="text.h:2:27", new_name="as_flag", apply=True))
        assert found["status"] != "applied" or "as_flag" in texts(root)["text.cpp"]
