"""A turn on a terminal: text as it comes, a line for each tool, and how it ended."""

import os
import sys
from dataclasses import dataclass, field
from typing import TextIO

from codeplane.kernel.file_diff import lines_of_hunks
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.markdown_style import MarkdownStyle
from codeplane.surfaces.cli.pager import PATCH_COLOURS, paint
from codeplane.surfaces.cli.terminal import escape_controls

_MAX_COMMAND = 100
_MAX_DIFF_LINES = 60
_DIM = "\x1b[2m"
_SIGNS = {"created": "A", "updated": "M", "deleted": "D", "moved": "R"}


@dataclass
class TurnView:
    """Prints the events of a turn: what the assistant says on `out`, everything else on `aside`."""

    out: TextIO = field(default_factory=lambda: sys.stdout)
    aside: TextIO = field(default_factory=lambda: sys.stderr)
    shows_asides: bool = True
    # The assistant's last message, and why the turn failed.
    answer: str = ""
    failure: str = ""
    _segment: str = ""
    _printed: str = ""
    _style: MarkdownStyle = field(default_factory=MarkdownStyle)

    def show(self, event: JsonObject) -> None:
        """Print one event."""
        payload = event["payload"]
        assert isinstance(payload, dict)
        match str(event["type"]):
            case "assistant.text_delta":
                self._text(str(payload["segment_id"]), str(payload["delta"]))
            case "assistant.message_committed":
                self._commit(str(payload["full_text"]))
            case "assistant.thinking_delta":
                self._say(str(payload["delta"]), end="" if not payload.get("redacted") else "\n")
            case "tool.started" | "thread.shell.started":
                self._say(f"· {str(payload.get('display_command') or payload.get('tool_name'))[:_MAX_COMMAND]}")
            case "thread.shell.output":
                self._say(str(payload["chunk"]), end="")
            case "tool.finished" if payload.get("status") != "ok":
                self._say(f"  {payload.get('status')}")
            case "model.fallback":
                self._say(f"  {payload['from']} failed ({payload['reason']}); asking {payload['to']}")
            case "model.repair_attempted":
                self._end_line()
                self._printed = ""
                self._say(f"  asking again: {payload.get('problem')}")
            case "agent.started":
                self._say(f"  {payload['agent']} works in a tree of its own")
            case "agent.problem":
                self._say(f"  {payload['text']}")
            case "agent.changed" if payload.get("files"):
                self._end_line()
                self._say(f"  changed {payload['files']} files in its own tree: /diff, then /apply or /discard")
            case "turn.resumed":
                self._say(f"  going on ({payload['resumed_reason']})")
            case "turn.failed":
                self._end_line()
                self.failure = f"{payload['code']}: {payload['message']}"

    def show_change(self, change: JsonObject) -> None:
        """Print what a tool changed, as a diff of each file."""
        files = change["files"]
        assert isinstance(files, list)
        lines = [line for file in files if isinstance(file, dict) for line in _file_lines(file)]
        for line in lines[:_MAX_DIFF_LINES]:
            self._say(line, colour=PATCH_COLOURS.get(line[:1], ""))
        pagination = change["pagination"]
        if len(lines) > _MAX_DIFF_LINES or (isinstance(pagination, dict) and pagination["next_cursor"]):
            self._say(f"  … all of it: cpl call mutation.show mutation_id={change['mutation_id']}")

    def _text(self, segment: str, delta: str) -> None:
        if segment != self._segment:
            self._end_line()
            # A repeated attempt supersedes what was printed of the one before.
            if self._printed and segment.partition("@")[0] == self._segment.partition("@")[0]:
                self._say("  (again from the beginning)")
            self._segment, self._printed = segment, ""
        self._write(delta)
        self._printed += delta

    def _end_line(self) -> None:
        """Begin a new line after unfinished text."""
        if self._printed and not self._printed.endswith("\n"):
            self._end_text()
            self._printed += "\n"

    def _commit(self, text: str) -> None:
        """Print what deltas did not bring: the whole, or what is left of it."""
        self.answer = text
        if not self._printed:
            self._write(text)
        elif text.startswith(self._printed):
            self._write(text[len(self._printed) :])
        self._end_text()
        self._printed = self._segment = ""

    def _write(self, text: str) -> None:
        if self.out.isatty():
            text = escape_controls(text)
            text = text if "NO_COLOR" in os.environ else self._style.take(text)
        self.out.write(text)
        self.out.flush()

    def _end_text(self) -> None:
        """End a text with its line, and every colour in it."""
        self.out.write(f"{self._style.finish()}\n")
        self.out.flush()

    def _say(self, text: str, end: str = "\n", colour: str = "") -> None:
        if self.shows_asides:
            self.aside.write(paint(escape_controls(text), colour or _DIM, self.aside.isatty()) + end)
            self.aside.flush()


def _file_lines(file: JsonObject) -> list[str]:
    """A file of a change: its name and the lines of its diff."""
    moved = f"{file['old_path']} → " if file.get("old_path") else ""
    note = f" [{file['note']}]" if file.get("note") else ""
    # Without the names of the file, which the first line has already.
    diff = [line.removesuffix("\n") for line in lines_of_hunks(str(file.get("diff") or ""))]
    return [f"  {_SIGNS[str(file['action'])]} {moved}{file['path']}{note}", *diff]
