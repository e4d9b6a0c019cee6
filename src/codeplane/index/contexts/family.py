"""Which family a file or a language belongs to.

The names are a closed list. A language outside the list (C, C++, shell, Lua …) has no family: its files belong to the
one fallback context without a family, never to a family named after the language.
"""

from codeplane.code.languages.project_family import Family
from codeplane.code.languages.registry import PROJECT_FAMILIES

FAMILY: dict[str, Family] = {family.name: family for family in PROJECT_FAMILIES}

_BY_GLOB = {glob.removeprefix("**/"): family.name for family in PROJECT_FAMILIES for glob in family.include}
_BY_NAME = {glob: name for glob, name in _BY_GLOB.items() if "*" not in glob}
_BY_SUFFIX = {glob[1:]: name for glob, name in _BY_GLOB.items() if glob.startswith("*")}
_BY_LANGUAGE = {language: family.name for family in PROJECT_FAMILIES for language in (family.name, *family.languages)}


def family_of(path: str) -> str | None:
    """The family of a file, by its whole name first (`docker-compose.yml` is docker's), then its suffix."""
    name = path[path.rfind("/") + 1 :]
    family = _BY_NAME.get(name)
    if family is None and (dot := name.rfind(".")) >= 0:
        return _BY_SUFFIX.get(name[dot:])
    return family


def families_of(path: str) -> tuple[str, ...]:
    """Every family whose globs include a file: none, one or two."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    names = (_BY_NAME.get(name), _BY_SUFFIX.get(name[dot:]) if dot >= 0 else None)
    return tuple(dict.fromkeys(each for each in names if each))


def family_of_language(language: str) -> str | None:
    """The family of a language or family name such as `java` or `jvm`; None outside the list."""
    return _BY_LANGUAGE.get(language.lower())
