"""`cpl uninstall`: undo everything that `cpl init` and `cpl up` created."""

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from codeplane.adapters.coding_clients import registration
from codeplane.adapters.coding_clients.install_record import InstallRecord
from codeplane.adapters.coding_clients.own_entry import cpl_path
from codeplane.adapters.systemd_unit import UserUnit
from codeplane.kernel.errors import WorkspaceNotFound
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace import Workspace, job_folder, job_folders
from codeplane.surfaces.cli.client_secret import folder_of
from codeplane.surfaces.cli.commands.down import down
from codeplane.surfaces.cli.output import EXIT_FAILED, RepoOption, print_error, report_errors, resolve_workspace

_RECOVERY = "refs/codeplane/"
_TREE, _JOB = "tree", "job_"


@report_errors
def uninstall(
    repo: RepoOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    keep_data: Annotated[bool, typer.Option("--keep-data", help="Leave .codeplane/ where it is.")] = False,
    everywhere: Annotated[
        bool,
        typer.Option("--everywhere", help="Everything of this account: every repository, shared entries, settings."),
    ] = False,
) -> None:
    """Stop the server, remove CodePlane from the clients' settings, and delete .codeplane/ with its ledger."""
    home, environ = Path.home(), os.environ
    installed = InstallRecord.load(home, environ)
    workspace = _workspace(repo, installed, everywhere=everywhere)
    changes = registration.plan_removal(
        repo=workspace.root, home=home, cpl=cpl_path(), environ=environ, everywhere=everywhere, installed=installed
    )
    repositories = _repositories(workspace, installed, everywhere=everywhere)
    settings = _settings(home) if everywhere and not keep_data else None
    doomed = _files_to_delete(repositories, changes, settings, keep_data=keep_data, everywhere=everywhere)
    for change in changes:
        if change.action == "skipped":
            print(f"leave   {change.file} ({change.client})  {change.reason}")
    if not everywhere and (recovery_refs := _recovery(workspace.root)):
        refs = f"{plural(len(recovery_refs), 'ref')} below {_RECOVERY}"
        print(f"leave   {refs}, which keep lost work: --everywhere deletes them")
    if not doomed:
        _forget(installed, repositories, changes, everywhere=everywhere)
        print("nothing to do")
        return
    print("\n".join(doomed), flush=True)
    if not yes and not (sys.stdin.isatty() and typer.confirm("Go on?", default=False, err=True)):
        again = _command(repo, keep_data=keep_data, everywhere=everywhere)
        print(f"\nnothing was changed; {again} does it", file=sys.stderr)
        raise typer.Exit(EXIT_FAILED)
    for each in repositories:
        _unit(each).remove()
        down(repo=each.root)
    failed = [change for change in changes if not _apply_removal(change)]
    if not keep_data:
        for each in repositories:
            if everywhere:
                _drop_recovery(each.root)
            shutil.rmtree(folder_of(each), ignore_errors=True)
            _delete_job_trees(each.root)
            _delete(each.home)
        if settings is not None:
            _delete(settings)
    if failed:
        raise typer.Exit(EXIT_FAILED)
    if not keep_data:
        _forget(installed, repositories, changes, everywhere=everywhere)
    print("done")


def _command(repo: Path | None, *, keep_data: bool, everywhere: bool) -> str:
    """Return the command that does the same without asking."""
    words = ["cpl", "uninstall", *(("--repo", str(repo)) if repo is not None else ())]
    words += ["--keep-data"] if keep_data else []
    words += ["--everywhere"] if everywhere else []
    return shlex.join([*words, "--yes"])


def _workspace(repo: Path | None, installed: InstallRecord, *, everywhere: bool) -> Workspace:
    """Return the repository here; with `everywhere`, any that was set up."""
    try:
        return resolve_workspace(repo)
    except WorkspaceNotFound:
        if not everywhere or repo is not None:
            raise
        return Workspace(root=next(iter(installed.repositories), Path.cwd()))


def _repositories(workspace: Workspace, installed: InstallRecord, *, everywhere: bool) -> list[Workspace]:
    """Return this repository; with `everywhere`, all that were set up and still exist."""
    others = [Workspace(root=root) for root in installed.repositories if root != workspace.root.resolve()]
    return [
        workspace,
        *(
            repository
            for repository in others
            if everywhere and (os.path.lexists(repository.home) or _recovery(repository.root))
        ),
    ]


def _unit(workspace: Workspace) -> UserUnit:
    """Return the unit of systemd that starts a repository's server, whether it is there or not."""
    return UserUnit.of(workspace.root, home=Path.home(), environ=os.environ)


def _settings(home: Path) -> Path | None:
    """Return the user's folder of settings and client secrets."""
    named = os.environ.get("XDG_CONFIG_HOME", "")
    folder = (Path(named) if named.startswith("/") else home / ".config") / "codeplane"
    return folder if os.path.lexists(folder) else None


def _files_to_delete(
    repositories: list[Workspace],
    changes: tuple[registration.RegistrationChange, ...],
    settings: Path | None,
    *,
    keep_data: bool,
    everywhere: bool,
) -> list[str]:
    verbs = {"updated": "update", "deleted": "delete"}
    doomed = [
        f"{verbs[change.action]}  {change.file} ({change.client})" for change in changes if change.action in verbs
    ]
    doomed += [f"delete  {unit.path} (systemd)" for each in repositories if (unit := _unit(each)).is_installed]
    if keep_data:
        return doomed
    for repository in repositories:
        if os.path.lexists(repository.home):
            doomed.append(f"delete  {repository.home} and the ledger in it")
            if settings is None and (secrets := folder_of(repository)).is_dir():
                doomed.append(f"delete  {secrets}, the secrets of clients that pass answers on")
        doomed += [
            f"delete  {trees}, the work trees of jobs, with changes that were not applied"
            for trees in _job_trees(repository.root)
        ]
        if everywhere and (refs := _recovery(repository.root)):
            doomed.append(
                f"delete  {plural(len(refs), 'ref')} below {_RECOVERY} of {repository.root}, which keep lost work"
            )
    if settings is not None:
        doomed.append(f"delete  {settings} with your settings and the clients' secrets")
    return doomed


def _job_trees(root: Path) -> list[Path]:
    """Return the folders with the work trees of a repository's jobs: the usual one, and those that git knows of."""
    usual = job_folder(job_folders(os.environ, Path.home()), root)
    found = {usual} if usual.is_dir() else set[Path]()
    for line in _git(root, "worktree", "list", "--porcelain").splitlines():
        # Elsewhere with `jobs.trees`, as FOLDER/REPOSITORY/JOB/tree; the repository's name there is its own.
        tree = Path(line.removeprefix("worktree "))
        is_job = line.startswith("worktree ") and tree.name == _TREE and tree.parent.name.startswith(_JOB)
        if is_job and tree.parents[1].name == usual.name and tree.parents[1].is_dir():
            found.add(tree.parents[1])
    return sorted(found)


def _delete_job_trees(root: Path) -> None:
    """Delete the work trees of jobs, and what git knows of them."""
    for trees in _job_trees(root):
        shutil.rmtree(trees, ignore_errors=True)
        with suppress(OSError):
            # Empty when no other repository has jobs.
            trees.parent.rmdir()
    _git(root, "worktree", "prune")


def _recovery(root: Path) -> list[str]:
    """Return our recovery refs in a repository; none where git fails."""
    return _git(root, "for-each-ref", "--format=%(refname)", _RECOVERY).split()


def _drop_recovery(root: Path) -> None:
    refs = _recovery(root)
    if refs:
        _git(root, "update-ref", "--stdin", given="".join(f"delete {ref}\n" for ref in refs))


def _git(root: Path, *arguments: str, given: str = "") -> str:
    from codeplane.adapters.git_cli import clean_environment
    from codeplane.disk.git_variables import NO_FETCH

    try:
        done = subprocess.run(
            # Agents may have written the hooks, which are in no sandbox here.
            ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments],
            cwd=root,
            env=clean_environment(root) | NO_FETCH,
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _forget(
    installed: InstallRecord,
    repositories: list[Workspace],
    changes: tuple[registration.RegistrationChange, ...],
    *,
    everywhere: bool,
) -> None:
    """Update the record to what is left, or delete it."""
    from codeplane.adapters.file_replacement import storage_error

    left = replace(installed, repositories=(), made=()) if everywhere else installed
    for repository in repositories:
        # One that keeps refs of ours is not done with.
        if everywhere or not _recovery(repository.root):
            left = left.without_repository(repository.root.resolve())
    if not left.repositories:
        # Only entries that all repositories share are still there.
        shared = {change.file for change in changes if change.action == "skipped"}
        left = replace(left, made=tuple(files for files in left.made if files.file in shared))
    try:
        if not everywhere and left != installed and left.folders and _settings(Path.home()) is not None:
            # The settings stay, and the folders around them that go with them later.
            left.write()
        elif everywhere or left != installed:
            left.save()
    except OSError as error:
        raise storage_error(error, installed.file) from error


def _apply_removal(change: registration.RegistrationChange) -> bool:
    try:
        registration.apply(change)
    except registration.RegistrationError as error:
        print_error({"message": error.message, "error": error.name, "hint": error.hint})
        return False
    return True


def _delete(home: Path) -> None:
    from codeplane.adapters.file_replacement import storage_error

    try:
        if home.is_dir() and not home.is_symlink():
            shutil.rmtree(home)
        else:
            home.unlink(missing_ok=True)
    except OSError as error:
        raise storage_error(error, home) from error
