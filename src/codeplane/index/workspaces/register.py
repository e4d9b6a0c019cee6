"""Which workspaces are attached, kept in one small file that survives a restart."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from codeplane.index.workspaces.workspace_name import checked
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject

_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """One attached workspace: a folder of this machine, or a clone of a remote."""

    name: str
    root: Path
    url: str | None = None


class Register:
    """The file; what cannot be read in it is said, and never keeps the server from starting."""

    def __init__(
        self,
        path: Path,
        *,
        write: Callable[[Path, str], None],
        clone_at: Callable[[str], Path],
        refuse: Callable[[Path], None],
        said: Callable[[str, JsonObject], None],
    ) -> None:
        self._path = path
        self._write = write
        self._clone_at = clone_at
        self._refuse = refuse
        self._said = said

    def load(self) -> dict[str, Attached]:
        """Everything attached, by name."""
        try:
            document = json.loads(self._path.read_bytes())
            entries = document["workspaces"]
            if document["version"] != _VERSION or not isinstance(entries, list):
                raise ValueError(f"not of version {_VERSION}")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            self._said("workspaces.json cannot be read; nothing is attached", {"reason": f"{error}"[:300]})
            self._set_aside()
            return {}
        found: dict[str, Attached] = {}
        for entry in entries:
            try:
                attached = self._read(entry)
            except (ValueError, KeyError, TypeError, CodePlaneError) as error:
                self._said("an entry of workspaces.json was left out", {"reason": f"{error}"[:300]})
                continue
            found[attached.name] = attached
        return found

    def save(self, attached: Iterable[Attached]) -> None:
        """Write them all, as a whole or not at all."""
        # A clone lies where its name says, so that the repository can be moved with it.
        entries = [{"name": one.name, **({"url": one.url} if one.url else {"root": str(one.root)})} for one in attached]
        self._write(self._path, json.dumps({"version": _VERSION, "workspaces": entries}, indent=1) + "\n")

    def _read(self, entry: JsonObject) -> Attached:
        name, root, url = entry["name"], entry.get("root"), entry.get("url")
        if not isinstance(name, str):
            raise TypeError("a name is a string")
        checked(name)
        if isinstance(url, str):
            return Attached(name=name, root=self._clone_at(name), url=url)
        if not isinstance(root, str) or not Path(root).is_absolute() or "\0" in root:
            raise ValueError(f"the root of {name} is no absolute path")
        self._refuse(Path(root))
        return Attached(name=name, root=Path(root))

    def _set_aside(self) -> None:
        """Keep a broken file for whoever wants to mend it: the next save would write over it."""
        try:
            self._path.replace(self._path.with_name(f"{self._path.name}.broken"))
        except OSError as error:
            self._said("workspaces.json could not be set aside", {"reason": str(error)})
