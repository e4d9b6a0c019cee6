"""Where a Python file takes new imports: behind those it has, else behind what must come first."""

from collections.abc import Sequence

from codeplane.refactor.move.statement import Span, line_end, line_start, past_newline
from codeplane.refactor.move.tops import Top, tops, type_checking

_TEXTS = frozenset({"string", "concatenated_string"})


def added_imports(text: bytes, statements: Sequence[str], typed: Sequence[str]) -> list[Span]:
    """What puts imports into a file; `typed` are those that only readers of types need."""
    listed = tops(text, "python")
    spans: list[Span] = []
    block = next((one for one in listed if type_checking(text, one)), None)
    plain = list(statements)
    if typed and block is not None:
        last = text.rstrip()[: block.end].rstrip()
        at = past_newline(text, line_end(text, len(last)))
        inner = text[line_start(text, len(last) - 1) : len(last)]
        indent = inner[: len(inner) - len(inner.lstrip())].decode() or "    "
        spans.append(_at(text, at, "".join(f"{indent}{one}\n" for one in typed)))
    elif typed and not any(one.is_import and b"TYPE_CHECKING" in text[one.start : one.end] for one in listed):
        plain.append("from typing import TYPE_CHECKING")
    behind = "".join(f"{one}\n" for one in plain)
    if typed and block is None:
        behind += "\nif TYPE_CHECKING:\n" + "".join(f"    {one}\n" for one in typed)
    if behind:
        spans.append(_behind(text, listed, behind))
    return spans


def import_end(text: bytes) -> int:
    """Where the imports at the beginning of a file end."""
    return _end(text, tops(text, "python"))[0]


def _behind(text: bytes, listed: list[Top], said: str) -> Span:
    at, has_imports = _end(text, listed)
    if has_imports:
        return _at(text, at, said)
    following = text[at : line_end(text, at)].strip()
    documented = at and not text[:at].lstrip().startswith(b"#")
    before = "\n" if documented and not text[:at].endswith((b"\n\n", b"\r\n\r\n")) else ""
    return _at(text, at, f"{before}{said}" + ("\n" if following else ""))


def _at(text: bytes, at: int, said: str) -> Span:
    if at and at == len(text) and text[-1:] not in (b"\n", b"\r"):
        return Span(start=at, end=at, new="\n" + said.removesuffix("\n"))
    return Span(start=at, end=at, new=said)


def _end(text: bytes, listed: list[Top]) -> tuple[int, bool]:
    """The place after the last import that nothing but imports stands before, and whether there is one."""
    at, found = 0, False
    for index, one in enumerate(listed):
        if one.is_import:
            at, found = past_newline(text, line_end(text, one.end)), True
        elif one.kind == "comment":
            said = text[one.start : one.end]
            if one.start == 0 or (not at and b"coding" in said and one.start < 200):
                of_file = said.startswith(b"#!") or b"coding" in said
                at = past_newline(text, line_end(text, one.end)) if of_file else at
        elif {one.kind, one.inner} & _TEXTS:
            if not any(other.kind != "comment" for other in listed[:index]):
                at = past_newline(text, line_end(text, one.end))
        elif one.kind not in ("if_statement", "try_statement"):
            break
    return at, found
