"""A compiled policy and its interpreter, for one thread."""

import json
import re
from collections.abc import Mapping
from typing import Protocol, cast

from regopy import (  # type: ignore[import-untyped]  # it comes without types
    Bundle,
    Input,
    Interpreter,
    LogLevel,
    Node,
    NodeKind,
    RegoError,
)
from regopy.rego_shared import (  # type: ignore[import-untyped]  # as above
    rego as library,
)
from regopy.rego_shared import (
    rego_bundle_query_entrypoint,
    rego_free_output,
    rego_new_input,
    rego_output_node,
    rego_output_ok,
    rego_output_string,
)

from codeplane.adapters.rego_answer import RegoFailed, RegoUndefined, parse_answer
from codeplane.adapters.rego_plan import Fault, find_faults

_MESSAGE = re.compile(r"\(errormsg (\d+):")
_PLACE = re.compile(r"\d+:(\d+\.rego)\|(\d+)\|")
# A value that no file says: it came with the input, or was made of it.
_VALUE = re.compile(r"\(rego-[A-Z]+ (\d+):([^|]*?)\)")
_MAX_INT = 2**63
_escaped = json.encoder.encode_basestring
_string, _item = library.regoInputString, library.regoInputObjectItem
_object, _array = library.regoInputObject, library.regoInputArray
_MAX_SHOWN = 300
_MAX_VALUE = 80
_MAX_FAULTS = 20


class RegoRefused(Exception):
    """The policy cannot be used; says what is wrong and where."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("; ".join(f"{fault.file}:{fault.line}: {fault.message}" for fault in faults))
        self.faults = faults


class _Node(Protocol):
    """A node of regopy's syntax tree."""

    kind: NodeKind

    def __len__(self) -> int: ...

    def at(self, index: int) -> "_Node": ...

    def json(self) -> str: ...


class RegoBundle:
    """A policy of several files, compiled and checked."""

    def __init__(
        self, sources: Mapping[str, str], *, packages: Mapping[str, str], entry: str, scratch: str, data: object = None
    ) -> None:
        """Compile files by name, each with rules only of its package; RegoRefused on errors.

        `scratch` is an empty folder, which is left with what the compiler writes.
        """
        self._entry = entry
        self._interpreter = _interpreter()
        if data is not None:
            # Not with escapes: the library takes an escaped letter and the letter for different ones.
            self._interpreter.add_data_json(json.dumps(data, ensure_ascii=False))
        # The compiler writes its files under these names, so they are not those of anybody's choosing.
        plain = {f"{number}.rego": name for number, name in enumerate(sources)}
        self._plain, self._sources = plain, dict(sources)
        self._bundle = _compile(self._interpreter, sources, plain, entry)
        try:
            self._interpreter.save_bundle(scratch, self._bundle)
            with open(f"{scratch}/plan.json", "rb") as file:  # noqa: PTH123  # pathlib takes longer to import
                plan = json.load(file)
            faults = find_faults(plan, files={inner: packages[name] for inner, name in plain.items()})
        except (RegoError, OSError, ValueError, KeyError) as error:
            # What cannot be looked through is not run.
            message = f"its calls cannot be determined: {str(error)[:_MAX_SHOWN]}"
            raise RegoRefused([Fault(file="", line=0, message=message)]) from error
        if faults:
            raise RegoRefused([_with_plain_name(fault, plain) for fault in faults[:_MAX_FAULTS]])

    def evaluate(self, document: object) -> object:
        """Evaluate the entry for an input; RegoFailed when it does not answer."""
        return parse_answer(self.evaluate_raw(document))

    def evaluate_raw(self, document: object) -> str:
        """Return the library's answer to an input; RegoFailed when it reports an error."""
        self._interpreter.set_input(_input(document))
        impl = rego_bundle_query_entrypoint(self._interpreter._impl, self._bundle._impl, self._entry)
        try:
            if not rego_output_ok(impl):
                raise RegoFailed(self._failure(_errors(Node(rego_output_node(impl)))))
            output: str = rego_output_string(impl)
        finally:
            rego_free_output(impl)
        if output == "undefined":
            raise RegoUndefined("it does not say anything about this")
        return output

    def _failure(self, errors: str) -> str:
        """Return the runtime error, with its position or value."""
        messages = []
        for error in _parse_errors(errors, self._plain, self._sources):
            value = _VALUE.search(errors) if not error.file else None
            of = f", with the value {value[2][: int(value[1])][:_MAX_VALUE]!r}" if value else ""
            messages.append(f"{error.file}:{error.line}: {error.message}" if error.file else f"{error.message}{of}")
        return "; ".join(messages)


def _interpreter() -> Interpreter:
    interpreter = Interpreter()
    # It would write to our standard output.
    interpreter.log_level = LogLevel.NONE
    interpreter.strict_built_in_errors = True
    return interpreter


def _compile(interpreter: Interpreter, sources: Mapping[str, str], plain: Mapping[str, str], entry: str) -> Bundle:
    for inner, name in plain.items():
        text = sources[name]
        if "\0" in text:
            line = text[: text.index("\0")].count("\n") + 1
            raise RegoRefused([Fault(file=name, line=line, message="it holds a NUL, and would end there")])
        try:
            interpreter.add_module(inner, text)
        except RegoError as error:
            raise RegoRefused(_parse_errors(str(error), plain, sources)) from error
    bundle = interpreter.build(None, [entry])
    if not bundle.ok():
        raise RegoRefused(_parse_errors(_errors(bundle.node()), plain, sources))
    return bundle


def _errors(root: object) -> str:
    """Return the errors in a tree, as the library writes them."""
    messages: list[str] = []
    waiting = [cast(_Node, root)]
    while waiting:
        node = waiting.pop()
        if node.kind == NodeKind.Error:
            messages.append(node.json())
        elif node.kind == NodeKind.ErrorSeq:
            waiting += [node.at(index) for index in range(len(node))]
    return "\n".join(messages)


def _parse_errors(errors: str, plain: Mapping[str, str], sources: Mapping[str, str]) -> list[Fault]:
    """Return the messages in the library's error text, with line numbers where it gives them."""
    found = []
    for part in re.split(r"\(error\s", errors)[1:]:
        if (message := _MESSAGE.search(part)) is None:
            continue
        text = part[message.end() : message.end() + int(message[1])]
        place = _PLACE.search(part)
        name = plain.get(place[1], "") if place else ""
        line = sources[name].encode()[: int(place[2])].count(b"\n") + 1 if place and name else 0
        found.append(Fault(file=name, line=line, message=" ".join(text.split())[:_MAX_SHOWN]))
    return found[:_MAX_FAULTS] or [Fault(file="", line=0, message="it is not Rego")]


def _with_plain_name(fault: Fault, plain: Mapping[str, str]) -> Fault:
    return Fault(file=plain.get(fault.file, ""), line=fault.line, message=fault.message)


def _input(document: object) -> Input:
    """Build the library's own input node, which is three times as fast as its parser."""
    impl = rego_new_input()
    made = Input.__new__(Input)
    made._impl = impl
    if not _add(impl, document):
        raise RegoFailed("the input cannot be written")
    return made


def _add(impl: object, value: object) -> bool:
    # It takes what it is given for the inside of a string that is written, so everything in it is escaped.
    if isinstance(value, str):
        return not _string(impl, _escaped(value)[1:-1].encode())
    if isinstance(value, dict):
        for name, item in value.items():
            if _string(impl, _escaped(str(name))[1:-1].encode()) or not _add(impl, item) or _item(impl):
                return False
        return not _object(impl, len(value))
    if isinstance(value, list):
        for item in value:
            if not _add(impl, item):
                return False
        return not _array(impl, len(value))
    if value is None:
        return not library.regoInputNull(impl)
    if isinstance(value, bool):
        return not library.regoInputBoolean(impl, value)
    if isinstance(value, float):
        return not library.regoInputFloat(impl, value)
    if isinstance(value, int) and -_MAX_INT <= value < _MAX_INT:
        return not library.regoInputInt(impl, value)
    raise RegoFailed(f"{value} is larger than numbers are here")
