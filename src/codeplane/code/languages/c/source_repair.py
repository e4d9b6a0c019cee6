"""Macros that stand where the grammars of C and C++ expect nothing, replaced by blanks; every byte keeps its place."""

import re

from codeplane.code.languages.c.conditions import without_inner_conditions
from codeplane.code.languages.c.grammar_gaps import close_gaps, fast_pattern
from codeplane.code.languages.c.specifier_macros import blank_own_specifiers

_MACRO = rb"[A-Z][A-Z0-9_]{2,}"
_NESTED = rb"\((?:[^()\n]|\([^()\n]*\))*\)"
# `class API Name {`, `struct ALIGNED(8) Name {`
_BEFORE_TYPE_NAME = re.compile(
    rb"\b((?:class|struct)[ \t]+)(%s(?:%s)?[ \t]+)(?=[A-Za-z_]\w*\s*(?:final\s*)?[{:](?!:))" % (_MACRO, _NESTED)
)
# `API int name(`, `API Type *(name) (`
_BEFORE_DECLARATION = re.compile(
    rb"^([ \t]*(?:(?:extern|static|inline|virtual|explicit)[ \t]+)*)(%s[ \t]+)"
    rb"(?=(?:(?:const|volatile|static|inline|extern|unsigned|signed|long|short|struct|enum|union|virtual|explicit|"
    rb"constexpr)[ \t]+)*[A-Za-z_][\w:]*(?:<[^;()\n]*>)?[ \t*&]+\(?[*&]*[A-Za-z_~][\w:~]*\)?[ \t]*[(\[;={,])" % _MACRO,
    re.MULTILINE,
)
# `INLINE Name::Name(`: constructors and destructors have no type in between.
_BEFORE_CONSTRUCTOR = re.compile(
    rb"^()(%s[ \t]+)(?=(?:[A-Za-z_]\w*(?:<[^;()\n]*>)?::)+~?[A-Za-z_]\w*[ \t]*\()" % _MACRO, re.MULTILINE
)
# What the checker of locks reads behind a declaration, and what stands for words that old compilers do not know.
_LOCKS = (
    rb"(?:[A-Z]+_)*(?:PT_GUARDED_BY|GUARDED_BY|(?:EXCLUSIVE|SHARED)_LOCKS_REQUIRED|LOCKS_EXCLUDED|"
    rb"(?:EXCLUSIVE_|SHARED_)?(?:TRY)?LOCK_FUNCTION|UNLOCK_FUNCTION|LOCK_RETURNED|ASSERT_EXCLUSIVE_LOCK|ACQUIRED_AFTER|"
    rb"ACQUIRED_BEFORE|NO_THREAD_SAFETY_ANALYSIS|PRINTF_ATTRIBUTE|PRINTF_FORMAT|LIFETIME_?BOUND|ATTRIBUTE_[A-Z_]+|NOEXCEPT(?:_IF\w*)?|NOTHROW|OVERRIDE|FINAL)"
)
_BEHIND_DECLARATION = re.compile(
    rb"([\w)\]]\s+)(%s(?:%s)?)(?=\s*[;{=,:]|\s+(?:const|override|final)\b)" % (_LOCKS, _NESTED)
)
# `template API std::shared_ptr<Type> name<…>(`, `void INLINE Type<T>::name(`, `CONSTEXPR Type() :`. By convention the
# last word of such a macro is what it stands for, so that two names in a row are no declaration of the second.
_CONVENTION_WORD = (
    rb"(?:[A-Z][A-Z0-9]*_)+(?:(?:ALWAYS_|FORCE_|NEVER_|NO)?INLINE(?:_VARIABLE)?|FORCEINLINE|CONST(?:EXPR|EVAL|INIT)[A-Z0-9_]*|"
    rb"[A-Z]*API|EXPORT|FUNC|NORETURN|NO_RETURN|NODISCARD|WARN_UNUSED_RESULT|DEPRECATED|EXPLICIT|(?:MAYBE_)?UNUSED)"
)
_SPECIFIER_WORD = re.compile(rb"()(\b%s\b)(?=\s+(?!(?:and|or|not)\b)[A-Za-z_~\[])" % _CONVENTION_WORD)
# `TRY {` of code that may be compiled without exceptions.
_TRY = re.compile(rb"()(\b(?:[A-Z][A-Z0-9]*_)+TRY\b)(?=\s*\{)")
# `LIB_BEGIN_NAMESPACE` and `LIB_END_EXPORT` open and close what another file's macro says, alone on their lines.
_BLOCK_WORD = rb"(?:NAMESPACE|NS|EXPORT|DECLS)"
_OPENS = rb"(?m:^)[ \t]*(?:[A-Z0-9]*_)*(?:(?:BEGIN|END)(?:_[A-Z0-9]+)*_%s|%s_(?:BEGIN|END))[ \t\r]*(?m:$)" % (
    _BLOCK_WORD,
    _BLOCK_WORD,
)
BLOCK_MACRO = re.compile(
    rb"^([ \t]*)((?:[A-Z0-9]*_)*(?:(?:BEGIN|END)(?:_[A-Z0-9]+)*_%s|%s_(?:BEGIN|END)))(?=[ \t\r]*$)"
    % (_BLOCK_WORD, _BLOCK_WORD),
    re.MULTILINE,
)
# `PRIVATE_UNLESS_TESTED:` in a class.
_ACCESS_WORD = rb"(?:[A-Z0-9]+_)*(?:PRIVATE|PROTECTED|PUBLIC)(?:_[A-Z0-9]+)*:"
_ACCESS = re.compile(rb"([ \t]*)(%s)(?=[ \t\r]*$)" % _ACCESS_WORD, re.MULTILINE)
# `const Type &name = {}` of a parameter, which the grammar does not know; the value names nothing.
_EMPTY_DEFAULT = re.compile(rb"=([ \t]*)(\{[ \t]*\})(?=\s*[,)])")
# `void *(CALL *name)(`
_IN_POINTER = re.compile(rb"(\()(%s[ \t]+)(?=\*[ \t]*\w*[ \t]*\)[ \t]*\()" % _MACRO)
_CONVENTION = rb"[\w*][ \t]+(?:[A-Z]+_)*(?:CDECL|STDCALL|FASTCALL|WINAPI|CALLBACK|APIENTRY)[ \t]+"
_CALLING = re.compile(
    rb"([\w*][ \t]+)((?:[A-Z]+_)*(?:CDECL|STDCALL|FASTCALL|WINAPI|CALLBACK|APIENTRY)[ \t]+)(?=\w+[ \t]*\()"
)
# The brace of `extern "C" {` opens in one block for C++ and closes in another.
_LINKAGE = re.compile(
    rb"(^[ \t]*#[ \t]*if(?:def[ \t]+__cplusplus|[ \t]+defined[ \t]*\(?[ \t]*__cplusplus[ \t]*\)?)[^\n]*\n(?:[ \t]*\n)*)"
    rb"([ \t]*(?:extern[ \t]*\"C\"[ \t\r\n]*\{|\})[^\n#]*)(?=\n\s*#[ \t]*endif)",
    re.MULTILINE,
)
# `int EXPORT name(`, `Type *EXPORT name(`: a type stands before it, so that it is none itself.
_SPECIFIER = (
    rb"(?:static|extern|inline|const|volatile|register|virtual|explicit|struct|enum|union|class|typedef|return)"
)
_BEFORE_NAME = re.compile(
    rb"^([ \t]*(?:%s[ \t]+)*(?!(?:%s|else|do|throw|new|delete)\b)[A-Za-z_][\w:]*(?:<[^<>;()\n]*>)?[ \t*]+"
    rb"(?:const[ \t*]+)?)(%s[ \t]+)(?=(?:[A-Za-z_]\w*|operator[ \t]*[^\w\s(]{1,3})[ \t]*\()"
    % (_SPECIFIER, _SPECIFIER, _MACRO),
    re.MULTILINE,
)
# `local Type name(`: three names in a row, of which the first can only be a macro.
_WORD = (
    rb"(?!(?:%s|unsigned|signed|long|short|auto|using|template|friend|namespace|else|case|goto|new|delete|throw|operator|"
    rb"constexpr|consteval|constinit|mutable|public|private|protected|co_return|co_yield|co_await|thread_local|restrict|"
    rb"concept|requires|export|module|import|asm|typename|decltype|alignas|final|override|int|char|float|double|void|bool|"
    rb"not|and|or)\b)[a-z_]\w*" % _SPECIFIER
)
_WORD_BEFORE_DECLARATION = re.compile(
    rb"^()(%s[ \t]+)(?=(?:(?:const|volatile|unsigned|signed|long|short|struct|enum|union)[ \t]+)*"
    rb"(?!(?:%s|operator)\b)[A-Za-z_]\w*[ \t*]+[A-Za-z_]\w*[ \t]*[(\[;=])" % (_WORD, _SPECIFIER),
    re.MULTILINE,
)
# `template <typename T, ENABLE_IF(condition)>`: a parameter whose default is the condition.
_CONSTRAINT = re.compile(rb"(?<=[,<])(\s*)(\b(?:[A-Z][A-Z0-9]*_)+ENABLE_IF)(?=\()")
# `MSC_WARNING(suppress : 4996)`
_SUPPRESSED = re.compile(rb"()(\b%s\([ \t]*suppress[ \t]*:[^()\n]*\))" % _MACRO)
# Each pattern, and how what it finds begins, which costs a tenth to look for.
_PATTERNS = (
    (_SPECIFIER_WORD, rb"\b%s\s" % _CONVENTION_WORD),
    (_SUPPRESSED, rb"\b%s\([ \t]*suppress[ \t]*:" % _MACRO),
    (_TRY, rb"\b(?:[A-Z][A-Z0-9]*_)+TRY\s*\{"),
    (BLOCK_MACRO, _OPENS),
    (_ACCESS, rb"(?m:^)[ \t]*" + _ACCESS_WORD),
    (_BEFORE_TYPE_NAME, rb"\b(?:class|struct)[ \t]+%s" % _MACRO),
    (
        _BEFORE_DECLARATION,
        rb"(?m:^)[ \t]*(?:(?:extern|static|inline|virtual|explicit)[ \t]+)*%s[ \t]+[A-Za-z_]" % _MACRO,
    ),
    (_BEFORE_CONSTRUCTOR, rb"(?m:^)%s[ \t]+[A-Za-z_]\w*(?:<|::)" % _MACRO),
    (_BEHIND_DECLARATION, rb"[\w)\]]\s+%s" % _LOCKS),
    (_IN_POINTER, rb"\(%s[ \t]+\*" % _MACRO),
    (_CALLING, _CONVENTION),
    (_BEFORE_NAME, rb"(?m:^)[ \t]*[A-Za-z_][\w:<>, \t*]*[ \t*]%s[ \t]+[A-Za-z_]\w*[^\w\n(]*\(" % _MACRO),
    (_WORD_BEFORE_DECLARATION, rb"(?m:^)[a-z_]\w*[ \t]+[A-Za-z_][\w \t*]*[ \t*][A-Za-z_]\w*[ \t]*[(\[;=]"),
)
_ANY = b"|".join(beginning for _, beginning in _PATTERNS)
_NOT_BLANK = re.compile(rb"[^\s]")


def blank_macros(text: bytes) -> bytes:
    """Return the text without macros that say how something is linked, called or locked."""
    if b"__cplusplus" in text:
        text = _LINKAGE.sub(_blank_match, text)
    if b"define" in text:
        text = blank_own_specifiers(text)
    text = _EMPTY_DEFAULT.sub(_zeros, text)
    if b"ENABLE_IF" in text:
        text = _CONSTRAINT.sub(_constraint, text)
    text = close_gaps(text)
    if b"#" in text:
        text = without_inner_conditions(text)
    if fast_pattern(_ANY).search(text) is None:
        return text
    for pattern, beginning in _PATTERNS:
        text = _replace(pattern, fast_pattern(beginning), text)
    return text


def _replace(pattern: re.Pattern[bytes], beginning: re.Pattern[bytes], text: bytes) -> bytes:
    """Blank what a pattern matches, looking only where such a match may begin."""
    parts: list[bytes] = []
    done = 0
    for candidate in beginning.finditer(text):
        start = candidate.start()
        if start < done or _is_directive(text, start):
            continue
        if (match := pattern.match(text, start)) is not None:
            parts += (text[done:start], _blank_match(match))
            done = match.end()
    return b"".join((*parts, text[done:])) if parts else text


def _is_directive(text: bytes, at: int) -> bool:
    """Whether a place is in a line for the preprocessor."""
    return text[text.rfind(b"\n", 0, at) + 1 : at].lstrip()[:1] == b"#"


def _blank_match(match: re.Match[bytes]) -> bytes:
    return match[1] + _NOT_BLANK.sub(b" ", match[2])


def _zeros(match: re.Match[bytes]) -> bytes:
    return b"=" + match[1] + b"0" * len(match[2])


def _constraint(match: re.Match[bytes]) -> bytes:
    return match[1] + b"int =".ljust(len(match[2]))
