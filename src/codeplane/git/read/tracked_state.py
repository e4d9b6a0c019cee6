"""What git says of single files: as committed, changed, or not in it."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from codeplane.git.read.reading import Reading
from codeplane.git.read.status import status
from codeplane.index.files.paths import shown
from codeplane.kernel.errors import CodePlaneError

GitStatus = Literal["clean", "modified", "untracked"]


def git_status_of(reading: Reading) -> Callable[[Sequence[str]], Awaitable[Mapping[str, GitStatus]]]:
    """A function that answers for some paths; it leaves out those that git cannot be asked about."""

    async def states(paths: Sequence[str]) -> Mapping[str, GitStatus]:
        try:
            asked = reading.pathspecs(paths)
            changed = await status(reading, asked, untracked="all")
            tracked = await reading.run("ls-files", "-z", "--", *asked)
        except CodePlaneError:
            return {}
        found: dict[str, GitStatus] = dict.fromkeys(paths, "untracked")
        found |= {shown(os.fsdecode(name)): "clean" for name in tracked.records()}
        found |= {shown(one.path): "modified" for one in changed.records if not one.is_untracked}
        return {path: found[path] for path in paths}

    return states
