"""Syntax of C and C++ that the grammars do not know, written in a way that they do; every byte keeps its place."""

import re
from collections.abc import Callable, Sequence
from functools import cache

_NOT_BLANK = re.compile(rb"[^\s]")
_MACRO = rb"[A-Z][A-Z0-9_]{2,}"
_PAIRED = rb"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)"
_PRIMITIVE = rb"(?:unsigned|signed|long|short|int|char|float|double|bool|void|wchar_t|size_t)"
_QUALIFIER = rb"(?:const|volatile|unsigned|signed|long|short|struct|class|enum|union|typename|static|return|case|auto)"


def _blank(match: re.Match[bytes]) -> bytes:
    return _NOT_BLANK.sub(b" ", match[0])


def _without_comments(match: re.Match[bytes]) -> bytes:
    return _COMMENT.sub(_blank, match[0]) if b"/*" in match[0] else match[0]


def _blank_second(match: re.Match[bytes]) -> bytes:
    return match[1] + _NOT_BLANK.sub(b" ", match[2])


def _blank_in_code(match: re.Match[bytes]) -> bytes:
    line = match.string[match.string.rfind(b"\n", 0, match.start()) + 1 : match.start()]
    return match[0] if line.lstrip().startswith(b"#") else _blank_second(match)


def _plus(match: re.Match[bytes]) -> bytes:
    return b"+".rjust(len(match[0]))


def _cast(match: re.Match[bytes]) -> bytes:
    before = match.string[max(0, match.start() - 16) : match.start()]
    # Behind a name it is a part of a type.
    return match[0] if _NAME_BEFORE.search(before) else b"int".ljust(len(match[0]))


def _operator_name(match: re.Match[bytes]) -> bytes:
    return match[1] + b"operator".ljust(len(match[2]), b"_")


def _try(match: re.Match[bytes]) -> bytes:
    return b"try".ljust(len(match[0]))


def _bare_decltype(match: re.Match[bytes]) -> bytes:
    return match[1] + b" " * len(match[2]) + match[3] + b" "


def _catch(match: re.Match[bytes]) -> bytes:
    handler = b"catch" if match[3] else b"catch(...)"
    return match[1] + handler.ljust(len(match[2])) + (match[3] or b"")


def _included(match: re.Match[bytes]) -> bytes:
    return b"(" + b"0".ljust(len(match[0]) - 2) + b")"


def _has_include(match: re.Match[bytes]) -> bytes:
    return _INCLUDED.sub(_included, match[0])


def _without_types(match: re.Match[bytes]) -> bytes:
    """Return a call of a macro with values instead of the types that it is given."""
    if _OPERATOR.search(match[2]):
        return _blank(match)
    given = _TYPE_WORDS.sub(lambda words: b"0".ljust(len(words[0])), match[2])
    given = _QUALIFIERS.sub(_blank, given)
    return match[1] + _POINTERS.sub(_blank, given)


def _join_operands(match: re.Match[bytes]) -> bytes:
    """Return the operand of `decltype` with `+` for each comma between expressions."""
    text = bytearray(match[0])
    depth = angles = 0
    for at, char in enumerate(match[0]):
        if char in b"([{":
            depth += 1
        elif char in b")]}":
            depth -= 1
        elif char == 0x3C:
            # `<<` opens nothing.
            angles += b"<<" not in match[0][at - 1 : at + 2]
        elif char == 0x3E and match[0][at - 1 : at] != b"-":
            angles = max(0, angles - 1)
        elif char == 0x2C and depth == 1 and not angles:
            text[at] = 0x2B
    return bytes(text)


_INCLUDED = re.compile(rb"\([ \t]*(?:<[^<>\n]*>|\"[^\"\n]*\"|\w+::[\w:]+)[ \t]*\)")
_NAME_BEFORE = re.compile(rb"(?<!\breturn)(?<=\w)[ \t\r\n]*\Z")
_TYPE_WORDS = re.compile(rb"\b%s(?:[ \t]+%s)*\b(?![ \t]*[(<:])" % (_PRIMITIVE, _PRIMITIVE))
_QUALIFIERS = re.compile(rb"\b(?:const|volatile|struct|enum|class)\b")
_POINTERS = re.compile(rb"[*&]+(?=[ \t]*[,)])")
_OPERATOR = re.compile(rb"(?<=[(,\t ])[-<>=!|&^+*/%]{1,3}(?=[ \t]*[,)])")
_CATCHES = rb"(?:[A-Z][A-Z0-9]*_)+CATCH(?:_[A-Z0-9]+)*"
_CATCH = re.compile(rb"(\}[ \t\r\n]*)(\b%s[ \t]*)((?<=.{8})\([^()\n]*\)|(?<=.{10}))(?=[ \t\r\n]*\{)" % _CATCHES)
_TRY = re.compile(rb"\b(?:[A-Z][A-Z0-9]*_)+TRY\b(?=\s*\{)")

_DEFINITION = re.compile(rb"(?m)^[ \t]*#[ \t]*define\b[^\n\\]*(?:\\\r?\n[^\n\\]*|\\[^\n])+")
_COMMENT = re.compile(rb"/\*(?:[^*]|\*(?!/))*\*/")

_ATTRIBUTES = rb"DEPRECATED|ATTRIBUTE|ATTR|VISIBILITY"
_SIGN = rb"[-*&<>=!|^+/%]"
_DIRECTIVE = rb"(?m)^[ \t]*#[ \t]*(?:el)?if\b(?:\\\r?\n|[^\n])*"

Rewriting = Callable[[re.Match[bytes]], bytes]
# How what is to be rewritten looks, roughly, for the engine that scans fast; how it looks exactly; what it becomes.
_GAPS: Sequence[tuple[bytes, re.Pattern[bytes], Rewriting]] = (
    # `if CONSTEXPR (`: nothing but `constexpr` or a macro can stand there.
    (rb"\bif[ \t]+%s[ \t]*\(" % _MACRO, re.compile(rb"(\bif[ \t]+)(%s)(?=[ \t]*\()" % _MACRO), _blank_in_code),
    # `enum : unsigned {`
    (rb"\benum[ \t]*:", re.compile(rb"(\benum)([ \t]*:[ \t]*[A-Za-z_][\w: \t]*)(?=\{)"), _blank_second),
    # `unsigned(size)` as a cast.
    (rb"\bunsigned\(", re.compile(rb"unsigned(?=\()"), _cast),
    # `HAS_INCLUDE(<header>)`, `__has_include("header")`, `__has_cpp_attribute(clang::name)`
    (
        rb"(?:HAS_INCLUDE|HAS_CPP_ATTRIBUTE|__has_include|__has_cpp_attribute)[ \t]*\(",
        re.compile(_DIRECTIVE),
        _has_include,
    ),
    # `LIB_PRAGMA(push)`, `LIB_SUPPRESS_WARNING(name)`, and what begins and ends the suppressing of warnings.
    (
        rb"PRAGMA[A-Z0-9_]*\(",
        re.compile(rb"(?m)(^[ \t]*)((?:[A-Z][A-Z0-9]*_)*PRAGMA(?:_[A-Z0-9]+)*%s)(?=[ \t\r]*$)" % _PAIRED),
        _blank_second,
    ),
    (
        rb"(?m:^)[ \t]*[A-Z][A-Z0-9_]*_WARNING",
        re.compile(rb"(?m)(^[ \t]*)(%s_WARNINGS?\w*(?:%s)?)(?=[ \t\r]*$)" % (_MACRO, _PAIRED)),
        _blank_second,
    ),
    # `(Type name UNUSED_WORD)`
    (
        rb"\w[ \t]+[A-Z][A-Z0-9]*_[A-Z0-9_]+[ \t]*[,)]",
        re.compile(
            rb"((?<=[(,])[ \t\r\n]*(?:%s[ \t]+)*(?!%s\b)[A-Za-z_][\w:]*(?:<[^<>()\n]*>)?[ \t*&]+"
            rb"(?!%s\b|%s\b)[A-Za-z_]\w*[ \t]+)([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?=[ \t]*[,)])"
            % (_QUALIFIER, _QUALIFIER, _PRIMITIVE, _QUALIFIER)
        ),
        _blank_second,
    ),
    # `(Class::*member)(`, `(object->*member)(`
    (
        rb"::\*",
        re.compile(rb"(\([ \t]*)((?:\w+(?:<[^<>()\n]*>)?::)+)(?=[ \t]*\*[ \t]*\w*[ \t]*\)[ \t]*\()"),
        _blank_second,
    ),
    (rb"->\*", re.compile(rb"->\*"), _plus),
    (rb"[\w)\]]\.\*[\w(]", re.compile(rb"(?<=[\w)\]])\.\*(?=[\w(])"), _plus),
    # `operator++();`, `operator()<Type>(value)`
    (
        rb"[;{})][ \t\r\n]*operator(?:\+\+|--|\(\)|\[\])[(<]",
        re.compile(rb"([;{})][ \t\r\n]*)(operator(?:\+\+|--|\(\)|\[\]))(?=\(|<\w)"),
        _operator_name,
    ),
    # `typename Pointer = const Type*`
    (
        rb"\btypename[ \t]+\w+[ \t]*=[ \t]*const\b",
        re.compile(rb"(\btypename[ \t]+\w+[ \t]*=[ \t]*)(const\b)(?=[ \t]+\w)"),
        _blank_second,
    ),
    (
        rb"\btypename[ \t]+\w+[ \t]*=[ \t]*[\w:]+[ \t]*[*&]",
        re.compile(rb"(\btypename[ \t]+\w+[ \t]*=[ \t]*[\w:]+[ \t]*)([*&]+)(?=[ \t]*[,>])"),
        _blank_second,
    ),
    # `made(typename Type::Inner(value))`
    (
        rb"\([ \t\r\n]*typename",
        re.compile(
            rb"(\([ \t\r\n]*)(typename)"
            rb"(?=[ \t]+[\w:]+(?:<[^<>()\n]*>)?(?:::(?:template[ \t]+)?\w+(?:<[^<>()\n]*>)?)*\()"
        ),
        _blank_second,
    ),
    # `const char* const = nullptr` of a parameter without a name.
    (
        rb"[*&][ \t]*(?:const[ \t]*)?=[ \t]*(?:nullptr|NULL|0)[ \t]*[,)>]",
        re.compile(rb"(?<=[\w>])[ \t]*[*&][ \t]*(?:const[ \t]*)?=[ \t]*(?:nullptr|NULL|0)(?=[ \t]*[,)>])"),
        _blank,
    ),
    # `new Type*[count]`
    (rb"\bnew[ \t]+[\w:]+[ \t]*\*", re.compile(rb"(\bnew[ \t]+[\w:]+[ \t]*)(\*+)(?=[ \t]*\[)"), _blank_second),
    # `"%" PRIu64 " bytes"`
    (rb"\"[ \t\r\n]*PRI[diouxX]", re.compile(rb"(\"[ \t\r\n]*)(\bPRI[diouxX]\w*)"), _blank_second),
    # `decltype(first, second)`
    (
        rb"\bdecltype\(",
        re.compile(
            rb"(?<=\bdecltype)\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*,(?:[^;{}]|\{\})*?\)"
            rb"(?=[ \t\r\n]*[,;{>)]|\Z)"
        ),
        _join_operands,
    ),
    # `std::unique_ptr<Type, decltype(deleter)> name{…}`
    (
        rb",[ \t\r\n]*decltype\(\w+\)[ \t]*>",
        re.compile(rb"(,[ \t\r\n]*)(decltype\((?=\w+\)[ \t]*>))(\w+)\)"),
        _bare_decltype,
    ),
    # `LIB_DEPRECATED("why")` and `LIB_ATTRIBUTE_NAME` before a declaration.
    (
        rb"(?m:^)[ \t]*(?:[A-Z][A-Z0-9]*_)+(?:%s)" % _ATTRIBUTES,
        re.compile(
            rb"(?m)(^[ \t]*)((?:[A-Z][A-Z0-9]*_)+(?:%s)(?:_[A-Z0-9]+)*(?:%s|\b))(?=\s+(?://[^\n]*\n\s*)?[A-Za-z_~\[])"
            % (_ATTRIBUTES, _PAIRED)
        ),
        _blank_second,
    ),
    # `Type* operator->() LIB_ATTRIBUTE_NAME {`
    (
        rb"\)[ \t]+(?:const[ \t]+)?[A-Z][A-Z0-9]*_[A-Z0-9_]+[ \t\r\n]*\{",
        re.compile(rb"(\)[ \t]+(?:const[ \t]+)?)([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?=[ \t\r\n]*\{)"),
        _blank_in_code,
    ),
    # `MAKE_NAME(unsigned long, name)` on a line of its own.
    (
        rb"(?m:^)[ \t]*[A-Z][A-Z0-9]*_[A-Z0-9_]+\([^()\n;\"{}]*(?:\b%s\b|%s[ \t]*[,)])" % (_PRIMITIVE, _SIGN),
        re.compile(
            rb"(?m)(^[ \t]*[A-Z][A-Z0-9]*_[A-Z0-9_]+)"
            rb"(\((?=[^()\n;\"]*\b%s\b|[^()\n;\"]*%s[ \t]*[,)])[^()\n;\"{}]*\))(?=[ \t]*;?[ \t\r]*$)"
            % (_PRIMITIVE, _SIGN)
        ),
        _without_types,
    ),
)
_HANDLER = rb"\}[ \t\r\n]*%s" % _CATCHES
_ANY = b"|".join((*(rough for rough, _, _ in _GAPS), _HANDLER))


def close_gaps(text: bytes) -> bytes:
    """Return the text in words that the grammars know."""
    if b"*/" in text and b"\\\n" in text:
        # A comment would end the text of a macro.
        text = _DEFINITION.sub(_without_comments, text)
    if fast_pattern(_ANY).search(text) is None:
        return text
    for rough, pattern, rewriting in _GAPS:
        if fast_pattern(rough).search(text) is not None:
            text = pattern.sub(rewriting, text)
    if fast_pattern(_HANDLER).search(text) is not None and _CATCH.search(text):
        text = _CATCH.sub(_catch, _TRY.sub(_try, text))
    return text


@cache
def fast_pattern(pattern: bytes) -> re.Pattern[bytes]:
    """Compile a pattern for the engine without backtracking; loaded on first use."""
    import re2  # type: ignore[import-untyped]  # the package ships no types

    compiled: re.Pattern[bytes] = re2.compile(pattern)
    return compiled
