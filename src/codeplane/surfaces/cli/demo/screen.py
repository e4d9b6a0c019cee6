"""The demo's output: the agent's words, calls and answers."""

import json
import os
import shutil
import sys

from codeplane.kernel.json import JsonObject

_INDENT = "      "
_LONGEST_VALUE = 44
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


class Screen:
    """Prints lines cut to the terminal's width, some of them bold."""

    def __init__(self) -> None:
        self._coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._width = shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 160

    @property
    def is_terminal(self) -> bool:
        """Whether the output is a terminal."""
        return sys.stdout.isatty()

    def step(self, number: int, say: str, tool: str, arguments: JsonObject) -> None:
        """Print the agent's words and its call."""
        asked = " ".join(f"{name}={_brief(value)}" for name, value in arguments.items())
        words, called = f"{number:>3}  {say}", f"{tool} {asked}".rstrip()
        if len(words) + 2 + len(called) <= self._width:
            self._print(f"{self._emphasise(_BOLD, words)}  {called}")
            return
        self._print(self._emphasise(_BOLD, words))
        self._print(_cut(_INDENT + called, self._width))

    def print_answer(self, text: str) -> None:
        """Print an answer."""
        for line in text.splitlines():
            self._print(self._emphasise(_DIM, _cut(_INDENT + line, self._width)))

    def note(self, text: str) -> None:
        """Print a note of the demo within a step."""
        self._print(_INDENT + text)

    def line(self, text: str = "") -> None:
        """Print any other line."""
        self._print(text)

    def _emphasise(self, weight: str, text: str) -> str:
        return f"{weight}{text}{_PLAIN}" if self._coloured else text

    def _print(self, text: str) -> None:
        print(text, flush=True)


def _brief(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return ",".join(str(item.get("path", "…")) for item in value)
    text = json.dumps(value, ensure_ascii=False)
    return _cut(text, _LONGEST_VALUE)


def _cut(text: str, width: int) -> str:
    plain = "".join(char if char.isprintable() else "?" for char in text)
    return plain if len(plain) <= max(width, 20) else plain[: max(width, 20) - 1] + "…"
