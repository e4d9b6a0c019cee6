"""What stands against a plan, said in few words: files that changed, risks by their kinds, folders."""

from pathlib import Path
from typing import cast

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import failed, made, texts

USES = {
    "core.py": "def price(net):\n    return net\n",
    **{f"use_{number:02}.py": "from core import price\n\nprice(1)\n" for number in range(40)},
}


@requirement("REF-31")
async def test_what_changed_since_is_named_first(tmp_path: Path) -> None:
    root = made(tmp_path, USES)
    async with asking(root, "index.watch=false") as ask:
        plan = result(await ask("refactor.rename", symbol="core.py:1:5", new_name="cost"))
        (root / "use_33.py").write_text("from core import price\n\nprice(2)\nprice(3)\n")
        (root / "use_34.py").write_text("import os\n")
        envelope = await ask("refactor.apply", refactor_id=plan["refactor_id"])
        blocked = result(envelope)
        assert blocked["status"] == "blocked"
        assert blocked["suggested_refresh_scope"] == ["use_33.py", "use_34.py"]
        assert (blocked["changed_count"], blocked["unchanged_count"]) == (2, 39)
        scanned = cast(JsonObject, cast(JsonObject, blocked["witness"])["bounds"])["files_scanned"]
        assert cast(list[str], scanned)[:2] == ["use_33.py", "use_34.py"] and len(cast(list[str], scanned)) == 20
        text = str(envelope["text"])
        assert "changed since: use_33.py, use_34.py\n" in text and "39 other files" in text and "use_12" not in text
        assert "price" in texts(root)["core.py"]


@requirement("REF-31")
async def test_a_plan_holds_while_nothing_changes_and_not_a_moment_longer(tmp_path: Path) -> None:
    root = made(tmp_path, USES)
    async with asking(root, "index.watch=false") as ask:
        plan = result(await ask("refactor.rename", symbol="core.py:1:5", new_name="cost"))
        other = result(await ask("refactor.rename", symbol="core.py:1:5", new_name="fee"))
        assert result(await ask("refactor.apply", refactor_id=plan["refactor_id"]))["status"] == "applied"
        stale = await ask("refactor.apply", refactor_id=other["refactor_id"])
        # Nothing is called price any more, whatever the plan says.
        assert stale.get("error") or result(stale)["status"] == "blocked"
        assert "cost" in texts(root)["core.py"] and "fee" not in texts(root)["core.py"]


@requirement("REF-01")
async def test_risks_of_one_kind_are_told_together(tmp_path: Path) -> None:
    classes = "".join(f"class C{number}(Own, Outside):\n    def go(self): return 1\n\n\n" for number in range(30))
    own = "class Own:\n    def go(self): return 1\n\n\n"
    root = made(tmp_path, {"a.py": f"from elsewhere import Outside\n\n\n{own}{classes}def f(x): return x.go()\n"})
    async with asking(root) as ask:
        envelope = await ask("refactor.rename", symbol="a.py:5:9", new_name="run")
    manifest = cast(JsonObject, result(envelope)["manifest"])
    kinds = cast(dict[str, int], manifest["risk_kinds"])
    risks = cast(list[JsonObject], manifest["risks"])
    assert sum(kinds.values()) == manifest["risk_count"] and max(kinds.values()) > 3
    assert all(sum(risk["kind"] == kind for risk in risks) == min(count, 20) for kind, count in kinds.items())
    text = str(envelope["text"])
    for kind, count in kinds.items():
        assert text.count(f"\n  {kind}: ") <= 4
        assert count <= 3 or f"{kind}: and {count - 3} more" in text


@requirement("REF-14")
async def test_a_folder_is_deleted_with_what_belongs_to_it(tmp_path: Path) -> None:
    files = {
        "old/a.py": "def a(): return 1\n",
        "old/deep/b.txt": "b\n",
        "new/c.py": "from old.a import a\n",
        "d.py": "def old_thing(): return 1\n",
        ".gitignore": "*.log\nbuilt/\n",
    }
    root = made(tmp_path, files)
    (root / "old/x.log").write_text("x\n")
    (root / "built").mkdir()
    (root / "built/y.py").write_text("y\n")
    async with asking(root) as ask:
        assert failed(await ask("refactor.delete", target="old/")) == "STILL_USED"
        envelope = await ask("refactor.delete", target="old", force=True)
        plan = result(envelope)
        assert plan["title"] == "delete the folder old (2 files)"
        assert "files_stay: left out here, so they stay: old/x.log" in str(envelope["text"])
        assert failed(await ask("refactor.delete", target="built/")) == "NOT_REFACTORABLE"
        assert failed(await ask("refactor.delete", target="../repo")) != "INTERNAL_ERROR"
        assert failed(await ask("refactor.delete", target="nowhere/")) == "NOT_FOUND"
        result(await ask("refactor.apply", refactor_id=plan["refactor_id"]))
        assert "old/a.py" not in texts(root) and "old/deep/b.txt" not in texts(root)
        assert (root / "old/x.log").exists()


@requirement("REF-30")
async def test_a_move_changes_the_paths_in_documentation(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/prices.py": "def price(net): return net\n",
        "README.md": "See [prices](shop/prices.py) and `shop/prices.py`.\n",
        "CHANGELOG.md": "Added `shop/prices.py`.\n",
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        plan = result(await ask("refactor.move", from_path="shop/prices.py", to_path="shop/costs.py"))
        words = cast(JsonObject, plan["doc_edits"])
        assert (words["total"], words["applying"]) == (3, 2)
        result(await ask("refactor.apply", refactor_id=plan["refactor_id"]))
        assert texts(root)["README.md"] == "See [prices](shop/costs.py) and `shop/costs.py`.\n"
        assert texts(root)["CHANGELOG.md"] == files["CHANGELOG.md"]
