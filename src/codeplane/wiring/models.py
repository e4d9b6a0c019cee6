"""Language models: the providers in the settings, and which models may be used."""

from codeplane.adapters.anthropic_messages import BASE_URL, AnthropicMessages
from codeplane.adapters.embedded_model import EmbeddedModel
from codeplane.adapters.openai_chat import OpenAIChat
from codeplane.kernel.config import ModelProviderConfig
from codeplane.kernel.conveyor import Conveyor
from codeplane.wiring.part import House, Part, PlaneWiring
from codeplane.work.models.calls import ModelCalls
from codeplane.work.models.operations import ModelOperations
from codeplane.work.models.route import Connection, Routes
from codeplane.work.models.usage import ModelUsage
from codeplane.work.models.usage_table import ModelUsageTable
from codeplane.work.turns.turn_run import Models


class ModelsWiring(PlaneWiring):
    """Builds a provider for each that is configured; none connects or imports anything slow before it is asked."""

    tables = (ModelUsageTable,)

    def __init__(self, house: House) -> None:
        super().__init__(house)
        foundation, config = self.foundation, self.foundation.config.models
        self._routes = Routes(config, connect=self._connect, clock=foundation.clock, brought=foundation.models)
        self._usage = ModelUsage(log=foundation.log, clock=foundation.clock, ceilings=config.ceilings)
        self._calls = ModelCalls(log=foundation.log, clock=foundation.clock, config=config, usage=self._usage)

    @property
    def choice(self) -> Models:
        """The models that turns can use."""
        routes = self._routes
        return Models(
            # One that is named and may not be asked is refused, not passed over.
            is_configured=lambda model: bool(model or routes.default),
            fallback=lambda model: next(iter(routes.fallbacks(model or routes.default)), ""),
        )

    def part(self, conveyor: Conveyor) -> Part:
        config = self.foundation.config
        operations = ModelOperations(
            routes=self._routes,
            calls=self._calls,
            usage=self._usage,
            config=config.models,
            shows_raw_reasoning=config.turns.raw_reasoning,
        )
        return Part(operations=(operations,), stop=self._routes.close)

    def _connect(self, provider: ModelProviderConfig) -> Connection:
        if provider.kind == "embedded":
            return Connection(provider=EmbeddedModel(provider.model_file), address="")
        key = self.foundation.loaded.provider_keys.get(provider.name, "")
        connect_sec = self.foundation.config.models.connect_sec
        built: AnthropicMessages | OpenAIChat
        if provider.kind == "anthropic":
            address = provider.base_url or BASE_URL
            built = AnthropicMessages.at(
                address,
                key=key,
                connect_sec=connect_sec,
                has_structured_output=provider.structured_output,
                thinking_budget=provider.thinking_budget_tokens,
                extra=dict(provider.extra),
            )
        else:
            address = provider.base_url
            built = OpenAIChat.at(
                address,
                key=key,
                connect_sec=connect_sec,
                has_structured_output=provider.structured_output,
                extra=dict(provider.extra),
            )
        return Connection(
            provider=built,
            address=address or "none",
            missing_key=provider.api_key_env if not key else "",
            has_key=bool(key),
        )
