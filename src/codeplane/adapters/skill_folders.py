"""Skills in the public folder format: SKILL.md with YAML front matter, and files beside it."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from codeplane.adapters.yaml_document import Document, Origin
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.skill import Skill

MAIN_FILE = "SKILL.md"
PROJECT_FOLDERS = (".codeplane/skills", ".agents/skills", ".claude/skills")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# A list of tools is words, commas between them or not; parentheses hold a pattern, as in Bash(git log:*).
_TOOL = re.compile(r"[^\s,()]+(?:\([^)]*\))?")
_MAX_NAME, _MAX_DESCRIPTION = 64, 4096
_MAX_SKILLS, _MAX_FILES = 200, 500
_MAX_MAIN_BYTES, _MAX_BYTES = 131_072, 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRoot:
    """A folder of skills; `boundary` is what links may not lead out of."""

    path: Path
    label: str
    is_project: bool
    boundary: Path


class SkillFolders:
    """The skills of a repository and of its owner."""

    def __init__(self, roots: Sequence[SkillRoot]) -> None:
        """Of two skills with one name, that of the first root counts."""
        self._roots = tuple(roots)

    @classmethod
    def of(cls, repository: Path, home: Path) -> "SkillFolders":
        """The skills of the owner's home, which come first, and those of a repository."""
        own = SkillRoot(path=home / ".codeplane/skills", label="~/.codeplane/skills", is_project=False, boundary=home)
        project = (
            SkillRoot(path=repository / name, label=name, is_project=True, boundary=repository)
            for name in PROJECT_FOLDERS
        )
        return cls([own, *project])

    def find_skills(self) -> tuple[Skill, ...]:
        """All skills, also those with a problem; a name is there once, from the first place that has it. Blocks."""
        found: dict[str, Skill] = {}
        for root in self._roots:
            for folder in _folders(root):
                if len(found) >= _MAX_SKILLS:
                    return tuple(found.values())
                if folder.name not in found:
                    found[folder.name] = _read(folder, root)
        return tuple(found.values())

    def parse_skill(self, name: str, text: str) -> Skill:
        """The skill that a SKILL.md in a folder of that name would be; its `problem` says what is wrong with it."""
        unread = Skill(
            name=name,
            description="",
            location=f"{PROJECT_FOLDERS[0]}/{name}",
            is_project=True,
            instructions="",
            allowed_tools=None,
            files=(),
            hash=_hash([(MAIN_FILE, text.encode())]),
        )
        return _parse(unread, text)


def _folders(root: SkillRoot) -> list[Path]:
    """The folders of a root that have a SKILL.md, by name."""
    try:
        if not root.path.resolve().is_relative_to(root.boundary.resolve()):
            return []
        with os.scandir(root.path) as entries:
            folders = [root.path / entry.name for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return []
    return sorted(folder for folder in folders if (folder / MAIN_FILE).is_file())


def _read(folder: Path, root: SkillRoot) -> Skill:
    unread = Skill(
        name=folder.name,
        description="",
        location=f"{root.label}/{folder.name}",
        is_project=root.is_project,
        instructions="",
        allowed_tools=None,
        files=(),
        hash="",
    )
    try:
        contents = _contents(folder)
        text = next(data for name, data in contents if name == MAIN_FILE).decode()
    except UnicodeDecodeError:
        return replace(unread, problem=f"{MAIN_FILE} is not UTF-8")
    except (OSError, _Refused) as error:
        return replace(unread, problem=str(error))
    files = tuple(name for name, _ in contents if name != MAIN_FILE)
    return _parse(replace(unread, files=files, hash=_hash(contents)), text)


class _Refused(Exception):
    """A folder is not read."""


def _contents(folder: Path) -> list[tuple[str, bytes]]:
    """The files of a skill; none of them may be a link, since what it leads to is not in the hash's hands."""
    if folder.is_symlink():
        raise _Refused("it is a link")
    found: list[tuple[str, bytes]] = []
    left = _MAX_BYTES
    for here, folders, names in os.walk(folder, onerror=_fail):
        folders.sort()
        for name in sorted([*names, *(entry for entry in folders if (Path(here) / entry).is_symlink())]):
            path = Path(here) / name
            relative = path.relative_to(folder).as_posix()
            if path.is_symlink():
                raise _Refused(f"{relative} is a link")
            if not path.is_file():
                raise _Refused(f"{relative} is no regular file")
            if relative == MAIN_FILE and path.stat().st_size > _MAX_MAIN_BYTES:
                raise _Refused(f"{MAIN_FILE} has more than {_MAX_MAIN_BYTES} bytes")
            with path.open("rb") as file:
                data = file.read(left + 1)
            left -= len(data)
            if left < 0 or len(found) >= _MAX_FILES:
                raise _Refused(f"it has more than {_MAX_FILES} files or {_MAX_BYTES} bytes")
            found.append((relative, data))
    return found


def _fail(error: OSError) -> None:
    raise error


def _hash(contents: Iterable[tuple[str, bytes]]) -> str:
    """A hash of names and contents, so that any change of a skill is another one."""
    whole = sha256()
    for name, data in contents:
        whole.update(sha256(name.encode("utf-8", "surrogateescape")).digest() + sha256(data).digest())
    return whole.hexdigest()


def _parse(skill: Skill, text: str) -> Skill:
    try:
        front, instructions = _split(text)
    except ConfigInvalid as error:
        return replace(skill, problem=error.message)
    name, description = front.get("name"), front.get("description")
    problem = ""
    if not isinstance(name, str) or len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        problem = f"name is lower-case letters, digits and hyphens, at most {_MAX_NAME}"
    elif name != skill.name:
        problem = f"name is {name}, and its folder is {skill.name}"
    elif not isinstance(description, str) or not description.strip() or len(description) > _MAX_DESCRIPTION:
        problem = f"description is a text of at most {_MAX_DESCRIPTION} characters"
    try:
        allowed = _tools(front.get("allowed-tools"))
    except ValueError as error:
        problem, allowed = problem or str(error), None
    return replace(
        skill,
        description=" ".join(description.split()) if isinstance(description, str) else "",
        instructions=instructions.strip(),
        allowed_tools=allowed,
        problem=problem,
    )


def _split(text: str) -> tuple[JsonObject, str]:
    """The front matter and what comes after it."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].strip() != "---":
        raise ConfigInvalid(f"{MAIN_FILE} does not begin with front matter between two lines of ---")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        raise ConfigInvalid(f"the front matter of {MAIN_FILE} does not end")
    value = Document.parse("".join(lines[1:end]), Origin(name=MAIN_FILE, is_file=True)).value
    if not isinstance(value, dict):
        raise ConfigInvalid(f"the front matter of {MAIN_FILE} has no names")
    return value, "".join(lines[end + 1 :])


def _tools(value: JsonValue) -> tuple[str, ...] | None:
    if value is None:
        return None
    words = value if isinstance(value, list) else [value]
    if not all(isinstance(word, str) for word in words):
        raise ValueError("allowed-tools is a text or a list of texts")
    return tuple(dict.fromkeys(tool for word in words for tool in _TOOL.findall(str(word))))
