"""`config.show`: every setting in force, and where its value came from."""

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
    """Whether a coding client knows this server."""

    name: str
    state: str
    detail: str = ""


class Settings(Result):
    """All settings, by name, and the clients on this machine."""

    settings: tuple[Setting, ...]
    sources: tuple[str, ...]
    clients: tuple[ClientState, ...] = ()

    def text(self) -> str:
        return "\n".join(f"{one.name} = {one.value!r}  ({one.came_from})" for one in self.settings)


class ConfigOperations:
    """What the settings are; they are read once, at the start."""

    def __init__(
        self,
        *,
        config: BaseModel,
        origins: Mapping[str, str],
        sources: Sequence[str],
        clients: Callable[[], Sequence[tuple[str, str, str]]] = tuple,
    ) -> None:
        """`clients` tells name, state and detail of each coding client on this machine."""
        self._config = config
        self._origins = origins
        self._sources = tuple(sources)
        self._clients = clients

    @operation("config.show", risk=Risk.READ)
    async def show(self, call: Call, request: ConfigRequest) -> Settings:
        """Every setting that is in force, where its value came from, and which coding clients are registered."""
        # It looks into the clients' own files.
        clients = await asyncio.to_thread(self._clients)
        return Settings(
            settings=tuple(self._told(type(self._config), self._config.model_dump(mode="json"), "")),
            sources=self._sources,
            clients=tuple(ClientState(name=name, state=state, detail=detail) for name, state, detail in clients),
        )

    def _told(self, model: type[BaseModel], values: JsonObject, prefix: str) -> list[Setting]:
        told: list[Setting] = []
        for name, field in model.model_fields.items():
            key, value = f"{prefix}{name}", values.get(name)
            inner = field.annotation
            if isinstance(inner, type) and issubclass(inner, BaseModel) and isinstance(value, dict):
                told += self._told(inner, value, f"{key}.")
            else:
                told.append(
                    Setting(name=key, value=value, came_from=self._origin(key), description=field.description or "")
                )
        return told

    def _origin(self, key: str) -> str:
        """Where a setting was given, itself or as part of its section."""
        parts = key.split(".")
        for length in range(len(parts), 0, -1):
            if found := self._origins.get(".".join(parts[:length])):
                return found
        return DEFAULT
