"""The todo list of a rebase, and how it is passed to git without an editor."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import Field

from codeplane.git.write.commits import MAX_MESSAGE
from codeplane.git.write.revision import MAX_REF
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.operation import Request

Action = Literal["pick", "reword", "edit", "squash", "fixup", "drop"]
FOLDER = "rebase-merge"
_KEPT = "codeplane"
_COMMENT = "comment"
_JOINS = ("squash", "fixup")
# Git runs these in a shell with the file name appended; paths are passed in the environment.
_WRITE_TODO = 'f() { cp "$CODEPLANE_STEPS/todo" "$1" && cp -R "$CODEPLANE_STEPS/codeplane" "$CODEPLANE_REBASE/"; }; f'
_WRITE_MESSAGE = (
    'f() { n=$(cat "$CODEPLANE_REBASE/msgnum"); m="$CODEPLANE_REBASE/codeplane/$n"; '
    'if [ -f "$m" ]; then cp "$m" "$1"; fi; }; f'
)


class StepGiven(Request):
    """One step, as planned or changed."""

    action: Action = "pick"
    commit_sha: str = Field(min_length=4, max_length=MAX_REF)
    message: str | None = Field(None, max_length=MAX_MESSAGE, description="for reword and squash")


class PlanGiven(Request):
    """A plan, as git_rebase_plan gave it, with actions changed or steps in another order."""

    upstream: str = Field(min_length=1, max_length=MAX_REF)
    onto: str = Field("", max_length=MAX_REF, description="else upstream")
    steps: tuple[StepGiven, ...] = Field(max_length=5000)


class Todo:
    """The steps of a rebase with resolved commits."""

    def __init__(self, steps: Sequence[tuple[Action, str, str | None]]) -> None:
        self._steps = steps
        first = next((action for action, _, _ in steps if action != "drop"), None)
        if first in _JOINS:
            raise InvalidArgument(f"the first step cannot be {first}: there is nothing before it to go into")
        for action, commit, message in steps:
            if action == "reword" and not (message or "").strip():
                raise InvalidArgument(f"reword of {commit[:9]} needs a message")
            if message is not None and action not in ("reword", "squash"):
                raise InvalidArgument(f"{action} takes no message", hint="use reword to change a message")

    @contextmanager
    def write_files(self, folder: Path) -> Iterator[dict[str, str]]:
        """Write the steps and messages for git and yield the environment that leads to them."""
        with tempfile.TemporaryDirectory(prefix="codeplane-") as place:
            kept = Path(place) / _KEPT
            kept.mkdir()
            messages = self._messages()
            for number, message in messages.items():
                (kept / str(number)).write_text(message, encoding="utf-8")
            if any(line.startswith("#") for message in messages.values() for line in message.splitlines()):
                (kept / _COMMENT).touch()
            lines = [f"{action} {oid}\n" for action, oid, _ in self._steps]
            (Path(place) / "todo").write_text("".join(lines) or "noop\n")
            yield editors(folder) | {"CODEPLANE_STEPS": place, "GIT_SEQUENCE_EDITOR": _WRITE_TODO}

    @property
    def keeps_hashes(self) -> bool:
        """Whether a message has lines that git would read as comments."""
        return any(line.startswith("#") for message in self._messages().values() for line in message.splitlines())

    def _messages(self) -> dict[int, str]:
        """Return the messages by the step at which git asks for them; for a squash, the last of its run."""
        messages: dict[int, str] = {}
        pending: str | None = None
        for number, (action, _, message) in enumerate(self._steps, start=1):
            if action == "reword" and message is not None:
                messages[number] = message
            if action in _JOINS:
                pending = message if message is not None else pending
                following = [later for later, _, _ in self._steps[number:] if later != "drop"]
                if pending is not None and (not following or following[0] not in _JOINS):
                    messages[number], pending = pending, None
            elif action != "drop":
                pending = None
        return messages


def editors(folder: Path) -> dict[str, str]:
    """Return the environment in which git finds the messages of a rebase under way."""
    return {"CODEPLANE_REBASE": str(folder / FOLDER), "GIT_EDITOR": _WRITE_MESSAGE}


def comment_option(folder: Path, todo: Todo | None = None) -> list[str]:
    """Return an option for another comment sign when a message has lines that start with #."""
    if (todo is not None and todo.keeps_hashes) or (folder / FOLDER / _KEPT / _COMMENT).exists():
        return ["-c", "core.commentChar=\x01"]
    return []
