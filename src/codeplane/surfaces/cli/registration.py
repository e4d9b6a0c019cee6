"""Plan, apply and undo CodePlane's entry in the configuration of coding clients."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from codeplane.surfaces.cli import jsonc
from codeplane.surfaces.cli.clients import CLIENTS, Client, Entry, Format, Host
from codeplane.surfaces.cli.jsonc import JsonValue

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

Action: TypeAlias = Literal["created", "updated", "unchanged", "skipped"]
Keys: TypeAlias = tuple[str, ...]


class RegistrationError(Exception):
    """A change could not be planned or applied; nothing was written."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class RefusedEdit(ValueError):
    """The file is not in a form we can edit without risk to the rest of it."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """What registration does to one file: its text before and after, and why."""

    client: str
    file: Path
    action: Action
    reason: str
    before: str | None
    after: str | None


@dataclass(frozen=True, kw_only=True)
class _Editor:
    check: Callable[[str], object]
    get: Callable[[str, Keys], JsonValue]
    set: Callable[[str, Keys, Entry], str]
    remove: Callable[[str, Keys], str]


def plan(
    *, repo: Path, home: Path, cpl: Path, environ: Mapping[str, str], only: Sequence[str] = ()
) -> tuple[Change, ...]:
    """What would register CodePlane with the clients found here, or with those named in `only`."""
    host = _host(repo, home, cpl, environ)
    return tuple(_addition(client, host) for client in _chosen(only) if only or client.detected(host))


def plan_removal(
    *, repo: Path, home: Path, cpl: Path, environ: Mapping[str, str], only: Sequence[str] = ()
) -> tuple[Change, ...]:
    """What would take our entry out of every client's file that has one, or of those named in `only`."""
    host = _host(repo, home, cpl, environ)
    return tuple(_removal(client, host, file) for client in _chosen(only) for file in client.present(host))


def apply(change: Change) -> None:
    """Write a planned change in one step, refusing when the file is no longer what was planned for."""
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


def _chosen(only: Sequence[str]) -> tuple[Client, ...]:
    known = [client.id for client in CLIENTS]
    unknown = sorted(set(only) - set(known))
    if unknown:
        raise RegistrationError(f"unknown client: {', '.join(unknown)}", hint=f"choose from {', '.join(known)}")
    return tuple(client for client in CLIENTS if not only or client.id in only)


def _addition(client: Client, host: Host) -> Change:
    def edit(editor: _Editor, text: str) -> tuple[str, str]:
        entry, path = client.entry(host), client.path(host)
        current = editor.get(text, path)
        if isinstance(current, dict) and all(current.get(key) == value for key, value in entry.items()):
            return text, "already registered"
        after = editor.set(text, path, entry)
        return after, "entry added" if current is None else "entry replaced"

    return _planned(client, client.file(host), edit)


def _removal(client: Client, host: Host, file: Path) -> Change:
    def edit(editor: _Editor, text: str) -> tuple[str, str]:
        after = editor.remove(text, client.path(host))
        return after, "not registered" if after == text else "entry removed"

    return _planned(client, file, edit)


def _planned(client: Client, file: Path, edit: Callable[[_Editor, str], tuple[str, str]]) -> Change:
    def change(action: Action, reason: str, before: str | None = None, after: str | None = None) -> Change:
        return Change(client=client.id, file=file, action=action, reason=reason, before=before, after=after)

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


def _toml_tree(text: str) -> dict[str, JsonValue]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RefusedEdit(f"not valid TOML: {error}") from error


def _toml_get(text: str, path: Keys) -> JsonValue:
    tree: JsonValue = _toml_tree(text)
    for key in path:
        if not isinstance(tree, dict):
            raise RefusedEdit(f"expected a table around {key}")
        if key not in tree:
            return None
        tree = tree[key]
    return tree


def _toml_set(text: str, path: Keys, entry: Entry) -> str:
    base = _toml_remove(text, path)
    makers = (_toml_appended, _toml_assigned)
    return _toml_verified(
        (make(base, path, entry) for make in makers), jsonc.with_entry(_toml_tree(base), path, entry), path
    )


def _toml_remove(text: str, path: Keys) -> str:
    if _toml_get(text, path) is None:
        return text
    from tomlkit.items import InlineTable

    with _tomlkit_refusals():
        document, parent = _toml_parent(text, path)
        tail = _toml_tail(parent[path[-1]])
        del parent[path[-1]]
        after = document.as_string()
    if not isinstance(parent, InlineTable):
        after = _with_tail(text, after, tail)
    return _toml_verified((after,), jsonc.without_entry(_toml_tree(text), path), path)


def _toml_appended(text: str, path: Keys, entry: Entry) -> str:
    import tomlkit

    newline = "\r\n" if "\r\n" in text else "\n"
    ended = text if not text or text.endswith("\n") else text + newline
    gap = "" if not ended or ended.endswith(newline * 2) else newline
    return ended + gap + tomlkit.dumps(jsonc.with_entry({}, path, entry)).replace("\n", newline)


def _toml_assigned(text: str, path: Keys, entry: Entry) -> str:
    import tomlkit

    # Servers written as one inline table take no [section]; they take a further inline table.
    with _tomlkit_refusals():
        document, parent = _toml_parent(text, path)
        table = tomlkit.inline_table()
        table.update(entry)
        parent[path[-1]] = table
        return document.as_string()


def _toml_parent(text: str, path: Keys) -> tuple[TOMLDocument, MutableMapping[str, object]]:
    import tomlkit

    document = tomlkit.parse(text)
    parent: object = document
    for key in path[:-1]:
        parent = parent[key] if isinstance(parent, MutableMapping) else None
    if not isinstance(parent, MutableMapping):
        raise RefusedEdit(f"expected a table around {path[-1]}")
    return document, parent


def _toml_tail(item: object) -> str:
    # tomlkit counts what stands between two tables, and so the comment above the second, to the first.
    from tomlkit.items import Comment, Table, Whitespace

    tail = ""
    while isinstance(item, Table):
        items = [value for _, value in item.value.body]
        while items and isinstance(items[-1], Comment | Whitespace):
            tail = items.pop().as_string() + tail
        item = items[-1] if items else None
    return tail if tail.strip() else ""


def _with_tail(before: str, after: str, tail: str) -> str:
    cut = len(before) - len(after)
    at = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), len(after))
    while at >= 0 and before[at + cut :] == after[at:]:
        if before[at : at + cut].endswith(tail):
            return before[:at] + before[at + cut - len(tail) :]
        at -= 1
    raise RefusedEdit("our entry is spread over the file; take it out by hand")


def _toml_verified(candidates: Iterable[str], wanted: dict[str, JsonValue], path: Keys) -> str:
    for candidate in candidates:
        with contextlib.suppress(RefusedEdit):
            # A table with no header of its own goes when its last child goes.
            if {path[0]: {}, **_toml_tree(candidate)} == {path[0]: {}, **wanted}:
                return candidate
    raise RefusedEdit("the edit would change more than our entry")


@contextlib.contextmanager
def _tomlkit_refusals() -> Iterator[None]:
    from tomlkit.exceptions import TOMLKitError

    try:
        yield
    except TOMLKitError as error:
        raise RefusedEdit(str(error)) from error


_EDITORS: dict[Format, _Editor] = {
    "json": _Editor(check=_check_json, get=jsonc.get_entry, set=jsonc.set_entry, remove=jsonc.remove_entry),
    "jsonc": _Editor(check=str, get=jsonc.get_entry, set=jsonc.set_entry, remove=jsonc.remove_entry),
    "toml": _Editor(check=_toml_tree, get=_toml_get, set=_toml_set, remove=_toml_remove),
}
