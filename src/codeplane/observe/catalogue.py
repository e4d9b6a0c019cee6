"""The `operation.list` operation: what can be asked for, and how."""

from pydantic import Field

from codeplane.kernel.arguments import usage
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.schema import input_schema


class ListRequest(Request):
    """Which operations are wanted; all by default."""

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
        return "\n".join(f"{found.usage}  {found.summary}" for found in self.operations)


class CatalogueOperations:
    """Tells what the catalogue holds, itself included."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    @operation("operation.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListRequest) -> OperationList:
        """Every operation with its arguments; with `name`, one of them with its whole schema."""
        found = self._catalogue.toolset([request.family or "all"])
        if request.name is not None:
            found = (self._catalogue.get(request.name),)
        return OperationList(
            operations=tuple(
                OperationView(
                    name=item.name,
                    tool=item.tool,
                    usage=usage(item),
                    summary=item.summary,
                    risk=item.mark.risk.value,
                    toolset=item.mark.toolset,
                    streaming=item.streaming,
                    deprecated=item.mark.deprecated,
                    description=item.description if request.name else None,
                    input_schema=input_schema(item) if request.name else None,
                )
                for item in found
            )
        )
