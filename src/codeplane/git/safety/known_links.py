"""The symbolic links in git's folder that belong to the owner; git writes through all that it finds."""

import json
import os
from pathlib import Path

from codeplane.disk.git_folders import git_folders
from codeplane.git.safety.hook_watch import links_in
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import GitRefused
from codeplane.kernel.ids import new_id


class KnownLinks:
    """The links that existed when CodePlane first started on a repository; any other was planted."""

    def __init__(self, record: Path) -> None:
        """`record` is a file where no agent writes."""
        self._record = record

    def refuse_new(self, shared: Path, *, root: Path | None = None) -> None:
        """Raise GitRefused for an unknown link in the shared git folder, or when `.git` at `root` leads elsewhere now.

        The first call records the existing links.
        """
        links = {os.path.relpath(place, shared): leads for place, leads in links_in(shared).items()}
        known = self._load()
        if known is None:
            self._write(links, os.path.relpath(shared, root) if root is not None and _is_led_by_link(root) else None)
            return
        if root is not None:
            self._refuse_other(shared, root)
        for name, leads in sorted(links.items()):
            if known.get(name) != leads:
                place = shared / name
                raise GitRefused(
                    f"git's folder has a link that was not there when CodePlane first started: {path_text(name)}"
                    if leads
                    else f"git's folder has a file by which git takes settings of elsewhere: {path_text(name)}",
                    hint=f"remove {path_text(str(place))}; or if it is yours, remove {path_text(str(self._record))}",
                )

    def _refuse_other(self, shared: Path, root: Path) -> None:
        """Raise GitRefused when `.git` leads to another folder than recorded; programs can replace the link."""
        raw = self._read()
        folder = raw.get("folder") if raw is not None else None
        if isinstance(folder, str) and folder != os.path.relpath(shared, root):
            raise GitRefused(
                f".git leads to {path_text(str(shared))}, and led to {path_text(folder)} when CodePlane first started",
                hint=f"put it back; or if that is yours, remove {path_text(str(self._record))}",
            )

    def _load(self) -> dict[str, str] | None:
        raw = self._read()
        links = raw.get("links") if raw is not None else None
        known = {str(name): str(leads) for name, leads in links.items()} if isinstance(links, dict) else {}
        return known if raw is not None else None

    def _read(self) -> dict[str, object] | None:
        try:
            raw = json.loads(self._record.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            return {}
        return raw if isinstance(raw, dict) else {}

    def _write(self, links: dict[str, str], folder: str | None) -> None:
        part = self._record.with_name(f".{new_id('part')}")
        part.write_text(json.dumps({"links": links} | ({"folder": folder} if folder is not None else {})))
        part.replace(self._record)


def _is_led_by_link(root: Path) -> bool:
    return any((root / path).is_symlink() for path in (".git", *git_folders(root).paths))
