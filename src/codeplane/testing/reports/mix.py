"""The output of `mix test --trace`."""

import re

from codeplane.testing.case import Case, CaseStatus

_MODULE = re.compile(r"^(?P<module>[A-Z][\w.]*)\s+\[(?P<file>[^\]]+\.exs)\]$")
_TEST = re.compile(r"^\s*\* (?P<name>.+?) \((?P<how>[\d.]+ms|excluded|skipped|invalid)\)(?: \[L#(?P<line>\d+)\])?$")
_FAILURE = re.compile(r"^\s+\d+\) (?P<name>.+) \((?P<module>[\w.]+)\)$")
_PLACE = re.compile(r"^\s+(?P<file>[\w./-]+\.exs):(?P<line>\d+)$")
_RAISED = re.compile(r"^\s*\*\* \((?P<kind>[\w.]+)\) (?P<message>.*)$")
_BROKEN = re.compile(r"^\*\* \((?P<kind>[\w.]+)\)\s*(?P<message>.*)$")


def read(data: bytes) -> list[Case]:
    """The cases of one run; what does not compile is a case of its own."""
    # A test's line is written twice, the second over the first.
    lines = [line.rpartition("\r")[2] for line in data.decode(errors="replace").split("\n")]
    cases: dict[tuple[str, str], Case] = {}
    module = file = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if found := _MODULE.match(line.strip()):
            module, file = found["module"], found["file"]
        elif found := _TEST.match(line):
            how = found["how"]
            status: CaseStatus = "passed" if how.endswith("ms") else "error" if how == "invalid" else "skipped"
            cases[module, found["name"]] = Case(
                name=found["name"],
                status=status,
                duration_ms=round(float(how[:-2])) if how.endswith("ms") else 0,
                file=file,
                line=int(found["line"]) if found["line"] else None,
                owner=module,
            )
        elif found := _FAILURE.match(line):
            block: list[str] = []
            while at < len(lines) and (lines[at].startswith("     ") or (block and not lines[at].strip())):
                block.append(lines[at])
                at += 1
            key = (found["module"], found["name"])
            cases[key] = _failed_case(cases.get(key), found["name"], found["module"], block)
    return list(cases.values()) or _build_error(lines)


def _failed_case(before: Case | None, name: str, module: str, block: list[str]) -> Case:
    lines = [line.strip() for line in block if line.strip()]
    place = next((match for match in map(_PLACE.match, block) if match), None)
    raised = next((match for match in map(_RAISED.match, block) if match), None)
    message_lines = lines[1:] if place else lines
    return Case(
        name=name,
        status="failed",
        duration_ms=before.duration_ms if before else 0,
        message=raised["message"] if raised else message_lines[0] if message_lines else "failed",
        kind=raised["kind"] if raised else "ExUnit.AssertionError",
        stack="\n".join(message_lines),
        file=place["file"] if place else before.file if before else "",
        line=int(place["line"]) if place else None,
        owner=module,
    )


def _build_error(lines: list[str]) -> list[Case]:
    for at, line in enumerate(lines):
        if found := _BROKEN.match(line):
            return [
                Case(
                    name="compile",
                    status="error",
                    message=found["message"],
                    kind=found["kind"],
                    stack="\n".join(lines[at : at + 40]),
                    is_target_failure=True,
                )
            ]
    return []
