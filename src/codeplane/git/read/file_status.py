"""The git status of single files: clean, modified or untracked."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from codeplane.git.read.reader import GitReader
from codeplane.git.read.status import status
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import CodePlaneError

GitStatus = Literal["clean", "modified", "untracked"]


def file_status_reader(reader: GitReader) -> Callable[[Sequence[str]], Awaitable[Mapping[str, GitStatus]]]:
    """Return a function that gives the status of paths, or nothing when git fails."""

    async def states(paths: Sequence[str]) -> Mapping[str, GitStatus]:
        try:
            pathspecs = reader.pathspecs(paths)
            changed = await status(reader, pathspecs, untracked="all")
            tracked = await reader.run("ls-files", "-z", "--", *pathspecs)
        except CodePlaneError:
            return {}
        by_path: dict[str, GitStatus] = dict.fromkeys(paths, "untracked")
        by_path |= {path_text(os.fsdecode(name)): "clean" for name in tracked.records()}
        by_path |= {path_text(record.path): "modified" for record in changed.records if not record.is_untracked}
        return {path: by_path[path] for path in paths}

    return states
