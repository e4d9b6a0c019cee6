"""The operations on models: call one, list and test them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from codeplane.kernel.call import Call
from codeplane.kernel.config import ModelPrice, ModelsConfig
from codeplane.kernel.errors import InvalidArgument, ProviderDenied
from codeplane.kernel.model_provider import ModelMessage, ModelRequest, ProviderFault
from codeplane.kernel.operation import Assessment, Preview, Risk, assesses, operation, previews
from codeplane.kernel.plural import plural
from codeplane.work.models.attempt import Prompt
from codeplane.work.models.calls import ModelCalls
from codeplane.work.models.route import ADD_HINT, ProviderEntry, Route, Routes, hosts
from codeplane.work.models.schema import (
    CallRequest,
    ListRequest,
    ModelItem,
    ModelList,
    ModelView,
    ProviderView,
    TestRequest,
    TestResult,
    UsageView,
)
from codeplane.work.models.usage import MICRO, ModelUsage

_QUESTION = "Answer with the single word: ready"
_TEST_TOKENS = 512
_LIST_SEC = 10.0
_SHOWN = 200


class ModelOperations:
    """Asks models on behalf of callers, within what the owner configured."""

    def __init__(
        self,
        *,
        routes: Routes,
        calls: ModelCalls,
        usage: ModelUsage,
        config: ModelsConfig,
        shows_raw_reasoning: bool,
    ) -> None:
        self._shows_raw_reasoning = shows_raw_reasoning
        self._routes = routes
        self._calls = calls
        self._usage = usage
        self._config = config

    @operation("model.call", risk=Risk.READ, capability="execute_tools", timeout_sec=0)
    async def call(self, call: Call, request: CallRequest) -> AsyncIterator[ModelItem]:
        """Ask a language model and stream its answer: text, thinking, whole tool calls, and last `finish` with what it
        used. After `retry` or `fallback` the answer starts over: what came before counts no longer."""
        routes = self._allowed_routes(request)
        prompt = self._prompt(request)
        async with aclosing(self._calls.stream(call, prompt, routes)) as items:
            async for item in items:
                yield item

    @assesses("model.call")
    def assess(self, request: CallRequest) -> Assessment:
        """A read that names the machines it reaches; ProviderDenied for what is not on the owner's list.

        Nothing of the repository or elsewhere is changed, and what may be sent is decided here, by the owner's
        settings: so it is no outward call in the sense of the rules, also after untrusted content was read.
        """
        routes = self._allowed_routes(request)
        return Assessment(
            risk=Risk.READ,
            effects=(f"asks {routes[0].name}",),
            remotes=hosts(routes),
            remote_names=tuple(route.name for route in routes),
        )

    @previews("model.call")
    async def preview(self, request: CallRequest) -> Preview:
        """Which model is asked, where, and how much it is sent: never what."""
        first, *others = self._allowed_routes(request)
        where = first.entry.host or "this process"
        size = sum(len(message.text) for message in request.messages)
        sent = (
            f"{plural(len(request.messages), 'message')} of {size:,} characters, {plural(len(request.tools), 'tool')}"
        )
        lines = [f"sends {sent}", *(f"if it fails: {route.name} at {route.entry.host}" for route in others)]
        return Preview(summary=f"asks {first.name} at {where}", body="\n".join(lines))

    @operation("model.list", risk=Risk.READ)
    async def list_models(self, call: Call, request: ListRequest) -> ModelList:
        """The models that may be asked, what they cost, what was used today, and what is wrong with the settings."""
        used, most = await self._usage.today(), self._usage.ceilings
        hints = [] if self._routes.entries else [ADD_HINT]
        return ModelList(
            providers=tuple(self._provider(entry) for entry in self._routes.entries.values()),
            default=self._routes.default,
            external=self._config.external,
            today=UsageView(
                calls=used.calls,
                failures=used.failures,
                tokens=used.tokens,
                cost_usd=used.micro_usd / MICRO,
                unpriced_calls=used.unpriced_calls,
                day_usd=most.day_usd,
                day_tokens=most.day_tokens,
            ),
            hints=tuple(hints),
        )

    @operation("model.test", risk=Risk.READ, capability="execute_tools", timeout_sec=0, people=True)
    async def test(self, call: Call, request: TestRequest) -> TestResult:
        """Ask a model a short question, without fallbacks, and say how it answers."""
        (route, *_) = self._routes.resolve(request.model)
        asked = ModelRequest(
            model=route.model,
            messages=(ModelMessage(role="user", text=_QUESTION),),
            max_output_tokens=min(_TEST_TOKENS, self._config.max_output_tokens),
        )
        answer, finish = "", ModelItem(kind="finish")
        async with aclosing(self._calls.stream(call, Prompt.of(asked), [route])) as items:
            async for item in items:
                answer = "" if item.kind == "retry" else answer + (item.delta or "" if item.kind == "text" else "")
                finish = item
        return TestResult(
            model=route.name,
            answer=answer.strip()[:_SHOWN],
            reason=finish.reason or "",
            first_token_ms=finish.first_token_ms or 0,
            duration_ms=finish.duration_ms or 0,
            input_tokens=finish.input_tokens,
            output_tokens=finish.output_tokens,
            cost_usd=finish.cost_usd,
            listed=await self._is_listed(route),
        )

    def _allowed_routes(self, request: CallRequest) -> Sequence[Route]:
        routes = self._routes.resolve(request.model, local_only=request.local_only)
        if request.reasoning == "raw" and not self._shows_raw_reasoning:
            raise ProviderDenied(
                "a model's reasoning in its own words is not shown here",
                hint="ask with reasoning=summary, or the owner sets turns.raw_reasoning: true",
            )
        return routes

    def _prompt(self, request: CallRequest) -> Prompt:
        messages, tools, hashed, size = request.prompt
        if all(message.role == "system" for message in messages):
            raise InvalidArgument("messages: there is none of a user", hint="add one with role user")
        most = self._config.max_output_tokens
        asked = ModelRequest(
            model=request.model,
            messages=messages,
            tools=tools,
            max_output_tokens=min(request.max_output_tokens or most, most),
            temperature=request.temperature,
            reasoning=request.reasoning,
            response_schema=request.response_schema,
        )
        return Prompt(request=asked, hash=f"sha256:{hashed}", size=size)

    async def _is_listed(self, route: Route) -> bool | None:
        try:
            async with asyncio.timeout(_LIST_SEC):
                return route.model in await route.entry.provider.models()
        except (ProviderFault, TimeoutError):
            # Not every endpoint has a list.
            return None

    def _provider(self, entry: ProviderEntry) -> ProviderView:
        config = entry.config
        names = [name for name in self._routes.model_names() if name.startswith(f"{config.name}/")]
        refused = [f"{config.name}/{model}" for model in config.models if f"{config.name}/{model}" not in names]
        problems: list[str] = []
        if entry.missing_key:
            problems.append(f"{entry.missing_key} is not set where the server was started")
        if entry.is_external and not self._config.external:
            problems.append("it is on another machine, and models.external is off")
        if not names:
            problems.append("none of its models may be asked: name some in its `models`, or in models.allow")
        unpriced = [name for name in names if entry.is_external and _price(entry, name) is None]
        if unpriced and self._usage.ceilings.day_usd:
            problems.append(f"without a price they count towards no ceiling in dollars: {', '.join(unpriced)}")
        return ProviderView(
            name=config.name,
            kind=config.kind,
            address=config.base_url or entry.host or "this process",
            external=entry.is_external,
            key="missing" if entry.missing_key else "set" if entry.has_key else "none",
            calls_per_minute=config.calls_per_minute,
            models=tuple(self._model(entry, name, allowed=name in names) for name in (*names, *refused)),
            problems=tuple(problems),
        )

    def _model(self, entry: ProviderEntry, name: str, *, allowed: bool) -> ModelView:
        price = _price(entry, name)
        return ModelView(
            model=name,
            default=name == self._routes.default,
            allowed=allowed,
            input_usd=price.input if price is not None else None,
            output_usd=price.output if price is not None else None,
            fallbacks=self._routes.fallbacks(name),
        )


def _price(entry: ProviderEntry, name: str) -> ModelPrice | None:
    return entry.price(name.partition("/")[2])
