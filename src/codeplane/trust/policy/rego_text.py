"""The texts of policies: what is wrong with one before it is compiled, and what of the input it looks at."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

from codeplane.kernel.errors import PolicyInvalid
from codeplane.kernel.json import JsonObject, JsonValue

PACKAGE = "codeplane.policy"
DECIDING = ("deny", "ask", "allow")
# A name with a colon is nobody's file.
_OWN = "codeplane:"
_DEFAULT, _ANSWER = f"{_OWN}default.rego", f"{_OWN}answer.rego"
_SHIPPED = {_DEFAULT: "codeplane.shipped", _ANSWER: "codeplane.answer"}
# Comments, raw strings and strings, which may not end.
QUIET = re.compile(r'#[^\n]*|`[^`]*`?|"(?:\\.|[^"\\\n])*"?')
_PACKAGE = re.compile(r"^\s*package\s+([^\s;]+)[ \t;]*$", re.MULTILINE)
_RULE = re.compile(r"^(?:default[ \t]+)?(deny|ask|allow)\b(?![ \t]+contains\b)", re.MULTILINE)
_CONTAINS = re.compile(r"^(deny|ask|allow)[ \t]+contains\b", re.MULTILINE)
_ESCAPE = re.compile(r"\\(u|/)")
_INPUT = re.compile(r"(?<![\w.])input\b(?:\s*\.\s*(\w+))?(?:\s*\.\s*(\w+))?")
_OBJECTS = ("actor", "operation", "context")
# What is said beside the rest in every document: which parts of it are not whole.
CUT = "cut"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Texts by name with the package each may define rules in, and where the answer is."""

    sources: Mapping[str, str]
    packages: Mapping[str, str]
    entry: str


def shipped() -> Bundle:
    """The policy that comes with CodePlane, by itself."""
    return Bundle(sources={_DEFAULT: _own(_DEFAULT)}, packages=_SHIPPED, entry="codeplane/shipped/rules")


def together(yours: Mapping[str, str]) -> Bundle:
    """The shipped policy and further ones."""
    return Bundle(
        sources={**yours, **{name: _own(name) for name in _SHIPPED}},
        packages=dict.fromkeys(yours, PACKAGE) | _SHIPPED,
        entry="codeplane/answer/answer",
    )


def check(yours: Mapping[str, str]) -> None:
    """PolicyInvalid for what would compile and silently mean something else than its author thinks."""
    problems: list[JsonValue] = []
    deciding = 0
    for name, text in yours.items():
        problems += [{"file": name, "line": line, "message": said} for line, said in _problems(text)]
        deciding += len(_CONTAINS.findall(QUIET.sub("", text)))
    if yours and not deciding and not problems:
        said = "no rule is named deny, ask or allow, so nothing would be decided"
        problems.append({"file": next(iter(yours)), "line": 1, "message": said})
    if problems:
        raise invalid(problems)


def invalid(problems: list[JsonValue]) -> PolicyInvalid:
    """The error of texts with these problems, each with file, line and message."""
    said = "; ".join(f"{p['file']}:{p['line']}: {p['message']}" for p in problems if isinstance(p, dict))
    return PolicyInvalid(f"the policy cannot be used: {said}", details={"problems": problems})


def _problems(text: str) -> Iterable[tuple[int, str]]:
    plain = QUIET.sub(lambda quiet: "" if quiet[0].startswith("#") else '""', text)
    declared = _PACKAGE.search(plain)
    if declared is None:
        yield 1, f"it has no package; the first line has to be: package {PACKAGE}"
    elif not re.fullmatch(rf"{re.escape(PACKAGE)}(\.\w+)*", declared[1]):
        yield plain[: declared.start(1)].count("\n") + 1, f"the package has to be {PACKAGE}, and is {declared[1][:80]}"
    elif declared[1].split(".")[2:3] and declared[1].split(".")[2] in DECIDING:
        line = plain[: declared.start(1)].count("\n") + 1
        yield line, f"a package {declared[1][:80]} would hide the rules of that name; call it something else"
    elif declared[1] == PACKAGE:
        for rule in _RULE.finditer(plain):
            line = plain[: rule.start()].count("\n") + 1
            yield line, f"{rule[1]} is a set of reasons; write: {rule[1]} contains reason if …"
    for quiet in QUIET.finditer(text):
        if quiet[0].startswith('"') and (found := _ESCAPE.search(quiet[0].replace("\\\\", "  "))):
            line = text[: quiet.start()].count("\n") + 1
            yield line, f"\\{found[1]} in a string is not the same as the character it stands for; write that itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """What of the input some texts look at; None is everything, for the whole or for one of its objects."""

    parts: Mapping[str, frozenset[str] | None] | None

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Looks":
        """Read from the texts as they stand, comments and strings included: too much does no harm."""
        parts: dict[str, frozenset[str] | None] = {CUT: None}
        for text in texts:
            for found in _INPUT.finditer(text):
                part, inner = found[1], found[2]
                if part is None:
                    return cls(parts=None)
                known = parts.get(part, frozenset())
                whole = part not in _OBJECTS or inner is None or known is None
                parts[part] = None if whole else (known or frozenset()) | {inner}
        return cls(parts=parts)

    def at(self, part: str) -> bool:
        """Whether a part is looked at."""
        return self.parts is None or part in self.parts

    def seen(self, document: JsonObject) -> JsonObject:
        """The document without what nobody looks at: the fewer differences, the more often an answer is known."""
        if self.parts is None:
            return document
        seen: JsonObject = {}
        for part, inner in self.parts.items():
            if part not in document:
                continue
            value = document[part]
            if inner is not None and isinstance(value, dict):
                value = {name: value[name] for name in sorted(inner) if name in value}
            seen[part] = value
        return seen


def _own(name: str) -> str:
    return files("codeplane.trust.policy").joinpath(name.removeprefix(_OWN)).read_text("utf-8")
