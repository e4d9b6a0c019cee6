"""Submodules added, updated, emptied and removed."""

from pathlib import Path

import pytest

from codeplane.git.write.submodules import (
    SubmoduleAddRequest,
    SubmoduleDeinitRequest,
    SubmoduleInitRequest,
    SubmoduleRemoveRequest,
    SubmoduleSyncRequest,
    SubmoduleUpdateRequest,
    SubmoduleWrites,
)
from codeplane.kernel.errors import CodePlaneError, GitRefused, InvalidArgument, NotFound, PathDenied, RefNotFound
from codeplane.kernel.operation import Risk
from tests.git.desk import Desk, call, copied, repository_state, run, simple
from tests.git.random_repository import RandomRepository
from tests.git.test_guarded_programs import SECRET, Guarded, needs_bubblewrap
from tests.interaction.requirements import requirement

ALLOWED = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return simple(tmp_path, **ALLOWED)


@pytest.fixture
def url(tmp_path: Path) -> str:
    library = RandomRepository.empty(tmp_path / "library")
    library.write("lib.py", "x = 1\n")
    library.commit("library")
    return f"file://{library.root}"


def added(desk: Desk, url: str) -> SubmoduleWrites:
    writes = SubmoduleWrites(desk.writer)
    run(writes.add(call(), SubmoduleAddRequest(url=url, path="libs/one")))
    desk.made.git("commit", "--quiet", "-m", "with a submodule")
    return writes


@requirement("GIT-14")
def test_add_leaves_what_git_leaves(desk: Desk, url: str, tmp_path: Path) -> None:
    plain = copied(desk.made, tmp_path / "plain")
    done = run(SubmoduleWrites(desk.writer).add(call(), SubmoduleAddRequest(url=url, path="libs/one")))
    plain.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--", url, "libs/one")
    assert repository_state(desk.made) == repository_state(plain)
    assert done.delta.mutation_id is None
    assert desk.made.path("libs/one/lib.py").read_text() == "x = 1\n"


@requirement("GIT-14")
def test_emptied_and_updated_again(desk: Desk, url: str) -> None:
    writes = added(desk, url)
    before = repository_state(desk.made)
    run(writes.deinit(call(), SubmoduleDeinitRequest(path="libs/one")))
    assert not desk.made.path("libs/one/lib.py").exists()
    run(writes.init(call(), SubmoduleInitRequest(paths=("libs/one",))))
    run(writes.sync(call(), SubmoduleSyncRequest()))
    run(writes.update(call(), SubmoduleUpdateRequest(recursive=True)))
    assert repository_state(desk.made) == before
    assessed = writes.assess_update(SubmoduleUpdateRequest())
    assert (assessed.risk, assessed.remotes) == (Risk.EXFILTRATION, (url,))


@requirement("GIT-14")
def test_changes_in_a_submodule_are_not_lost_unasked(desk: Desk, url: str) -> None:
    writes = added(desk, url)
    desk.made.write("libs/one/lib.py", "work\n")
    with pytest.raises(GitRefused):
        run(writes.remove(call(), SubmoduleRemoveRequest(path="libs/one")))
    assert writes.assess_remove(SubmoduleRemoveRequest(path="libs/one")).risk is Risk.WRITE
    assert writes.assess_remove(SubmoduleRemoveRequest(path="libs/one", force=True)).risk is Risk.DESTRUCTIVE
    run(writes.remove(call(), SubmoduleRemoveRequest(path="libs/one", force=True)))
    assert not desk.made.path("libs/one/lib.py").exists()
    assert b"libs/one" not in desk.made.path(".gitmodules").read_bytes()
    module = RandomRepository(root=desk.made.root / ".git" / "modules" / "libs" / "one")
    kept = module.git("--work-tree=.", "for-each-ref", "--format=%(refname)", "refs/codeplane/").decode().strip()
    assert module.git("--work-tree=.", "show", f"{kept}:lib.py") == b"work\n"


def tracking(at: Path, *names: str) -> RandomRepository:
    """A library that tracks files of these names."""
    library = RandomRepository.empty(at)
    library.write("lib.py", "x = 1\n")
    library.commit("library")
    plant(library, *names)
    return library


def plant(library: RandomRepository, *names: str) -> str:
    """Commit files without going through the work tree; the commit."""
    blob = library.git("hash-object", "-w", "--stdin", stdin=b"mine\n").decode().strip()
    for name in names:
        library.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")
    library.git("commit", "--quiet", "--allow-empty", "-m", "planted")
    return library.git("rev-parse", "HEAD").decode().strip()


@requirement("GIT-14")
@pytest.mark.parametrize("name", [".codeplane/config.yaml", "src/.CodePlane/x", "codepl~1/x"])
def test_one_that_tracks_our_own_folder_is_not_added(desk: Desk, tmp_path: Path, name: str) -> None:
    library, before = tracking(tmp_path / "evil", name), repository_state(desk.made)
    request = SubmoduleAddRequest(url=f"file://{library.root}", path="libs/one")
    with pytest.raises(PathDenied):
        run(SubmoduleWrites(desk.writer).add(call(), request))
    assert repository_state(desk.made) == before and not desk.made.path("libs").exists()
    assert not desk.made.path(".git/modules/libs/one").exists()
    library.git("rm", "--quiet", "--cached", name)
    library.git("commit", "--quiet", "-m", "gone")
    run(SubmoduleWrites(desk.writer).add(call(), request))
    assert desk.made.path("libs/one/lib.py").read_text() == "x = 1\n"


def test_a_branch_is_added_and_one_that_is_not_there_leaves_nothing(desk: Desk, url: str, tmp_path: Path) -> None:
    library = RandomRepository(root=tmp_path / "library")
    library.git("checkout", "--quiet", "-b", "next")
    library.write("lib.py", "x = 2\n")
    library.commit("next")
    library.git("checkout", "--quiet", "main")
    writes, before = SubmoduleWrites(desk.writer), repository_state(desk.made)
    with pytest.raises(RefNotFound, match="no branch absent"):
        run(writes.add(call(), SubmoduleAddRequest(url=url, path="libs/one", branch="absent")))
    assert repository_state(desk.made) == before and not desk.made.path("libs").exists()
    plain = copied(desk.made, tmp_path / "plain")
    run(writes.add(call(), SubmoduleAddRequest(url=url, path="libs/one", branch="next")))
    words = ("submodule", "--quiet", "add", "--branch", "next", "--", url, "libs/one")
    plain.git("-c", "protocol.file.allow=always", *words)
    assert repository_state(desk.made) == repository_state(plain)
    assert desk.made.path("libs/one/lib.py").read_text() == "x = 2\n"


def test_what_lies_in_the_way_of_one_that_is_added_stays(desk: Desk, url: str) -> None:
    desk.made.write("libs/one/mine.txt", "mine\n")
    desk.made.write(".gitignore", "ignored/\n")
    for path in ("libs/one", "a.txt", "ignored/one"):
        with pytest.raises(GitRefused):
            run(SubmoduleWrites(desk.writer).add(call(), SubmoduleAddRequest(url=url, path=path)))
    assert desk.made.path("libs/one/mine.txt").read_text() == "mine\n"
    assert not desk.made.path("ignored").exists() and not desk.made.path(".gitmodules").exists()


@requirement("GIT-14")
def test_an_update_to_a_commit_that_tracks_our_own_folder_goes_back(desk: Desk, tmp_path: Path) -> None:
    library = tracking(tmp_path / "library")
    writes = added(desk, f"file://{library.root}")
    inner = RandomRepository(root=desk.made.path("libs/one"))
    evil, before = plant(library, ".codeplane/config.yaml"), inner.git("symbolic-ref", "HEAD")
    desk.made.git("update-index", "--cacheinfo", f"160000,{evil},libs/one")
    with pytest.raises(PathDenied):
        run(writes.update(call(), SubmoduleUpdateRequest()))
    assert inner.git("symbolic-ref", "HEAD") == before and not inner.git("status", "--porcelain")
    assert not desk.made.path("libs/one/.codeplane").exists()
    library.git("rm", "--quiet", "--cached", ".codeplane/config.yaml")
    good = plant(library, "more.txt")
    desk.made.git("update-index", "--cacheinfo", f"160000,{good},libs/one")
    run(writes.update(call(), SubmoduleUpdateRequest()))
    assert desk.made.path("libs/one/more.txt").read_text() == "mine\n"


@requirement("GIT-14")
@pytest.mark.parametrize("name", ["plain.txt", ".codeplane/config.yaml"])
def test_those_in_submodules_are_looked_at_as_well(desk: Desk, tmp_path: Path, name: str) -> None:
    inner, middle = tracking(tmp_path / "inner", name), tracking(tmp_path / "middle")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--")
    middle.git(*add, f"file://{inner.root}", "in")
    middle.git("commit", "--quiet", "-m", "with a submodule")
    writes = added(desk, f"file://{middle.root}")
    run(writes.deinit(call(), SubmoduleDeinitRequest(path="libs/one")))
    before, settings = repository_state(desk.made), desk.made.git("config", "--local", "--list")
    request = SubmoduleUpdateRequest(recursive=True)
    if name == "plain.txt":
        run(writes.update(call(), request))
        assert desk.made.path("libs/one/in/plain.txt").read_text() == "mine\n"
        return
    with pytest.raises(PathDenied):
        run(writes.update(call(), request))
    assert repository_state(desk.made) == before and desk.made.git("config", "--local", "--list") == settings
    assert not list(desk.made.path("libs/one").iterdir())


def recorded(desk: Desk, library: RandomRepository, gitmodules: str) -> None:
    """Commit a submodule `sub` that is at the last commit of a library, with this `.gitmodules`."""
    head = library.git("rev-parse", "HEAD").decode().strip()
    desk.made.write(".gitmodules", gitmodules)
    desk.made.git("add", ".gitmodules")
    desk.made.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    desk.made.git("commit", "--quiet", "-m", "with a submodule")


def section(name: str, library: RandomRepository) -> str:
    return f'[submodule "{name}"]\n\tpath = sub\n\turl = file://{library.root}\n'


def settings(desk: Desk) -> bytes:
    return desk.made.git("config", "--local", "--list")


def refused(desk: Desk, error: type[CodePlaneError], match: str | None = None) -> None:
    """An update is refused and leaves nothing behind."""
    before = repository_state(desk.made), settings(desk)
    with pytest.raises(error, match=match):
        run(SubmoduleWrites(desk.writer).update(call(), SubmoduleUpdateRequest()))
    assert (repository_state(desk.made), settings(desk)) == before
    assert not desk.made.path(".git/modules").exists()


@requirement("GIT-14")
@pytest.mark.parametrize("place", ["index", "HEAD"])
@pytest.mark.parametrize("name", ["plain.txt", ".codeplane/config.yaml"])
def test_gitmodules_that_the_work_tree_lacks_is_read_where_git_reads_it(
    desk: Desk, tmp_path: Path, name: str, place: str
) -> None:
    library = tracking(tmp_path / "library", name)
    recorded(desk, library, section("sub", library))
    desk.made.path(".gitmodules").unlink()
    if place == "HEAD":
        desk.made.git("rm", "--quiet", "--cached", ".gitmodules")
    writes, url = SubmoduleWrites(desk.writer), f"file://{library.root}"
    assert writes.assess_update(SubmoduleUpdateRequest()).remotes == (url,)
    assert url in str(run(writes.preview_update(SubmoduleUpdateRequest())))
    if name == "plain.txt":
        run(writes.update(call(), SubmoduleUpdateRequest()))
        assert desk.made.path("sub/plain.txt").read_text() == "mine\n"
        return
    refused(desk, PathDenied)
    # Set up, git asks for no address any more.
    desk.made.git("config", "submodule.sub.url", url)
    desk.made.git("config", "submodule.sub.active", "true")
    refused(desk, PathDenied)
    assert not desk.made.path("sub/.codeplane").exists()


@requirement("GIT-14")
@pytest.mark.parametrize("names", ["", "AB", "BA", "ABA"])
def test_a_path_without_one_name_is_refused_before_anyone_is_asked(desk: Desk, tmp_path: Path, names: str) -> None:
    library = tracking(tmp_path / "library", ".codeplane/config.yaml")
    recorded(desk, library, "".join(section(name, library) for name in names))
    output = "2 names for the submodule sub" if names else "no name for the submodule sub"
    with pytest.raises(GitRefused, match=output):
        SubmoduleWrites(desk.writer).assess_update(SubmoduleUpdateRequest())
    refused(desk, GitRefused, output)


def test_one_without_an_address_is_refused(desk: Desk, tmp_path: Path) -> None:
    recorded(desk, tracking(tmp_path / "library"), '[submodule "sub"]\n\tpath = sub\n')
    refused(desk, GitRefused, "no address is set for the submodule sub")


@requirement("GIT-14")
@pytest.mark.parametrize("name", ["a\\\\b", "a=b", "x y", "deep/er", "a.url", "UPPER"])
def test_settings_of_a_refused_update_are_taken_back(desk: Desk, tmp_path: Path, name: str) -> None:
    library = tracking(tmp_path / "library", ".codeplane/config.yaml")
    recorded(desk, library, section(name, library))
    refused(desk, PathDenied)


def test_settings_of_those_that_git_leaves_alone_are_taken_back(desk: Desk, tmp_path: Path) -> None:
    library = tracking(tmp_path / "library", ".codeplane/config.yaml")
    more = section("more", library).replace("path = sub", "path = more")
    recorded(desk, library, f"{section('sub', library)}{more}\tupdate = none\n")
    head = library.git("rev-parse", "HEAD").decode().strip()
    desk.made.git("update-index", "--add", "--cacheinfo", f"160000,{head},more")
    refused(desk, PathDenied)


@requirement("GIT-14")
def test_files_in_the_way_of_an_update_stay(desk: Desk, tmp_path: Path) -> None:
    library = tracking(tmp_path / "library")
    recorded(desk, library, section("sub", library))
    desk.made.write("sub/mine.txt", "mine\n")
    refused(desk, GitRefused)
    assert desk.made.path("sub/mine.txt").read_text() == "mine\n"


@requirement("GIT-14")
@pytest.mark.parametrize("lock", [".git/index.lock", ".gitmodules.lock"])
@pytest.mark.parametrize("gitmodules", ["", '[submodule "other"]\n\tpath = other\n\turl = ../other'])
def test_what_fails_while_it_is_added_leaves_nothing(desk: Desk, url: str, lock: str, gitmodules: str) -> None:
    if gitmodules:
        desk.made.write(".gitmodules", gitmodules)
        desk.made.git("add", ".gitmodules")
    desk.made.write(lock, "")
    before = repository_state(desk.made), settings(desk)
    with pytest.raises(CodePlaneError):
        run(SubmoduleWrites(desk.writer).add(call(), SubmoduleAddRequest(url=url, path="libs/one")))
    assert (repository_state(desk.made), settings(desk)) == before
    assert not desk.made.path("libs").exists() and not desk.made.path(".git/modules").exists()
    desk.made.path(lock).unlink()
    run(SubmoduleWrites(desk.writer).add(call(), SubmoduleAddRequest(url=url, path="libs/one")))
    assert desk.made.path("libs/one/lib.py").exists()


def test_gitmodules_that_is_a_link_is_not_written_through(desk: Desk, url: str) -> None:
    desk.made.write("elsewhere", "mine\n")
    desk.made.path(".gitmodules").symlink_to("elsewhere")
    with pytest.raises(GitRefused, match="not a plain file"):
        run(SubmoduleWrites(desk.writer).add(call(), SubmoduleAddRequest(url=url, path="libs/one")))
    assert desk.made.path("elsewhere").read_text() == "mine\n" and not desk.made.path("libs").exists()


@requirement("GIT-14")
def test_what_is_none_is_refused(desk: Desk, url: str, tmp_path: Path) -> None:
    writes = SubmoduleWrites(desk.writer)
    with pytest.raises(NotFound):
        run(writes.update(call(), SubmoduleUpdateRequest(paths=("a.txt",))))
    for path in ("../out", ".git/x", ".codeplane/x"):
        with pytest.raises(PathDenied):
            run(writes.add(call(), SubmoduleAddRequest(url=url, path=path)))
    for bad in ("https://user:token@example.com/x.git", "ext::sh -c x", "-x", "../elsewhere"):
        with pytest.raises(InvalidArgument) as caught:
            writes.assess_add(SubmoduleAddRequest(url=bad, path="x"))
        assert "token@" not in caught.value.message
    strict = SubmoduleWrites(Desk(desk.made).writer)
    with pytest.raises(GitRefused, match="not allowed"):
        run(strict.add(call(), SubmoduleAddRequest(url=url, path="libs/one")))


@pytest.fixture
def guarded(desk: Desk) -> Guarded:
    return Guarded(desk.made, variables=ALLOWED)


def behind(desk: Desk, url: str) -> SubmoduleWrites:
    """A submodule that is checked out at another commit than the one that is recorded."""
    writes = added(desk, url)
    library = RandomRepository(root=Path(url.removeprefix("file://")))
    library.write("lib.py", "x = 2\n")
    library.commit("second")
    second = library.git("rev-parse", "HEAD").decode().strip()
    desk.made.git("update-index", "--cacheinfo", f"160000,{second},libs/one")
    return writes


@requirement("TRUST-48")
@needs_bubblewrap
def test_what_the_settings_of_a_submodule_name_is_enclosed(guarded: Guarded, url: str, tmp_path: Path) -> None:
    writes = behind(guarded, url)
    inner = RandomRepository(root=guarded.made.path("libs/one"))
    folder = guarded.made.root / ".git" / "modules" / "libs" / "one"
    (folder / "info" / "attributes").write_text("*.py filter=f\n")
    token = f"cat '{guarded.home}/owner.token'"
    for key, value in (
        ("filter.f.smudge", f"{token} >> smudged; touch '{tmp_path}/ran'; cat"),
        ("filter.f.clean", f"touch '{tmp_path}/ran'; cat"),
        ("core.fsmonitor", f"touch '{tmp_path}/ran'; false"),
        ("core.hooksPath", ".hooks"),
    ):
        inner.git("config", key, value.replace(str(guarded.made.root), str(guarded.made.root).replace("'", "'\\''")))
    (inner.root / ".hooks").mkdir()
    hook = inner.root / ".hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ncat ../../.codeplane/owner.token > hooked; touch '{tmp_path}/ran'\ntrue\n")
    hook.chmod(0o755)
    run(writes.update(call(), SubmoduleUpdateRequest()))
    assert guarded.made.path("libs/one/lib.py").read_text() == "x = 2\n"
    for name in ("smudged", "hooked"):
        assert guarded.made.path(f"libs/one/{name}").exists()
        assert SECRET not in guarded.made.path(f"libs/one/{name}").read_text()
    run(writes.remove(call(), SubmoduleRemoveRequest(path="libs/one", force=True)))
    assert not guarded.made.path("libs/one").exists() and not (tmp_path / "ran").exists()


@requirement("TRUST-48")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.sshCommand", "evil"),
        ("credential.https://x.helper", "!evil"),
        ("gpg.ssh.program", "evil"),
        ("diff.x.textconv", "evil"),
        ("protocol.ext.allow", "always"),
        ("remote.origin.uploadpack", "evil"),
        ("submodule.in.update", "!evil"),
        ("core.worktree", "/"),
    ],
)
def test_a_submodule_that_names_what_cannot_be_enclosed_is_not_entered(
    guarded: Guarded, url: str, key: str, value: str
) -> None:
    writes = behind(guarded, url)
    config = guarded.made.root / ".git" / "modules" / "libs" / "one" / "config"
    guarded.made.git("config", "--file", str(config), "include.path", "more")
    guarded.made.git("config", "--file", str(config.with_name("more")), key, value)
    update = writes.update(call(), SubmoduleUpdateRequest())
    remove = writes.remove(call(), SubmoduleRemoveRequest(path="libs/one"))
    for asked in (update, remove):
        with pytest.raises(GitRefused, match="the settings of the submodule one name what git would run") as error:
            run(asked)
        assert error.value.hint is not None and str(config.with_name("more")) in error.value.hint
    assert guarded.made.path("libs/one/lib.py").read_text() == "x = 1\n"
