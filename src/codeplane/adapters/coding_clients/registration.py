"""Plan, apply and undo CodePlane's entry in the configuration of coding clients."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from codeplane.adapters.coding_clients import jsonc, toml
from codeplane.adapters.coding_clients.clients import CLIENTS, REPO, SERVER, Client, Entry, Format, Host
from codeplane.adapters.coding_clients.install_record import CreatedFiles, InstallRecord, missing_folders, remove_empty
from codeplane.adapters.coding_clients.jsonc import JsonValue
from codeplane.adapters.coding_clients.toml import RefusedEdit
from codeplane.kernel.errors import InvalidArgument

Action: TypeAlias = Literal["created", "updated", "deleted", "unchanged", "skipped"]
Keys: TypeAlias = tuple[str, ...]


class RegistrationError(Exception):
    """A change could not be applied, and nothing was written."""

    name: ClassVar[str] = "REGISTRATION_FAILED"

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, kw_only=True)
class RegistrationChange:
    """A change of one file: its text before and after, the reason, and what else it creates."""

    client: str
    file: Path
    action: Action
    reason: str
    before: str | None
    after: str | None
    made: CreatedFiles | None = None


@dataclass(frozen=True, kw_only=True)
class _Editor:
    check: Callable[[str], object]
    get: Callable[[str, Keys], JsonValue]
    set: Callable[[str, Keys, Entry], str]
    remove: Callable[[str, Keys], str]


def plan(
    *, repo: Path, home: Path, cpl: Path, environ: Mapping[str, str], only: Sequence[str] = ()
) -> tuple[RegistrationChange, ...]:
    """Plan the registration with the clients found here, or with those in `only`."""
    host = _host(repo, home, cpl, environ)
    planned = (
        (client, _addition(client, host)) for client in _choose_clients(only) if only or client.is_installed(host)
    )
    # A file in the repository affects everyone who works on it, so it is written only on request.
    return tuple(_skip_unless_asked(change) if client.in_repo and not only else change for client, change in planned)


def plan_removal(
    *,
    repo: Path,
    home: Path,
    cpl: Path,
    environ: Mapping[str, str],
    only: Sequence[str] = (),
    everywhere: bool = False,
    installed: InstallRecord | None = None,
) -> tuple[RegistrationChange, ...]:
    """Plan the removal of our entry from every client's file, or from those in `only`.

    An entry that serves all of a user's repositories stays, unless it is to go `everywhere`: then the entries of every
    repository go that is known. What is `installed` says what else of a file is ours.
    """
    known = installed or InstallRecord(file=home)
    repositories = dict.fromkeys((repo, *(known.repositories if everywhere else ())))
    hosts = [_host(repository, home, cpl, environ) for repository in repositories]
    planned = []
    for client in _choose_clients(only):
        for file in dict.fromkeys(file for host in hosts for file in client.present(host)):
            change = _removal(client, hosts, file, known.of(file), everywhere=everywhere)
            planned.append(change if everywhere or not client.shared else _skip_shared(change))
    return tuple(planned)


def apply(change: RegistrationChange) -> None:
    """Write a planned change atomically; refuse if the file has changed since."""
    if change.action == "deleted":
        _delete(change)
        return
    if change.after is None or change.action not in ("created", "updated"):
        return
    try:
        target = change.file.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        expected = None if change.before is None else change.before.encode()
        _replace(target, change.after.encode(), expected=expected, shown=change.file)
    except OSError as error:
        raise RegistrationError(
            f"cannot write {change.file}: {error.strerror or error}",
            hint=f"check the permissions of {change.file} and run the command again",
        ) from error


def _host(repo: Path, home: Path, cpl: Path, environ: Mapping[str, str]) -> Host:
    for path in (repo, home, cpl):
        if not path.is_absolute():
            raise ValueError(f"{path} is not an absolute path")
    # Clients that key entries by directory see the directory itself, never the symlink to it.
    return Host(repo=repo.resolve(), home=home, cpl=cpl, environ=environ)


def _choose_clients(only: Sequence[str]) -> tuple[Client, ...]:
    known = [client.id for client in CLIENTS]
    unknown = sorted(set(only) - set(known))
    if unknown:
        raise InvalidArgument(f"unknown client: {', '.join(unknown)}", hint=f"choose from {', '.join(known)}")
    return tuple(client for client in CLIENTS if not only or client.id in only)


def _addition(client: Client, host: Host) -> RegistrationChange:
    def edit(editor: _Editor, text: str) -> tuple[str, str]:
        after, reason = text, "already registered"
        for path, entry in client.entries(host):
            current = editor.get(after, path)
            if isinstance(current, dict) and all(current.get(key) == value for key, value in entry.items()):
                continue
            containers.extend(keys for keys in _parent_keys(path) if editor.get(text, keys) is None)
            after = editor.set(after, path, entry)
            reason = "entry added" if current is None else "entry replaced"
        return after, f"{reason}; the file is inside the repository" if client.in_repo and after != text else reason

    containers: list[Keys] = []
    change = _plan_change(client, client.file(host), edit)
    folders = missing_folders(change.file) if change.action == "created" else ()
    made = CreatedFiles(
        file=change.file, created=change.action == "created", containers=tuple(containers), folders=folders
    )
    return replace(change, made=made)


def _removal(
    client: Client, hosts: Sequence[Host], file: Path, made: CreatedFiles, *, everywhere: bool
) -> RegistrationChange:
    def edit(editor: _Editor, text: str) -> tuple[str, str]:
        paths = dict.fromkeys(path for host in hosts if file in client.files(host) for path, _ in client.entries(host))
        if everywhere:
            paths |= dict.fromkeys(_of_other_repositories(client, editor, text))
        after = text
        for path in paths:
            after = editor.remove(after, path)
        if after == text:
            return after, "not registered"
        for end in ("\r\n\r\n", "\n\n"):
            # The empty line that was put before our table at the end of a file.
            if client.format == "toml" and text.startswith(after) and after.endswith(end):
                after = after.removesuffix(end[len(end) // 2 :])
                break
        for keys in sorted(made.containers, key=len, reverse=True):
            # What we made around our entry, unless others have put something there since.
            if editor.get(after, keys) == {}:
                after = editor.remove(after, keys)
        return after, "entry removed"

    change = _plan_change(client, file, edit)
    if change.action == "updated" and made.created and _is_empty(client, change.after or ""):
        return replace(change, action="deleted", reason="made by cpl init, and empty without its entry", made=made)
    return replace(change, made=made)


def _of_other_repositories(client: Client, editor: _Editor, text: str) -> Iterator[Keys]:
    """Return the paths of our entry for every other repository in the file."""
    if REPO not in client.container:
        return
    at = client.container.index(REPO)
    entry = editor.get(text, client.container[:at])
    for name in entry if isinstance(entry, dict) else ():
        path = (*client.container[:at], name, *client.container[at + 1 :], SERVER)
        with contextlib.suppress(RefusedEdit, jsonc.JsoncError):
            if editor.get(text, path) is not None:
                yield path


def _parent_keys(path: Keys) -> list[Keys]:
    return [path[:size] for size in range(1, len(path))]


def _is_empty(client: Client, text: str) -> bool:
    """Return whether a file is empty; a comment counts as content."""
    return "".join(text.split()) in ("", "{}")


def _delete(change: RegistrationChange) -> None:
    try:
        if _read(change.file) != (change.before or "").encode():
            raise RegistrationError(
                f"{change.file} changed while we were about to delete it", hint="run the command again"
            )
        change.file.unlink(missing_ok=True)
    except OSError as error:
        raise RegistrationError(
            f"cannot delete {change.file}: {error.strerror or error}",
            hint=f"check the permissions of {change.file.parent} and run the command again",
        ) from error
    remove_empty(list(change.made.folders) if change.made is not None else [])


def _skip_unless_asked(change: RegistrationChange) -> RegistrationChange:
    if change.action not in ("created", "updated"):
        return change
    why = f"the file is inside the repository, so only if you ask for it: cpl init --client {change.client}"
    return replace(change, action="skipped", reason=why, after=None)


def _skip_shared(change: RegistrationChange) -> RegistrationChange:
    if change.action not in ("updated", "deleted"):
        return change
    why = "kept: it serves your other repositories too; cpl uninstall --everywhere removes it"
    return replace(change, action="skipped", reason=why, after=None)


def _plan_change(client: Client, file: Path, edit: Callable[[_Editor, str], tuple[str, str]]) -> RegistrationChange:
    def change(action: Action, reason: str, before: str | None = None, after: str | None = None) -> RegistrationChange:
        return RegistrationChange(client=client.id, file=file, action=action, reason=reason, before=before, after=after)

    editor = _EDITORS[client.format]
    try:
        content = _read(file)
        # Not read as text: that would turn CRLF into LF, and the rewrite would change every line.
        before = None if content is None else content.decode()
        mark, text = _split_mark(before or "")
        editor.check(text)
        edited, reason = edit(editor, text)
        after = mark + edited
        after.encode()
    except OSError as error:
        return change("skipped", f"cannot be read: {error.strerror or error}")
    except UnicodeDecodeError:
        return change("skipped", "cannot be read: it is not UTF-8 text")
    except UnicodeEncodeError:
        return change("skipped", "the path of the repository or of cpl is not valid Unicode")
    except (jsonc.JsoncError, RefusedEdit) as error:
        return change("skipped", f"left alone: {error}")
    if after == before:
        return change("unchanged", reason, before, after)
    return change("created" if before is None else "updated", reason, before, after)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _split_mark(text: str) -> tuple[str, str]:
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def _replace(target: Path, content: bytes, *, expected: bytes | None, shown: Path) -> None:
    mode = _writable_mode(target, shown)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            _same_owner(target, temporary)
            temporary.chmod(mode)
        # As late as can be: clients rewrite these files while they run.
        if _read(target) != expected:
            raise RegistrationError(
                f"{shown} changed while we were about to write it", hint="run the command again; nothing was written"
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _writable_mode(target: Path, shown: Path) -> int | None:
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return None
    # A rename would go through where a write would not; a file made read-only is meant to stay as it is.
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(target, os.W_OK):
        raise RegistrationError(f"{shown} is read-only", hint=f"chmod u+w {shlex.quote(str(target))}")
    return mode


def _same_owner(target: Path, temporary: Path) -> None:
    if os.name == "posix":
        owner = target.stat()
        with contextlib.suppress(PermissionError):
            os.chown(temporary, owner.st_uid, owner.st_gid)


def _check_json(text: str) -> None:
    # A client that reads strict JSON takes a comment for corruption and may reset the whole file.
    try:
        json.loads(text if text.strip() else "{}")
    except (ValueError, RecursionError) as error:
        raise RefusedEdit(f"not valid JSON: {error}") from error


_EDITORS: dict[Format, _Editor] = {
    "json": _Editor(check=_check_json, get=jsonc.get_entry, set=jsonc.set_entry, remove=jsonc.remove_entry),
    "jsonc": _Editor(check=str, get=jsonc.get_entry, set=jsonc.set_entry, remove=jsonc.remove_entry),
    "toml": _Editor(check=toml.tree, get=toml.get_entry, set=toml.set_entry, remove=toml.remove_entry),
}
