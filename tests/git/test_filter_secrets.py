"""Git gives filters the contents of secrets files on their input: they leave them nowhere, and tell nobody but git."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from codeplane.git.safety.filter_commands import filter_commands
from codeplane.kernel.errors import GitRefused
from codeplane.kernel.secret_paths import NAMES, is_secret_name
from tests.git.desk import run, simple
from tests.git.test_guarded_programs import Guarded, needs_bubblewrap
from tests.interaction.requirements import requirement

pytestmark = [requirement("TRUST-50"), needs_bubblewrap]
# Of one length, so that git has to compare what filters make of them.
OLD, SECRET = "old-Gr4pe-Ju1ce-99", "new-Gr4pe-Ju1ce-99"


@pytest.fixture
def desk(tmp_path: Path) -> Guarded:
    """A repository whose `.env` is tracked and has changes, with a filter that agents can write."""
    made = simple(tmp_path).made
    for path in (".env", "conf/Prod.KEY", "b.txt"):
        made.write(path, f"{OLD}\n")
    made.write(".gitattributes", ".env filter=f\n*.KEY filter=f\nb.txt filter=f\n")
    made.write("f.sh", "cat\n")
    made.commit("base")
    for path in (".env", "conf/Prod.KEY", "b.txt"):
        made.write(path, f"{SECRET}\n")
    return Guarded(made)


def _seen(desk: Guarded) -> dict[str, str]:
    return {path.name: path.read_text() for path in desk.made.root.glob("seen-*")}


def _script(desk: Guarded, text: str) -> None:
    desk.made.write("f.sh", text)


def test_a_filter_keeps_nothing_of_a_secrets_file(desk: Guarded) -> None:
    desk.made.git("config", "filter.f.clean", "sh f.sh %f")
    places = ("seen-$(basename $1)", ".git/objects/seen", ".git/seen")
    kept = "; ".join(f'(echo "$text" > {place}) 2> /dev/null' for place in places)
    _script(desk, f'text=$(cat); {kept}; echo "told of $1: $text" >&2; echo "$text"')
    done = run(desk.git.run("status", "--porcelain"))
    assert _seen(desk) == {"seen-b.txt": f"{SECRET}\n"}
    assert f"told of b.txt: {SECRET}" in done.err
    assert ".env" not in done.err and "Prod" not in done.err
    assert not (desk.made.root / ".git" / "seen").exists() and not (desk.made.root / ".git/objects/seen").exists()


def test_the_cache_of_filters_has_nothing_of_a_secrets_file(desk: Guarded) -> None:
    desk.made.git("config", "filter.f.clean", "sh f.sh %f")
    _script(desk, f'tee "{Path.home()}/.cache/seen-$(basename $1)"')
    run(desk.git.run("status", "--porcelain"))
    assert {path.name for path in (desk.home / "hook-cache").glob("seen-*")} == {"seen-b.txt"}


def test_what_the_filter_makes_of_a_secrets_file_counts(desk: Guarded) -> None:
    # Without %f too, which git is asked for in any case.
    desk.made.git("config", "filter.f.clean", f"sed s/{SECRET}/{OLD}/")
    assert run(desk.git.run("status", "--porcelain", "--untracked-files=no")).line == ""
    desk.made.git("config", "filter.f.clean", "cat")
    listed = run(desk.git.run("diff", "--name-only")).line.split()
    assert listed == [".env", "b.txt", "conf/Prod.KEY"]


def test_a_process_is_given_every_file_and_keeps_none(desk: Guarded) -> None:
    desk.made.git("config", "filter.f.process", "sh f.sh")
    _script(desk, "touch seen-process; cat > seen-all")
    run(desk.git.run("status", "--porcelain", check=False))
    assert not _seen(desk)
    desk.made.git("config", "--unset", "filter.f.process")
    desk.made.git("config", "filter.f.clean", "sh f.sh")
    run(desk.git.run("status", "--porcelain", check=False))
    assert "seen-process" in _seen(desk)


def test_every_name_of_a_secrets_file_is_one_for_filters(desk: Guarded) -> None:
    desk.made.git("config", "filter.f.clean", "sh f.sh %f")
    _script(desk, 'text=$(cat); echo x > "seen-$(echo "$1" | tr / _)"; echo "$text"')
    names = [name.replace("*", "x") for name in NAMES]
    paths = [path for name in names for path in (name, f"d/{name.upper()}", f"{name}.d/x.txt")]
    desk.made.write(".gitattributes", "* filter=f\n.gitattributes -filter\nf.sh -filter\n")
    for path in paths:
        desk.made.write(path, "1\n")
    run(desk.git.run("add", "--", *paths))
    hidden = {path for path in paths if is_secret_name(path)}
    shown = {path for path in (*paths, "b.txt") if path not in hidden}
    # Git looks again at a.txt, too, where it was committed in the moment in which the index was written.
    assert {f"seen-{path.replace('/', '_')}" for path in shown} == set(_seen(desk)) - {"seen-a.txt"}
    assert len(hidden) >= 2 * len(names)


def _lfs(desk: Guarded) -> None:
    tool = desk.made.root.parent / "bin" / "git-lfs"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\ntouch ran\ncat\n")
    tool.chmod(0o755)
    desk.variables = {"PATH": f"{tool.parent}:{os.environ['PATH']}"}
    desk.made.write(".gitattributes", "*.big filter=lfs\n")
    desk.made.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
    desk.made.git("config", "filter.lfs.smudge", "git-lfs smudge -- %f")
    desk.made.git("config", "filter.lfs.required", "true")


def _restore(desk: Guarded) -> None:
    """Have git write a large file again, which Git LFS does outside of a sandbox."""
    (desk.made.root / "a.big").unlink(missing_ok=True)
    (desk.made.root / "ran").unlink(missing_ok=True)
    run(desk.git.run("checkout", "--", "a.big"))


def test_git_lfs_does_not_run_outside_while_its_folder_has_links(desk: Guarded, tmp_path: Path) -> None:
    _lfs(desk)
    desk.commit("a.big", "1\n")
    link = desk.made.root / ".git" / "lfs" / "objects" / "ab" / "cd" / "oid"
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "token")
    with pytest.raises(GitRefused, match="there is a symbolic link in"):
        _restore(desk)
    assert not (desk.made.root / "ran").exists()
    link.unlink()
    _restore(desk)
    assert (desk.made.root / "ran").exists()


@pytest.mark.parametrize("command", [("status",), ("diff",), ("add", "--", "a.big")])
def test_git_lfs_runs_enclosed_in_what_runs_beside_hooks(desk: Guarded, tmp_path: Path, command: Sequence[str]) -> None:
    """A hook could plant a link once Git LFS has looked for links, and a large file takes long to read."""
    _lfs(desk)
    desk.commit("a.big", "1\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    link = desk.made.root / ".git" / "lfs" / "tmp"
    tool = desk.made.root.parent / "bin" / "git-lfs"
    tool.write_text(
        f"#!/bin/sh\nrm -rf .git/lfs/tmp; ln -s {shlex.quote(str(outside))} .git/lfs/tmp\n"
        "touch .git/lfs/tmp/file 2> /dev/null\ncat\n"
    )
    desk.made.write("a.big", "2\n")
    run(desk.git.run(*command))
    assert not list(outside.iterdir())
    # Outside of a sandbox the same program writes there.
    link.unlink()
    (desk.made.root / "a.big").unlink()
    run(desk.git.run("checkout", "HEAD", "--", "a.big"))
    assert list(outside.iterdir())


@pytest.mark.parametrize("name", ["objects", "incomplete", "tmp", "logs"])
def test_a_hook_of_a_push_plants_nothing_where_git_lfs_writes(desk: Guarded, tmp_path: Path, name: str) -> None:
    _lfs(desk)
    desk.made.git("init", "--quiet", "--bare", str(tmp_path / "far.git"))
    desk.made.git("remote", "add", "far", str(tmp_path / "far.git"))
    desk.made.git("config", "core.hooksPath", ".husky")
    desk.hook("pre-push", f"ln -s /etc .git/lfs/{name}/x 2> planted; touch .git/lfs/y\n")
    run(desk.git.run("push", "far", "HEAD:refs/heads/x", remote=True))
    assert "Read-only file system" in (desk.made.root / "planted").read_text()
    assert (desk.made.root / ".git" / "lfs" / "y").exists()


def test_a_hook_plants_nothing_where_git_lfs_of_another_work_tree_reads(desk: Guarded) -> None:
    _lfs(desk)
    desk.hook(
        "post-commit", "mkdir -p .git/lfs/objects/ab; ln -s /etc/passwd .git/lfs/objects/ab/x; touch .git/lfs/y\n"
    )
    desk.made.git("config", "core.hooksPath", ".husky")
    objects = desk.made.root / ".git" / "lfs" / "objects"
    output = desk.commit()
    # Alone in the repository, it is taken away when the hook ends.
    assert "which is taken away: lfs/objects/ab/x" in output and (objects / "ab").is_dir()
    (objects / "ab").rmdir()
    desk.made.git("worktree", "add", "--quiet", str(desk.made.root.parent / "other"))
    output = desk.commit(text="again\n")
    assert "Read-only file system" in output and not (objects / "ab").exists()
    # Git LFS of this work tree still writes there, and so do its hooks beside it.
    assert (objects.parent / "y").exists()
    desk.hook("post-commit", "touch ran-too")
    desk.commit("a.big", "1\n")
    _restore(desk)
    assert (desk.made.root / "ran").exists()


def test_filters_write_only_folders_of_their_own() -> None:
    commands = ("git-lfs filter-process", "git-annex filter-process", "sh f.sh", "git-lfs clean; sh x")
    folders = [filter_commands({"filter.x.process": command})[0].folders for command in commands]
    assert folders == [("lfs",), ("annex", "objects"), (), ()]


@pytest.mark.parametrize("kind", ["hook", "filter"])
def test_nothing_runs_that_could_replace_a_link_to_gits_folder(desk: Guarded, kind: str) -> None:
    root = desk.made.root
    desk.made.git("config", "core.hooksPath", ".husky")
    if kind == "hook":
        desk.hook("pre-commit", "touch ran")
    else:
        desk.made.git("config", "filter.f.clean", "touch ran; cat")
    moved = root.parent / "elsewhere"
    (root / ".git").rename(moved)
    (root / ".git").symlink_to(moved)
    with pytest.raises(GitRefused, match="a symbolic link, which hooks could replace"):
        desk.commit("b.txt")
    assert not (root / "ran").exists()
    (root / ".git").unlink()
    (root / ".git").write_text(f"gitdir: {moved}\n")
    desk.commit("b.txt")
    assert (root / "ran").exists()
