"""Arguments as callers send them, forgiven where their meaning is plain."""

import difflib
import inspect
import json
import re
import types
from collections.abc import Mapping
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue, canonical
from codeplane.kernel.operation import Operation, Request

_MAX_NAME = 100
_SERIES = re.compile(r"^(?:Tuple|List|Set|Frozenset)(?= should have)")
# What agents call things elsewhere.
_SYNONYMS = {
    "pattern": ("query",),
    "regex": ("query",),
    "file": ("path", "paths"),
    "files": ("paths",),
    "filename": ("path", "paths"),
    "file_path": ("path", "paths"),
    "glob": ("paths",),
    "max_results": ("limit",),
    "name": ("symbol",),
}


def parse(operation: Operation, arguments: Mapping[str, JsonValue]) -> Request:
    """The request that the arguments mean, or an error that says what to send instead."""
    try:
        return operation.request.model_validate(arguments)
    except ValidationError:
        forgiven = _forgive(operation.request, arguments)
    try:
        return operation.request.model_validate(forgiven)
    except ValidationError as error:
        raise _explain(operation, error) from None


def understood(request: Request) -> JsonObject:
    """The arguments as the operation reads them, however they were spelt; what was not given is not there."""
    return request.model_dump(mode="json", exclude_unset=True)


def _forgive(model: type[Request], arguments: Mapping[str, JsonValue]) -> JsonObject:
    fields = model.model_fields
    forgiven: JsonObject = {}
    for key, value in arguments.items():
        name = key if key in fields else _same_name(key, fields)
        if name is None or (name != key and (name in arguments or name in forgiven)):
            # Unknown, or a second spelling of what was given already: which one is meant is not plain.
            forgiven[key] = value
            continue
        if value is None and not fields[name].is_required():
            continue
        forgiven[name] = _reshape(fields[name], value)
    return forgiven


def _same_name(key: str, fields: Mapping[str, FieldInfo]) -> str | None:
    """The field that a key plainly means: another case, dashes, one for many, or a word used elsewhere."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).replace("-", "_").lower()
    for candidate in (snake, f"{snake}s", snake.removesuffix("s"), *_SYNONYMS.get(snake, ())):
        if candidate in fields:
            return candidate
    return None


def _reshape(field: FieldInfo, value: JsonValue) -> JsonValue:
    kinds = _kinds(field.annotation)
    if isinstance(value, str) and str not in kinds and value.lstrip()[:1] in ("[", "{"):
        try:
            decoded: JsonValue = json.loads(value)
            canonical(decoded)
        except (ValueError, RecursionError):
            decoded = value
        value = decoded
    if kinds & {list, tuple, set, frozenset} and isinstance(value, (str, int, float, dict)):
        return [value]
    return value


def _kinds(annotation: object) -> set[object]:
    origin = get_origin(annotation)
    if origin is Union or origin is types.UnionType:
        return set().union(*(_kinds(part) for part in get_args(annotation)))
    return {origin or annotation}


def _explain(operation: Operation, error: ValidationError) -> InvalidArgument:
    names = list(operation.request.model_fields)
    problems: list[JsonValue] = []
    said: list[str] = []
    for item in _told(error)[:8]:
        where = ".".join(str(part) for part in item["loc"])[:_MAX_NAME] or "arguments"
        if item["type"] == "extra_forbidden" and len(item["loc"]) == 1:
            near = difflib.get_close_matches(where, names, n=1, cutoff=0.5)
            advice = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(names) or 'no arguments'}"
            text = f"unknown argument {where!r}; {advice}"
        elif item["type"] == "missing":
            text = f"{where!r} is required"
        else:
            text = f"{where}: {_plain(item['msg'])}"
        said.append(text)
        problems.append({"argument": where, "problem": item["type"], "message": text})
    return InvalidArgument(
        f"{operation.name}: {'; '.join(said)}",
        hint=f"send: {usage(operation)}",
        details={"problems": problems},
    )


def _told(error: ValidationError) -> list[ErrorDetails]:
    """What is wrong; that a list is too short for those of its items that are wrong follows from them."""
    items = error.errors(include_url=False, include_context=False)
    within = {one["loc"][:depth] for one in items for depth in range(len(one["loc"]))}
    return [one for one in items if one["type"] != "too_short" or one["loc"] not in within]


def _plain(text: str) -> str:
    """A judgement without the words of Python: what is sent is JSON, whose only series is the list."""
    text = text.removeprefix("Value error, ")
    return _SERIES.sub("the list", text).replace(" after validation, not ", ", not ")


def usage(operation: Operation) -> str:
    """The operation's arguments in one line, optional ones with a question mark."""
    parts = [
        f"{name}{'' if field.is_required() else '?'}: {_type_name(field.annotation)}"
        for name, field in operation.request.model_fields.items()
    ]
    return f"{operation.name}({', '.join(parts)})"


def _type_name(annotation: object) -> str:
    """A type in few letters: a|b for choices, [x] for lists, an object's fields in braces."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_name(parts[0])
    if origin is Literal:
        return "|".join(map(str, parts))
    if origin in (list, tuple, set, frozenset):
        return f"[{_type_name(parts[0])}]"
    if origin is Union or origin is types.UnionType:
        return "|".join(_type_name(part) for part in parts if part is not types.NoneType)
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return f"{{{', '.join(annotation.model_fields)}}}"
    return getattr(annotation, "__name__", "any")
