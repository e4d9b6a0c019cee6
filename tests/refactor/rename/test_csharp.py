"""Renames and deletes of C# through the operations: complete, or a question."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import failed, made, texts

SHAPES = {
    "IShape.cs": "namespace Shapes\n{\n    public interface IShape\n    {\n        int Area();\n    }\n}\n",
    "Square.cs": "namespace Shapes\n{\n    public partial class Square : Base, IShape\n    {\n"
    "        int IShape.Area()\n        {\n            return this.Area() + Sum(count: 2);\n        }\n    }\n}\n",
    "Square.Size.cs": "namespace Shapes\n{\n    public partial class Square\n    {\n"
    "        public override int Area()\n        {\n            return base.Area();\n        }\n\n"
    "        private int Sum(int count)\n        {\n            return count;\n        }\n    }\n}\n",
    "Base.cs": "namespace Shapes\n{\n    public class Base\n    {\n        public virtual int Area()\n        {\n"
    "            return 1;\n        }\n    }\n}\n",
    "Plot.cs": "using Shapes;\n\nclass Plot\n{\n    int Of(IShape shape, Square square, Other other)\n    {\n"
    "        return shape.Area() + square.Area() + other.Area();\n    }\n}\n\n"
    "class Other\n{\n    public int Area()\n    {\n        return 2;\n    }\n}\n",
}


@requirement("REF-42")
async def test_a_method_is_renamed_with_what_it_implements_and_overrides(tmp_path: Path) -> None:
    root = made(tmp_path, SHAPES)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="IShape.cs:5:13", new_name="Size", apply=True))
        assert done["status"] == "applied", done
    now = texts(root)
    assert now["Plot.cs"] == SHAPES["Plot.cs"].replace("shape.Area", "shape.Size").replace("square.Area", "square.Size")
    assert not any("Area" in now[path] for path in now if path != "Plot.cs")


@requirement("REF-42")
async def test_the_parts_of_a_type_and_the_names_of_arguments_are_renamed_together(tmp_path: Path) -> None:
    root = made(tmp_path, SHAPES)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="Square.cs:3:26", new_name="Quad", apply=True))
        assert done["status"] == "applied", done
        assert "partial class Quad" in texts(root)["Square.Size.cs"] and "Quad square" in texts(root)["Plot.cs"]
        done = result(await ask("refactor.rename", symbol="Square.Size.cs:10:29", new_name="total", apply=True))
        assert done["status"] == "applied", done
        assert "Sum(total: 2)" in texts(root)["Square.cs"]


OUTSIDE = {
    "A.cs": "using System;\n\npublic class MarkAttribute : Attribute\n{\n}\n\n[Mark]\n"
    "public class A : IDisposable, IUnknown\n{\n    public void Dispose()\n    {\n    }\n\n"
    '    public override string ToString()\n    {\n        return "";\n    }\n\n'
    "    public void Maybe()\n    {\n    }\n\n"
    "    void Own()\n    {\n        Own();\n    }\n\n    private int spare;\n}\n",
}


@requirement("REF-40")
@pytest.mark.parametrize(
    ("place", "status"),
    [
        ("A.cs:3:14", "previewed"),
        ("A.cs:10:17", "previewed"),
        ("A.cs:14:28", "previewed"),
        ("A.cs:19:17", "previewed"),
        ("A.cs:23:10", "applied"),
    ],
)
async def test_what_a_type_from_outside_or_an_attribute_asks_for_is_a_question(
    place: str, status: str, tmp_path: Path
) -> None:
    async with asking(made(tmp_path, OUTSIDE)) as ask:
        done = result(await ask("refactor.rename", symbol=place, new_name="Other", apply=True))
        assert done["status"] == status
        if status == "previewed":
            assert failed(await ask("refactor.delete", target=place, apply=True)) == "STILL_USED"
        else:
            assert result(await ask("refactor.delete", target="A.cs:28:17", apply=True))["status"] == "applied"


TAKEN = {
    "A.cs": "namespace P\n{\n    class A\n    {\n        protected int size;\n    }\n}\n",
    "B.cs": "using P;\n\nnamespace Q\n{\n    class B : A\n    {\n        A other;\n\n        int Of(int count)\n"
    "        {\n            return size + count;\n        }\n\n        class Inner\n        {\n        }\n    }\n}\n",
}


@requirement("REF-06")
@pytest.mark.parametrize(("place", "new"), [("A.cs:5:23", "count"), ("A.cs:3:11", "Inner")])
async def test_a_name_that_means_something_else_where_it_is_used_is_taken(place: str, new: str, tmp_path: Path) -> None:
    root = made(tmp_path, TAKEN)
    async with asking(root) as ask:
        assert failed(await ask("refactor.rename", symbol=place, new_name=new, apply=True)) == "NAME_TAKEN"
    assert texts(root) == TAKEN


ALIASED = {
    "Row.cs": (
        "namespace Lib.Data {\n    struct Row<T1, T2> { internal T1 Col1; }\n"
        "    struct Row<T1, T2, T3> { internal T1 Col1; internal T3 Col3; }\n}\n"
    ),
    "Table.cs": (
        "using Lib.Data;\nnamespace Lib {\n    using Text = System.UInt32;\n    using WideRow = Row<int, Text, Text>;\n"
        "    abstract class Table<TRow> where TRow : struct { internal TRow [] rows = new TRow [2]; }\n"
        "    sealed class Wide : Table<WideRow> { Text Sum () { return rows [1].Col3; } }\n}\n"
    ),
}


@requirement("REF-40")
async def test_an_alias_in_a_namespace_is_read_by_what_is_known_there(tmp_path: Path) -> None:
    root = made(tmp_path, ALIASED)
    async with asking(root) as ask:
        done = await ask("refactor.rename", symbol="Row.cs:3:60", new_name="Third", apply=True)
        assert result(done)["status"] == "applied"
    after = texts(root)
    assert "internal T3 Third;" in after["Row.cs"] and "rows [1].Third" in after["Table.cs"]


@requirement("REF-42")
async def test_a_type_parameter_is_renamed_in_all_parts_of_its_type(tmp_path: Path) -> None:
    files = {
        "A.cs": "namespace S\n{\n    public partial class Box<TItem> { TItem first; }\n}\n",
        "B.cs": "namespace S\n{\n    public partial class Box<TItem> where TItem : class { TItem second; }\n}\n",
        "C.cs": "namespace S\n{\n    public class Box<TItem, TOther> { TItem third; }\n}\n",
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="A.cs:3:30", new_name="T", apply=True))
        assert done["status"] == "applied", done
    wanted = {path: text.replace("TItem", "T") if path != "C.cs" else text for path, text in files.items()}
    assert texts(root) == wanted
