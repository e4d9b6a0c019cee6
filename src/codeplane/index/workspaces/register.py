"""The register of attached workspaces, a small file."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from codeplane.index.workspaces.workspace_name import check_name
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject

_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedWorkspace:
    """An attached workspace: a local folder, or a clone of a remote."""

    name: str
    root: Path
    url: str | None = None
    # It is detached when another needs its place.
    temporary: bool = False


class Register:
    """Reads and writes the register; unreadable entries are logged and never prevent the start."""

    def __init__(
        self,
        path: Path,
        *,
        write: Callable[[Path, str], None],
        clone_at: Callable[[str], Path],
        refuse: Callable[[Path], None],
        logger: Callable[[str, JsonObject], None],
    ) -> None:
        self._path = path
        self._write = write
        self._clone_at = clone_at
        self._refuse = refuse
        self._log_note = logger

    def load(self) -> dict[str, AttachedWorkspace]:
        """All attached workspaces, by name."""
        try:
            document = json.loads(self._path.read_bytes())
            entries = document["workspaces"]
            if document["version"] != _VERSION or not isinstance(entries, list):
                raise ValueError(f"not of version {_VERSION}")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            self._log_note("workspaces.json cannot be read; nothing is attached", {"reason": f"{error}"[:300]})
            self._set_aside()
            return {}
        workspaces: dict[str, AttachedWorkspace] = {}
        for entry in entries:
            try:
                attached = self._read(entry)
            except (ValueError, KeyError, TypeError, CodePlaneError) as error:
                self._log_note("an entry of workspaces.json was left out", {"reason": f"{error}"[:300]})
                continue
            workspaces[attached.name] = attached
        return workspaces

    def save(self, attached: Iterable[AttachedWorkspace]) -> None:
        """Write all workspaces atomically."""
        # A clone lies where its name says, so that the repository can be moved with it.
        entries = [
            {
                "name": workspace.name,
                **({"url": workspace.url} if workspace.url else {"root": str(workspace.root)}),
                **({"temporary": True} if workspace.temporary else {}),
            }
            for workspace in attached
        ]
        self._write(self._path, json.dumps({"version": _VERSION, "workspaces": entries}, indent=1) + "\n")

    def _read(self, entry: JsonObject) -> AttachedWorkspace:
        name, root, url = entry["name"], entry.get("root"), entry.get("url")
        if not isinstance(name, str):
            raise TypeError("a name is a string")
        check_name(name)
        temporary = entry.get("temporary") is True
        if isinstance(url, str):
            return AttachedWorkspace(name=name, root=self._clone_at(name), url=url, temporary=temporary)
        if not isinstance(root, str) or not Path(root).is_absolute() or "\0" in root:
            raise ValueError(f"the root of {name} is not an absolute path")
        self._refuse(Path(root))
        return AttachedWorkspace(name=name, root=Path(root), temporary=temporary)

    def _set_aside(self) -> None:
        """Move a broken file aside before the next save overwrites it."""
        try:
            self._path.replace(self._path.with_name(f"{self._path.name}.broken"))
        except OSError as error:
            self._log_note("workspaces.json could not be set aside", {"reason": str(error)})
