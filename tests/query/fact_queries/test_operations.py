"""The `facts.` operations through the door: each query of 002 §7.8, bounded, and refused where nothing is."""

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


def items(envelope: JsonObject) -> list[JsonObject]:
    return cast(list[JsonObject], result(envelope)["items"])


def error(envelope: JsonObject) -> str:
    found = envelope["error"]
    assert isinstance(found, dict)
    return str(found["error"])


@requirement("FCT-01")
def test_definitions_by_name_and_id(root: Path) -> None:
    async def body(ask: Ask) -> None:
        both = items(await ask("facts.definitions", name="save"))
        assert [one["qualified_name"] for one in both] == ["shop.cart.ShoppingCart.save", "shop.money.MoneyAmount.save"]
        assert [(one["start_line"], one["start_col"], one["end_line"]) for one in both] == [(25, 5, 26), (6, 5, 7)]
        cut = await ask("facts.definitions", name="save", limit=1)
        assert len(items(cut)) == 1 and "only the first 1 are listed" in str(cut["text"])
        assert items(await ask("facts.definitions", name="save", unit_id="javascript")) == []
        assert items(await ask("facts.definition", def_uid=both[0]["def_uid"])) == both[:1]
        assert error(await ask("facts.definition", def_uid="0" * 16)) == "NOT_FOUND"
        assert error(await ask("facts.definition", def_uid="no id")) == "NOT_FOUND"
        assert error(await ask("facts.definitions", name="save", limit=100_000)) == "INVALID_ARGUMENT"

    with_plane(root, body)


@requirement("FCT-01")
def test_references_by_tier(root: Path) -> None:
    async def body(ask: Ask) -> None:
        (cart,) = items(await ask("facts.definitions", name="ShoppingCart"))
        every = items(await ask("facts.references", def_uid=cart["def_uid"]))
        proven = items(await ask("facts.references", def_uid=cart["def_uid"], tier="PROVEN"))
        assert [(one["path"], one["start_line"], one["role"]) for one in proven] == [("shop/cart.py", 11, "DEFINITION")]
        strong = [one for one in every if one["ref_tier"] == "STRONG"]
        assert len(strong) == len(every) - 1
        assert all(one["certainty"] == "CERTAIN" and one["token_text"] == "ShoppingCart" for one in every)
        used = [one for one in every if one["path"] == "shop/cli.py" and one["role"] == "REFERENCE"]
        assert [(one["start_line"], one["start_col"], one["end_col"]) for one in used] == [(6, 12, 24)]
        assert error(await ask("facts.references", def_uid="f" * 16)) == "NOT_FOUND"

    with_plane(root, body)


@requirement("FCT-01")
def test_scopes_and_what_is_bound_in_them(root: Path) -> None:
    async def body(ask: Ask) -> None:
        scopes = items(await ask("facts.scopes", path="shop/cli.py"))
        assert [one["kind"] for one in scopes] == ["file", "function", "function"]
        assert scopes[0]["parent_scope_id"] is None and scopes[1]["parent_scope_id"] == scopes[0]["scope_id"]
        assert items(await ask("facts.scopes", scope_id=scopes[1]["scope_id"])) == [scopes[1]]
        bound = items(await ask("facts.bindings", scope_id=scopes[0]["scope_id"]))
        kinds = {one["name"]: (one["target_kind"], one["reason_code"]) for one in bound}
        assert kinds["ShoppingCart"] == ("IMPORT", "IMPORT_ALIAS")
        assert kinds["main"] == ("DEF", "DEF_IN_SCOPE")
        (main,) = items(await ask("facts.definitions", name="main"))
        (one,) = items(await ask("facts.bindings", scope_id=scopes[0]["scope_id"], name="main"))
        assert one["target_uid"] == main["def_uid"]
        assert error(await ask("facts.bindings", scope_id=scopes[0]["scope_id"], name="nobody")) == "NOT_FOUND"
        assert error(await ask("facts.bindings", scope_id="nonsense")) == "INVALID_ARGUMENT"
        assert error(await ask("facts.scopes", scope_id="shop/cli.py#scope99")) == "NOT_FOUND"
        assert error(await ask("facts.scopes")) == "INVALID_ARGUMENT"
        assert error(await ask("facts.scopes", path="nowhere.py")) == "NOT_FOUND"

    with_plane(root, body)


DECLARED = {
    "zoo/zoo.go": "package zoo\n\ntype Animal struct{ Name string }\n\nfunc (a Animal) Speak() {}\n\n"
    "const Legs = 4\n\nvar hidden, Shown = 1, 2\n\nfunc feed() {}\n",
    "crate/src/lib.rs": "mod inner;\npub use inner::Cat as Tiger;\npub use inner::*;\nuse inner::Dog;\n"
    "pub(crate) fn feed() {}\npub struct Zoo { pub name: String }\nimpl Zoo { pub fn open(&self) {} }\n"
    "struct Cage;\n#[macro_export]\nmacro_rules! animal { () => {}; }\nmacro_rules! hidden { () => {}; }\n"
    "pub mod tools {\n    pub fn broom() {}\n}\n",
    "crate/src/inner.rs": "pub struct Cat;\npub struct Dog;\n",
    "src/zoo/Zoo.java": "package zoo;\n\npublic class Zoo {\n    public int legs;\n    public class Inner {}\n}\n\n"
    "class Cage {}\n",
}


@requirement("FCT-01")
@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("zoo/zoo.go", ["Animal", "Legs", "Shown"]),
        ("crate/src/lib.rs", ["Zoo", "animal", "tools", "Tiger", "*"]),
        ("src/zoo/Zoo.java", ["Zoo"]),
    ],
)
def test_exports_that_declarations_make(tmp_path: Path, path: str, names: list[str]) -> None:
    async def body(ask: Ask) -> None:
        exports = await ask("facts.exports", path=path)
        found = items(exports)
        assert [one["exported_name"] for one in found] == names
        assert [one["exported_name"] for one in found if one["def_uid"] is None] == [
            name for name in names if name == "*"
        ]
        for one in found[:1]:
            (same,) = items(await ask("facts.definition", def_uid=one["def_uid"]))
            assert same["path"] == path
        surface = result(exports)["surface"]
        assert isinstance(surface, dict) and surface["entry_count"] == len(names)

    with_plane(make_repo(tmp_path / "zoo", DECLARED), body)


@requirement("FCT-01")
def test_imports_and_exports(root: Path) -> None:
    async def body(ask: Ask) -> None:
        imports = items(await ask("facts.imports", path="shop/cart.py"))
        assert [(one["source_literal"], one["imported_name"]) for one in imports] == [
            ("decimal", None),
            ("requests", None),
            ("shop.money", "MoneyAmount"),
        ]
        assert items(await ask("facts.imports", import_uid=imports[2]["import_uid"])) == [imports[2]]
        assert error(await ask("facts.imports", import_uid="shop/cart.py#import77")) == "NOT_FOUND"
        (cart,) = items(await ask("facts.definitions", name="ShoppingCart"))
        exports = await ask("facts.exports", path="shop/__init__.py")
        (given,) = items(exports)
        assert (given["exported_name"], given["def_uid"]) == ("ShoppingCart", cart["def_uid"])
        surface = result(exports)["surface"]
        assert isinstance(surface, dict) and surface["entry_count"] == 1
        assert [one["exported_name"] for one in items(await ask("facts.exports", path="web/"))] == ["drawPage"]
        assert error(await ask("facts.exports", path="nowhere")) == "NOT_FOUND"
        none = str((await ask("facts.exports", path="shop/cart.py"))["text"])
        assert "nothing is exported by name; without __all__" in none
        # A unit goes by a language's own name too, and one that is none is refused.
        for unit, count in (("py", 1), ("python", 1), ("typescript", 0)):
            assert len(items(await ask("facts.definitions", name="ShoppingCart", unit_id=unit))) == count, unit
        assert error(await ask("facts.definitions", name="ShoppingCart", unit_id="pythn")) == "INVALID_ARGUMENT"

    with_plane(root, body)


@requirement("FCT-02")
def test_anchor_groups_have_true_counts_and_few_exemplars(tmp_path: Path) -> None:
    calls = "".join(f"def f{n}(thing):\n    thing.save()\n" for n in range(14))
    files = {**SHOP, "b_many.py": calls, "a_first.py": "def g(thing):\n    return thing.save()\n"}
    root = make_repo(tmp_path / "anchors", files)

    async def body(ask: Ask) -> None:
        groups = items(await ask("facts.anchor_groups", member_token="save"))
        group = max(groups, key=lambda one: cast(int, one["total_count"]))
        assert group["total_count"] == 16
        exemplars = cast(list[JsonObject], group["exemplars"])
        places = [(one["path"], one["start_line"], one["start_col"]) for one in exemplars]
        assert len(places) == 10 and places == sorted(places) and places[0] == ("a_first.py", 2, 18)
        assert group["exemplar_ids"] == [one["ref_id"] for one in exemplars]
        shape = group["receiver_shape"]
        assert items(await ask("facts.anchor_groups", member_token="save", receiver_shape=shape)) == [group]
        listed = items(await ask("facts.anchor_groups"))
        assert group in listed
        assert error(await ask("facts.anchor_groups", receiver_shape="x.")) == "INVALID_ARGUMENT"
        assert error(await ask("facts.anchor_groups", member_token="save", receiver_shape="?!")) == "NOT_FOUND"

    with_plane(root, body)


@requirement("FCT-01")
def test_dynamic_access_and_files_without_facts(root: Path) -> None:
    async def body(ask: Ask) -> None:
        (site,) = items(await ask("facts.dynamic_access"))
        assert (site["path"], site["start_line"], site["pattern_type"]) == ("shop/cart.py", 26, "getattr")
        assert (site["extracted_literals"], site["has_non_literal_key"]) == (["items"], False)
        assert items(await ask("facts.dynamic_access", path="shop")) == [site]
        assert items(await ask("facts.dynamic_access", path="shop/cli.py")) == []
        assert items(await ask("facts.dynamic_access", unit_id="javascript")) == []
        (root / "blob.xyz").write_text("nothing that is known\n")
        await ask("search", query="nothing that is known", fresh="strict")
        assert error(await ask("facts.imports", path="blob.xyz")) == "NOT_FOUND"

    with_plane(root, body)
