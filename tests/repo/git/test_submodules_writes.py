"""Submodules added, updated, emptied and removed."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import GitRefused, InvalidArgument, NotFound, PathDenied
from codeplane.kernel.operation import Risk
from codeplane.repo.git.submodules_writes import (
    SubmoduleAddRequest,
    SubmoduleDeinitRequest,
    SubmoduleInitRequest,
    SubmoduleRemoveRequest,
    SubmoduleSyncRequest,
    SubmoduleUpdateRequest,
    SubmoduleWrites,
)
from tests.repo.git.drawn import Desk, call, copied, run, simple, standing
from tests.repo.git.made import Made

ALLOWED = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return simple(tmp_path, **ALLOWED)


@pytest.fixture
def url(tmp_path: Path) -> str:
    library = Made.empty(tmp_path / "library")
    library.write("lib.py", "x = 1\n")
    library.commit("library")
    return f"file://{library.root}"


def added(desk: Desk, url: str) -> SubmoduleWrites:
    writes = SubmoduleWrites(desk.writer)
    run(writes.add(call(), SubmoduleAddRequest(url=url, path="libs/one")))
    desk.made.git("commit", "--quiet", "-m", "with a submodule")
    return writes


def test_add_leaves_what_git_leaves(desk: Desk, url: str, tmp_path: Path) -> None:
    plain = copied(desk.made, tmp_path / "plain")
    done = run(SubmoduleWrites(desk.writer).add(call(), SubmoduleAddRequest(url=url, path="libs/one")))
    plain.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--", url, "libs/one")
    assert standing(desk.made) == standing(plain)
    assert done.delta.mutation_id is None
    assert desk.made.path("libs/one/lib.py").read_text() == "x = 1\n"


def test_emptied_and_updated_again(desk: Desk, url: str) -> None:
    writes = added(desk, url)
    before = standing(desk.made)
    run(writes.deinit(call(), SubmoduleDeinitRequest(path="libs/one")))
    assert not desk.made.path("libs/one/lib.py").exists()
    run(writes.init(call(), SubmoduleInitRequest(paths=("libs/one",))))
    run(writes.sync(call(), SubmoduleSyncRequest()))
    run(writes.update(call(), SubmoduleUpdateRequest(recursive=True)))
    assert standing(desk.made) == before
    assessed = writes.assess_update(SubmoduleUpdateRequest())
    assert (assessed.risk, assessed.remotes) == (Risk.EXFILTRATION, (url,))


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
    module = Made(root=desk.made.root / ".git" / "modules" / "libs" / "one")
    kept = module.git("--work-tree=.", "for-each-ref", "--format=%(refname)", "refs/codeplane/").decode().strip()
    assert module.git("--work-tree=.", "show", f"{kept}:lib.py") == b"work\n"


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
