"""Secrets taken out of text: shapes that are known, assignments that look like one, and those that were named."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonValue, dumps
from codeplane.kernel.secret_matcher import Spans, merge_spans, splice

if TYPE_CHECKING:
    from codeplane.kernel.secret_matcher import SecretMatcher

OWNER_PREFIX = "cpl_"
DEVICE_PREFIX = "cpd_"
MARK = "[redacted]"
_SHORTEST_KNOWN = 8
# A private key of 16,384 bits.
_LONGEST_SHAPE = 16 * 1024
# What no shell and no language takes for more than a word.
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.+/=~"
_COUNTS = re.compile(rb'"(?:input_|output_|cached_|reasoning_|tool_|max_tool_|context_)?tokens":(?:\d+|null)(?=[,}])')
_DEEPEST = 100

_Judge = Callable[[bytes], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """A way secrets are written: what comes before stays (first group), the secret goes (second group)."""

    pattern: str
    judge: _Judge | None = None


def _random(value: bytes) -> bool:
    """Whether it looks drawn by lot: letters and digits mixed, and no letter used much more than others."""
    return _has_digit(value) and any(chr(sign).isalpha() for sign in value) and _entropy(value) >= 3.0


def _has_digit(value: bytes) -> bool:
    return any(0x30 <= sign <= 0x39 for sign in value)


def _entropy(value: bytes) -> float:
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())


def _is_assigned_secret(value: bytes) -> bool:
    """Whether what is assigned to a secret's name is one, and not code, a path, a placeholder or a plain word."""
    bare = value.strip(b"\"'`")
    if len(bare) < 8 or bare[:1] in b"<{$%*&([" or any(sign in bare for sign in (b"(", b"${", b"{{", b"://", b"]")):
        return False
    letters, digits = any(chr(sign).isalpha() for sign in bare), _has_digit(bare)
    if not (letters and digits):
        return False
    words = bare.replace(b"-", b"_").replace(b".", b"_").split(b"_")
    # `user_2`, `settings.V1`, `sha256`: words with a number behind them are names.
    if all(part.isalpha() or part.isdigit() or not part or _is_counter(part) for part in words):
        return False
    return _entropy(bare) >= (2.5 if len(bare) < 16 else 3.0)


def _is_option_secret(value: bytes) -> bool:
    """Whether an option's value is a real one, and not a name for it."""
    return _is_password(value) and not value.isupper() and value[:1] != b"-"


def _is_counter(part: bytes) -> bool:
    return part.rstrip(b"0123456789").isalpha() and len(part) - len(part.rstrip(b"0123456789")) <= 3


def _is_password(value: bytes) -> bool:
    """Whether a password in an address is a real one: documentation writes `password`, templates a variable."""
    return value.lower() not in _STAND_INS and value[:1] not in b"<{$%*["


_STAND_INS = frozenset({b"password", b"pass", b"passwd", b"pwd", b"secret", b"xxx", b"xxxx", b"...", b"token"})
_NAMES = (
    r"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|account[_-]?key"
    r"|credential)s?|(?:\b|_)(?:pwd|pass)"
)
_SHAPES = (
    _Shape(
        pattern=r"()(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[A-Za-z0-9+/=\s\\:,.()_\"'-]{32,}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})+(?:(?:[\r\n]|\\[nr])+[A-Za-z0-9+/=]+)?))"
    ),
    _Shape(pattern=r"()(\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"),
    _Shape(pattern=r"()(\b(?:cpl|cpd)_[A-Za-z0-9_-]{32,})"),
    _Shape(pattern=r"()(\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}\b)", judge=_has_digit),
    _Shape(pattern=r"()(\bgh[pousr]_[A-Za-z0-9]{36,255}|\bgithub_pat_[A-Za-z0-9_]{22,255})"),
    _Shape(pattern=r"()(\bgl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_-]{20,})", judge=_random),
    _Shape(pattern=r"()(\bxox[abceoprs]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{20,})", judge=_has_digit),
    _Shape(pattern=r"(hooks\.slack\.com/services/)([A-Za-z0-9_]+/[A-Za-z0-9_]+/[A-Za-z0-9_]{16,})"),
    _Shape(pattern=r"()(\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,})"),
    _Shape(pattern=r"()(\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{24,})"),
    _Shape(pattern=r"()(\bsk-[A-Za-z0-9_-]{20,})", judge=_random),
    _Shape(pattern=r"()(\bnpm_[A-Za-z0-9]{36}\b|\bhf_[A-Za-z0-9]{30,}|\bdo[opr]_v1_[a-f0-9]{64})", judge=_has_digit),
    _Shape(pattern=r"()(\bpypi-AgE[A-Za-z0-9_-]{50,}|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,})"),
    _Shape(
        pattern=r"((?i:authorization)\\?[\"']?[ \t]*[:=][ \t]*\\?[\"']?(?i:basic|bearer|digest|token)[ \t]+)"
        r"([^\s\"'\\]{6,})"
    ),
    _Shape(pattern=r"((?i:\b(?:bearer|basic|digest|token)[ \t]+))([A-Za-z0-9._~+/=-]{16,})", judge=_random),
    _Shape(pattern=r"(\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>`]*:)([^\s/\"'<>`]+)@", judge=_is_password),
)
# A quote may be escaped: what is looked at can be JSON inside JSON.
_ASSIGNMENTS = (
    _Shape(
        pattern=rf"((?i:{_NAMES})\\?[\"'`]?[ \t]*(?:=>|:=|=|:)[ \t]*\\?[\"'`]?)([^\s\"'`,;<>\\]{{8,}})",
        judge=_is_assigned_secret,
    ),
    _Shape(
        pattern=r"(--(?:[a-z-]{0,20}-)?(?:password|passwd|token|secret|api-key)[ =]\\?[\"'`]?)([^\s\"'`\\]{6,})",
        judge=_is_option_secret,
    ),
)
# How any of them, or of the schemes above, begins before its secret, at the end of a text.
_OPEN_NAME = (
    rf"(?i:{_NAMES})\\?[\"'`]?[ \t]*(?:(?:=>|:=|=|:)[ \t]*\\?[\"'`]?)?\z"
    r"|--[a-z-]{0,30}(?:password|passwd|token|secret|api-key) \z"
    r"|(?i:authorization)\\?[\"']?[ \t]*(?:[:=][ \t]*\\?[\"']?(?:(?i:basic|bearer|digest|token)[ \t]+)?)?\z"
    r"|(?i:\b(?:bearer|basic|digest|token)[ \t]+)\z"
)
# A tab may be escaped too.
_NAMED = rf"(?i:{_NAMES})\\?[\"'`]?(?:[ \t]|\\t)*[=:]|--[a-z-]{{0,30}}(?:password|passwd|token|secret|api-key)[ =]"
# One of these is in every text that any shape fits: most texts hold none, and are done after one look.
_HINTS = (
    r"-----BEGIN |eyJ|cp[ld]_|A(?:KIA|SIA|GPA|IDA|ROA|NPA|NVA|BIA|CCA)|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|xox|xapp-"
    r"|hooks\.slack|AIza|ya29\.|GOCSPX|[sr]k_(?:live|test)_|whsec_|sk-|npm_|hf_|do[opr]_v1|pypi-AgE|SG\."
    r"|(?i:authorization)|(?i:bearer|basic|digest|token)(?:[ \t]|\\t)+[A-Za-z0-9._~+/=-]{16}"
    r"|://[^\s/:@\"'<>`]*:[^\s/]+@"
)
_SECRET_KEYS = frozenset(
    {
        "password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "access_key", "private_key",
        "client_secret", "authorization", "proxy_authorization", "cookie", "set_cookie", "credential", "credentials",
        "owner_token", "device_token", "access_token", "refresh_token", "session_token", "bearer", "pairing_code",
    }
)  # fmt: skip


class Redactor:
    """Takes secrets out; `known` ones and those of secrets files wherever they stand, others by how they look.

    `matcher` gives what finds the values of secrets files as they are now, or None where there are none.
    """

    def __init__(self, known: Iterable[str] = (), matcher: "Callable[[], SecretMatcher | None]" = lambda: None) -> None:
        self._known: tuple[bytes, ...] = ()
        self._matcher = matcher
        self.learn(known)

    def learn(self, secrets: Iterable[str]) -> None:
        """Take these secrets out from now on, too."""
        # The longest first: a secret that begins with another one must not leave its end behind.
        known = {*self._known, *(secret.encode("utf-8", "surrogatepass") for secret in secrets)}
        self._known = tuple(sorted((s for s in known if len(s) >= _SHORTEST_KNOWN), key=len, reverse=True))

    def text(self, text: str, *, assignments: bool = True) -> str:
        """The text without secrets; `assignments=False` leaves `password = …` alone, for text that is source code."""
        data = text.encode("utf-8", "surrogatepass")
        spans = self.spans(data, assignments=assignments)
        return splice(data, spans, MARK.encode()).decode("utf-8", "surrogatepass") if spans else text

    @property
    def margin(self) -> int:
        """The number of bytes around a part that are needed to find every secret that overlaps it."""
        matcher = self._matcher()
        # More than the longest, which may be broken into lines, or written letter by letter.
        return max(_LONGEST_SHAPE, matcher.longest * 4 if matcher is not None else 0)

    def spans(self, data: bytes, *, assignments: bool = True) -> Spans:
        """The spans of secrets."""
        if len(data) < _SHORTEST_KNOWN:
            return []
        found = [(at, at + len(secret)) for secret in self._known for at in _places(data, secret)]
        matcher = self._matcher()
        if matcher is not None and matcher.finds(data):
            found += matcher.spans(data)
        return merge_spans(found + _shapes_in(data, assignments=assignments))

    def settled_length(self, data: bytes) -> int:
        """The longest prefix that can be cut off without splitting a secret, whatever follows."""
        if not (end := _word_end(data)):
            return 0
        matcher, patterns = self._matcher(), _compile_patterns()
        end = min(end, *(_open_start(data, secret) for secret in self._known), _open_key(data, patterns))
        if matcher is not None:
            end = min(end, matcher.open_start(data))
        spans, end = self.spans(data), _word_end(data[:end])
        while end:
            cut = next((begin for begin, stop in spans if begin < end < stop), end)
            # Names and schemes that a secret may follow on the same line.
            if cut == end and data[end - 1 : end] in b" \t" and (match := patterns.open_name.search(data[:end])):
                cut = match.start()
            if cut == end:
                break
            end = _word_end(data[:cut])
        return end

    def plainly(self, text: str) -> str | None:
        """The text for a person who decides by it: without secrets that are single words, and with everything else.

        Values of secrets files stay: an agent can write such a file, and must not choose what a person is shown. None
        when that cannot be had, because something that would be left out could also be an instruction.
        """
        data = text.encode("utf-8", "surrogatepass")
        for secret in self._known:
            data = data.replace(secret, MARK.encode())
        data = splice(data, _shapes_in(data, assignments=True, plain=True), MARK.encode())
        is_clean = splice(data, _shapes_in(data, assignments=True), MARK.encode()) == data
        return data.decode("utf-8", "surrogatepass") if is_clean else None

    def is_clean(self, encoded: str) -> bool:
        """Whether nothing in a compactly encoded JSON can be a secret, so that it need not be walked through."""
        data = encoded.encode("utf-8", "surrogatepass")
        for secret in self._known:
            if secret in data:
                return False
        matcher = self._matcher()
        if matcher is not None and matcher.finds(data):
            return False
        if b'tokens":' in data:
            # Counts of a model's tokens are in most events of turns, and only their names look like those of secrets.
            data = _COUNTS.sub(b'"":0', data)
        return not _compile_patterns().anything.search(data)

    def json(self, value: JsonValue, *, assignments: bool = True) -> JsonValue:
        """The value with every text in it redacted, and what stands under a secret's name whole."""
        try:
            if assignments and self.is_clean(dumps(value)):
                return value
        except (TypeError, ValueError, RecursionError):
            # It cannot be written as JSON; what can be walked through is still looked at.
            pass
        return self._json(value, assignments, _DEEPEST)

    def _json(self, value: JsonValue, assignments: bool, depth: int) -> JsonValue:
        if isinstance(value, str):
            return self.text(value, assignments=assignments)
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if depth == 0:
            return MARK
        if isinstance(value, Mapping):
            return {
                self.text(name, assignments=False): MARK
                if isinstance(inner, str) and len(inner) >= _SHORTEST_KNOWN and _is_secret(name)
                else self._json(inner, assignments, depth - 1)
                for name, inner in value.items()
            }
        assert isinstance(value, Sequence)
        return [self._json(inner, assignments, depth - 1) for inner in value]


def prompt_hash(text: str) -> str:
    """A hash that traces hold instead of a prompt: it shows only which prompts are equal."""
    return f"sha256:{digest(text.encode('utf-8', 'surrogatepass'))}"


def _is_secret(name: str) -> bool:
    return name.lower().replace("-", "_") in _SECRET_KEYS


def _shapes_in(data: bytes, *, assignments: bool, plain: bool = False) -> Spans:
    """Find secrets by their form; with `plain` only single words."""
    if len(data) < _SHORTEST_KNOWN:
        return []
    patterns = _compile_patterns()
    if not (patterns.anything if assignments else patterns.hints).search(data):
        return []
    wanted = list(patterns.shapes) if patterns.hints.search(data) else []
    wanted += patterns.assignments if assignments and patterns.named.search(data) else ()
    found: Spans = []
    for pattern, judge in wanted:
        for match in pattern.finditer(data):
            secret = match[2]
            if (judge is None or judge(secret)) and not (plain and secret.translate(None, _PLAIN)):
                found.append(match.span(2))
    return merge_spans(found)


def _word_end(data: bytes) -> int:
    """The end of the last word that white space follows, with that."""
    return max(data.rfind(sign) for sign in (b" ", b"\t", b"\n", b"\r")) + 1


def _open_start(data: bytes, secret: bytes) -> int:
    """The offset at which the data may begin a secret without ending it."""
    sizes = range(min(len(secret) - 1, len(data)), 0, -1)
    return len(data) - next((size for size in sizes if data.endswith(secret[:size])), 0)


def _open_key(data: bytes, patterns: "_Patterns") -> int:
    """The offset of a private key whose end is still missing."""
    at = data.rfind(b"-----BEGIN")
    if at < 0 or patterns.key_end.search(data[at:]) or not patterns.key_begin.match(data[at:]):
        return len(data)
    return at


def _places(data: bytes, secret: bytes) -> Iterator[int]:
    at = data.find(secret)
    while at >= 0:
        yield at
        at = data.find(secret, at + len(secret))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Patterns:
    """The compiled patterns."""

    hints: "re.Pattern[bytes]"
    named: "re.Pattern[bytes]"
    anything: "re.Pattern[bytes]"
    shapes: "tuple[tuple[re.Pattern[bytes], _Judge | None], ...]"
    assignments: "tuple[tuple[re.Pattern[bytes], _Judge | None], ...]"
    # What is not a secret itself but stands before one, at the end of a text.
    open_name: "re.Pattern[bytes]"
    key_begin: "re.Pattern[bytes]"
    key_end: "re.Pattern[bytes]"


@cache
def _compile_patterns() -> _Patterns:
    import re2  # type: ignore[import-untyped]  # the package ships no types

    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1

    def compile_pattern(pattern: str) -> "re.Pattern[bytes]":
        compiled: re.Pattern[bytes] = re2.compile(pattern.encode(), options)
        return compiled

    keys = "|".join(sorted(_SECRET_KEYS)).replace("_", "[_-]")
    return _Patterns(
        hints=compile_pattern(_HINTS),
        named=compile_pattern(_NAMED),
        anything=compile_pattern(rf'{_HINTS}|{_NAMED}|(?i:"(?:{keys})":")'),
        shapes=tuple((compile_pattern(shape.pattern), shape.judge) for shape in _SHAPES),
        assignments=tuple((compile_pattern(shape.pattern), shape.judge) for shape in _ASSIGNMENTS),
        open_name=compile_pattern(_OPEN_NAME),
        key_begin=compile_pattern(
            r"-----BEGIN(?: [A-Z0-9 ]{0,60}-{0,4}\z| [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)"
        ),
        key_end=compile_pattern(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
    )
