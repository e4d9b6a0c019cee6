"""Scans of a file's text around its definitions: decorators, templates, exports and `impl` blocks."""

import re

from codeplane.code.languages.contract import Contract
from codeplane.code.languages.expression import closing_bracket
from codeplane.code.model import Definition
from codeplane.query.compare.tokens import Span

_MARKED = re.compile(rb"[ \t]*(?:@|#\[)")
_ENDED = re.compile(rb"[)\]}\s,]*$")
_FARTHEST = 4000
_LONGEST_TABLE = 60_000
_TEMPLATE = re.compile(rb"\btemplate\s*<")
_UNNAMED = re.compile(rb"\bnamespace\s*\{")
_PASSED_TYPE = re.compile(rb"\bexport\s+type\s*\{([^}]*)\}")
_IMPL = re.compile(
    rb"\bimpl\b(?:\s*<[^{};]*?>)?\s+(?:\w+\s*::\s*)*(\w+)(?:\s*<[^{};]*?>)?\s+for\s+(?:\w+\s*::\s*)*(\w+)"
)
_USE = re.compile(rb"(?:\bpub(\s*\([^)]*\))?\s+)?\buse\b")
_CHECKED_ONLY = re.compile(
    rb"^([ \t]*)if (?:\w+\.)?TYPE_CHECKING\s*:[^\n]*\n((?:[ \t]*\n|\1[ \t]+[^\n]*\n?)*)", re.MULTILINE
)
_GIVES_NAMES = re.compile(rb"^def __getattr__\([^\n]*\n((?:[ \t]*\n|[ \t]+[^\n]*\n?)*)", re.MULTILINE)
_BRANCH = re.compile(rb"\n[ \t]+(?=(?:if|elif)\b)")
_CONDITION = re.compile(rb":[ \t]*(?:#[^\n]*)?\n")
_REFUSED = re.compile(rb"""\bif name != ["']([^\W\d]\w*)["']\s*:\s*raise\b""")
_COMPARED = re.compile(rb"""(?<=["'])[^\W\d]\w*(?=["'])""")
_LOOKED_UP = re.compile(rb"\bin ([^\W\d]\w*)|(?<=[\s=(])([^\W\d]\w*)\[name\]")
# A call that gives a module its `__getattr__`, or its names: `lazy_import(globals(), {"name": "module"})`.
_ATTACHED = re.compile(rb"^[ \t]*(?:__getattr__\b[^=\n]*=\s*)?[\w.]+\(\s*(?:globals\(\)|__name__)\s*,", re.MULTILINE)
_KEY = re.compile(rb"""["']([^\W\d]\w*)["']\s*[:,\n]""")
_OPEN, _CLOSE, _LESS, _MORE = b"{}<>"


def type_only(text: bytes) -> frozenset[str]:
    """The names of which a script exports only the type."""
    if b"type" not in text:
        return frozenset()
    listed = [
        name.split() for match in _PASSED_TYPE.findall(text) for name in match.decode("utf-8", "replace").split(",")
    ]
    return frozenset(words[0] for words in listed if words)


def trait_impls(text: bytes) -> frozenset[tuple[str, str]]:
    """The (trait, type) pairs of the `impl` blocks in a Rust file."""
    return frozenset((trait.decode(), type_name.decode()) for trait, type_name in _IMPL.findall(text))


def unnamed_namespaces(text: bytes) -> tuple[Span, ...]:
    """The spans of unnamed C++ namespaces."""
    spans: list[Span] = []
    for match in _UNNAMED.finditer(text):
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += (text[at] == _OPEN) - (text[at] == _CLOSE)
            at += 1
        spans.append((match.start(), at))
    return tuple(spans)


def is_passed_on(text: bytes, at: int) -> bool:
    """Whether the Rust `use` before a place is public."""
    matches = list(_USE.finditer(text, max(0, at - 4000), max(at, 0)))
    return bool(matches) and matches[-1][0].startswith(b"pub") and matches[-1][1] is None


def checked_only_spans(text: bytes) -> tuple[Span, ...]:
    """The spans of Python that only type checkers see."""
    if b"TYPE_CHECKING" not in text or _GIVES_NAMES.search(text):
        # A module with a `__getattr__` gives what it tells type checkers of.
        return ()
    return tuple((found.start(2), found.end()) for found in _CHECKED_ONLY.finditer(text))


def lazy_names(text: bytes) -> frozenset[str]:
    """The names that the `__getattr__` of a Python module gives, also one that a call makes."""
    names: set[str] = set()
    for call in _ATTACHED.finditer(text) if b"__name__" in text or b"globals()" in text else ():
        closed = closing_bracket(text, text.index(b"(", call.start()), most=_LONGEST_TABLE)
        names |= {name.decode() for name in _COMPARED.findall(text, call.end(), closed or call.end())}
    for given in _GIVES_NAMES.finditer(text) if b"__getattr__" in text else ():
        body = given[1]
        refused = _REFUSED.search(body)
        if refused is not None and b"return" in body[refused.end() :]:
            names.add(refused[1].decode())
        for block in _BRANCH.split(body):
            if b"return" in block:
                names |= {name.decode() for name in _COMPARED.findall(_CONDITION.split(block, maxsplit=1)[0])}
        for table in (found[1] or found[2] for found in _LOOKED_UP.finditer(body)):
            written = re.search(rb"^" + table + rb"\b[^=\n]*=\s*[{\[(]([^}\])]*)", text, re.MULTILINE)
            names |= {name.decode() for name in _KEY.findall(written[1])} if written is not None else set()
    return frozenset(names)


def template_from(text: bytes, definition: Definition) -> int:
    """The start of a C++ definition including its `template <…>`."""
    for match in reversed(list(_TEMPLATE.finditer(text, max(0, definition.start - 2000), definition.start))):
        depth = 0
        for at in range(match.end() - 1, definition.start):
            depth += (text[at] == _LESS) - (text[at] == _MORE)
            if not depth:
                return match.start() if not text[at + 1 : definition.start].strip() else definition.start
    return definition.start


def start_of(rules: Contract, text: bytes, definition: Definition) -> int:
    """Where the documentation of a definition begins, also where the grammar knows a value by its name alone."""
    if not rules.bare_values or definition.start != definition.name_at:
        return definition.start
    return max(text.rfind(sign, 0, definition.start) for sign in (b"\n", b";", b"{")) + 1


def _closes(line_text: bytes) -> bool:
    """Whether a line closes brackets opened on an earlier line."""
    return line_text.strip()[:1] in (b")", b"]", b"}") and line_text.count(b"(") < line_text.count(b")")


def decorated_start(rules: Contract, text: bytes, definition: Definition) -> int:
    """The start of a definition including decorators or attributes above it."""
    if rules.templates:
        return template_from(text, definition)
    if rules.bare_values and definition.start == definition.name_at:
        return start_of(rules, text, definition)
    line = text.rfind(b"\n", 0, definition.start) + 1
    if text[line : definition.start].strip() and not text[line : definition.start].strip().startswith(
        (b"export", b"@")
    ):
        return definition.start
    start, at, waiting = definition.start, line, False
    while at > 0:
        above = text.rfind(b"\n", 0, at - 1) + 1
        line_text = text[above : at - 1].rstrip(b"\r")
        if _MARKED.match(line_text):
            start, waiting = above + len(line_text) - len(line_text.lstrip()), False
        elif not line_text.strip() or line_text.lstrip().startswith((b"//", b"# ")):
            if not line_text.strip():
                break
        elif waiting or (_ENDED.match(line_text[-1:]) and _closes(text[above:at])):
            waiting = True
        else:
            break
        if definition.start - above > _FARTHEST:
            break
        at = above
    return start
