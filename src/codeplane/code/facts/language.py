"""Which language a file is in, and what is known of that language: tables, not code."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from codeplane.code.facts.model import FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language as its table describes it."""

    name: str
    grammar: str
    family: str | None = None
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    shebangs: tuple[str, ...] = ()
    query: str = ""
    variables_in: frozenset[str] = frozenset()
    methods_in: frozenset[str] = frozenset()
    members_in: frozenset[str] = frozenset()
    hidden_from_functions: frozenset[str] = frozenset()
    members: tuple[str, ...] = (".",)
    identifier: str = r"[^\W\d]\w*"
    implicit_exports: bool = False
    import_binds: str = "last"
    joint: str = "."
    embedded: str = ""
    bare_members: bool = False
    explicit_members: bool = False
    visible_names: bool = False
    linked: str = ""
    calls_apart: bool = False

    @property
    def group(self) -> str:
        """The languages whose files can refer to each other's names."""
        return self.family or self.linked or self.name


_SETS = ("variables_in", "methods_in", "members_in", "hidden_from_functions")
_LISTS = ("extensions", "filenames", "shebangs", "members")


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
        found = self._by_filename.get(name)
        if found is None and "." in name.strip("."):
            found = self._by_extension.get(name.rpartition(".")[2].lower())
        if found is None and "." not in name and start.startswith(b"#!"):
            found = self._by_shebang.get(_program(start))
        return found


@cache
def languages() -> Languages:
    """The tables, read once."""
    folder = files("codeplane.code.facts")
    tables = tomllib.loads(folder.joinpath("languages.toml").read_text("utf-8"))
    found = {name: _language(name, table) for name, table in tables.items()}
    return Languages(
        by_name=found,
        _by_extension={extension: one for one in found.values() for extension in one.extensions},
        _by_filename={filename: one for one in found.values() for filename in one.filenames},
        _by_shebang={program: one for one in found.values() for program in one.shebangs},
    )


@cache
def scripts() -> frozenset[str]:
    """The names of all languages of JavaScript's family; pages that hold a script are of it too."""
    return frozenset(one.name for one in languages().by_name.values() if one.family == "javascript")


@cache
def tables_version() -> int:
    """A number that changes with the tables and the queries: facts made by others are made again."""
    folder = files("codeplane.code.facts")
    parts = [folder.joinpath("languages.toml"), *folder.joinpath("queries").iterdir()]
    texts = [part.read_bytes() for part in sorted(parts, key=lambda part: part.name) if part.is_file()]
    return int(sha256(b"\0".join([str(FORMAT).encode(), *texts])).hexdigest()[:7], 16)


def query_of(language: Language) -> str:
    """The text of a language's query, with those it builds on; empty where only the text is known."""
    folder = files("codeplane.code.facts").joinpath("queries")
    names = [name for name in (language.query or language.name).split("+") if name]
    found = [folder.joinpath(f"{name}.scm") for name in names]
    return "\n".join(one.read_text("utf-8") for one in found if one.is_file())


def _language(name: str, table: dict[str, object]) -> Language:
    values: dict[str, object] = {"grammar": name, **table}
    values |= {key: frozenset(_texts(table[key])) for key in _SETS if key in table}
    values |= {key: _texts(table[key]) for key in _LISTS if key in table}
    return Language(name=name, **values)  # type: ignore[arg-type]  # the tables ship with the code and a test reads all


def _texts(value: object) -> tuple[str, ...]:
    assert isinstance(value, list)
    return tuple(map(str, value))


def _program(start: bytes) -> str:
    words = start.split(b"\n", 1)[0][2:].decode("utf-8", "replace").split()
    if words and words[0].endswith("/env"):
        words = [word for word in words[1:] if not word.startswith("-")]
    return words[0].rpartition("/")[2] if words else ""
