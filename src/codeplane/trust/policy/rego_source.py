"""Rego sources: checks before they are compiled, and which parts of the input they use."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

from codeplane.kernel.errors import PolicyInvalid
from codeplane.kernel.json import JsonObject, JsonValue

PACKAGE = "codeplane.policy"
DECISION_RULES = ("deny", "ask", "allow")
# A name with a colon cannot be an owner's file.
_OWN = "codeplane:"
_DEFAULT, _ANSWER = f"{_OWN}default.rego", f"{_OWN}answer.rego"
_SHIPPED = {_DEFAULT: "codeplane.shipped", _ANSWER: "codeplane.answer"}
# Comments, raw strings and strings, also unterminated ones.
COMMENT_OR_STRING = re.compile(r'#[^\n]*|`[^`]*`?|"(?:\\.|[^"\\\n])*"?')
_PACKAGE = re.compile(r"^\s*package\s+([^\s;]+)[ \t;]*$", re.MULTILINE)
_RULE = re.compile(r"^(?:default[ \t]+)?(deny|ask|allow)\b(?![ \t]+contains\b)", re.MULTILINE)
_CONTAINS = re.compile(r"^(deny|ask|allow)[ \t]+contains\b", re.MULTILINE)
_ESCAPE = re.compile(r"\\(u|/)")
_INPUT = re.compile(r"(?<![\w.])input\b(?:\s*\.\s*(\w+))?(?:\s*\.\s*(\w+))?")
_OBJECTS = ("actor", "operation", "context")
# The field of the input document that lists its truncated parts.
CUT = "cut"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Sources by name, the package each may define rules in, and the entry point."""

    sources: Mapping[str, str]
    packages: Mapping[str, str]
    entry: str


def shipped_bundle() -> Bundle:
    """The shipped policy alone."""
    return Bundle(sources={_DEFAULT: _own_text(_DEFAULT)}, packages=_SHIPPED, entry="codeplane/shipped/rules")


def with_shipped(yours: Mapping[str, str]) -> Bundle:
    """The owner's policies together with the shipped one."""
    return Bundle(
        sources={**yours, **{name: _own_text(name) for name in _SHIPPED}},
        packages=dict.fromkeys(yours, PACKAGE) | _SHIPPED,
        entry="codeplane/answer/answer",
    )


def check_sources(yours: Mapping[str, str]) -> None:
    """Raise PolicyInvalid for sources that would compile but mean something other than intended."""
    problems: list[JsonValue] = []
    deciding = 0
    for name, text in yours.items():
        problems += [{"file": name, "line": line, "message": message} for line, message in _problems(text)]
        deciding += len(_CONTAINS.findall(COMMENT_OR_STRING.sub("", text)))
    if yours and not deciding and not problems:
        message = "no rule is named deny, ask or allow, so nothing would be decided"
        problems.append({"file": next(iter(yours)), "line": 1, "message": message})
    if problems:
        raise policy_invalid(problems)


def policy_invalid(problems: list[JsonValue]) -> PolicyInvalid:
    """The error for sources with these problems, each with file, line and message."""
    message = "; ".join(f"{p['file']}:{p['line']}: {p['message']}" for p in problems if isinstance(p, dict))
    return PolicyInvalid(f"the policy cannot be used: {message}", details={"problems": problems})


def _problems(text: str) -> Iterable[tuple[int, str]]:
    plain = COMMENT_OR_STRING.sub(lambda match: "" if match[0].startswith("#") else '""', text)
    declared = _PACKAGE.search(plain)
    if declared is None:
        yield 1, f"it has no package; the first line has to be: package {PACKAGE}"
    elif not re.fullmatch(rf"{re.escape(PACKAGE)}(\.\w+)*", declared[1]):
        yield plain[: declared.start(1)].count("\n") + 1, f"the package has to be {PACKAGE}, and is {declared[1][:80]}"
    elif declared[1].split(".")[2:3] and declared[1].split(".")[2] in DECISION_RULES:
        line = plain[: declared.start(1)].count("\n") + 1
        yield line, f"a package {declared[1][:80]} would hide the rules of that name; call it something else"
    elif declared[1] == PACKAGE:
        for rule in _RULE.finditer(plain):
            line = plain[: rule.start()].count("\n") + 1
            yield line, f"{rule[1]} is a set of reasons; write: {rule[1]} contains reason if …"
    for match in COMMENT_OR_STRING.finditer(text):
        if match[0].startswith('"') and (escape := _ESCAPE.search(match[0].replace("\\\\", "  "))):
            line = text[: match.start()].count("\n") + 1
            yield line, f"\\{escape[1]} in a string is not the same as the character it stands for; write that itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputUse:
    """Which parts of the input some sources use; None means everything, of the input or of one of its objects."""

    parts: Mapping[str, frozenset[str] | None] | None

    @classmethod
    def of(cls, texts: Iterable[str]) -> "InputUse":
        """Find the parts in the sources, comments and strings included: too many do no harm."""
        parts: dict[str, frozenset[str] | None] = {CUT: None}
        for text in texts:
            for match in _INPUT.finditer(text):
                part, inner = match[1], match[2]
                if part is None:
                    return cls(parts=None)
                known = parts.get(part, frozenset())
                whole = part not in _OBJECTS or inner is None or known is None
                parts[part] = None if whole else (known or frozenset()) | {inner}
        return cls(parts=parts)

    def reads(self, part: str) -> bool:
        """Whether the sources read a part."""
        return self.parts is None or part in self.parts

    def project(self, document: JsonObject) -> JsonObject:
        """The document without unused parts: the fewer differences, the more often a cached decision applies."""
        if self.parts is None:
            return document
        used: JsonObject = {}
        for part, inner in self.parts.items():
            if part not in document:
                continue
            value = document[part]
            if inner is not None and isinstance(value, dict):
                value = {name: value[name] for name in sorted(inner) if name in value}
            used[part] = value
        return used


def _own_text(name: str) -> str:
    return files("codeplane.trust.policy").joinpath(name.removeprefix(_OWN)).read_text("utf-8")
