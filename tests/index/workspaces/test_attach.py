"""Further workspaces through the door: attached, asked, kept apart, kept over a restart, detached, refused."""

import json
from pathlib import Path

import pytest

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject
from codeplane.query.search.hit import SearchResult
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, Ask, asking, events, of_call, plane
from tests.query.asking import result

QUIET = ("embeddings.model=none", "index.watch=false")


@pytest.fixture
def main(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "main", {"shop.py": "def price():\n    return 1\n"})


@pytest.fixture
def other(tmp_path: Path) -> Path:
    root = make_repo(tmp_path / "lib" / "other", {"shop.py": "def price():\n    return 'of the other'\n"})
    (root / ".env").write_text("TOKEN=hidden\n")
    return root


def settings(folder: Path) -> tuple[str, ...]:
    return (*QUIET, f"workspaces.roots={json.dumps([str(folder)])}")


def text(envelope: JsonObject) -> str:
    result(envelope)
    return str(envelope["text"])


def error(envelope: JsonObject) -> tuple[str, str]:
    found = envelope.get("error")
    assert isinstance(found, dict), envelope
    return str(found["error"]), f"{found['message']} {found['hint']}"


@requirement("WSP-01")
async def test_an_attached_folder_answers_every_operation_by_its_name(main: Path, other: Path) -> None:
    async with asking(main, *settings(other.parent)) as ask:
        assert result(await ask("workspace.attach", path=str(other)))["name"] == "other"
        there = {"workspace": "other"}
        assert "of the other" in text(await ask("search", query="return", **there))
        assert "of the other" not in text(await ask("search", query="return"))
        assert "of the other" in text(await ask("read_files", paths=["shop.py"], **there))
        assert "return 1" in text(await ask("read_files", paths=["shop.py"]))
        assert "def price" in text(await ask("map_repo", **there))
        assert "price" in text(await ask("explain_symbol", symbol="price", **there))
        assert "shop.py" in text(await ask("list_dir", **there))
        assert "price" in text(await ask("facts.definitions", name="price", **there))
        assert "python" in text(await ask("context.of", path="shop.py", **there))
        assert result(await ask("index.rebuild", **there))["files"] == 1
        exported = result(await ask("index.export", name="x.cplindex", **there))
        assert str(exported["path"]).startswith(str(main))
        assert result(await ask("index.import", name="x.cplindex", **there))["matching"] == 1
        assert "epoch 2, 1 file" in text(await ask("workspace.list"))
        assert sorted(one.name for one in other.iterdir()) == [".env", ".git", "shop.py"], "nothing was written"


@requirement("WSP-01")
async def test_a_stream_of_an_attached_folder_is_of_that_folder(main: Path, other: Path) -> None:
    async with plane(main, *settings(other.parent)) as opened:
        attached = await opened.conveyor.call("workspace.attach", {"path": str(other)}, OWNER)
        assert attached.error is None
        arguments: JsonObject = {"query": "return", "workspace": "other"}
        page, ending = [item async for item in opened.conveyor.stream("search.stream", arguments, OWNER)]
        assert isinstance(ending, Outcome) and ending.error is None
        assert isinstance(page, SearchResult) and "of the other" in page.results[0].snippet
        assert (await opened.conveyor.call("workspace.detach", {"name": "other"}, OWNER)).error is None
        (ending,) = [item async for item in opened.conveyor.stream("search.stream", arguments, OWNER)]
        assert isinstance(ending, Outcome) and ending.error is not None and ending.error.name != "INTERNAL"


@requirement("WSP-01")
async def test_secrets_and_what_is_outside_stay_out_of_reach(main: Path, other: Path) -> None:
    async with asking(main, *settings(other.parent)) as ask:
        result(await ask("workspace.attach", path=str(other), name="o"))
        assert result(await ask("search", query="hidden", workspace="o"))["total"] == 0
        for path in (".env", "../../main/shop.py", ".git/config", str(main / "shop.py")):
            found = result(await ask("read_files", paths=[path, "shop.py"], workspace="o"))["files"]
            assert isinstance(found, list)
            assert found[0]["error"], path


@requirement("WSP-01")
async def test_a_cursor_of_one_workspace_is_none_in_another(main: Path, other: Path) -> None:
    for root in (main, other):
        (root / "many.txt").write_text("needle\n" * 50)
    async with asking(main, *settings(other.parent)) as ask:
        result(await ask("workspace.attach", path=str(other), name="o"))
        pagination = result(await ask("search", query="needle"))["pagination"]
        assert isinstance(pagination, dict)
        cursor = pagination["next_cursor"]
        assert error(await ask("search", query="needle", cursor=cursor, workspace="o"))[0] == "CURSOR_INVALID"
        result(await ask("search", query="needle", cursor=cursor))


@requirement("WSP-01")
async def test_a_restart_keeps_what_is_attached_and_a_detached_one_is_gone(main: Path, other: Path) -> None:
    async def attach(ask: Ask) -> None:
        result(await ask("workspace.attach", path=str(other)))
        text(await ask("search", query="price", workspace="other"))

    async def detach(ask: Ask) -> None:
        assert "not opened" in text(await ask("workspace.list"))
        assert "of the other" in text(await ask("search", query="return", workspace="other"))
        assert (main / ".codeplane" / "workspaces" / "other" / "index.db").exists()
        assert "removed: index" in text(await ask("workspace.detach", name="other"))
        assert not (main / ".codeplane" / "workspaces" / "other").exists()
        assert error(await ask("search", query="return", workspace="other"))[0] == "NOT_FOUND"
        assert error(await ask("workspace.detach", name="other"))[0] == "NOT_FOUND"
        result(await ask("workspace.attach", path=str(other), name="again"))
        name, output = error(await ask("search", query="return", workspace="other"))
        assert (name, "there are again" in output) == ("NOT_FOUND", True)

    async def kept(ask: Ask) -> None:
        text(await ask("search", query="price", workspace="again"))
        assert text(await ask("workspace.detach", name="again", delete_index=False)) == "again detached"
        assert (main / ".codeplane" / "workspaces" / "again" / "index.db").exists()
        assert text(await ask("workspace.list")) == "[no further workspaces]"

    for body in (attach, detach, kept):
        async with asking(main, *settings(other.parent)) as ask:
            await body(ask)


@requirement("WSP-01")
async def test_what_happened_is_in_the_log_with_the_workspace(main: Path, other: Path) -> None:
    async with plane(main, *settings(other.parent)) as opened:
        attached = await opened.conveyor.call("workspace.attach", {"path": str(other), "name": "o"}, AGENT)
        assert [(one.stream, one.type) for one in await of_call(opened, attached)][1:2] == [
            ("workspaces", "workspace.attached")
        ]
        rebuilt = await opened.conveyor.call("index.rebuild", {"workspace": "o"}, AGENT)
        answer = await of_call(opened, rebuilt)
        assert [one.payload["workspace"] for one in answer] == ["o", "o"], "intent and outcome"
        published = await events(opened, "index.epoch_published")
        assert {one.stream for one in published} == {"index/o"}, "the repository itself was not asked"


@requirement("WSP-01")
async def test_a_folder_outside_the_roots_needs_the_owners_leave(main: Path, other: Path, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "link").symlink_to(other)
    hidden = tmp_path / "open" / ".hidden" / "deep"
    hidden.mkdir(parents=True)

    async with asking(main, *settings(tmp_path / "open"), "approvals.wait_sec=0") as ask:
        for path in (str(other), "../lib/other", str(tmp_path / "open" / "link"), str(hidden)):
            envelope = await ask("workspace.attach", path=path)
            assert error(envelope)[0] == "APPROVAL_PENDING", path
            assert "outside workspaces.roots" in str(envelope)
        for path in ("/", "~", str(Path.home().parent)):
            envelope = await ask("workspace.attach", path=path)
            name, output = error(envelope)
            assert name == "PATH_DENIED", path
            assert "far more than a project" in output and "one project's folder" in str(envelope)
        assert text(await ask("workspace.list")) == "[no further workspaces]"
    async with asking(main, *QUIET, "trust.allow=workspace.attach") as ask:
        result(await ask("workspace.attach", path="../lib/other"))
    async with asking(main, *QUIET, "workspaces.roots=['../lib']") as ask:
        result(await ask("workspace.detach", name="other"))
        result(await ask("workspace.attach", path="../lib/other"))


@requirement("WSP-01")
async def test_folders_that_nobody_can_attach(main: Path, other: Path, tmp_path: Path) -> None:
    (main / "file.txt").write_text("x")
    foreign = make_repo(tmp_path / "foreign")
    (foreign / ".codeplane" / "x").mkdir(parents=True)
    home = Path.home()
    cases = {
        "/": "PATH_DENIED",
        "~": "PATH_DENIED",
        str(home): "PATH_DENIED",
        str(home.parent): "PATH_DENIED",
        str(main): "PATH_DENIED",
        ".": "PATH_DENIED",
        str(tmp_path): "PATH_DENIED",
        ".codeplane": "PATH_DENIED",
        ".git": "PATH_DENIED",
        str(foreign / ".git" / "objects"): "PATH_DENIED",
        str(foreign / ".codeplane" / "x"): "PATH_DENIED",
        "file.txt": "INVALID_ARGUMENT",
        "missing": "NOT_FOUND",
        "a\0b": "PATH_DENIED",
        "x" * 4000: "NOT_FOUND",
        "": "INVALID_ARGUMENT",
    }
    async with asking(main, *QUIET, "trust.mode=automatic", "workspaces.max_attached=2") as ask:
        for path, expected in cases.items():
            assert error(await ask("workspace.attach", path=path, name="x"))[0] == expected, path
        result(await ask("workspace.attach", path=str(other), name="o"))
        for path, name in ((str(other), "p"), (f"{other}/../other", "p"), (str(foreign), "o")):
            assert error(await ask("workspace.attach", path=path, name=name))[0] == "INVALID_ARGUMENT"
        for name in ("../x", "a/b", "..", ".hidden", "Großes", "UPPER", "x" * 65, "a b", "a\0", "trail.", "a..b"):
            assert error(await ask("workspace.attach", path=str(foreign), name=name))[0] == "INVALID_ARGUMENT", name
        assert result(await ask("workspace.attach", path=str(foreign)))["name"] == "foreign"
        assert error(await ask("workspace.attach", path=str(main / ".." / "lib"), name="l"))[0] == "TOO_LARGE"


@requirement("WSP-01")
async def test_a_folder_that_went_away_or_leads_elsewhere_is_not_read(main: Path, other: Path, tmp_path: Path) -> None:
    private = make_repo(tmp_path / "private", {"shop.py": "secret\n"})

    async def attach(ask: Ask) -> None:
        result(await ask("workspace.attach", path=str(other), name="o"))

    async def gone(ask: Ask) -> None:
        name, output = error(await ask("search", query="secret", workspace="o"))
        assert (name, "gone" in output) == ("NOT_FOUND", True)
        assert "o  " in text(await ask("workspace.list"))

    async with asking(main, *settings(other.parent)) as ask:
        await attach(ask)
    other.rename(tmp_path / "moved")
    async with asking(main, *settings(other.parent)) as ask:
        await gone(ask)
    other.symlink_to(private)
    async with asking(main, *settings(other.parent)) as ask:
        await gone(ask)


@pytest.mark.parametrize(
    "content",
    ["", '{"version": 9, "workspaces": []}', "[" * 100_000, "\ud800"],
)
async def test_a_broken_file_is_said_set_aside_and_never_fatal(main: Path, other: Path, content: str) -> None:
    home = main / ".codeplane"
    home.mkdir()
    (home / "workspaces.json").write_text(content, errors="surrogatepass")
    async with asking(main, *settings(other.parent)) as ask:
        assert text(await ask("workspace.list")) == "[no further workspaces]"
        result(await ask("workspace.attach", path=str(other)))
    assert (home / "workspaces.json.broken").read_bytes() == content.encode(errors="surrogatepass")
    assert "workspaces.json cannot be read" in (home / "logs" / "server.jsonl").read_text()


async def test_entries_that_no_operation_wrote_are_left_out(main: Path, other: Path) -> None:
    home = main / ".codeplane"
    home.mkdir()
    entries = [
        3,
        {"name": "../x", "root": str(other)},
        {"name": "a", "root": "relative"},
        {"name": "b", "root": "/"},
        {"name": "c", "root": str(main / ".git")},
        {"name": "d"},
        {"name": "clone", "url": "https://example.com/x", "root": "/"},
        {"name": "good", "root": str(other)},
    ]
    (home / "workspaces.json").write_text(json.dumps({"version": 1, "workspaces": entries}))
    async with asking(main, *QUIET) as ask:
        listed = result(await ask("workspace.list"))["workspaces"]
        assert isinstance(listed, list)
        assert [one["name"] for one in listed] == ["clone", "good"]
        assert listed[0]["root"] == str(home / "workspaces" / "clone" / "checkout"), "clones lie in their own place"
        assert "of the other" in text(await ask("search", query="return", workspace="good"))


async def test_a_list_that_comes_with_the_repository_is_not_the_owners(main: Path, other: Path) -> None:
    (main / ".codeplane").mkdir()
    (main / ".codeplane" / "workspaces.json").write_text("{}")
    git(main, "add", "--force", ".codeplane/workspaces.json")

    with pytest.raises(ConfigInvalid, match="under version control"):
        async with asking(main, *QUIET):
            """Not reached."""


@requirement("WSP-01")
async def test_the_oldest_temporary_folder_makes_room_also_after_a_restart(main: Path, tmp_path: Path) -> None:
    folders = {name: make_repo(tmp_path / "lib" / name, {"a.py": "def a():\n    pass\n"}) for name in "zyxwv"}
    limits = (*settings(tmp_path / "lib"), "workspaces.max_attached=3")

    async def names(ask: Ask) -> list[str]:
        listed = result(await ask("workspace.list"))["workspaces"]
        assert isinstance(listed, list)
        return [str(each["name"]) for each in listed if isinstance(each, dict)]

    async with asking(main, *limits) as ask:
        for name in "zyx":
            result(await ask("workspace.attach", path=str(folders[name]), temporary=name != "z"))
        # It is in use: whoever attaches it for good keeps it.
        assert result(await ask("workspace.attach", path=str(folders["y"])))["name"] == "y"
        result(await ask("workspace.attach", path=str(folders["w"]), temporary=True))
        assert await names(ask) == ["w", "y", "z"]
    async with asking(main, *limits) as ask:
        result(await ask("workspace.attach", path=str(folders["v"])))
        assert await names(ask) == ["v", "y", "z"]
        assert error(await ask("workspace.attach", path=str(folders["x"]), temporary=True))[0] == "TOO_LARGE"
        taken = await ask("workspace.attach", path=str(folders["x"]), name="y")
        assert error(taken)[0] == "INVALID_ARGUMENT"
