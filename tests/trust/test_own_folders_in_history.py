"""What belongs to git or to CodePlane is not written by checking out history that tracks it, whichever way."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane

SPELLINGS = (
    ".codeplane/config.yaml",
    ".CodePlane/policy/mine.rego",
    "src/.codeplane/owner.token",
    "codepl~1/config.yaml",
    "a/.codeplane. /x",
)


@dataclass(frozen=True)
class Attack:
    """A history that tracks a guarded path, and the calls that would write it."""

    prepare: Callable[[Path, str], None]
    calls: Callable[[Path], tuple[tuple[str, JsonObject], ...]]
    by: Caller = AGENT


def _commit(repo: Path, message: str, files: dict[str, str | None]) -> None:
    """Commit files without going through the work tree; None removes one."""
    for path, text in files.items():
        if text is None:
            git(repo, "rm", "--quiet", "--cached", path)
            (repo / path).unlink(missing_ok=True)
            continue
        blob = _blob(repo, text)
        git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    git(repo, "commit", "--quiet", "--message", message)


def _blob(repo: Path, text: str) -> str:
    place = repo / ".git" / "planted"
    place.write_text(text)
    return git(repo, "hash-object", "-w", str(place)).strip()


def _branch(repo: Path, path: str) -> None:
    """A branch `evil` whose last commit adds the path."""
    git(repo, "checkout", "--quiet", "-b", "evil")
    _commit(repo, "evil", {path: "mine\n"})
    git(repo, "checkout", "--quiet", "--force", "main")
    _clean(repo, path)


def _clean(repo: Path, path: str) -> None:
    git(repo, "clean", "--quiet", "--force", "-d", "-x", "--exclude=/.codeplane")
    assert not _written(repo)


def _reverted(repo: Path, path: str) -> None:
    """HEAD took the path away: to revert that brings it back."""
    _commit(repo, "adds", {path: "mine\n"})
    _commit(repo, "takes away", {path: None})


def _in_between(repo: Path, path: str) -> None:
    """Two commits on `main` add the path and take it away again; `base` is another line to go onto."""
    git(repo, "branch", "base")
    _commit(repo, "adds", {path: "mine\n", "kept.txt": "x\n"})
    _commit(repo, "takes away", {path: None, "later.txt": "x\n"})
    git(repo, "checkout", "--quiet", "base")
    _commit(repo, "else", {"else.txt": "x\n"})
    git(repo, "checkout", "--quiet", "--force", "main")
    _clean(repo, path)


def _stashed(repo: Path, path: str) -> None:
    """A stash with the path in it."""
    git(repo, "update-index", "--add", "--cacheinfo", f"100644,{_blob(repo, 'mine')},{path}")
    tree = git(repo, "write-tree").strip()
    index = git(repo, "commit-tree", tree, "-p", "HEAD", "-m", "index").strip()
    stash = git(repo, "commit-tree", tree, "-p", "HEAD", "-p", index, "-m", "stash").strip()
    git(repo, "reset", "--quiet", "--hard")
    git(repo, "stash", "store", "--message", "planted", stash)


def _remote(repo: Path, path: str) -> None:
    """A remote that is ahead by a commit with the path."""
    far = repo.parent / "far"
    git(repo.parent, "clone", "--quiet", str(repo), str(far))
    git(repo, "remote", "add", "origin", str(far))
    git(repo, "fetch", "--quiet", "origin")
    _commit(far, "evil", {path: "mine\n"})


def _remote_moved(repo: Path, path: str) -> None:
    """A remote that went on by itself, and local commits that add the path and take it away."""
    far = repo.parent / "far"
    git(repo.parent, "clone", "--quiet", str(repo), str(far))
    git(repo, "remote", "add", "origin", str(far))
    git(repo, "fetch", "--quiet", "origin")
    _commit(far, "else", {"else.txt": "x\n"})
    _commit(repo, "adds", {path: "mine\n", "kept.txt": "x\n"})
    _commit(repo, "takes away", {path: None, "later.txt": "x\n"})
    git(repo, "reset", "--quiet", "--hard")
    _clean(repo, path)


def _stopped_rebase(repo: Path, path: str) -> None:
    """A rebase that a person began, and that stopped before the commit that adds the path."""
    _in_between(repo, path)
    git(repo, "-c", "sequence.editor=sed -i '1i break'", "rebase", "--quiet", "--interactive", "base")


def _rebase_to_give_up(repo: Path, path: str) -> None:
    """A rebase that a person began on a branch with the path, which giving up checks out again."""
    git(repo, "branch", "base")
    _commit(repo, "adds", {path: "mine\n"})
    git(repo, "checkout", "--quiet", "--force", "base")
    _commit(repo, "else", {"else.txt": "x\n"})
    git(repo, "checkout", "--quiet", "--force", "main")
    git(repo, "-c", "sequence.editor=sed -i '1i break'", "rebase", "--quiet", "--interactive", "base")


def _library(repo: Path, path: str, name: str = "far") -> Path:
    """A repository beside this one that tracks the path."""
    far = make_repo(repo.parent / name, {"lib.py": "x = 1\n"})
    _commit(far, "evil", {path: "mine\n"})
    return far


def _link(repo: Path, far: Path, path: str = "lib") -> None:
    """Record a repository as a submodule that is not checked out yet."""
    for key, value in (("path", path), ("url", f"file://{far}")):
        git(repo, "config", "--file", ".gitmodules", f"submodule.{path}.{key}", value)
    git(repo, "add", ".gitmodules")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{git(far, 'rev-parse', 'HEAD').strip()},{path}")
    git(repo, "commit", "--quiet", "--message", "with a submodule")


def _beside(repo: Path, path: str) -> None:
    """A repository that is no submodule yet and tracks the path."""
    _library(repo, path)


def _submodule(repo: Path, path: str) -> None:
    """A submodule that tracks the path."""
    _link(repo, _library(repo, path))


def _nested_submodule(repo: Path, path: str) -> None:
    """A submodule with a submodule that tracks the path."""
    middle = make_repo(repo.parent / "middle", {"mid.py": "x = 1\n"})
    _link(middle, _library(repo, path), "in")
    _link(repo, middle)


def _steps(repo: Path) -> JsonObject:
    commits = git(repo, "rev-list", "--reverse", "base..main").split()
    actions = ("pick", "drop")
    steps = [{"commit_sha": oid, "action": action} for oid, action in zip(commits, actions, strict=True)]
    return {"plan": {"upstream": "base", "steps": steps}}


ATTACKS = {
    "checkout": Attack(_branch, lambda repo: (("git.checkout", {"ref": "evil"}),)),
    "checkout a new branch": Attack(
        _branch, lambda repo: (("git.checkout", {"ref": "new", "create": True, "start": "evil"}),)
    ),
    "checkout of files": Attack(_branch, lambda repo: (("git.checkout", {"ref": "evil", "paths": ["."]}),)),
    "work tree": Attack(_branch, lambda repo: (("git.worktree_add", {"path": "trees/t", "ref": "evil"}),)),
    "work tree with a branch": Attack(
        _branch, lambda repo: (("git.worktree_add", {"path": "t", "ref": "evil", "branch": "b"}),)
    ),
    "work tree of the owner": Attack(
        _branch, lambda repo: (("git.worktree_add", {"path": "t", "ref": "evil", "branch": "b"}),), OWNER
    ),
    "merge": Attack(_branch, lambda repo: (("git.merge", {"ref": "evil"}),)),
    "cherry-pick": Attack(_branch, lambda repo: (("git.cherrypick", {"commit": "evil"}),)),
    "revert": Attack(_reverted, lambda repo: (("git.revert", {"commit": "HEAD"}),)),
    "reset": Attack(_branch, lambda repo: (("git.reset", {"ref": "evil", "mode": "hard"}),), OWNER),
    "stash apply": Attack(_stashed, lambda repo: (("git.stash_apply", {}),)),
    "stash pop": Attack(_stashed, lambda repo: (("git.stash_pop", {}),)),
    "pull": Attack(_remote, lambda repo: (("git.pull", {"remote": "origin", "ref": "main"}),), OWNER),
    "rebase onto it": Attack(
        _branch, lambda repo: (("git.rebase_execute", {"plan": {"upstream": "evil", "steps": []}}),)
    ),
    "rebase that drops its removal": Attack(_in_between, lambda repo: (("git.rebase_execute", _steps(repo)),), OWNER),
    "pull that rebases": Attack(
        _remote_moved,
        lambda repo: (("git.pull", {"remote": "origin", "ref": "main", "mode": "rebase"}),),
        OWNER,
    ),
    "submodule added": Attack(
        _beside,
        lambda repo: (("git.submodule_add", {"url": f"file://{repo.parent / 'far'}", "path": "libs/one"}),),
        OWNER,
    ),
    "submodule updated": Attack(_submodule, lambda repo: (("git.submodule_update", {}),), OWNER),
    "submodule in a submodule": Attack(
        _nested_submodule, lambda repo: (("git.submodule_update", {"recursive": True}),), OWNER
    ),
    "rebase continued": Attack(_stopped_rebase, lambda repo: (("git.rebase_continue", {}),)),
    "rebase given up": Attack(_rebase_to_give_up, lambda repo: (("git.rebase_abort", {}),)),
}


def _written(repo: Path) -> list[str]:
    """What is on disk at a guarded place and is not the running CodePlane's own."""
    return [
        str(path.relative_to(repo))
        for path in repo.parent.rglob("*")
        if path.is_file()
        and path.relative_to(repo.parent).parts[:2] not in (("shop", ".codeplane"), ("shop", ".git"), ("far", ".git"))
        and path.read_bytes() in (b"mine\n", b"mine")
    ]


def _standing(repo: Path) -> tuple[str, list[str]]:
    """Git's settings, and all that is there but for what the running CodePlane and git's objects make."""
    kept = (".codeplane", ".git")
    files = [str(path.relative_to(repo)) for path in repo.rglob("*") if path.relative_to(repo).parts[0] not in kept]
    modules = [str(path) for path in (repo / ".git" / "modules").rglob("config")]
    return git(repo, "config", "--local", "--list"), sorted([*files, *modules])


def _planted(repo: Path) -> bool:
    return any(path.read_bytes() == b"mine\n" for path in (repo / ".codeplane").rglob("*") if path.is_file())


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # The remotes of these tests are folders.
    (tmp_path / "settings" / "git").mkdir(parents=True)
    (tmp_path / "settings" / "git" / "config").write_text('[protocol "file"]\n\tallow = always\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    yield make_repo(
        tmp_path / "shop", {"README.md": "# shop\n", ".gitignore": ".codeplane/\n", "src/app.py": "x = 1\n"}
    )


async def _called(opened: Plane, attack: Attack, repo: Path) -> list[str | None]:
    ends: list[str | None] = []
    for operation, arguments in attack.calls(repo):
        outcome = await opened.conveyor.call(operation, arguments, attack.by)
        ends.append(outcome.error.name if outcome.error is not None else None)
        ends += [] if outcome.error is None else [json.dumps(outcome.error.message)]
    return ends


@requirement("TRUST-03")
@pytest.mark.parametrize(
    ("name", "path"),
    # The spellings are one gate's; each way is tried with the plain one.
    [*((name, SPELLINGS[0]) for name in ATTACKS), *(("work tree", path) for path in SPELLINGS[1:])],
)
async def test_it_is_refused_and_nothing_is_written(repo: Path, name: str, path: str) -> None:
    attack = ATTACKS[name]
    attack.prepare(repo, path)

    async def attempted() -> list[str | None]:
        async with plane(repo) as opened:
            return await _called(opened, attack, repo)

    before = _standing(repo)
    ends = await attempted()
    assert _standing(repo) == before
    assert ends[0] == "PATH_DENIED", ends
    assert "belongs to git or to CodePlane" in str(ends[1])
    assert _written(repo) == [] and not _planted(repo)


@requirement("TRUST-03")
@pytest.mark.parametrize("name", ATTACKS)
async def test_the_twin_with_an_ordinary_path_passes(repo: Path, name: str) -> None:
    attack = ATTACKS[name]
    attack.prepare(repo, "docs/plain.md")

    async def attempted() -> list[str | None]:
        async with plane(repo) as opened:
            return await _called(opened, attack, repo)

    ends = await attempted()
    assert ends[0] in (None, "APPROVAL_PENDING"), ends
