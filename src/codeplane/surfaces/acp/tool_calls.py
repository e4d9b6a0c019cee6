"""Tools of ours as editors group them, and the places and changes that they show."""

from pathlib import Path

from codeplane.kernel.file_diff import lines_of_hunks
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.updates import FileDiff

_KINDS = {
    "read_files": "read",
    "list_dir": "read",
    "map_repo": "read",
    "explain_symbol": "read",
    "semantic_diff": "read",
    "search": "search",
    "write_files": "edit",
    "undo": "edit",
    "redo": "edit",
    "checkpoint": "execute",
    "run_bash": "execute",
    "web_open": "fetch",
    "web_search": "fetch",
}
_FAMILIES = {
    "refactor": "edit",
    "test": "execute",
    "git": "execute",
    "shell": "execute",
    "search": "search",
    "symbol": "search",
    "references": "search",
    "index": "read",
    "mutation": "read",
    "artifact": "read",
}
_OWN_KINDS = frozenset(
    {"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}
)
_PATHS = ("path", "paths", "file", "files", "edits", "old_path", "new_path")
_LINES = ("start_line", "line")
_MAX_PATHS = 50
_MAX_TITLE = 120


def kind_of(tool: str) -> str:
    """Return the kind of a tool; those of outside agents are named by it."""
    if (kind := tool.rpartition(".")[2]) != tool and kind in _OWN_KINDS:
        return kind
    return _KINDS.get(tool) or _FAMILIES.get(tool.partition("_")[0], "other")


def title_of(tool: str, arguments: JsonObject) -> str:
    """Return a line that says what a tool is used for."""
    for name in ("query", "command", "path", "symbol", "name", "url", "pattern", "message", "title"):
        if isinstance(value := arguments.get(name), str) and value.strip():
            line = f"{tool}: {value.strip().splitlines()[0]}"
            return line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 1]}…"
    places = [path for path, _ in paths_of(arguments, Path())][:3]
    return f"{tool}: {', '.join(places)}"[:_MAX_TITLE] if places else tool


def paths_of(arguments: JsonObject, root: Path) -> tuple[tuple[str, int | None], ...]:
    """Return the files that the arguments name, below `root`, with the line where one is named."""
    found: dict[str, int | None] = {}
    for name in _PATHS:
        _collect(arguments.get(name), arguments, root, found)
    return tuple(found.items())[:_MAX_PATHS]


def _collect(value: JsonValue, around: JsonObject, root: Path, found: dict[str, int | None]) -> None:
    if isinstance(value, str) and value:
        found.setdefault(str(root / value), _line(around))
    elif isinstance(value, list):
        for item in value[:_MAX_PATHS]:
            if isinstance(item, dict):
                for name in _PATHS:
                    _collect(item.get(name), item, root, found)
            else:
                _collect(item, {}, root, found)


def _line(around: JsonObject) -> int | None:
    for name in _LINES:
        if isinstance(value := around.get(name), int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def diffs_of(change: JsonObject, root: Path) -> tuple[FileDiff, ...]:
    """Return the diffs of a mutation's files, as `mutation.show` gives them."""
    files = change.get("files")
    return tuple(
        diff
        for file in (files if isinstance(files, list) else ())
        if isinstance(file, dict) and (diff := _diff(file, root)) is not None
    )


def _diff(file: JsonObject, root: Path) -> FileDiff | None:
    patch = str(file.get("diff") or "")
    if not patch:
        return None
    old: list[str] = []
    new: list[str] = []
    lines = lines_of_hunks(patch)
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        text = line[1:].removesuffix("\n") if following.startswith("\\") else line[1:]
        if line[0] in " -":
            old.append(text)
        if line[0] in " +":
            new.append(text)
    is_new = file.get("action") == "created"
    return FileDiff(
        path=str(root / str(file["path"])),
        old_text=None if is_new else "".join(old),
        new_text="".join(new),
        patch=patch,
    )
