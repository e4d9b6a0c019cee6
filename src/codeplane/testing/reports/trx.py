"""The results that `dotnet test` writes (TRX)."""

import re
from xml.etree.ElementTree import Element

from codeplane.testing.case import Case, CaseStatus
from codeplane.testing.reports.xml import parse_xml, strip_colours

_STATUS: dict[str, CaseStatus] = {"Passed": "passed", "Failed": "failed", "Error": "error", "Timeout": "error"}
_KIND = re.compile(r"^\s*((?:\w+\.)+\w*(?:Exception|Failure)\w*|Assert\.\w+\(\) Failure)")
_PLACE = re.compile(r" in (?P<file>.+?):line (?P<line>\d+)")


def read(data: bytes) -> list[Case]:
    """The cases of one report."""
    root = parse_xml(data)
    classes = {element.get("id", ""): _class(element) for element in root.iter("UnitTest")}
    return [_case(element, classes.get(element.get("testId", ""), "")) for element in root.iter("UnitTestResult")]


def _class(test: Element) -> str:
    method = test.find("TestMethod")
    return method.get("className", "") if method is not None else ""


def _case(element: Element, owner: str) -> Case:
    status = _STATUS.get(element.get("outcome", ""), "skipped")
    message = strip_colours(element.findtext("Output/ErrorInfo/Message") or "").strip()
    stack = strip_colours(element.findtext("Output/ErrorInfo/StackTrace") or "").strip("\n")
    kind = _KIND.match(message)
    place = _PLACE.search(stack)
    bad = status in ("failed", "error")
    return Case(
        name=element.get("testName", ""),
        status=status,
        duration_ms=_milliseconds(element.get("duration", "")),
        message=message,
        kind=(kind[1] if kind else "AssertionError") if bad else "",
        stack="\n".join(filter(None, (message, stack))) if bad else "",
        line=int(place["line"]) if place else None,
        owner=owner,
    )


def _milliseconds(text: str) -> int:
    try:
        hours, minutes, seconds = text.split(":")
        return round((int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 1000)
    except ValueError:
        return 0
