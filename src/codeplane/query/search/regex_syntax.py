"""Regular expressions as ripgrep reads them, written for RE2; what RE2 cannot say is refused."""

import re
from dataclasses import dataclass

from codeplane.kernel.errors import InvalidArgument

_LETTERS = r"\p{L}\p{M}\p{Nl}\x{24b6}-\x{24e9}"
_LINKS = r"\x{203f}\x{2040}\x{2054}\x{fe33}\x{fe34}\x{fe4d}-\x{fe4f}\x{ff3f}\x{200c}\x{200d}"
_SPACES = r"\t\n\v\f\r \x{85}\p{Z}"
# What a letter behind a backslash stands for, as the inside of a class.
_CLASSES = {"w": rf"{_LETTERS}\p{{Nd}}_{_LINKS}", "d": r"\p{Nd}", "s": _SPACES}
# What is left of them when others are taken away, as people write it.
_WITHOUT = {
    r"[^\W_]": rf"[{_LETTERS}\p{{Nd}}{_LINKS}]",
    r"[^\W\d_]": rf"[{_LETTERS}{_LINKS}]",
    r"[^\W\d]": rf"[{_LETTERS}_{_LINKS}]",
    r"[^\S\n]": r"[\t\v\f\r \x{85}\p{Z}]",
    r"[^\S\r\n]": r"[\t\v\f \x{85}\p{Z}]",
}
_NAMED = re.compile(r"\[:\^?\w+:\]")
_ESCAPE = re.compile(r"\\(?:x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|[pP].|.)", re.DOTALL)
_HINT = "RE2 syntax, as ripgrep reads it; use mode=literal for text as it stands"


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """An expression for RE2; `beside` says at which ends a match may not continue a word."""

    source: str
    is_unicode: bool
    """Whether it can match more than ASCII."""
    beside: tuple[bool, bool]


def translate(expression: str, *, ignore_case: bool) -> Translated:
    """Write an expression for RE2 that means what ripgrep takes it for; InvalidArgument if there is none."""
    if r"\Q" in expression:
        return Translated(source=expression, is_unicode=not expression.isascii(), beside=(False, False))
    text, beside = _without_word_ends(expression)
    parts: list[str] = []
    is_unicode = ignore_case or "(?i" in expression or not expression.isascii()
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            escape = _ESCAPE.match(text, at)
            if escape is None:
                raise InvalidArgument("this regular expression is not supported: it ends in a backslash", hint=_HINT)
            _refuse_anchor(text, escape.group(), at, escape.end())
            written, more = _read_escape(escape.group())
            at = escape.end()
        elif char == "[":
            end = _class_end(text, at)
            written, more = _class(text[at:end])
            at = end
        else:
            written, more = char, char == "."
            at += 1
        parts.append(written)
        is_unicode = is_unicode or more
    return Translated(source="".join(parts), is_unicode=is_unicode, beside=beside)


def is_word(char: str) -> bool:
    r"""Whether a character is one of those that `\w` stands for."""
    return char == "_" or char.isalnum()


def _without_word_ends(expression: str) -> tuple[str, tuple[bool, bool]]:
    r"""Leave out `\b` where words are taken whole anyway; say at which ends a match may not continue a word."""
    text = expression
    first, last = text.startswith(r"\b"), text.endswith(r"\b") and not text.endswith(r"\\b")
    if first and text.startswith((r"\b\w+", r"\b\w*")) and "|" not in text:
        text, first = text[2:], False
    if last and text.endswith((r"\w+\b", r"\w*\b")) and "|" not in text:
        text, last = text[:-2], False
    return text, (first, last)


def _refuse_anchor(text: str, escape: str, start: int, end: int) -> None:
    if escape in (r"\A", r"\z", r"\G", r"\C"):
        raise InvalidArgument(
            f"{escape} is not supported: lines are searched one by one", hint="^ and $ match their ends"
        )
    if escape not in (r"\b", r"\B"):
        return
    is_ascii = (text[max(start - 1, 0) : start] + text[end : end + 1]).isascii()
    if not is_ascii or text[end : end + 2] == r"\w" or text[max(start - 2, 0) : start] == r"\w":
        beside = r"\w" if is_ascii else "letters outside of ASCII"
        raise InvalidArgument(
            f"{escape} beside {beside} is not supported",
            hint="leave it out, or name what stands beside the word: (^|[^a-z])",
        )


def _read_escape(escape: str) -> tuple[str, bool]:
    kind = escape[1]
    if kind in _CLASSES:
        return f"[{_CLASSES[kind]}]", True
    if kind.lower() in _CLASSES:
        return f"[^{_CLASSES[kind.lower()]}]", True
    return escape, kind in "pPx"


def _class_end(text: str, at: int) -> int:
    start = at
    at += 2 if text[at + 1 : at + 2] == "^" else 1
    first = at
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif (named := _NAMED.match(text, at)) is not None:
            at = named.end()
        elif text[at] == "]" and at > first:
            return at + 1
        elif text[at] == "[" or text[at : at + 2] in ("&&", "--", "~~"):
            raise InvalidArgument(
                f"classes of classes are not supported: {text[start : at + 2]}", hint="escape it with a backslash"
            )
        else:
            at += 1
    raise InvalidArgument("this regular expression is not supported: a class is not closed", hint=_HINT)


def _class(text: str) -> tuple[str, bool]:
    if text in _WITHOUT:
        return _WITHOUT[text], True
    is_negated = text.startswith("[^")
    inside, others, more = [], [], is_negated or not text.isascii()
    at = 2 if is_negated else 1
    while at < len(text) - 1:
        escape = _ESCAPE.match(text, at) if text[at] == "\\" else None
        token = escape.group() if escape is not None else text[at]
        at += len(token)
        kind = token[1] if escape is not None else ""
        if kind in _CLASSES:
            inside.append(_CLASSES[kind])
            more = True
        elif kind and kind.lower() in _CLASSES:
            others.append(f"[^{_CLASSES[kind.lower()]}]")
            more = True
        else:
            inside.append(token)
            more = more or kind in ("p", "P", "x")
    if others and is_negated:
        raise InvalidArgument(f"{text} is not supported: what is left of a class", hint="list what it matches")
    written = f"[{'^' if is_negated else ''}{''.join(inside)}]" if inside else ""
    if not others:
        return written, more
    return f"(?:{'|'.join([*others, *([written] if written else [])])})", more
