"""`PATH` for programs that run outside of any sandbox: without work trees, where agents and tests write."""

import os
from pathlib import Path


def path_outside(path: str, *roots: Path) -> str:
    """Return a `PATH` without folders in these work trees and without relative ones."""
    real = [os.path.realpath(root) for root in roots]
    folders = [folder for folder in path.split(os.pathsep) if Path(folder).is_absolute()]
    return os.pathsep.join(folder for folder in folders if not _is_inside(os.path.realpath(folder), real))


def _is_inside(place: str, roots: list[str]) -> bool:
    return any(place == root or place.startswith(root.rstrip("/") + "/") for root in roots)
