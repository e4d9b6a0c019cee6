"""The JSON that rspec writes."""

import json

from codeplane.testing.case import Case, CaseStatus, UnreadableReport
from codeplane.testing.reports.xml import strip_colours

_STATUS: dict[str, CaseStatus] = {"passed": "passed", "failed": "failed", "pending": "skipped"}


def read(data: bytes) -> list[Case]:
    """The cases of one report; an error outside of examples is a case of its own."""
    try:
        report = json.loads(data)
        cases = [_case(example) for example in report["examples"]]
        outside = report.get("summary", {}).get("errors_outside_of_examples_count", 0)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableReport(f"the report is not rspec's JSON: {error!r}") from error
    if outside:
        messages = strip_colours("\n".join(map(str, report.get("messages", [])))).strip()
        lines = [line for line in messages.splitlines() if line.strip()]
        first = next((line.strip() for line in lines if "rror" in line and not line.startswith("An error")), "")
        cases.append(
            Case(
                name="load",
                status="error",
                message=first or "an error outside of examples",
                kind="LoadError",
                stack=messages,
                is_target_failure=True,
            )
        )
    return cases


def _case(entry: dict[str, object]) -> Case:
    status = _STATUS.get(str(entry.get("status")), "skipped")
    exception = entry.get("exception")
    exception = exception if isinstance(exception, dict) else {}
    places = exception.get("backtrace") or []
    message = strip_colours(str(exception.get("message", ""))).strip()
    seconds, line = entry.get("run_time"), entry.get("line_number")
    return Case(
        name=str(entry.get("full_description", entry.get("description", ""))),
        status=status,
        duration_ms=round(seconds * 1000) if isinstance(seconds, int | float) else 0,
        message=" ".join(message.split()) if message else str(entry.get("pending_message") or ""),
        kind=str(exception.get("class", "")),
        stack="\n".join([message, *map(str, places)]).strip(),
        file=str(entry.get("file_path", "")),
        line=line if isinstance(line, int) else None,
    )
