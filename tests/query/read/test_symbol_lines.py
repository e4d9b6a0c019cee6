"""`read_files` by symbol and by id, beside paths."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.shop import SHOP


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", SHOP)


def files(envelope: JsonObject) -> list[JsonObject]:
    return cast(list[JsonObject], result(envelope)["files"])


@requirement("RDF-10")
def test_a_definition_is_read_by_name_and_by_id(root: Path) -> None:
    async def body(ask: Ask) -> None:
        (found,) = files(await ask("read_files", paths="symbol:ShoppingCart.grand_total"))
        assert (found["path"], found["start"], found["end"]) == ("shop/cart.py", 20, 23)
        assert str(found["content"]).startswith("    @property\n    def grand_total(self):\n")
        explained = result(await ask("explain_symbol", symbol="ShoppingCart.grand_total"))["explanation"]
        assert isinstance(explained, dict)
        both = files(await ask("read_files", paths=[explained["id"], "README.md"]))
        assert both[0]["content"] == found["content"] and both[1]["content"] == "# Shop\n"
        # What was edited since is read as it is.
        (root / "shop/cart.py").write_text("\n\n" + SHOP["shop/cart.py"])
        (moved,) = files(await ask("read_files", paths="symbol:ShoppingCart.grand_total"))
        assert (moved["start"], moved["content"]) == (22, found["content"])

    with_plane(root, body)


@requirement("RDF-10")
def test_a_name_that_several_have_lists_them(root: Path) -> None:
    async def body(ask: Ask) -> None:
        several, readme = files(await ask("read_files", paths=["symbol:save", "README.md"]))
        assert several["content"] == "" and readme["content"] == "# Shop\n"
        for part in ("2 definitions", "ShoppingCart.save shop/cart.py:25", "MoneyAmount.save shop/money.py:6"):
            assert part in str(several["error"])
        alone = (await ask("read_files", paths="symbol:save"))["error"]
        assert isinstance(alone, dict) and alone["error"] == "INVALID_ARGUMENT"
        assert "shop/money.py:6" in str(alone["message"])

    with_plane(root, body)


@requirement("RDF-10")
def test_a_few_of_a_name_in_a_file_that_is_named_are_all_read(tmp_path: Path) -> None:
    few = "class {0}:\n    def save(self):\n        return '{0}'\n\n\n"
    shop = {
        "a.py": few.format("A") + few.format("B"),
        "b.py": "".join(
            few.format(name).replace("        return", "        print()\n" * 40 + "        return") for name in "ABCD"
        ),
        "c.py": few.format("C"),
    }
    root = make_repo(tmp_path / "repo", shop)

    async def body(ask: Ask) -> None:
        both = files(await ask("read_files", paths="symbol:a.py:save"))
        assert [(found["path"], found["start"], found["end"]) for found in both] == [("a.py", 2, 3), ("a.py", 7, 8)]
        (alone,) = files(await ask("read_files", paths="symbol:c.py:save"))
        assert alone["content"] == "    def save(self):\n        return 'C'\n"
        many = (await ask("read_files", paths="symbol:b.py:save"))["error"]
        assert isinstance(many, dict) and "4 definitions" in str(many["message"])

    with_plane(root, body)


@requirement("RDF-10")
def test_overloads_are_read_together(tmp_path: Path) -> None:
    java = (
        "class Writer {\n  void emit(String a) {\n    emit(a, 1);\n  }\n\n  int size;\n\n"
        "  void emit(String a, int b) {\n    size += b;\n  }\n}\n"
    )
    typescript = (
        "function use(): number\nfunction use(a: string): string\nfunction use(a?: string) {\n  return a ?? 1\n}\n"
    )
    root = make_repo(tmp_path / "repo", {"Writer.java": java, "use.ts": typescript})

    async def body(ask: Ask) -> None:
        first, second = files(await ask("read_files", paths="symbol:Writer.java:emit"))
        assert (first["start"], first["end"], second["start"], second["end"]) == (2, 4, 8, 10)
        (whole,) = files(await ask("read_files", paths="symbol:use.ts:use"))
        assert whole["content"] == typescript

    with_plane(root, body)


@requirement("RDF-10")
def test_a_long_class_is_read_without_the_bodies_of_its_methods(tmp_path: Path) -> None:
    method = "    def m{0}(\n        self,\n    ):\n" + "        self.x += {0}\n" * 20 + "\n"
    python = "class Long:\n    limit = 3\n\n" + "".join(map(method.format, range(8))) + "    last = 4\n"
    java = "class Long {\n  int x;\n" + "  void m() {\n" + "    x += 1;\n" * 170 + "  }\n\n  int y;\n}\n"
    root = make_repo(
        tmp_path / "repo", {"a.py": python, "A.java": java, "b.py": python.replace("Long", "Whole")[:2000]}
    )

    async def body(ask: Ask) -> None:
        envelope = await ask("read_files", paths="symbol:a.py:Long")
        (found,) = files(envelope)
        content = str(found["content"])
        assert (found["start"], found["left_out"], found["truncated"]) == (1, 160, True)
        assert content.startswith(
            "class Long:\n    limit = 3\n\n    def m0(\n        self,\n    ):\n        … 7-26\n\n"
        )
        assert content.endswith("    last = 4\n") and "self.x" not in content
        assert ", 160 lines left out\nclass Long:" in str(envelope["text"])
        # The numbers are those to read.
        (part,) = files(await ask("read_files", paths="a.py:7-26"))
        assert part["content"] == "        self.x += 0\n" * 20
        (braced,) = files(await ask("read_files", paths="symbol:A.java:Long"))
        assert braced["content"] == "class Long {\n  int x;\n  void m() {\n    … 4-173\n  }\n\n  int y;\n}\n"
        (whole,) = files(await ask("read_files", paths="symbol:b.py:Whole"))
        assert whole["left_out"] == 0 and "self.x" in str(whole["content"])

    with_plane(root, body)


@requirement("RDF-10")
def test_a_long_function_is_read_by_its_beginning_with_what_opens_in_the_rest(tmp_path: Path) -> None:
    block = "    if stage == {0}:\n        a()\n" + "        b()\n" * 38
    python = "def work(stage):\n" + "".join(map(block.format, range(6))) + "    return stage\n"
    root = make_repo(tmp_path / "repo", {"a.py": python, "b.py": python[: python.index("    if stage == 3")]})

    async def body(ask: Ask) -> None:
        envelope = await ask("read_files", paths="symbol:a.py:work")
        (found,) = files(envelope)
        lines = python.splitlines(keepends=True)
        assert (found["start"], found["end"], found["truncated"]) == (1, 100, True)
        assert found["content"] == "".join(lines[:100]) and found["next_range"] == "a.py:101-242"
        opening = "".join(f"\n  {line}: if stage == {stage}:" for line, stage in ((122, 3), (162, 4), (202, 5)))
        assert str(envelope["text"]).endswith(f"== truncated; next: a.py:101-242, with{opening}")
        (rest,) = files(await ask("read_files", paths="a.py:101-242"))
        assert rest["content"] == "".join(lines[100:])
        (whole,) = files(await ask("read_files", paths="symbol:b.py:work"))
        assert whole["end"] == 121 and not whole["truncated"]

    with_plane(root, body)


@requirement("RDF-10")
def test_of_long_comments_in_a_long_class_the_beginning_is_read(tmp_path: Path) -> None:
    comment = "  /**\n   * Says {0}.\n" + "   * More of it.\n" * 8 + "   */\n"
    method = "  void m{0}() {{\n" + "    x += {0};\n" * 20 + "  }}\n\n"
    java = "class Long {\n" + "".join((comment + method).format(number) for number in range(6)) + "}\n"
    docstring = '    """Say what it is.\n\n' + "    More of it.\n" * 8 + '    """\n\n'
    python = "class Long:\n" + docstring + '    text = """\n' + "    kept\n" * 8 + '    """\n\n'
    python += "".join(f"    def m{number}(self):\n" + "        self.x()\n" * 30 + "\n" for number in range(5))
    root = make_repo(tmp_path / "repo", {"A.java": java, "a.py": python})

    async def body(ask: Ask) -> None:
        (found,) = files(await ask("read_files", paths="symbol:A.java:Long"))
        assert str(found["content"]).startswith(
            "class Long {\n  /**\n   * Says 0.\n   … 4-11\n   */\n  void m0() {\n    … 14-33\n  }\n\n"
        )
        assert found["left_out"] == 6 * 28 and str(found["content"]).endswith("  }\n\n}\n")
        (found,) = files(await ask("read_files", paths="symbol:a.py:Long"))
        head = 'class Long:\n    """Say what it is.\n\n    … 4-11\n    """\n\n    text = """\n' + "    kept\n" * 8
        assert str(found["content"]).startswith(head + '    """\n\n    def m0(self):\n        … ')

    with_plane(root, body)


@requirement("RDF-10")
def test_names_that_lead_nowhere_and_files_called_like_an_id(root: Path) -> None:
    async def body(ask: Ask) -> None:
        for path, name in (
            ("symbol:ShopingCart", "NOT_FOUND"),
            ("f" * 16, "NOT_FOUND"),
            ("symbol:", "INVALID_ARGUMENT"),
        ):
            error = (await ask("read_files", paths=path))["error"]
            assert isinstance(error, dict) and error["error"] == name, path
        missing, _ = files(await ask("read_files", paths=["symbol:ShopingCart", "README.md"]))
        assert "did you mean ShoppingCart" in str(missing["error"])
        (root / ("a" * 16)).write_text("a file after all\n")
        (found,) = files(await ask("read_files", paths="a" * 16))
        assert found["content"] == "a file after all\n"

    with_plane(root, body)
