"""Paging of long answers on a terminal, and colours."""

import os
import pydoc

PLAIN = "\x1b[0m"
# Of the lines of a diff, by how they begin.
PATCH_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m", "d": "\x1b[1m"}


def show_paged(lines: list[str]) -> None:
    """Print lines to a terminal, through the pager if they do not fit."""
    text = "\n".join(lines)
    if text.count("\n") + 1 > os.get_terminal_size().lines - 1:
        # What less needs to pass colours through, unless the person has an opinion.
        os.environ.setdefault("LESS", "FRX")
        pydoc.pager(text)
    else:
        print(text)


def paint(text: str, how: str, colour: bool) -> str:
    """Return the text in a colour, if colours are on."""
    return f"{how}{text}{PLAIN}" if colour and how else text
