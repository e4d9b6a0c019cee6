"""The secrets that a secrets file holds, and a matcher that takes them out of text in any of their forms."""

import base64
import json
import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from re import Pattern

SHORTEST = 8
_LONGEST = 65_536
# What a long secret is found by.
_HEAD = 64
_PATTERN_BYTES = 65_536
_KEY_LINE = 24
_PASSPHRASE = 16
_LONG_WORD = 21
_LONG_NUMBER = 12
# `TOKEN`, `DB_PASSWORD`, `authToken`, `dbpassword`; and not `MONKEY` or `KEYBOARD`.
_SECRET_KEY = re.compile(
    r"(?:token|secret|passw(?:or)?d|passphrase|credential|apikey|accesskey|secretkey|privatekey|authkey|signingkey)s?"
    r"(?:$|_)|(?:^|_)(?:keys?|pass|pwd|auth|private|dsn|salt|cookie|signature|webhook|pin|jwt|bearer|pat)(?:$|_)"
)
# What only a secret is put under: there even words joined by hyphens are one.
_PASSWORD_KEY = re.compile(
    r"(?:token|secret|passw(?:or)?d|passphrase|(?:secret|api|access|private|auth|signing|encryption)_?key)s?(?:_?\d+)?$"
    r"|(?:^|_)(?:pass|pwd)\d*$"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ASSIGNED = re.compile(
    r"""^[ \t]*(?:export[ \t]+|set[ \t]+|-[ \t]+)?["']?(?P<key>[A-Za-z_][\w.-]*)["']?[ \t]*[:=][ \t]*"""
    r"""(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)'|`(?P<tick>[^`]*)`|(?P<bare>[^\r\n]*))""",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"[ \t]+#.*$")
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)(?:-----END|\Z)", re.DOTALL)
_PUBLIC = re.compile(
    r"(?:TRUSTED |X509 |NEW )?CERTIFICATE(?: REQUEST)?|X509 CRL|(?:[A-Z0-9]+ )?PUBLIC KEY|(?:DH|EC|DSA) PARAMETERS"
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:(?P<user>[^\s/:@]*)(?::(?P<password>[^\s@]*))?@)?")
_TEMPLATE = re.compile(r"\$[({\w]|\{\{|<[^>]*>$|%\(|%\w+%$")
_WORD = re.compile(r"[A-Za-z]+|[vV]?\d+|[A-Za-z]+\d{1,3}")
# As in argon2id, utf8mb4, ed25519.
_NAME = re.compile(rf"{_WORD.pattern}|[A-Za-z]+\d{{1,5}}[a-z]{{0,3}}\d?")
_COUNTED = re.compile(r"[A-Za-z]+\d{1,3}")
_SEPARATORS = re.compile(r"[-_./:@,;= \t]+")
# Names of algorithms, places and programs, as in sha256, us-east-1, postgres15.
_TECHNICAL = re.compile(
    r"(?i)(?:v|x|db|sha|md|aes|hmac|rsa|ecdsa|ed|utf|base|http|tls|ssl|python|postgres|postgresql|mysql|mariadb|redis|mongo|node"
    r"|java|ruby|debian|ubuntu|alpine|localhost|example|version|release|region|server|cluster|service|test|user|admin)\w?\d+"
)


def is_public(text: str) -> bool:
    """Whether a key file holds certificates and public keys alone."""
    labels = [found[1] for found in _PEM.finditer(text)]
    return bool(labels) and all(_PUBLIC.fullmatch(label) for label in labels)


def values_of(text: str, *, is_key: bool = False) -> Iterator[str]:
    """The secrets in the text of a secrets file; of a key file (`is_key`) that is no PEM, its one word."""
    for label, body in _PEM.findall(text):
        if _PUBLIC.fullmatch(label) is None:
            yield from (line for line in re.split(r"\s+|\\n", body) if len(line) >= _KEY_LINE and ":" not in line)
    if is_key:
        word = text.strip()
        if "-----BEGIN" not in text and len(word.split()) == 1 and SHORTEST <= len(word) <= _LONGEST:
            yield word
        return
    for found in _ASSIGNED.finditer(text):
        yield from _assigned(found["key"], _value(found))


def _value(found: "re.Match[str]") -> str:
    if found["double"] is not None:
        return re.sub(r"\\(.)", lambda one: {"n": "\n", "t": "\t", "r": "\r"}.get(one[1], one[1]), found["double"])
    if found["bare"] is not None:
        return _COMMENT.sub("", found["bare"]).strip().rstrip(",;")
    return found["single"] if found["single"] is not None else found["tick"]


def _assigned(key: str, value: str) -> Iterator[str]:
    if len(value) > _LONGEST or "-----BEGIN" in value:
        return
    name = _CAMEL.sub("_", key).lower().replace("-", "_").replace(".", "_")
    strict = _PASSWORD_KEY.search(name) is None
    if (address := _ADDRESS.match(value)) is not None:
        for part in (address["password"], address["user"] if not address["password"] else None):
            if part:
                yield from (one for one in {part, unquote(part)} if is_secret(one, strict=False))
        return
    if _SECRET_KEY.search(name) is None:
        return
    for part in dict.fromkeys((value, *(value.split(",") if "," in value else ()))):
        if is_secret(part.strip(), strict=strict):
            yield part.strip()


def is_secret(value: str, *, strict: bool = True) -> bool:
    """Whether what stands under a secret's name is one, and not a word, a name, a path, a number or a template.

    Without `strict` joined words and a word with a number behind it count as well.
    """
    if not SHORTEST <= len(value) <= _LONGEST or "\n" in value or _TEMPLATE.match(value) or len(set(value)) < 4:
        return False
    if value.isdigit():
        return len(value) >= _LONG_NUMBER
    if value.isalpha():
        return _is_unusual_word(value)
    parts = [part for part in _SEPARATORS.split(value) if part]
    if not all(map((_NAME if strict else _WORD).fullmatch, parts)):
        return not _is_path(value)
    if value[0] in "/.~" or re.search(r"[/:@]", value):
        return False
    if any(_is_drawn_number(part, shortest=6 if strict else 4) for part in parts):
        return True
    if strict:
        return False
    if any(_COUNTED.fullmatch(part) and not _TECHNICAL.fullmatch(part) for part in parts):
        return True
    return len(parts) >= 3 and len(value) >= _PASSPHRASE and not re.search(r"[./:@]", value)


def _is_drawn_number(part: str, *, shortest: int) -> bool:
    """Whether a part is a number that is no year, no small count and no version."""
    return part.isdigit() and len(part) >= shortest and not re.fullmatch(r"(?:19|20)\d\d", part)


def _is_unusual_word(value: str) -> bool:
    if value.islower() or value.isupper() or value.istitle():
        return len(value) >= _LONG_WORD
    return not all(len(part) >= 3 or part.isupper() for part in _CAMEL.split(value))


def _is_path(value: str) -> bool:
    return re.match(r"(?:~|\.{1,2})?/|[A-Za-z]:\\", value) is not None and re.search(r"\s", value) is None


class SecretMatcher:
    """Finds known secrets in bytes: as they are, escaped as JSON or for an address, and in base64 or hexadecimal.

    A long one is found by how it begins, and reaches as far as the data agrees with it. Patterns are of bounded size,
    so that they can be compiled whatever the secrets are.
    """

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values for form in _forms(value)}
        self._long = sorted(form for form in forms if len(form) > _HEAD)
        self._longest = max(map(len, forms), default=0)
        # The longest first: a secret that begins with another one must not leave its end behind.
        heads = sorted({form[:_HEAD] for form in forms}, key=lambda head: (-len(head), head))
        self._patterns = [pattern for some in _parts(heads) for pattern in _compiled(some)]

    def finds(self, data: bytes) -> bool:
        """Whether any of them is there."""
        return any(pattern.search(data) for pattern in self._patterns)

    def without(self, data: bytes, mark: bytes) -> bytes:
        """The data with a mark in the place of each."""
        for pattern in self._patterns:
            parts: list[bytes] = []
            end = 0
            while (found := pattern.search(data, end)) is not None:
                start, stop = found.span()
                parts += (data[end:start], mark)
                end = stop if stop - start < _HEAD else start + self._reach(data[start : start + self._longest])
            data = b"".join([*parts, data[end:]]) if parts else data
        return data

    def _reach(self, data: bytes) -> int:
        """How far data that begins as a long secret does goes on as one."""
        at = bisect(self._long, data)
        return max(_HEAD, 0, *(_agreeing(data, form) for form in self._long[max(at - 1, 0) : at + 1]))


def _agreeing(one: bytes, other: bytes) -> int:
    """How many bytes two begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _forms(value: str) -> Iterator[bytes]:
    raw = value.encode("utf-8", "surrogatepass")
    yield raw
    for as_ascii in (False, True):
        escaped = value
        for _ in range(2):
            escaped = json.dumps(escaped, ensure_ascii=as_ascii)[1:-1]
            yield escaped.encode("utf-8", "surrogatepass")
    yield quote(value, safe="", errors="surrogatepass").encode()
    yield raw.hex().encode()
    # What the base64 of a longer text has of it, wherever in that text it begins.
    for offset, unsure in ((0, 0), (1, 2), (2, 3)):
        encoded = base64.b64encode(b"\0" * offset + raw).rstrip(b"=")
        sure = encoded[unsure : -1 if (offset + len(raw)) % 3 else None]
        if len(sure) >= SHORTEST:
            yield sure
            yield sure.replace(b"+", b"-").replace(b"/", b"_")


def _parts(heads: list[bytes]) -> Iterator[list[bytes]]:
    """The heads, in lists of a size that a pattern can hold."""
    part: list[bytes] = []
    size = 0
    for head in heads:
        if part and size + len(head) > _PATTERN_BYTES:
            yield part
            part, size = [], 0
        part.append(head)
        size += len(head)
    if part:
        yield part


def _compiled(heads: list[bytes]) -> "Iterator[Pattern[bytes]]":
    import re2  # type: ignore[import-untyped]  # the package ships no types

    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 * 1024 * 1024
    try:
        pattern: Pattern[bytes] = re2.compile(b"|".join(map(re2.escape, heads)), options)
    except re2.error:
        if len(heads) == 1:
            raise
        half = len(heads) // 2
        yield from _compiled(heads[:half])
        yield from _compiled(heads[half:])
    else:
        yield pattern
