"""Git-ignored files that `index.include` names: found like any other, followed, counted; secrets and our own never."""

from pathlib import Path

import pytest

from codeplane.adapters.git_cli import GitCli
from codeplane.index.files.include import IncludeRules
from codeplane.index.files.listing import list_files
from codeplane.kernel.secret_paths import NOTHING_SHOWN
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking

pytestmark = requirement("REPO-40")

IGNORED = {
    "generated/api/client.py": "def fetch_orders():\n    return 1\n",
    "generated/api/.env": "TOKEN=abcdef123456\n",
    "generated/private.txt": "x\n",
    "build/out/types.py": "class Order:\n    pass\n",
    "node_modules/dep/api/client.py": "x = 1\n",
    "local.cfg": "x\n",
    "other/deep/local.cfg": "x\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    rules = "generated/\nbuild/\nnode_modules/\n*.cfg\n"
    root = make_repo(tmp_path / "repo", {".gitignore": rules, "app.py": "import os\n", "other/deep/a.py": "a = 1\n"})
    for name, text in IGNORED.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("patterns", "wanted"),
    [
        ([], []),
        (["generated/**"], ["generated/api/client.py", "generated/private.txt"]),
        (["generated/", "!generated/private.txt"], ["generated/api/client.py"]),
        (["/build/out/*.py"], ["build/out/types.py"]),
        (["local.cfg"], ["local.cfg", "other/deep/local.cfg"]),
        (["client.py"], ["generated/api/client.py"]),
        (["node_modules/dep/**"], ["node_modules/dep/api/client.py"]),
        ([".env", "*.env", "generated/api/.env"], []),
        ([".codeplane/**", ".git/**", "**/owner.token", "config"], []),
    ],
)
def test_what_is_named_belongs(root: Path, patterns: list[str], wanted: list[str]) -> None:
    (root / ".codeplane").mkdir()
    (root / ".codeplane" / "owner.token").write_text("x")
    before = list_files(root, GitCli)
    found = list_files(root, GitCli, NOTHING_SHOWN, IncludeRules(patterns))
    assert sorted(set(found.paths) - set(before.paths)) == wanted == sorted(found.included)
    assert not set(wanted) & set(found.skipped.get("ignored", ()))


def test_cplignore_still_leaves_it_out(root: Path) -> None:
    (root / ".cplignore").write_text("private.txt\n")
    found = list_files(root, GitCli, NOTHING_SHOWN, IncludeRules(["generated/**"]))
    assert sorted(found.included) == ["generated/api/client.py"]


async def test_it_is_searched_read_mapped_and_followed(root: Path) -> None:
    async with asking(root, 'index.include=["generated/**"]') as ask:
        found = await ask("search", query="fetch_orders", mode="definitions", fresh="strict")
        assert "generated/api/client.py" in str(found["text"])
        assert "fetch_orders" in str((await ask("read_files", paths=["symbol:fetch_orders"]))["text"])
        assert "generated" in str((await ask("map_repo"))["text"])
        status = await ask("status", include=["index"])
        result = status["result"]
        assert isinstance(result, dict)
        index = result["index"]
        assert isinstance(index, dict) and index["included"] == 2
        # By another program, by an edit, and a file that is new.
        (root / "generated/api/client.py").write_text("def fetch_invoices():\n    return 2\n")
        later = await ask("search", query="fetch_invoices", fresh="strict")
        assert "generated/api/client.py" in str(later["text"])
        edits = [{"path": "generated/api/more.py", "content": "def fetch_carts():\n    return 3\n"}]
        wrote = await ask("write_files", edits=edits)
        assert "error" not in wrote and "generated/api/more.py" in str(wrote["result"])
        new = await ask("search", query="fetch_carts", mode="definitions")
        assert "generated/api/more.py" in str(new["text"])
        (root / "generated/api/more.py").unlink()
        gone = await ask("search", query="fetch_carts", fresh="strict")
        assert "generated/api/more.py" not in str(gone["text"])
        assert "TOKEN" not in str((await ask("search", query="TOKEN", fresh="strict"))["text"]).replace("'TOKEN'", "")


async def test_without_the_setting_it_stays_out(root: Path) -> None:
    async with asking(root) as ask:
        found = await ask("search", query="fetch_orders", fresh="strict")
        assert "client.py" not in str(found["text"])
