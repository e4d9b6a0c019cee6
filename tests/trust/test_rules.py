"""The built-in rules, and the paths that nobody writes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.errors import PathDenied
from codeplane.kernel.operation import Assessment, Risk
from codeplane.kernel.ports import Verdict
from codeplane.trust.rules import Rules
from tests.kernel.plane import AGENT, FixtureOps, events, plane, run

ACTOR = Actor(kind=ActorKind.AGENT, actor_id="a")
OPERATION = Catalogue([FixtureOps()]).get("fixture.push")
DEFAULT = TrustConfig()
AUTOMATIC = TrustConfig(mode="automatic")
ALLOWED = TrustConfig(allow=("fixture.push",))
OTHER = TrustConfig(allow=("fixture.shell", "fixture", "fixture.*", "fixture_push", "fixture.push.x", "FIXTURE.PUSH"))

TABLE = [
    (Risk.READ, True, True, True, True),
    (Risk.WRITE, True, True, True, True),
    (Risk.DESTRUCTIVE, False, True, True, False),
    (Risk.EXFILTRATION, False, True, True, False),
    (Risk.HIGH, False, True, True, False),
]


@pytest.mark.parametrize(("risk", "default", "automatic", "allowed", "other"), TABLE, ids=[str(r[0]) for r in TABLE])
def test_the_table(risk: Risk, default: bool, automatic: bool, allowed: bool, other: bool) -> None:
    for config, runs in ((DEFAULT, default), (AUTOMATIC, automatic), (ALLOWED, allowed), (OTHER, other)):
        decision = Rules(config).decide(ACTOR, OPERATION, Assessment(risk=risk))
        assert decision.verdict is (Verdict.ALLOW if runs else Verdict.DENY), config
        if not runs:
            assert "agent:a was not given leave for fixture.push" in decision.reasons[0]


def test_the_table_has_every_risk() -> None:
    assert {row[0] for row in TABLE} == set(Risk)


@pytest.mark.parametrize("actor", [Actor(kind=kind, actor_id="x") for kind in ActorKind], ids=lambda a: a.kind.value)
def test_not_even_the_owner_destroys_by_default(actor: Actor) -> None:
    assert Rules(DEFAULT).decide(actor, OPERATION, Assessment(risk=Risk.DESTRUCTIVE)).verdict is Verdict.DENY


def test_the_assessed_risk_decides_and_not_the_declared_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        ops = FixtureOps()
        async with plane(tmp_path, operations=[ops]) as opened:
            assert (await opened.conveyor.call("fixture.push", {"text": "plain"}, AGENT)).error is None
            denied = await opened.conveyor.call("fixture.push", {"text": "force"}, AGENT)
            assert denied.error is not None
            assert denied.error.name == "POLICY_DENIED"
            assert denied.error.details["risk"] == "destructive"
            assert "trust.allow" in denied.error.hint
            assert len(ops.ran) == 1
            assert len(await events(opened, "call.started")) == 1

    run(scenario())


def test_leave_for_one_operation_is_leave_for_that_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        ops = FixtureOps()
        async with plane(tmp_path, "trust.allow=[fixture.destroy]", operations=[ops]) as opened:
            assert (await opened.conveyor.call("fixture.destroy", {}, AGENT)).error is None
            for name in ("fixture.shell", "fixture.send"):
                assert (await opened.conveyor.call(name, {}, AGENT)).error is not None
            assert ops.ran == ["fixture.destroy"]

    run(scenario())


REFUSED = [
    ".git", ".git/config", ".GIT/config", ".Git", "sub/.git/hooks/pre-commit", "a/.gIt", "./.git/x", ".//.git",
    ".codeplane", ".codeplane/config.yaml", ".CODEPLANE/owner.token", "x/.codeplane/y",
    ".git./config", ".git /config", ".git . . /x", ".codeplane.", "a\\.git\\config", ".git\\config",
    ".git::$INDEX_ALLOCATION/config", ".git:x", "git~1/config", "GIT~1", "codepl~1/owner.token",
    ".g\u200cit/config", "\ufeff.git", ".codeplane\u200d", ".gi\u202et",
    "/etc/passwd", "/", "//x", "\\x", "\\\\server\\share", "C:/x", "c:x", "C:\\x", "C:",
    "..", "../x", "a/../../x", "a/..", "..\\x", "a\\..\\..\\x", ".. /x", "...", ".. .", "a/.. /x",
    "a\0b", "\0", "a/\0",
]  # fmt: skip

ALLOWED_PATHS = [
    "a", "src/app.py", ".gitignore", ".github/workflows/ci.yml", ".gitattributes", "git", "git/config", "codeplane/x",
    ".codeplane2/x", "a..b", "..a", "a/..b/c", ".env", "docs/.hidden", "a b/c d", "ünï/cödé", "x.git", "x.git/config",
    "a/b:c", "git~2", ".gitx", "a.", "x/y ", "-rf",
]  # fmt: skip


@pytest.mark.parametrize("path", REFUSED, ids=repr)
def test_paths_that_nobody_writes(path: str) -> None:
    with pytest.raises(PathDenied):
        Rules(AUTOMATIC).check_path(path)


@pytest.mark.parametrize("path", ALLOWED_PATHS, ids=repr)
def test_paths_of_the_repository(path: str) -> None:
    Rules(DEFAULT).check_path(path)


@given(st.lists(st.sampled_from(["a", "b", ".", "x.y"]), max_size=3), st.lists(st.sampled_from(["c", "d"]), max_size=3))
def test_no_way_around_leads_into_the_gate(before: list[str], after: list[str]) -> None:
    for guarded in (".git", ".codeplane", ".."):
        for separator in "/\\":
            with pytest.raises(PathDenied):
                Rules(AUTOMATIC).check_path(separator.join([*before, guarded, *after]))


def test_a_long_path_is_not_repeated_in_full() -> None:
    with pytest.raises(PathDenied) as caught:
        Rules(DEFAULT).check_path("../" + "x" * 100_000)
    assert len(caught.value.message) < 400
