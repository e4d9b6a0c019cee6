"""The span of a model call, with the attributes of OpenTelemetry's conventions for generative AI."""

from typing import TypeAlias

from codeplane.kernel.model_provider import Finished, ModelRequest
from codeplane.kernel.trace import Attribute

Attributes: TypeAlias = dict[str, Attribute]

# The conventions are in development and rename things: their names stand here and nowhere else.
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
MAX_TOKENS = "gen_ai.request.max_tokens"
OUTPUT_TYPE = "gen_ai.output.type"
CONVERSATION = "gen_ai.conversation.id"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
SERVER = "server.address"
ERROR = "error.type"
ATTEMPT = "codeplane.model.attempt"
PROMPT_HASH = "codeplane.model.prompt_hash"
PROMPT_BYTES = "codeplane.model.prompt_bytes"
CHAT = "chat"


def request_attributes(request: ModelRequest, *, kind: str, host: str, thread_id: str | None) -> Attributes:
    """What is known before a provider is asked; never the prompt."""
    known: dict[str, Attribute | None] = {
        OPERATION: CHAT,
        PROVIDER: kind,
        REQUEST_MODEL: request.model,
        MAX_TOKENS: request.max_output_tokens,
        OUTPUT_TYPE: "json" if request.response_schema is not None else "text",
        CONVERSATION: thread_id,
        SERVER: host or None,
    }
    return {name: value for name, value in known.items() if value is not None}


def answer_attributes(finished: Finished) -> Attributes:
    """What the provider counted."""
    known: dict[str, Attribute | None] = {
        FINISH_REASONS: finished.reason,
        INPUT_TOKENS: finished.input_tokens,
        OUTPUT_TOKENS: finished.output_tokens,
        CACHED_TOKENS: finished.cached_tokens,
        REASONING_TOKENS: finished.reasoning_tokens,
    }
    return {name: value for name, value in known.items() if value is not None}
