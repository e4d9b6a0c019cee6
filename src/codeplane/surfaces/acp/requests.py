"""The parameters of ACP requests; what is not known is left aside, as newer clients may send more."""

from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from codeplane.kernel.json import JsonObject, is_text
from codeplane.surfaces.json_rpc.message import INVALID_PARAMS, RpcError

_MAX_BLOCKS = 1000
_MAX_SERVERS = 50
_MAX_PATH = 4096
_MAX_ID = 200


def _absolute(path: str) -> str:
    if not PurePath(path).is_absolute():
        raise ValueError("it has to be an absolute path")
    if "\0" in path or not is_text(path):
        raise ValueError("a path cannot hold NUL, or half a character")
    return path


Folder = Annotated[str, Field(min_length=1, max_length=_MAX_PATH), AfterValidator(_absolute)]
SessionId = Annotated[str, Field(min_length=1, max_length=_MAX_ID)]


class Params(BaseModel):
    """Parameters with names as the protocol spells them."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore", frozen=True)

    meta: dict[str, Any] | None = Field(None, alias="_meta")


class ClientInfo(Params):
    """Which program it is."""

    name: str = Field("", max_length=500)
    version: str = Field("", max_length=200)


class FileCapabilities(Params):
    """What the client does with files for an agent."""

    read_text_file: bool = False
    write_text_file: bool = False


class ClientCapabilities(Params):
    """What a client of version 1 can do."""

    fs: FileCapabilities = FileCapabilities()
    terminal: bool = False


class Initialize(Params):
    """The first request."""

    protocol_version: int = Field(ge=0, le=65_535, strict=True)
    client_info: ClientInfo | None = None
    client_capabilities: ClientCapabilities = ClientCapabilities()
    # Version 2 has these in place of the two above.
    info: ClientInfo | None = None

    @property
    def client_name(self) -> str:
        """The name that the client gives itself."""
        client = self.info or self.client_info
        return client.name if client is not None else ""


class Variable(Params):
    """A variable of an environment, or a header."""

    name: str = Field(max_length=500)
    value: str = Field(max_length=16_384)


class McpServer(Params):
    """An MCP server that the client wants the agent to use."""

    name: str = Field(min_length=1, max_length=200)
    type: Literal["stdio", "http", "sse"] = "stdio"
    command: str = Field("", max_length=_MAX_PATH)
    args: tuple[str, ...] = Field((), max_length=200)
    env: tuple[Variable, ...] = Field((), max_length=200)
    url: str = Field("", max_length=2000)
    headers: tuple[Variable, ...] = Field((), max_length=100)


class NewSession(Params):
    """A new session."""

    cwd: Folder
    mcp_servers: tuple[McpServer, ...] = Field((), max_length=_MAX_SERVERS)


class SessionRequest(Params):
    """A session."""

    session_id: SessionId


class OpenSession(SessionRequest):
    """A session that was there before."""

    cwd: Folder
    mcp_servers: tuple[McpServer, ...] = Field((), max_length=_MAX_SERVERS)
    replay_from: dict[str, Any] | None = None


class ListSessions(Params):
    """Which sessions to list."""

    cwd: Folder | None = None
    cursor: str | None = Field(None, max_length=2000)


class SetMode(SessionRequest):
    """Another mode."""

    mode_id: str = Field(max_length=_MAX_ID)


class SetOption(SessionRequest):
    """Another value of an option."""

    config_id: str = Field(max_length=_MAX_ID)
    value: str = Field(max_length=500)


class Resource(Params):
    """What is embedded in a prompt; a blob has no text."""

    uri: str = Field(max_length=_MAX_PATH)
    text: str | None = None


class Block(Params):
    """A part of a prompt."""

    type: str = Field(max_length=100)
    text: str | None = None
    uri: str | None = Field(None, max_length=_MAX_PATH)
    name: str | None = Field(None, max_length=1000)
    resource: Resource | None = None


class Prompt(SessionRequest):
    """What the person says."""

    prompt: tuple[Block, ...] = Field(max_length=_MAX_BLOCKS)


P = TypeVar("P", bound=Params)


def parse(kind: type[P], params: JsonObject) -> P:
    """Return the parameters; RpcError with what is wrong with them."""
    try:
        return kind.model_validate(params)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "params"
        raise RpcError(INVALID_PARAMS, f"Invalid params: {place}: {first['msg']}") from None
