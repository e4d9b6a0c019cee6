"""`list_dir` through the door: counts, depth, pages, paths as people write them, and what is never shown."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.shop import SHOP


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repo(tmp_path / "shop", SHOP)
    (root / "logo.png").write_bytes(b"\x89PNG\0\0\0")
    (root / ".env").write_text("TOKEN=secret\n")
    return root


def entries(found: JsonObject) -> list[str]:
    listed = found["entries"]
    assert isinstance(listed, list)
    return [one["path"] + "/" * one["is_dir"] for one in listed]


@requirement("DIR-01")
def test_a_folder_with_counts_and_sizes(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("list_dir")
        found = result(envelope)
        assert entries(found) == ["shop/", "tests/", "web/", "README.md", "logo.png", "pyproject.toml"]
        assert found["file_count"] == len(SHOP) + 1
        assert "  shop/ 5 files, " in str(envelope["text"])
        assert "  README.md 7 B" in str(envelope["text"])
        assert "(binary)" not in str(envelope["text"])
        deeper = await ask("list_dir", path="shop", depth=2, skipped=True)
        assert entries(result(deeper))[:3] == ["shop/report/", "shop/report/pdf.py", "shop/__init__.py"]
        output = await ask("list_dir", skipped=True)
        assert "  logo.png 7 B (binary)" in str(output["text"])
        assert "not searched: 1 binary" in str(output["text"])

    with_plane(root, body)


def test_what_is_not_searched_is_named_with_the_reason(root: Path) -> None:
    (root / ".gitignore").write_text("*.tmp\n.env.local\n")
    (root / "web" / "x.tmp").write_text("t")
    (root / "web" / ".env.local").write_text("TOKEN=secret\n")
    (root / "web" / "pictures").mkdir()
    for number in range(60):
        (root / "web" / "pictures" / f"{number:02}.png").write_bytes(b"\x89PNG\0\0\0")

    async def body(ask: Ask) -> None:
        envelope = await ask("list_dir", skipped=True)
        assert result(envelope)["left_out"] == {"binary": 61, "ignored": 1, "secrets": 2}
        text = str(envelope["text"])
        assert "not searched: 61 binary, 1 ignored, 2 secrets\n  web/x.tmp (ignored)\n  .env (secrets)" in text
        assert "\n  web/.env.local (secrets)\n" in text
        assert text.count("(binary)") == 47 + 1
        assert text.endswith("\n  and 14 more; path=FOLDER names those below one")
        below = await ask("list_dir", path="web", skipped=True)
        assert result(below)["left_out"] == {"binary": 60, "ignored": 1, "secrets": 1}
        assert "  .env (secrets)" not in str(below["text"])

    with_plane(root, body)


@requirement("DIR-01")
def test_paths_as_people_write_them(root: Path) -> None:
    async def body(ask: Ask) -> None:
        whole = entries(result(await ask("list_dir")))
        for path in ("", ".", "./", "shop/..", str(root)):
            assert entries(result(await ask("list_dir", path=path))) == whole, path
        for path in ("shop", "shop/", "./shop//", f"{root}/shop"):
            assert "shop/cart.py" in entries(result(await ask("list_dir", path=path))), path
        assert entries(result(await ask("list_dir", path="shop/cart.py"))) == ["shop/cart.py"]

    with_plane(root, body)


@requirement("DIR-01")
def test_what_is_not_a_folder_here_is_refused(root: Path) -> None:
    async def body(ask: Ask) -> None:
        for path, name, hint in (
            ("shpo", "NOT_FOUND", "shop"),
            ("shop/reprot", "NOT_FOUND", "shop/report"),
            (".git", "PATH_DENIED", ""),
            (".codeplane", "PATH_DENIED", ""),
            ("../elsewhere", "PATH_DENIED", ""),
        ):
            error = (await ask("list_dir", path=path))["error"]
            assert isinstance(error, dict)
            assert error["error"] == name and hint in str(error["hint"]), path
        too_deep = (await ask("list_dir", depth=6))["error"]
        assert isinstance(too_deep, dict) and too_deep["error"] == "INVALID_ARGUMENT"
        assert not [
            one for one in entries(result(await ask("list_dir", depth=5))) if one.startswith((".git/", ".codep"))
        ]

    with_plane(root, body)


def test_a_folder_that_the_rules_leave_out_is_not_taken_for_one_that_is_not_there(root: Path) -> None:
    (root / "node_modules").mkdir()
    (root / "node_modules" / "one.js").write_text("1\n")

    async def body(ask: Ask) -> None:
        left_out = (await ask("list_dir", path="node_modules"))["error"]
        assert "nothing in 'node_modules' is indexed" in str(left_out) and ".cplignore" in str(left_out)

    with_plane(root, body)


@requirement("DIR-01")
def test_pages_cover_everything_once_and_belong_to_their_question(root: Path) -> None:
    async def body(ask: Ask) -> None:
        whole = entries(result(await ask("list_dir", depth=3)))
        seen: list[str] = []
        cursor: object = None
        while True:
            page = result(await ask("list_dir", depth=3, limit=4, cursor=cursor))
            (root / f"later{len(seen)}.txt").write_text("a file of another state\n")
            seen += entries(page)
            assert page["total"] == len(whole)
            pagination = page["pagination"]
            assert isinstance(pagination, dict)
            kept, cursor = cursor, pagination["next_cursor"]
            if cursor is None:
                break
        assert seen == whole
        other = (await ask("list_dir", depth=2, limit=4, cursor=kept))["error"]
        assert isinstance(other, dict) and other["error"] == "CURSOR_INVALID"

    with_plane(root, body)
