"""A sweep over a few files that a test writes, in words that can be compared."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from codeplane.kernel.config import DocSweepConfig
from codeplane.refactor.documents.sweep import sweep_documents
from codeplane.refactor.draft import Draft
from tests.code.resolve.written import Written, written


class Sweeping:
    """A repository that is swept several times: to write it costs more."""

    def __init__(self, repo: Written) -> None:
        self._repo = repo

    def __call__(
        self,
        name: str,
        *,
        qualified: str,
        near: tuple[str, ...],
        config: DocSweepConfig | None = None,
        seconds: float = 30.0,
    ) -> Draft:
        """What a rename to `renamed` would say of texts."""
        return sweep_documents(
            self._repo.world(),
            self._repo.store,
            name=name,
            new_name="renamed",
            qualified=qualified,
            near=frozenset(near),
            config=config or DocSweepConfig(),
            deadline=time.monotonic() + seconds,
        )


@contextmanager
def sweeping(root: Path, files: Mapping[str, str]) -> Iterator[Sweeping]:
    """Write files and sweep them."""
    with written(root, files) as repo:
        yield Sweeping(repo)


def sweep(root: Path, files: Mapping[str, str], name: str, *, qualified: str, near: tuple[str, ...]) -> Draft:
    """One sweep of a few files."""
    with sweeping(root, files) as ask:
        return ask(name, qualified=qualified, near=near)


def confidences(draft: Draft, files: Mapping[str, str]) -> dict[str, str | None]:
    """Each place as `path:line:column` (counted from 1, columns in bytes) and its confidence."""
    found: dict[str, str | None] = {}
    for edit in draft.edits:
        text = files[edit.path].encode()
        line = text.count(b"\n", 0, edit.start) + 1
        column = edit.start - text.rfind(b"\n", 0, edit.start)
        found[f"{edit.path}:{line}:{column}"] = edit.confidence
    return found


def on_lines(draft: Draft, files: Mapping[str, str], path: str) -> dict[int, str | None]:
    """The confidence on each line of a file that has one match."""
    found = confidences(draft, files)
    return {int(place.split(":")[1]): sure for place, sure in found.items() if place.startswith(f"{path}:")}
