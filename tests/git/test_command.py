"""The git command: nobody is asked, output is bounded, and what it started ends with it."""

import asyncio
import os
from pathlib import Path

import pytest

from codeplane.git.read.git_error import git_error, redact_urls
from codeplane.git.read.reader import GitReader
from codeplane.git.safety.command import Git
from codeplane.kernel.config import GitConfig
from codeplane.kernel.errors import DeadlineExceeded, GitBusy, GitRefused, NotGit, RemoteFailed, StorageFull, TooLarge
from tests.git.desk import Desk, run, simple
from tests.git.random_repository import environment
from tests.harness import until
from tests.interaction.requirements import requirement


def hook(desk: Desk, name: str, script: str) -> None:
    """Put a hook into a repository."""
    path = desk.made.root / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@requirement("GIT-10")
def test_a_hook_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    marker = tmp_path / "pid"
    hook(desk, "pre-commit", f"sleep 300 & echo $! > '{marker}'; wait")
    git = Git(desk.made.root, GitConfig(timeout_sec=1.0), lambda: environment())
    with pytest.raises(DeadlineExceeded, match="git commit took longer than 1 s"):
        run(git.run("commit", "--allow-empty", "-m", "x"))
    until(lambda: _is_gone(int(marker.read_text())))
    assert not (desk.made.root / ".git" / "index.lock").exists()


@requirement("GIT-10")
async def test_a_cancelled_command_is_ended_with_all_it_started(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    marker = tmp_path / "pid"
    hook(desk, "pre-commit", f"echo $$ > '{marker}.part'; mv '{marker}.part' '{marker}'; exec sleep 300")
    task = asyncio.create_task(desk.git.run("commit", "--allow-empty", "-m", "x"))
    while not marker.exists():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    until(lambda: _is_gone(int(marker.read_text())))


@requirement("GIT-10")
def test_what_a_hook_leaves_running_does_not_hold_the_answer(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    marker = tmp_path / "pid"
    hook(desk, "post-commit", f"sleep 300 & echo $! > '{marker}'")
    done = run(desk.git.run("commit", "--allow-empty", "-m", "x", timeout=60))
    assert done.code == 0
    pid = int(marker.read_text())
    assert not _is_gone(pid)
    os.kill(pid, 9)


@requirement("GIT-10")
def test_a_flood_is_cut_and_its_ends_are_told(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    hook(desk, "pre-commit", "echo first words >&2; yes flood | head -c 3000000 >&2; exit 1")
    with pytest.raises(GitRefused, match="first words") as caught:
        run(desk.git.run("commit", "--allow-empty", "-m", "x"))
    assert len(caught.value.message) < 4000


@requirement("GIT-10")
def test_settings_of_this_process_stay_out_and_nobody_is_asked(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    hook(desk, "pre-commit", "env >&2; exit 1")
    with pytest.raises(GitRefused) as caught:
        run(desk.git.run("commit", "--allow-empty", "-m", "x"))
    assert "GIT_TERMINAL_PROMPT=0" in caught.value.message
    done = run(desk.git.run("credential", "fill", input=b"protocol=https\nhost=example.invalid\n\n", check=False))
    assert done.code != 0


def test_outside_a_repository_folders_above_are_not_taken(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    below = desk.made.root / "below"
    below.mkdir()
    with pytest.raises(NotGit):
        run(desk.git.at(below).run("status"))
    with pytest.raises(NotGit):
        desk.git.at(below).ask("status")


@pytest.mark.parametrize(
    ("command", "output", "kind"),
    [
        ("add", "fatal: Unable to create '/r/.git/index.lock': File exists.", GitBusy),
        ("fetch", "fatal: Authentication failed for 'https://example.com/x'", RemoteFailed),
        ("fetch", "git@host: Permission denied (publickey).", RemoteFailed),
        ("push", "fatal: could not read Username for 'https://x': terminal prompts disabled", RemoteFailed),
        ("commit", "my hook: could not resolve host", GitRefused),
        ("add", 'error: open("a"): Permission denied', GitRefused),
        ("fetch", "warning: unable to access '/root/.config/git/attributes': Permission denied", GitRefused),
        ("branch", "fatal: cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create", GitRefused),
        ("checkout", "error: you need to resolve your current index first", GitBusy),
        ("merge", "fatal: You have not concluded your merge (MERGE_HEAD exists).", GitBusy),
        ("add", "error: unable to write file: No space left on device", StorageFull),
        ("commit", "lint: too long", GitRefused),
    ],
)
def test_words_of_git_have_a_meaning(command: str, output: str, kind: type[Exception]) -> None:
    assert type(git_error(command, output)) is kind


def test_more_than_one_command_takes_is_said(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    with pytest.raises(TooLarge):
        run(desk.git.run("add", "--", *["x" * 4000] * 5000))
    run(desk.git.each("ls-files", paths=["x" * 4000] * 1001))


def test_secrets_of_addresses_are_never_told() -> None:
    output = (
        "fatal: unable to access 'https://user:pa:ss@w@host/x.git?token=abc': no; ssh://git@host/y ssh://u:p@host/z"
    )
    answer = redact_urls(output)
    assert not any(secret in answer for secret in ("pa:ss", "user", "abc", "u:p"))
    assert "ssh://git@host/y" in answer
    assert "pa:ss" not in git_error("fetch", output).message


@pytest.mark.parametrize(
    "output, kind, message, hint",
    [
        (
            "fatal: 'wt' contains modified or untracked files, use --force to delete it",
            GitRefused,
            "git x: 'wt' contains modified or untracked files",
            "force=true",
        ),
        (
            "fatal: cannot remove a locked working tree;\nuse 'remove -f -f' to override or unlock first",
            GitRefused,
            "git x: cannot remove a locked working tree;",
            "git_worktree_unlock",
        ),
        (
            "error: Committing is not possible because you have unmerged files.\nhint: Fix them up in the work tree,"
            " and then use 'git add/rm <file>'\nhint: as needed\nfatal: Exiting because of an unresolved conflict.",
            GitBusy,
            "git x: Committing is not possible because you have unmerged files.",
            "git_stage",
        ),
        ("fatal: No rebase in progress?", GitRefused, "git x: No rebase in progress?", "git_status"),
        (
            "error: no cherry-pick or revert in progress\nfatal: cherry-pick failed",
            GitRefused,
            "git x: no cherry-pick or revert in progress\ncherry-pick failed",
            "git_status",
        ),
        (
            "fatal: There is no merge to abort (MERGE_HEAD missing).",
            GitRefused,
            "git x: There is no merge to abort (MERGE_HEAD missing).",
            "git_status",
        ),
        (
            "fatal: You have not concluded your merge (MERGE_HEAD exists).\nhint: Please, commit your changes",
            GitBusy,
            "git x: You have not concluded your merge (MERGE_HEAD exists).",
            "git_status",
        ),
    ],
)
def test_known_refusals_say_the_argument_that_helps(
    output: str, kind: type[GitRefused], message: str, hint: str
) -> None:
    error = git_error("x", output)
    assert type(error) is kind and error.message == message and hint in error.hint


@pytest.mark.parametrize(
    ("script", "answer", "read"),
    [
        ("kill -KILL $$", "it was ended by SIGKILL without printing a word", "it was ended by SIGKILL"),
        ("echo half; kill -SEGV $$", "it was ended by SIGSEGV after printing: half", "it was ended by SIGSEGV"),
        ("exit 3", "it failed with status 3 and without a word", "it failed with status 3 and without a word"),
        ("echo no >&2; exit 1", "no", "no"),
    ],
)
def test_a_git_that_ends_without_a_word_is_told_by_how_it_ended(
    tmp_path: Path, script: str, answer: str, read: str
) -> None:
    desk = simple(tmp_path)
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    broken = {**environment(), "PATH": f"{program.parent}:/usr/bin:/bin"}
    git = Git(desk.made.root, GitConfig(), lambda: broken)
    reading = GitReader(root=desk.made.root, environment=lambda: broken)
    with pytest.raises(GitRefused) as waited:
        run(git.run("status"))
    with pytest.raises(GitRefused) as asked:
        git.ask("status")
    with pytest.raises(GitRefused) as looked:
        run(reading.run("status"))
    assert waited.value.message == asked.value.message == f"git status: {answer}"
    assert looked.value.message == f"git status failed: {read}"


def test_a_git_that_ends_well_is_told_by_what_it_says(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    assert run(desk.git.run("status", "--porcelain=v2", "--branch")).line.startswith("# branch.oid")
