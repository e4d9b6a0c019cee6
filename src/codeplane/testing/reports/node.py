"""What node:test adds to JUnit's XML: the error inside of its own, and files that stand for tests."""

import re

_CAUSE = re.compile(r"(?m)^\s*cause: (?:(?P<kind>[A-Z]\w*)(?: \[\w+\])?: )?")
_FRAMES = re.compile(r"(?m)^\s+at .*$")
_INTERNAL = re.compile(r"\(?node:|<anonymous>\)?(?: \{)?$")
_OWN = {"testCodeFailure": "", "testTimeoutFailure": "Timeout"}


def raised(text: str, message: str, kind: str) -> tuple[str, str]:
    """What was raised, and the message with the frames that are not Node's own."""
    cause = _CAUSE.search(text)
    kind = (cause["kind"] if cause is not None else None) or _OWN.get(kind, kind) or "Error"
    frames = _FRAMES.findall(text, cause.end() if cause is not None else 0)
    own = [line.strip().removesuffix(" {") for line in frames if not _INTERNAL.search(line)]
    return kind, "\n".join([f"{kind}: {message}", *(f"    {line}" for line in own)])


def is_file(name: str, file: str) -> bool:
    """Whether a case stands for its whole file: one without tests, or one that could not be loaded."""
    return bool(file) and (name == file or file.endswith(f"/{name}")) and "." in name
