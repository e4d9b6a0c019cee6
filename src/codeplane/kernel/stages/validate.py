"""Stage 1: a name and arguments become an operation and its typed request."""

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from codeplane.kernel.arguments import parse
from codeplane.kernel.call import Operation
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.errors import CodePlaneError, Internal, InvalidArgument, MalformedRequest, UnknownOperation
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, canonical, is_text
from codeplane.kernel.operation import Request
from codeplane.kernel.ports import Identity
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.stages.identify import actor_of
from codeplane.kernel.stages.progress import Received, Validated


@dataclass(frozen=True, slots=True, kw_only=True)
class Validate:
    """Refuses what no operation takes, and says what it takes instead."""

    name: ClassVar[str] = "validate"
    catalogue: Catalogue
    identity: Identity
    redactor: Redactor

    async def run(self, received: Received) -> Validated:
        """Look the operation up and parse its arguments."""
        try:
            validated = self._validate(received)
        except CodePlaneError as error:
            # An unknown name can be anything, a secret too.
            received.trace.name = self.redactor.text(received.trace.name)
            # Recorded under the caller's name where that is known.
            with suppress(CodePlaneError):
                received.actor = actor_of(received.caller, received.name, self.identity)
            if isinstance(error, UnknownOperation) and not received.actor.is_person:
                raise self.catalogue.unknown_operation(received.name, for_people=False) from None
            raise
        received.trace.name = validated.operation.name
        return validated

    def _validate(self, received: Received) -> Validated:
        received.operation = operation = self.catalogue.get(received.name)
        if operation.streaming and not received.streams:
            raise InvalidArgument(
                f"{operation.name} is a stream", hint=f"watch it with: cpl call {operation.name} --follow"
            )
        if isinstance(received.given, Request):
            return _take_request(received, operation, received.given)
        given = dict(received.given)
        fields, owns = operation.request.model_fields, operation.request.owns
        if not owns("session_id"):
            received.session_id = _take_reserved(given, "session_id", keep="session_id" in fields)
        if not owns("idempotency_key"):
            received.key = _take_reserved(given, "idempotency_key", keep="idempotency_key" in fields)
        try:
            encoded = canonical(given)
        except (ValueError, RecursionError) as error:
            raise MalformedRequest(f"{operation.name}: the arguments cannot be written as UTF-8 JSON") from error
        received.arguments, received.arguments_hash, received.arguments_bytes = given, digest(encoded), len(encoded)
        return Validated(received=received, operation=operation, request=parse(operation, given))


def _take_request(received: Received, operation: Operation, request: Request) -> Validated:
    """Take a request that its caller, a part of this process, has made itself: it was checked when it was made."""
    if not isinstance(request, operation.request):
        raise Internal(f"{operation.name} takes a {operation.request.__name__}, not a {type(request).__name__}")
    if request.recorded:
        received.arguments = request.model_dump(mode="json", exclude_unset=True)
    received.arguments_hash, received.arguments_bytes = request.fingerprint()
    return Validated(received=received, operation=operation, request=request)


def _take_reserved(given: JsonObject, name: str, *, keep: bool) -> str | None:
    """An argument that every operation takes; removed from the rest unless the operation has a field of that name."""
    value = given.get(name) if keep else given.pop(name, None)
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= 200:
        raise InvalidArgument(f"{name} must be a string of 1 to 200 characters")
    if not is_text(value):
        raise MalformedRequest(f"{name} cannot be written as UTF-8")
    return value
