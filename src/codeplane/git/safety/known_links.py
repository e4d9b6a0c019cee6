"""The symbolic links in git's folder that are the owner's: git writes through every one that it finds."""

import json
import os
from pathlib import Path

from codeplane.git.safety.hook_watch import links_in
from codeplane.index.truth.paths import shown
from codeplane.kernel.errors import GitRefused
from codeplane.kernel.ids import new_id


class KnownLinks:
    """The links that were there when CodePlane first started on a repository; others were planted."""

    def __init__(self, record: Path) -> None:
        """`record` is a file where no agent writes."""
        self._record = record

    def refuse_new(self, shared: Path) -> None:
        """GitRefused when there is another link in the folder that the work trees of a repository share.

        The first time, those that are there are written down.
        """
        found = {os.path.relpath(place, shared): leads for place, leads in links_in(shared).items()}
        known = self._recorded()
        if known is None:
            self._write(found)
            return
        for name, leads in sorted(found.items()):
            if known.get(name) != leads:
                place = shared / name
                raise GitRefused(
                    f"git's folder has a link that was not there when CodePlane first started: {shown(name)}"
                    if leads
                    else f"git's folder has a file by which git takes settings of elsewhere: {shown(name)}",
                    hint=f"remove {shown(str(place))}; or if it is yours, remove {shown(str(self._record))}",
                )

    def _recorded(self) -> dict[str, str] | None:
        try:
            raw = json.loads(self._record.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            return {}
        links = raw.get("links") if isinstance(raw, dict) else None
        return {str(name): str(leads) for name, leads in links.items()} if isinstance(links, dict) else {}

    def _write(self, links: dict[str, str]) -> None:
        part = self._record.with_name(f".{new_id('part')}")
        part.write_text(json.dumps({"links": links}))
        part.replace(self._record)
