"""`.codeplane/contexts.yaml`: discovered contexts for people to read, and their choices, preserved as written."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import NoReturn, TypeAlias

import yaml
from pydantic import ValidationError

from codeplane.index.contexts.candidate import Context
from codeplane.index.contexts.choice import VERSION, Choices, ContextsDocument
from codeplane.index.contexts.yaml_depth import TooDeep, check_depth
from codeplane.index.files.paths import escape_bytes
from codeplane.kernel.errors import ConfigInvalid, SchemaTooNew, StorageFailed

NAME = "contexts.yaml"
MAX_BYTES = 1_000_000
LISTED = 1000
# The list must leave room: a file over the limit would not be read again.
_LISTED_BYTES = MAX_BYTES // 4
_MARKERS = 5
_REASON = 500
_HEAD = """\
# The contexts of this repository. `discovered` is rewritten by CodePlane; everything else is yours and stays as it is.
# To name, add or correct a context:
#   contexts:
#     - id: core-java
#       language: java
#       workspace_roots: [./core]
#       use: pin    # or detach: its files belong to no context; or ignore: they belong to the one around it
version: 1

"""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ContextsFile:
    """One contexts.yaml; a broken file is reported with its line and never overwritten."""

    path: Path

    def load(self) -> Choices:
        """Load the owner's choices; none without a file."""
        text = self._text()
        return _Reading(self.path.name, text).choices() if text else Choices()

    def write(self, contexts: Iterable[Context]) -> bool:
        """Replace the discovered list in the file and return whether anything changed."""
        text = self._text() or _HEAD
        reading = _Reading(self.path.name, text)
        choices = reading.choices()
        start, end = reading.discovered_range()
        block = _block(contexts)
        before = text[:start] if not text[:start] or text[:start].endswith("\n") else f"{text[:start]}\n"
        new = before + block + text[end:]
        try:
            kept = _Reading(self.path.name, new).choices() == choices
        except ConfigInvalid:
            kept = False
        if len(new.encode()) > MAX_BYTES:
            raise ConfigInvalid(f"{self.path.name} would be larger than {MAX_BYTES} bytes")
        if not kept:
            raise ConfigInvalid(
                f"{self.path.name} is written in a way that `discovered` cannot be added to",
                hint="begin `contexts`, `defaults` and `discovered` at the left edge, one below the other",
            )
        if new == self._text():
            return False
        self._replace(new)
        return True

    def _text(self) -> str | None:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                content = file.read(MAX_BYTES + 1)
            if len(content) > MAX_BYTES:
                raise ConfigInvalid(f"{self.path.name} is larger than {MAX_BYTES} bytes")
            return content.decode("utf-8-sig")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigInvalid(f"{self.path.name} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise ConfigInvalid(f"{self.path.name}:{line}: not UTF-8 text") from None

    def _replace(self, text: str) -> None:
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            beside.write_text(text, encoding="utf-8", newline="")
            beside.replace(self.path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise StorageFailed(f"{self.path.name} cannot be written: {error.strerror}") from error


class _Reading:
    """A composed YAML text; every error names a line."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._lines: dict[_Path, int] = {}
        try:
            check_depth(text)
            self._root: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
        except TooDeep as error:
            self._refuse(error.line, "nested too deeply")
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            message = ", ".join(part for part in (error.context, error.problem) if part)
            self._refuse(mark.line + 1 if mark else 1, f"not YAML: {message}")
        except yaml.YAMLError as error:
            self._refuse(1, f"not YAML: {' '.join(str(error).split())[:200]}")
        if self._root is not None:
            self._value = self._to_value(self._root, (), set())

    def choices(self) -> Choices:
        value = None if self._root is None else self._value
        if value is None:
            return Choices()
        if isinstance(value, dict) and isinstance(value.get("version"), int) and value["version"] > VERSION:
            raise SchemaTooNew(f"{self._name} has version {value['version']}; this CodePlane knows {VERSION}")
        try:
            document = ContextsDocument.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            unknown = first["type"] == "extra_forbidden"
            message = "there is no such key here" if unknown else first["msg"].removeprefix("Value error, ")
            self._refuse(self._line(first["loc"]), f"{where}: {message}" if where else message)
        return Choices(entries=document.contexts, defaults=document.defaults)

    def discovered_range(self) -> tuple[int, int]:
        """The character range of the old list; the end of the text without one."""
        if isinstance(self._root, yaml.MappingNode):
            for key, value in self._root.value:
                if key.value == "discovered":
                    end = _last(value).end_mark.index
                    # A block of text ends on the line after it, anything else before its line is over.
                    newline = self._text.find("\n", end - 1 if self._text[end - 1] == "\n" else end)
                    return key.start_mark.index, len(self._text) if newline < 0 else newline + 1
        return len(self._text), len(self._text)

    def _to_value(self, node: yaml.Node, path: _Path, seen: set[int]) -> object:
        line = node.start_mark.line + 1
        self._lines[path] = line
        if id(node) in seen:
            self._refuse(line, "aliases (*) are not taken")
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            return [self._to_value(each, (*path, at), seen) for at, each in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            mapping: dict[str, object] = {}
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode) or key.value in mapping:
                    self._refuse(key.start_mark.line + 1, f"the key {str(key.value)[:80]!r} is not plain, or not new")
                mapping[key.value] = self._to_value(value, (*path, key.value), seen)
            return mapping
        return _scalar(node)

    def _line(self, path: _Path) -> int:
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def _refuse(self, line: int, why: str) -> NoReturn:
        raise ConfigInvalid(f"{self._name}:{line}: {why}", hint=f"fix line {line} of .codeplane/{self._name}")


def _scalar(node: yaml.Node) -> object:
    """The value of a scalar: None, a small integer, or text."""
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "int" and str(node.value).isdecimal() and len(node.value) < 10:
        return int(node.value)
    return node.value


def _last(node: yaml.Node) -> yaml.Node:
    """The last node of a value; a block ends with its last part, not where the next key starts."""
    while isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node


def _block(contexts: Iterable[Context]) -> str:
    # A family that is looked for everywhere and found nowhere says nothing.
    listed = [each for each in contexts if each.tier or each.status != "empty" or each.id != f"{each.family}:."]
    rows = [_row(each) for each in sorted(listed, key=lambda each: (each.family or "", each.root))]
    sizes = accumulate(len(str(row).encode()) for row in rows)
    fitting = sum(size < _LISTED_BYTES for size in islice(sizes, LISTED))
    if len(rows) > fitting:
        rows = [*rows[:fitting], {"more": len(rows) - fitting}]
    dumped: str = yaml.dump({"discovered": rows}, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=120)
    return dumped


def _row(context: Context) -> dict[str, object]:
    row: dict[str, object] = {
        "id": context.id,
        "family": context.family,
        "root": escape_bytes(context.root) or ".",
        "status": context.status,
    }
    if context.reason:
        row["reason"] = escape_bytes(context.reason)[:_REASON]
    if context.markers:
        row["markers"] = [escape_bytes(marker) for marker in context.markers[:_MARKERS]]
    return row
