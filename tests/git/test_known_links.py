"""Git writes through links in its folder: those that were not there at the start are not written through."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from codeplane.git.read.state import progress_in
from codeplane.git.safety.command import Git
from codeplane.git.safety.known_links import KnownLinks
from codeplane.git.write.branches import Branches, CreateBranchRequest
from codeplane.git.write.commits import CommitRequest, Commits
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.tags import CreateTagRequest, Tags
from codeplane.git.write.worktrees import WorktreeAddRequest, WorktreeWrites
from codeplane.kernel.errors import GitRefused
from tests.git.desk import Desk, call, run, simple
from tests.git.random_repository import environment
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-48")

KEPT = "the owner's\n"


class Linked(Desk):
    """A repository whose links are known from the start."""

    @property
    def record(self) -> Path:
        return self.made.root.parent / "git-links.json"

    def command(self) -> Git:
        links = KnownLinks(self.record)
        git = Git(self.made.root, self.config, lambda: environment(self.made.at), links=links)
        git.refuse_new_links()
        return git


@pytest.fixture
def target(tmp_path: Path) -> Path:
    target = tmp_path / "profile"
    target.write_text(KEPT)
    return target


@pytest.fixture
def desk(tmp_path: Path) -> Linked:
    return Linked(simple(tmp_path).made)


def _commit(desk: Desk) -> Awaitable[object]:
    desk.made.write("a.txt", "changed\n")
    return Commits(desk.writer).commit(call(), CommitRequest(message="x", paths=("a.txt",)))


def _branch(desk: Desk) -> Awaitable[object]:
    return Branches(desk.writer).create(call(), CreateBranchRequest(name="new"))


def _tag(desk: Desk) -> Awaitable[object]:
    return Tags(desk.writer).create(call(), CreateTagRequest(name="new"))


def _go_on(desk: Desk) -> Awaitable[object]:
    desk.made.git("branch", "side", "HEAD~1")
    (desk.made.root / ".git" / "MERGE_HEAD").write_bytes(desk.made.git("rev-parse", "side"))
    return Merges(desk.writer).merge(call(), MergeRequest(action="continue"))


def _put_link(desk: Desk, place: str, target: Path) -> Path:
    link = desk.made.root / ".git" / place
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.exists():
        link.rename(target.with_name("replaced"))
    link.symlink_to(target)
    return link


@pytest.mark.parametrize(
    ("place", "change"),
    [
        ("COMMIT_EDITMSG", _commit),
        ("logs/HEAD", _commit),
        ("index", _commit),
        ("logs/refs/heads/new", _branch),
        ("logs/refs/heads/lfs/new", _branch),
        ("objects/info/commit-graphs", _commit),
        ("refs/tags/x", _tag),
        ("MERGE_MSG", _go_on),
    ],
)
def test_a_link_that_is_new_is_not_written_through(
    desk: Linked, target: Path, place: str, change: Callable[[Desk], Awaitable[object]]
) -> None:
    link = _put_link(desk, place, target)
    head = desk.made.git("rev-parse", "main")
    with pytest.raises(
        GitRefused, match=rf"a link that was not there when CodePlane first started: {place}"
    ) as refused:
        run(change(desk))
    assert refused.value.hint is not None and f"remove {link}" in refused.value.hint
    assert target.read_text() == KEPT
    assert desk.made.git("rev-parse", "main") == head


def test_every_command_that_writes_is_refused(desk: Linked, target: Path) -> None:
    link = _put_link(desk, "FETCH_HEAD", target)
    for command in (("fetch", ".", "main"), ("update-ref", "refs/heads/x", "HEAD"), ("update-index", "--refresh")):
        with pytest.raises(GitRefused, match="FETCH_HEAD"):
            run(desk.git.run(*command))
    assert run(desk.git.run("rev-parse", "HEAD")).line
    link.unlink()
    run(desk.git.run("fetch", ".", "main"))


def test_links_among_objects_and_large_files_are_not_counted(desk: Linked, target: Path) -> None:
    for place in ("objects/ab/objects", "lfs/objects/ab", "annex/objects/x"):
        _put_link(desk, place, target)
    run(_branch(desk))


def test_links_that_were_there_are_the_owners(tmp_path: Path) -> None:
    made = simple(tmp_path).made
    logs = tmp_path / "logs"
    (made.root / ".git" / "logs").rename(logs)
    (made.root / ".git" / "logs").symlink_to(logs)
    desk = Linked(made)
    run(_commit(desk))
    assert (logs / "HEAD").read_text().count("\n") == 4
    # One that leads elsewhere now is another.
    (made.root / ".git" / "logs").unlink()
    (made.root / ".git" / "logs").symlink_to(tmp_path)
    with pytest.raises(GitRefused, match="first started: logs"):
        run(_tag(Linked(made)))
    desk.record.unlink()
    run(_tag(Linked(made)))


def test_a_list_of_ignored_files_that_is_a_link_is_not_copied(tmp_path: Path, target: Path) -> None:
    # Without a record too.
    desk = simple(tmp_path)
    link = _put_link(desk, "info/exclude", target)
    adding = call()
    run(WorktreeWrites(desk.writer).add(adding, WorktreeAddRequest(path="inner", branch="w")))
    assert any("info/exclude is no plain file" in warning for warning in adding.warnings)
    assert link.is_symlink() and target.read_text() == KEPT
    link.unlink()
    run(WorktreeWrites(desk.writer).add(call(), WorktreeAddRequest(path="other", branch="o")))
    assert "/other/" in link.read_text()


def test_what_a_link_among_the_files_of_a_rebase_leads_to_is_not_shown(desk: Linked, target: Path) -> None:
    for name in ("head-name", "onto"):
        _put_link(desk, f"rebase-merge/{name}", target)
    assert progress_in(desk.made.root / ".git") is None
