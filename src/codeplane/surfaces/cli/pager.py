"""Long answers on a terminal go through the person's pager, short ones straight to the screen."""

import os
import pydoc

PLAIN = "\x1b[0m"


def show_paged(lines: list[str]) -> None:
    """Print lines to a terminal."""
    text = "\n".join(lines)
    if text.count("\n") + 1 > os.get_terminal_size().lines - 1:
        # What less needs to pass colours through, unless the person has an opinion.
        os.environ.setdefault("LESS", "FRX")
        pydoc.pager(text)
    else:
        print(text)


def painted(text: str, how: str, colour: bool) -> str:
    """Text in a colour, where colours are wanted."""
    return f"{how}{text}{PLAIN}" if colour and how else text
