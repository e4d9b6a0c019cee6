"""The known test runners, read from the tables in runners.toml."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

Unit = Literal["file", "package", "class", "project", "crate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A file whose presence says that a runner runs the tests around it."""

    file: str
    contains: str = ""
    priority: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Install:
    """The command that installs a runner if a folder around the tests has this file."""

    file: str
    command: str
    contains: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """A runner, as described by its table in runners.toml."""

    name: str
    languages: tuple[str, ...]
    unit: Unit
    programs: tuple[str, ...]
    command: tuple[str, ...]
    report: str
    files: tuple[str, ...] = ()
    default_for: tuple[str, ...] = ()
    markers: tuple[Marker, ...] = ()
    imports: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    module: str = ""
    target: tuple[str, ...] = ("{path}",)
    report_args: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    from_output: bool = False
    script: str = ""
    node_ids: bool = False
    pattern: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tags_join: str = ","
    fail_fast: tuple[str, ...] = ()
    offline: tuple[str, ...] = ()
    offline_variables: tuple[tuple[str, str], ...] = ()
    many: bool = False
    regex: bool = False
    exclusive: bool = False
    startup_sec: float = 0.0
    whole: bool = False
    needs_text: str = ""
    counts: str = ""
    names: str = ""
    parts: str = ""
    install: tuple[Install, ...] = ()
    hint: str = ""

    def script_text(self) -> str:
        """Return the text of our own reporter, for runners that write no report."""
        return files("codeplane.testing.reports").joinpath(self.script).read_text("utf-8")

    def is_named(self, path: str) -> bool:
        """Whether a path below the root is named like this runner's tests."""
        return any(
            pattern.fullmatch(path if slash else path.rpartition("/")[2]) for slash, pattern in _patterns(self.files)
        )


@cache
def runners() -> Mapping[str, Runner]:
    """Return all runners by name, read once."""
    tables = tomllib.loads(files("codeplane.testing").joinpath("runners.toml").read_text("utf-8"))
    return {name: _runner(name, table) for name, table in tables.items()}


@cache
def glob_regex(pattern: str) -> re.Pattern[str]:
    """Compile a glob over whole paths: `*` stays in its segment, `**` spans any number of them."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            parts.append("(?:[^/]+/)*")
            at += 3
        elif pattern.startswith("**", at):
            parts.append(".*")
            at += 2
        elif pattern[at] == "*":
            parts.append("[^/]*")
            at += 1
        elif pattern[at] == "?":
            parts.append("[^/]")
            at += 1
        else:
            parts.append(re.escape(pattern[at]))
            at += 1
    return re.compile("".join(parts), re.DOTALL)


@cache
def _patterns(globs: tuple[str, ...]) -> tuple[tuple[bool, re.Pattern[str]], ...]:
    return tuple(("/" in glob, glob_regex(glob)) for glob in globs)


def _runner(name: str, table: dict[str, object]) -> Runner:
    values: dict[str, object] = {}
    for key, value in table.items():
        if key == "markers":
            assert isinstance(value, list)
            values[key] = tuple(Marker(**table) for table in value)
        elif key == "install":
            assert isinstance(value, list)
            values[key] = tuple(Install(**table) for table in value)
        elif key == "offline_variables":
            assert isinstance(value, dict)
            values[key] = tuple(value.items())
        else:
            values[key] = tuple(value) if isinstance(value, list) else value
    return Runner(name=name, **values)  # type: ignore[arg-type]  # the table's own tests say that the types fit
