"""All languages, found by a name, a path or the first line of a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from codeplane.code.languages import (
    c,
    config,
    docker,
    dotnet,
    elixir,
    go,
    graphql,
    haskell,
    javascript,
    json_yaml,
    jvm,
    lua,
    markdown,
    php,
    protobuf,
    python,
    ruby,
    rust,
    shell,
    sql,
    swift,
    terraform,
    web,
)
from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import Family

# A new family is a new package and a line here.
_PACKAGES = (
    javascript,
    python,
    go,
    rust,
    jvm,
    dotnet,
    ruby,
    php,
    swift,
    elixir,
    haskell,
    terraform,
    sql,
    docker,
    markdown,
    json_yaml,
    protobuf,
    graphql,
    config,
    c,
    shell,
    lua,
    web,
)
LANGUAGES: Mapping[str, Language] = {language.name: language for package in _PACKAGES for language in package.LANGUAGES}
# C, the shell, Lua and pages have no family, and so no projects: their files belong to the context without a family.
PROJECT_FAMILIES: tuple[Family, ...] = (
    javascript.PROJECT,
    python.PROJECT,
    go.PROJECT,
    rust.PROJECT,
    jvm.PROJECT,
    dotnet.PROJECT,
    ruby.PROJECT,
    php.PROJECT,
    swift.PROJECT,
    elixir.PROJECT,
    haskell.PROJECT,
    terraform.PROJECT,
    sql.PROJECT,
    docker.PROJECT,
    markdown.PROJECT,
    json_yaml.PROJECT,
    protobuf.PROJECT,
    graphql.PROJECT,
    config.PROJECT,
)
# How libraries are entered that belong to no project: see `Family.fronts`.
ROOT_FRONTS: tuple[str, ...] = c.FRONTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Languages:
    """All languages, found by a file's name or first line."""

    by_name: Mapping[str, Language]
    _by_extension: Mapping[str, Language]
    _by_filename: Mapping[str, Language]
    _by_shebang: Mapping[str, Language]

    def of(self, path: str, start: bytes = b"") -> Language | None:
        """The language of a file, by its name, its extension, or the program its first line names."""
        name = path.rpartition("/")[2]
        language = self._by_filename.get(name)
        if language is None and "." in name.strip("."):
            language = self._by_extension.get(name.rpartition(".")[2].lower())
        if language is None and "." not in name and start.startswith(b"#!"):
            language = self._by_shebang.get(_program(start))
        return language


@cache
def languages() -> Languages:
    """The lookup tables, made once."""
    return Languages(
        by_name=LANGUAGES,
        _by_extension={extension: language for language in LANGUAGES.values() for extension in language.extensions},
        _by_filename={filename: language for language in LANGUAGES.values() for filename in language.filenames},
        _by_shebang={program: language for language in LANGUAGES.values() for program in language.shebangs},
    )


@cache
def language_named(name: str) -> Language:
    """The entry of a language; one without any rules for a name that is not known, which an old record may have."""
    return LANGUAGES.get(name) or Language(name=name, package="", title=name)


def query_of(language: Language) -> str:
    """The text of a language's query, with those it builds on; empty where only the text is known."""
    folder = files(f"codeplane.code.languages.{language.package}")
    names = (language.query or language.name).split("+")
    texts = [folder.joinpath(f"{name}.scm") for name in names]
    return "\n".join(text.read_text("utf-8") for text in texts if text.is_file())


def _program(start: bytes) -> str:
    """The program that the first line of a script names."""
    words = start.split(b"\n", 1)[0][2:].decode("utf-8", "replace").split()
    if words and words[0].endswith("/env"):
        words = [word for word in words[1:] if not word.startswith("-")]
    return words[0].rpartition("/")[2] if words else ""
