"""The `git.stash_list` operation."""

import re

from codeplane.git.read.commit_info import moment
from codeplane.git.read.reader import GitReader
from codeplane.kernel.call import Call
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.workspace_request import WorkspaceRequest

_MAX = 200
_FORM = ("-z", "--date=raw", "--encoding=UTF-8", "--format=tformat:%H%x00%cd%x00%gs")
_SUBJECT = re.compile(r"(?:WIP on|On) (?P<branch>.+?): (?P<message>.*)", re.DOTALL)


class StashListRequest(WorkspaceRequest):
    """Everything that is stashed."""


class Stash(Result):
    """What was put away; index 0 is the newest."""

    index: int
    oid: str
    branch: str | None
    message: str
    time: str

    def text(self) -> str:
        return f"{self.index} {self.oid[:9]} {self.time[:10]} {self.branch or 'detached'}: {self.message}"


class StashListResult(Result):
    """The stashes, newest first; `more` when there are more than are listed."""

    stashes: tuple[Stash, ...]
    more: bool = False

    def text(self) -> str:
        lines = [stash.text() for stash in self.stashes] or ["no stashes"]
        return "\n".join([*lines, *([f"[the newest {_MAX}; there are more]"] if self.more else [])])


class StashReadOperations:
    """Answer `git.stash_list`."""

    def __init__(self, *, reader: GitReader) -> None:
        self._reader = reader

    @operation("git.stash_list", risk=Risk.READ)
    async def stash_list(self, call: Call, request: StashListRequest) -> StashListResult:
        """Stash entries, newest first: index, commit, branch and message."""
        output = await self._reader.run("stash", "list", *_FORM, f"--max-count={_MAX + 1}")
        fields = [field.decode("utf-8", "backslashreplace") for field in output.records()]
        stashes = [_stash(index, *fields[at : at + 3]) for index, at in enumerate(range(0, len(fields) - 2, 3))]
        return StashListResult(stashes=tuple(stashes[:_MAX]), more=len(stashes) > _MAX)


def _stash(index: int, oid: str, when: str, subject: str) -> Stash:
    match = _SUBJECT.fullmatch(subject)
    branch = match["branch"] if match else None
    return Stash(
        index=index,
        oid=oid,
        branch=None if branch == "(no branch)" else branch,
        message=match["message"] if match else subject,
        time=moment(when),
    )
