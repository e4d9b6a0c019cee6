"""What a README says first: its title and its first paragraph."""

import html
import re

_MAX_TITLE, _MAX_PARAGRAPH = 200, 700
# A shorter passage says something only where it is a sentence.
_MIN_PASSAGE, _MIN_WORDS = 30, 3
# Less of a passage than this beside its links is a menu, not prose.
_MIN_PROSE = 0.4
_UNDERLINE = re.compile(r"^([=\-~#*^\"'`+:.])\1{2,}\s*$")
# None looks far for its end: a line of brackets would take as long as its square.
_IMAGE = re.compile(r"\[?!\[[^][]*\]\([^)]{0,500}\)(?:\]\([^)]{0,500}\))?|\[!\[[^][]*\]\[[^][]*\]\]\[?[^][]*\]?")
_LINK = re.compile(r"\[([^][]+)\](?:\([^)]{0,500}\)|\[[^][]*\])|`([^`<>]{1,200}) <[^`<>]{1,500}>`__?")
_ANCHOR = re.compile(r"<(/?)a\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_ASIDE = re.compile(r"^(?:\.\. |\[[^\]]+\]:|\s*:[\w-]+:|\||```|---|[-*+] )")
_CODE = re.compile(r"\s{4,}\S")
_TARGET = re.compile(r"\]\(\s{1,20}")
_REMARK = re.compile(
    r"[>*_\s]*(?:\[!|(?:note|warning|important|caution|attention|disclaimer)\b[*_]*\s*[:!])", re.IGNORECASE
)
# Sections that speak of others, or of the document.
_OTHERS = re.compile(
    r"(?:our |gold |silver )?(?:sponsors?|donat\w+|backers?|supporters?|funding|for enterprise|special thanks|contents"
    r"|table of contents)\b",
    re.IGNORECASE,
)
# A passage of a README that thanks those who pay.
_THANKS = re.compile(r"\b(?:special thanks|sponsored by|our sponsors|supported by the community)\b", re.IGNORECASE)
_NAMES = ("readme.md", "readme.rst", "readme.txt", "readme", "readme.markdown", "readme.adoc", "readme.org")


def find_readme(paths: list[str]) -> str | None:
    """The path of the README among paths of one folder."""
    by_name = {path.rpartition("/")[2].lower(): path for path in paths}
    return next((by_name[name] for name in _NAMES if name in by_name), None)


def opening(text: str) -> tuple[str, str]:
    """The title of a text and its first paragraph in plain words; either is empty where there is none."""
    title, fallback, passage = "", "", _Passage()
    lines = [*_without_blocks_of_links(_TARGET.sub("](", _without_comments(text))).splitlines(), ""]
    underlines: list[str] = []
    skipped_level, is_option, is_code = 0, False, False
    for before, line, following in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        plain = _plain(line)
        if passage.lines and (not plain or _UNDERLINE.match(line)):
            if passage.is_prose:
                break
            fallback = fallback or passage.text * passage.is_remark
            passage = _Passage()
        # What belongs to an option of reStructuredText is indented below it.
        is_option = bool(_ASIDE.match(line)) or (is_option and line.startswith((" ", "\t")))
        # Below a line of text, indentation means nothing.
        is_code = bool(_CODE.match(line)) and (is_code or not before.strip())
        if not plain or _UNDERLINE.match(line) or is_option or is_code:
            continue
        if level := _heading_level(line, following, underlines):
            title = title or plain.lstrip("# ").strip()
            if not skipped_level or level <= skipped_level:
                skipped_level = level if _OTHERS.match(plain.lstrip("# ")) else 0
        elif not skipped_level:
            passage.add(line, plain)
    return title[:_MAX_TITLE], _shorten(passage.unquoted or fallback)


class _Passage:
    """Lines of one paragraph."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._linked = 0

    @property
    def text(self) -> str:
        """The words of it."""
        return " ".join(self.lines)

    @property
    def unquoted(self) -> str:
        """The words without the marks of a quotation."""
        return " ".join(line.removeprefix(">").lstrip() for line in self.lines)

    @property
    def is_remark(self) -> bool:
        """Whether it is about the document, not about what the document is about."""
        return _REMARK.match(self.text) is not None

    @property
    def is_prose(self) -> bool:
        """Whether it says something."""
        text = self.text
        is_sentence = text.endswith(".") and len(text.split()) >= _MIN_WORDS
        if len(text) < _MIN_PASSAGE and not is_sentence:
            return False
        count = _letters(text)
        return not self.is_remark and not _THANKS.search(text) and count - self._linked >= _MIN_PROSE * count

    def add(self, line: str, plain: str) -> None:
        """Add a line, as it is and in plain words."""
        self.lines.append(plain)
        self._linked += sum(_letters(_plain(link[1] or link[2] or "")) for link in _LINK.finditer(_IMAGE.sub("", line)))
        start = None
        for tag in _ANCHOR.finditer(line):
            if not tag[1]:
                start = tag.end()
            elif start is not None:
                self._linked, start = self._linked + _letters(_plain(line[start : tag.start()])), None


def _without_comments(text: str) -> str:
    """A text without comments of HTML."""
    first, *rest = text.split("<!--")
    return first + "".join(part.partition("-->")[2] for part in rest)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _without_blocks_of_links(text: str) -> str:
    """A text without links of HTML that go over several lines, as those of sponsors with their pictures do."""
    kept, end, start = list[str](), 0, None
    for tag in _ANCHOR.finditer(text):
        if not tag[1]:
            start = tag.start()
        elif start is not None:
            if "\n" in text[start : tag.start()]:
                kept.append(text[end:start])
                end = tag.end()
            start = None
    return "".join([*kept, text[end:]])


def _heading_level(line: str, following: str, underlines: list[str]) -> int:
    """The level of a heading, from 1 on; 0 for other lines. `underlines` are the signs of underlined headings."""
    if line.lstrip().startswith("#"):
        return len(line.lstrip()) - len(line.lstrip().lstrip("#"))
    if "<h1" in line.lower():
        return 1
    if (underline := _UNDERLINE.match(following)) is None:
        return 0
    if underline[1] not in underlines:
        underlines.append(underline[1])
    return underlines.index(underline[1]) + 1


def _plain(line: str) -> str:
    line = _LINK.sub(lambda link: link[1] or link[2], _IMAGE.sub("", line))
    return html.unescape(_TAG.sub("", line)).replace("**", "").strip()


def _shorten(text: str) -> str:
    if len(text) <= _MAX_PARAGRAPH:
        return text
    return text[:_MAX_PARAGRAPH].rpartition(" ")[0] + " …"
