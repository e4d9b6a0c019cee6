"""Questions about the policy: what is in force, whether a text would do, why a call is decided as it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codeplane.adapters.rego import Rego
from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.errors import InvalidArgument, UnknownOperation
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.policy.folder import PolicyFolder
from codeplane.trust.policy.models import CheckRequest, ExplainRequest, SummaryRequest
from codeplane.trust.policy.operations import PolicyOperations
from codeplane.trust.policy.precheck import Precheck
from codeplane.trust.untrusted.marks import UntrustedMarks
from codeplane.trust.untrusted.rule import UntrustedRule
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps, run
from tests.trust.policy.calls import HEAD, PATIENCE_SEC, own, policy, write

pytestmark = requirement("TRUST-17")

MINE = HEAD + 'deny contains "not today" if input.operation.name == "fixture.send"\n'


@contextmanager
def asked(
    tmp_path: Path, trust: TrustConfig | None = None, mine: str | None = None
) -> Iterator[tuple[PolicyOperations, Call]]:
    with policy(tmp_path, mine=mine) as opened:
        catalogue = Catalogue()
        operations = PolicyOperations(
            catalogue=catalogue,
            policy=opened,
            engine=Rego(timeout_ms=5000.0, compile_sec=PATIENCE_SEC),
            folder=PolicyFolder(path=own(tmp_path)),
            trust=trust or TrustConfig(),
            precheck=Precheck(
                grants=Grants(log=None, clock=SystemClock(), config=TrustConfig())  # type: ignore[arg-type]  # unused
            ),
            untrusted=UntrustedMarks(),
            rule=UntrustedRule(lambda: ()),
        )
        catalogue.add([operations, FixtureOps()])
        yield (
            operations,
            Call(
                call_id="call",
                request_id="req",
                operation=catalogue.get("policy.summary"),
                caller=Caller(surface="mcp", client="editor"),
                actor=Actor(kind=ActorKind.AGENT, actor_id="a"),
                task=None,
                idempotency_key=None,
                log=None,  # type: ignore[arg-type]  # nothing is written here
                check_path=lambda actor, path: None,
                find_scope=lambda call: None,
            ),
        )


def test_the_summary_says_what_is_in_force(tmp_path: Path) -> None:
    with asked(tmp_path, TrustConfig(mode="always", allow=("git.push",)), mine=MINE) as (operations, call):
        found = run(operations.summary(call, SummaryRequest()))
        assert found.files == (".codeplane/policy/mine.rego",)
        assert found.asks["agent"] == {"WRITE": "ask", "DESTRUCTIVE": "ask", "EXFILTRATION": "ask", "HIGH": "ask"}
        assert found.asks["device"]["HIGH"] == "ask" and found.asks["owner"]["HIGH"] == "allow"
        assert found.unmet() is None
        assert "own rules about operations, paths, remotes or arguments are not in these lines" in found.text()
        assert "mode always" in found.text() and "mine.rego" in found.text() and "git.push" in found.text()


def test_the_summary_says_what_is_wrong(tmp_path: Path) -> None:
    with asked(tmp_path, mine="no policy") as (operations, call):
        found = run(operations.summary(call, SummaryRequest()))
        assert found.only_reads and found.unmet() is not None
        assert "problem: " in found.text()
        assert set(found.asks["owner"].values()) == {"deny"}


def test_a_text_is_checked_without_being_taken_over(tmp_path: Path) -> None:
    with asked(tmp_path) as (operations, call):
        good = run(operations.check(call, CheckRequest(text=MINE, name="new.rego")))
        assert good.usable and good.files == ("new.rego",) and good.unmet() is None
        bad = run(operations.check(call, CheckRequest(text=HEAD + "\ndeny contains time.now_ns() if true\n")))
        assert not bad.usable and bad.unmet() is not None
        assert bad.text() == "policy.rego:4: time.now_ns is not allowed in a policy"
        assert run(operations.check(call, CheckRequest())).usable
        plain = run(operations.summary(call, SummaryRequest()))
        assert plain.files == () and "own rules" not in plain.text()


def test_the_folder_is_checked_as_it_is(tmp_path: Path) -> None:
    with asked(tmp_path) as (operations, call):
        write(own(tmp_path), good=MINE, bad=HEAD + "allow if true\n")
        found = run(operations.check(call, CheckRequest()))
        assert [(one.file, one.line) for one in found.problems] == [(".codeplane/policy/bad.rego", 3)]
        (own(tmp_path) / "bad.rego").write_bytes(b"\xff")
        assert "UTF-8" in run(operations.check(call, CheckRequest())).text()


@pytest.mark.parametrize("name", ["codeplane:default.rego", "a\nb", ""])
def test_a_text_does_not_take_the_name_of_what_ships(name: str) -> None:
    with pytest.raises(ValueError):
        CheckRequest(text=MINE, name=name)


def test_a_decision_is_explained(tmp_path: Path) -> None:
    with asked(tmp_path, mine=MINE) as (operations, call):
        plain = run(operations.explain(call, ExplainRequest(operation="fixture.push", arguments={"text": "plain"})))
        forced = run(operations.explain(call, ExplainRequest(operation="fixture.push", arguments={"text": "force"})))
        assert (plain.verdict, forced.verdict) == ("allow", "ask")
        assert forced.input["risk"] == "DESTRUCTIVE"
        assert [(one.policy, one.rule) for one in forced.fired] == [("shipped", "ask")]
        sent = run(operations.explain(call, ExplainRequest(operation="fixture_send", actor="owner")))
        assert sent.verdict == "deny" and sent.reasons == ("not today",)
        assert {(one.policy, one.rule) for one in sent.fired} == {("yours", "deny"), ("shipped", "allow")}
        assert "fixture.send: deny (not today)" in sent.text()


def test_another_risk_mode_or_task_can_be_thought_of(tmp_path: Path) -> None:
    with asked(tmp_path) as (operations, call):

        def verdict(**changed: object) -> str:
            return run(
                operations.explain(call, ExplainRequest.model_validate({"operation": "fixture.push", **changed}))
            ).verdict

        assert verdict(risk="EXFILTRATION") == "ask"
        assert verdict(risk="EXFILTRATION", mode="automatic") == "allow"
        assert verdict(risk="EXFILTRATION", mode="automatic", untrusted=True) == "ask"
        assert verdict(risk="EXFILTRATION", untrusted=True, actor="owner") == "allow"
        assert verdict(risk="WRITE", untrusted=True) == "allow"
        assert verdict(risk="WRITE", mode="always") == "ask"
        assert verdict(risk="HIGH", mode="automatic") == "ask"


def test_what_cannot_be_explained_says_why(tmp_path: Path) -> None:
    with asked(tmp_path) as (operations, call):
        with pytest.raises(UnknownOperation):
            run(operations.explain(call, ExplainRequest(operation="fixture.pusch")))
        with pytest.raises(InvalidArgument):
            run(operations.explain(call, ExplainRequest(operation="fixture.push", arguments={"nonsense": 1})))
