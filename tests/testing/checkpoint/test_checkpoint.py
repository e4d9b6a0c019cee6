"""`checkpoint`: linted, tested and committed in one call, or nothing of it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import Ask, asking
from tests.query.asking import result

pytestmark = pytest.mark.skipif(
    subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"], check=False, capture_output=True).returncode != 0
    if Path("/usr/bin/bwrap").exists()
    else True,
    reason="NO SANDBOX HERE: bubblewrap is missing or may not make namespaces, so tests would not run unasked",
)

PRICES = "def price(net: int) -> int:\n    return net * 2\n"
TESTED = """\
import unittest
from shop.prices import price


class Prices(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(2), 4)
"""
OTHER = TESTED.replace("from shop.prices import price\n", "").replace("assertEqual(price(2), 4)", "fail('not reached')")
UNITTEST = "tests.runners={python: unittest}"


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def shop_repo(folder: Path, files: Mapping[str, str]) -> Path:
    """A repository in which commits have an author."""
    root = make_repo(folder, {"shop/__init__.py": "", "tests/__init__.py": "", **files})
    git(root, "config", "user.name", "t")
    git(root, "config", "user.email", "t@example.org")
    return root


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    files = {"shop/prices.py": PRICES, "tests/test_prices.py": TESTED, "tests/test_other.py": OTHER}
    return shop_repo(tmp_path / "shop", files)


def edit(root: Path, text: str) -> None:
    (root / "shop/prices.py").write_text(text)


@requirement("CHK-01")
async def test_green_changes_are_committed_with_the_tests_that_reach_them(shop: Path) -> None:
    edit(shop, PRICES.replace("net * 2", "net + net"))
    (shop / "shop/new.py").write_text("x = 1\n")
    async with asking(shop, UNITTEST) as ask:
        done = result(await ask("checkpoint", message="Add instead"))
    assert done["committed"] is True
    assert [one["target_id"] for one in done["tests"]["results"]] == ["tests/test_prices.py"]  # type: ignore[index,union-attr,call-overload]  # JSON
    assert git(shop, "log", "--format=%s") == "Add instead\nfirst"
    assert git(shop, "show", "--name-only", "--format=") == "shop/new.py\nshop/prices.py"
    assert git(shop, "status", "--porcelain") == ""


@requirement("CHK-01")
async def test_red_tests_stop_it_and_nothing_is_staged(shop: Path) -> None:
    edit(shop, PRICES.replace("* 2", "* 3"))
    async with asking(shop, UNITTEST) as ask:
        envelope = await ask("checkpoint", message="Triple")
    done = result(envelope)
    assert (done["committed"], done["stopped_by"]) == (False, "tests")
    assert "6 != 4" in str(envelope["text"]) and "NOT committed" in str(envelope["text"])
    assert git(shop, "log", "--format=%s") == "first"
    assert git(shop, "diff", "--cached", "--name-only") == ""


@requirement("CHK-01")
async def test_lint_stops_it_first(shop: Path) -> None:
    edit(shop, PRICES + "\n")
    lint = f"tests.lint=[[{sys.executable}, -c, 'import sys; sys.exit(\"too long: \" + sys.argv[1])', '{{paths}}']]"
    async with asking(shop, UNITTEST, lint) as ask:
        red, green = await ask("checkpoint", message="x"), await ask("checkpoint", message="without", lint=False)
    assert (result(red)["stopped_by"], result(red).get("tests")) == ("lint", None)
    assert "too long: shop/prices.py" in str(red["text"])
    assert result(green)["committed"] is True


@requirement("CHK-01")
async def test_only_the_paths_named_are_committed(shop: Path) -> None:
    edit(shop, PRICES + "\n")
    (shop / "notes.md").write_text("later\n")
    async with asking(shop) as ask:
        assert (result(await ask("checkpoint", message="part", paths="shop", tests="none")))["committed"] is True
    assert git(shop, "status", "--porcelain") == "?? notes.md"


@requirement("CHK-01")
async def test_it_tells_everything_since_the_last_one_and_can_be_undone(shop: Path) -> None:
    async with asking(shop) as ask:
        edit(shop, PRICES + "# one\n")
        first = result(await ask("checkpoint", message="one", tests="none"))
        edit(shop, PRICES + "# two\n")
        await ask("git.stage", paths=["."])
        await ask("git.commit", message="between")
        (shop / "c.txt").write_text("c\n")
        second = result(await ask("checkpoint", message="two", tests="none"))
        undone = await ask("undo")
        assert "error" not in undone, undone
    since = second["since"]
    assert isinstance(since, dict) and isinstance(first["commit"], dict)
    assert (since["commit"], since["commits"]) == (first["commit"]["oid"], 2)
    assert [one["path"] for one in since["files"]] == ["c.txt", "shop/prices.py"]
    assert git(shop, "log", "--format=%s") == "between\none\nfirst"
    assert (shop / "c.txt").read_text() == "c\n"


async def test_a_file_that_changes_while_it_is_tested_is_not_committed(shop: Path) -> None:
    edit(shop, PRICES + "\n")
    writes = "pathlib.Path('shop/prices.py').write_text('price = int\\n')"
    text = "import pathlib\n" + TESTED.replace("        self.assert", f"        {writes}\n        self.assert")
    (shop / "tests/test_prices.py").write_text(text)
    async with asking(shop, UNITTEST) as ask:
        envelope = await ask("checkpoint", message="moving")
    error = envelope["error"]
    assert isinstance(error, dict) and error["error"] == "FILE_CHANGED", envelope
    assert git(shop, "log", "--format=%s") == "first"


async def test_nothing_to_commit_and_conflicts_are_refused(shop: Path) -> None:
    async def body(ask: Ask) -> tuple[JsonObject, JsonObject]:
        clean = await ask("checkpoint", message="nothing")
        git(shop, "checkout", "--quiet", "-b", "other")
        edit(shop, "a = 1\n")
        git(shop, "commit", "--quiet", "-am", "other")
        git(shop, "checkout", "--quiet", "-")
        edit(shop, "b = 1\n")
        git(shop, "commit", "--quiet", "-am", "ours")
        subprocess.run(["git", "merge", "other"], cwd=shop, check=False, capture_output=True)
        return clean, await ask("checkpoint", message="conflict", tests="none")

    async with asking(shop) as ask:
        clean, conflicting = await body(ask)
    assert clean["error"]["error"] == "INVALID_ARGUMENT"  # type: ignore[index,call-overload]  # JSON
    assert conflicting["error"]["error"] == "GIT_BUSY"  # type: ignore[index,call-overload]  # JSON


async def test_what_was_renamed_is_told_as_such(shop: Path) -> None:
    (shop / "shop/long.py").write_text("".join(f"line_{at} = {at}\n" for at in range(100)))
    git(shop, "add", "-A")
    git(shop, "commit", "--quiet", "-m", "long")
    (shop / "shop/long.py").rename(shop / "shop/länger.py")
    with (shop / "shop/länger.py").open("a") as file:
        file.write("more = 1\n")
    (shop / "tests/test_other.py").unlink()
    async with asking(shop) as ask:
        envelope = await ask("checkpoint", message="rename", tests="none")
    since = result(envelope)["since"]
    assert isinstance(since, dict)
    assert [(one["status"], one.get("old_path"), one["path"]) for one in since["files"]] == [
        ("renamed", "shop/long.py", "shop/länger.py"),
        ("deleted", None, "tests/test_other.py"),
    ]
    text = str(envelope["text"])
    assert "R shop/long.py → shop/länger.py +1 -0" in text
    assert "2 files +1 -6" in text and "A shop" not in text


def _fill(folder: Path, count: int) -> None:
    folder.mkdir(parents=True)
    for at in range(count):
        (folder / f"{at}.txt").write_text("x\n")


async def test_what_looks_installed_or_generated_is_not_committed_unless_named(shop: Path) -> None:
    _fill(shop / "env/lib", 3)
    (shop / "env/pyvenv.cfg").write_text("home = /usr/bin\n")
    edit(shop, PRICES + "# more\n")
    async with asking(shop) as ask:
        refused = await ask("checkpoint", message="all", tests="none")
        assert refused["error"]["error"] == "INVALID_ARGUMENT"  # type: ignore[index,call-overload]  # JSON
        assert "env/ (4 files)" in str(refused["error"]) and ".gitignore" in str(refused["error"])
        assert git(shop, "log", "--format=%s") == "first" and git(shop, "diff", "--cached", "--name-only") == ""
        here = await ask("checkpoint", message="all", tests="none", paths=".")
        assert "error" in here
        part = result(await ask("checkpoint", message="part", tests="none", paths="shop"))
        assert part["committed"] is True
        named = result(await ask("checkpoint", message="env", tests="none", paths=["env"]))
        assert named["committed"] is True
        _fill(shop / "web/node_modules/x", 51)
        inner = await ask("checkpoint", message="web", tests="none", paths=["web"])
        assert "web/node_modules/ (51 files)" in str(inner["error"])
        (shop / ".gitignore").write_text("node_modules/\n")
        assert result(await ask("checkpoint", message="ignored", tests="none"))["committed"] is True


async def test_a_few_files_in_a_folder_called_so_are_anyones(shop: Path) -> None:
    _fill(shop / "src/target", 50)
    async with asking(shop) as ask:
        assert (result(await ask("checkpoint", message="target", tests="none")))["committed"] is True


async def test_very_many_new_files_are_committed_only_when_named(shop: Path) -> None:
    _fill(shop / "data", 501)
    async with asking(shop) as ask:
        refused, named = (
            await ask("checkpoint", message="all", tests="none"),
            await ask("checkpoint", message="data", tests="none", paths=["data"]),
        )
    assert "501 files would be new in git" in str(refused["error"]) and "data/" in str(refused["error"])
    assert result(named)["committed"] is True


async def test_repositories_inside_are_left_out_and_said(shop: Path) -> None:
    _fill(shop / "vendor/other", 2)
    git(shop / "vendor/other", "init", "--quiet")
    git(shop, "worktree", "add", "--quiet", "trees/one", "-b", "one")
    _fill(shop / "lost", 2)
    (shop / "lost/.git").write_text("gitdir: /nowhere\n")
    async with asking(shop) as ask:
        alone = await ask("checkpoint", message="nothing else", tests="none")
        assert "repositories of their own: lost/, trees/one/, vendor/other/" in str(alone["error"])
        named = await ask("checkpoint", message="named", tests="none", paths=["vendor/other"])
        assert "vendor/other/" in str(named["error"])
        edit(shop, PRICES + "\n")
        done = await ask("checkpoint", message="the rest", tests="none")
        assert result(done)["left_out"] == ["lost/", "trees/one/", "vendor/other/"]
        assert "left out, as git repositories of their own: lost/, trees/one/, vendor/other/" in str(done["text"])
    assert git(shop, "show", "--name-only", "--format=") == "shop/prices.py"


async def test_without_a_sandbox_it_runs_nothing_unasked(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(shop, PRICES + "\n")
    (shop.parent / "bin").mkdir()
    for name in ("git", "python3"):
        (shop.parent / "bin" / name).symlink_to(Path("/usr/bin") / name)
    monkeypatch.setenv("PATH", str(shop.parent / "bin"))
    async with asking(shop, "approvals.wait_sec=0") as ask:
        refused, plain = (
            await ask("checkpoint", message="run"),
            await ask("checkpoint", message="untested", tests="none"),
        )
    assert refused["error"]["error"] == "APPROVAL_PENDING"  # type: ignore[index,call-overload]  # JSON
    assert result(plain)["committed"] is True


async def test_names_that_tools_get_wrong_are_committed_too(shop: Path) -> None:
    edit(shop, PRICES.replace("net * 2", "net + net"))
    odd = [b"back\\slash", b"in\\x41side.txt", b"latin\xe9.py", b"-dash_test.py", b"new\nline", b"tests/-p_test.py"]
    for name in odd:
        (shop / os.fsdecode(name)).write_bytes(b"")
    # What could lead elsewhere on other systems is nobody's to write, and stops nothing.
    (shop / "\\leads").write_text("")
    async with asking(shop, UNITTEST) as ask:
        done = result(await ask("checkpoint", message="Odd names"))
    assert done["committed"] is True
    committed = subprocess.run(["git", "ls-files", "-z"], cwd=shop, check=True, capture_output=True).stdout.split(b"\0")
    assert set(odd) <= set(committed)
    assert git(shop, "status", "--porcelain") == '?? "\\\\leads"'
    assert done["left_out"] == ["\\leads"]
