"""Where git keeps the repository in the work tree under another name than `.git`, that is as much git's own."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.disk.git_folders import git_folders
from codeplane.kernel.json import JsonObject, JsonValue
from tests.git.test_guarded_programs import needs_bubblewrap
from tests.harness import cpl, git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane, run

pytestmark = requirement("TRUST-03")

FILES = {"README.md": "# shop\n", "src/app.py": "x = 1\n", "box/note.txt": "marker\n"}
HOOK: JsonObject = {"content": "#!/bin/sh\ntouch ran\n", "executable": True}


def _separate(root: Path) -> str:
    git(root, "init", "--quiet", f"--separate-git-dir={root / 'gitdata'}")
    return "gitdata"


def _linked(root: Path) -> str:
    (root / ".git").rename(root / "gitdata")
    (root / ".git").symlink_to("gitdata")
    return "gitdata"


def _named(root: Path) -> str:
    (root / ".git").rename(root / ".bare")
    (root / ".git").write_text("gitdir: ./.bare\n")
    return ".bare"


def _deep(root: Path) -> str:
    (root / "deep" / "er").mkdir(parents=True)
    (root / ".git").rename(root / "deep" / "er" / "repo")
    (root / "way").symlink_to("deep/er")
    (root / ".git").write_text("gitdir: way/repo\n")
    return "deep/er/repo"


def _worktree(root: Path) -> str:
    """A linked work tree that shares a folder which lies in it."""
    _named(root)
    (root / ".bare" / "worktrees" / "w").mkdir(parents=True)
    folder = root.parent / "w-git"
    folder.mkdir()
    (folder / "commondir").write_text(f"{root}/.bare\n")
    for name in ("HEAD", "index"):
        shutil.copy(root / ".bare" / name, folder / name)
    (folder / "gitdir").write_text(f"{root}/.git\n")
    (root / ".git").write_text(f"gitdir: {folder}\n")
    return ".bare"


LAYOUTS: tuple[Callable[[Path], str], ...] = (_separate, _linked, _named, _deep, _worktree)


@pytest.fixture(params=LAYOUTS, ids=lambda make: make.__name__.strip("_"))
def moved(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    root = make_repo(tmp_path.resolve() / "shop", FILES)
    folder: str = request.param(root)
    git(root, "status")
    return root, folder


def called(root: Path, *calls: tuple[str, JsonObject], settings: tuple[str, ...] = ()) -> list[JsonObject]:
    """The envelopes of an agent's calls, one after the other."""

    async def all_of_them() -> list[JsonObject]:
        async with plane(root, "trust.mode=automatic", *settings) as opened:
            outcomes = [await opened.conveyor.call(name, arguments, AGENT) for name, arguments in calls]
            return [json.loads(outcome.to_json(with_text=True)) for outcome in outcomes]

    return run(all_of_them())


def written(*edits: JsonObject) -> tuple[str, JsonObject]:
    given: list[JsonValue] = list(edits)
    return "write_files", {"edits": given}


def names(envelopes: list[JsonObject]) -> list[JsonValue]:
    errors = (envelope.get("error") for envelope in envelopes)
    return [error["error"] if isinstance(error, dict) else None for error in errors]


def files_of(folder: Path) -> dict[str, bytes]:
    """What git runs by itself or takes its settings from."""
    found = [folder / "config", *(folder / "hooks").rglob("*"), folder / "HEAD"]
    return {str(path): path.read_bytes() for path in found if path.is_file()}


def test_nobody_writes_moves_deletes_or_links_there(moved: tuple[Path, str]) -> None:
    root, folder = moved
    (root / "to").symlink_to(folder)
    before = files_of(root / folder)
    envelopes = called(
        root,
        written({"path": f"{folder}/hooks/post-commit", **HOOK}),
        written({"path": f"{folder.upper()}/hooks/post-commit", **HOOK}),
        written({"path": f"src/../{folder}/hooks/post-commit", **HOOK}),
        written({"path": "to/hooks/post-commit", **HOOK}),
        written({"path": f"{folder}/config", "action": "update", "old_text": "[core]", "new_text": "[gpg]\n[core]"}),
        written({"path": f"{folder}/HEAD", "action": "delete"}),
        written({"path": f"{folder}/config", "action": "move", "new_path": "config"}),
        written({"path": "box/note.txt", "action": "move", "new_path": f"{folder}/hooks/note"}),
        written({"path": "src/hooks", "link_to": f"../{folder}/hooks"}),
        ("refactor.move", {"from_path": "src/app.py", "to_path": f"{folder}/app.py", "apply": True}),
        ("git.worktree_add", {"path": f"{folder}/tree", "branch": "tree"}),
    )
    assert names(envelopes) == ["PATH_DENIED"] * len(envelopes), envelopes
    assert files_of(root / folder) == before

    # The owner is refused as well: nothing of git's is written by an operation.
    async def owner() -> str:
        async with plane(root) as opened:
            outcome = await opened.conveyor.call(*written({"path": f"{folder}/hooks/post-commit", **HOOK}), OWNER)
            return outcome.error.name if outcome.error is not None else ""

    assert run(owner()) == "PATH_DENIED"


def test_nothing_of_it_is_read_listed_or_found(moved: tuple[Path, str]) -> None:
    root, folder = moved
    (root / "to").symlink_to(folder)
    git(root, "config", "remote.origin.url", "https://example.org/secretplace.git")
    reads = called(
        root,
        ("read_files", {"paths": [f"{folder}/config"]}),
        ("read_files", {"paths": ["to/config"]}),
        ("list_dir", {"path": folder}),
        ("workspace.attach", {"path": folder}),
        ("search", {"query": "secretplace"}),
        ("list_dir", {"skipped": True, "depth": 3}),
        ("git.status", {"untracked": "all"}),
    )
    assert names(reads) == [*["PATH_DENIED"] * 4, None, None, None], reads
    for envelope in reads[4:]:
        assert "secretplace.git" not in json.dumps(envelope) and f"{folder}/" not in json.dumps(envelope), envelope


def test_include_does_not_bring_it_in(moved: tuple[Path, str]) -> None:
    root, folder = moved
    (root / ".gitignore").write_text(f"/{folder.split('/', maxsplit=1)[0]}\n")
    (found,) = called(root, ("list_dir", {"depth": 5}), settings=('index.include=["**"]',))
    assert f"{folder}/" not in json.dumps(found)


def test_it_is_not_staged_stashed_or_cleaned_away(moved: tuple[Path, str]) -> None:
    root, folder = moved
    (root / "new.txt").write_text("new\n")
    envelopes = called(
        root,
        ("git.stage", {"paths": [f"{folder}/config"]}),
        ("git.stage", {"paths": ["."]}),
        ("git.commit", {"message": "new"}),
        written({"path": "other.txt", "content": "other\n"}),
        ("git.stash_push", {"include_untracked": True}),
    )
    assert names(envelopes) == ["PATH_DENIED", None, None, None, None], envelopes
    tracked = git(root, "ls-files").split()
    assert "new.txt" in tracked and not [path for path in tracked if path.startswith(f"{folder}/")]
    assert not (root / "other.txt").exists() and (root / folder / "config").exists()
    assert f"{folder}/" not in git(root, "status", "--porcelain", "--untracked-files=all")


def test_rules_that_call_it_back_give_it_to_nobody(tmp_path: Path) -> None:
    root = make_repo(tmp_path.resolve() / "shop", FILES)
    _separate(root)
    (root / ".gitignore").write_text("!/gitdata/\n!/gitdata/**\n")
    envelopes = called(
        root,
        ("git.stage", {"paths": ["."]}),
        ("git.discard", {"paths": ["."], "untracked": True}),
        ("git.stash_push", {"include_untracked": True}),
    )
    assert names(envelopes) == ["PATH_DENIED"] * 3, envelopes
    assert (root / "gitdata" / "config").exists() and "gitdata" not in git(root, "ls-files")


def test_a_branch_that_holds_such_files_is_not_checked_out(tmp_path: Path) -> None:
    root = make_repo(tmp_path.resolve() / "shop", FILES)
    git(root, "checkout", "--quiet", "-b", "evil")
    (root / "gitdata" / "hooks").mkdir(parents=True)
    (root / "gitdata" / "hooks" / "post-commit").write_text("#!/bin/sh\n")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "evil")
    git(root, "checkout", "--quiet", "main")
    assert not (root / "gitdata").exists()
    _separate(root)
    envelopes = called(root, ("git.checkout", {"ref": "evil"}), ("git.merge", {"ref": "evil"}))
    assert names(envelopes) == ["PATH_DENIED"] * 2, envelopes
    assert not (root / "gitdata" / "hooks" / "post-commit").exists()


async def test_undo_writes_nothing_there_either(tmp_path: Path) -> None:
    root = make_repo(tmp_path.resolve() / "shop", FILES)

    async def undone() -> str:
        async with plane(root, "trust.mode=automatic") as opened:
            outcome = await opened.conveyor.call(*written({"path": "gitdata/config", "content": "x\n"}), AGENT)
            assert outcome.error is None
            (root / "gitdata" / "config").unlink()
            (root / "gitdata").rmdir()
            _separate(root)
            (root / "gitdata" / "config").write_text("x\n")
            mutation = json.loads(outcome.result_json)["delta"]["mutation_id"]
            again = await opened.conveyor.call("undo", {"mutation_id": mutation}, AGENT)
            return again.error.name if again.error is not None else ""

    assert await undone() == "PATH_DENIED"
    assert (root / "gitdata" / "config").read_text() == "x\n"


def test_the_git_folder_of_a_submodule_is_gits_too(tmp_path: Path) -> None:
    lib = make_repo(tmp_path / "lib", {"f.txt": "one\n"})
    root = make_repo(tmp_path.resolve() / "shop", FILES)
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lib), "sub")
    git(root, "commit", "--quiet", "--message", "sub")
    assert not git_folders(root)
    (root / ".git" / "modules" / "sub").rename(root / "subdata")
    (root / "sub" / ".git").write_text("gitdir: ../subdata\n")
    git(root, "config", "--file=subdata/config", "core.worktree", "../sub")
    found = called(root, written({"path": "subdata/hooks/post-commit", **HOOK}), ("list_dir", {"depth": 2}))
    assert names(found) == ["PATH_DENIED", None]
    assert "subdata" not in json.dumps(found[1])


async def test_an_attached_workspace_shows_nothing_of_its_own(tmp_path: Path) -> None:
    root, other = make_repo(tmp_path.resolve() / "shop", FILES), make_repo(tmp_path.resolve() / "other", FILES)
    _separate(other)

    async def seen() -> list[str]:
        async with plane(root) as opened:
            assert (await opened.conveyor.call("workspace.attach", {"path": str(other)}, OWNER)).error is None
            read: JsonObject = {"workspace": "other", "paths": ["gitdata/config"]}
            denied = await opened.conveyor.call("read_files", read, AGENT)
            listed = await opened.conveyor.call("list_dir", {"workspace": "other", "depth": 2}, AGENT)
            status = await opened.conveyor.call("git.status", {"workspace": "other"}, AGENT)
            assert denied.error is not None
            return [denied.error.name, listed.result_json, status.result_json]

    name, *shown = await seen()
    assert name == "PATH_DENIED" and "README.md" in shown[0] and "gitdata" not in "".join(shown)


def test_no_test_runs_that_could_replace_a_git_link(tmp_path: Path) -> None:
    planting = "import os, shutil\ndef test_it():\n    os.remove('.git'); shutil.copytree('gitdata', '.git')\n"
    root = make_repo(tmp_path.resolve() / "shop", FILES | {"tests/test_it.py": planting, "pytest.ini": "[pytest]\n"})
    _linked(root)
    (found,) = called(root, ("test.run", {}))
    assert "symbolic link" in json.dumps(found) and (root / ".git").is_symlink(), found


@needs_bubblewrap
def test_no_hook_runs_that_could_replace_a_git_link(tmp_path: Path) -> None:
    root = make_repo(tmp_path.resolve() / "shop", FILES)
    _linked(root)
    hook = root / "gitdata" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    commit: tuple[str, JsonObject] = ("git.commit", {"message": "one", "allow_empty": True})
    assert names(called(root, commit)) == ["GIT_REFUSED"]
    assert (root / ".git").is_symlink() and not (root / "ran").exists()
    # Named in a file, which is mounted read-only for hooks.
    (root / ".git").unlink()
    (root / ".git").write_text("gitdir: gitdata\n")
    (root / ".codeplane" / "git-links.json").unlink()
    assert names(called(root, commit)) == [None]
    assert (root / "ran").exists()


def test_a_git_link_that_was_replaced_has_git_refused_from_then_on(tmp_path: Path) -> None:
    root, mark = make_repo(tmp_path.resolve() / "shop", FILES), tmp_path.resolve() / "ran"
    _linked(root)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    program.chmod(0o755)
    commit: tuple[str, JsonObject] = ("git.commit", {"message": "one", "allow_empty": True})
    assert names(called(root, commit)) == [None]
    (root / ".git").unlink()
    shutil.copytree(root / "gitdata", root / ".git")
    for name, value in (("commit.gpgsign", "true"), ("gpg.program", str(program))):
        git(root, "config", name, value)
    assert names(called(root, commit, commit)) == ["GIT_REFUSED"] * 2
    assert not mark.exists()


async def test_an_attached_folder_whose_repository_agents_can_write_is_read_without_its_settings(
    tmp_path: Path,
) -> None:
    root = make_repo(tmp_path.resolve() / "shop", FILES)
    other = make_repo(tmp_path.resolve() / "other", {"x.txt": "one\n"})
    elsewhere, mark = tmp_path / "elsewhere", tmp_path / "ran"
    elsewhere.mkdir()
    (elsewhere / "x.txt").write_text("of elsewhere\n")
    (other / ".git").rename(root / "store")
    (other / ".git").write_text(f"gitdir: {root}/store\n")
    settings = (
        f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {elsewhere}\n\tfsmonitor = touch {mark}\n"
        f'[filter "f"]\n\tclean = touch {mark}; cat\n[log]\n\tshowSignature = true\n[gpg]\n\tprogram = touch {mark}\n'
        f"[diff]\n\texternal = touch {mark}\n"
    )
    planted = written(
        {"path": "store/config", "content": settings, "overwrite": True},
        {"path": "store/info/attributes", "content": "* filter=f\n"},
        {"path": "store/hooks/post-index-change", "content": f"#!/bin/sh\ntouch {mark}\n", "executable": True},
    )
    async with plane(root, "trust.mode=automatic") as opened:
        assert (await opened.conveyor.call("workspace.attach", {"path": str(other)}, OWNER)).error is None
        assert (await opened.conveyor.call(*planted, AGENT)).error is None
        (other / "x.txt").write_text("two\n")
        answers = [
            (await opened.conveyor.call(name, {"workspace": "other"}, AGENT)).to_json(with_text=True)
            for name in ("git.diff", "git.status", "git.log")
        ]
    assert not mark.exists()
    assert not any("of elsewhere" in answer for answer in answers), answers
    assert "first" in answers[2]


def test_the_twins_ordinary_folders_of_such_names_and_looks_are_written(tmp_path: Path) -> None:
    root = make_repo(tmp_path.resolve() / "shop", FILES)
    envelopes = called(
        root,
        written({"path": "gitdata/hooks/post-commit", **HOOK}),
        written({"path": ".bare/config", "content": "x\n"}),
        *(
            written({"path": f"tests/fixture.git/{name}", "content": "needle\n"})
            for name in ("HEAD", "config", "objects/ab", "refs/heads/main")
        ),
        ("search", {"query": "needle"}),
        ("read_files", {"paths": ["tests/fixture.git/config"]}),
        ("git.stage", {"paths": ["."]}),
    )
    assert names(envelopes) == [None] * len(envelopes), envelopes
    assert "fixture.git/HEAD" in json.dumps(envelopes[6])
    assert "tests/fixture.git/HEAD" in git(root, "ls-files").split()


def test_nobody_makes_a_folder_gits_by_naming_it_as_a_submodules(tmp_path: Path) -> None:
    root = make_repo(tmp_path.resolve() / "shop", FILES)
    (root / ".gitmodules").write_text('[submodule "s"]\n\tpath = box\n\turl = x\n')
    (root / "box" / ".git").write_text("gitdir: ../src\n")
    found = called(root, written({"path": "src/app.py", "action": "update", "old_text": "x = 1", "new_text": "x = 2"}))
    assert names(found) == [None]


@pytest.mark.parametrize("command", [("init", "--no-clients", "--no-index"), ("up", "--detach")])
def test_a_bare_repository_is_not_served(tmp_path: Path, command: tuple[str, ...]) -> None:
    root = make_repo(tmp_path / "shop", FILES)
    git(tmp_path, "clone", "--quiet", "--bare", str(root), "bare")
    for folder in (tmp_path / "bare", tmp_path / "bare" / "hooks"):
        done = cpl(*command, "--repo", str(folder))
        assert done.returncode != 0 and "bare repository" in done.stderr and "hint: clone it" in done.stderr, done
        assert not (folder / ".codeplane").exists()


def test_a_work_tree_in_the_folder_of_a_bare_repository_is_served(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "shop", FILES)
    git(tmp_path, "clone", "--quiet", "--bare", str(root), "bare")
    git(tmp_path / "bare", "worktree", "add", "--quiet", "tree", "main")
    assert names(called(tmp_path / "bare" / "tree", written({"path": "a.txt", "content": "a\n"}))) == [None]
