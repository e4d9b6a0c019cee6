"""`folder.make_up` and `symbol.most_used`: what a picture of the repository is drawn from."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.shop import SHOP

pytestmark = requirement("MAP-02")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", {**SHOP, "web/cart.ts": "export const one = 1;\n", "logo.bin": "\0" * 50})


def listed(found: JsonObject, name: str) -> list[JsonObject]:
    return cast(list[JsonObject], found[name])


def test_a_folder_is_told_by_size_and_language(root: Path) -> None:
    async def body(ask: Ask) -> None:
        whole = result(await ask("folder.make_up"))
        parts = {str(one["path"]): one for one in listed(whole, "parts")}
        sizes = [int(str(one["size_bytes"])) for one in parts.values()]
        assert sizes == sorted(sizes, reverse=True) and sum(sizes) == whole["size_bytes"]
        assert sum(int(str(one["files"])) for one in parts.values()) == whole["files"] == len(SHOP) + 2
        assert parts["shop"]["is_dir"] is True and parts["logo.bin"]["is_dir"] is False
        assert list(cast(JsonObject, parts["web"]["languages"])) == ["typescript"]
        assert cast(JsonObject, parts["logo.bin"]["languages"]) == {"other": 50}
        assert sum(int(str(one)) for one in cast(JsonObject, whole["languages"]).values()) == whole["size_bytes"]
        inside = result(await ask("folder.make_up", folder="shop/"))
        assert {str(one["path"]).partition("/")[0] for one in listed(inside, "parts")} == {"shop"}
        few = result(await ask("folder.make_up", limit=1))
        assert len(listed(few, "parts")) == 1 and few["left_out"] == len(parts) - 1
        assert result(await ask("folder.make_up", folder="nothing"))["files"] == 0
        refused = await ask("folder.make_up", folder="../elsewhere")
        assert cast(JsonObject, refused["error"])["error"] == "PATH_DENIED"

    with_plane(root, body)


def test_lines_are_counted_by_language_on_request(tmp_path: Path) -> None:
    files = {"a.py": "one\ntwo\n", "b.py": "no end of line", "c.rs": "fn main() {}\n", "d.bin": "\0\n", "e.py": ""}

    async def body(ask: Ask) -> None:
        assert result(await ask("folder.make_up", lines=True))["lines"] == {"python": 3, "rust": 1}
        assert result(await ask("folder.make_up"))["lines"] is None

    with_plane(make_repo(tmp_path / "lines", files), body)


def test_what_most_files_use_comes_first(root: Path) -> None:
    async def body(ask: Ask) -> None:
        found = result(await ask("symbol.most_used", limit=3))
        symbols = listed(found, "symbols")
        assert 0 < len(symbols) <= 3
        files = [int(str(one["files"])) for one in symbols]
        assert files == sorted(files, reverse=True) and files[0] >= 2
        assert symbols[0]["path"] == "shop/money.py" and str(symbols[0]["name"]) in str(symbols[0]["signature"])

    with_plane(root, body)


def test_the_start_of_a_program_is_not_used(tmp_path: Path) -> None:
    files = {f"{name}.go": f"package main\n\nfunc {name}() {{ show() }}\n" for name in ("main", "first", "second")}

    async def body(ask: Ask) -> None:
        symbols = listed(result(await ask("symbol.most_used")), "symbols")
        assert [symbol["name"] for symbol in symbols] == ["show"]

    with_plane(make_repo(tmp_path / "program", {**files, "show.go": "package main\n\nfunc show() {}\n"}), body)


def test_without_code_nothing_is_used(tmp_path: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("symbol.most_used")
        assert result(envelope)["symbols"] == [] and "nothing is used across files" in str(envelope["text"])

    with_plane(make_repo(tmp_path / "empty"), body)
