"""How the fields of a typed method's messages map to an operation's arguments and results."""

from collections.abc import Mapping

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.services.call_failure import CallFailed
from codeplane.surfaces.services.messages import message_arguments

# Where methods are unless a row names another package.
PACKAGE = "codeplane.v1"
# The value of an enum → the operation's word for it.
Words = Mapping[str, str]


def request_arguments(
    message: Message, sends: Mapping[str, str], words: Mapping[str, Words] | None = None
) -> JsonObject:
    """Return the arguments that a request means; CallFailed for values that JSON cannot hold.

    `sends`: a field → the argument, where they differ; `!` before the argument negates it, an empty one drops the
    field. `words`: a field → the operation's words for the values of its enum.
    """
    try:
        fields = message_arguments(message)
    except InvalidArgument as error:
        raise CallFailed(error) from error
    arguments: JsonObject = {}
    for name, value in fields.items():
        argument = sends.get(name, name)
        if words and isinstance(value, str) and name in words:
            value = words[name].get(value, value)
        if argument:
            arguments[argument.removeprefix("!")] = not value if argument.startswith("!") else value
    return arguments


def words_without_prefix(enum: EnumDescriptor, prefix: str, *, lower: bool = False) -> Words:
    """Return the words for an enum whose values repeat its name: RUNNING for WORK_RUNNING."""
    words = {value.name: value.name.removeprefix(prefix) for value in enum.values if value.number}
    return {name: word.lower() for name, word in words.items()} if lower else words


def with_taken(result: JsonObject, takes: Mapping[str, str]) -> JsonObject:
    """Return a result with further names for some of its values, each given as a path; `.` is the whole result."""
    return {**result, **{name: value_at(result, path) for name, path in takes.items()}}


def value_at(result: JsonObject, path: str) -> JsonValue:
    """Return the value at a path of names, or None."""
    value: JsonValue = result
    for part in filter(None, path.split(".")):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
