"""Code blocks in documentation."""

import re
from collections.abc import Iterator
from typing import Literal

from codeplane.code.languages.python import PYTHON

Flavour = Literal["markdown", "rst", "adoc", "plain"]

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*\{?\.?([\w+#-]*)")
_DOCTEST = re.compile(r"^[ \t>]*>>> ")
_DIRECTIVE = re.compile(
    r"^([ \t]*)\.\. (?:code-block|code|sourcecode|highlight|doctest|testcode|literalinclude)::[ \t]*(\S*)"
)
_ADOC_SOURCE = re.compile(r"^\[source(?:%\w+)?,[ \t]*(\w+)")
_ADOC_FENCE = re.compile(r"^(-{4,}|\.{4,})[ \t]*$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


def code_blocks(lines: list[str], flavour: Flavour) -> Iterator[tuple[int, str]]:
    """Yield the numbers of the lines that are code, with the language of their block."""
    fence, language = "", ""
    indent, waiting = -1, False
    for number, line in enumerate(lines):
        if fence:
            if line.strip(" \t>\r").startswith(fence) and not line.strip(" \t>\r" + fence[0]):
                fence = ""
            else:
                yield number, language
            continue
        opened = _FENCE.match(line)
        if opened and "`" not in line[opened.end() :]:
            fence, language, indent = opened[1], opened[2], -1
            continue
        if flavour == "adoc":
            source = _ADOC_SOURCE.match(line)
            language = source[1] if source else language
            if found := _ADOC_FENCE.match(line):
                fence = found[1]
            continue
        if _DOCTEST.match(line):
            yield number, PYTHON.name
            continue
        depth = len(line) - len(line.lstrip())
        blank = not line.strip()
        if indent >= 0:
            if blank or depth > indent:
                # The options of a directive are right below it.
                if not (waiting and line.strip().startswith(":")):
                    waiting = waiting and blank
                    if not blank:
                        yield number, language
                continue
            indent = -1
        if flavour == "rst":
            directive = _DIRECTIVE.match(line)
            if directive or (line.rstrip().endswith("::") and not line.lstrip().startswith("..")):
                indent, waiting, language = depth, True, directive[2] if directive else ""
        elif flavour == "markdown" and depth >= 4 and not blank and (number == 0 or not lines[number - 1].strip()):
            if _ITEM.match(line) or _in_list(lines, number):
                continue
            indent, language = 3, ""
            yield number, language


def _in_list(lines: list[str], number: int) -> bool:
    """Whether indented text belongs to a list item and is not code."""
    for line in reversed(lines[max(0, number - 20) : number]):
        if line.strip() and not line.startswith((" ", "\t")):
            return _ITEM.match(line) is not None
        if _ITEM.match(line):
            return True
    return False
