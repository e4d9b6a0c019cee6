"""What a person is shown before files are written."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codeplane.edit.request import WriteRequest
from codeplane.kernel.errors import CodePlaneError, FileChanged, InvalidArgument, PathDenied
from codeplane.kernel.operation import Preview
from codeplane.wiring.app import Plane
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import NO_CALL, plane
from tests.trust.approvals.agent_calls import action_of, asking, call, decide, key_of, shown

pytestmark = requirement("TRUST-37")

QUIET = ("embeddings.model=none", "index.watch=false")
Shows = Callable[..., Awaitable[Preview]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = make_repo(tmp_path / "repo", {"a.py": "one = 1\ntwo = 2\n", "b.py": "b = 1\n", ".gitignore": "out/\n"})
    (made / "logo.bin").write_bytes(b"\0\1\2")
    return made


@asynccontextmanager
async def open_previews(root: Path) -> AsyncIterator[Shows]:
    async with plane(root, *QUIET) as opened:
        yield shows_of(opened)


def shows_of(opened: Plane) -> Shows:
    preview = opened.conveyor.catalogue.get("write_files").preview
    assert preview is not None

    async def shows(*edits: dict[str, object]) -> Preview:
        found = await preview(NO_CALL, WriteRequest.model_validate({"edits": list(edits)}))
        assert await preview(NO_CALL, WriteRequest.model_validate({"edits": list(edits)})) == found
        return found

    return shows


async def test_the_files_are_named_with_what_becomes_of_each_and_the_diff_is_shown(root: Path) -> None:
    async with open_previews(root) as shows:
        found = await shows(
            {"path": "a.py", "old_text": "two = 2", "new_text": "two = 22\nthree = 3"},
            {"path": "new.py", "content": "n = 1\n"},
            {"path": "b.py", "new_path": "c.py", "action": "move"},
            {"path": ".gitignore", "action": "delete"},
            {"path": "logo.bin", "new_path": "img/logo.bin", "action": "move"},
        )
        assert found.summary.startswith("change 5 files: ")
        for output in ("a.py (+2 -1)", "new.py (new)", "b.py → c.py (moved)", ".gitignore (deleted)"):
            assert output in found.summary
        assert "logo.bin → img/logo.bin (moved, binary)" in found.summary
        for line in ("-two = 2\n", "+two = 22\n", "+three = 3\n", "+n = 1\n", "rename b.py → c.py", "-out/"):
            assert line in f"{found.body}\n"
        assert "Binary file logo.bin" in found.body
        one = await shows({"path": "out/x", "content": "x\n", "executable": True})
        assert one.summary == "change 1 file: out/x (new, executable)" and "git-ignored: out/x" in one.body
        link = await shows({"path": "l", "link_to": "a.py"})
        assert "link l → a.py" in link.body and link.summary == "change 1 file: l (new, link)"
        assert "nothing" in (await shows({"path": "b.py", "content": "b = 1\n"})).summary
        assert (root / "a.py").read_text() == "one = 1\ntwo = 2\n" and not (root / "new.py").exists()


async def test_it_is_another_one_when_the_file_or_the_edit_is_another(root: Path) -> None:
    async with open_previews(root) as shows:
        edit = {"path": "a.py", "old_text": "two = 2", "new_text": "two = 3"}
        first = await shows(edit)
        (root / "a.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
        assert await shows(edit) != first
        many = [{"path": f"f{number:02}", "content": "x" * 5000} for number in range(20)]
        long = await shows(*many)
        assert "left out" in long.body and "f19 (new)" in long.body and "and 10 more" in long.summary
        many[19]["content"] = "y" * 5000
        assert await shows(*many) != long, "what is left out of the diff counts too"


async def test_nobody_is_asked_about_what_cannot_be_written(root: Path) -> None:
    async with open_previews(root) as shows:
        refused: list[tuple[dict[str, object], type[CodePlaneError]]] = [
            ({"path": ".env", "content": "x"}, PathDenied),
            ({"path": ".git/config", "content": "x"}, PathDenied),
            ({"path": "../x", "content": "x"}, PathDenied),
            ({"path": ".cplignore", "content": "x"}, PathDenied),
            ({"path": "a.py", "action": "create", "content": "x"}, FileChanged),
        ]
        for edit, kind in refused:
            with pytest.raises(kind):
                await shows(edit)
        with pytest.raises(InvalidArgument):
            await shows()


async def test_what_was_approved_is_not_written_over_a_file_that_changed(root: Path) -> None:
    async with asking(root, *QUIET, "trust.mode=always") as opened:
        edits = [{"path": "a.py", "content": "mine = 1\n"}]
        asked = await call(opened, "write_files", edits=edits)
        seen = await shown(opened, action_of(asked))
        assert "change 1 file: a.py (+1 -2)" in str(asked.error) and "+mine = 1" in str(seen["preview"])
        (root / "a.py").write_text("the owner's own work\n")
        assert (await decide(opened, "approval.approve", action_id=action_of(asked))).error is None
        late = await call(opened, "write_files", edits=edits, idempotency_key=key_of(asked))
        assert late.error is not None
        assert (root / "a.py").read_text() == "the owner's own work\n"
