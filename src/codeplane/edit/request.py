"""Requests of `write_files`, with synonyms accepted where their meaning is clear."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic.config import JsonDict

from codeplane.kernel.operation import Request

_SYNONYMS = {
    "file": "path",
    "file_path": "path",
    "filename": "path",
    "filepath": "path",
    "type": "action",
    "op": "action",
    "operation": "action",
    "text": "content",
    "contents": "content",
    "file_text": "content",
    "new_content": "content",
    "old": "old_text",
    "old_string": "old_text",
    "old_str": "old_text",
    "search": "old_text",
    "new": "new_text",
    "new_string": "new_text",
    "new_str": "new_text",
    "replace": "new_text",
    "replace_all": "all",
    "to": "new_path",
    "destination": "new_path",
    "hash": "expect_hash",
    "expected_hash": "expect_hash",
    "edits": "replacements",
}
_ACTIONS = {
    "add": "create",
    "new": "create",
    "write": "update",
    "modify": "update",
    "edit": "update",
    "replace": "update",
    "patch": "update",
    "remove": "delete",
    "rename": "move",
}
_FEW = 4
_LINES = {"start_line": "start", "end_line": "end", "first": "start", "last": "end"}


def _type_only(schema: JsonDict) -> None:
    # Agents pay for every byte of a tool list, so rarely used fields are not described.
    kinds = schema.get("anyOf")
    kind = schema.get("type") or (kinds[0].get("type") if isinstance(kinds, list) and isinstance(kinds[0], dict) else 0)
    schema.clear()
    schema["type"] = kind


def _resolve_synonyms(value: object, synonyms: Mapping[str, str]) -> object:
    if not isinstance(value, dict):
        return value
    resolved: dict[object, object] = {
        key: item for key, item in value.items() if key not in synonyms and item is not None
    }
    for synonym, name in synonyms.items():
        if synonym in value:
            if name in resolved:
                resolved[synonym] = value[synonym]
            elif value[synonym] is not None:
                resolved[name] = value[synonym]
    return resolved


class LineRange(Request):
    """Lines from 1, both included; start = end + 1 inserts before start."""

    start: int
    end: int

    @model_validator(mode="before")
    @classmethod
    def forgive(cls, value: object) -> object:
        """Accept a pair of numbers, or the names that reading uses."""
        if isinstance(value, list) and len(value) == 2:
            return {"start": value[0], "end": value[1]}
        return _resolve_synonyms(value, _LINES)


class Patch(Request):
    """Lines and what takes their place."""

    range: LineRange
    replacement: str

    @model_validator(mode="before")
    @classmethod
    def forgive(cls, value: object) -> object:
        """Accept the range's fields beside the replacement."""
        value = _resolve_synonyms(
            value, {**_LINES, "text": "replacement", "content": "replacement", "new_text": "replacement"}
        )
        if isinstance(value, dict) and "range" not in value and {"start", "end"} <= value.keys():
            rest = {key: item for key, item in value.items() if key not in ("start", "end")}
            return {**rest, "range": {"start": value["start"], "end": value["end"]}}
        return value


class Replacement(Request):
    """A text and what takes its place."""

    old: str
    new: str
    all: bool = False

    @model_validator(mode="before")
    @classmethod
    def forgive(cls, value: object) -> object:
        """Accept the names that other tools use."""
        words = {key: meant.removesuffix("_text") for key, meant in _SYNONYMS.items() if meant.endswith("_text")}
        words |= {"old_text": "old", "new_text": "new", "replace_all": "all"}
        return _resolve_synonyms(value, {key: meant for key, meant in words.items() if key != meant})


class Edit(Request):
    """What shall become of one file."""

    path: str = Field(min_length=1)
    action: Literal["create", "update", "delete", "move"] | None = None
    content: str | None = Field(None, description="the whole file")
    patches: tuple[Patch, ...] = Field((), description="by lines from 1; start = end+1 inserts")
    old_text: str | None = Field(None, description="unique; replaced by new_text")
    new_text: str | None = None
    all: bool = Field(False, description="every place of old_text")
    replacements: tuple[Replacement, ...] = Field((), description="several, one after another")
    expect_hash: str | None = Field(None, json_schema_extra=_type_only)
    new_path: str | None = Field(None, description="moves it there")
    executable: bool | None = Field(None, json_schema_extra=_type_only)
    overwrite: bool = Field(False, json_schema_extra=_type_only)
    link_to: str | None = Field(None, json_schema_extra=_type_only)

    @model_validator(mode="before")
    @classmethod
    def forgive(cls, value: object) -> object:
        """Accept synonyms, and a single item where a list is expected."""
        value = _resolve_synonyms(value, _SYNONYMS)
        if not isinstance(value, dict):
            return value
        if isinstance(action := value.get("action"), str):
            value["action"] = _ACTIONS.get(action.lower(), action.lower())
        for name in ("patches", "replacements"):
            if isinstance(value.get(name), dict):
                value[name] = [value[name]]
        return value

    @model_validator(mode="after")
    def complete(self) -> Self:
        """Raise when the fields do not describe one edit."""
        ways = [self.content is not None, bool(self.patches), self._by_text, self.link_to is not None]
        if self.action == "delete" and any(ways):
            raise ValueError("delete takes a path alone")
        if self.action == "move" and not self.new_path:
            raise ValueError("move needs new_path")
        if self.new_text is not None and self.old_text is None:
            raise ValueError("new_text needs old_text: the text it replaces")
        if self.old_text is not None and self.new_text is None:
            raise ValueError("old_text needs new_text; an empty one takes it out")
        if sum(ways) > 1:
            raise ValueError("give one of content, patches, old_text/new_text (or replacements), link_to")
        if not any(ways) and self.action in ("create", "update") and self.executable is None and not self.new_path:
            raise ValueError(
                f"{self.action} needs content" + (", patches or old_text/new_text" * (self.action != "create"))
            )
        if not any(ways) and self.action is None and not self.new_path and self.executable is None:
            raise ValueError(
                "say what to do: content (the whole file), patches, old_text and new_text, new_path, or action: delete"
            )
        return self

    @property
    def _by_text(self) -> bool:
        return self.old_text is not None or bool(self.replacements)

    @property
    def swaps(self) -> tuple[Replacement, ...]:
        """All text replacements in order."""
        first: tuple[Replacement, ...] = ()
        if self.old_text is not None and self.new_text is not None:
            first = (Replacement(old=self.old_text, new=self.new_text, all=self.all),)
        return (*first, *self.replacements)


class WriteRequest(Request):
    """Edits of any number of files: all are made or none."""

    edits: tuple[Edit, ...]
    dry_run: bool = Field(False, description="only show the diff")

    def is_assessed_at_once(self) -> bool:
        """Few paths are looked up on the disk."""
        return len(self.edits) <= _FEW

    @model_validator(mode="before")
    @classmethod
    def forgive(cls, value: object) -> object:
        """Accept a single edit without a list around it."""
        if not isinstance(value, dict):
            return value
        value = dict(value)
        if "edits" not in value and (list_ := value.pop("files", None) or value.pop("changes", None)) is not None:
            value["edits"] = list_
        names = {"path", "file", "file_path", "filename"} & value.keys()
        if names and not isinstance(value.get("edits"), list | tuple):
            own = {key: value.pop(key) for key in list(value) if key != "dry_run"}
            return {**value, "edits": [own]}
        if names:
            own = {key: value.pop(key) for key in list(value) if key not in ("dry_run", "edits")}
            return {**value, "edits": [{**own, "replacements": value["edits"]}]}
        if isinstance(value.get("edits"), dict):
            value["edits"] = [value["edits"]]
        return value
