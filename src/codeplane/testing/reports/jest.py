"""The JSON that jest and vitest write."""

import json
import re

from codeplane.testing.case import Case, CaseStatus, UnreadableReport
from codeplane.testing.reports.xml import strip_colours

_STATUS: dict[str, CaseStatus] = {"passed": "passed", "failed": "failed"}
_KIND = re.compile(r"^\s*(?:Error: )?([A-Z]\w*(?:Error|Exception))\b")


def read(data: bytes) -> list[Case]:
    """The cases of one report."""
    try:
        report = json.loads(data)
        suites = report["testResults"]
        return [case for suite in suites for case in _suite(suite)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableReport(f"the report is not jest's JSON: {error!r}") from error


def _suite(suite: dict[str, object]) -> list[Case]:
    file = str(suite.get("name", ""))
    cases = suite.get("assertionResults", [])
    assert isinstance(cases, list)
    if not cases and suite.get("status") == "failed":
        # It could not even be loaded.
        message = strip_colours(str(suite.get("message", "")))
        first = next((line.strip() for line in message.splitlines() if line.strip()), "")
        details = message.replace("● Test suite failed to run", "").strip()
        return [
            Case(
                name=file.rpartition("/")[2],
                status="error",
                message=(details.partition("\n")[0] or first).strip(),
                kind=_kind(details) or "Error",
                stack=details,
                file=file,
                is_target_failure=True,
            )
        ]
    return [_case(case, file) for case in cases]


def _case(entry: dict[str, object], file: str) -> Case:
    status = _STATUS.get(str(entry.get("status")), "skipped")
    messages = entry.get("failureMessages") or []
    assert isinstance(messages, list)
    stack = strip_colours("\n".join(map(str, messages)))
    groups = entry.get("ancestorTitles") or []
    assert isinstance(groups, list)
    location = entry.get("location")
    line = location.get("line") if isinstance(location, dict) else None
    duration = entry.get("duration")
    return Case(
        name=" > ".join(str(part) for part in [*groups, entry.get("title", "")] if part),
        status=status,
        duration_ms=round(duration) if isinstance(duration, int | float) else 0,
        message=_message(stack),
        kind=(_kind(stack) or "Error") if status == "failed" else "",
        stack=stack,
        file=file,
        line=line if isinstance(line, int) else None,
    )


def _message(stack: str) -> str:
    """Return the lines before the stack frames."""
    lines: list[str] = []
    for line in stack.splitlines():
        if re.match(r"\s+at ", line):
            break
        if line.strip():
            lines.append(line.strip())
    return " ".join(lines[:8])


def _kind(text: str) -> str:
    found = _KIND.match(text)
    return found[1] if found else ""
