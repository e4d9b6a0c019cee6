"""Settings changed in their files since the start, which take effect after a restart."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from codeplane.kernel.config import Config
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject, JsonValue

_Marks = tuple[tuple[int, int, int] | None, ...]


class ChangedSettings:
    """Rereads changed files and reports what differs from the settings in force."""

    def __init__(self, *, in_force: Config, files: Sequence[Path], read: Callable[[], Config]) -> None:
        self._in_force = dict(_flat(in_force.model_dump(mode="json"), ""))
        self._files = tuple(files)
        self._read = read
        self._marks: _Marks = ()
        self._last: JsonObject = {}

    def status(self) -> JsonObject:
        """Return `changed_settings` by name, and `settings_problem` if no server could start with them; blocks."""
        marks = tuple(map(_mark, self._files))
        if marks != self._marks:
            self._last = self._compare()
            self._marks = marks
        return self._last

    def _compare(self) -> JsonObject:
        try:
            fresh = dict(_flat(self._read().model_dump(mode="json"), ""))
        except ConfigInvalid as error:
            return {"changed_settings": [], "settings_problem": error.message}
        changed = sorted(key for key in {*fresh, *self._in_force} if fresh.get(key) != self._in_force.get(key))
        return {"changed_settings": list[JsonValue](changed)}


def _flat(values: JsonObject, prefix: str) -> Iterator[tuple[str, JsonValue]]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
