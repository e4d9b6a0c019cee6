"""The output of `cargo test`."""

import re

from codeplane.testing.case import Case, CaseStatus

_RUNNING = re.compile(r"^\s*(?:Running (?:unittests )?(?P<file>\S+\.rs) \(|Doc-tests (?P<doc>\S+))")
_TEST = re.compile(r"^test (?P<name>.+?) \.\.\. (?P<how>ok|FAILED|ignored)(?:, (?P<why>.*?))?(?: <(?P<sec>[\d.]+)s>)?$")
_SPLIT = re.compile(r"^test (?P<name>.+?) \.\.\. ")
_BLOCK = re.compile(r"^---- (?P<name>.+?) stdout ----$")
_PANIC = re.compile(r"panicked at (?:'(?P<old>.*)', )?(?P<file>[^\s:]+):(?P<line>\d+):\d+:?$")
_FOUND = re.compile(r"^error(?:\[E\d+\])?: (?!test failed|\d+ targets? failed)(?P<what>.+)$")
_HOW: dict[str, CaseStatus] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def read(data: bytes) -> list[Case]:
    """The cases of one run; what does not compile is a case of its own."""
    lines = data.decode(errors="replace").splitlines()
    cases: dict[tuple[str, str], Case] = {}
    blocks: dict[tuple[str, str], list[str]] = {}
    file, inside, began = "", None, ""
    for line in lines:
        if running := _RUNNING.match(line):
            file, inside = running["file"] or f"doc {running['doc']}", None
        elif block := _BLOCK.match(line):
            inside = (file, block["name"])
            blocks[inside] = []
        elif inside is not None and line not in ("failures:",):
            blocks[inside].append(line)
        elif inside is not None:
            inside = None
        elif test := _TEST.match(line):
            cases[file, test["name"]] = _case(file, test["name"], test["how"], test["why"] or "", test["sec"])
        elif started := _SPLIT.match(line):
            # The output of a test can come between its name and its result.
            began = started["name"]
        elif began and line.endswith(("ok", "FAILED")):
            cases[file, began] = _case(file, began, "ok" if line.endswith("ok") else "FAILED", "", None)
            began = ""
    found = [_with_block(case, blocks.get(key)) for key, case in cases.items()]
    return found or _build_error(lines)


def _case(file: str, name: str, how: str, why: str, seconds: str | None) -> Case:
    return Case(
        name=name,
        status=_HOW[how],
        duration_ms=round(float(seconds) * 1000) if seconds else 0,
        message=why if how == "ignored" else "",
        file=file,
        owner=file,
    )


def _with_block(case: Case, block: list[str] | None) -> Case:
    if case.status != "failed":
        return case
    lines = [line for line in block or [] if line.strip()]
    at = next((index for index, line in enumerate(lines) if _PANIC.search(line)), None)
    place = _PANIC.search(lines[at]) if at is not None else None
    if at is None or place is None:
        message_lines, line = lines, None
    else:
        message_lines, line = ([place["old"]] if place["old"] else lines[at + 1 :]), int(place["line"])
    message_lines = [line.strip() for line in _before_backtrace(message_lines)]
    return Case(
        name=case.name,
        status="failed",
        duration_ms=case.duration_ms,
        message=" ".join(message_lines[:4]) or "failed",
        kind="panic",
        stack="\n".join(_before_backtrace(lines)),
        file=case.file,
        line=line,
        owner=case.owner,
    )


def _before_backtrace(lines: list[str]) -> list[str]:
    before: list[str] = []
    for line in lines:
        if line.startswith(("stack backtrace:", "note: run with")):
            break
        before.append(line)
    return before


def _build_error(lines: list[str]) -> list[Case]:
    at = next((index for index, line in enumerate(lines) if _FOUND.match(line)), None)
    if at is None:
        return []
    matched = _FOUND.match(lines[at])
    assert matched is not None
    return [
        Case(
            name="build",
            status="error",
            message=matched["what"],
            kind="BuildFailed",
            stack="\n".join(lines[at : at + 40]),
            is_target_failure=True,
        )
    ]
