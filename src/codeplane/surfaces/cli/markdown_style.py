"""Markdown on a terminal while it comes: headings and bold text are bold, code is coloured; every sign stays."""

from codeplane.surfaces.cli.pager import PLAIN

_BOLD, _CODE = "\x1b[1m", "\x1b[36m"
_FENCE = "```"


class MarkdownStyle:
    """Adds colours to a text that comes in pieces, however it is cut."""

    def __init__(self) -> None:
        self._reset()

    def take(self, text: str) -> str:
        """Return the next piece with colours, as far as it can be judged."""
        self._rest += text
        shown: list[str] = []
        while self._rest and (piece := self._next()) is not None:
            shown.append(piece)
        return "".join(shown)

    def finish(self) -> str:
        """Return what was held back, and end every colour."""
        rest, styled = self._rest, self._in_fence or self._in_code or self._is_bold or self._is_heading
        self._reset()
        return rest + (PLAIN if styled else "")

    def _reset(self) -> None:
        # What cannot be judged before more has come, as the first star of two.
        self._rest = ""
        self._is_line_start = True
        self._in_fence = self._in_code = self._is_bold = self._is_heading = False

    def _next(self) -> str | None:
        """The next piece with its colour; None when it takes more text to tell."""
        rest = self._rest
        if self._is_line_start:
            if len(rest) < len(_FENCE) and _FENCE.startswith(rest):
                return None
            self._is_line_start = False
            if rest.startswith(_FENCE):
                self._in_fence = not self._in_fence
                before, after = (_CODE, "") if self._in_fence else ("", PLAIN)
                return self._cut(len(_FENCE), before=before, after=after)
            if rest.startswith("#") and not self._in_fence:
                self._is_heading = True
                return self._cut(1, before=_BOLD)
        if rest.startswith("\n"):
            styled = self._in_code or self._is_bold or self._is_heading
            self._is_line_start, self._in_code, self._is_bold, self._is_heading = True, False, False, False
            return self._cut(1, before=PLAIN if styled and not self._in_fence else "")
        if self._in_fence:
            return self._cut(_length(rest, "\n"))
        if rest.startswith("`"):
            self._in_code = not self._in_code
            return self._cut(1, before=_CODE if self._in_code else "", after="" if self._in_code else self._base())
        if rest.startswith("*") and not self._in_code:
            if len(rest) == 1:
                return None
            if rest[1] != "*":
                return self._cut(1)
            self._is_bold = not self._is_bold
            return self._cut(2, before=_BOLD if self._is_bold else "", after="" if self._is_bold else self._base())
        return self._cut(_length(rest, "\n`" if self._in_code else "\n`*"))

    def _base(self) -> str:
        """Back to the style around what has ended."""
        return PLAIN + (_BOLD if self._is_bold or self._is_heading else "")

    def _cut(self, length: int, *, before: str = "", after: str = "") -> str:
        piece, self._rest = self._rest[:length], self._rest[length:]
        return f"{before}{piece}{after}"


def _length(text: str, ends: str) -> int:
    """The distance to the first of these signs, or to the end."""
    return min((at for end in ends if (at := text.find(end)) >= 0), default=len(text))
