"""How a typed method that streams messages maps to a streaming operation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from google.protobuf.message import Message

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.services.field_mapping import PACKAGE, Words, request_arguments, value_at, with_taken
from codeplane.surfaces.services.messages import fill_message


class ItemMessages(Protocol):
    """Makes messages of the items of one stream, in their order."""

    def opening(self) -> Message | None:
        """What a reader gets when nothing comes at once; None leaves it waiting."""
        ...

    def message(self, item: JsonObject) -> Message:
        """The message of one item."""
        ...

    def is_last(self, item: JsonObject) -> bool:
        """Whether the stream ends after an item."""
        ...

    def is_end(self, error: CodePlaneError) -> bool:
        """Whether an error says no more than the last message did, so that the stream ends well."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedStream:
    """What one request calls, and how the items of that become messages."""

    operation: str
    arguments: JsonObject
    items: ItemMessages


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCall:
    """A call that a streaming method makes before it streams, such as the mutation whose events are streamed."""

    operation: str
    # A request's field → this call's argument, where they differ; an empty one is of the stream alone.
    sends: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Words] = field(default_factory=dict)
    # The stream's argument → a path in this call's result.
    passes: Mapping[str, str] = field(default_factory=dict)

    def arguments(self, request: Message) -> JsonObject:
        """Return the arguments of the call."""
        return request_arguments(request, self.sends, self.words)


class StreamMethod(Protocol):
    """A row of the table of streams."""

    @property
    def package(self) -> str: ...

    @property
    def service(self) -> str: ...

    @property
    def method(self) -> str: ...

    @property
    def operation(self) -> str: ...

    @property
    def first(self) -> FirstCall | None: ...

    def open(self, request: Message, answered: JsonObject) -> OpenedStream:
        """What a request calls, given what its first call answered; CallFailed for one that makes no sense."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedStream:
    """A streaming method of one operation, by tables.

    With a first call, only the request's fields that `sends` names are the stream's; they go before what the first
    call passes on.
    """

    package: str = PACKAGE
    service: str
    method: str
    operation: str
    # Makes the translation for one stream, given the request and what its first call answered.
    items: Callable[[Message, JsonObject], ItemMessages]
    # A request's field → the operation's argument, where they differ; ! before it negates it, empty drops it.
    sends: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Words] = field(default_factory=dict)
    # Arguments that a request's fields have to be converted for.
    converts: Callable[[Message], JsonObject] | None = None
    first: FirstCall | None = None

    def open(self, request: Message, answered: JsonObject) -> OpenedStream:
        """Return what a request calls, given what its first call answered."""
        sends = self.sends
        arguments: JsonObject = {}
        if self.first is not None:
            arguments = {name: value_at(answered, path) for name, path in self.first.passes.items()}
            sends = {found.name: self.sends.get(found.name, "") for found in request.DESCRIPTOR.fields}
        arguments |= request_arguments(request, sends, self.words)
        if self.converts is not None:
            arguments |= self.converts(request)
        return OpenedStream(operation=self.operation, arguments=arguments, items=self.items(request, answered))


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedItems:
    """Makes a message of each item by its names; `takes`: a field → a path in the item, where they differ."""

    kind: type[Message]
    takes: Mapping[str, str] = field(default_factory=dict)

    def opening(self) -> Message | None:
        """Return None: the first item is the first message."""
        return None

    def message(self, item: JsonObject) -> Message:
        """Return the message of one item."""
        return fill_message(self.kind, with_taken(item, self.takes))

    def is_last(self, item: JsonObject) -> bool:
        """Return False: the operation ends the stream."""
        return False

    def is_end(self, error: CodePlaneError) -> bool:
        """Return False: every error is sent."""
        return False
