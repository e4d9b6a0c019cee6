"""`config.show`: the settings in force, and where their values came from."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel

from codeplane.kernel.call import Call
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Request, Result, Risk, operation

DEFAULT = "default"


class ConfigRequest(Request):
    """No arguments."""


class Setting(Result):
    """One setting."""

    name: str
    value: JsonValue
    came_from: str
    description: str = ""


class ClientState(Result):
    """Whether a coding client is registered with this server."""

    name: str
    state: str
    detail: str = ""


class Settings(Result):
    """All settings, by name, and the clients on this machine."""

    settings: tuple[Setting, ...]
    sources: tuple[str, ...]
    clients: tuple[ClientState, ...] = ()

    def text(self) -> str:
        return "\n".join(f"{setting.name} = {setting.value!r}  ({setting.came_from})" for setting in self.settings)


class ConfigOperations:
    """Shows the settings, which are read once, at the start."""

    def __init__(
        self,
        *,
        config: BaseModel,
        origins: Mapping[str, str],
        sources: Sequence[str],
        clients: Callable[[], Sequence[tuple[str, str, str]]] = tuple,
    ) -> None:
        """`clients` returns name, state and detail of each coding client on this machine."""
        self._config = config
        self._origins = origins
        self._sources = tuple(sources)
        self._clients = clients

    @operation("config.show", risk=Risk.READ)
    async def show(self, call: Call, request: ConfigRequest) -> Settings:
        """Every setting that is in force, where its value came from, and which coding clients are registered."""
        # It reads the clients' own files.
        clients = await asyncio.to_thread(self._clients)
        return Settings(
            settings=tuple(self._flatten(type(self._config), self._config.model_dump(mode="json"), "")),
            sources=self._sources,
            clients=tuple(ClientState(name=name, state=state, detail=detail) for name, state, detail in clients),
        )

    def _flatten(self, model: type[BaseModel], values: JsonObject, prefix: str) -> list[Setting]:
        settings: list[Setting] = []
        for name, field in model.model_fields.items():
            key, value = f"{prefix}{name}", values.get(name)
            inner = field.annotation
            if isinstance(inner, type) and issubclass(inner, BaseModel) and isinstance(value, dict):
                settings += self._flatten(inner, value, f"{key}.")
            else:
                settings.append(
                    Setting(name=key, value=value, came_from=self._origin(key), description=field.description or "")
                )
        return settings

    def _origin(self, key: str) -> str:
        """Where a setting, or its section, was set."""
        parts = key.split(".")
        for length in range(len(parts), 0, -1):
            if origin := self._origins.get(".".join(parts[:length])):
                return origin
        return DEFAULT
