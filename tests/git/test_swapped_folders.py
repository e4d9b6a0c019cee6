"""A folder that is swapped for a link while git reads or writes the work tree: nothing outside is read or written."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from codeplane.adapters.work_tree_mount import WorkTreeMount
from codeplane.kernel.json import JsonObject, JsonValue
from tests.edit.folder_swaps import swap_folders
from tests.edit.open_plane import OpenPlane
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-68")

SECRET = "outside-only"
RACE_SEC = 2.0


@pytest.fixture
def mount(tmp_path: Path) -> WorkTreeMount:
    mount = WorkTreeMount()
    if not mount.command(tmp_path):
        pytest.skip("no mount WITHOUT LINKS here: git on swapped folders was NOT CHECKED")
    return mount


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A work tree with a folder `d`, and a link `e` to a folder outside that has files of the same names."""
    root, outside = make_repo(tmp_path / "repo", {"d/a.py": "a = 1\n"}), tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text(f"{SECRET} = 1\n")
    (root / "e").symlink_to(outside)
    (root / ".git/info/exclude").write_text("e\n")
    return root


def run(words: list[str], cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


def test_no_link_of_the_work_tree_is_followed(mount: WorkTreeMount, root: Path) -> None:
    words = mount.command(root)
    assert run([*words, "cat", "d/a.py"], root).stdout == "a = 1\n"
    assert run([*words, "cat", "e/a.py"], root).returncode != 0
    assert run([*words, "cat", "a.py"], root / "d").stdout == "a = 1\n", "where it was started"
    # Links themselves are what git stores, and a command ends as it would without.
    assert run([*words, "readlink", "e"], root).stdout == f"{root.parent}/outside\n"
    assert run([*words, "sh", "-c", "exit 7"], root).returncode == 7
    assert run([*words, "id", "-u"], root).stdout == f"{os.geteuid()}\n"
    assert run(["cat", "e/a.py"], root).returncode == 0, "for that command alone"
    # Where the owner has git keep its objects is the owner's affair.
    (root / ".git/large").symlink_to(root.parent / "outside")
    assert run([*mount.command(root), "cat", ".git/large/a.py"], root).returncode == 0


def test_where_git_s_folder_is_a_link_git_runs_as_ever(mount: WorkTreeMount, root: Path) -> None:
    (root / ".git").rename(root.parent / "elsewhere.git")
    (root / ".git").symlink_to(root.parent / "elsewhere.git")
    assert mount.command(root) == []


def test_what_is_read_only_cannot_be_written_but_for_a_part(mount: WorkTreeMount, root: Path) -> None:
    (root / "own/cache").mkdir(parents=True)
    words = mount.command(root, read_only=[root / "own", root / "missing"], writable=[root / "own/cache"])
    assert run([*words, "touch", "own/x"], root).returncode != 0
    assert run([*words, "touch", "own/cache/x"], root).returncode == 0
    assert sorted(path.name for path in (root / "own").iterdir()) == ["cache"]


@pytest.mark.usefixtures("mount")
@pytest.mark.parametrize(
    "calls",
    [
        [("git.diff", {})],
        [("git.stage", {"paths": ["d/a.py"]}), ("git.diff", {"staged": True}), ("git.unstage", {"paths": ["d/a.py"]})],
        [("git.checkout", {"ref": "other"}), ("git.checkout", {"ref": "main"})],
    ],
    ids=["diff", "stage", "checkout"],
)
def test_through_the_door(root: Path, calls: list[tuple[str, dict[str, JsonValue]]]) -> None:
    outside = root.parent / "outside"
    git(root, "checkout", "--quiet", "-b", "other")
    (root / "d/new.py").write_text("new = 1\n")
    git(root, "add", "d")
    git(root, "commit", "--quiet", "--message", "other")
    git(root, "checkout", "--quiet", "main")
    if calls[0][0] != "git.checkout":
        (root / "d/a.py").write_text("a = 2\n")
    plane = OpenPlane(root, "embeddings.model=none", "index.watch=false", "limits.max_mutations=100000")
    answers: list[JsonObject] = []
    try:
        with swap_folders(root / "d", root / "e"):
            end = time.monotonic() + RACE_SEC
            while time.monotonic() < end:
                for name, arguments in calls:
                    answers.append(plane.ask(name, **arguments))  # type: ignore[arg-type]  # plain JSON
    finally:
        plane.close()
    assert SECRET not in json.dumps(answers)
    assert [path.name for path in outside.iterdir()] == ["a.py"]
    objects = git(root, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)").splitlines()
    blobs = [line.split()[1] for line in objects if line.startswith("blob")]
    assert all(SECRET not in git(root, "cat-file", "blob", blob) for blob in blobs)
