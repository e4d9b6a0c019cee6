"""`write_files` through the door: one call, all edits or none, answered in full."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.edit.batches import Tree, tree
from tests.edit.open_plane import OpenPlane
from tests.interaction.requirements import requirement
from tests.kernel.plane import Ask, asking
from tests.query.asking import result

SHOP = "def price():\n    return 1\n\n\nclass Shop:\n    def sell(self):\n        return price()\n"


def git(root: Path, *arguments: str) -> str:
    names = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    return subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    (root / "shop.py").write_text(SHOP)
    (root / "crlf.txt").write_bytes(b"one\r\ntwo\r\nthree")
    (root / "data.bin").write_bytes(b"\0\1\2")
    (root / "twice.py").write_text("a = 1\nb = 2\na = 1\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / ".gitignore").write_text("*.out\n")
    (root / ".cplignore").write_text("private/\n")
    (root / "to_shop").symlink_to("shop.py")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    return root


def worktree(root: Path) -> Tree:
    return {path: found for path, found in tree(root).items() if not path.startswith(".git/")}


def ask_quietly(root: Path) -> AbstractAsyncContextManager[Ask]:
    return asking(root, "embeddings.model=none", "index.watch=false")


def error(envelope: JsonObject) -> JsonObject:
    found = envelope.get("error")
    assert isinstance(found, dict), envelope
    return found


@requirement("EDT-04")
async def test_a_text_that_is_not_there_is_answered_with_the_passage_most_like_it(root: Path) -> None:
    methods = [
        f"    def {name}(self, order):\n        if order:\n            return None\n\n"
        for name in ("load", "send", "bill")
    ]
    (root / "orders.py").write_text("class Orders:\n" + "".join(methods))
    async with ask_quietly(root) as ask:
        edit = {"path": "orders.py", "old_text": methods[2].replace("order)", "ordr)"), "new_text": ""}
        found = error(await ask("write_files", edits=[edit]))
        assert found["error"] == "EDIT_MISMATCH"
        assert "nearest is line 10, which now reads" in str(found["message"])
        assert "10:     def bill(self, order):" in str(found["message"])
        assert cast(JsonObject, found["details"])["nearest_line"] == 10


@requirement("EDT-06")
async def test_edits_of_every_kind_in_one_call_answer_with_everything_and_can_be_undone(root: Path) -> None:
    before = worktree(root)
    async with ask_quietly(root) as ask:
        done = await ask(
            "write_files",
            edits=[
                {"path": "shop.py", "old_text": "return 1", "new_text": "return 2"},
                {"path": "crlf.txt", "patches": [{"range": {"start": 2, "end": 2}, "replacement": "TWO\nand"}]},
                {"path": "new/deep.py", "action": "create", "content": "def deep(:\n    pass\n"},
                {"path": "twice.py", "action": "delete"},
                {"path": "run.sh", "new_path": "bin/run.sh"},
                {"path": "made.out", "content": "x\n"},
            ],
        )
        found = result(done)
        delta = found["delta"]
        assert isinstance(delta, dict) and isinstance(delta["files"], list)
        files = {str(file["path"]): file for file in delta["files"] if isinstance(file, dict)}
        assert {path: file["action"] for path, file in files.items()} == {
            "shop.py": "updated",
            "crlf.txt": "updated",
            "new/deep.py": "created",
            "twice.py": "deleted",
            "bin/run.sh": "moved",
            "made.out": "created",
        }
        assert files["crlf.txt"]["line_ending"] == "CRLF"
        assert files["bin/run.sh"]["git_mv"] is True and files["bin/run.sh"]["old_path"] == "run.sh"
        assert files["shop.py"]["diff_stats"] == {"insertions": 1, "deletions": 1}
        assert (delta["files_changed"], delta["insertions"], delta["deletions"]) == (6, 6, 5)
        assert found["affected_symbols"] == ["shop.py:price", "-twice.py:a", "-twice.py:b", "+new/deep.py:deep"]
        assert found["warnings"] == ["syntax error at new/deep.py:1"]
        assert found["ignored"] == ["made.out"]
        assert found["repo_fingerprint"] and found["epoch"]
        text = str(done["text"])
        assert "\nsymbols: shop.py:price; twice.py:-a, -b; new/deep.py:+deep" in text
        assert text.startswith("6 files, +6 -5 (mut_") and "undo takes it back" in text
        assert "R run.sh → bin/run.sh" in text and "WARNING: syntax error at new/deep.py:1" in text
        assert "git-ignored: made.out" in text
        assert (root / "crlf.txt").read_bytes() == b"one\r\nTWO\r\nand\r\nthree"
        assert os.access(root / "bin/run.sh", os.X_OK)
        assert git(root, "status", "--short", "bin", "run.sh") == "R  run.sh -> bin/run.sh\n"
        hits = await ask("search", query="return 2", mode="literal")
        assert "shop.py" in str(hits["text"])
        back = await ask("undo")
        assert str(back["text"]).startswith("undone: write_files")
        assert worktree(root) == before
        assert git(root, "status", "--short") == ""


@requirement("EDT-06")
@pytest.mark.parametrize(
    ("edit", "name", "output"),
    [
        ({"path": "../out.py", "content": "x"}, "PATH_DENIED", "outside"),
        ({"path": "/etc/passwd", "content": "x"}, "PATH_DENIED", "outside"),
        ({"path": ".git/config", "content": "x"}, "PATH_DENIED", "belongs to git"),
        ({"path": "sub/.GIT/hooks/x", "content": "x"}, "PATH_DENIED", "belongs to git"),
        ({"path": ".codeplane/config.yaml", "content": "x"}, "PATH_DENIED", "CodePlane"),
        ({"path": "shop.py", "new_path": ".git/x"}, "PATH_DENIED", "belongs to git"),
        ({"path": "out_link/x", "content": "x"}, "PATH_DENIED", "through a link"),
        ({"path": "git_link/config", "content": "x"}, "PATH_DENIED", "belongs to git"),
        ({"path": ".env", "content": "x"}, "PATH_DENIED", "secrets"),
        ({"path": "private/x.py", "content": "x"}, "PATH_DENIED", ".cplignore"),
        ({"path": ".cplignore", "content": ""}, "PATH_DENIED", "no operation writes it"),
        ({"path": "folder", "content": "x"}, "PATH_DENIED", "folder"),
        ({"path": "to_shop", "content": "x"}, "PATH_DENIED", "is a link to shop.py"),
        ({"path": "l", "link_to": "../../x"}, "PATH_DENIED", "outside"),
        ({"path": "shop.py", "content": "x", "expect_hash": "0" * 64}, "FILE_CHANGED", "has the hash"),
        ({"path": "shop.py", "action": "create", "content": "x"}, "FILE_CHANGED", "there already"),
        ({"path": "shop.py", "new_path": "twice.py"}, "FILE_CHANGED", "there already"),
        ({"path": "shp.py", "old_text": "a", "new_text": "b"}, "NOT_FOUND", "no file"),
        ({"path": "gone.py", "action": "delete"}, "NOT_FOUND", "no file"),
        ({"path": "twice.py", "old_text": "a = 1", "new_text": "b"}, "EDIT_MISMATCH", "lines 1, 3"),
        ({"path": "twice.py", "old_text": "c = 3", "new_text": "b"}, "EDIT_MISMATCH", "not there"),
        ({"path": "data.bin", "old_text": "a", "new_text": "b"}, "NOT_TEXT", "binary"),
        (
            {
                "path": "shop.py",
                "patches": [
                    {"range": {"start": 1, "end": 2}, "replacement": "x"},
                    {"range": {"start": 2, "end": 3}, "replacement": "y"},
                ],
            },
            "EDIT_MISMATCH",
            "overlap",
        ),
        (
            {"path": "shop.py", "patches": [{"start": 90, "end": 90, "replacement": "x"}]},
            "EDIT_MISMATCH",
            "has 7 lines",
        ),
        ({"path": "shop.py"}, "INVALID_ARGUMENT", "say what to do"),
        ({"path": "shop.py", "new_text": "x"}, "INVALID_ARGUMENT", "needs old_text"),
        ({"path": "shop.py", "action": "move"}, "INVALID_ARGUMENT", "needs new_path"),
        ({"path": "shop.py", "content": "x", "old_text": "a", "new_text": "b"}, "INVALID_ARGUMENT", "one of"),
        ({"path": "shop.py", "contnt": "x"}, "INVALID_ARGUMENT", "contnt"),
        ({"path": "a\0b", "content": "x"}, "PATH_DENIED", "NUL"),
        ({"path": "x" * 300, "content": "x"}, "PATH_DENIED", "too long"),
    ],
)
def test_bad_edits_are_refused_and_nothing_is_written(
    plain: OpenPlane, edit: JsonObject, name: str, output: str
) -> None:
    before = tree(plain.root)
    alone = error(plain.ask("write_files", edits=[edit]))
    assert alone["error"] == name
    assert output in f"{alone['message']} {alone['hint']}"
    together = error(plain.ask("write_files", edits=[{"path": "good.py", "content": "x = 1\n"}, edit]))
    assert together["error"] == name
    assert tree(plain.root) == before


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPlane]:
    root = tmp_path_factory.mktemp("plain")
    (root / "shop.py").write_text(SHOP)
    (root / "data.bin").write_bytes(b"\0\1\2")
    (root / "twice.py").write_text("a = 1\nb = 2\na = 1\n")
    (root / ".cplignore").write_text("private/\n")
    (root / "folder").mkdir()
    (root / "folder/inner.py").write_text("x = 1\n")
    (root / "to_shop").symlink_to("shop.py")
    git(root, "init", "-q")
    (root / "out_link").symlink_to(tmp_path_factory.mktemp("outside"))
    (root / "git_link").symlink_to(".git")
    found = OpenPlane(root, "embeddings.model=none", "index.watch=false")
    yield found
    found.close()


@requirement("EDT-06")
async def test_what_the_caller_means_is_understood(root: Path) -> None:
    async with ask_quietly(root) as ask:
        one = await ask("write_files", path="shop.py", old_string="return 1", new_string="return 3")
        assert result(one)["applied"] is True
        two = await ask(
            "write_files", edits={"file": "shop.py", "replacements": {"old": "return 3", "new": "return 4"}}
        )
        assert result(two)["applied"] is True
        three = await ask(
            "write_files",
            file_path="shop.py",
            edits=[
                {"old_string": "return 4", "new_string": "return 5"},
                {"old_string": "return 5", "new_string": "return 6"},
            ],
        )
        assert result(three)["applied"] is True
        assert "return 6" in (root / "shop.py").read_text()
        four = await ask("write_files", edits=[{"path": "fresh.py", "old_text": "", "new_text": "x = 1\n"}])
        assert result(four)["applied"] is True
        five = await ask("write_files", edits=[{"path": str(root / "fresh.py"), "action": "remove"}])
        assert result(five)["applied"] is True and not (root / "fresh.py").exists()
        six = await ask(
            "write_files", edits=[{"path": "twice.py", "old": "a = 1", "new": "a = 2", "replace_all": True}]
        )
        assert result(six)["applied"] is True
        assert (root / "twice.py").read_text() == "a = 2\nb = 2\na = 2\n"
        seven = await ask("write_files", edits=[{"path": "link", "link_to": "shop.py"}])
        assert result(seven)["applied"] is True and (root / "link").readlink() == Path("shop.py")
        eight = await ask("write_files", edits=[{"path": "twice.py", "executable": True}])
        assert result(eight)["applied"] is True and os.access(root / "twice.py", os.X_OK)
        nine = await ask("write_files", edits=[{"path": "data.bin", "content": "text now\n"}])
        assert result(nine)["applied"] is True
        same = await ask("write_files", edits=[{"path": "data.bin", "action": "create", "content": "text now\n"}])
        assert result(same)["applied"] is False and "so already" in str(same["text"])


@requirement("EDT-06")
async def test_edits_of_one_file_build_on_each_other_and_a_hash_from_reading_is_good(root: Path) -> None:
    async with ask_quietly(root) as ask:
        read = result(await ask("read_files", paths=["shop.py"], include_metadata=True))
        hash_ = read["files"][0]["metadata"]["hash"]  # type: ignore[index,call-overload]
        done = await ask(
            "write_files",
            edits=[
                {"path": "shop.py", "old_text": "return 1", "new_text": "return 2", "expect_hash": hash_},
                {"path": "shop.py", "old_text": "return 2", "new_text": "return 3"},
                {"path": "shop.py", "new_path": "store.py"},
                {"path": "store.py", "old_text": "class Shop", "new_text": "class Store"},
            ],
        )
        assert "R shop.py → store.py +2 -2" in str(done["text"])
        assert (root / "store.py").read_text() == SHOP.replace("return 1", "return 3").replace("Shop", "Store")
        # Git's index has moved with it, and the change is not staged.
        assert git(root, "status", "--short").splitlines() == ["RM shop.py -> store.py"]
        await ask("undo")
        assert git(root, "status", "--short") == ""
        again = await ask("redo")
        assert "done again" in str(again["text"])
        assert git(root, "status", "--short").splitlines() == ["RM shop.py -> store.py"]


@requirement("EDT-06")
async def test_a_dry_run_shows_the_diff_and_changes_nothing(root: Path) -> None:
    before = worktree(root)
    async with ask_quietly(root) as ask:
        done = await ask(
            "write_files",
            dry_run=True,
            edits=[
                {"path": "shop.py", "old_text": "return 1", "new_text": "return 2"},
                {"path": "twice.py", "action": "delete"},
                {"path": "crlf.txt", "new_path": "moved.txt"},
            ],
        )
        found = result(done)
        assert found["applied"] is False and found["dry_run"] is True
        text = str(done["text"])
        assert "-    return 1\n+    return 2\n" in text
        assert "+++ /dev/null" in text and "rename crlf.txt → moved.txt" in text
        assert result(await ask("mutation.list"))["mutations"] == []
    assert worktree(root) == before


def delta_edits(envelope: JsonObject) -> dict[object, list[tuple[object, object]]]:
    """The symbol of each edit of a file, and whether it is semantic."""
    delta = cast(dict[str, list[JsonObject]], result(envelope)["delta"])
    return {
        one["path"]: [(edit["symbol"], edit["semantic"]) for edit in cast(list[JsonObject], one["edits"])]
        for one in delta["files"]
    }


@requirement("REF-44")
async def test_a_dry_run_names_symbols_tests_and_errors_as_the_edit_does(root: Path) -> None:
    (root / "tests").mkdir()
    (root / "tests/test_shop.py").write_text("from shop import Shop\n\n\ndef test_sell():\n    assert Shop().sell()\n")
    edit = {
        "path": "shop.py",
        "patches": [
            {"range": {"start": 2, "end": 2}, "replacement": "    return 2"},
            {"range": {"start": 7, "end": 7}, "replacement": "        return price("},
        ],
    }
    async with ask_quietly(root) as ask:
        # Whoever asks for a symbol waits for the facts.
        result(await ask("explain_symbol", symbol="Shop"))
        dry = await ask("write_files", dry_run=True, edits=[edit])
        assert (root / "shop.py").read_text() == SHOP
        done = await ask("write_files", edits=[edit])
        symbols = ["shop.py:price", "shop.py:Shop.sell"]
        assert result(dry)["affected_symbols"] == result(done)["affected_symbols"] == symbols
        assert result(dry)["warnings"] == ["syntax error at shop.py:7"]
        assert result(dry)["affected_tests"] == ["tests/test_shop.py"]
        assert "tests: tests/test_shop.py" in str(dry["text"])
        assert delta_edits(dry) == delta_edits(done) == {"shop.py": [("price", False), ("Shop.sell", False)]}


def git_moves(envelope: JsonObject) -> dict[object, object]:
    """Whether git's index moved with each file."""
    delta = cast(dict[str, list[JsonObject]], result(envelope)["delta"])
    return {one["path"]: one["git_mv"] for one in delta["files"]}


@requirement("EDT-15")
@pytest.mark.parametrize("staged", ["", "# staged\n"])
async def test_a_modified_file_moves_in_the_index_as_git_mv_moves_it(root: Path, staged: str) -> None:
    (root / "shop.py").write_text(SHOP + staged)
    git(root, "add", "shop.py")
    (root / "shop.py").write_text(SHOP + "# more\n")
    before = git(root, "ls-files", "--stage", "shop.py")
    async with ask_quietly(root) as ask:
        done = await ask("write_files", edits=[{"path": "shop.py", "to": "a.py"}])
        assert "\nR shop.py → a.py +0 -0" in str(done["text"])
        assert git_moves(done) == {"a.py": True}
        assert git(root, "ls-files", "--stage", "a.py") == before.replace("shop.py", "a.py")
        # What git says: moved, with the changes that were not staged still not staged.
        assert git(root, "status", "--short") == "RM shop.py -> a.py\n"
        assert (root / "a.py").read_text() == SHOP + "# more\n"
        assert "# more" in git(root, "diff", "a.py") and "# more" not in git(root, "diff", "--cached")
        assert "R shop.py → a.py" in str(await ask("ledger.events", types=["call.finished"]))
        assert result(await ask("undo"))["state"] == "undone"
        assert git(root, "ls-files", "--stage", "shop.py", "a.py") == before
        assert git(root, "status", "--short").strip() == ("MM shop.py" if staged else "M shop.py")
        result(await ask("redo"))
        assert git(root, "status", "--short") == "RM shop.py -> a.py\n"


@requirement("EDT-15")
async def test_a_move_that_git_does_not_see_is_not_called_one_of_git(root: Path) -> None:
    (root / "free.py").write_text("x = 1\n")
    (root / "meant.py").write_text("x = 2\n")
    git(root, "add", "--intent-to-add", "meant.py")
    git(root, "update-index", "--assume-unchanged", "twice.py")
    async with ask_quietly(root) as ask:
        pairs = [("free.py", "a.py"), ("meant.py", "b.py"), ("twice.py", "c.py"), ("run.sh", "d.sh")]
        done = await ask("write_files", edits=[{"path": old, "to": new} for old, new in pairs])
        assert git_moves(done) == {"a.py": None, "b.py": False, "c.py": False, "d.sh": True}
        text, meta = str(done["text"]), str(done["meta"])
        assert "mv free.py → a.py" in text and "mv meant.py → b.py" in text and "mv twice.py → c.py" in text
        assert "R run.sh → d.sh" in text
        assert "did not move meant.py → b.py, since it was only marked to be added" in meta
        assert "did not move twice.py → c.py, since it is marked assume-unchanged or skip-worktree" in meta
        assert "free.py" not in meta
        assert git(root, "status", "--short") == "R  run.sh -> d.sh\n D meant.py\n?? a.py\n?? b.py\n?? c.py\n"


@requirement("EDT-15")
async def test_a_move_while_git_is_busy_says_that_the_index_stayed(root: Path) -> None:
    async with ask_quietly(root) as ask:
        (root / ".git" / "index.lock").touch()
        done = await ask("write_files", edits=[{"path": "run.sh", "to": "d.sh"}])
        assert "mv run.sh → d.sh" in str(done["text"]) and "git's index did not move run.sh → d.sh" in str(done["meta"])
        (root / ".git" / "index.lock").unlink()
        assert git(root, "status", "--short") == " D run.sh\n?? d.sh\n"


async def test_limits_are_said(root: Path) -> None:
    async with asking(root, "edits.max_files=3", "edits.max_mb=1", "embeddings.model=none", "index.watch=false") as ask:
        many = [{"path": f"f{number}.py", "content": "x"} for number in range(4)]
        found = error(await ask("write_files", edits=many))
        assert found["error"] == "TOO_LARGE" and "edits.max_files" in str(found["details"])
        large = error(await ask("write_files", edits=[{"path": "l.txt", "content": "x" * 1_100_000}]))
        assert large["error"] == "TOO_LARGE"
        none = error(await ask("write_files", edits=[]))
        assert none["error"] == "INVALID_ARGUMENT"


async def test_disjoint_calls_run_side_by_side_and_the_same_file_only_once(root: Path) -> None:
    async with ask_quietly(root) as ask:
        disjoint = await asyncio.gather(
            *(
                ask("write_files", edits=[{"path": f"n{number}.py", "content": f"x = {number}\n"}])
                for number in range(6)
            )
        )
        assert all("result" in one and one["result"] for one in disjoint)
        same = await asyncio.gather(
            *(
                ask("write_files", edits=[{"path": "shop.py", "old_text": "return 1", "new_text": f"return {number}"}])
                for number in range(2, 6)
            )
        )
        good = [one for one in same if one.get("result")]
        assert len(good) == 1
        refused = {str(error(one)["error"]) for one in same if not one.get("result")}
        assert refused <= {"EDIT_OVERLAP", "FILE_CHANGED", "EDIT_MISMATCH"}


async def test_a_mutation_that_cannot_be_kept_is_made_and_said(root: Path) -> None:
    async with ask_quietly(root) as ask:
        (root / ".codeplane/undo").write_text("in the way")
        done = await ask("write_files", edits=[{"path": "shop.py", "content": "x = 1\n"}])
        assert result(done)["applied"] is True
        assert "could not be kept for undo" in str(done)
        assert result(await ask("mutation.list"))["total"] == 0
    assert (root / "shop.py").read_text() == "x = 1\n"


@pytest.mark.parametrize("target", [".git/config", ".codeplane/owner.token", ".env", "private/a", "to_git/config"])
async def test_a_link_to_what_nobody_may_touch_is_refused(root: Path, target: str) -> None:
    (root / "to_git").symlink_to(".git")
    async with ask_quietly(root) as ask:
        refused = error(await ask("write_files", edits=[{"path": "l", "link_to": target}]))
        assert refused["error"] == "PATH_DENIED"
    assert not (root / "l").is_symlink()
