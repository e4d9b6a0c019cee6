"""The `operation.list` operation."""

import re
from collections.abc import Sequence

from pydantic import Field

from codeplane.kernel.arguments import usage
from codeplane.kernel.call import Call, Operation
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.kernel.nearest import Nearest, keys_of
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.schema import input_schema

_WORDS = re.compile(r"[._]")


class ListRequest(Request):
    """Which operations to list; all by default."""

    name: str | None = Field(None, description="one operation, with its schema")
    family: str | None = Field(None, description="the first part of the name, such as session")
    query: str | None = Field(
        None, min_length=1, max_length=2000, description="what it should do: the nearest in meaning, best first"
    )
    limit: int = Field(10, ge=1, le=100, description="how many of a query")


class OperationView(Result):
    """One operation in a list."""

    name: str
    tool: str
    usage: str
    summary: str
    risk: str
    toolset: str
    streaming: bool
    deprecated: str | None
    description: str | None = None
    input_schema: JsonObject | None = None


class OperationList(Result):
    """Operations by name."""

    operations: tuple[OperationView, ...]

    def text(self) -> str:
        if len(self.operations) == 1 and self.operations[0].description:
            only = self.operations[0]
            return f"{only.usage}\n{only.description}\nrisk {only.risk}, toolset {only.toolset}"
        return "\n".join(f"{operation.usage}  {operation.summary}" for operation in self.operations)


class CatalogueOperations:
    """Lists the operations of the catalogue."""

    def __init__(self, catalogue: Catalogue, nearest: Nearest | None = None) -> None:
        """`nearest` finds operations by what they are described to do; None where there are no vectors."""
        self._catalogue = catalogue
        self._nearest = nearest

    @operation("operation.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListRequest) -> OperationList:
        """Every operation with its arguments; with `name`, one of them with its whole schema."""
        operations = self._catalogue.toolset([request.family or "all"])
        if request.name is not None:
            operations = (self._catalogue.get(request.name),)
        elif request.query is not None:
            operations = await self._find(request.query, operations, request.limit)
        return OperationList(
            operations=tuple(
                OperationView(
                    name=operation.name,
                    tool=operation.tool,
                    usage=usage(operation),
                    summary=operation.summary,
                    risk=operation.mark.risk.value,
                    toolset=operation.mark.toolset,
                    streaming=operation.streaming,
                    deprecated=operation.mark.deprecated,
                    description=operation.description if request.name else None,
                    input_schema=input_schema(operation) if request.name else None,
                )
                for operation in operations
            )
        )

    async def _find(self, query: str, operations: Sequence[Operation], limit: int) -> tuple[Operation, ...]:
        """The operations whose descriptions are nearest to a query."""
        if self._nearest is None:
            raise InvalidArgument(
                "operations are found by a query only with vectors", hint="set embeddings.model, or list by family"
            )
        # With the name twice 13 of 15 questions find theirs among five, with the whole description 12.
        texts = {found.name: f"{_WORDS.sub(' ', f'{found.name} {found.name}')} {found.summary}" for found in operations}
        names = keys_of(texts)
        await self._nearest.add(texts.values())
        near = await self._nearest.nearest(query, tuple(names), limit)
        by_name = {found.name: found for found in operations}
        return tuple(by_name[name] for found in near if found.score > 0 for name in names[found.key])[:limit]
