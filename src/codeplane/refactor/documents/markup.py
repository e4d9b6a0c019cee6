"""The markup of a text: whether a place is in a code block, a marked name, or plain prose."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal

from codeplane.refactor.documents.code_blocks import Flavour, code_blocks

_LONG = 5000
_BESIDE = 300
PlaceKind = Literal["link", "import", "name", "code", "prose"]

_SPAN = re.compile(
    r"(?P<role>:[\w:+.-]+:)?(?P<tick>`+)(?P<code>[^`].*?|[^`])(?P=tick)(?!`)|<code>(?P<html>.*?)</code>|\+(?P<plus>[\w.()]+)\+"
)
# Roles whose text is a name in a program.
_NAMING = re.compile(
    r":(?:\w+:)?(?:func|function|meth|method|class|attr|mod|data|const|exc|obj|any|var|type|member|macro):$"
)
_AUTO = re.compile(
    r"\.\. (?:[\w]+:)?(?:auto\w+|function|method|class|classmethod|staticmethod|attribute|data|module|currentmodule|"
    r"exception|decorator|property|py\w+)::\s+[\w.]*$"
)
_LINK = re.compile(
    r"\{@(?:link|code|linkcode|linkplain|see)\s+[^}]*$|@(?:see|throws|exception|extends|implements)\s+\S*$"
    r"|<see(?:also)? cref=\"[^\"]*$"
)
_IMPORT = re.compile(
    r"^[ \t>.$*#/-]*(?:from\s+(?P<python>[\w.]+)\s+import\b|import\s+[\w.]+|import\s.*\bfrom\s+['\"]|import\s+\{"
    r"|(?:use|using)\s+[\w:.]+|.*\brequire\()"
)
# An import outside of a code block must be complete: a sentence may begin with the same word.
_STATEMENT = re.compile(r"^[ \t>.]*(?:from\s+[\w.]+\s+import\s+\(?[\w., *]+\)?|import\s.*\sfrom\s+['\"].*)$")
_FILE = re.compile(
    r"-\w|[/\\]\w|@|\.(?:py|pyi|js|jsx|ts|tsx|mjs|md|rst|txt|html?|css|json|toml|ya?ml|cfg|ini|sh|go|rs|java)\b"
)
_DOTTED = re.compile(r"([\w.]*)(?:\.|::|#)$")
_HEAD = re.compile(r"[~!.\w]*")
_TAIL = re.compile(r"(?:\.\w+)*(?:\(.*\))?")
_MEMBER = re.compile(r"\.(\w+)")
# A role's title and its target: :meth:`send it <Client.send>`.
_TITLED = re.compile(r"(?P<title>[^<]*)<(?P<target>[~!.\w]+)>")
_LONGER = re.compile(r"[-/\\]$|(?:^|\W)#$|(?:https?://|www\.)\S*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What surrounds a match: the kind of place, and the text beside it."""

    kind: PlaceKind
    before: str
    """The dotted name in front, without the last dot; in a role's title, the one in front in its target."""
    member: str
    """The name behind the next dot."""
    module: str
    """The module that an import statement names, if it is one."""
    is_call: bool
    language: str
    """The language of the code block."""
    is_part: bool
    """Whether it is a part of a path, an address or a longer word."""


class Markup:
    """The parsed markup of a text; offsets count characters."""

    def __init__(self, text: str, flavour: Flavour) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._lines = text.split("\n")
        self._code = dict(code_blocks(self._lines, flavour))
        self._read: dict[int, _Line] = {}
        self._blocks = self._number_blocks()

    def block(self, start: int) -> int:
        """Return the number of the code block around a place, or -1."""
        return self._blocks.get(bisect_right(self._starts, start) - 1, -1)

    def line_context(self, start: int, end: int) -> tuple[str, str]:
        """Return the text on a match's line before and after it."""
        number = bisect_right(self._starts, start) - 1
        line, first = self._lines[number], self._starts[number]
        return line[max(0, start - first - _BESIDE) : start - first], line[end - first : end - first + _BESIDE]

    def _number_blocks(self) -> dict[int, int]:
        """Return the block of each line of code; lines with only blank lines between them form one."""
        found: dict[int, int] = {}
        last = -1
        for number in sorted(self._code):
            apart = last < 0 or any(self._lines[between].strip() for between in range(last + 1, number))
            found[number] = number if apart else found[last]
            last = number
        return found

    def at(self, start: int, end: int) -> Surroundings:
        """Return the surroundings of a match."""
        number = bisect_right(self._starts, start) - 1
        line, first = self._lines[number], self._starts[number]
        if number not in self._read:
            self._read[number] = _Line.of(line, shown=number in self._code)
        read, begin, stop = self._read[number], start - first, end - first
        before, after = line[max(0, begin - _BESIDE) : begin], line[stop : stop + _BESIDE]
        kind = read.kind(before, begin, stop)
        dotted, member = _DOTTED.search(before), _MEMBER.match(after)
        return Surroundings(
            kind=kind,
            before=dotted[1].strip(".") if dotted else read.role_prefix(begin, line[begin:stop]),
            member=member[1] if member else "",
            module=read.module,
            is_call=after.startswith("("),
            language=self._code.get(number, ""),
            is_part=_is_part(before, after, in_code=kind in ("code", "import")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line, parsed once for all its matches."""

    shown: bool
    is_import: bool
    module: str
    starts: tuple[int, ...]
    """Where code spans begin."""
    spans: tuple[tuple[str, str], ...]
    """The role and the text of each."""

    @classmethod
    def of(cls, line: str, *, shown: bool) -> "_Line":
        # Nobody writes lines that long, so a span in one is not worth the time.
        line = line[:_LONG]
        found = _IMPORT.match(line)
        starts, spans = [], []
        for span in () if shown else _SPAN.finditer(line):
            group = next(name for name in ("code", "html", "plus") if span[name] is not None)
            starts.append(span.start(group))
            spans.append((span["role"] or "", span[group]))
        return cls(
            shown=shown,
            is_import=found is not None if shown else _STATEMENT.match(line) is not None,
            module=(found["python"] or "").strip(".") if found else "",
            starts=tuple(starts),
            spans=tuple(spans),
        )

    def role_prefix(self, start: int, name: str) -> str:
        """Return the part in front of a name in the target of a role whose title is the name alone."""
        index = bisect_right(self.starts, start) - 1
        role, code = self.spans[index] if index >= 0 else ("", "")
        found = _TITLED.fullmatch(code) if role else None
        if found is None or start - self.starts[index] >= found.end("title"):
            return ""
        before, _, last = found["target"].lstrip("~!.").rpartition(".")
        return before if last == name else ""

    def kind(self, before: str, start: int, end: int) -> PlaceKind:
        """Return the kind of a place in the line."""
        if self.is_import or self.shown:
            return "import" if self.is_import else "code"
        if _AUTO.search(before) or _LINK.search(before):
            return "link"
        index = bisect_right(self.starts, start) - 1
        role, code = self.spans[index] if index >= 0 else ("", "")
        inner = self.starts[index] if index >= 0 else 0
        if end > inner + len(code):
            return "prose"
        if role:
            return "link" if _NAMING.search(role) else "prose"
        return "name" if _is_name(code, start - inner, end - inner) else "code"


def _is_name(code: str, start: int, end: int) -> bool:
    """Whether a code span is a dotted name that ends in the match, with or without the parentheses of a call."""
    head, tail = code[:start].strip(), code[end:].strip()
    return _HEAD.fullmatch(head) is not None and _TAIL.fullmatch(tail) is not None


def _is_part(before: str, after: str, *, in_code: bool) -> bool:
    if before.endswith("@") and not in_code:
        return True
    return _FILE.match(after) is not None or _LONGER.search(before) is not None
