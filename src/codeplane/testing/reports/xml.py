"""XML that repository code wrote: no document type, no entities of its own, bounded depth and number."""

import re
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from codeplane.testing.case import MAX_CASES, UnreadableReport

_MAX_DEPTH = 100
_MAX_ELEMENTS = MAX_CASES * 8
_ESCAPES = re.compile(r"#x([0-9A-F]{2})\b|\x1b\[[0-9;]*[A-Za-z]")


class _Bounded(TreeBuilder):
    """A tree of no more than so many elements, and no document type."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0
        self._count = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        """Refused: entities are declared there, and a few of them can stand for gigabytes."""
        raise UnreadableReport("the report has a document type, which no runner writes")

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        """Count what begins."""
        self._depth += 1
        self._count += 1
        if self._depth > _MAX_DEPTH or self._count > _MAX_ELEMENTS:
            raise UnreadableReport("the report has more elements than are read")
        return super().start(tag.rpartition("}")[2], attrs)

    def end(self, tag: str, /) -> Element:
        """Count what ends."""
        self._depth -= 1
        return super().end(tag.rpartition("}")[2])


def parse_xml(data: bytes) -> Element:
    """The document's root, without namespaces."""
    parser = XMLParser(target=_Bounded())  # nosec B314  # bounded, and expat expands no outside entities
    try:
        parser.feed(data)
        root: Element = parser.close()
    except ParseError as error:
        raise UnreadableReport(f"the report is not XML: {error}") from error
    return root


def strip_colours(text: str) -> str:
    """Text without colours."""
    return _ESCAPES.sub(lambda match: "" if match[1] is None or match[1] == "1B" else match[0], text)
