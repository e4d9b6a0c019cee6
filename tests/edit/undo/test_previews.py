"""What a person is shown before something is undone or done again, and that exactly this happens then."""

from pathlib import Path

import pytest

from codeplane.kernel.call import Call
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Risk, assesses, operation
from codeplane.kernel.ports import Question
from codeplane.wiring.app import Plane
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, Answered, Said, events, plane
from tests.kernel.ports import Asking, exchange
from tests.trust.approvals.agent_calls import action_of, call, decide, executed, refused, result, shown, soon

pytestmark = requirement("TRUST-42")

ASKED = ("embeddings.model=none", "index.watch=false", "trust.mode=always", 'trust.allow=["write_files", "git.commit"]')
FILES = {"a.py": "x = 1\n", "b.py": "y = 1\n"}
QUIET = ("embeddings.model=none", "index.watch=false")
RULE = """package codeplane.policy

{verdict} contains "the build is looked at first" if {{
    input.actor.kind == "agent"
    some path in input.paths
    path in {{"build.toml", "a.py"}}
}}
"""


def ruled(root: Path, verdict: str) -> None:
    """A policy of the owner's about what agents do to a.py and build.toml."""
    folder = root / ".codeplane" / "policy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.rego").write_text(RULE.format(verdict=verdict))


async def write(opened: Plane, path: str, content: str) -> str:
    done = result(await call(opened, "write_files", edits=[{"path": path, "content": content}]))
    delta = done["delta"]
    assert isinstance(delta, dict)
    return str(delta["mutation_id"])


async def asked(opened: Plane, operation: str, **arguments: str) -> JsonObject:
    return await shown(opened, action_of(await call(opened, operation, **arguments)))


async def test_an_undo_shows_the_diff_of_what_is_taken_back_and_runs_when_approved(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    async with plane(root, *ASKED) as opened:
        mutation = await write(opened, "a.py", "x = 2\n")
        action = await asked(opened, "undo")
        seen = str(action["preview"])
        assert mutation in seen and "M a.py" in seen
        assert seen.index("-x = 2") < seen.index("+x = 1"), "the way back, not the way it was made"
        assert str(action["deterministic_summary"]).startswith("Undo ")
        assert (root / "a.py").read_text() == "x = 2\n", "nothing before a person says so"
        await decide(opened, "approval.approve", action_id=action["action_id"])
        await executed(opened, str(action["action_id"]))
        assert (root / "a.py").read_text() == "x = 1\n"
        again = await asked(opened, "redo")
        assert str(again["preview"]).index("-x = 1") < str(again["preview"]).index("+x = 2")
        await decide(opened, "approval.approve", action_id=again["action_id"])
        await executed(opened, str(again["action_id"]))
        assert (root / "a.py").read_text() == "x = 2\n"


async def test_an_undo_of_git_shows_what_moves_with_ids(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    async with plane(root, *ASKED) as opened:
        await write(opened, "a.py", "x = 2\n")
        done = result(await call(opened, "git.commit", message="two", paths=["a.py"]))
        delta = done["delta"]
        assert isinstance(delta, dict)
        action = await asked(opened, "undo")
        assert f"HEAD {delta['head']} → {delta['head_before']}" in str(action["preview"])
        assert f"refs/heads/main {delta['head']} → {delta['head_before']}" in str(action["preview"])


async def test_what_was_written_after_asking_is_not_undone_in_its_place(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    async with plane(root, *ASKED) as opened:
        await write(opened, "a.py", "x = 2\n")
        action = str((await asked(opened, "undo"))["action_id"])
        await write(opened, "b.py", "y = 2\n")
        await decide(opened, "approval.approve", action_id=action)
        assert "has changed" in str((await soon(opened, action, "REJECTED"))["reason"])
        assert [(root / name).read_text() for name in FILES] == ["x = 2\n", "y = 2\n"]


async def test_what_is_written_between_the_last_look_and_the_run_is_not_undone_either(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    async with plane(root, *ASKED) as opened:
        await write(opened, "a.py", "x = 2\n")

        class Late:
            """A person who agrees, while somebody writes in the last moment."""

            async def recall(self, call: Call, arguments_hash: str) -> bool:
                return False

            async def approve(self, question: Question) -> str:
                return "act_1"

            async def confirm(self, action_id: str, question: Question) -> None:
                await write(opened, "b.py", "y = 2\n")

        door = exchange(opened, authority=Asking(), approver=Late())
        assert (await door.call("undo", {}, AGENT)).error is None
        assert (root / "a.py").read_text() == "x = 1\n", "what was shown"
        assert (root / "b.py").read_text() == "y = 2\n", "not what came after"


async def test_nobody_is_asked_about_an_undo_of_nothing(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    async with plane(root, *ASKED) as opened:
        assert refused(await call(opened, "undo")) == "CANNOT_UNDO"
        assert result(await decide(opened, "approval.list"))["items"] == []


class Wanders:
    """Says that it writes one file, and wants to write another one too."""

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole

    @assesses("fixture.wander")
    def assess(self, request: Said) -> Assessment:
        """One file of the two."""
        return Assessment(risk=Risk.WRITE, paths=("a.py",), whole=self._whole)

    @operation("fixture.wander", risk=Risk.WRITE)
    async def wander(self, call: Call, request: Said) -> Answered:
        """Ask for both."""
        call.may_write("a.py")
        call.may_write("build.toml")
        return Answered(answer="both")


async def test_a_rule_that_asks_about_a_file_asks_about_undoing_its_change(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    ruled(root, "ask")
    async with plane(root, *QUIET) as opened:
        edits = [{"path": "a.py", "content": "x = 2\n"}]
        written = action_of(await call(opened, "write_files", edits=edits))
        await decide(opened, "approval.approve", action_id=written)
        await executed(opened, written)
        reported = result(await decide(opened, "policy.explain", operation="undo"))
        seen = reported["input"]
        assert reported["verdict"] == "ask" and isinstance(seen, dict) and seen["paths"] == ["a.py"]
        for name, before, after in (("undo", "x = 2\n", "x = 1\n"), ("redo", "x = 1\n", "x = 2\n")):
            action = await asked(opened, name)
            assert (root / "a.py").read_text() == before
            await decide(opened, "approval.approve", action_id=action["action_id"])
            await executed(opened, str(action["action_id"]))
            assert (root / "a.py").read_text() == after
        assert result(await decide(opened, "undo"))["state"] == "undone", "the rule is about agents alone"
        await write(opened, "b.py", "y = 2\n")
        assert result(await call(opened, "undo"))["state"] == "undone", "the rule is about other files"


async def test_a_rule_that_denies_a_file_denies_undoing_its_change(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    ruled(root, "deny")
    async with plane(root, *QUIET) as opened:
        edits = [{"path": "a.py", "content": "x = 2\n"}]
        done = result(await opened.conveyor.call("write_files", {"edits": edits}, OWNER))
        delta = done["delta"]
        assert isinstance(delta, dict)
        assert refused(await call(opened, "undo", mutation_id=delta["mutation_id"])) == "POLICY_DENIED"
        assert (root / "a.py").read_text() == "x = 2\n"
        assert result(await decide(opened, "approval.list"))["items"] == []


@pytest.mark.parametrize("whole", [True, False])
async def test_a_yes_covers_what_was_judged_and_nothing_beside_it(tmp_path: Path, whole: bool) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    ruled(root, "ask")
    async with plane(root, *QUIET, operations=[Wanders(whole=whole)]) as opened:
        action = action_of(await call(opened, "fixture.wander"))
        await decide(opened, "approval.approve", action_id=action)
        await executed(opened, action)
        (ran,) = [one for one in await events(opened, "call.finished") if one.payload.get("action_id") == action]
        # Where not all of it could be known before, as with git, a person was shown what it comes to.
        assert (ran.payload["status"] == "POLICY_DENIED") is whole, ran
