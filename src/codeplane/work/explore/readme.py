"""What a README says first: its title and its first paragraph."""

import re

_MAX_TITLE, _MAX_PARAGRAPH = 200, 700
_UNDERLINE = re.compile(r"^([=\-~#*^\"'`+:.])\1{2,}\s*$")
# None looks far for its end: a line of brackets would take as long as its square.
_IMAGE = re.compile(r"\[?!\[[^][]*\]\([^)]{0,500}\)(?:\]\([^)]{0,500}\))?|\[!\[[^][]*\]\[[^][]*\]\]\[?[^][]*\]?")
_LINK = re.compile(r"\[([^][]+)\](?:\([^)]{0,500}\)|\[[^][]*\])")
_TAG = re.compile(r"<[^<>]*>")
_ASIDE = re.compile(r"^(?:\.\. |\[[^\]]+\]:|:[\w-]+:|\||```|---|\s{4,}\S|[-*+] )")
_REMARK = re.compile(
    r"[>*_\s]*(?:\[!|(?:note|warning|important|caution|attention|disclaimer)\b[*_]*\s*[:!])", re.IGNORECASE
)
_NAMES = ("readme.md", "readme.rst", "readme.txt", "readme", "readme.markdown", "readme.adoc", "readme.org")


def find_readme(paths: list[str]) -> str | None:
    """The path of the README among paths of one folder."""
    by_name = {path.rpartition("/")[2].lower(): path for path in paths}
    return next((by_name[name] for name in _NAMES if name in by_name), None)


def opening(text: str) -> tuple[str, str]:
    """The title of a text and its first paragraph in plain words; either is empty where there is none."""
    title, remark, paragraph = "", "", list[str]()
    lines = [*text.splitlines(), ""]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        plain = _plain(line)
        if paragraph and (not plain or _UNDERLINE.match(line)):
            passage = " ".join(paragraph)
            if len(passage) >= 30 and not _REMARK.match(passage):
                break
            remark = remark or passage * bool(_REMARK.match(passage))
            paragraph = []
        if not plain or _UNDERLINE.match(line) or _ASIDE.match(line):
            continue
        is_heading = line.lstrip().startswith("#") or bool(_UNDERLINE.match(following)) or "<h1" in line.lower()
        if is_heading:
            title = title or plain.lstrip("# ").strip()
            continue
        paragraph.append(plain)
    return title[:_MAX_TITLE], _shorten(" ".join(paragraph) or remark)


def _plain(line: str) -> str:
    line = _LINK.sub(r"\1", _IMAGE.sub("", line))
    return _TAG.sub("", line).replace("**", "").strip()


def _shorten(text: str) -> str:
    if len(text) <= _MAX_PARAGRAPH:
        return text
    return text[:_MAX_PARAGRAPH].rpartition(" ")[0] + " …"
