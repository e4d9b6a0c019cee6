"""Where git keeps a work tree's repository is found as it is now, also where it was looked for before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.disk import git_folders as module
from codeplane.disk.git_folders import git_folders
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-03")


def _submodule(repo: Path) -> None:
    (repo / "inner/objects").mkdir(parents=True)
    (repo / "inner/refs").mkdir()
    (repo / "inner/HEAD").write_text("ref: refs/heads/main\n")
    (repo / "sub").mkdir()
    (repo / "sub/.git").write_text(f"gitdir: {repo}/inner\n")
    (repo / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n')


def _moved(repo: Path) -> None:
    (repo / ".git").rename(repo / "inner")
    (repo / ".git").write_text("gitdir: inner\n")


def _linked(repo: Path) -> None:
    (repo / ".git").rename(repo / "inner")
    (repo / ".git").symlink_to("inner")


def _shared(repo: Path) -> None:
    (repo / "inner").mkdir()
    (repo / ".git/commondir").write_text("../inner\n")


@pytest.mark.parametrize("change", [_submodule, _moved, _linked, _shared])
@pytest.mark.parametrize("settled_ns", [0, module._SETTLED_NS])
def test_a_change_is_seen_at_once(
    repo: Path, change: Callable[[Path], None], settled_ns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SETTLED_NS", settled_ns)
    assert not git_folders(repo).cover("inner/HEAD")
    assert not git_folders(repo).cover("inner/HEAD")
    change(repo)
    assert git_folders(repo).cover("inner/HEAD")
