"""HTML as text."""

from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.trust.web.html_text import html_to_text
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-65")


BASE = "https://example.org/a/b"


def _text(page: str, *, marked: bool = False) -> str:
    return html_to_text(page, base=BASE, marked=marked)[1]


def test_blocks_lists_tables_and_code_are_kept_apart() -> None:
    page = (
        "<!doctype html><html><head><title> A\n title </title><style>p{}</style></head><body>"
        "<h2>Head</h2><p>One&nbsp;two\n three <b>bold</b></p><ul><li>first</li><li>second</li></ul>"
        "<pre>a\n   b &lt;c&gt;</pre><table><tr><td>1</td><td>2</td></tr></table>"
        "<!-- hidden > --><SCRIPT>if (a < b) {}</SCRIPT>end<br>of it</body>"
    )
    title, text = html_to_text(page, base=BASE, marked=False)
    assert title == "A title"
    assert text == "Head\n\nOne two three bold\n\n- first\n\n- second\n\na\n   b <c>\n\n1 | 2 |\n\nend\nof it"
    marked = _text(page, marked=True)
    assert marked.startswith("## Head\n\n")
    assert "```\na\n   b <c>\n```" in marked


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ('<a href="../x?a=1&amp;b=2">go</a>', "[go](https://example.org/x?a=1&b=2)"),
        ("<a href='javascript:evil()'>go</a>", "go"),
        ("<a href=//other.example/y>go</a>", "[go](https://other.example/y)"),
        ("<a>go</a></a>", "go"),
        ('<a href="http://[">go</a>', "go"),
    ],
)
def test_links_are_whole_and_lead_to_pages(page: str, text: str) -> None:
    assert _text(page, marked=True) == text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a < b and c > d", "a < b and c > d"),
        ("<", "<"),
        ("x<p", "x<p"),
        ('<p title="a > b">text', "text"),
        ("<script>never ends", "never ends"),
        ("<!-- never ends", ""),
        ("&#99999999999999999999;", "\ufffd"),
        ("&#" + "9" * 5000 + ";", "&#" + "9" * 5000 + ";"),
        ("&notanentity; &amp;", "¬anentity; &"),
    ],
)
def test_what_is_broken_is_still_read(page: str, text: str) -> None:
    assert _text(page) == text


@given(page=st.text(alphabet="<>/!-\"'= abpscrit\n&#;1", max_size=200), marked=st.booleans())
def test_any_page_can_be_read(page: str, marked: bool) -> None:
    html_to_text(page, base=BASE, marked=marked)


@pytest.mark.parametrize(
    "piece", ["<", "<!--", "<a", "<a ", "<a href=", "<script>", '<p "', "</", "<!", "&", "&#", "<pre>", "<a>", "-->"]
)
def test_the_work_grows_with_the_page_and_not_faster(piece: str) -> None:
    page = Counted(piece * (200_000 // len(piece)))
    _text(page, marked=True)
    assert page.looked_at < 10 * len(page)


class Counted(str):
    """A page that counts how far it is searched."""

    looked_at = 0

    def find(self, wanted: str, start: SupportsIndex | None = None, end: SupportsIndex | None = None) -> int:
        found = super().find(wanted, start, end)
        self.looked_at += (found if found >= 0 else len(self)) - int(start or 0)
        return found
