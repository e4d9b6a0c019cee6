"""The report that our own reporter writes for unittest."""

import json

from codeplane.testing.case import Case, CaseStatus, UnreadableReport

_STATUS: dict[str, CaseStatus] = {"passed": "passed", "failed": "failed", "skipped": "skipped", "error": "error"}


def read(data: bytes) -> list[Case]:
    """The cases of one report."""
    try:
        return [_case(entry) for entry in json.loads(data)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableReport(f"the report is not what unittest's reporter writes: {error!r}") from error


def _case(entry: dict[str, object]) -> Case:
    # A file that could not be loaded is named by its path.
    is_target_failure = str(entry["name"]) == str(entry["file"])
    file, name, seconds = str(entry["file"]), str(entry["name"]), entry["seconds"]
    module = file.removesuffix(".py").replace("/", ".")
    for start in (module, module.rpartition(".")[2]):
        if name.startswith(f"{start}."):
            name = "::".join(name[len(start) + 1 :].split(".", 1))
            break
    return Case(
        name=name,
        status=_STATUS[str(entry["status"])],
        duration_ms=round(seconds * 1000) if isinstance(seconds, int | float) else 0,
        message=str(entry["message"]),
        kind=str(entry["kind"]),
        stack=str(entry["stack"]),
        file=file,
        is_target_failure=is_target_failure,
    )
