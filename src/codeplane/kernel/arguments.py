"""Parsing of arguments, which forgives mistakes whose meaning is clear."""

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

from codeplane.kernel.call import Operation
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue, canonical
from codeplane.kernel.operation import Request

_MAX_NAME = 100
_SERIES = re.compile(r"^(?:Tuple|List|Set|Frozenset)(?= should have)")
# What agents call things elsewhere, by what it may be called here; the first that an operation has is meant.
_MEANINGS = {
    ("query",): ("pattern", "regex", "regexp", "q", "text", "needle", "term", "keyword", "keywords", "question"),
    ("path", "paths"): ("file", "files", "filename", "file_path", "filepath", "target_file", "relative_path"),
    ("paths", "targets", "focus"): ("scope",),
    ("paths",): ("glob", "globs", "include_pattern", "dir", "dirs", "directory", "directories", "folder", "folders"),
    ("limit",): ("max_results", "max_count", "top_k", "head_limit", "num_results", "page_size"),
    ("context",): ("context_lines", "lines_of_context", "unified"),
    ("cursor",): ("next_cursor", "page_token"),
    ("ignore_case",): ("case_insensitive",),
    ("languages",): ("lang", "langs"),
    ("mode",): ("search_mode", "search_type"),
    ("symbol", "name"): ("name", "symbol", "symbol_name", "identifier", "symbol_id"),
    ("start_line",): ("start", "line_start", "from_line", "first_line", "offset"),
    ("end_line",): ("end", "line_end", "to_line", "last_line"),
    ("include_metadata",): ("metadata",),
    ("new_name",): ("to", "rename_to", "newname"),
    ("base",): ("from", "from_ref", "base_ref", "before", "old"),
    ("target",): ("head", "to", "to_ref", "target_ref", "after", "new"),
    ("message",): ("commit_message", "msg"),
    ("name", "ref", "upstream"): ("branch", "branch_name", "tag", "tag_name"),
    ("ref", "upstream"): ("commit", "revision", "rev", "sha", "commit_hash", "onto"),
    ("language",): ("lang",),
    ("targets",): ("test", "tests", "test_id", "test_ids", "node_ids"),
    ("command",): ("cmd", "script"),
    ("cwd",): ("workdir", "working_directory", "working_dir"),
    ("timeout_ms", "timeout_sec"): ("timeout",),
    ("timeout_sec",): ("timeout_seconds", "timeout_s"),
    ("goal",): ("prompt", "task", "instruction", "instructions"),
    ("user_text",): ("text", "message", "prompt"),
}


def _by_other_name(meanings: Mapping[tuple[str, ...], tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for names, others in meanings.items():
        for other in others:
            found[other] = (*found.get(other, ()), *(name for name in names if name != other))
    return found


_SYNONYMS = _by_other_name(_MEANINGS)
# Arguments that mean the opposite.
_OPPOSITES = {"case_sensitive": "ignore_case", "match_case": "ignore_case"}
# Objects around arguments that stand by themselves here, such as scope: {paths, languages, kinds}.
_WRAPPERS = frozenset({"scope", "filter", "filters", "options"})
# What to send instead of an argument that is none, where an operation has the one named first.
_ADVICE = {
    **dict.fromkeys(("regex", "is_regex", "use_regex"), ("mode", "mode=regex")),
    **dict.fromkeys(("fixed_strings", "literal"), ("mode", "mode=literal")),
    **dict.fromkeys(("include_tests", "exclude_tests"), ("tests", "tests=include, exclude or only")),
    **dict.fromkeys(
        ("files_only", "files_with_matches", "output_mode"), ("include_snippets", "include_snippets=false")
    ),
    **dict.fromkeys(("lines", "line_range"), ("ranges", "path:10-40")),
}
# Names that only look alike mislead: `scope` is no `context`.
_ALIKE = 0.7


def parse(operation: Operation, arguments: Mapping[str, JsonValue]) -> Request:
    """Parse arguments into a request; the error says what to send instead."""
    try:
        return operation.request.model_validate(arguments)
    except ValidationError as error:
        if operation.request.describe_arguments() is not None:
            raise _explain(operation, error) from None
        forgiven = _forgive(operation.request, arguments)
    try:
        return operation.request.model_validate(forgiven)
    except ValidationError as error:
        raise _explain(operation, error) from None


def normalise_arguments(request: Request) -> JsonObject:
    """Return the given arguments under the names that the operation uses."""
    return request.model_dump(mode="json", exclude_unset=True)


def _forgive(model: type[Request], arguments: Mapping[str, JsonValue]) -> JsonObject:
    fields = model.model_fields
    forgiven: JsonObject = {}
    for key, value in _unwrap_objects(model, arguments).items():
        name = key if key in fields else _same_name(key, model)
        if name is None or (name != key and (name in arguments or name in forgiven)):
            # Unknown, or a second spelling of what was given already: which one is meant is not plain.
            forgiven[key] = value
            continue
        if value is None and not fields[name].is_required():
            continue
        if _snake(key) in _OPPOSITES:
            flag = {"true": True, "false": False}.get(str(value).lower())
            value = value if flag is None else not flag
        forgiven[name] = _reshape(fields[name], value)
    return forgiven


def _unwrap_objects(model: type[Request], arguments: Mapping[str, JsonValue]) -> JsonObject:
    """Return the arguments with those of an object such as `scope` lifted out of it, unless one is given twice."""
    found: JsonObject = dict(arguments)
    for key, value in arguments.items():
        if key in model.model_fields or _snake(key) not in _WRAPPERS:
            continue
        inner = _decode_json(value) if isinstance(value, str) else value
        if not isinstance(inner, dict):
            continue
        there = {_same_name(other, model) or other for other in found if other != key}
        if not any((_same_name(name, model) or name) in there for name in inner):
            del found[key]
            found |= inner
    return found


def _same_name(key: str, model: type[Request]) -> str | None:
    """The field that a key plainly means: another case, dashes, one for many, `id` or `job` for its job_id, or a word
    used elsewhere."""
    snake = _snake(key)
    meanings = (model.synonyms.get(snake, ""), *_SYNONYMS.get(snake, ()), _OPPOSITES.get(snake, ""))
    for candidate in (snake, f"{snake}s", snake.removesuffix("s"), *meanings, f"{snake}_id"):
        if candidate in model.model_fields:
            return candidate
    return _only_id(model) if snake == "id" else None


def _only_id(model: type[Request]) -> str | None:
    """The one field that identifies what the operation is about."""
    ids = [name for name in model.model_fields if name.endswith("_id")]
    required = [name for name in ids if model.model_fields[name].is_required()]
    return ids[0] if len(ids) == 1 else required[0] if len(required) == 1 else None


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).replace("-", "_").lower()


def _decode_json(text: str) -> JsonValue:
    """Decode a text as JSON; return the text itself if it is not JSON."""
    try:
        decoded: JsonValue = json.loads(text)
        canonical(decoded)
    except (ValueError, RecursionError):
        return text
    return decoded


def _reshape(field: FieldInfo, value: JsonValue) -> JsonValue:
    kinds = _kinds(field.annotation)
    if isinstance(value, str) and str not in kinds and value.lstrip()[:1] in ("[", "{"):
        value = _decode_json(value)
    if kinds & {list, tuple, set, frozenset} and isinstance(value, (str, int, float, dict)):
        return [value]
    return value


def _kinds(annotation: object) -> set[object]:
    origin = get_origin(annotation)
    if origin is Union or origin is types.UnionType:
        return set().union(*(_kinds(part) for part in get_args(annotation)))
    return {origin or annotation}


def _explain(operation: Operation, error: ValidationError) -> InvalidArgument:
    problems: list[JsonValue] = []
    texts: list[str] = []
    for item in _problems(error)[:8]:
        where = ".".join(str(part) for part in item["loc"])[:_MAX_NAME] or "arguments"
        if item["type"] == "extra_forbidden" and len(item["loc"]) == 1:
            text = f"unknown argument {where!r}; {_advice(where, operation.request)}"
        elif item["type"] == "missing":
            text = f"{where!r} is required"
        else:
            text = f"{where}: {_plain_message(item['msg'])}"
        texts.append(text)
        problems.append({"argument": where, "problem": item["type"], "message": text})
    return InvalidArgument(
        f"{operation.name}: {'; '.join(texts)}",
        hint=f"send: {usage(operation)}",
        details={"problems": problems},
    )


def _advice(name: str, model: type[Request]) -> str:
    """Suggest what to send instead of an unknown argument: synonyms before similar spellings."""
    fields = model.model_fields
    has, advice = _ADVICE.get(_snake(name), ("", ""))
    if has in fields:
        return f"send {advice}"
    if meant := _same_name(name, model):
        return f"did you mean {meant!r}? That is sent too"
    near = difflib.get_close_matches(_snake(name), list(fields), n=1, cutoff=_ALIKE)
    return f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(fields) or 'no arguments'}"


def _problems(error: ValidationError) -> list[ErrorDetails]:
    """What is wrong; that a list is too short for those of its items that are wrong follows from them."""
    items = error.errors(include_url=False, include_context=False)
    within = {item["loc"][:depth] for item in items for depth in range(len(item["loc"]))}
    return [item for item in items if item["type"] != "too_short" or item["loc"] not in within]


def _plain_message(text: str) -> str:
    """Reword a validation message for JSON: it has lists, not tuples."""
    text = text.removeprefix("Value error, ")
    return _SERIES.sub("the list", text).replace(" after validation, not ", ", not ")


def usage(operation: Operation) -> str:
    """The operation's arguments in one line, optional ones with a question mark."""
    if (described := operation.request.describe_arguments()) is not None:
        return f"{operation.name}({described})"
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
