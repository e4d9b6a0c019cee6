"""Proofs of decisions: the lines that a caller read, checked against the present files."""

import re
from collections.abc import Mapping
from hashlib import sha256

from pydantic import Field

from codeplane.index.files.file import digest_of
from codeplane.kernel.operation import Request

_MAX = 100
_SHORTEST = 6


class Anchor(Request):
    """A line, and what stands in it before and after the name."""

    file: str = Field(max_length=4096)
    line: int = Field(ge=1)
    anchor_before: str = Field("", max_length=2000)
    anchor_after: str = Field("", max_length=2000)


class LineEvidence(Request):
    """A line by its hash (of the line without its end) or its text."""

    file: str = Field(max_length=4096)
    line: int = Field(ge=1)
    content_hash: str = Field("", max_length=128, description="SHA-256 of the line, or its first 6 or more digits")
    content: str = Field("", max_length=10_000)


class Proof(Request):
    """What a decision rests on."""

    symbol_identity: str = Field("", max_length=1000)
    anchors: tuple[Anchor, ...] = Field((), max_length=_MAX)
    file_line_evidence: tuple[LineEvidence, ...] = Field((), max_length=_MAX)


def proof_errors(
    proof: Proof, *, symbol: str, qualified: str, texts: Mapping[str, bytes], elsewhere: bool = False
) -> list[str]:
    """Return what is wrong with a proof; a proof without a line that contains the name proves nothing.

    `symbol`: as the caller wrote it; `qualified`: its dotted name. `elsewhere`: lines without the name count too,
    beside one with it, such as those that tell what a receiver is.
    """
    wrong: list[str] = []
    name = qualified.rpartition(".")[2]
    named = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")

    def says(line: bytes | None) -> bool:
        return line is not None and named.search(line) is not None

    identity = proof.symbol_identity.strip().replace("::", ".").removesuffix("()")
    if identity and identity != symbol and not _ends_alike(identity, qualified):
        wrong.append(f"symbol_identity is {identity!r}, the plan is about {qualified!r}")
    if not proof.anchors and not proof.file_line_evidence:
        wrong.append("the proof names no line: send anchors or file_line_evidence")
    for anchor in proof.anchors:
        line = _line(texts, anchor.file, anchor.line)
        if line is None:
            wrong.append(f"{anchor.file}:{anchor.line} is no line of the plan's files")
        elif not _matches_anchor(line.decode("utf-8", "replace"), anchor, name):
            wrong.append(
                f"{anchor.file}:{anchor.line} does not read {anchor.anchor_before!r} {name} {anchor.anchor_after!r}"
            )
    for evidence in proof.file_line_evidence:
        line = _line(texts, evidence.file, evidence.line)
        if line is None:
            wrong.append(f"{evidence.file}:{evidence.line} is no line of the plan's files")
        elif not elsewhere and not says(line):
            wrong.append(f"{evidence.file}:{evidence.line} does not say {name}")
        elif not _is_line(line, evidence):
            wrong.append(f"{evidence.file}:{evidence.line} reads otherwise")
    lines = [_line(texts, anchor.file, anchor.line) for anchor in proof.anchors]
    lines += [_line(texts, evidence.file, evidence.line) for evidence in proof.file_line_evidence]
    if not wrong and not any(map(says, lines)):
        wrong.append(f"no line of the proof says {name}")
    return wrong


def _ends_alike(written: str, qualified: str) -> bool:
    """Whether one of two dotted names ends with the other."""
    return f".{qualified}".endswith(f".{written}") or f".{written}".endswith(f".{qualified}")


def _matches_anchor(line: str, anchor: Anchor, name: str) -> bool:
    """Whether the name stands between the two texts of an anchor."""
    if not anchor.anchor_before and not anchor.anchor_after:
        return False
    return f"{anchor.anchor_before}{name}{anchor.anchor_after}" in line


def _is_line(line: bytes, evidence: LineEvidence) -> bool:
    if evidence.content.strip():
        return line.strip() == evidence.content.encode().strip()
    claimed = evidence.content_hash.lower().removeprefix("sha256:")
    return len(claimed) >= _SHORTEST and any(
        known.startswith(claimed) for known in (sha256(line).hexdigest(), digest_of(line))
    )


def _line(texts: Mapping[str, bytes], path: str, number: int) -> bytes | None:
    text = texts.get(path.removeprefix("./"))
    if text is None:
        return None
    lines = text.split(b"\n", number)
    return lines[number - 1].removesuffix(b"\r") if number <= len(lines) else None
