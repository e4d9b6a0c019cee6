"""The types that clients of the dialect 0.2.1 decode with, as its authors have them: names, cases, what is required."""

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Kind = Literal[
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "tool_call",
    "tool_call_update",
]


class Wire(BaseModel):
    """Leaves aside what it does not know, as `Codable` does."""

    model_config = ConfigDict(extra="ignore", strict=True)

    @classmethod
    def again(cls, value: dict[str, Any]) -> dict[str, Any]:
        """What a client that passes a message on sends of it."""
        return cls.model_validate(value).model_dump(by_alias=True, exclude_unset=True)


class WithMeta(Wire):
    meta: dict[str, Any] | None = Field(None, alias="_meta")


class TextContent(WithMeta):
    type: Literal["text"]
    text: str


class ContentChunk(WithMeta):
    content: TextContent


class ToolCallWire(WithMeta):
    call_id: str
    name: str
    arguments: dict[str, Any] | None = None


class ToolCallUpdateWire(WithMeta):
    call_id: str
    status: Literal["started", "completed", "error"]
    output: Any = None
    error: str | None = None


class PlanEntry(WithMeta):
    content: str
    priority: Literal["high", "medium", "low"]
    status: Literal["pending", "in_progress", "completed"]


class Plan(WithMeta):
    entries: list[PlanEntry]


class SessionUpdate(Wire):
    """One kind, and the body below its name."""

    sessionUpdate: Kind
    content: ContentChunk | None = None
    plan: Plan | None = None
    tool_call: ToolCallWire | None = None
    tool_call_update: ToolCallUpdateWire | None = None

    @model_validator(mode="after")
    def _has_body(self) -> Self:
        place = "content" if self.sessionUpdate.endswith("_chunk") else self.sessionUpdate
        if getattr(self, place) is None:
            raise ValueError(f"{self.sessionUpdate} without {place}")
        return self


class SessionNotificationWire(WithMeta):
    session_id: str
    update: SessionUpdate


class PromptCapabilities(WithMeta):
    image: bool
    audio: bool
    embedded_context: bool


class McpCapabilities(WithMeta):
    http: bool
    sse: bool


class AgentCapabilities(WithMeta):
    load_session: bool
    prompt_capabilities: PromptCapabilities
    mcp_capabilities: McpCapabilities


class Implementation(Wire):
    name: str
    title: str | None = None
    version: str


class InitializeResponse(WithMeta):
    protocol_version: str
    agent_capabilities: AgentCapabilities
    auth_methods: list[str]
    agent_info: Implementation | None = None


class OrchestrateExploreStartResponse(Wire):
    session_id: str
    plan_id: str
    status: str | None = None
