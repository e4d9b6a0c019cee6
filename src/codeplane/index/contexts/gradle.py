"""A scanner of Gradle settings for the projects they include as plain strings."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<string>'''.*?'''|\"\"\".*?\"\"\"|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<word>[A-Za-z_][\w.]*)
    |(?P<newline>\n)
    |(?P<other>\S)""",
    re.DOTALL | re.VERBOSE,
)
_INCLUDES = frozenset({"include", "includeBuild", "includeFlat"})
_Token = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradleSettings:
    """Included folders; `dynamic` says why there may be more that a scan cannot see."""

    folders: tuple[str, ...]
    dynamic: str = ""


def gradle_settings(text: str) -> GradleSettings:
    """Scan for include('a:b'), include(":a", ":b"), include 'a', 'b', includeBuild and includeFlat."""
    tokens = [(str(match.lastgroup), match.group()) for match in _TOKEN.finditer(text) if match.lastgroup != "comment"]
    folders: list[str] = []
    dynamic = ""
    for at, (kind, word) in enumerate(tokens):
        if kind != "word":
            continue
        called = word.rpartition(".")[2]
        if called in _INCLUDES:
            literals = _arguments(tokens, at + 1)
            if literals is None:
                dynamic = dynamic or f"{called} is given more than plain strings"
            else:
                folders.extend(folder for each in literals for folder in _folders(called, each))
        elif called == "projectDir" and _follows(tokens, at + 1, "="):
            dynamic = dynamic or "projectDir moves a project elsewhere"
        elif word == "apply" and _applies_script(tokens, at + 1):
            dynamic = dynamic or "another script is applied"
    return GradleSettings(folders=tuple(dict.fromkeys(folders)), dynamic=dynamic)


def _arguments(tokens: list[_Token], at: int) -> list[str] | None:
    """The string arguments of a call, or None if any argument is not a string."""
    bracketed = at < len(tokens) and tokens[at][1] == "("
    at += bracketed
    literals: list[str] = []
    wants_value = True
    while at < len(tokens):
        kind, token = tokens[at]
        at += 1
        if kind == "newline":
            if not bracketed and not wants_value:
                return literals
        elif wants_value:
            if token == ")" and bracketed and literals:
                break
            literal = _literal(token) if kind == "string" else None
            if literal is None:
                return None
            literals.append(literal)
            wants_value = False
        elif token == ",":
            wants_value = True
        elif bracketed and token == ")":
            break
        elif not bracketed and token in (";", "}"):
            return literals
        else:
            return None
    else:
        return literals if literals and not bracketed and not wants_value else None
    # include('a' + x), include('a').each …: what follows the bracket on its line can still compute.
    if at < len(tokens) and tokens[at][0] == "other" and tokens[at][1] in "+.":
        return None
    return literals


def _literal(token: str) -> str | None:
    """A string's text, unless it is expanded or escaped."""
    quotes = 3 if token[:3] in ("'''", '"""') else 1
    text = token[quotes:-quotes]
    if "\\" in text or (token[0] == '"' and "$" in text):
        return None
    return text


def _folders(word: str, named: str) -> list[str]:
    """The folders of a project path, including the projects above it."""
    if word == "includeBuild":
        return [named]
    if word == "includeFlat":
        return [f"../{named}"]
    parts = [part for part in re.split("[:/]", named) if part]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _follows(tokens: list[_Token], at: int, sign: str) -> bool:
    return tokens[at : at + 1] == [("other", sign)]


def _applies_script(tokens: list[_Token], at: int) -> bool:
    ahead = [token for _kind, token in tokens[at : at + 3]]
    return "from" in ahead
