"""Macros that a file defines as nothing, as words that only say how something is declared, or as what a statement
depends on, replaced by blanks."""

import re
from collections.abc import Mapping

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?!\w|\()((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_COMMENT = re.compile(rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|\\\r?\n")
_PAIRED = rb"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_SPECIFIER = re.compile(
    rb"\s+|extern[ \t]*\"C(?:\+\+)?\"|\[\[[^\[\]]*\]\]|"
    rb"(?:__attribute__|__attribute|__declspec|_Pragma|__pragma|_Alignas|alignas|noexcept|throw)\s*%s|"
    rb"(?:inline|static|extern|constexpr|consteval|constinit|volatile|register|restrict|explicit|virtual|override|final|"
    rb"noexcept|thread_local|_Noreturn|__extension__|__inline(?:__)?|__forceinline|__restrict(?:__)?|__volatile__|"
    rb"__cdecl|__stdcall|__fastcall|__thiscall|__vectorcall|__unaligned)\b|"
    rb"(?P<word>[A-Za-z_]\w*)" % _PAIRED
)
# `if (ready())`, which begins a statement and declares nothing: what follows is no type's name.
_CONDITION = re.compile(rb"\s*(?:(?:if|while)\s*(%s)(?:\s*(?:;|\{\s*\})\s*else\b)?|else\b)" % _PAIRED)
_ASSIGNMENT = re.compile(rb"(?<![=!<>])=(?!=)|;")
_MAX_DEPTH = 4


def blank_own_specifiers(text: bytes) -> bytes:
    """Blank the uses of such macros behind the place where the file itself defines them."""
    bodies: dict[bytes, list[bytes]] = {}
    defined: dict[bytes, int] = {}
    for define in _DEFINE.finditer(text):
        bodies.setdefault(define[1], []).append(_COMMENT.sub(b" ", define[2]))
        defined.setdefault(define[1], define.end())
    blank = {name for name in bodies if _is_blank(name, bodies)}
    if not blank:
        return text
    changed: bytearray | None = None
    for use in re.compile(rb"\b(?:%s)\b" % b"|".join(sorted(blank))).finditer(text):
        start, end = use.span()
        if start > defined[use[0]] and text[end : end + 1] != b"(" and not _is_directive(text, start):
            changed = changed or bytearray(text)
            changed[start:end] = b" " * (end - start)
    return bytes(changed) if changed is not None else text


def _is_blank(name: bytes, bodies: Mapping[bytes, list[bytes]], depth: int = 0) -> bool:
    """Whether code declares the same names with all that a macro stands for, in any branch, left out."""
    return depth < _MAX_DEPTH and all(_is_specifier(body, bodies, depth) for body in bodies.get(name, [b"0"]))


def _is_specifier(body: bytes, bodies: Mapping[bytes, list[bytes]], depth: int) -> bool:
    condition = _CONDITION.match(body)
    if condition is not None and _ASSIGNMENT.search(condition[1] or b"") is not None:
        return False
    at = condition.end() if condition is not None else 0
    while at < len(body):
        match = _SPECIFIER.match(body, at)
        if match is None or (match["word"] is not None and not _is_blank(match["word"], bodies, depth + 1)):
            return False
        at = match.end()
    return True


def _is_directive(text: bytes, at: int) -> bool:
    """Whether a place is in a line for the preprocessor, or in one that goes on from such a line."""
    begin = text.rfind(b"\n", 0, at) + 1
    while begin > 1 and text[max(0, begin - 3) : begin].rstrip().endswith(b"\\"):
        begin = text.rfind(b"\n", 0, begin - 1) + 1
    return text[begin:at].lstrip()[:1] == b"#"
