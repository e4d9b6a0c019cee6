"""The places of a name in the text of a file."""

import re
from functools import cache

import numpy as np

from codeplane.code.languages.language import Language
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.model import Facts

_WORD = bytes(byte >= 128 or chr(byte).isalnum() or chr(byte) in "_$" for byte in range(256))
_LONG_TEXT = 400
_FAR = 400
_NEAR = 40
_TEXT_OPENS = re.compile(rb"/[*/]|#|[A-Za-z]{0,2}[\"']")
_ASSIGNS = re.compile(rb"\s*(?:[-+*/%|&^]|\*\*|\|\||&&|<<|>>)?=(?![=~>])")
_ARROW = re.compile(rb"\s*=>")
_INDEXED = re.compile(rb"[\w\])]\s*\[\s*$")
# With more places than this, an array is faster than checking them one by one.
_FEW = 20


def occurrences(text: bytes, name: str) -> list[int]:
    """Return the places where a name occurs as a whole word."""
    # `bytes.find` is many times faster than a pattern with a lookbehind.
    wanted = name.encode()
    length, end = len(wanted), len(text)
    found = []
    at = text.find(wanted)
    while at >= 0:
        if (at == 0 or not _WORD[text[at - 1]]) and (at + length >= end or not _WORD[text[at + length]]):
            found.append(at)
        at = text.find(wanted, at + 1)
    return found


def name_places(rules: NameRules, text: bytes, name: str) -> list[int]:
    """Return the places where a name occurs, with those behind a sign that may stand before it."""
    offsets = without_sign(rules.private_sign, text, name, occurrences(text, name))
    sign = rules.sign_before.encode()
    if not sign or sign + name.encode() not in text:
        return offsets
    behind = re.finditer(rb"%s(%s)(?![\w$\x80-\xff])" % (re.escape(sign), re.escape(name.encode())), text)
    return sorted({*offsets, *(match.start(1) for match in behind)})


def without_sign(sign: str, text: bytes, name: str, offsets: list[int]) -> list[int]:
    """Return the places of a name without those where a sign makes it another name: `#name` of a class, `@name`."""
    if not sign or name.startswith(sign):
        return offsets
    mark = sign.encode()
    return [at for at in offsets if text[at - 1 : at] != mark]


def places_in_code(facts: Facts, offsets: list[int]) -> list[int]:
    """Return the places that are not inside strings and comments."""
    if len(offsets) <= _FEW:
        return [at for at in offsets if not facts.in_text(at)]
    texts = facts.texts
    if not len(texts):
        return offsets
    places = np.array(offsets, dtype=np.int64)
    before = texts[:, 0].searchsorted(places, side="right") - 1
    inside = (before >= 0) & (places < texts[before, 1])
    return places[~inside].tolist() if inside.any() else offsets


def with_names_in_strings(
    language: Language, facts: Facts, text: bytes, offsets: list[int], in_code: list[int], length: int
) -> list[int]:
    """Return the places in code with those in strings of attributes that are paths, and in strings that are formats."""
    keys, formats = language.names.attribute_paths, language.names.format_strings
    if not (keys or formats) or len(in_code) == len(offsets):
        return in_code
    pattern = _attribute_before(keys)
    code = frozenset(in_code)
    return [
        at
        for at in offsets
        if at in code
        or (keys and pattern.search(text[max(0, at - _FAR) : at]))
        or (formats and _is_in_format(facts, text, at, at + length))
    ]


def _is_in_format(facts: Facts, text: bytes, at: int, end: int) -> bool:
    """Whether a place in a string is what a format string says with `{name}` or `{name:…}`."""
    if text[at - 1 : at] != b"{" or text[at - 2 : at - 1] == b"{" or text[end : end + 1] not in (b"}", b":"):
        return False
    start, _ = facts.text_span(at)
    return text[start : start + 1] in (b'"', b"r")


@cache
def _attribute_before(keys: frozenset[str]) -> re.Pattern[bytes]:
    """Return the pattern of what stands before a name in the path of an attribute."""
    return re.compile(rb'#!?\[[^\]]*\b(?:%s)\s*=\s*"[\w:]*\Z' % "|".join(sorted(keys)).encode())


def doubtful_places(facts: Facts, text: bytes, offsets: list[int]) -> frozenset[int]:
    """Return the places in text that may be code: after a syntax error, a closing quote can seem to open a string."""
    long = facts.texts[facts.texts[:, 1] - facts.texts[:, 0] > _LONG_TEXT]
    spans = [(start, end) for start, end in long.tolist() if not _TEXT_OPENS.match(text, start)]
    return frozenset(offset for offset in offsets if any(start <= offset < end for start, end in spans))


def is_documentation_link(language: Language, text: bytes, offset: int) -> bool:
    """Whether a place in a comment is linked to what its name means there: `{@link name}`."""
    before = language.names.documentation_link
    return before is not None and before.search(text, max(0, offset - _NEAR), offset) is not None


def symbol_places(language: Language, facts: Facts, text: bytes, name: str) -> frozenset[int]:
    """Return the places that may call a method without its plain name: symbols, and assignments that call `name=`."""
    if not language.names.symbols:
        return frozenset()
    if name.endswith("="):
        end = len(name.encode()) - 1
        places = (at for at in occurrences(text, name[:-1]) if _ASSIGNS.match(text, at + end))
        return frozenset(at for at in places if not facts.in_text(at) and text[:at].rstrip().endswith(b"."))
    symbols = (at for at in occurrences(text, name) if facts.in_text(at) and text[at - 1 : at] == b":")
    return frozenset(at for at in symbols if text[at - 2 : at - 1] != b":")


def text_places(facts: Facts, text: bytes, name: str) -> frozenset[int]:
    """Return the places in texts that are names: of a function, a class, or both as `'Class::method'`."""
    pattern = re.compile(rb"""(['"])(?:[\w\\]+(?:::|@|\.|\\))?(%s)(?:(?:::|@|\.)\w+)?\1""" % re.escape(name.encode()))
    found = ((match.start(2), match) for match in pattern.finditer(text))
    return frozenset(at for at, match in found if facts.in_text(at) and not _is_key(text, match.start(), match.end()))


def path_places(facts: Facts, text: bytes, name: str) -> frozenset[int]:
    """Return the places in texts that are the whole path of a type: `'some.package.Type'`, also of one inside of it."""
    pattern = re.compile(rb"""(['"])(?:[a-z_][\w]*\.)+(?:[A-Z]\w*[.$])*(%s)(?:[.$]\w+)*\1""" % re.escape(name.encode()))
    return frozenset(match.start(2) for match in pattern.finditer(text) if facts.in_text(match.start(2)))


def _is_key(text: bytes, start: int, end: int) -> bool:
    """Whether a text is a key of an array: `'name' =>`, `array['name']`."""
    return bool(_ARROW.match(text, end)) or (text[end : end + 1] == b"]" and bool(_INDEXED.search(text[:start][-40:])))
