"""Explorations: one call, and the stream of its plan, operations and results ends in a summary."""

import json
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT
from tests.trust.approvals.agent_calls import refused, result
from tests.work.explore.explore_plane import SHOP, START, STATUS, explore_plane

pytestmark = requirement("EXR-01")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", SHOP)


async def test_an_exploration_streams_its_plan_and_results_and_ends_in_a_summary(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        explored = await plane.explore()
        explored.check_stream()
        cases = [next(reversed(payload)) for payload in explored.payloads]
        assert cases[:2] == ["started", "planSnapshot"] and cases[-1] == "completed"
        assert {envelope["kind"] for envelope in explored.envelopes} == {"Cmd", "Evt"}
        assert {"gitStatus", "fsListDir", "indexBuild", "contentGetSpan", "searchGrep"} <= set(cases)
        summary = explored.summary
        assert summary["repoName"] == "shop"
        assert summary["languages"] == {"python": 18, "toml": 6, "markdown": 3, "typescript": 2}
        assert summary["entrypoints"] == ["shop/cli.py:4 shop = shop.cli:main", "shop/__init__.py (library)"]
        assert "shop/money.py" in summary["topFiles"]  # type: ignore[operator]  # a list
        assert str(summary["description"]).startswith("A small shop that sells carts")
        git = summary["gitStatus"]
        assert isinstance(git, dict) and git["branch"] == "main" and git["clean"] is True and git["deltas"] == []
        assert summary["partial"] == [] and summary["followups"]
        assert any("TODO" in str(followup) for followup in summary["followups"])  # type: ignore[union-attr]  # a list


async def test_every_command_is_named_by_its_results_and_by_its_snapshot(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        explored = await plane.explore()
        snapshots = {str(e["id"]) for e in explored.envelopes if "planSnapshot" in e["payload"]}  # type: ignore[operator]
        commands = {str(e["id"]): e for e in explored.envelopes if e["kind"] == "Cmd"}
        assert {str(command["parentId"]) for command in commands.values()} <= snapshots
        for envelope, payload in zip(explored.envelopes, explored.payloads, strict=True):
            if isinstance(value := payload.get("result"), dict):
                command = commands[str(envelope["parentId"])]["payload"]
                assert isinstance(command, dict)
                (case,) = [each for each in command.values() if isinstance(each, dict)]
                assert case["opId"] == value["opId"]
        assert {str(value["opId"]) for value in explored.cases("result")} == explored.ops.keys()


async def test_the_summary_is_an_artifact_and_a_document(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        explored = await plane.explore()
        body = result(await plane.ask("artifact.get", artifact_id=explored.summary["artifactId"]))
        kept: JsonObject = json.loads(str(body["body"]))
        assert {**kept, "artifactId": explored.summary["artifactId"]} == explored.summary
        shown = await plane.status(explored.session_id, markdown=True)
        assert shown["state"] == "completed" and shown["summary"] == explored.summary
        assert shown["ops"] == {"queued": 0, "running": 0, "done": len(explored.ops), "failed": 0, "canceled": 0}
        document = str(shown["markdown"])
        assert document.startswith("# shop\n\nA small shop") and "| python | 18 | 62.1 % |" in document
        assert "- `shop/cli.py:4 shop = shop.cli:main`" in document


async def test_own_goals_are_looked_for_by_meaning(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        explored = await plane.explore(goals=["amounts of money", "identify entrypoints"])
        goals = explored.summary["goals"]
        assert isinstance(goals, dict) and "shop/money.py" in goals["amounts of money"]
        assert list(goals) == ["amounts of money"]


async def test_uncommitted_changes_are_reported(shop: Path) -> None:
    (shop / "shop" / "cart.py").write_text("class Cart:\n    total = 0\n")
    (shop / "new.py").write_text("new = 1\n")
    async with explore_plane(shop) as plane:
        git = (await plane.explore()).summary["gitStatus"]
        assert isinstance(git, dict) and git["clean"] is False and git["total"] == 2
        assert [(delta["path"], delta["status"]) for delta in git["deltas"]] == [
            ("shop/cart.py", "modified"),
            ("new.py", "untracked"),
        ]


async def test_a_cursor_resumes_the_stream_without_gap_or_repetition(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        explored = await plane.explore()
        for after in (0, 1, 5, explored.cursors[-1] - 1):
            rest = await plane.watch(explored.started, after=after)
            assert rest.envelopes == explored.envelopes[after:]


async def test_secrets_are_left_out_and_checksums_hold(tmp_path: Path) -> None:
    token = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    readme = f"# Keys\n\nUse DB_PASSWORD = 'hunter2hunter2x' and {token} to enter this example.\n"
    async with explore_plane(make_repo(tmp_path / "keys", {"README.md": readme, "a.py": "a = 1\n"})) as plane:
        explored = await plane.explore()
        (span,) = explored.results("readSpan")
        assert isinstance(span, dict) and "[redacted" in str(span["text"])
        assert token not in json.dumps(explored.envelopes) and "hunter2hunter2x" not in json.dumps(explored.envelopes)


async def test_agents_explore_with_their_own_rights_and_see_their_own(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        of_owner = await plane.explore()
        plane.caller = AGENT
        assert refused(await plane.ask(STATUS, explore_id=of_owner.session_id)) == "EXPLORE_NOT_FOUND"
        own = await plane.explore()
        assert own.summary["repoName"] == "shop"
        listed = result(await plane.ask("orchestrate.explore.list"))["results"]
        assert isinstance(listed, list) and [item["sessionId"] for item in listed] == [own.session_id]


async def test_what_is_asked_for_wrongly_is_refused(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        assert refused(await plane.ask(START, remote_url="https://example.com/a.git")) == "EXPLORE_NETWORK_DENIED"
        assert refused(await plane.ask(START, root="nowhere")) == "NOT_FOUND"
        assert refused(await plane.ask(START, root=".git")) == "PATH_DENIED"
        assert refused(await plane.ask(START, root=".codeplane")) == "PATH_DENIED"
        assert refused(await plane.ask(START, root="shop", branch="x")) == "INVALID_ARGUMENT"
        assert refused(await plane.ask(START, root="/")) == "PATH_DENIED"
        assert refused(await plane.ask(START, resume="nothing")) == "EXPLORE_NOT_FOUND"
        assert refused(await plane.ask(STATUS, explore_id="nothing")) == "EXPLORE_NOT_FOUND"
        assert result(await plane.ask("orchestrate.explore.list"))["results"] == []


async def test_a_folder_and_another_repository_can_be_explored(shop: Path, tmp_path: Path) -> None:
    other = make_repo(
        tmp_path / "other",
        {"README.md": "# Other\n\nA second repository, beside the first one.\n", "o.go": "package o\n"},
    )
    async with explore_plane(shop) as plane:
        inside = await plane.explore(root="shop")
        assert inside.summary["languages"] == {"python": 13}
        assert inside.summary["entrypoints"] == ["shop/cli.py:4 shop = shop.cli:main", "shop/__init__.py (library)"]
        listings = inside.results("listDir")
        assert [listing["path"] for listing in listings] == ["shop"]  # type: ignore[index,call-overload]
        beside = await plane.explore(root=str(other))
        assert beside.summary["repoName"] == "other" and beside.summary["languages"] == {"markdown": 3, "go": 1}
        assert beside.started["workspace"] == "other"
        again = await plane.explore(root=str(other))
        assert again.started["workspace"] == "other"
        assert not (other / ".codeplane").exists()


async def test_what_explorations_attach_makes_room_for_the_next(shop: Path, tmp_path: Path) -> None:
    others = [make_repo(tmp_path / "far" / name, {"a.go": "package a\n"}) for name in ("one", "two", "three")]
    roots = f'workspaces.roots=["{tmp_path / "far"}"]'
    async with explore_plane(shop, roots, "workspaces.max_attached=2") as plane:
        for other in others:
            assert (await plane.explore(root=str(other))).summary["repoName"] == other.name
        attached = result(await plane.ask("workspace.list"))["workspaces"]
        assert [each["name"] for each in attached] == ["three", "two"]  # type: ignore[union-attr,index,call-overload]


async def test_a_remote_is_cloned_by_its_caller_once(shop: Path, tmp_path: Path) -> None:
    far = make_repo(
        tmp_path / "far" / "remote", {"README.md": "# Far\n\nA repository that is cloned before it is explored.\n"}
    )
    async with explore_plane(shop, f'workspaces.roots=["{tmp_path / "far"}"]') as plane:
        url = f"file://{far}"
        first = await plane.explore(remote_url=url, policy={"network": True, "allowExternalLLMs": False})
        assert first.summary["repoName"] == "remote" and first.summary["languages"] == {"markdown": 3}
        second = await plane.explore(remoteURL=url, policy={"network": True})
        assert second.started["workspace"] == first.started["workspace"]
