"""Files of a repository by how somebody else spells their paths."""

from collections.abc import Iterable


class PathFinder:
    """Finds a file by its path, an absolute path into some checkout of it, or an ending that only it has."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def find(self, spelled: str) -> str | None:
        """The file that shares the longest ending with a path; None if several do, or none."""
        steps = [step for step in spelled.replace("\\", "/").split("/") if step not in ("", ".", "~")]
        if not steps:
            return None
        best: list[str] = []
        length = 0
        for path in self._by_name.get(steps[-1], ()):
            shared = _count_shared(path.split("/"), steps)
            # A name alone is not enough where folders are spelled that the file is not in.
            if shared == 1 < len(steps) and "/" in path:
                continue
            if shared > length:
                best, length = [path], shared
            elif shared == length:
                best.append(path)
        # What is spelled with fewer folders than the file has may still be meant: `a.py` for `src/a.py`.
        whole = [path for path in best if path.count("/") + 1 == length]
        chosen = whole or best
        return chosen[0] if len(chosen) == 1 else None


def _count_shared(path: list[str], steps: list[str]) -> int:
    count = 0
    for left, right in zip(reversed(path), reversed(steps), strict=False):
        if left != right:
            break
        count += 1
    return count
