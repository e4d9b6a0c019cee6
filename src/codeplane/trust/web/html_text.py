"""Converts HTML to readable text in one pass of linear cost."""

import html
import re
from urllib.parse import urljoin

# Elements without text for readers.
_SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "select"})
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "dd", "div", "dl", "dt", "fieldset", "figcaption"),
        *("figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main", "nav"),
        *("ol", "p", "pre", "section", "table", "tr", "ul", "details", "summary", "option"),
    }
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_NAME = re.compile(r"/?([A-Za-z][A-Za-z0-9:-]{0,40})")
_HREF = re.compile(r"\shref\s*=\s*(?:\"([^\"]{0,2000})\"|'([^']{0,2000})'|([^\s>\"']{1,2000}))", re.I)
_BLANKS = re.compile(r"[ \t\r\n\f\v\u00a0]+")
_MANY_LINES = re.compile(r"\n{3,}")
_MAX_TITLE = 300


class _Scanner:
    """Scans the tags of a page."""

    def __init__(self, page: str, *, base: str, marked: bool) -> None:
        self._page = page
        self._base = base
        self._marked = marked
        self._at = 0
        self._absent: set[str] = set()
        self._out: list[str] = []
        self._title: list[str] = []
        self._links: list[str] = []
        self._pre = 0
        self._in_title = False

    def read(self) -> tuple[str, str]:
        """The title and the text."""
        while self._at < len(self._page):
            start = self._page.find("<", self._at)
            self._text(self._page[self._at : start if start >= 0 else len(self._page)])
            if start < 0:
                break
            self._at = start
            self._tag()
        text = "".join(self._out)
        lines = (line.rstrip() for line in text.split("\n"))
        title = _BLANKS.sub(" ", _unescape("".join(self._title))).strip()[:_MAX_TITLE]
        return title, _MANY_LINES.sub("\n\n", "\n".join(lines)).strip()

    def _find(self, text: str, start: int) -> int:
        """Where a string occurs next, or -1; a string that was not found once is not searched again."""
        if text in self._absent:
            return -1
        position = self._page.find(text, start)
        if position < 0:
            self._absent.add(text)
        return position

    def _tag(self) -> None:
        page, at = self._page, self._at
        if page.startswith("<!--", at):
            end = self._find("-->", at + 4)
            self._at = end + 3 if end >= 0 else len(page)
            return
        if page[at + 1 : at + 2] in ("!", "?"):
            end = self._find(">", at)
            self._at = end + 1 if end >= 0 else len(page)
            return
        match = _NAME.match(page, at + 1)
        end = self._close(match.end()) if match is not None else -1
        if match is None or end < 0:
            self._text("<")
            self._at = at + 1
            return
        name, closing = match.group(1).lower(), page[at + 1] == "/"
        self._at = end + 1
        if name in _SKIPPED and not closing:
            self._skip(name)
            return
        self._element(name, closing, page[match.end() : end])

    def _close(self, start: int) -> int:
        """The end of a tag; quoted values may contain angle brackets, unless the quote never ends."""
        end = self._find(">", start)
        for _ in range(50):
            if end < 0:
                return -1
            inside = self._page[start:end]
            if inside.count('"') % 2 == 0 and inside.count("'") % 2 == 0:
                return end
            further = self._page.find(">", end + 1, end + 4000)
            if further < 0:
                return end
            end = further
        return end

    def _skip(self, name: str) -> None:
        """Skip to the end of an element whose content is not text."""
        end = self._page.find(f"</{name}", self._at) if f"</{name}" not in self._absent else -1
        if end < 0:
            end = self._find(f"</{name.upper()}", self._at)
        if end < 0:
            self._absent.add(f"</{name}")
            # It never ends: skip only the tag itself.
            return
        after = self._find(">", end)
        self._at = after + 1 if after >= 0 else len(self._page)

    def _element(self, name: str, closing: bool, attributes: str) -> None:
        if name == "title":
            self._in_title = not closing
        elif name == "pre":
            self._pre = max(0, self._pre + (-1 if closing else 1))
            self._out.append("\n```\n" if self._marked else "\n")
        elif name == "br":
            self._out.append("\n")
        elif name == "li" and not closing:
            self._out.append("\n- ")
        elif name in ("td", "th") and closing:
            self._out.append(" | ")
        elif name in _HEADINGS:
            self._out.append("\n\n" + _HEADINGS[name] if self._marked and not closing else "\n\n")
        elif name == "p":
            self._out.append("\n\n")
        elif name in _BLOCKS:
            self._out.append("\n")
        elif name == "a" and self._marked:
            self._anchor(closing, attributes)

    def _anchor(self, closing: bool, attributes: str) -> None:
        if closing:
            if self._links:
                self._out.append(f"]({self._links.pop()})" if self._links[-1] else self._links.pop())
            return
        match = _HREF.search(f" {attributes}")
        target = next((value for value in match.groups() if value), "") if match else ""
        link = _join_url(self._base, _unescape(target)) if target else ""
        # Nested links are not closed one by one: the newest is enough.
        self._links = [link]
        if link:
            self._out.append("[")

    def _text(self, text: str) -> None:
        if not text:
            return
        if self._in_title:
            self._title.append(text[:_MAX_TITLE])
            return
        text = _unescape(text)
        if self._pre:
            self._out.append(text)
            return
        plain = _BLANKS.sub(" ", text)
        if self._out and self._out[-1].endswith(("\n", " ")):
            plain = plain.lstrip(" ")
        self._out.append(plain)


def _unescape(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:
        # A character reference with thousands of digits.
        return text


def _join_url(base: str, link: str) -> str:
    try:
        joined = urljoin(base, link.strip())
    except ValueError:
        return ""
    return joined if joined.startswith(("http://", "https://")) and ")" not in joined else ""


def html_to_text(page: str, *, base: str, marked: bool) -> tuple[str, str]:
    """The title of a page and its text; `marked` adds headings, lists and links in Markdown."""
    return _Scanner(page, base=base, marked=marked).read()
