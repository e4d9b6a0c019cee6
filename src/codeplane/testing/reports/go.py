"""The events of `go test -json`."""

import json
import re

from codeplane.testing.case import Case, CaseStatus

_STATUS: dict[str, CaseStatus] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_PLACE = re.compile(r"(?m)^\s+([\w./-]+_test\.go):(\d+): (.*)$")
_PANIC = re.compile(r"(?m)^panic: (.*)$")
_MAX_KEPT = 20_000


def read(data: bytes) -> list[Case]:
    """The cases of one run; a package that failed without a failing test is a case of its own."""
    outputs: dict[tuple[str, str], list[str]] = {}
    built: dict[str, list[str]] = {}
    cases: list[Case] = []
    failing: set[str] = set()
    for line in data.splitlines():
        if not line.startswith(b"{"):
            continue
        try:
            event = json.loads(line)
            action, package, test = event.get("Action"), event.get("Package", ""), event.get("Test", "")
        except (ValueError, AttributeError, RecursionError):
            continue
        if action == "build-output":
            built.setdefault(str(event.get("ImportPath", "")).partition(" ")[0], []).append(
                str(event.get("Output", ""))
            )
        elif action == "output":
            output_lines = outputs.setdefault((package, test), [])
            if len(output_lines) < _MAX_KEPT:
                output_lines.append(str(event.get("Output", "")))
        elif action in _STATUS:
            text = "".join(outputs.get((package, test), ()))
            if test:
                if action == "fail":
                    failing.add(package)
                cases.append(_case(package, test, _STATUS[action], event.get("Elapsed"), text))
            elif action == "fail" and package not in failing:
                whole = "".join(built.get(package, ())) or text
                cases.append(_package_error(package, whole, event.get("FailedBuild")))
    return _without_parents(cases)


def _case(package: str, test: str, status: CaseStatus, elapsed: object, text: str) -> Case:
    place = _PLACE.search(text) if status == "failed" else None
    panic = _PANIC.search(text) if status == "failed" else None
    message = panic[0] if panic else place[3] if place else ""
    stack = "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith(("=== ", "--- ")))
    return Case(
        name=test,
        status=status,
        duration_ms=round(elapsed * 1000) if isinstance(elapsed, int | float) else 0,
        message=message or (stack.strip().partition("\n")[0] if status != "passed" else ""),
        kind="panic" if panic else "failure" if status == "failed" else "",
        stack=stack if status == "failed" else "",
        file="",
        line=int(place[2]) if place else None,
        owner=package,
    )


def _package_error(package: str, text: str, build: object) -> Case:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("FAIL", "#"))]
    kind = "BuildFailed" if build or "[build failed]" in text or "[setup failed]" in text else "PackageFailed"
    return Case(
        name=package.rpartition("/")[2],
        status="error",
        message=lines[0] if lines else kind,
        kind=kind,
        stack="\n".join(lines),
        owner=package,
        is_target_failure=True,
    )


def _without_parents(cases: list[Case]) -> list[Case]:
    """Subtests say what their parent would only repeat."""
    parents = {(case.owner, case.name.rpartition("/")[0]) for case in cases if "/" in case.name and case.is_bad}
    return [case for case in cases if (case.owner, case.name) not in parents]
