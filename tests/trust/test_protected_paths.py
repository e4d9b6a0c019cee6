"""The paths that nobody writes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.errors import PathDenied
from codeplane.trust.protected_paths import refuse_protected
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, plane

REFUSED = [
    ".git", ".git/config", ".GIT/config", ".Git", "sub/.git/hooks/pre-commit", "a/.gIt", "./.git/x", ".//.git",
    ".codeplane", ".codeplane/config.yaml", ".CODEPLANE/owner.token", "x/.codeplane/y",
    ".git./config", ".git /config", ".git . . /x", ".codeplane.", "a\\.git\\config", ".git\\config",
    ".git::$INDEX_ALLOCATION/config", ".git:x", "git~1/config", "GIT~1", "codepl~1/owner.token",
    ".g\u200cit/config", "\ufeff.git", ".codeplane\u200d", ".gi\u202et",
    ".code\u00adplane/policy/x.rego", ".g\u2064it/hooks/x", ".codeplane\ufe0f", ".git\U000e0100/config", "CODEPL~2/x",
    "/etc/passwd", "/", "//x", "\\x", "\\\\server\\share", "C:/x", "c:x", "C:\\x", "C:",
    "..", "../x", "a/../../x", "a/..", "..\\x", "a\\..\\..\\x", ".. /x", "...", ".. .", "a/.. /x",
    "a\0b", "\0", "a/\0",
]  # fmt: skip

ALLOWED_PATHS = [
    "a", "src/app.py", ".gitignore", ".github/workflows/ci.yml", ".gitattributes", "git", "git/config", "codeplane/x",
    ".codeplane2/x", "a..b", "..a", "a/..b/c", ".env", "docs/.hidden", "a b/c d", "ünï/cödé", "x.git", "x.git/config",
    "a/b:c", "git~2", ".gitx", "a.", "x/y ", "-rf",
]  # fmt: skip


@requirement("TRUST-03")
@pytest.mark.parametrize("path", REFUSED, ids=repr)
def test_paths_that_nobody_writes(path: str) -> None:
    with pytest.raises(PathDenied):
        refuse_protected(path)


@pytest.mark.parametrize("path", ALLOWED_PATHS, ids=repr)
def test_paths_of_the_repository(path: str) -> None:
    refuse_protected(path)


@requirement("TRUST-03")
@given(st.lists(st.sampled_from(["a", "b", ".", "x.y"]), max_size=3), st.lists(st.sampled_from(["c", "d"]), max_size=3))
def test_no_way_around_leads_into_the_gate(before: list[str], after: list[str]) -> None:
    for guarded in (".git", ".codeplane", ".."):
        for separator in "/\\":
            with pytest.raises(PathDenied):
                refuse_protected(separator.join([*before, guarded, *after]))


def test_a_long_path_is_not_repeated_in_full() -> None:
    with pytest.raises(PathDenied) as caught:
        refuse_protected("../" + "x" * 100_000)
    assert len(caught.value.message) < 400


async def test_a_path_that_is_learnt_of_on_the_way_is_refused_to_everybody(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        (tmp_path / "link").symlink_to(".codeplane")
        for caller in (AGENT, OWNER):
            for path in (*REFUSED, "link/config.yaml", "link/policy/mine.rego"):
                error = (await opened.conveyor.call("fixture.plan", {"paths": [path]}, caller)).error
                assert error is not None and error.name == "PATH_DENIED", path
            assert (await opened.conveyor.call("fixture.plan", {"paths": ["docs/a.md"]}, caller)).error is None
