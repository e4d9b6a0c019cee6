"""Parsers of workspace files: package.json, pnpm-workspace.yaml, go.work, Cargo.toml and Gradle settings.

A file that cannot be read never raises and never detaches anything: it gives no fence, and says why.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable

import yaml

from codeplane.index.contexts.fence import Fence, MarkerContent
from codeplane.index.contexts.glob import SPECIAL, FolderGlob, NotAGlob
from codeplane.index.contexts.gradle import gradle_settings
from codeplane.index.contexts.yaml_depth import check_depth

MAX_BYTES = 500_000
MAX_GLOBS = 500
# Dotted names on one line nest tables, at a cost that grows with the square of their number.
_MAX_DOTS = 200
_YAML: type = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Malformed(ValueError):
    """A marker file with unexpected content."""


def read_marker(path: str, content: bytes | None) -> MarkerContent:
    """Parse a marker file; only files in the table below are opened."""
    name = path[path.rfind("/") + 1 :]
    if content is None:
        return MarkerContent(problem=f"{name} could not be read")
    if len(content) > MAX_BYTES:
        return MarkerContent(problem=f"{name} is larger than {MAX_BYTES} bytes and was not read")
    try:
        return MarkerContent(fence=READ[name](path, content.decode("utf-8-sig")))
    except UnicodeDecodeError:
        return MarkerContent(problem=f"{name} is not UTF-8")
    except RecursionError:
        return MarkerContent(problem=f"{name} is nested too deeply")
    except yaml.MarkedYAMLError as error:
        line = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        return MarkerContent(problem=f"{name} is not YAML{line}")
    except (ValueError, yaml.YAMLError) as error:
        message = " ".join(str(error).split())[:200]
        return MarkerContent(problem=f"{name}: {message}")


def _package_json(path: str, text: str) -> Fence | None:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise Malformed("is not an object")
    listed = value.get("workspaces")
    if isinstance(listed, dict):
        listed = listed.get("packages")
    return None if listed is None else _globs(path, _strings(listed, "workspaces"))


def _pnpm(path: str, text: str) -> Fence | None:
    check_depth(text)
    value = yaml.load(text, Loader=_YAML)  # nosec B506  # a safe loader
    if value in (None, ""):
        return None
    if not isinstance(value, dict):
        raise Malformed("is not a mapping")
    # Without packages the file only holds settings, and every package belongs.
    listed = value.get("packages")
    return None if listed in (None, "") else _globs(path, _strings(listed, "packages"))


def _cargo(path: str, text: str) -> Fence | None:
    if any(line.count(".") > _MAX_DOTS for line in text.split("\n")):
        raise Malformed(f"a line has more than {_MAX_DOTS} dots")
    workspace = tomllib.loads(text).get("workspace")
    if workspace is None:
        return None
    if not isinstance(workspace, dict):
        raise Malformed("workspace is not a table")
    members = _strings(workspace.get("members", []), "workspace.members")
    exclude = _strings(workspace.get("exclude", []), "workspace.exclude")
    return Fence(marker=path, members=_compile(members), without=_compile(exclude))


_GO_TOKEN = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|`[^`]*`|[()\n]|[^\s()"`]+')


def _go_work(path: str, text: str) -> Fence | None:
    used: list[str] = []
    inside, line = False, list[str]()
    for token in (*_GO_TOKEN.findall(text), "\n"):
        if token.startswith("//"):
            continue
        if token not in ("\n", ")"):
            line.append(token)
            if line == ["use", "("]:
                inside, line = True, []
            continue
        if inside:
            used.extend(line)
        elif line[:1] == ["use"]:
            used.extend(line[1:])
        inside, line = inside and token != ")", []
    if inside:
        raise Malformed("a use block is not closed")
    folders = [FolderGlob.for_folder(_unquote(each)) for each in used]
    return Fence(marker=path, members=tuple(folders), lists_itself=True)


def _unquote(token: str) -> str:
    if token.startswith("`"):
        return token[1:-1]
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token.startswith('"') else token


def _gradle(path: str, text: str) -> Fence | None:
    settings = gradle_settings(text)
    members = tuple(FolderGlob.for_folder(folder) for folder in settings.folders)
    return Fence(marker=path, members=members, permissive=bool(settings.dynamic), reason=settings.dynamic)


def _globs(path: str, listed: Iterable[str]) -> Fence:
    listed = list(listed)
    without = [each[1:] for each in listed if each.startswith("!")]
    return Fence(
        marker=path, members=_compile(each for each in listed if not each.startswith("!")), without=_compile(without)
    )


def _compile(patterns: Iterable[str]) -> tuple[FolderGlob, ...]:
    try:
        return tuple(FolderGlob(pattern) for pattern in _limit_patterns(dict.fromkeys(patterns)))
    except NotAGlob as error:
        raise Malformed(str(error)) from None


def _limit_patterns(patterns: Iterable[str]) -> list[str]:
    listed = list(patterns)
    if sum(not SPECIAL.isdisjoint(each) for each in listed) > MAX_GLOBS:
        raise Malformed(f"more than {MAX_GLOBS} globs")
    return listed


def _strings(value: object, what: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Malformed(f"{what} is not a list of strings")
    return value


READ: dict[str, Callable[[str, str], Fence | None]] = {
    "package.json": _package_json,
    "pnpm-workspace.yaml": _pnpm,
    "go.work": _go_work,
    "Cargo.toml": _cargo,
    "settings.gradle": _gradle,
    "settings.gradle.kts": _gradle,
}
