"""What a person is shown before a folder is opened to agents, or a repository is cloned."""

from pathlib import Path

import pytest

from codeplane.index.workspaces.operations import AttachRequest, CloneRequest
from codeplane.kernel.errors import PathDenied
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import NO_CALL, plane

pytestmark = requirement("TRUST-39")

QUIET = ("embeddings.model=none", "index.watch=false")


async def test_a_folder_is_shown_where_it_really_lies(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "main")
    first, second = make_repo(tmp_path / "first"), make_repo(tmp_path / "second")
    link = tmp_path / "link"
    link.symlink_to(first)
    async with plane(root, *QUIET) as opened:
        preview = opened.conveyor.catalogue.get("workspace.attach").preview
        assert preview is not None
        seen = await preview(NO_CALL, AttachRequest(path=str(link)))
        assert seen.summary == f"attach {first.resolve()} as first" and "OUTSIDE workspaces.roots" in seen.body
        assert await preview(NO_CALL, AttachRequest(path=str(link))) == seen
        link.unlink()
        link.symlink_to(second)
        moved = await preview(NO_CALL, AttachRequest(path=str(link)))
        assert str(second.resolve()) in moved.body and moved != seen
        with pytest.raises(PathDenied):
            await preview(NO_CALL, AttachRequest(path="/"))


async def test_a_clone_names_address_branch_and_folder_without_what_is_secret(tmp_path: Path) -> None:
    async with plane(tmp_path / "main", *QUIET) as opened:
        preview = opened.conveyor.catalogue.get("git.clone").preview
        assert preview is not None
        url = "https://me:secret@far.invalid/lib.git"
        seen = await preview(NO_CALL, CloneRequest(url=url, branch="v1", recurse_submodules=True))
        assert seen.summary == "clone https://far.invalid/lib.git as lib" and "secret" not in f"{seen}"
        assert "branch: v1" in seen.body and "submodules: fetched too" in seen.body
        assert str(opened.workspaces.home("lib")) in seen.body
        assert await preview(NO_CALL, CloneRequest(url=url, branch="v2", recurse_submodules=True)) != seen
