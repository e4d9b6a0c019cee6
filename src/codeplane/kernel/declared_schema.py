"""JSON Schemas of operations that others declare: read within bounds, and checked as far as errors can be explained."""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from codeplane.kernel.errors import SchemaRefused
from codeplane.kernel.invisible_text import escape_invisible
from codeplane.kernel.json import JsonObject, JsonValue, dumps

MAX_BYTES = 64 * 1024
MAX_DEPTH = 16
MAX_PARTS = 2000
_MAX_PROBLEMS = 8
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}
# Keywords whose values are schemas, lists of schemas, and schemas by name.
_ONE = frozenset({"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas"})
_DEFINITIONS = frozenset({"$defs", "definitions"})
# Keywords that say something to readers, and those whose values are sent or compared.
_WORDS = frozenset({"description", "title", "examples", "default", "deprecated"})
_CHOICES = frozenset({"enum", "const", "pattern", "required", "format"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSchema:
    """The schema of an object of arguments, without references.

    Types, required and unknown names, choices and bounds are checked here; what else it says is for the tool itself.
    """

    document: JsonObject

    @classmethod
    def parse(cls, document: object) -> "DeclaredSchema":
        """Read a schema; SchemaRefused for one that is no object's, recursive, remote or too large."""
        if not isinstance(document, dict):
            raise SchemaRefused("the schema is not a JSON object")
        try:
            size = len(json.dumps(document))
        except (TypeError, ValueError, RecursionError) as error:
            raise SchemaRefused(f"the schema is not JSON: {str(error)[:200]}") from error
        if size > MAX_BYTES:
            raise SchemaRefused(f"the schema has {size} bytes", details={"max_bytes": MAX_BYTES})
        expanded = _Expansion(document).expand(document, (), 0)
        if not isinstance(expanded, dict) or expanded.get("type", "object") != "object":
            raise SchemaRefused("the schema is not that of an object: arguments have names")
        return cls(document={**expanded, "type": "object"})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return tuple(_properties(self.document))

    def usage(self) -> str:
        """The arguments in one line, optional ones with a question mark."""
        required = _names(self.document.get("required"))
        return ", ".join(
            f"{name}{'' if name in required else '?'}: {_type_name(schema)}"
            for name, schema in _properties(self.document).items()
        )

    def problems(self, arguments: object) -> list[str]:
        """Describe what is wrong with arguments, in a few sentences."""
        found: list[str] = []
        for problem in _problems(self.document, arguments, ""):
            found.append(problem)
            if len(found) == _MAX_PROBLEMS:
                break
        return found


class _Expansion:
    """Replaces references by what they mean, within bounds."""

    def __init__(self, document: Mapping[str, object]) -> None:
        self._document = document
        self._parts = 0

    def expand(self, node: object, references: tuple[str, ...], depth: int) -> JsonValue:
        """The part of a schema; `references` lead to it."""
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise SchemaRefused(f"the schema has more than {MAX_PARTS} parts", details={"max_parts": MAX_PARTS})
        if depth > MAX_DEPTH:
            raise SchemaRefused(f"the schema is nested deeper than {MAX_DEPTH}", details={"max_depth": MAX_DEPTH})
        if not isinstance(node, dict):
            if isinstance(node, bool):
                return node
            raise SchemaRefused(f"a part of the schema is {str(node)[:80]!r} where a schema belongs")
        if (reference := node.get("$ref")) is not None:
            return self._refer(node, str(reference), references, depth)
        expanded: JsonObject = {}
        for key, value in node.items():
            if key in _DEFINITIONS or key.startswith("$"):
                continue
            if key in _WORDS:
                # What a model reads and nobody sees is escaped, or left out where it is no text.
                if isinstance(value, str):
                    expanded[key] = escape_invisible(value)
                elif not _hides(value):
                    expanded[key] = cast(JsonValue, value)
                continue
            if _hides(list(value) if key in _NAMED and isinstance(value, dict) else value if key in _CHOICES else ""):
                raise SchemaRefused(f"names or choices of {key} have characters that cannot be seen")
            if key in _ONE:
                expanded[key] = self.expand(value, references, depth + 1)
            elif key in _LISTS and isinstance(value, list):
                expanded[key] = [self.expand(item, references, depth + 1) for item in value]
            elif key in _NAMED and isinstance(value, dict):
                expanded[key] = {str(name): self.expand(item, references, depth + 1) for name, item in value.items()}
            else:
                expanded[key] = cast(JsonValue, value)
        return expanded

    def _refer(self, node: Mapping[str, object], reference: str, references: tuple[str, ...], depth: int) -> JsonValue:
        if not reference.startswith("#"):
            raise SchemaRefused(f"the schema refers to {reference[:80]!r}", hint="put what it means into $defs")
        if reference in references:
            raise SchemaRefused(f"the schema is recursive at {reference[:80]!r}", hint="declare it without recursion")
        target: object = self._document
        for part in filter(None, reference.removeprefix("#").split("/")):
            name = part.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, dict) else None
        if target is None:
            raise SchemaRefused(f"the schema refers to {reference[:80]!r}, which it does not have")
        meant = self.expand(target, (*references, reference), depth + 1)
        beside = {key: value for key, value in node.items() if key != "$ref"}
        added = self.expand(beside, references, depth) if beside else {}
        return {**meant, **added} if isinstance(meant, dict) and isinstance(added, dict) else meant


def _hides(value: object) -> bool:
    """Whether a value has characters that are not seen."""
    text = json.dumps(value, ensure_ascii=False)
    return escape_invisible(text) != text


def _problems(schema: JsonValue, value: object, where: str) -> Iterator[str]:
    if schema is False:
        yield f"{where or 'arguments'}: nothing is allowed here"
    if not isinstance(schema, dict):
        return
    name = where or "arguments"
    kinds = _names(schema.get("type")) or ((str(schema["type"]),) if isinstance(schema.get("type"), str) else ())
    if kinds and not any(_is_a(value, kind) for kind in kinds):
        yield f"{name}: must be {' or '.join(kinds)}"
        return
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        yield f"{name}: must be one of {', '.join(dumps(choice) for choice in choices[:20])}"
    if "const" in schema and value != schema["const"]:
        yield f"{name}: must be {dumps(schema['const'])}"
    yield from _bound_problems(schema, value, name)
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list) and branches and all(any(_problems(b, value, where)) for b in branches):
            yield f"{name}: fits none of its {len(branches)} forms"
    if isinstance(value, dict):
        yield from _object_problems(schema, value, where)
    if isinstance(value, (list, tuple)) and "items" in schema:
        for index, item in enumerate(value):
            yield from _problems(schema["items"], item, f"{where}[{index}]")


def _object_problems(schema: JsonObject, value: Mapping[str, object], where: str) -> Iterator[str]:
    properties = _properties(schema)
    prefix = f"{where}." if where else ""
    for name in _names(schema.get("required")):
        if name not in value:
            yield f"{prefix}{name!r} is required" if not where else f"{prefix}{name} is required"
    for name, item in value.items():
        if name in properties:
            yield from _problems(properties[name], item, f"{prefix}{name}")
        elif schema.get("additionalProperties") is False and "patternProperties" not in schema:
            near = difflib.get_close_matches(name, properties, n=1, cutoff=0.7)
            advice = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(properties) or 'no arguments'}"
            yield f"unknown argument {prefix + name[:100]!r}; {advice}"


def _bound_problems(schema: JsonObject, value: object, name: str) -> Iterator[str]:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        measured, unit, bounds = value, "", ("minimum", "maximum")
    elif isinstance(value, str):
        measured, unit, bounds = len(value), " characters", ("minLength", "maxLength")
    elif isinstance(value, (list, tuple)):
        measured, unit, bounds = len(value), " items", ("minItems", "maxItems")
    else:
        return
    least, most = (schema.get(bound) for bound in bounds)
    if isinstance(least, (int, float)) and measured < least:
        yield f"{name}: at least {least}{unit}"
    if isinstance(most, (int, float)) and measured > most:
        yield f"{name}: at most {most}{unit}"


def _is_a(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(kind, (object,)))


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _names(value: JsonValue | None) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _type_name(schema: JsonValue) -> str:
    if not isinstance(schema, dict):
        return "any"
    choices = schema.get("enum")
    if isinstance(choices, list):
        return "|".join(map(str, choices[:10]))
    kind = schema.get("type")
    if kind == "array":
        return f"[{_type_name(schema.get('items', {}))}]"
    return "|".join(_names(kind)) or (kind if isinstance(kind, str) else "any")
