"""Renames of Java through the operations: applied when they are complete, with what has to keep one name."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import failed, made, texts

SHAPES = {
    "src/a/Shape.java": (
        "package a;\n\npublic interface Shape {\n    /** The area, see {@link Shape#area}. */\n    int area();\n"
        "    Shape UNIT = new Shape() {\n        @Override\n        public int area() {\n            return 1;\n"
        "        }\n    };\n}\n"
    ),
    "src/a/Square.java": (
        "package a;\n\nclass Base {\n    public int area() {\n        return 2;\n    }\n}\n\n"
        "class Square extends Base implements Shape {\n}\n"
    ),
    "src/b/Kinds.java": (
        "package b;\n\nimport a.Shape;\n\nenum Kinds implements Shape {\n    SMALL {\n        @Override\n"
        "        public int area() {\n            return 3;\n        }\n    },\n    BIG {\n        @Override\n"
        "        public int area() {\n            return SMALL.area();\n        }\n    };\n\n"
        "    Shape same = () -> 4;\n}\n"
    ),
    "src/b/Plot.java": (
        "package b;\n\nimport a.Shape;\n\nrecord Plot(int area, Other other) implements Shape {\n"
        "    int twice() {\n        return area + area() + other.area();\n    }\n}\n\n"
        "class Other {\n    int area;\n\n    int area() {\n        return area;\n    }\n}\n"
    ),
}


@requirement("REF-42")
async def test_every_implementation_is_renamed_with_the_method_of_an_interface(tmp_path: Path) -> None:
    root = made(tmp_path, SHAPES)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="src/a/Shape.java:5:9", new_name="size", apply=True))
        assert done["status"] == "applied", done
    now = texts(root)
    assert now["src/a/Shape.java"].count("area()") == 0
    assert "public int size() {" in now["src/a/Square.java"]
    assert now["src/b/Kinds.java"] == SHAPES["src/b/Kinds.java"].replace("area", "size")
    assert now["src/b/Plot.java"] == SHAPES["src/b/Plot.java"].replace("int area, Other", "int size, Other").replace(
        "return area + area() + other", "return size + size() + other"
    )


@requirement("REF-42")
async def test_a_type_and_its_file_have_one_name(tmp_path: Path) -> None:
    root = made(tmp_path, SHAPES)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="src/a/Shape.java:3:18", new_name="Form", apply=True))
        assert done["status"] == "applied", done
        now = texts(root)
        assert "src/a/Shape.java" not in now
        assert "public interface Form {" in now["src/a/Form.java"]
        assert "import a.Form;" in now["src/b/Plot.java"]
        await ask("undo")
        assert texts(root) == SHAPES
        assert failed(await ask("refactor.rename", symbol="src/a/Shape.java:3:18", new_name="Square")) == "NAME_TAKEN"


OUTSIDE = {
    "A.java": (
        "class A implements Runnable, java.util.function.Something {\n    public void run() {\n    }\n\n"
        '    public String toString() {\n        return "";\n    }\n\n    public void maybe() {\n    }\n\n'
        "    void own() {\n        run();\n        own();\n    }\n}\n"
    ),
    "B.java": (
        "import lib.Thing;\n\nclass B extends Thing {\n    @Override\n    void kept() {\n    }\n\n    void fresh() {\n"
        "        fresh();\n    }\n}\n"
    ),
}


@requirement("REF-40")
@pytest.mark.parametrize(
    ("place", "status"),
    [
        ("A.java:2:17", "previewed"),
        ("A.java:5:19", "previewed"),
        ("A.java:9:17", "previewed"),
        ("B.java:5:10", "previewed"),
        ("B.java:8:10", "applied"),
    ],
)
async def test_a_method_that_a_type_from_outside_asks_for_is_a_question(
    place: str, status: str, tmp_path: Path
) -> None:
    async with asking(made(tmp_path, OUTSIDE)) as ask:
        done = result(await ask("refactor.rename", symbol=place, new_name="other", apply=True))
        assert done["status"] == status


@requirement("REF-42")
async def test_a_method_and_a_field_of_one_name_are_renamed_and_deleted_apart(tmp_path: Path) -> None:
    files = {
        "A.java": "class A {\n    int size;\n\n    int size() {\n        return size;\n    }\n\n    int unused() {\n"
        "        return size();\n    }\n\n    int unused;\n}\n"
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="A.java:4:9", new_name="count", apply=True))
        assert done["status"] == "applied"
        assert texts(root)["A.java"] == files["A.java"].replace("size()", "count()")
        assert result(await ask("refactor.delete", target="A.java:12:9", apply=True))["status"] == "applied"
        assert "int unused() {" in texts(root)["A.java"] and "int unused;" not in texts(root)["A.java"]


@requirement("REF-42")
async def test_a_method_may_take_the_name_of_a_field_but_not_of_another_method(tmp_path: Path) -> None:
    files = {
        "A.java": "class A {\n    private int count;\n\n    private int size() {\n        return count;\n    }\n\n"
        "    public int total() {\n        return size();\n    }\n}\n"
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        assert failed(await ask("refactor.rename", symbol="A.size", new_name="total")) == "NAME_TAKEN"
        done = result(await ask("refactor.rename", symbol="A.java:4:17", new_name="count", apply=True))
        assert done["status"] == "applied"
        assert texts(root)["A.java"] == files["A.java"].replace("size()", "count()")
        assert "public_api" not in cast(JsonObject, cast(JsonObject, done["manifest"])["risk_kinds"])
        shown = result(await ask("refactor.rename", symbol="A.total", new_name="sum"))
        assert "public_api" in cast(JsonObject, cast(JsonObject, shown["manifest"])["risk_kinds"])


RECORD = {
    "Point.java": (
        "record Point(int x, int y) {\n    Point(int x, int y) {\n        this.x = Math.abs(x);\n        this.y = y;\n"
        "    }\n\n    Point(int x) {\n        this(x, 0);\n    }\n}\n"
    ),
    "Plot.java": "class Plot {\n    int at(Point point) {\n        return point.x();\n    }\n}\n",
}


@requirement("REF-42")
@pytest.mark.parametrize("place", ["Point.java:1:18", "Point.java:2:15"])
async def test_a_component_and_the_parameter_of_the_canonical_constructor_are_one(place: str, tmp_path: Path) -> None:
    root = made(tmp_path, RECORD)
    async with asking(root) as ask:
        assert result(await ask("refactor.rename", symbol=place, new_name="left", apply=True))["status"] == "applied"
    now = texts(root)
    assert now["Plot.java"] == RECORD["Plot.java"].replace("point.x()", "point.left()")
    assert now["Point.java"] == (
        RECORD["Point.java"]
        .replace("int x, int y", "int left, int y")
        .replace("this.x = Math.abs(x)", "this.left = Math.abs(left)")
    )


@requirement("REF-42")
async def test_the_parameter_of_another_constructor_is_its_own(tmp_path: Path) -> None:
    root = made(tmp_path, RECORD)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="Point.java:7:15", new_name="left", apply=True))
        assert done["status"] == "applied"
    assert texts(root) == RECORD | {
        "Point.java": RECORD["Point.java"].replace(
            "Point(int x) {\n        this(x, 0)", "Point(int left) {\n        this(left, 0)"
        )
    }


GENERATED = {
    "User.java": "import lombok.Data;\n\n@Data\npublic class User {\n    private String name;\n    private int age;\n"
    "    private static int count;\n}\n",
    "Login.java": "class Login {\n    String of(User user) {\n        return user.getName();\n    }\n}\n",
    "Order.java": "import lombok.Builder;\n\n@Builder\nclass Order {\n    int amount;\n}\n",
    "Animal.java": "import com.google.auto.value.AutoValue;\n\n@AutoValue\nabstract class Animal {\n"
    "    abstract String label();\n\n    String twice() {\n        return label() + label();\n    }\n}\n",
}


@requirement("REF-40")
@pytest.mark.parametrize(
    ("place", "status"),
    [
        ("User.java:5:20", "previewed"),
        ("User.java:6:17", "applied"),
        ("User.java:7:24", "applied"),
        ("Order.java:5:9", "previewed"),
        ("Animal.java:5:21", "previewed"),
        ("Animal.java:7:12", "applied"),
    ],
)
async def test_a_member_from_which_code_is_generated_is_a_question(place: str, status: str, tmp_path: Path) -> None:
    root = made(tmp_path, GENERATED)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol=place, new_name="other", apply=True))
        assert done["status"] == status
        if status == "previewed":
            assert failed(await ask("refactor.delete", target=place, apply=True)) == "STILL_USED"


TAKEN = {
    "A.java": "package p;\n\nclass A {\n    protected int size;\n\n    void go() {\n    }\n}\n",
    "B.java": "package p;\n\nimport java.util.List;\n\nclass B extends A {\n    List<A> all;\n    String text;\n\n"
    "    int of(int count) {\n        return size + count;\n    }\n\n    void run() {\n"
    "        new Object() {\n            void halt() {\n                go();\n            }\n        };\n    }\n}\n",
}


@requirement("REF-06")
@pytest.mark.parametrize(
    ("place", "new"),
    [
        ("A.java:4:19", "count"),
        ("A.java:6:10", "halt"),
        ("A.java:3:7", "List"),
        ("A.java:3:7", "String"),
    ],
)
async def test_a_name_that_means_something_else_where_it_is_used_is_taken(place: str, new: str, tmp_path: Path) -> None:
    root = made(tmp_path, TAKEN)
    async with asking(root) as ask:
        assert failed(await ask("refactor.rename", symbol=place, new_name=new, apply=True)) == "NAME_TAKEN"
    assert texts(root) == TAKEN
