"""One entry of the server's log: plain values, no secrets, and no text that could pass for another line."""

import json
import math
import re
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.redaction import Redactor

DEBUG, INFO, WARN, ERROR = 10, 20, 30, 40
NAMES = {DEBUG: "debug", INFO: "info", WARN: "warn", ERROR: "error"}
REDACTED = "***"
MAX_TEXT = 32_768
MAX_ITEMS = 200
MAX_DEPTH = 6
MAX_INT_BITS = 1024
_MAX_REASON = 500

_CORRELATION = ("request_id", "op_id", "task_id")
_OURS = frozenset({"ts", "level", "event", "exc_info", *_CORRELATION})
_SECRETS = ("authorization", "token", "secret", "password", "api_key", "apikey")
_SECRET_SUFFIXES = tuple(f"_{name}" for name in _SECRETS)
# Libraries log URLs and headers with tokens as text.
_SECRET_MARKS = ("bearer ", *(f"{name}=" for name in _SECRETS))
_SECRET_TEXT = re.compile(rf"(?i)(bearer +|(?:{'|'.join(_SECRETS)})=)[^\s&\"',;]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """A log entry that can be written in either format."""

    fields: JsonObject
    exception: str | None

    @classmethod
    def of(cls, *, at_ns: int, severity: int, values: Mapping[str, object]) -> "LogEntry":
        """An entry of the given values; no value makes this raise."""
        fields: JsonObject = {"ts": f"{rfc3339(at_ns)[:-7]}Z", "level": NAMES[severity]}
        for name in _CORRELATION:
            if values.get(name) is not None:
                fields[name] = _to_json(values[name], 0)
        fields["event"] = _to_json(values.get("event"), 0)
        for name, value in values.items():
            if name not in _OURS:
                fields[name] = REDACTED if _is_secret(name) else _to_json(value, 0)
        return cls(fields=fields, exception=_traceback(values.get("exc_info")))

    def error_facts(self) -> JsonObject:
        """A summary of an error, for `status`."""
        reason = self.fields.get("reason") or (self.exception or "").strip().rpartition("\n")[2]
        facts = {"at": self.fields["ts"], "logger": self.fields.get("logger"), "event": self.fields["event"]}
        return {**facts, "reason": str(reason)[:_MAX_REASON] if reason else None}

    def redact(self, redactor: Redactor) -> "LogEntry":
        """The entry without what looks like a secret."""
        if redactor.is_clean(self.json_line()):
            return self
        fields = redactor.json(dict(self.fields))
        assert isinstance(fields, dict)
        exception = None if self.exception is None else redactor.text(self.exception)
        return replace(self, fields=fields, exception=exception)

    def json_line(self) -> str:
        """The entry as one line of JSON."""
        fields = self.fields if self.exception is None else {**self.fields, "exception": self.exception}
        line = dumps(fields)
        if line.isprintable():
            return line
        return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line)

    def console_line(self) -> str:
        """The entry for people: one line, with an exception's lines marked as its continuation."""
        rest = dict(self.fields)
        when, level, event = rest.pop("ts"), str(rest.pop("level")).upper(), rest.pop("event")
        pairs = "".join(f"  {_printable(name)}={_console_value(value)}" for name, value in rest.items())
        line = f"{when} {level:<5} {_printable(event if isinstance(event, str) else dumps(event))}{pairs}"
        if self.exception is None:
            return line
        return "\n".join([line, *(f"    | {_printable(part)}" for part in self.exception.rstrip().split("\n"))])


def _console_value(value: JsonValue) -> str:
    if isinstance(value, str) and value and not any(char in ' "=\\' for char in value):
        return _printable(value)
    return _printable(dumps(value))


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _is_secret(name: str) -> bool:
    plain = name.lower().replace("-", "_")
    return plain in _SECRETS or plain.endswith(_SECRET_SUFFIXES)


def _to_json(value: object, depth: int) -> JsonValue:
    try:
        match value:
            case None | bool():
                return value
            case str():
                return _text(value)
            case int():
                return int(value) if value.bit_length() <= MAX_INT_BITS else f"<{value.bit_length()} bits>"
            case float():
                return value if math.isfinite(value) else str(value)
            case Mapping() if depth < MAX_DEPTH:
                return {
                    _text(str(key)): REDACTED if _is_secret(str(key)) else _to_json(item, depth + 1)
                    for key, item in islice(value.items(), MAX_ITEMS)
                }
            case list() | tuple() | set() | frozenset() if depth < MAX_DEPTH:
                return [_to_json(item, depth + 1) for item in islice(value, MAX_ITEMS)]
            case Mapping() | list() | tuple() | set() | frozenset():
                return "…"
            case _:
                return _text(str(value))
    except Exception:
        return f"<{type(value).__name__}>"


def _text(text: str) -> str:
    if len(text) > MAX_TEXT:
        half = MAX_TEXT // 2
        text = f"{text[:half]}…[{len(text) - MAX_TEXT} characters left out]…{text[-half:]}"
    lowered = text.lower()
    if any(mark in lowered for mark in _SECRET_MARKS):
        return _SECRET_TEXT.sub(rf"\1{REDACTED}", text)
    return text


def _traceback(error: object) -> str | None:
    if isinstance(error, tuple) and len(error) == 3:
        error = error[1]
    elif error and not isinstance(error, BaseException):
        error = sys.exception()
    if not isinstance(error, BaseException):
        return None
    try:
        return _text("".join(traceback.format_exception(error)))
    except Exception:
        return type(error).__name__
