"""Which models may be asked: the owner's list, and the way from a name to a provider."""

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from codeplane.kernel.clock import Clock
from codeplane.kernel.config import ModelPrice, ModelProviderConfig, ModelsConfig
from codeplane.kernel.errors import ConfigInvalid, ProviderDenied
from codeplane.kernel.model_provider import ModelProvider
from codeplane.work.models.rate_cap import RateCap

ADD_HINT = "add one, as in: cpl models add ollama --model MODEL, or: cpl models add openai --model MODEL --external"
_SHOWN = 20
# The model of a provider that the program around brings along.
BROUGHT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEntry:
    """A configured provider and how it is reached."""

    config: ModelProviderConfig
    provider: ModelProvider
    # Empty for a model in this process.
    host: str
    is_external: bool
    # The key that is wanted and not there, as a person would set it.
    missing_key: str
    has_key: bool
    cap: RateCap

    def price(self, model: str) -> ModelPrice | None:
        """What a model of it costs; None when that is not known."""
        if not self.host:
            return ModelPrice(model=model, input=0, output=0)
        return next((price for price in self.config.prices if price.model == model), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One model of one provider."""

    entry: ProviderEntry
    model: str

    @property
    def name(self) -> str:
        """The name that callers use."""
        return f"{self.entry.config.name}/{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A provider as it was built, and what was found out about its key."""

    provider: ModelProvider
    address: str
    missing_key: str = ""
    has_key: bool = False


class Routes:
    """Finds the models that a call may ask; nothing but the owner's settings adds to them."""

    def __init__(
        self,
        config: ModelsConfig,
        *,
        connect: Callable[[ModelProviderConfig], Connection],
        clock: Clock,
        brought: Mapping[str, ModelProvider] | None = None,
    ) -> None:
        """`brought` are providers by name that the program around brings along, each with one model, `default`."""
        self._config = config
        entries = [_entry(provider, connect(provider), clock) for provider in config.providers]
        for name, provider in (brought or {}).items():
            settings = ModelProviderConfig(name=name, kind="embedded", models=(BROUGHT,), calls_per_minute=0)
            entries.append(_entry(settings, Connection(provider=provider, address=""), clock))
        self.entries: Mapping[str, ProviderEntry] = {entry.config.name: entry for entry in entries}
        self._check()

    @property
    def default(self) -> str:
        """The model of calls that name none; empty when there is none."""
        return self._config.default or next(iter(self.model_names()), "")

    def model_names(self) -> list[str]:
        """The models on the owner's list, by name; patterns in it stand for those that the providers name."""
        named = [f"{entry.config.name}/{model}" for entry in self.entries.values() for model in entry.config.models]
        exact = [name for name in self._config.allow if "*" not in name]
        return [name for name in dict.fromkeys((*named, *exact)) if self.is_allowed(name)]

    def is_allowed(self, name: str) -> bool:
        """Whether a model is on the owner's list."""
        entry = self.entries.get(name.partition("/")[0])
        if entry is None:
            return False
        if self._config.allow:
            return any(fnmatchcase(name, pattern) for pattern in self._config.allow)
        return name.partition("/")[2] in entry.config.models

    def resolve(self, name: str, *, local_only: bool = False) -> list[Route]:
        """The model of that name and those asked instead when it fails; ProviderDenied when it may not be asked."""
        wanted = name or self.default
        if not wanted:
            raise ProviderDenied("no model is configured", hint=ADD_HINT)
        first = self._route(wanted)
        if reason := self._outside(first, local_only=local_only):
            raise ProviderDenied(
                f"{wanted} is on another machine ({first.entry.host}), and {reason}",
                hint="ask a local model, or the owner sets models.external: true in their own settings",
                details={"model": wanted, "host": first.entry.host},
            )
        others = [self._route(other) for other in self._config.fallbacks.get(wanted, ()) if other != wanted]
        return [first, *(route for route in others if not self._outside(route, local_only=local_only))]

    def fallbacks(self, name: str) -> tuple[str, ...]:
        """The models that are asked when one fails."""
        return self._config.fallbacks.get(name, ())

    async def close(self) -> None:
        """Close the connections of all providers."""
        for entry in self.entries.values():
            await entry.provider.close()

    def _route(self, name: str) -> Route:
        provider, _, model = name.partition("/")
        entry = self.entries.get(provider)
        if entry is None or not model or not self.is_allowed(name):
            listed = self.model_names()
            raise ProviderDenied(
                f"{name[:200]!r} is not on the owner's list of models",
                hint=f"ask one of: {', '.join(listed[:_SHOWN])}" if listed else ADD_HINT,
                details={"model": name[:200], "allowed": list(listed[:_SHOWN])},
            )
        return Route(entry=entry, model=model)

    def _outside(self, route: Route, *, local_only: bool) -> str:
        """Why a model on another machine may not be asked."""
        if not route.entry.is_external:
            return ""
        if local_only:
            return "this call asks for a local one"
        return "" if self._config.external else "models.external is off"

    def _check(self) -> None:
        """Refuse settings that name what is not there: a fallback would fail only when it is needed."""
        config = self._config
        for pattern in config.allow:
            if pattern.partition("/")[0] not in self.entries or "/" not in pattern:
                raise ConfigInvalid(
                    f"models.allow names {pattern!r}, which is no model of a provider",
                    hint=f"write provider/model or provider/*; providers: {', '.join(self.entries) or 'none'}",
                )
        chains = [(f"models.fallbacks.{name}", (name, *others)) for name, others in config.fallbacks.items()]
        for setting, names in [("models.default", (config.default,) if config.default else ()), *chains]:
            for name in names:
                if not self.is_allowed(name):
                    raise ConfigInvalid(
                        f"{setting} names {name!r}, which is not among the models that may be asked",
                        hint=f"use one of: {', '.join(self.model_names()[:_SHOWN]) or 'none is configured'}",
                    )


def _entry(config: ModelProviderConfig, connection: Connection, clock: Clock) -> ProviderEntry:
    host = _host(config, connection) if connection.address else ""
    return ProviderEntry(
        config=config,
        provider=connection.provider,
        host=host,
        is_external=bool(host) and not _is_loopback(host),
        missing_key=connection.missing_key,
        has_key=connection.has_key,
        cap=RateCap(config.calls_per_minute, clock=clock),
    )


def _host(config: ModelProviderConfig, connection: Connection) -> str:
    url = urlsplit(connection.address)
    try:
        url.port  # noqa: B018  # raises for one that is no number
    except ValueError as error:
        raise ConfigInvalid(f"models.providers: {config.name}: base_url: {error}") from error
    if url.scheme not in ("http", "https") or not url.hostname or url.username or url.query or url.fragment:
        raise ConfigInvalid(
            f"models.providers: {config.name}: base_url is not an http or https address",
            hint="such as http://127.0.0.1:11434/v1",
        )
    if url.scheme == "http" and connection.has_key and not _is_loopback(url.hostname):
        raise ConfigInvalid(
            f"models.providers: {config.name}: the key would go to {url.hostname} in the clear",
            hint="use https, or an endpoint on this machine",
        )
    return url.hostname


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def hosts(routes: Sequence[Route]) -> tuple[str, ...]:
    """The other machines that a call may reach."""
    return tuple(dict.fromkeys(route.entry.host for route in routes if route.entry.is_external))
