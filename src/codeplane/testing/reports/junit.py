"""JUnit's XML, as pytest, node, surefire and gradle write it."""

import re
from xml.etree.ElementTree import Element

from codeplane.testing.case import Case, CaseStatus
from codeplane.testing.reports.xml import parse_xml, strip_colours

_KIND = re.compile(
    r"(?m)^(?:E\s+)?(?:cause:\s*)?((?:[A-Za-z_$][\w$]*\.)*[A-Z][\w$]*(?:Error|Exception|Failure|Exit|Interrupt|Warning)\w*)\b"
)
_ERROR = re.compile(r"(?m)^E\s+(.+)$")
# Node wraps the error that a test raised in one of its own.
_NODE_CAUSE = re.compile(r"(?m)^\s*cause: (?:(?P<kind>[A-Z]\w*)(?: \[\w+\])?: )?")
_NODE_FRAMES = re.compile(r"(?m)^\s+at .*$")
_NODE_INTERNAL = re.compile(r"\(?node:|<anonymous>\)?(?: \{)?$")
_NODE_KINDS = {"testCodeFailure": "", "testTimeoutFailure": "Timeout"}
_RAISED = re.compile(r"(?m)^E\s+((?:\w+\.)*\w+(?:Error|Exception|Exit|Warning|Interrupt)\w*)\b")


def read(data: bytes) -> list[Case]:
    """The cases of one report."""
    return list(_cases(parse_xml(data), ()))


def _cases(element: Element, above: tuple[str, ...]) -> "list[Case]":
    found: list[Case] = []
    for child in element:
        if child.tag == "testsuite":
            nested = (*above, child.get("name", "")) if element.tag == "testsuite" or _is_group(child) else above
            found += _cases(child, nested)
        elif child.tag == "testcase":
            case = _case(child, above, element)
            # Node lists a file that has nothing to run as a test that passed.
            if not (case.is_target_failure and case.status == "passed"):
                found.append(case)
    return found


def _is_group(suite: Element) -> bool:
    """Node writes `describe` blocks as suites without a count of their own tests' classes."""
    return any(element.get("classname") == "test" for element in suite.iter("testcase"))


def _case(element: Element, above: tuple[str, ...], suite: Element) -> Case:
    status, detail = _status_of(element)
    classname, name = element.get("classname", ""), element.get("name", "")
    is_node = classname == "test"
    text = strip_colours(detail.text or "") if detail is not None else ""
    message = strip_colours(detail.get("message", "")) if detail is not None else ""
    file = element.get("file", "") or suite.get("file", "")
    line = element.get("line", "")
    kind = (detail.get("type", "") if detail is not None else "") if status in ("failed", "error") else ""
    if status in ("failed", "error") and is_node:
        kind, text = _node_error(text, message, kind)
    elif status in ("failed", "error") and not kind:
        kind = _kind(text) or _kind(message) or ("AssertionError" if status == "failed" else "")
    is_target_failure = False
    if message == "collection failure":
        # pytest could not load the file: the raised error says more.
        raised = _ERROR.findall(text)
        message, name = raised[-1].strip() if raised else message, file.rpartition("/")[2] or name
        kind, is_target_failure = kind or "ImportError", True
    if is_node:
        is_target_failure = not above and _is_file(name, file)
    return Case(
        name="::".join([*_inner_classes(classname, file), *above, name] if not is_node else [*above, name]),
        status=status,
        duration_ms=_milliseconds(element.get("time", "")),
        message=message or text.strip().partition("\n")[0],
        kind=kind,
        stack=text.strip("\n"),
        file=file,
        # pytest counts from 0.
        line=int(line) + 1 if line.isdigit() else None,
        owner=classname or name,
        is_target_failure=is_target_failure,
    )


def _status_of(element: Element) -> tuple[CaseStatus, Element | None]:
    for tag, status in (("error", "error"), ("failure", "failed"), ("skipped", "skipped")):
        found = element.find(tag)
        if found is not None:
            return status, found  # type: ignore[return-value]  # the three are statuses
    return "passed", None


def _inner_classes(classname: str, file: str) -> list[str]:
    """The part of a dotted class name that the file's own name does not say."""
    if not file.endswith(".py"):
        return []
    module = file.removesuffix(".py").replace("/", ".").lstrip(".")
    for cut in (module, module.rpartition(".")[2]):
        if classname == cut:
            return []
        if classname.startswith(f"{cut}."):
            return classname[len(cut) + 1 :].split(".")
    return []


def _kind(text: str) -> str:
    found = _RAISED.findall(text) or _KIND.findall(text)
    return found[-1] if found else ""


def _milliseconds(seconds: str) -> int:
    try:
        return max(0, round(float(seconds.replace(",", "")) * 1000))
    except (ValueError, OverflowError):
        return 0


def _node_error(text: str, message: str, kind: str) -> tuple[str, str]:
    """Return the kind of the error that a test of Node raised, and its message with the frames that are not Node's."""
    cause = _NODE_CAUSE.search(text)
    kind = (cause["kind"] if cause is not None else None) or _NODE_KINDS.get(kind, kind) or "Error"
    frames = _NODE_FRAMES.findall(text, cause.end() if cause is not None else 0)
    own = [line.strip().removesuffix(" {") for line in frames if not _NODE_INTERNAL.search(line)]
    return kind, "\n".join([f"{kind}: {message}", *(f"    {line}" for line in own)])


def _is_file(name: str, file: str) -> bool:
    """Whether a case of Node stands for its whole file: one without tests, or one that could not be loaded."""
    return bool(file) and (name == file or file.endswith(f"/{name}")) and "." in name
