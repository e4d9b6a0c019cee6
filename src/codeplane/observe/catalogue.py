"""The `operation.list` operation."""

from pydantic import Field

from codeplane.kernel.arguments import usage
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.schema import input_schema


class ListRequest(Request):
    """Which operations to list; all by default."""

    name: str | None = Field(None, description="one operation, with its schema")
    family: str | None = Field(None, description="the first part of the name, such as session")


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

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    @operation("operation.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListRequest) -> OperationList:
        """Every operation with its arguments; with `name`, one of them with its whole schema."""
        operations = self._catalogue.toolset([request.family or "all"])
        if request.name is not None:
            operations = (self._catalogue.get(request.name),)
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
