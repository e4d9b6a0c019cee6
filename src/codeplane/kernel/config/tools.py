"""MCP servers and plugins whose tools are used here."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from codeplane.kernel.config.section import AbsolutePath, Capability, Off, Section, ServerName, ToolIdentity, ToolRisk
from codeplane.kernel.json import JsonValue


class ToolOverride(Section):
    """The owner's word on one tool of a server, which overrides the server's."""

    risk: ToolRisk | None = Field(None, description="what a call of it can do")
    identity: ToolIdentity | None = Field(None, description="whose account it acts with")
    disabled: bool = Field(False, description="leave it out")


class OAuthConfig(Section):
    """How a token for a server is obtained."""

    grant: Literal["authorization_code", "client_credentials"] = Field(
        "authorization_code", description="authorization_code: your account, by `cpl tools login`; else its own account"
    )
    client_id: str = Field("", description="empty: the server registers this client by itself")
    client_secret: str = Field("", description="as in ${NAME}: from the environment, or from `cpl tools secret NAME`")
    issuer: str = Field("", description="who issued client_id; its secret is sent nowhere else")
    scope: str = Field("", description="empty: what the server asks for")
    port: int = Field(0, ge=0, le=65_535, description="of the address that the sign-in comes back to; 0: any")

    @model_validator(mode="after")
    def _needs_issuer(self) -> "OAuthConfig":
        if self.client_secret and not (self.client_id and self.issuer):
            raise ValueError("client_secret needs client_id and issuer: a server must not say where a secret is sent")
        if self.grant == "client_credentials" and not self.client_secret:
            raise ValueError("client_credentials needs client_id, client_secret and issuer")
        return self


class OutsideProgram(Section):
    """A program outside CodePlane, and what it may reach."""

    command: str = Field("", description="the program that is started")
    args: tuple[str, ...] = Field((), description="its arguments")
    env: dict[str, str] = Field({}, description="its variables; ${NAME} stands for a secret or one of this environment")
    cwd: str = Field("", description="its folder; empty: the repository's")
    disabled: bool = Field(False, description="do not start it")
    sandbox: Annotated[Literal["required", "off"], Off] = Field(
        "required", description="off: run it without bubblewrap, with the rights of your account"
    )
    network: bool = Field(False, description="whether it reaches the network from the sandbox")
    workspace: Literal["none", "read", "write"] = Field("read", description="what it may do with the repository")
    readable: tuple[AbsolutePath, ...] = Field((), description="further folders it reads")
    writable: tuple[AbsolutePath, ...] = Field((), description="further folders it writes")
    identity: ToolIdentity = Field("none", description="whose account its tools act with")
    timeout_sec: float = Field(60.0, gt=0, le=3600, description="for one call")


class McpServerConfig(OutsideProgram):
    """An MCP server whose tools become operations, in the form that other clients use, with more fields."""

    type: Literal["", "stdio", "http", "streamable-http"] = Field("", description="as other clients write it")
    url: str = Field("", description="of a server over HTTP, instead of a command")
    headers: dict[str, str] = Field({}, description="of every request; ${NAME} as in env")
    oauth: OAuthConfig | None = Field(None, description="how its token is got")
    risk: ToolRisk | None = Field(None, description="what calls of its tools can do; else see `cpl tools trust`")
    believe_hints: bool = Field(
        False, description="take its word for what its tools do, also when it changes them: only for servers of yours"
    )
    tools: dict[str, ToolOverride] = Field({}, description="by the names that the server gives them")

    @model_validator(mode="after")
    def _is_reachable(self) -> "McpServerConfig":
        if bool(self.command) == bool(self.url):
            raise ValueError("either command or url has to be given")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError("url begins with http:// or https://")
        return self


class PluginToolConfig(Section):
    """A tool of a plugin."""

    description: str = Field(min_length=1, description="what an agent reads")
    schema_: dict[str, JsonValue] = Field(
        {}, alias="schema", description="the JSON Schema of its arguments, an object's"
    )
    risk: ToolRisk = Field(description="what a call of it can do")
    capability: Capability = Field("execute_tools", description="what a caller needs for it")
    identity: ToolIdentity | None = Field(None, description="whose account it acts with")


class PluginConfig(OutsideProgram):
    """A program that speaks JSON lines over stdin and stdout."""

    tools: dict[str, PluginToolConfig] = Field({}, description="its tools by name")
    capabilities: tuple[Capability, ...] = Field((), description="what it may do itself, as an actor of its own")
    events: tuple[str, ...] = Field(
        (), description="types of events that it is sent, of those it may see; as in call.*"
    )

    @model_validator(mode="after")
    def _is_program(self) -> "PluginConfig":
        if not self.command:
            raise ValueError("command has to be given")
        return self


class ToolsConfig(Section):
    """Tools of other programs; plugins are taken from your own settings alone, never from a file in the repository."""

    plugins: dict[ServerName, PluginConfig] = Field({}, description="programs of yours, by name")
    start_sec: float = Field(60.0, gt=0, le=600, description="how long a server may take until its tools are known")
    output_kb: int = Field(256, ge=1, le=16_384, description="kept of one answer; the rest is cut off, which it says")
    message_kb: int = Field(4096, ge=16, le=65_536, description="the largest message of a server; it ends after one")
    max_tools: int = Field(128, ge=1, le=500, description="of one server; further ones are left out")
    max_calls: int = Field(16, ge=1, le=256, description="calls of one server at once")
    restarts: int = Field(8, ge=0, le=100, description="attempts in a row before a server is left alone")
    backoff_sec: float = Field(1.0, gt=0, le=60, description="before the first restart; it doubles each time")
    max_backoff_sec: float = Field(60.0, gt=0, le=3600, description="the longest pause before a restart")
    from_clients: Annotated[Literal["ask", "off"], Off] = Field(
        "ask", description="MCP servers that an editor brings along for its session; ask: each waits for your approval"
    )


class McpConfig(Section):
    """The MCP surface, and the MCP servers whose tools are used here."""

    toolset: str = Field("core", description="tools listed by default: core, all, or families joined by commas")
    servers: dict[ServerName, McpServerConfig] = Field(
        {}, description="by name; taken from your own settings alone, since they start programs"
    )
