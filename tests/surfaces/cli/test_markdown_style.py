"""Markdown on a terminal: colours around it, every sign of it, however it is cut."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.surfaces.cli.markdown_style import MarkdownStyle
from codeplane.surfaces.cli.turn_view import TurnView
from tests.interaction.requirements import requirement

pytestmark = requirement("CHAT-01")

BOLD, CODE, PLAIN = "\x1b[1m", "\x1b[36m", "\x1b[0m"


def styled(*pieces: str) -> str:
    style = MarkdownStyle()
    return "".join([*(style.take(piece) for piece in pieces), style.finish()])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Title\nand text", f"{BOLD}# Title{PLAIN}\nand text"),
        ("a **b** c", f"a {BOLD}**b**{PLAIN} c"),
        ("use `x * y ** z` here", f"use {CODE}`x * y ** z`{PLAIN} here"),
        ("## the `x` of it\n", f"{BOLD}## the {CODE}`x`{PLAIN}{BOLD} of it{PLAIN}\n"),
        ("```py\n# no title\nx = `1`\n```\nafter", f"{CODE}```py\n# no title\nx = `1`\n```{PLAIN}\nafter"),
        ("* one\n* two", "* one\n* two"),
        ("never **closed\nnext", f"never {BOLD}**closed{PLAIN}\nnext"),
        ("```\nnever closed", f"{CODE}```\nnever closed{PLAIN}"),
        ("ends with *", "ends with *"),
        ("``", "``"),
    ],
)
def test_what_is_marked_has_a_colour(text: str, shown: str) -> None:
    assert styled(text) == shown
    assert styled(*text) == shown


@given(text=st.text(alphabet="a#*` \n", max_size=60), cuts=st.lists(st.integers(0, 60), max_size=6))
def test_cuts_change_nothing_and_every_sign_stays(text: str, cuts: list[int]) -> None:
    ends = sorted(cuts)
    pieces = [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    assert styled(*pieces) == styled(text)
    assert re.sub("\x1b\\[[0-9]*m", "", styled(text)) == text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_terminals_that_want_them_get_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    event = {"type": "assistant.message_committed", "payload": {"full_text": "a **b** \x1b[31m"}}
    for out, is_plain, shown in (
        (Terminal(), False, f"a {BOLD}**b**{PLAIN} \\x1b[31m\n"),
        (Terminal(), True, "a **b** \\x1b[31m\n"),
        (io.StringIO(), False, "a **b** \x1b[31m\n"),
    ):
        monkeypatch.delenv("NO_COLOR", raising=False)
        if is_plain:
            monkeypatch.setenv("NO_COLOR", "1")
        TurnView(out=out, aside=io.StringIO()).show(event)  # type: ignore[arg-type]  # plain JSON
        assert out.getvalue() == shown
