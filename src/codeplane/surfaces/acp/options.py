"""Modes and options of a session: what is asked about, and which model answers."""

from collections.abc import Sequence

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.acp.door import AcpDoor

MODE, MODEL = "mode", "model"
DEFAULT = "default"
# From the laxest to the strictest.
_MODES = {
    "automatic": ("Automatic", "Everything runs but shell commands, which are asked about."),
    "trust": ("Trust", "Reads and changes of files run; what destroys or leaves the machine is asked about."),
    "always": ("Always ask", "Every change is asked about."),
}


class SessionOptions:
    """The options that a client may choose from."""

    def __init__(self, door: AcpDoor, *, mode: str) -> None:
        """`mode` is the owner's setting, which a session can only tighten."""
        self._door = door
        self._mode = mode

    def mode_state(self, thread: JsonObject) -> JsonObject:
        """Return the modes of version 1: the current one, and those that are at least as strict as the setting."""
        return {
            "currentModeId": self.mode_of(thread),
            "availableModes": [
                {"id": name, "name": _MODES[name][0], "description": _MODES[name][1]} for name in self._modes()
            ],
        }

    def mode_of(self, thread: JsonObject) -> str:
        """Return the mode of a thread."""
        return str(thread.get("mode") or self._mode)

    async def config_options(self, thread: JsonObject) -> list[JsonObject]:
        """Return the options with their values."""
        return [
            _select(
                MODE,
                "Approvals",
                self.mode_of(thread),
                [(name, _MODES[name][0], _MODES[name][1]) for name in self._modes()],
            ),
            _select(MODEL, "Model", str(thread.get("model") or DEFAULT), await self._models()),
        ]

    async def choose(self, thread_id: str, option: str, value: str) -> JsonObject:
        """Set an option; return the thread as it is then."""
        if option == MODEL:
            models = [name for name, _, _ in await self._models()]
            if value not in models:
                raise InvalidArgument(f"there is no model {value[:100]!r}", hint=f"one of {', '.join(models)}")
            chosen: JsonObject = {"model": "" if value == DEFAULT else value}
        elif option == MODE:
            if value not in _MODES:
                raise InvalidArgument(f"there is no mode {value[:100]!r}", hint=f"one of {', '.join(self._modes())}")
            chosen = {"mode": value}
        else:
            raise InvalidArgument(f"there is no option {option[:100]!r}", hint=f"{MODE} or {MODEL}")
        return await self._door.call("thread.configure", {"thread_id": thread_id, **chosen})

    def _modes(self) -> Sequence[str]:
        names = list(_MODES)
        return names[names.index(self._mode) :]

    async def _models(self) -> list[tuple[str, str, str]]:
        listed = await self._door.call("model.list", {})
        default = str(listed.get("default") or "")
        first = f"Default: {default}" if default else "Default: no model, answers come from the index"
        found = [(DEFAULT, first, "")]
        providers = listed.get("providers")
        for provider in providers if isinstance(providers, list) else ():
            for model in provider["models"]:
                if model["allowed"]:
                    found.append((model["model"], model["model"], ""))
        return found


def _select(name: str, title: str, current: str, values: Sequence[tuple[str, str, str]]) -> JsonObject:
    return {
        "id": name,
        "name": title,
        "category": name,
        "type": "select",
        "currentValue": current,
        "options": [
            {"value": value, "name": label, **({"description": words} if words else {})}
            for value, label, words in values
        ],
    }
