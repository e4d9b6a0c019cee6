"""Replay: the operations of a recorded exploration again, against its commit, with every difference explained."""

from pathlib import Path

import pytest

from codeplane import __version__
from codeplane.kernel.json import JsonObject
from codeplane.work.explore import replay
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT
from tests.trust.approvals.agent_calls import refused, result
from tests.work.explore.explore_plane import SHOP, Explored, ExplorePlane, explore_plane
from tests.work.jobs.job_plane import folders_of

pytestmark = requirement("EXR-04")

REPLAY = "orchestrate.explore.replay"
NAMES = ("anvil", "bow", "cup", "drum", "egg", "fan", "gong", "hat", "ink", "jar")


def commit(repo: Path, message: str) -> None:
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", message)


async def replayed(plane: ExplorePlane, explored: Explored, **arguments: str) -> JsonObject:
    return result(await plane.ask(REPLAY, trace_id=explored.session_id, **arguments))


def different(found: JsonObject) -> list[JsonObject]:
    ops = found["ops"]
    assert isinstance(ops, list)
    return [op for op in ops if isinstance(op, dict) and op["outcome"] == "different"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", SHOP)


async def test_ten_recorded_explorations_are_equal_or_explained(shop: Path, tmp_path: Path) -> None:
    async with explore_plane(shop, f"jobs.trees={tmp_path / 'trees'}") as plane:
        recorded: list[tuple[Explored, set[str]]] = []
        for number, name in enumerate(NAMES):
            (shop / "shop" / f"{name}.py").write_text(
                f"from shop.money import Money\n\n\nclass {name.title()}(Money):\n    pass\n"
            )
            if number % 2:
                (shop / "README.md").write_text(
                    f"# Shop {number}\n\nA shop that sells one {name} more than it did before.\n"
                )
            is_committed = number % 3 != 2
            if is_committed:
                commit(shop, name)
            explored = await plane.explore(goals=[f"the {name}", "map structure"])
            changed = {str(delta["path"]) for delta in explored.summary["gitStatus"]["deltas"]}  # type: ignore[index,call-overload,union-attr]
            assert bool(changed) != is_committed
            recorded.append((explored, changed))
        (shop / "shop" / "anvil.py").write_text("anvil = 0\n")
        commit(shop, "the rest")
        for explored, changed in recorded:
            found = await replayed(plane, explored)
            assert str(found["against"]).startswith("a work tree of commit")
            assert found["failed"] == 0 and found["unexplained"] == 0, found
            assert len(found["ops"]) == len(explored.cases("result"))  # type: ignore[arg-type]
            for op in different(found):
                assert changed and set(op["changed"]) <= changed, op  # type: ignore[arg-type]
            assert bool(different(found)) == bool(changed)
        assert folders_of(tmp_path / "trees") == []


async def test_the_present_state_is_asked_where_it_is_the_recorded_one(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        explored = await plane.explore()
        found = await replayed(plane, explored)
        assert str(found["against"]).startswith("the present state, which is commit")
        assert found["different"] == 0 and found["failed"] == 0 and found["notReplayed"] == 2
        assert found["same"] == len(explored.cases("result")) - 2


async def test_a_replay_goes_up_to_an_event(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        explored = await plane.explore()
        third = [payload for payload in explored.payloads if "result" in payload][2]
        found = await replayed(plane, explored, until_event_id=str(third["eventId"]))
        assert len(found["ops"]) == 3  # type: ignore[arg-type]
        assert refused(await plane.ask(REPLAY, trace_id=explored.session_id, until_event_id="none")) == "NOT_FOUND"
        first = explored.payloads[0]["eventId"]
        asked = await plane.ask(REPLAY, trace_id=explored.session_id, until_event_id=first)
        assert refused(asked) == "INVALID_ARGUMENT"


async def test_a_commit_that_is_gone_another_version_and_no_commit_at_all_are_said(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with explore_plane(shop) as plane:
        explored = await plane.explore()
        (shop / "README.md").write_text("# Shop\n\nIt was amended, and nothing leads to its first commit any more.\n")
        git(shop, "add", "--all")
        git(shop, "commit", "--quiet", "--amend", "--message", "other")
        git(shop, "reflog", "expire", "--expire=now", "--all")
        git(shop, "gc", "--quiet", "--prune=now")
        found = await replayed(plane, explored)
        assert "no longer has commit" in str(found["against"])
        assert {op["why"] for op in different(found)} == {"what changed is not known"}
        monkeypatch.setattr(replay, "__version__", "99.0")
        (why,) = {op["why"] for op in different(await replayed(plane, explored))}
        assert str(why).endswith(f"it was recorded by {__version__} of CodePlane, this is 99.0")
    bare = tmp_path / "new"
    bare.mkdir()
    git(bare, "init", "--quiet", "--initial-branch=main")
    (bare / "a.py").write_text("a = 1\n")
    async with explore_plane(bare) as plane:
        found = await replayed(plane, await plane.explore())
        assert "no commit was recorded" in str(found["against"]) and found["different"] == 0


async def test_nobody_replays_what_is_not_theirs(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        explored = await plane.explore()
        plane.caller = AGENT
        assert refused(await plane.ask(REPLAY, trace_id=explored.session_id)) == "EXPLORE_NOT_FOUND"
