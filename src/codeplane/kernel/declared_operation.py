"""Operations that come and go: declared by a name, a JSON Schema and a handler, as tools of other programs are."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import ClassVar, cast

from pydantic import ConfigDict, GetJsonSchemaHandler, create_model, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from codeplane.kernel.call import Call, Operation, PreviewMaker
from codeplane.kernel.config import ToolIdentity
from codeplane.kernel.declared_schema import DeclaredSchema
from codeplane.kernel.errors import InvalidArgument, OperationGone, UnknownOperation
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.operation import Assessment, Budget, OperationMark, Request, Result, Risk

# The first part of every declared name, so that none is taken for one of ours.
FAMILY = "ext"
_NAME = re.compile(rf"{FAMILY}(\.[A-Za-z0-9][A-Za-z0-9_-]*){{2,4}}")
_MAX_NAME = 100
_MAX_DESCRIPTION = 4000

DeclaredHandler = Callable[[Call, JsonObject], Awaitable["DeclaredResult"]]


class DeclaredRequest(Request):
    """Arguments that a declared schema describes, taken as they are."""

    model_config = ConfigDict(extra="allow", frozen=True)
    declared: ClassVar[DeclaredSchema]

    @property
    def arguments(self) -> JsonObject:
        """The arguments by their names."""
        return dict(self.__pydantic_extra__ or {})

    @classmethod
    def owns(cls, name: str) -> bool:
        return name in cls.declared.names

    @classmethod
    def describe_arguments(cls) -> str | None:
        return cls.declared.usage()

    @model_validator(mode="before")
    @classmethod
    def _check(cls, value: object) -> object:
        if problems := cls.declared.problems(value):
            raise ValueError("; ".join(problems))
        return value

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return dict(cls.declared.document)


class DeclaredResult(Result):
    """The answer of another program; its content is untrusted."""

    content: JsonValue
    # Which program answered.
    source: str
    is_error: bool = False
    # How many bytes of the answer were left out.
    cut_bytes: int = 0

    def text(self) -> str:
        text = self.content if isinstance(self.content, str) else dumps(self.content)
        more = f"\n[cut off: {self.cut_bytes} more bytes]" if self.cut_bytes else ""
        return f"{'the tool reports an error: ' if self.is_error else ''}{text}{more}"

    def unmet(self) -> str | None:
        return "the tool reports an error" if self.is_error else None

    def untrusted_source(self) -> tuple[str, str] | None:
        return "tool", self.source


def declare(
    name: str,
    *,
    description: str,
    schema: Mapping[str, object],
    risk: Risk,
    handler: DeclaredHandler,
    capability: str = "execute_tools",
    timeout_sec: float = 60.0,
    toolset: str = "all",
    identity: ToolIdentity | None = None,
    assessment: Assessment | None = None,
    preview: "PreviewMaker | None" = None,
    thread_id: str | None = None,
) -> Operation:
    """An operation of a name below `ext`, with a schema; InvalidArgument or SchemaRefused for what cannot be one.

    `assessment` says of every call of it what it would do; with `thread_id` the turns of that thread alone call it.
    """
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        raise InvalidArgument(f"{name[:_MAX_NAME]!r} is no name for it", hint=f"as in {FAMILY}.server.tool")
    text = description.strip()[:_MAX_DESCRIPTION]
    if not text:
        raise InvalidArgument(f"{name} needs a description: it is what an agent reads")
    request = create_model("DeclaredArguments", __base__=DeclaredRequest)
    request.declared = DeclaredSchema.parse(schema)

    def assess(call: Call | None, request: Request) -> Assessment:
        if thread_id is not None:
            _require_thread(name, thread_id, call)
        return assessment or Assessment(risk=risk)

    async def handle(call: Call, given: Request) -> Result:
        return await handler(call, cast(DeclaredRequest, given).arguments)

    return Operation(
        mark=OperationMark(
            name=name,
            risk=risk,
            budget=Budget.NONE if risk is Risk.READ else Budget.MUTATION,
            capability=capability,
            toolset=toolset,
            timeout_sec=timeout_sec,
            deprecated=None,
            identity=identity,
            thread_id=thread_id,
        ),
        summary=text.partition("\n")[0],
        description=text,
        request=request,
        result=DeclaredResult,
        streaming=False,
        handler=handle,
        assess=assess,
        preview=preview,
    )


def _require_thread(name: str, thread_id: str, call: Call | None) -> None:
    """Refuse a call that is no step of the thread, in the words for an operation that is not there."""
    origin = call.caller.origin if call is not None else None
    if origin is None or origin.thread_id != thread_id:
        raise UnknownOperation(f"there is no operation {name!r} here", hint="it is offered to one conversation alone")


def until_removed(operation: Operation, removed: asyncio.Event) -> Operation:
    """The operation, whose calls end with OperationGone once it is removed."""

    async def run(call: Call, request: Request) -> Result:
        if removed.is_set():
            raise OperationGone(f"{operation.name} was removed before it could run")
        handling = asyncio.ensure_future(cast(Awaitable[Result], operation.handler(call, request)))
        waiting = asyncio.ensure_future(removed.wait())
        try:
            await asyncio.wait({handling, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if handling.done():
                return handling.result()
            raise OperationGone(f"{operation.name} was removed while it ran")
        finally:
            handling.cancel()
            waiting.cancel()
            await asyncio.gather(handling, waiting, return_exceptions=True)

    return replace(operation, handler=run)
