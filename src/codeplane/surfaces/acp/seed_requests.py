"""The parameters of the dialect 0.2.1, in snake_case."""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.acp.requests import Block, ClientInfo, Folder, SessionId

MAX_RESULTS = 200
_NULL = BeforeValidator(lambda value: "" if value is None else value)
_ENVELOPE = ("namespace", "name", "payload")


class SeedParams(BaseModel):
    """Parameters with names as they are."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class SeedInitialize(SeedParams):
    """The first request."""

    protocol_version: str = Field(max_length=50)
    client_info: ClientInfo = ClientInfo()


class SeedSession(SeedParams):
    """A session."""

    session_id: SessionId


class SeedNewSession(SeedParams):
    """A new session; without a folder it is the repository's."""

    cwd: Folder | None = None


class SeedOpenSession(SeedSession):
    """A session that was there before."""

    cwd: Folder | None = None


class SeedPrompt(SeedSession):
    """What the person says."""

    prompt: tuple[Block, ...] = Field(max_length=1000)


class Filters(SeedParams):
    """Where a search looks."""

    paths: tuple[str, ...] = Field((), max_length=100)
    languages: tuple[str, ...] = Field((), max_length=50)
    tests: str = Field("include", pattern="^(include|exclude|only)$")


class SeedSearch(SeedSession):
    """A search."""

    query: str = Field(min_length=1, max_length=4000)
    k: int = Field(20, ge=1, le=MAX_RESULTS)
    filters: Filters = Filters()
    include_text: bool = True
    context_lines: int = Field(2, ge=0, le=100)


class SeedSpan(SeedSession):
    """Some lines of a file."""

    path: str = Field(min_length=1, max_length=4096)
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)
    context: int = Field(0, ge=0, le=1000)


class SeedRoot(SeedParams):
    """A folder to index; in a session it is shown as a tool call."""

    path: Folder
    session_id: SessionId | None = None


class SeedLlmPolicy(SeedParams):
    """Under what a model is asked."""

    allow_external_llms: bool = Field(
        False, validation_alias=AliasChoices("allow_external_llms", "allowExternalLLMs", "allow_external_LLMs")
    )
    model_id: str = Field("", validation_alias=AliasChoices("model_id", "modelId"), max_length=200)
    max_tokens: int | None = Field(None, validation_alias=AliasChoices("max_tokens", "maxTokens"), ge=1, le=1_000_000)
    temperature: float | None = Field(None, validation_alias=AliasChoices("temperature", "temp"), ge=0, le=2)


class SeedLlmCall(SeedSession):
    """A question to a model."""

    provider: Literal["appleOnDevice", "claudeCode", "codex"]
    instructions: str | None = Field(None, max_length=65_536)
    prompt: str = Field(min_length=1, max_length=65_536)
    expects_type: str | None = Field(None, min_length=1, max_length=100)
    stream_structured: bool = False
    policy: SeedLlmPolicy = SeedLlmPolicy()


class SeedSubscription(SeedSession):
    """A session that wants to hear about the index: about one rebuild, or about all that come."""

    workspace_id: str = Field("", max_length=200)
    follow: bool = False


class SeedPolicy(SeedParams):
    """What an exploration may do beyond reading."""

    allow_external_llms: bool = Field(
        False, validation_alias=AliasChoices("allow_external_llms", "allowExternalLLMs", "allow_external_LLMs")
    )
    network: bool = Field(False, validation_alias=AliasChoices("network", "allow_network"))


class SeedStart(SeedParams):
    """What to explore, and to what end, in a session or in a new one; null is as if it were left out."""

    session_id: SessionId | None = None
    root: Annotated[str, _NULL] = Field("", max_length=4096)
    remote_url: Annotated[str, _NULL] = Field(
        "", validation_alias=AliasChoices("remote_url", "remoteURL"), max_length=2048
    )
    branch: Annotated[str, _NULL] = Field("", max_length=250)
    policy: SeedPolicy = SeedPolicy()
    goals: Annotated[tuple[str, ...], BeforeValidator(lambda goals: () if goals is None else goals)] = Field(
        (), max_length=20
    )


class SeedExplore(SeedSession):
    """An exploration; without its id the newest of the session."""

    explore_id: str | None = Field(None, min_length=4, max_length=100)


class SeedExploreWatch(SeedExplore):
    """An exploration, followed after a cursor."""

    after: int = Field(0, ge=0, le=2**53)


class SeedAbort(SeedExplore):
    """The end of an exploration."""

    reason: str = Field("", max_length=500)


class SeedConcurrency(SeedExplore):
    """How much of an exploration runs at once."""

    max_in_flight_ops: int | None = Field(
        None, validation_alias=AliasChoices("max_in_flight_ops", "maxInFlightOps"), ge=1
    )
    op_caps: dict[str, int] = Field({}, validation_alias=AliasChoices("op_caps", "opCaps"), max_length=20)


def extension_params(method: str, params: JsonObject) -> JsonObject:
    """Return the parameters of an extension request, which may come in an envelope with its namespace and name."""
    payload = params.get("payload")
    if "namespace" not in params or not isinstance(payload, dict):
        return params
    named = f"{params['namespace']}.{params.get('name')}"
    if named != method:
        raise InvalidArgument(f"the envelope is of {named[:100]!r}, the method is {method[:100]}")
    return {**{name: value for name, value in params.items() if name not in _ENVELOPE}, **payload}


def parse_seed(kind: type[SeedParams], params: JsonObject) -> Any:
    """Return the parameters; InvalidArgument with what is wrong with them."""
    try:
        return kind.model_validate(params)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise InvalidArgument(f"{'.'.join(map(str, first['loc'])) or 'params'}: {first['msg']}") from None
