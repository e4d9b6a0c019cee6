"""Requests that can name another workspace than the serving one."""

from pydantic import Field
from pydantic.config import JsonDict

from codeplane.kernel.operation import Request


def _drop_default(schema: JsonDict) -> None:
    # Agents pay for every byte of a tool list, and leaving it out is what everyone expects to mean "here".
    schema.pop("default", None)


class WorkspaceRequest(Request):
    """A request that the same operation of an attached workspace answers when it names one."""

    workspace: str = Field("", description="an attached workspace", json_schema_extra=_drop_default)
