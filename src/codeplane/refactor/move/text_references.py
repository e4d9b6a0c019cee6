"""References to what moves that are not imports: dotted strings, paths, entry points, package files."""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping

from codeplane.code.languages.javascript.config import join_path
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.refactor.draft import Danger, Edit

_UNPARSED = frozenset(
    {"setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", ".flake8", "Procfile", "Makefile", ".coveragerc"}
)
_CONFIGS = re.compile(r"(?:^|/)(?:package|[tj]sconfig[^/]*)\.json$")
_BOUND = re.compile(rb"[\w.]")
_MAX = 2_000


def dotted_strings(world: World, store: FactStore, names: Mapping[str, str]) -> Iterator[Edit]:
    """Yield proposals for strings and settings that contain a module's whole dotted name."""
    for name, new in names.items():
        last = name.rpartition(".")[2]
        paths = [path for path, _ in store.files_with(last)]
        paths += [path for path in world.snapshot.files if path.rpartition("/")[2] in _UNPARSED]
        count = 0
        for path in dict.fromkeys(paths):
            known = world.snapshot.files.get(path)
            if known is None or known.skipped is not None:
                continue
            text = world.text(path)
            for at in _places(text, name.encode()):
                why = _why(world, path, text, at, dotted="." in name)
                if why and count < _MAX:
                    count += 1
                    yield Edit(
                        path=path,
                        start=at,
                        end=at + len(name.encode()),
                        new=new,
                        tier="UNKNOWN",
                        role="STRING",
                        why=why,
                    )


def _places(text: bytes, name: bytes) -> Iterator[int]:
    """Yield where a whole dotted name is."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (at and _BOUND.match(text, at - 1)) and not re.match(rb"\w", text[end : end + 1]):
            yield at
        at = text.find(name, end)


def _why(world: World, path: str, text: bytes, at: int, *, dotted: bool) -> str:
    """Return why a string may be a module's name; empty if nothing suggests that."""
    name = path.rpartition("/")[2]
    facts = world.facts(path)
    line = text[text.rfind(b"\n", 0, at) + 1 : at]
    language = LANGUAGES[facts.language] if facts is not None else None
    if facts is not None and language is not None and language.names.names_in_strings:
        if not facts.in_text(at) or b"#" in line:
            return ""
        if re.search(rb"(?:patch|import_module|import_string|__import__|find_spec)\s*\(\s*[rf]?[\"']\Z", line):
            return "a string that a call turns into a module"
        return "a string that spells the module's whole name" if dotted else ""
    if name == "pyproject.toml" or name in _UNPARSED or name.endswith((".toml", ".cfg", ".ini")):
        if re.search(rb"=\s*[\"']?\Z", line) and re.match(rb"[\w.]*:\w", text[at : at + 300]):
            return "an entry point names it"
        return "a setting names it" if dotted else ""
    if language is None or language.kind in ("prose", "markup") or language.names.follows_imports:
        return ""
    return "a setting names it" if dotted and name.endswith((".yaml", ".yml", ".json")) else ""


def path_mentions(world: World, moved: Mapping[str, str], root: str) -> Iterator[Danger]:
    """Yield a danger for each file that contains a moved path, with the number of places."""
    if "/" not in root:
        return
    wanted = re.compile(rb"(?<![\w./-])(?:\./)?%s(?![\w-])" % re.escape(root.encode()))
    counts: dict[str, list[int]] = {}
    content = world.snapshot.content
    place = content.find(root.encode())
    while place >= 0:
        known = world.snapshot.at(place)
        if known is not None:
            at = place - known.offset
            text = world.text(known.path)
            if wanted.search(text[max(0, at - 3) : at + len(root) + 2]):
                counts.setdefault(known.path, []).append(at)
        place = content.find(root.encode(), place + 1)
    for path, places in sorted(counts.items()):
        yield Danger(kind="path_in_text", what=f"{path} spells {root}", path=path, offset=places[0], count=len(places))


def package_entries(world: World, moved: Mapping[str, str]) -> Iterator[Danger]:
    """Yield a danger for each `package.json` or `tsconfig.json` that names a moved file."""
    stems = {posixpath.splitext(path)[0]: path for path in moved}
    folders = {"", *(folder for path in moved for folder in _parent_folders(path))}
    for path in world.snapshot.files:
        if not _CONFIGS.search(path) or posixpath.dirname(path) not in folders:
            continue
        text = world.text(path)
        for match in re.finditer(rb'"(\.{0,2}/?[\w@./-]{2,300})"', text):
            target = join_path(posixpath.dirname(path), match[1].decode("utf-8", "replace"))
            found = target and (target in moved or posixpath.splitext(target)[0] in stems)
            if found and "/" in match[1].decode("utf-8", "replace"):
                what = f"{path} names {json.loads(match[0])}, which moves"
                yield Danger(kind="package_entry", what=what, path=path, offset=match.start(1))


def _parent_folders(path: str) -> list[str]:
    steps = path.split("/")[:-1]
    return ["/".join(steps[: count + 1]) for count in range(len(steps))]
