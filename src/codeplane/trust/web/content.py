"""Decodes a page's bytes for an agent."""

import base64
import codecs
import re
from dataclasses import dataclass
from typing import Literal

from codeplane.kernel.errors import FetchFailed
from codeplane.trust.web.html_text import html_to_text
from codeplane.trust.web.network import Page

Form = Literal["text", "markdown", "raw"]

_TEXT = re.compile(
    r"text/.+|application/(?:(?:.+\+)?(?:json|xml|yaml)|x-yaml|json-.+|x-ndjson|javascript|ecmascript|x-javascript"
    r"|toml|sql|graphql|x-sh|x-httpd-php|x-python|rtf|x-tex|manifest\+json)|image/svg\+xml|message/.+"
)
_HTML = frozenset({"text/html", "application/xhtml+xml"})
# Text codecs whose cost is linear; Python has others.
_CHARSETS = re.compile(
    r"utf-?(?:8|16|16le|16be|32)|us-ascii|ascii|latin-?1|iso-?8859-?\d{1,2}|windows-?125\d|cp125\d|koi8-[ru]"
    r"|gb2312|gbk|gb18030|big5|shift[_-]jis|euc-(?:jp|kr)|iso-2022-jp|macintosh"
)
_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9_-]{1,40})", re.I)
_SNIFFED_BYTES = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a page."""

    title: str
    text: str
    encoding: Literal["text", "base64"]
    note: str = ""


def content_of(page: Page, form: Form) -> Content:
    """The page as text; one that is not text only in base64, when `raw` is asked for."""
    kind = page.content_type
    is_text = bool(_TEXT.fullmatch(kind)) if kind else _looks_like_text(page.body)
    if not is_text:
        if form != "raw":
            raise FetchFailed(
                f"{page.target.url} is {kind or 'of an unknown type'}, which is not text",
                hint="format=raw gives it in base64",
            )
        return Content(title="", text=base64.b64encode(page.body).decode(), encoding="base64")
    text, note = _decode(page)
    if form == "raw" or kind not in _HTML:
        return Content(title="", text=text, encoding="text", note=note)
    title, body = html_to_text(text, base=page.target.url, marked=form == "markdown")
    return Content(title=title, text=body, encoding="text", note=note)


def _looks_like_text(body: bytes) -> bool:
    start = body[:_SNIFFED_BYTES]
    try:
        start.decode()
    except UnicodeDecodeError as error:
        # The last character may be cut.
        return b"\0" not in start and error.start > len(start) - 4
    return b"\0" not in start


def _decode(page: Page) -> tuple[str, str]:
    charset = page.charset
    if not charset and page.content_type in _HTML and (match := _META.search(page.body[:_SNIFFED_BYTES])):
        charset = match.group(1).decode("ascii").lower()
    body = page.body.removeprefix(codecs.BOM_UTF8)
    if charset and _CHARSETS.fullmatch(charset):
        try:
            return body.decode(charset, "replace"), ""
        except LookupError:
            pass
    note = f"its charset {charset!r} is not known; read as UTF-8" if charset else ""
    return body.decode("utf-8", "replace"), note
