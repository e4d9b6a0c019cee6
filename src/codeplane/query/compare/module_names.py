"""The names that modules are imported by, which may stay when their files move."""

from collections.abc import Callable, Sequence

from codeplane.query.compare.change import FileOutlines
from codeplane.query.compare.outline import Outline

# Folders that are searched for modules, and are no part of their names.
_ROOTS = frozenset({"", "src", "lib", "python"})
HasFile = Callable[[str], bool]


def join_modules(files: Sequence[FileOutlines], is_known: HasFile) -> list[FileOutlines]:
    """Make one file of a module that went from one place and came at another under the same name."""
    old_paths = {file.old.path for file in files if file.old is not None}
    new_paths = {file.new.path for file in files if file.new is not None}

    def was_there(path: str) -> bool:
        return path in old_paths or (path not in new_paths and is_known(path))

    def is_there(path: str) -> bool:
        return path in new_paths or (path not in old_paths and is_known(path))

    gone = {
        name: file
        for file in files
        if file.new is None and file.old is not None and (name := module_name(file.old, was_there))
    }
    joined: list[FileOutlines] = []
    taken: set[int] = set()
    for file in files:
        name = module_name(file.new, is_there) if gone and file.old is None and file.new is not None else None
        before = gone.pop(name, None) if name is not None else None
        if before is not None:
            taken.add(id(before))
            file = FileOutlines(old=before.old, new=file.new)
        joined.append(file)
    # What a stub declared is declared in its module now.
    names = {module_name(file.new, is_there) for file in joined if file.new is not None}
    taken |= {id(file) for name, file in gone.items() if name.endswith(" pyi") and name.removesuffix("i") in names}
    return [file for file in joined if id(file) not in taken]


def is_same_module(file: FileOutlines, is_known: HasFile) -> bool:
    """Whether a file that moved is imported by the name it had."""
    old, new = file.old, file.new
    if old is None or new is None or old.path == new.path:
        return False
    names = (
        module_name(old, lambda path: path == old.path or is_known(path)),
        module_name(new, lambda path: path == new.path or is_known(path)),
    )
    return names[0] is not None and names[0] == names[1]


def module_name(outline: Outline, is_there: HasFile) -> str | None:
    """The dotted name of a module, and its ending; None where no package says where names begin."""
    marker = outline.rules.package_marker
    if not marker:
        return None
    folder, _, name = outline.path.rpartition("/")
    stem, _, ending = name.partition(".")
    parts = [] if stem == marker.partition(".")[0] else [stem]
    home = folder
    while home and is_there(f"{home}/{marker}"):
        home, _, above = home.rpartition("/")
        parts.insert(0, above)
    if not parts or (home == folder and folder not in _ROOTS):
        return None
    return f"{'.'.join(parts)} {ending}"
