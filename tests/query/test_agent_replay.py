"""The bench of replayed commits: what it draws, derives and scores, by the shell's policy alone."""

import subprocess
from pathlib import Path

from bench.agent_replay.commits import draw
from bench.agent_replay.outline import definitions, innermost
from bench.agent_replay.questions import Change, Locate, Rename, Tests
from bench.agent_replay.report import Cost, Played, interval, report
from bench.agent_replay.score import score
from bench.agent_replay.shell_policy import ShellPolicy
from bench.agent_replay.tasks import Deriver, Task
from bench.agent_replay.truth import Truth, TruthTools

from tests.harness import make_repo
from tests.interaction.requirements import requirement

pytestmark = requirement("EXP-02")

FILES = {
    "shop/money.py": "def parse(text):\n    return int(text)\n\n\ndef show(cents):\n    return cents / 100\n",
    "shop/cart.py": "from shop.money import parse\n\n\ndef total(items):\n    return parse(items[0])\n",
    "tests/test_money.py": "from shop.money import parse\n\n\ndef test_parse():\n    assert parse('1') == 1\n",
}


def _commit(root: Path, message: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, "commit", "--quiet", "--all", "-m", message], cwd=root, check=True)


def _renaming_repository(folder: Path) -> Path:
    root = make_repo(folder, FILES)
    for path in FILES:
        text = (root / path).read_text().replace("parse", "read_cents").replace("cents / 100", "cents / 100.0")
        (root / path).write_text(text)
    _commit(root, "Rename parse to read_cents")
    return root


def test_a_commit_gives_tasks_that_the_shell_policy_plays(tmp_path: Path) -> None:
    root = _renaming_repository(tmp_path / "repo")
    (commit,) = draw(root, 5, seed=1)
    assert (commit.source, commit.tests) == (["shop/cart.py", "shop/money.py"], ["tests/test_money.py"])
    assert commit.renames() == [("shop/money.py", "parse", "read_cents")]
    subprocess.run(["git", "checkout", "--quiet", commit.parent], cwd=root, check=True)
    with Truth(TruthTools(servers={}), root) as truth:
        tasks = {task.kind: task for task in Deriver(commit, truth).tasks()}
    # Who calls a function, and what of an interface changed, is asked of tools that are not given here.
    assert set(tasks) == {"locate", "change", "rename", "tests"}
    assert tasks["locate"].question == Locate(message="Rename parse to read_cents")
    assert tasks["rename"].question == Rename(path="shop/money.py", name="parse", new_name="read_cents")
    assert tasks["tests"].question == Tests(paths=("shop/cart.py", "shop/money.py"))
    assert isinstance(tasks["change"].question, Change)
    assert {edit.name for edit in tasks["change"].question.edits} == {"parse", "show", "total"}
    for task in tasks.values():
        assert Task.from_json(task.to_json()) == task
        answer, transcript = ShellPolicy(root).play(task.question)
        assert score(task, answer, transcript, root) >= 0.8, task.kind
        assert transcript.calls and transcript.size > len(transcript.read)
        subprocess.run(["git", "checkout", "--quiet", "."], cwd=root, check=True)


def test_an_answer_that_is_wrong_is_worth_less(tmp_path: Path) -> None:
    root = _renaming_repository(tmp_path / "repo")
    (commit,) = draw(root, 5, seed=1)
    subprocess.run(["git", "checkout", "--quiet", commit.parent], cwd=root, check=True)
    with Truth(TruthTools(servers={}), root) as truth:
        tasks = {task.kind: task for task in Deriver(commit, truth).tasks()}
    answer, transcript = ShellPolicy(root).play(Tests(paths=("none.py",)))
    assert score(tasks["tests"], answer, transcript, root) == 0.0
    assert score(tasks["change"], answer, transcript, root) == 0.0
    assert score(tasks["rename"], answer, transcript, root) == 0.0


def test_definitions_are_found_by_indentation() -> None:
    text = "export class Shop {\n  price(net: number): number {\n    return net\n  }\n\n  total = 1\n}\n\nconst x = 1\n"
    found = definitions("shop.ts", text)
    assert [(each.name, each.line, each.end) for each in found] == [("Shop", 1, 7), ("price", 2, 4)]
    inner, outer = innermost(found, 3), innermost(found, 6)
    assert inner is not None and inner.name == "price"
    assert outer is not None and outer.name == "Shop"
    assert innermost(found, 9) is None


def test_ratios_come_with_intervals() -> None:
    rows = [
        Played(
            key=f"repo {number} tests",
            repo="repo",
            kind="tests",
            language="python",
            shell=Cost(calls=2, size=100, score=1.0),
            codeplane=Cost(calls=1, size=50 + number, score=0.5),
        )
        for number in range(20)
    ]
    ratio, low, high = interval(rows, "size")
    assert low < ratio < high and abs(ratio - 0.595) < 1e-9
    assert interval(rows, "calls") == (0.5, 0.5, 0.5)
    text = report(rows, 1000)
    assert "0.50 x" in text and "repo 19 tests (python): 69 against 100 bytes" in text
