"""What a person is shown of an operation without a preview of its own: its arguments, readably and unmistakably."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.json import JsonObject
from codeplane.kernel.preview import preview_of_arguments
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps, plane
from tests.trust.approvals.agent_calls import action_of, call, decide, executed, shown, soon

pytestmark = requirement("TRUST-46")

ASKED = ("embeddings.model=none", "index.watch=false", "trust.mode=always")


def seen(**arguments: object) -> tuple[str, str]:
    found = preview_of_arguments(Catalogue([FixtureOps()]).get("fixture.write"), arguments)  # type: ignore[arg-type]  # JSON
    return found.summary, found.body


def test_every_argument_has_a_line_and_what_the_operation_does_comes_first() -> None:
    summary, body = seen(paths=["a.py", "b.py", "c.py", "d.py"], text="hello", times=2)
    assert summary == "fixture.write: text hello, paths a.py, b.py, c.py and 1 more, times 2"
    assert body.split("\n") == [
        "Change something and say what.", "", "text: hello", "paths:", "  - a.py", "  - b.py", "  - c.py", "  - d.py",
        "times: 2",
    ]  # fmt: skip


def test_nothing_given_is_said() -> None:
    assert seen() == ("Change something and say what.", "fixture.write, without arguments")


def test_a_text_of_several_lines_cannot_pass_for_other_arguments() -> None:
    _, body = seen(text="fine\ntimes: 1\n\npaths:\n  - /etc", times=9)
    assert [line for line in body.split("\n") if line.startswith(("times", "paths"))] == ["times: 9"]
    assert "  | times: 1" in body and "  |   - /etc" in body


def test_long_values_are_short_in_the_summary_and_whole_below() -> None:
    summary, body = seen(text="x" * 500, paths=["y" * 300])
    assert len(summary) <= 200 and summary.endswith("…") and "x" * 500 in body and "y" * 300 in body


TEXT = st.text(alphabet="ab:|- \n", max_size=12)


@given(one=TEXT, other=TEXT)
def test_different_texts_are_shown_differently(one: str, other: str) -> None:
    assert (seen(text=one) == seen(text=other)) is (one == other)


async def test_in_mode_always_a_plain_write_is_asked_about_in_words_and_runs_as_shown(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "x = 1\n"})
    async with plane(root, *ASKED) as opened:
        branch: JsonObject = {"name": "topic", "ref": "main"}
        action = await shown(opened, action_of(await call(opened, "git.create_branch", **branch)))
        assert action["deterministic_summary"] == "git.create_branch: name topic, ref main"
        assert "name: topic\nref: main" in str(action["preview"]) and "Make a branch" in str(action["preview"])
        await decide(opened, "approval.reject", action_id=action["action_id"])
        await soon(opened, str(action["action_id"]), "REJECTED")
        assert not (root / ".git/refs/heads/topic").exists()
        again = action_of(await call(opened, "git.create_branch", **branch))
        await decide(opened, "approval.approve", action_id=again)
        await executed(opened, again)
        assert (root / ".git/refs/heads/topic").exists()
