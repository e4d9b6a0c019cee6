"""The secrets that a secrets file holds."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    pass

SHORTEST = 8
_LONGEST = 65_536
_KEY_LINE = 24
PASSPHRASE = 16
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
# A line of `.netrc`, or the last of an entry that has several; and one of `.git-credentials`.
_SIGN_IN = re.compile(
    r"^[ \t]*(?:(?:machine|login|account)[ \t]+\S+[ \t]+|default[ \t]+)*password[ \t]+(?![=:])\"?(?P<word>[^\s\"]+)"
    r"|^[a-z][a-z0-9+.-]*://[^\s/:@]*:(?P<part>[^\s@]+)@",
    re.MULTILINE,
)
_COMMENT = re.compile(r"[ \t]+#.*$")
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)(?:-----END|\Z)", re.DOTALL)
_PUBLIC = re.compile(
    r"(?:TRUSTED |X509 |NEW )?CERTIFICATE(?: REQUEST)?|X509 CRL|(?:[A-Z0-9]+ )?PUBLIC KEY|(?:DH|EC|DSA) PARAMETERS"
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:(?P<user>[^\s/:@]*)(?::(?P<password>[^\s@]*))?@)?")
# `${NAME}` and `${NAME:-default}`, `$NAME`, `$(command)`, `{{ name }}`, `<your key>`, `%(name)s`, `%NAME%`.
_VARIABLE = r"_*[A-Za-z]+\d{0,3}(?:_+(?:[A-Za-z]+\d{0,3}|\d{1,3}))*_*"
_DEFAULT = re.compile(r"\$\{\w+:?[-=]([^{}]*)\}")
_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}|\{\{[^{}]*\}\}|%\(\w+\)s|\$\([^()]*\)")
_TEMPLATE = re.compile(rf"\${_VARIABLE}|%{_VARIABLE}%|<[^<>]*>|\$\(.*\)")
_WORD = re.compile(r"[A-Za-z]+|[vV]?\d+|[A-Za-z]+\d{1,3}")
# As in argon2id, utf8mb4, ed25519.
_NAME = re.compile(rf"{_WORD.pattern}|[A-Za-z]+\d{{1,5}}[a-z]{{0,3}}\d?")
_COUNTED = re.compile(r"[A-Za-z]+\d{1,3}")
_SEPARATORS = re.compile(r"[-_./:@,;= \t]+")
# What folders and files are called: words and counts, as in .ssh, server-2024.pem, id_ed25519, lib64.
_NAME_PART = re.compile(r"([A-Za-z]+)\d{0,5}|[vV]?\d{1,8}")
# Folders that absolute paths begin with, whatever comes after them.
_TOP_FOLDERS = frozenset(
    {
        *("app", "apps", "bin", "boot", "builds", "code", "data", "dev", "etc", "home", "lib", "media", "mnt", "nix"),
        *("opt", "private", "proc", "project", "root", "run", "sbin", "secrets", "snap", "src", "srv", "sys", "tmp"),
        *("usr", "var", "work", "workspace", "workspaces", "Library", "Users", "Volumes"),
    }
)
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
        yield from _assigned_values(found["key"], _value(found))
    for found in _SIGN_IN.finditer(text):
        word = found["word"] or found["part"]
        yield from (form for form in {word, unquote(word)} if is_secret(form, strict=False))


def _value(found: "re.Match[str]") -> str:
    if found["double"] is not None:
        return re.sub(
            r"\\(.)", lambda escape: {"n": "\n", "t": "\t", "r": "\r"}.get(escape[1], escape[1]), found["double"]
        )
    if found["bare"] is not None:
        return _COMMENT.sub("", found["bare"]).strip().rstrip(",;")
    return found["single"] if found["single"] is not None else found["tick"]


def _assigned_values(key: str, value: str) -> Iterator[str]:
    if len(value) > _LONGEST or "-----BEGIN" in value:
        return
    name = _CAMEL.sub("_", key).lower().replace("-", "_").replace(".", "_")
    strict = _PASSWORD_KEY.search(name) is None
    if (address := _ADDRESS.match(value)) is not None:
        for part in (address["password"], address["user"] if not address["password"] else None):
            if part:
                yield from (form for form in {part, unquote(part)} if is_secret(form, strict=False))
        return
    if _SECRET_KEY.search(name) is None:
        return
    for part in dict.fromkeys((value, *(value.split(",") if "," in value else ()), *_DEFAULT.findall(value))):
        if is_secret(part.strip(), strict=strict):
            yield part.strip()


def is_secret(value: str, *, strict: bool = True) -> bool:
    """Whether what stands under a secret's name is one, and not a word, a name, a path, a number or a template.

    Without `strict` joined words and a word with a number behind it count as well.
    """
    if not SHORTEST <= len(value) <= _LONGEST or "\n" in value or len(set(value)) < 4:
        return False
    if _is_template(value, strict=strict):
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
    return len(parts) >= 3 and len(value) >= PASSPHRASE and not re.search(r"[./:@]", value)


def _is_drawn_number(part: str, *, shortest: int) -> bool:
    """Whether a part is a number that is no year, no small count and no version."""
    return part.isdigit() and len(part) >= shortest and not re.fullmatch(r"(?:19|20)\d\d", part)


def _is_unusual_word(value: str) -> bool:
    if value.islower() or value.isupper() or value.istitle():
        return len(value) >= _LONG_WORD
    return not all(len(part) >= 3 or part.isupper() for part in _CAMEL.split(value))


def _is_template(value: str, *, strict: bool) -> bool:
    """Whether something else is put in its place, and what is around that is no secret."""
    if _TEMPLATE.fullmatch(value):
        return True
    around = _PLACEHOLDER.sub("", value)
    return around != value and not is_secret(around, strict=strict)


def _is_file_name(name: str) -> bool:
    for part in re.split(r"[-_.@ ]", name):
        found = _NAME_PART.fullmatch(part)
        if part and (found is None or (len(found[1] or "") >= SHORTEST and _is_unusual_word(found[1]))):
            return False
    return True


def _is_path(value: str) -> bool:
    """Whether it reads like a path: of ordinary names, or below a folder that every system has."""
    found = re.match(r"(?P<near>(?:~\w*|\.{1,2})/|[A-Za-z]:\\)|/", value)
    if found is None:
        return False
    names = [name for name in re.split(r"[/\\]+", value[found.end() :]) if name]
    ordinary = [name for name in names if _is_file_name(name)]
    if found["near"]:
        return len(ordinary) * 2 >= len(names)
    return len(names) > 1 and (names[0] in _TOP_FOLDERS or ordinary == names)
