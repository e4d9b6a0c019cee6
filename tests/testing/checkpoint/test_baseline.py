"""`checkpoint` where tests are red already: only failures that the last commit does not have stop it."""

import subprocess
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import Ask, asking
from tests.query.asking import result
from tests.testing.checkpoint.test_checkpoint import UNITTEST, edit, git, pytestmark, shop_repo
from tests.testing.runs import environment

__all__ = ["pytestmark"]

PRICES = "def price(net: int) -> int:\n    return net * 2\n\n\ndef gross(net: int) -> int:\n    return net\n"
TESTED = """\
import unittest
from shop.prices import gross, price


class Prices(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(2), 4)

    def test_gross(self):
        self.assertEqual(gross(100), 119)
"""
OLD, NEW = "tests/test_prices.py::Prices.test_gross", "tests/test_prices.py::Prices.test_price"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    files = {"shop/prices.py": PRICES, "tests/test_prices.py": TESTED, ".gitignore": "*.tmp\nlocal/\n"}
    return shop_repo(tmp_path / "shop", files)


def baseline(done: JsonObject) -> JsonObject:
    found = done["baseline"]
    assert isinstance(found, dict), done
    return found


def names(found: JsonObject, *keys: str) -> list[list[str]]:
    return [[str(one).replace("::Prices::", "::Prices.") for one in found[key]] for key in keys]  # type: ignore[union-attr]


@requirement("CHK-02")
async def test_old_failures_do_not_stop_a_commit(shop: Path) -> None:
    first = git(shop, "rev-parse", "HEAD")
    edit(shop, PRICES.replace("net * 2", "net + net"))
    async with asking(shop, UNITTEST) as ask:
        envelope = await ask("checkpoint", message="Add instead")
    done = result(envelope)
    assert done["committed"] is True, envelope["text"]
    found = baseline(done)
    assert (found["commit"], found["made"]) == (first, True)
    assert names(found, "old", "new") == [[OLD], []]
    text = str(envelope["text"])
    assert f"old: 1 failure that {first[:9]} has too (run there now): tests/test_prices.py" in text
    assert "119" not in text, "an old failure is named, not told"
    assert git(shop, "log", "--format=%s") == "Add instead\nfirst"
    assert not list((shop / ".codeplane/tests/parent").glob("*/*")), "the copy is gone"


@requirement("CHK-02")
async def test_new_failures_stop_it_and_are_told_from_old_ones(shop: Path) -> None:
    edit(shop, PRICES.replace("net * 2", "net * 3"))
    async with asking(shop, UNITTEST) as ask:
        # As a server that was killed leaves it.
        (shop / ".codeplane/tests/parent/run_killed/shop").mkdir(parents=True)
        envelope = await ask("checkpoint", message="Triple")
    assert not (shop / ".codeplane/tests/parent/run_killed").exists()
    done = result(envelope)
    assert (done["committed"], done["stopped_by"]) == (False, "tests")
    assert names(baseline(done), "old", "new") == [[OLD], [NEW]]
    text = str(envelope["text"])
    assert "6 != 4" in text and "119" not in text and "NOT committed" in text
    assert git(shop, "log", "--format=%s") == "first"


@requirement("CHK-02")
async def test_a_test_that_the_commit_does_not_have_is_new(shop: Path) -> None:
    (shop / "tests/test_more.py").write_text(TESTED.replace("class Prices", "class More"))
    added = TESTED + "\n    def test_added(self):\n        self.fail('added')\n"
    (shop / "tests/test_prices.py").write_text(added)
    async with asking(shop, UNITTEST) as ask:
        done = result(await ask("checkpoint", message="More tests"))
    assert done["committed"] is False
    old, new = names(baseline(done), "old", "new")
    assert old == [OLD]
    assert [one.rpartition("test_")[2] for one in sorted(new)] == ["gross", "added"]


@requirement("CHK-02")
async def test_a_new_file_is_compared_with_nothing_that_ran(shop: Path) -> None:
    (shop / "tests/test_more.py").write_text(TESTED.replace("class Prices", "class More"))
    first = git(shop, "rev-parse", "HEAD")
    async with asking(shop, UNITTEST) as ask:
        text = str((await ask("checkpoint", message="More tests"))["text"])
    assert f"new: 1 failure that {first[:9]} does not have\n" in text, text


@requirement("CHK-02")
async def test_the_last_run_at_the_parent_state_is_the_baseline(shop: Path) -> None:
    async def body(ask: Ask) -> tuple[JsonObject, JsonObject, JsonObject]:
        before = result(await ask("test.run"))
        edit(shop, PRICES.replace("net * 2", "net + net"))
        first = result(await ask("checkpoint", message="one"))
        edit(shop, PRICES.replace("net * 2", "2 * net"))
        return before, first, result(await ask("checkpoint", message="two"))

    async with asking(shop, UNITTEST) as ask:
        before, first, second = await body(ask)
    assert (baseline(first)["made"], baseline(first)["run_ids"]) == (False, [before["run_id"]])
    # The run of the first checkpoint was at the files that it committed.
    assert isinstance(first["tests"], dict) and isinstance(first["commit"], dict)
    assert (baseline(second)["made"], baseline(second)["run_ids"]) == (False, [first["tests"]["run_id"]])
    assert baseline(second)["commit"] == first["commit"]["oid"]
    assert second["committed"] is True


@requirement("CHK-02")
async def test_a_baseline_is_of_the_commit_whatever_the_work_tree_has(shop: Path) -> None:
    edit(shop, PRICES.replace("net * 2", "net * 3"))

    async def body(ask: Ask) -> tuple[JsonObject, JsonObject, JsonObject]:
        changed = result(await ask("test.run"))
        recorded = result(await ask("test.run", baseline=True))
        assert git(shop, "diff", "--name-only") == "shop/prices.py"
        return changed, recorded, result(await ask("checkpoint", message="Triple"))

    async with asking(shop, UNITTEST) as ask:
        changed, recorded, done = await body(ask)
    assert changed["summary"]["tests_failed"] == 2  # type: ignore[index,call-overload]
    assert recorded["summary"]["tests_failed"] == 1  # type: ignore[index,call-overload]
    assert recorded["baseline_of"] == git(shop, "rev-parse", "HEAD")
    assert names(baseline(done), "old", "new") == [[OLD], [NEW]]
    assert (done["committed"], baseline(done)["run_ids"]) == (False, [recorded["run_id"]])


@requirement("CHK-02")
async def test_a_baseline_is_of_whole_targets_and_in_place_where_nothing_changed(shop: Path) -> None:
    async with asking(shop, UNITTEST) as ask:
        for arguments in ({"pattern": "gross"}, {"targets": [f"{NEW.rpartition('::')[0]}::test_price"]}):
            refused = await ask("test.run", baseline=True, **arguments)
            assert "a baseline is of whole targets" in str(refused.get("error")), refused
        # A run before the commit, whose results still hold after it.
        edit(shop, PRICES + "# more\n")
        ran = result(await ask("test.run"))
        git(shop, "commit", "--quiet", "-am", "more")
        recorded = result(await ask("test.run", baseline=True))
        assert (recorded["baseline_of"], recorded["reused_from"]) == (git(shop, "rev-parse", "HEAD"), [ran["run_id"]])
        edit(shop, PRICES + "# most\n")
        done = result(await ask("checkpoint", message="most"))
        assert (done["committed"], baseline(done)["made"]) == (True, False)


@requirement("CHK-02")
async def test_a_pass_at_a_commit_cannot_be_recorded_away(shop: Path) -> None:
    """A test that passed at the commit stays so when what it needs is broken and the baseline recorded again."""
    needs = TESTED.replace("import unittest\n", "import os\nimport unittest\n").replace(
        "        self.assertEqual(price(2), 4)",
        "        self.assertFalse(os.path.exists('broken.tmp'))\n        self.assertEqual(price(2), 4)",
    )
    (shop / "tests/test_prices.py").write_text(needs)
    git(shop, "commit", "--quiet", "-am", "needs")

    async def body(ask: Ask) -> tuple[JsonObject, JsonObject]:
        await ask("test.run")
        (shop / "broken.tmp").touch()
        edit(shop, PRICES.replace("net * 2", "net * 3"))
        again = result(await ask("test.run", baseline=True))
        return again, result(await ask("checkpoint", message="Triple"))

    async with asking(shop, UNITTEST) as ask:
        again, done = await body(ask)
    assert again["summary"]["tests_failed"] == 2  # type: ignore[index,call-overload]
    assert done["committed"] is False
    assert names(baseline(done), "new") == [[NEW]]


@requirement("CHK-02")
async def test_a_commit_without_tests_is_named_as_such(shop: Path) -> None:
    edit(shop, PRICES.replace("net * 2", "net * 3"))
    async with asking(shop, UNITTEST) as ask:
        await ask("checkpoint", message="untested", tests="none")
        edit(shop, PRICES.replace("net * 2", "net * 3") + "# more\n")
        envelope = await ask("checkpoint", message="after")
    assert baseline(result(envelope))["untested"] is True
    assert "(committed without tests) has too" in str(envelope["text"])


@requirement("CHK-02")
async def test_a_failure_of_another_kind_in_the_copy_proves_nothing(shop: Path) -> None:
    """Something may be missing there, so that it is no proof that the failure is old."""
    raises = TESTED.replace("self.assertEqual(price(2), 4)", "raise OSError('gone')")
    (shop / "tests/test_prices.py").write_text(raises)
    git(shop, "commit", "--quiet", "-am", "errors")
    (shop / "tests/test_prices.py").write_text(TESTED)
    edit(shop, PRICES.replace("net * 2", "net * 3"))
    async with asking(shop, UNITTEST) as ask:
        envelope = await ask("checkpoint", message="asserts")
    done = result(envelope)
    assert done["committed"] is False
    assert [one.rpartition("test_")[2] for one in baseline(done)["unknown"]] == ["price"]  # type: ignore[union-attr]
    assert "it failed there in another way (OSError)" in str(envelope["text"])


@requirement("CHK-02")
async def test_a_target_that_does_not_load_excuses_only_the_same_reason(shop: Path) -> None:
    (shop / "shop/prices.py").write_text("import nothing_of_that_name\n" + PRICES)
    git(shop, "commit", "--quiet", "-am", "broken")

    async def body(ask: Ask) -> tuple[JsonObject, JsonObject]:
        await ask("test.run")
        edit(shop, "import nothing_of_that_name\n\n" + PRICES)
        same = result(await ask("checkpoint", message="same"))
        edit(shop, "import nothing_of_this_name\n" + PRICES)
        return same, result(await ask("checkpoint", message="other"))

    async with asking(shop, UNITTEST) as ask:
        same, other = await body(ask)
    assert (same["committed"], baseline(same)["old_count"]) == (True, 1)
    assert (other["committed"], list(baseline(other)["unknown"])) == (False, ["tests/test_prices.py"])  # type: ignore[arg-type]


@requirement("CHK-02")
@pytest.mark.parametrize("unloaded", ["tests/conftest.py", "tests/test_prices.py"])
async def test_tests_added_to_a_file_that_never_loaded_are_not_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unloaded: str
) -> None:
    """As in a checkout without its dependencies: the file fails before and after, which tells nothing of a new test."""
    monkeypatch.setenv("PATH", environment()["PATH"])
    tested = "from shop.prices import price\n\n\ndef test_price():\n    assert price(2) == 4\n"
    files = {"shop/prices.py": PRICES, "tests/test_prices.py": tested, "pytest.ini": "[pytest]\npythonpath = .\n"}
    files[unloaded] = "import nothing_of_that_name\n" + files.get(unloaded, "")
    root = shop_repo(tmp_path / "shop", files)
    edit(root, PRICES.replace("net * 2", "net + net"))
    async with asking(root) as ask:
        unchanged = result(await ask("checkpoint", message="Add instead"))
        with (root / "tests/test_prices.py").open("a") as file:
            file.write("\n\ndef test_red():\n    assert price(1) == 3\n")
        envelope = await ask("checkpoint", message="Test more")
        added = result(envelope)
        text = (root / unloaded).read_text().removeprefix("import nothing_of_that_name\n")
        (root / unloaded).write_text(text)
        loaded = result(await ask("checkpoint", message="Test more"))
    assert (unchanged["committed"], names(baseline(unchanged), "old")) == (True, [["tests/test_prices.py"]])
    assert (added["committed"], list(baseline(added)["unknown"])) == (False, ["tests/test_prices.py"])  # type: ignore[arg-type]
    assert "its tests changed, and it fails as a whole here as there" in str(envelope["text"])
    assert "test_run baseline=true" not in str(envelope["text"]), "it would tell no more"
    assert (loaded["committed"], names(baseline(loaded), "new")) == (False, [["tests/test_prices.py::test_red"]])
    assert git(root, "log", "--format=%s") == "Add instead\nfirst"


@requirement("CHK-02")
async def test_a_target_whose_tests_passed_cannot_be_recorded_as_one_that_does_not_load(shop: Path) -> None:
    needs = "import os\nif os.path.exists('broken.tmp'):\n    import nothing_of_that_name\n" + TESTED
    (shop / "tests/test_prices.py").write_text(needs)
    git(shop, "commit", "--quiet", "-am", "needs")
    async with asking(shop, UNITTEST) as ask:
        await ask("test.run")
        (shop / "broken.tmp").touch()
        edit(shop, PRICES.replace("net * 2", "net * 3"))
        await ask("test.run", baseline=True)
        done = result(await ask("checkpoint", message="Triple"))
    assert (done["committed"], names(baseline(done), "new")) == (False, [["tests/test_prices.py"]])


@requirement("CHK-02")
async def test_ignored_files_and_environments_are_in_the_copy(shop: Path) -> None:
    """The tests of the commit find what git ignores: small files, and packages where they are installed."""
    (shop / ".gitignore").write_text("local/\nvenv/\n")
    (shop / "local").mkdir()
    (shop / "local/rate.txt").write_text("119")
    subprocess.run(["python3", "-m", "venv", "--without-pip", "venv"], cwd=shop, check=True)
    (site,) = (shop / "venv/lib").glob("python*/site-packages")
    (site / "rates.py").write_text("RATE = 119\n")
    reads = TESTED.replace("import unittest\n", "import unittest\nfrom pathlib import Path\nfrom rates import RATE\n")
    reads = reads.replace("gross(100), 119", "gross(100), RATE").replace(
        "price(2), 4", "price(2) + int(Path('local/rate.txt').read_text()), 4 + RATE"
    )
    (shop / "tests/test_prices.py").write_text(reads)
    git(shop, "add", "-A")
    git(shop, "commit", "--quiet", "-m", "reads")
    edit(shop, PRICES.replace("net * 2", "net * 3"))
    async with asking(shop, UNITTEST) as ask:
        done = result(await ask("checkpoint", message="Triple"))
    assert names(baseline(done), "old", "new") == [[OLD], [NEW]]
    assert (shop / "local/rate.txt").read_text() == "119"


@requirement("CHK-02")
async def test_without_a_sandbox_it_says_that_it_does_not_know(shop: Path) -> None:
    edit(shop, PRICES.replace("net * 2", "net + net"))
    async with asking(shop, UNITTEST, "tests.sandbox=off") as ask:
        envelope = await ask("checkpoint", message="Add instead")
    assert result(envelope)["committed"] is False
    assert "old or new?" in str(envelope["text"]) and "without a sandbox" in str(envelope["text"])


@requirement("TST-31")
async def test_a_run_and_a_checkpoint_of_the_same_files_run_once(shop: Path) -> None:
    counting = TESTED.replace("import unittest\n", "import unittest\nprint('ran', file=open('runs.tmp', 'a'))\n")
    (shop / "tests/test_prices.py").write_text(counting)
    git(shop, "commit", "--quiet", "-am", "counts")
    edit(shop, PRICES.replace("return net\n", "return net * 119 // 100\n"))

    def runs() -> int:
        return len((shop / "runs.tmp").read_text().splitlines())

    async with asking(shop, UNITTEST) as ask:
        first = result(await ask("test.run"))
        assert runs() == 1
        again = await ask("test.run", impacted=True)
        assert (runs(), result(again)["reused_from"]) == (1, [first["run_id"]])
        assert "reused from" in str(again["text"]) and "fresh=true" in str(again["text"])
        printed = await ask("test.output", run_id=result(again)["run_id"], target="tests/test_prices.py")
        assert "error" not in printed, printed
        await ask("test.run", fresh=True)
        assert runs() == 2
        done = result(await ask("checkpoint", message="Gross"))
        assert (done["committed"], runs()) == (True, 2)
        edit(shop, PRICES)
        await ask("test.run")
        assert runs() == 3
    # Also after a restart.
    edit(shop, PRICES)
    async with asking(shop, UNITTEST) as ask:
        found = result(await ask("test.run"))
        assert (found["progress"]["reused"], runs()) == (1, 3)  # type: ignore[index,call-overload]


@requirement("TST-31")
async def test_errors_and_flaky_tests_are_run_again(shop: Path) -> None:
    (shop / "tests/test_broken.py").write_text("import nothing_of_that_name\n")
    flaky = "import os, unittest\n\n\nclass Both(unittest.TestCase):\n    def test_both(self):\n"
    flaky += "        if not os.path.exists('seen.tmp'):\n            open('seen.tmp', 'w')\n            self.fail()\n"
    (shop / "tests/test_both.py").write_text(flaky)
    async with asking(shop, UNITTEST) as ask:
        await ask("test.run", rerun_failed=1)
        await ask("test.run", fresh=True)
        found = result(await ask("test.run"))
    assert found["progress"]["reused"] == 1, "only the steady one"  # type: ignore[index,call-overload]


@requirement("TST-31")
async def test_reuse_ends_with_time(shop: Path) -> None:
    async with asking(shop, UNITTEST, "tests.reuse_sec=0") as ask:
        await ask("test.run")
        found = result(await ask("test.run"))
    assert found["progress"]["reused"] == 0  # type: ignore[index,call-overload]
