"""Names of C: declarations that are one symbol, includes, and fields by the declared types of their receivers."""

from pathlib import Path

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-57")

SHAPES = {
    "include/shape.h": (
        "#ifndef SHAPE_H\n"
        "#define API extern\n"
        "typedef struct shape shape_t;\n"
        "struct point { int x, y; };\n"
        "API int (area)(const shape_t *s);\n"
        "int count;\n"
        "#endif\n"
    ),
    "src/shape.c": (
        '#include "shape.h"\n'
        "struct shape { struct point at; struct point corners[4]; union { int w; int h; }; };\n"
        "static int helper(struct point *p) { return p->x; }\n"
        "int area(const shape_t *s) { return s->at.x + s->corners[1].x + s->w + helper(&s->at); }\n"
        "shape_t *make(void) { static shape_t one = { .at = { .x = 1 }, .corners = { { .x = 2 } } }; return &one; }\n"
    ),
    "src/main.c": (
        '#include "shape.h"\n'
        "extern shape_t *make(void);\n"
        "#define TWICE(s) (area(s) * 2)\n"
        "struct other { int x; };\n"
        "int main(void) {\n"
        "    struct other o = { .x = 1 };\n"
        "    struct point list[2] = { { .x = 1 }, [1] = { .x = 3 } };\n"
        "    int area2 = area(make()), count2 = count;\n"
        "    return TWICE(make()) + o.x + list[0].x + ((struct point *)0)->x + area2 + count2;\n"
        "}\n"
    ),
    "tool/tool.c": (
        "#include <math.h>\nstatic int helper(int x) { return x; }\nint tool(int area) { return helper(area); }\n"
    ),
    "tool/other.c": "#include <math.h>\nint unused(void) { struct { int x; } p; return p.x + count; }\n",
}


def test_a_prototype_its_definition_and_its_calls_are_one_symbol(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SHAPES) as repo:
        for query in ("include/shape.h:5:10", "src/shape.c:4:5"):
            assert sorted(repo.uses(query)) == [
                "include/shape.h:5:10",
                "src/main.c:3:19",
                "src/main.c:8:17",
                "src/shape.c:4:5",
            ]
            assert set(repo.uses(query).values()) <= {"PROVEN", "STRONG"}


def test_types_behind_macros_of_a_declaration_are_uses(tmp_path: Path) -> None:
    files = {
        "a.h": "#define local static\n#define EXPORT\ntypedef struct shape shape_t;\n",
        "a.c": '#include "a.h"\nlocal shape_t *first(shape_t *s) {\n    return s;\n}\n'
        "local const shape_t *all[2];\nint EXPORT second(shape_t *s) {\n    return !first(s);\n}\n",
    }
    with written(tmp_path / "repo", files) as repo:
        uses = repo.uses("a.h:3:22")
    assert sorted(uses) == ["a.c:2:22", "a.c:2:7", "a.c:5:13", "a.c:6:19", "a.h:3:22"]
    assert set(uses.values()) <= {"PROVEN", "STRONG"}


def test_a_static_function_is_its_file_s_own(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SHAPES) as repo:
        assert repo.uses("src/shape.c:3:12") == {"src/shape.c:3:12": "PROVEN", "src/shape.c:4:72": "PROVEN"}


def test_a_file_that_does_not_include_a_header_does_not_mean_its_names(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SHAPES) as repo:
        assert repo.uses("include/shape.h:6:5") == {"include/shape.h:6:5": "PROVEN", "src/main.c:8:40": "STRONG"}


def test_what_only_the_linker_joins_is_proposed(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SHAPES) as repo:
        uses = repo.uses("src/shape.c:5:10")
        assert uses["src/shape.c:5:10"] == "PROVEN"
        assert {uses[place] for place in ("src/main.c:2:17", "src/main.c:8:22", "src/main.c:9:18")} == {"ANCHORED"}


def test_a_field_is_that_of_its_receiver_s_declared_type(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SHAPES) as repo:
        assert repo.uses("include/shape.h:4:20") == {
            "include/shape.h:4:20": "PROVEN",
            "src/main.c:7:33": "STRONG",
            "src/main.c:7:51": "STRONG",
            "src/main.c:9:42": "STRONG",
            "src/main.c:9:67": "STRONG",
            "src/shape.c:3:48": "STRONG",
            "src/shape.c:4:43": "STRONG",
            "src/shape.c:4:61": "STRONG",
            "src/shape.c:5:55": "STRONG",
            "src/shape.c:5:80": "STRONG",
        }
        assert repo.uses("src/main.c:4:20") == {
            "src/main.c:4:20": "PROVEN",
            "src/main.c:6:25": "STRONG",
            "src/main.c:9:30": "STRONG",
        }
        assert repo.uses("src/shape.c:2:70") == {"src/shape.c:2:70": "PROVEN", "src/shape.c:4:68": "STRONG"}


def test_an_opaque_type_is_followed_from_its_typedef(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SHAPES) as repo:
        assert set(repo.uses("src/shape.c:2:8")) == {"include/shape.h:3:16", "src/shape.c:2:8"}


TWINS = {
    "posix.h": "int page_size(void);\n#define LIMIT 1\n",
    "win.h": "int page_size(void);\n#define LIMIT 2\n",
    "use.c": (
        '#ifdef _WIN32\n#include "win.h"\n#else\n#include "posix.h"\n#endif\n'
        "int f(void) { return page_size() + LIMIT; }\n"
    ),
}


def test_twins_that_one_file_includes_are_one_symbol(tmp_path: Path) -> None:
    with written(tmp_path / "repo", TWINS) as repo:
        for query in ("posix.h:1:5", "posix.h:2:9"):
            assert len(repo.uses(query)) == 3
            assert set(repo.uses(query).values()) == {"PROVEN", "STRONG"}


BLOCKS = {
    "main.c": (
        "int run(int mode) {\n"
        "#if defined(FAST)\n"
        "    { int step = 1; mode += step; }\n"
        "#else\n"
        "    { int step = 2; mode += step; }\n"
        "#endif\n"
        "    switch (mode) {\n"
        "    case 1: { int step = 3; return step; }\n"
        "    default: { int step = 4; return step; }\n"
        "    }\n"
        "    return 0;\n"
        "}\n"
    )
}


def test_blocks_of_cases_and_of_conditional_code_have_variables_of_their_own(tmp_path: Path) -> None:
    with written(tmp_path / "repo", BLOCKS) as repo:
        for line, first, second in ((3, 11, 29), (5, 11, 29), (8, 19, 36), (9, 20, 37)):
            assert sorted(repo.uses(f"main.c:{line}:{first}")) == [f"main.c:{line}:{first}", f"main.c:{line}:{second}"]
