"""Packages at the destination of a move: missing `__init__.py` files, and modules that hide them."""

from collections.abc import Iterable, Mapping

_INITS = ("__init__.py", "__init__.pyi")


def missing_inits(files: Iterable[str], moves: Mapping[str, str]) -> list[str]:
    """Return the `__init__.py` files of new folders, if the packages beside or around them have one."""
    python = {path for path in files if path.endswith((".py", ".pyi"))}
    if not any(path in python for path in moves):
        return []
    after = (python - set(moves)) | {new for old, new in moves.items() if old in python}
    packages = {path.rpartition("/")[0] for path in python if path.rpartition("/")[2] in _INITS}
    holding = {folder for path in python for folder in _parent_folders(path)}
    found: list[str] = []
    for folder in sorted({folder for old, new in moves.items() if old in python for folder in _parent_folders(new)}):
        if folder in holding or any(f"{folder}/{name}" in after for name in _INITS):
            continue
        parent = folder.rpartition("/")[0]
        beside = {path for path in holding if path and path.rpartition("/")[0] == parent}
        from_package = any(
            old.rpartition("/")[0] in packages for old, new in moves.items() if new.startswith(f"{folder}/")
        )
        if (parent and parent in packages) or (from_package and beside and beside <= packages):
            found.append(f"{folder}/__init__.py")
            packages.add(folder)
    return found


def shadowed_module(files: Iterable[str], moves: Mapping[str, str]) -> tuple[str, str] | None:
    """Return a module and a folder of one name that a move would put side by side, where one hides the other."""
    before = {path for path in files if path.endswith((".py", ".pyi"))}
    after = (before - set(moves)) | {new for old, new in moves.items() if old in before}
    came = {new for old, new in moves.items() if old in before}
    folders = {folder for path in after for folder in _parent_folders(path)}
    for path in sorted(came):
        module, _, ending = path.rpartition(".")
        if module in folders and path.rpartition("/")[2] not in _INITS:
            return f"{module}.{ending}", module
        for folder in _parent_folders(path):
            if f"{folder}.py" in after and folder not in {above for old in before for above in _parent_folders(old)}:
                return f"{folder}.py", folder
    return None


def _parent_folders(path: str) -> list[str]:
    """Return the folders of a file."""
    steps = path.split("/")[:-1]
    return ["/".join(steps[: count + 1]) for count in range(len(steps))]
