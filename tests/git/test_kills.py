"""Kill -9 before every step of a git mutation, in the middle of git, and in the recovery from it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from codeplane.edit.journal_recovery import RecoveredMutation
from codeplane.git.write.call_endings import CallEndings
from codeplane.git.write.pending_mutations import PendingMutations
from codeplane.git.write.submodules import SubmoduleAddRequest, SubmoduleUpdateRequest, SubmoduleWrites
from codeplane.git.write.worktrees import WorktreeAddRequest, WorktreeWrites
from codeplane.kernel.event_log import EventLog
from tests.edit.batches import killed, quick_folder
from tests.edit.test_recovery_events import recorded
from tests.git.desk import RepositoryState, call, copied, repository_state, run, simple
from tests.git.killed_mutations import KINDS, Scene, Stopped
from tests.git.random_repository import RandomRepository
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, asking
from tests.query.asking import result

DEEDS = {"commit": "commit", "checkout": "checkout", "stop": "merge", "reset": "reset", "rebase": "rebase"}


@pytest.fixture
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    with quick_folder() as folder:
        yield Scene(folder, request.param)


@requirement("GIT-40")
@pytest.mark.parametrize("scene", KINDS, indirect=True)
def test_killed_before_steps(scene: Scene) -> None:
    begun, over = scene.steps.index("begun"), scene.steps.index("beginning gone")
    ends = []
    for at in sorted({*range(begun, over, 3), over - 1, over}):
        desk = scene.killed(at)
        recovered = scene.recovered(desk)
        assert len(recovered) == (0 if at == over else 1)
        came = scene.check(desk)
        assert [one.outcome for one in recovered] in ([], ["applied" if came else "rolled_back"])
        ends.append(came)
    assert ends == sorted(ends) and ends[0] == 0 and ends[-1] == len(scene.states) - 1


@requirement("GIT-40")
@pytest.mark.parametrize("scene", DEEDS, indirect=True)
def test_git_goes_on_when_who_started_it_is_killed(scene: Scene, request: pytest.FixtureRequest) -> None:
    kind = request.node.callspec.params["scene"]
    desk = scene.killed_by_git(DEEDS[kind])
    (found,) = scene.recovered(desk)
    came = scene.check(desk)
    # A commit was about to be told its message, and is none without.
    assert came == len(scene.states) - 1 or (kind, came) == ("commit", 1)
    assert found.outcome == "applied"


@requirement("GIT-40")
@pytest.mark.parametrize("scene", ["merge"], indirect=True)
def test_killed_again_in_recovery(scene: Scene) -> None:
    ends = list(scene.second_kills(scene.steps.index("before end")))
    assert set(ends) == {1} and len(ends) > 2
    ends = list(scene.second_kills(scene.steps.index("git merge")))
    assert set(ends) == {0} and len(ends) > 2


@requirement("GIT-40")
@pytest.mark.parametrize("scene", ["reset"], indirect=True)
def test_the_outcome_is_recorded_once(scene: Scene, tmp_path: Path) -> None:
    desk = scene.killed(scene.steps.index("git reset") + 1)
    recovered = scene.recovered(desk)
    answer = [("mutation.applied", recovered[0].mutation_id)]
    assert recorded(tmp_path, recovered, desk.mutations) == ({"mutations_applied": 1}, answer)
    assert recorded(tmp_path, [], desk.mutations) == ({}, answer)
    # Killed before the log was told, the next run finds it among what is kept.
    other = tmp_path / "other"
    other.mkdir()
    assert recorded(other, [], desk.mutations) == ({"mutations_recorded": 1}, answer)


@pytest.mark.parametrize("scene", ["reset"], indirect=True)
def test_what_was_edited_since_is_left_alone_by_undo(scene: Scene) -> None:
    desk = scene.killed(scene.steps.index("git reset") + 1)
    desk.made.write("a.txt", "edited while nobody was there\n")
    (found,) = scene.recovered(desk)
    assert found.conflicts == ("a.txt",)
    (kept,) = desk.mutations.all()
    assert ended(desk, found, "git.reset") == ("done", kept.mutation_id)
    desk.undo(kept.mutation_id)
    assert desk.made.path("a.txt").read_text() == "edited while nobody was there\n"
    assert desk.made.path("b.txt").exists()


@pytest.mark.parametrize("scene", ["commit", "checkout", "merge", "rebase"], indirect=True)
def test_a_call_that_is_cancelled_after_the_deed_is_kept_for_undo(scene: Scene) -> None:
    first = scene.steps.index("begun")
    for at in range(first, scene.steps.index("before end") + 1, 4):
        desk = scene.cancelled(at)
        assert scene.recovered(desk) == []
        assert scene.check(desk) in range(len(scene.states))


@requirement("GIT-40")
@pytest.mark.parametrize("more", [{"branch": "new"}, {"ref": "topic"}, {}])
def test_a_work_tree_is_made_or_not_whenever_it_is_killed(more: dict[str, str]) -> None:
    with quick_folder() as folder:
        made = simple(folder / "origin").made
        made.git("branch", "topic", "HEAD~1")
        made.write(".git/info/exclude", "# mine\n")
        numbers = iter(range(1000))

        def copy(step: Callable[[str], None] = lambda name: None) -> Stopped:
            place = folder / str(next(numbers)) / "repository"
            place.parent.mkdir()
            return Stopped(copied(made, place), step=step)

        def work(desk: Stopped) -> None:
            run(WorktreeWrites(desk.writer).add(call(), WorktreeAddRequest(path="trees/one", **more)))

        steps: list[str] = []
        work(whole := copy(steps.append))
        exclude = ".git/info/exclude"
        lines = {False: made.path(exclude).read_bytes(), True: whole.made.path(exclude).read_bytes()}
        ends = []
        for at in range(steps.index("begun"), steps.index("beginning gone")):
            desk = copy()
            assert killed(lambda step, desk=desk: work(Stopped(desk.made, step=step)), at=at)  # type: ignore[misc]
            (found,) = desk.recover()
            ends.append(desk.made.path("trees/one/a.txt").exists())
            assert (found.outcome, found.certain) == ("applied" if ends[-1] else "rolled_back", True), steps[at]
            assert desk.made.path(exclude).read_bytes() == lines[ends[-1]], steps[at]
            assert desk.made.git("status", "--porcelain") == b"", steps[at]
        assert ends == sorted(ends) and set(ends) == {False, True}


@requirement("GIT-40")
def test_a_work_tree_that_git_did_not_finish_is_not_said_to_be_made(tmp_path: Path) -> None:
    desk = Stopped(simple(tmp_path).made)

    def work(step: Callable[[str], None]) -> None:
        request = WorktreeAddRequest(path="trees/one", branch="new")
        run(WorktreeWrites(Stopped(desk.made, step=step).writer).add(call(), request))

    steps: list[str] = []
    copy = Stopped(copied(desk.made, tmp_path / "copy"), step=steps.append)
    run(WorktreeWrites(copy.writer).add(call(), WorktreeAddRequest(path="trees/one", branch="new")))
    assert killed(work, at=steps.index("git worktree") + 1)
    # As git has it until every file is there.
    desk.made.path(".git/worktrees/one/locked").write_text("initializing\n")
    (found,) = desk.recover()
    assert (found.outcome, found.certain) == ("applied", False)


ALLOWED = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}


def adding(desk: Stopped, url: str, step: Callable[[str], None]) -> None:
    writes = SubmoduleWrites(Stopped(desk.made, step=step, variables=ALLOWED).writer)
    run(writes.add(call(), SubmoduleAddRequest(url=url, path="libs/one")))


def ended(desk: Stopped, found: RecoveredMutation, operation: str) -> tuple[str, str | None]:
    """What a call that is repeated is told of the first one, and the id it is given for undo."""
    endings = CallEndings(
        log=cast(EventLog, None), journaled=(operation,), recovered=[found], mutations=desk.mutations, notes={}
    )
    ending = run(endings.of(call().call_id, operation, 0))
    return ending.state, ending.mutation_id


def library(folder: Path) -> str:
    made = RandomRepository.empty(folder / "library")
    made.write("lib.py", "x = 1\n")
    made.commit("library")
    return f"file://{made.root}"


@requirement("GIT-40")
def test_a_submodule_is_added_or_not_whenever_it_is_killed() -> None:
    with quick_folder() as folder:
        made, url = simple(folder / "origin").made, library(folder)
        made.write(".gitmodules", "# mine")
        made.git("add", ".gitmodules")
        numbers = iter(range(1000))

        def copy() -> Stopped:
            place = folder / str(next(numbers)) / "repository"
            place.parent.mkdir()
            return Stopped(copied(made, place))

        def left(one: RandomRepository) -> tuple[RepositoryState, bytes, bool]:
            modules = one.path(".git/modules").exists()
            return repository_state(one), one.git("config", "--local", "--list"), modules

        steps: list[str] = []
        adding(whole := copy(), url, steps.append)
        ends = []
        for at in range(steps.index("begun"), steps.index("beginning gone")):
            desk = copy()
            assert killed(lambda step, desk=desk: adding(desk, url, step), at=at)  # type: ignore[misc]
            (found,) = desk.recover()
            ends.append(desk.made.path("libs/one/lib.py").exists())
            assert (found.outcome, found.certain) == ("applied" if ends[-1] else "rolled_back", True), steps[at]
            assert left(desk.made) == left(whole.made if ends[-1] else made), steps[at]
            # Nothing that undo could not take is named as if it could.
            assert ended(desk, found, "git.submodule_add") == ("done" if ends[-1] else "not_done", None)
            assert desk.mutations.all() == whole.mutations.all() == ()
            assert desk.recover() == []
        assert ends == sorted(ends) and set(ends) == {False, True}


@requirement("GIT-40")
@pytest.mark.parametrize("cloned", [True, False])
def test_work_where_a_submodule_was_not_added_to_its_end_stays(tmp_path: Path, cloned: bool) -> None:
    desk, url = Stopped(simple(tmp_path).made), library(tmp_path)
    steps: list[str] = []
    adding(Stopped(copied(desk.made, tmp_path / "copy")), url, steps.append)
    before = steps.index("git submodule" if cloned else "git submodule--helper")
    assert killed(lambda step: adding(desk, url, step), at=before)
    desk.made.write("libs/one/mine.txt", "mine\n")
    (found,) = desk.recover()
    assert not found.certain and desk.made.path("libs/one/mine.txt").read_text() == "mine\n"


def nested_library(folder: Path) -> RandomRepository:
    """A library with a submodule of its own, and a second commit that changes both."""
    url = library(folder)
    made = RandomRepository.empty(folder / "outer")
    made.write("outer.py", "x = 1\n")
    made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "inner")
    made.commit("outer")
    return made


def updating(desk: Stopped, step: Callable[[str], None]) -> None:
    writes = SubmoduleWrites(Stopped(desk.made, step=step, variables=ALLOWED).writer)
    run(writes.update(call(), SubmoduleUpdateRequest(recursive=True)))


class Updates:
    """A repository whose submodule is to be updated, copied for every kill."""

    def __init__(self, folder: Path, *, is_checked_out: bool) -> None:
        outer = nested_library(folder)
        self.made = simple(folder / "origin").made
        add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"file://{outer.root}", "libs/one")
        self.made.git(*add)
        self.made.git("commit", "--quiet", "-m", "with a submodule")
        first = outer.git("rev-parse", "HEAD").decode().strip()
        outer.write("outer.py", "x = 2\n")
        outer.commit("second")
        second = outer.git("rev-parse", "HEAD").decode().strip()
        if not is_checked_out:
            self.made.git("submodule", "--quiet", "deinit", "--all", "--force")
            shutil.rmtree(self.made.path(".git/modules"))
        self.made.git("update-index", "--cacheinfo", f"160000,{second},libs/one")
        self.made.git("commit", "--quiet", "-m", "newer")
        self.first = first
        self._folder, self._numbers = folder, iter(range(1000))

    def copy(self) -> Stopped:
        place = self._folder / str(next(self._numbers)) / "repository"
        place.parent.mkdir()
        desk = Stopped(copied(self.made, place))
        place = desk.made.path("libs/one/.git")
        assert not place.exists() or "gitdir: ../../.git/modules/libs/one" in place.read_text()
        return desk


def submodule_files(made: RandomRepository) -> tuple[str | None, str | None, bytes, bytes]:
    """The texts of both submodules, the commit that is checked out, and the settings."""
    texts = [made.path(f"libs/one/{name}") for name in ("outer.py", "inner/lib.py")]
    outer, inner = [text.read_text() if text.exists() else None for text in texts]
    status = made.git("submodule", "status", "--recursive")
    return outer, inner, status, made.git("config", "--local", "--list")


@requirement("GIT-40")
@pytest.mark.parametrize("is_checked_out", [False, True], ids=["new", "checked out"])
def test_submodules_are_updated_or_not_whenever_it_is_killed(is_checked_out: bool) -> None:
    with quick_folder() as folder:
        updates = Updates(folder, is_checked_out=is_checked_out)
        steps: list[str] = []
        updating(whole := updates.copy(), steps.append)
        new, old = submodule_files(whole.made), submodule_files(updates.made)
        assert new[:2] == ("x = 2\n", "x = 1\n") and old[:2] == ("x = 1\n" if is_checked_out else None, None)
        ends, over = [], steps.index("beginning gone")
        for at in sorted({*range(steps.index("begun"), over, 3), over - 1}):
            desk = updates.copy()
            assert killed(lambda step, desk=desk: updating(desk, step), at=at)  # type: ignore[misc]
            (found,) = desk.recover()
            ending, mutation_id = ended(desk, found, "git.submodule_update")
            assert ending in ("done", "not_done") and mutation_id is None, (steps[at], ending)
            assert submodule_files(desk.made) == (new if ending == "done" else old), steps[at]
            assert found.outcome == ("applied" if ending == "done" else "rolled_back")
            assert desk.recover() == []
            ends.append(ending == "done")
        assert ends == sorted(ends) and set(ends) == {False, True}


@requirement("GIT-40")
def test_work_in_a_submodule_that_was_not_updated_to_its_end_stays() -> None:
    with quick_folder() as folder:
        updates = Updates(folder, is_checked_out=False)
        steps: list[str] = []
        updating(updates.copy(), steps.append)
        # The outer one is checked out, the inner one not yet.
        at = [at for at, step in enumerate(steps) if step == "submodule written"][-1]
        desk = updates.copy()
        assert killed(lambda step: updating(desk, step), at=at)
        desk.made.write("libs/one/mine.txt", "mine\n")
        (found,) = desk.recover()
        assert ended(desk, found, "git.submodule_update") == ("unknown", None)
        assert desk.made.path("libs/one/mine.txt").read_text() == "mine\n"


def test_what_is_torn_claims_nothing(tmp_path: Path) -> None:
    pending = PendingMutations(tmp_path)
    for name, content in (("empty", None), ("torn", b'{"mutation_id": "to'), ("other", b"[]")):
        (tmp_path / name).mkdir()
        if content is not None:
            (tmp_path / name / "begun.json").write_bytes(content)
    assert not pending.is_empty
    assert pending.all() == [] and pending.is_empty


@pytest.mark.parametrize("scene", ["reset"], indirect=True)
async def test_the_next_start_keeps_tells_and_undoes_it(scene: Scene, tmp_path: Path) -> None:
    desk = scene.killed(scene.steps.index("git reset") + 1)
    root = tmp_path / "repository"
    shutil.copytree(desk.made.root, root, symlinks=True)
    shutil.copytree(desk.pending_folder, root / ".codeplane" / "git")
    async with asking(root, caller=OWNER) as ask:
        listed = await ask("mutation.list")
        assert "reset" in str(listed["text"]), listed
        (kept,) = result(listed)["mutations"]  # type: ignore[misc,str-unpack]  # JSON
        undone = result(await ask("undo", mutation_id=kept["mutation_id"]))  # type: ignore[index,call-overload]
        assert undone["mutation_id"] == kept["mutation_id"]  # type: ignore[index,call-overload]
    assert (root / "a.txt").read_text() == "work\nsecond\nthird\n"
    assert (root / "b.txt").exists()
