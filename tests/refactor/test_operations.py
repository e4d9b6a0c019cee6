"""Refactoring through the door: planned, looked at, chosen, applied, taken back."""

import subprocess
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result

SHOP = {
    "shop/__init__.py": "from shop.prices import price\n\n__all__ = ['price']\n",
    "shop/prices.py": "def price(net: int) -> int:\n    return net * 2\n",
    "shop/till.py": "from shop import price\n\n\ndef total(items):\n    return sum(price(one) for one in items)\n",
    "tests/test_prices.py": "from shop.prices import price\n\n\ndef test_price():\n    assert price(2) == 4\n",
    "README.md": "# Shop\n\nCall `price` with the net amount.\n",
}
FAMILY = {
    "zoo.py": "class Animal:\n    def speak(self):\n        return ''\n\n\nclass Dog(Animal):\n    def speak(self):\n"
    "        return 'woof'\n\n\ndef loud(dog: Dog):\n    return dog.speak().upper()\n",
}


def made(tmp_path: Path, files: dict[str, str]) -> Path:
    root = tmp_path / "repo"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@e.org", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    return root


def texts(root: Path) -> dict[str, str]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, check=True)
    return {
        name: (root / name).read_bytes().decode()
        for name in listed.stdout.decode().splitlines()
        if not name.startswith(".codeplane") and (root / name).exists()
    }


def edits(found: JsonObject) -> list[JsonObject]:
    preview = cast(JsonObject, found["preview"])
    return cast(list[JsonObject], preview["edits"])


def failed(envelope: JsonObject) -> str:
    error = envelope["error"]
    assert isinstance(error, dict), envelope
    return str(error["error"])


@requirement("REF-01")
async def test_a_plan_shows_every_edit_and_changes_nothing(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root) as ask:
        found = result(await ask("refactor.rename", symbol="shop/prices.py:1:5", new_name="cost"))
    assert texts(root) == SHOP
    assert found["status"] == "previewed"
    code = [one for one in edits(found) if one["semantic"]]
    assert {(one["path"], one["line"], one["column"]) for one in code} >= {
        ("shop/prices.py", 1, 5),
        ("shop/__init__.py", 1, 25),
        ("shop/till.py", 1, 18),
        ("shop/till.py", 5, 16),
        ("tests/test_prices.py", 1, 25),
        ("tests/test_prices.py", 5, 12),
    }
    assert all(one["old"] == "price" and one["new"] == "cost" for one in code if one["role"] != "STRING")
    assert all(one["applies"] for one in code if one["tier"] in ("PROVEN", "STRONG"))


@requirement("REF-44")
async def test_a_plan_names_symbols_and_tests_and_its_delta_says_which_edits_are_semantic(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root) as ask:
        planned = await ask("refactor.rename", symbol="shop/prices.py:1:5", new_name="cost")
        preview = cast(JsonObject, result(planned)["preview"])
        assert preview["affected_tests"] == ["tests/test_prices.py"]
        symbols = cast(list[str], preview["affected_symbols"])
        assert {"-shop/prices.py:price", "+shop/prices.py:cost", "shop/till.py:total"} <= set(symbols)
        assert "tests: tests/test_prices.py" in str(planned["text"])
        done = result(await ask("refactor.rename", refactor_id=result(planned)["refactor_id"]))
        applied = cast(JsonObject, done["applied"])
        assert applied["affected_symbols"] == symbols
        files = cast(list[JsonObject], cast(JsonObject, applied["delta"])["files"])
        found = {
            str(path["path"]): [(edit["symbol"], edit["semantic"]) for edit in cast(list[JsonObject], path["edits"])]
            for path in files
        }
        assert found["shop/prices.py"] == [("cost", True)]
        assert found["shop/till.py"] == [(None, True), ("total", True)]
        assert [semantic for _, semantic in found["README.md"]] == [False]


@requirement("REF-01")
async def test_a_plan_is_applied_by_its_id_with_the_words_about_it_and_undone(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="shop/prices.py:1:5", new_name="cost"))
        done = await ask("refactor.rename", refactor_id=plan["refactor_id"])
        assert result(done)["status"] == "applied"
        now = texts(root)
        assert now["shop/till.py"] == SHOP["shop/till.py"].replace("price", "cost")
        assert now["shop/__init__.py"] == "from shop.prices import cost\n\n__all__ = ['cost']\n"
        assert now["README.md"] == SHOP["README.md"].replace("`price`", "`cost`")
        assert (
            now["tests/test_prices.py"]
            == "from shop.prices import cost\n\n\ndef test_price():\n    assert cost(2) == 4\n"
        )
        assert failed(await ask("refactor.apply", refactor_id=plan["refactor_id"])) == "PLAN_NOT_FOUND"
        result(await ask("undo"))
        assert texts(root) == SHOP


@requirement("REF-01")
async def test_words_stay_when_they_are_not_wanted(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root) as ask:
        result(
            await ask(
                "refactor.rename", symbol="shop.prices.price", new_name="cost", include_comments=False, apply=True
            )
        )
    assert texts(root)["README.md"] == SHOP["README.md"]
    assert "def cost(" in texts(root)["shop/prices.py"]


@requirement("REF-01")
async def test_an_override_family_is_a_decision(tmp_path: Path) -> None:
    root = made(tmp_path, FAMILY)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="zoo.py:7:9", new_name="say", apply=True))
        assert plan["status"] == "needs_decision"
        assert texts(root) == FAMILY
        candidates = cast(list[JsonObject], plan["candidates"])
        assert [candidate["id"] for candidate in candidates] == ["family", "this_one"]
        assert plan["witness"] and plan["decision_capsules"]
        undecided = result(await ask("refactor.apply", refactor_id=plan["refactor_id"]))
        assert undecided["status"] == "needs_decision"
        assert texts(root) == FAMILY
        result(await ask("refactor.apply", refactor_id=plan["refactor_id"], candidate="family"))
        assert "speak" not in texts(root)["zoo.py"]


@requirement("REF-01")
async def test_a_decision_is_committed_with_proof_alone(tmp_path: Path) -> None:
    root = made(tmp_path, FAMILY)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="zoo.py:7:9", new_name="say"))
        decision = {"plan_id": plan["refactor_id"], "selected_candidate_id": "family"}
        nothing = await ask("decision.commit", **decision, proof={"symbol_identity": "Dog.speak"})
        assert failed(nothing) == "INVALID_ARGUMENT"
        wrong = {"anchors": [{"file": "zoo.py", "line": 7, "anchor_before": "async def ", "anchor_after": "(self"}]}
        assert failed(await ask("decision.commit", **decision, proof=wrong)) == "INVALID_ARGUMENT"
        for evidence in (
            {"line": 7, "content_hash": "abcdef123"},
            {"line": 4, "content": " "},
            {"line": 13, "content": "\n"},
            {"line": 3, "content": "        return ''"},
        ):
            other = {"file_line_evidence": [{"file": "zoo.py", **evidence}]}
            assert failed(await ask("decision.commit", **decision, proof=other)) == "INVALID_ARGUMENT"
        line = {"file_line_evidence": [{"file": "zoo.py", "line": 2, "content": "    def speak(self):"}]}
        foreign = {"symbol_identity": "nonsense.speak", **line}
        assert failed(await ask("decision.commit", **decision, proof=foreign)) == "INVALID_ARGUMENT"
        assert texts(root) == FAMILY
        proof = {
            "symbol_identity": "Dog.speak",
            "anchors": [{"file": "zoo.py", "line": 7, "anchor_before": "def ", "anchor_after": "(self"}],
            "file_line_evidence": [{"file": "zoo.py", "line": 2, "content": "    def speak(self):"}],
        }
        done = result(await ask("decision.commit", **decision, proof=proof))
        assert done["status"] == "applied"
        assert "speak" not in texts(root)["zoo.py"]


@requirement("REF-01")
async def test_a_decision_is_not_committed_when_the_files_moved_on(tmp_path: Path) -> None:
    root = made(tmp_path, FAMILY)
    async with asking(root, "index.watch=false") as ask:
        plan = result(await ask("refactor.rename", symbol="zoo.py:7:9", new_name="say"))
        (root / "cat.py").write_text(
            "from zoo import Animal\n\n\nclass Cat(Animal):\n    def speak(self):\n        return ''\n"
        )
        proof = {"anchors": [{"file": "zoo.py", "line": 7, "anchor_before": "def ", "anchor_after": "(self"}]}
        done = await ask("decision.commit", plan_id=plan["refactor_id"], selected_candidate_id="family", proof=proof)
        assert result(done)["status"] == "blocked"
        assert texts(root)["zoo.py"] == FAMILY["zoo.py"]


async def test_a_use_that_came_since_blocks_the_plan_and_gives_a_new_one(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root, "index.watch=false") as ask:
        plan = result(await ask("refactor.rename", symbol="shop/prices.py:1:5", new_name="cost"))
        (root / "shop/late.py").write_text("from shop import price\n\nprice(1)\n")
        envelope = await ask("refactor.apply", refactor_id=plan["refactor_id"])
        blocked = result(envelope)
        assert blocked["status"] == "blocked"
        assert cast(JsonObject, envelope["meta"])["unmet"] == "blocked"
        assert "files_changed" in cast(list[str], cast(JsonObject, blocked["witness"])["invariants_failed"])
        assert "price" in texts(root)["shop/prices.py"]
        result(await ask("refactor.apply", refactor_id=blocked["refactor_id"]))
        assert texts(root)["shop/late.py"] == "from shop import cost\n\ncost(1)\n"


@pytest.mark.parametrize(
    ("symbol", "new_name", "error"),
    [
        ("shop/prices.py:1:5", "class", "INVALID_ARGUMENT"),
        ("shop/prices.py:1:5", "1st", "INVALID_ARGUMENT"),
        ("shop/prices.py:1:5", "", "INVALID_ARGUMENT"),
        ("shop/prices.py:2:1", "cost", "NOT_FOUND"),
        ("shop/prices.py:99:1", "cost", "NOT_FOUND"),
        ("nothing_like_it", "cost", "NOT_FOUND"),
        ("shop/till.py:5:12", "cost", "NOT_FOUND"),
        ("shop/till.py:4:5", "price", "NAME_TAKEN"),
    ],
)
async def test_what_cannot_be_is_refused(tmp_path: Path, symbol: str, new_name: str, error: str) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root) as ask:
        assert (failed(await ask("refactor.rename", symbol=symbol, new_name=new_name, apply=True))) == error
    assert texts(root) == SHOP


async def test_a_name_that_several_have_is_asked_back(tmp_path: Path) -> None:
    root = made(tmp_path, {"a.py": "def go(): ...\n", "b.py": "def go(): ...\n"})
    async with asking(root) as ask:
        envelope = await ask("refactor.rename", symbol="go", new_name="run")
        assert failed(envelope) == "INVALID_ARGUMENT"
        details = cast(JsonObject, cast(JsonObject, envelope["error"])["details"])
        chosen = cast(list[JsonObject], details["candidates"])[1]
        result(await ask("refactor.rename", symbol=chosen["id"], new_name="run", apply=True))
    assert sorted(texts(root).values()) == ["def go(): ...\n", "def run(): ...\n"]


async def test_proposals_are_made_when_they_are_included(tmp_path: Path) -> None:
    files = {"a.py": "class Box:\n    def open(self): ...\n\n\ndef use(thing):\n    thing.open()\n    Box().open()\n"}
    root = made(tmp_path, files)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="a.py:2:9", new_name="unlock"))
        proposed = [one for one in edits(plan) if not one["applies"]]
        assert [(one["line"], one["tier"]) for one in proposed] == [(6, "ANCHORED")]
        assert (
            failed(await ask("refactor.apply", refactor_id=plan["refactor_id"], include=["99"])) == "INVALID_ARGUMENT"
        )
        done = result(await ask("refactor.apply", refactor_id=plan["refactor_id"], exclude=["anchored"]))
        assert cast(JsonObject, done["applied"])["not_applied"] == 1
        assert "thing.open()" in texts(root)["a.py"]
        result(await ask("undo"))
        plan = result(await ask("refactor.rename", symbol="a.py:2:9", new_name="unlock"))
        result(await ask("refactor.apply", refactor_id=plan["refactor_id"], include=["anchored"], exclude=["#0"]))
        assert texts(root)["a.py"].count("unlock") == 2


async def test_edits_come_in_pages(tmp_path: Path) -> None:
    root = made(tmp_path, {"a.py": "def f(): ...\n" + "f()\n" * 30})
    async with asking(root) as ask:
        seen: list[object] = []
        page = result(await ask("refactor.rename", symbol="f", new_name="g", limit=12))
        while True:
            seen += [one["line"] for one in edits(page)]
            cursor = cast(JsonObject, page["pagination"]).get("next_cursor")
            if not cursor:
                break
            page = result(await ask("refactor.rename", symbol="f", new_name="g", limit=12, cursor=cursor))
        assert seen == list(range(1, 32))


async def test_a_cancelled_plan_is_gone(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="shop/prices.py:1:5", new_name="cost"))
        assert result(await ask("refactor.cancel", refactor_id=plan["refactor_id"]))["status"] == "cancelled"
        for operation in ("refactor.apply", "refactor.preview", "refactor.cancel"):
            assert failed(await ask(operation, refactor_id=plan["refactor_id"])) == "PLAN_NOT_FOUND"
        assert failed(await ask("refactor.apply", refactor_id="../../etc/passwd")) == "PLAN_NOT_FOUND"
    assert texts(root) == SHOP


async def test_a_plan_outlives_the_process_that_made_it(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)

    async def plan() -> str:
        async with asking(root) as ask:
            planned = await ask("refactor.rename", symbol="shop/prices.py:1:5", new_name="cost")
        return str(result(planned)["refactor_id"])

    first, second = await plan(), await plan()
    async with asking(root) as ask:
        assert result(await ask("refactor.apply", refactor_id=first))["status"] == "applied"
        # What the second plan was about is no longer there.
        assert failed(await ask("refactor.apply", refactor_id=second)) == "PLAN_NOT_FOUND"


async def test_bytes_that_are_no_part_of_an_edit_stay(tmp_path: Path) -> None:
    root = made(tmp_path, {"a.py": "def f():\r\n\treturn 1  # \u00e9\r\n\r\nf()"})
    (root / "a.py").chmod(0o755)
    async with asking(root) as ask:
        result(await ask("refactor.rename", symbol="f", new_name="gr\u00fc\u00df", apply=True))
    assert (
        root / "a.py"
    ).read_bytes().decode() == "def gr\u00fc\u00df():\r\n\treturn 1  # \u00e9\r\n\r\ngr\u00fc\u00df()"
    assert (root / "a.py").stat().st_mode & 0o777 == 0o755


async def test_a_file_that_does_not_parse_stops_nothing_and_is_named(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP | {"broken.py": "from shop import price\nprice(((\n"})
    async with asking(root) as ask:
        assert (result(await ask("refactor.rename", symbol="shop/prices.py:1:5", new_name="cost", apply=True)))[
            "status"
        ] == "applied"
    assert "def cost" in texts(root)["shop/prices.py"]


async def test_a_file_moves_with_its_imports_and_with_git(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root) as ask:
        plan = result(await ask("refactor.move", from_path="shop/prices.py", to_path="shop/money/prices.py"))
        assert texts(root) == SHOP
        done = result(await ask("refactor.apply", refactor_id=plan["refactor_id"]))
        files = cast(list[JsonObject], cast(JsonObject, cast(JsonObject, done["applied"])["delta"])["files"])
        assert [path["git_mv"] for path in files if path["action"] == "moved"] == [True]
        now = texts(root)
        assert now["shop/money/prices.py"] == SHOP["shop/prices.py"]
        assert now["shop/__init__.py"].startswith("from shop.money.prices import price\n")
        subprocess.run(["python3", "-B", "-c", "import shop.till"], cwd=root, check=True)
        result(await ask("undo"))
        assert texts(root) == SHOP


async def test_a_module_is_renamed_by_its_path(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root) as ask:
        result(await ask("refactor.rename", symbol="shop/prices.py", new_name="costs", apply=True))
    assert texts(root)["shop/__init__.py"].startswith("from shop.costs import price\n")
    assert "shop/costs.py" in texts(root)


async def test_what_is_used_is_not_deleted_unless_forced(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP | {"shop/extra.py": "def spare():\n    return 1\n\n\ndef other():\n    return 2\n"})
    async with asking(root) as ask:
        assert failed(await ask("refactor.delete", target="shop/prices.py:1:5", apply=True)) == "STILL_USED"
        assert "def price" in texts(root)["shop/prices.py"]
        result(await ask("refactor.delete", target="shop/extra.py:1:5", apply=True))
        assert texts(root)["shop/extra.py"] == "def other():\n    return 2\n"
        assert result(await ask("refactor.delete", target="shop/prices.py:1:5", force=True))["status"] == "previewed"


async def test_syntax_is_replaced_by_its_shape(tmp_path: Path) -> None:
    root = made(tmp_path, {"a.py": "assert_equal(f(1), 2)\n# assert_equal(a, b)\nassert_equal( x ,[y, z])\n"})
    async with asking(root) as ask:
        plan = result(
            await ask("refactor.replace", pattern="assert_equal($A, $B)", rewrite="check($B, $A)", language="python")
        )
        assert [one["new"] for one in edits(plan)] == ["check(2, f(1))", "check([y, z], x)"]
        result(await ask("refactor.apply", refactor_id=plan["refactor_id"]))
    assert texts(root)["a.py"] == "check(2, f(1))\n# assert_equal(a, b)\ncheck([y, z], x)\n"


@requirement("MCP-12")
async def test_without_refactoring_the_error_names_the_setting(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root, "refactor.enabled=false") as ask:
        assert (failed(await ask("refactor.rename", symbol="price", new_name="cost"))) == "OPERATION_DISABLED"


async def test_only_what_is_proven_applies_when_the_owner_says_so(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root, "refactor.auto_apply=proven") as ask:
        found = result(await ask("refactor.rename", symbol="shop/prices.py:1:5", new_name="cost"))
    assert {one["tier"] for one in edits(found) if one["applies"] and one["semantic"]} == {"PROVEN"}
    assert "STRONG" in {one["tier"] for one in edits(found) if not one["applies"]}


async def test_proposals_are_chosen_in_the_call_that_applies_and_nowhere_else(tmp_path: Path) -> None:
    files = {"a.py": "class Box:\n    def open(self): ...\n\n\ndef use(thing):\n    thing.open()\n"}
    root = made(tmp_path, files)
    async with asking(root) as ask:
        early = await ask("refactor.rename", symbol="a.py:Box.open", new_name="unlock", include=["anchored"])
        assert failed(early) == "INVALID_ARGUMENT"
        result(
            await ask("refactor.rename", symbol="a.py:Box.open", new_name="unlock", include=["anchored"], apply=True)
        )
    assert texts(root)["a.py"] == files["a.py"].replace("open", "unlock")


async def test_the_answer_counts_the_lines_that_changed(tmp_path: Path) -> None:
    root = made(tmp_path, {"a.py": "def f(): ...\n" + "x = 1\n" * 6000 + "f()\n"})
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="f", new_name="g", apply=True))
        delta = cast(JsonObject, cast(JsonObject, done["applied"])["delta"])
    assert (delta["insertions"], delta["deletions"]) == (2, 2)


async def test_a_stub_of_another_module_is_left_to_the_caller(tmp_path: Path) -> None:
    root = made(
        tmp_path,
        {
            "pkg/__init__.py": "from pkg.core import make\n",
            "pkg/__init__.pyi": "def make() -> int: ...\n",
            "pkg/core.py": "def make():\n    return 1\n",
            "other/__init__.pyi": "from pkg import make as make\n",
        },
    )
    async with asking(root) as ask:
        found = result(await ask("refactor.rename", symbol="pkg/core.py:1:5", new_name="build"))
    assert {one["path"] for one in edits(found) if one["applies"]} == {"pkg/__init__.py", "pkg/core.py"}


async def test_what_breaks_though_every_edit_is_right_is_seen_before_it_is_applied(tmp_path: Path) -> None:
    files = {"m.py": "CONST = 3\n\n\ndef helper(n=CONST):\n    return n\n\n\nx = helper()\n"}
    root = made(tmp_path, files)
    async with asking(root) as ask:
        envelope = await ask("refactor.move", symbol="helper", to_path="fresh.py", apply=True)
        found = result(envelope)
        assert found["status"] == "previewed"
        assert "import_cycle" in str(cast(JsonObject, found["manifest"])["risks"])
        assert "import_cycle" in str(cast(JsonObject, envelope["meta"])["warnings"])
        assert texts(root) == files


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"from_path": "shop/prices.py", "to_path": "shop/class.py"}, "INVALID_ARGUMENT"),
        ({"symbol": "shop/prices.py:1:5", "to_path": "class.py"}, "INVALID_ARGUMENT"),
        ({"from_path": "shop/prices.py", "to_path": "../prices.py"}, "PATH_DENIED"),
        ({"from_path": "shop/prices.py", "to_path": ".git/prices.py"}, "PATH_DENIED"),
        ({"to_path": "shop/other.py"}, "INVALID_ARGUMENT"),
    ],
)
async def test_where_nothing_can_go_nothing_goes(tmp_path: Path, arguments: dict[str, str], error: str) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root) as ask:
        assert (failed(await ask("refactor.move", **arguments, apply=True))) == error
    assert texts(root) == SHOP


async def test_an_import_that_leads_into_two_projects_is_a_divergence(tmp_path: Path) -> None:
    files = {
        "a/pyproject.toml": "[project]\nname = 'a'\n",
        "a/tools.py": "def make():\n    return 1\n",
        "b/pyproject.toml": "[project]\nname = 'b'\n",
        "b/tools.py": "def make():\n    return 2\n",
        "c/pyproject.toml": "[project]\nname = 'c'\n",
        "c/main.py": "from tools import make\n\nmake()\n",
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        envelope = await ask("refactor.rename", symbol="a/tools.py:1:5", new_name="build", apply=True)
        found = result(envelope)
        assert found["status"] == "divergence"
        assert cast(JsonObject, envelope["meta"])["unmet"] == "divergence"
        (hunk,) = cast(list[JsonObject], cast(JsonObject, found["divergence"])["conflicting_hunks"])
        assert (hunk["path"], hunk["contexts"]) == ("c/main.py", ["python:a", "python:b"])
        again = await ask("refactor.apply", refactor_id=found["refactor_id"])
        assert result(again)["status"] == "divergence"
        assert texts(root) == files
        result(
            await ask("refactor.rename", symbol="a/tools.py:1:5", new_name="build", contexts=["python:a"], apply=True)
        )
        assert texts(root) == files | {"a/tools.py": "def build():\n    return 1\n"}


async def test_a_plan_that_is_too_old_is_gone(tmp_path: Path) -> None:
    root = made(tmp_path, SHOP)
    async with asking(root, "refactor.plan_minutes=0.000001") as ask:
        plan = result(await ask("refactor.rename", symbol="shop/prices.py:1:5", new_name="cost"))
        assert (failed(await ask("refactor.apply", refactor_id=plan["refactor_id"]))) == "PLAN_NOT_FOUND"
    assert texts(root) == SHOP


@requirement("REF-01")
async def test_a_bare_name_in_a_file_means_the_top_level_one_and_numbers_are_edits(tmp_path: Path) -> None:
    root = made(
        tmp_path,
        {
            "a.py": "def near(x):\n    return x\n\n\nclass Folders:\n    def near(self):\n        return near(self)\n",
            "b.py": "def use(thing):\n    return thing.near()\n",
        },
    )
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="a.py:near", new_name="beside", apply=True))
        assert plan["status"] == "applied"
        assert texts(root)["a.py"].startswith("def beside(x):") and "return beside(self)" in texts(root)["a.py"]
        plan = result(await ask("refactor.rename", symbol="a.py:Folders.near", new_name="around"))
        waiting = [
            edit["id"] for edit in cast(list[JsonObject], cast(JsonObject, plan["preview"])["edits"]) if edit["waits"]
        ]
        done = result(await ask("refactor.apply", refactor_id=plan["refactor_id"], exclude=waiting))
        assert done["status"] == "applied" and "thing.near()" in texts(root)["b.py"]
