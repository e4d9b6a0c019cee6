"""Edit one entry of a TOML document and leave every other byte as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, MutableMapping
from typing import TYPE_CHECKING, TypeAlias

from codeplane.adapters.coding_clients import jsonc
from codeplane.adapters.coding_clients.jsonc import JsonValue

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

Keys: TypeAlias = tuple[str, ...]


class RefusedEdit(ValueError):
    """The file cannot be edited without risk to the rest of it."""


def tree(text: str) -> dict[str, JsonValue]:
    """Parse the document into plain values."""
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RefusedEdit(f"not valid TOML: {error}") from error


def get_entry(text: str, path: Keys) -> JsonValue:
    """Return the value at the path, or None."""
    value: JsonValue = tree(text)
    for key in path:
        if not isinstance(value, dict):
            raise RefusedEdit(f"expected a table around {key}")
        if key not in value:
            return None
        value = value[key]
    return value


def set_entry(text: str, path: Keys, entry: dict[str, JsonValue]) -> str:
    """Return the document with the entry at the path."""
    base = remove_entry(text, path)
    makers = (_append_entry, _assign_entry)
    return _verify((make(base, path, entry) for make in makers), jsonc.with_entry(tree(base), path, entry), path)


def remove_entry(text: str, path: Keys) -> str:
    """Return the document without the value at the path."""
    if get_entry(text, path) is None:
        return text
    from tomlkit.items import InlineTable

    with _refusals():
        document, parent = _parent(text, path)
        tail = _tail(parent[path[-1]])
        del parent[path[-1]]
        after = document.as_string()
    if not isinstance(parent, InlineTable):
        after = _with_tail(text, after, tail)
    return _verify((after,), jsonc.without_entry(tree(text), path), path)


def _append_entry(text: str, path: Keys, entry: dict[str, JsonValue]) -> str:
    import tomlkit

    newline = "\r\n" if "\r\n" in text else "\n"
    ended = text if not text or text.endswith("\n") else text + newline
    gap = "" if not ended or ended.endswith(newline * 2) else newline
    return ended + gap + tomlkit.dumps(jsonc.with_entry({}, path, entry)).replace("\n", newline)


def _assign_entry(text: str, path: Keys, entry: dict[str, JsonValue]) -> str:
    import tomlkit

    # Servers written as one inline table take no [section]; they take a further inline table.
    with _refusals():
        document, parent = _parent(text, path)
        table = tomlkit.inline_table()
        table.update(entry)
        parent[path[-1]] = table
        return document.as_string()


def _parent(text: str, path: Keys) -> tuple[TOMLDocument, MutableMapping[str, object]]:
    import tomlkit

    document = tomlkit.parse(text)
    parent: object = document
    for key in path[:-1]:
        parent = parent[key] if isinstance(parent, MutableMapping) else None
    if not isinstance(parent, MutableMapping):
        raise RefusedEdit(f"expected a table around {path[-1]}")
    return document, parent


def _tail(item: object) -> str:
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


def _verify(candidates: Iterable[str], wanted: dict[str, JsonValue], path: Keys) -> str:
    for candidate in candidates:
        with contextlib.suppress(RefusedEdit):
            # A table with no header of its own goes when its last child goes.
            if {path[0]: {}, **tree(candidate)} == {path[0]: {}, **wanted}:
                return candidate
    raise RefusedEdit("the edit would change more than our entry")


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    from tomlkit.exceptions import TOMLKitError

    try:
        yield
    except TOMLKitError as error:
        raise RefusedEdit(str(error)) from error
