"""The shipped policy: who is asked about what, and that nothing unknown gets through."""

from collections.abc import Iterator
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.kernel.config import TrustConfig
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Risk
from codeplane.kernel.ports import Verdict
from codeplane.trust.policy.policy import Policy
from codeplane.trust.policy.rego_source import InputUse, shipped_bundle
from tests.interaction.requirements import requirement
from tests.trust.policy.calls import of_call, policy

pytestmark = requirement("TRUST-13")

PEOPLE = ("owner", "device")
DRIVEN = ("agent", "assistant", "job")
MODES = ("automatic", "trust", "always")
RISKS = tuple(risk.name for risk in Risk)


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Policy]:
    with policy(tmp_path_factory.mktemp("default")) as opened:
        yield opened


def expected(kind: str, risk: str, mode: str) -> Verdict:
    """The table of the guide."""
    if risk == "HIGH":
        return Verdict.ALLOW if kind == "owner" else Verdict.ASK
    if kind in PEOPLE or risk == "READ":
        return Verdict.ALLOW
    asking = {"automatic": set[str](), "trust": {"DESTRUCTIVE", "EXFILTRATION"}, "always": set(RISKS)}
    return Verdict.ASK if risk in asking[mode] else Verdict.ALLOW


@requirement("TRUST-01")
@pytest.mark.parametrize(("kind", "risk", "mode"), [*product((*PEOPLE, *DRIVEN), RISKS, MODES)])
def test_the_table(rules: Policy, kind: str, risk: str, mode: str) -> None:
    decision = rules.decide(of_call(risk, kind, mode=mode))
    assert decision.verdict is expected(kind, risk, mode)
    assert decision.reasons


@requirement("TRUST-01")
@pytest.mark.parametrize(("kind", "mode"), [*product(DRIVEN, MODES)])
def test_a_named_operation_runs_and_a_shell_command_does_not(rules: Policy, kind: str, mode: str) -> None:
    allow = ("git.push", "run_bash")
    assert rules.decide(of_call("DESTRUCTIVE", kind, mode=mode, allow=allow)).verdict is Verdict.ALLOW
    assert rules.decide(of_call("WRITE", kind, mode=mode, allow=allow)).verdict is Verdict.ALLOW
    assert rules.decide(of_call("HIGH", kind, "run_bash", mode=mode, allow=allow)).verdict is Verdict.ASK


@pytest.mark.parametrize("name", ["git", "git.*", "git_push", "git.push.x", "GIT.PUSH", "git.pus"])
def test_only_the_exact_name_counts(rules: Policy, name: str) -> None:
    assert rules.decide(of_call(allow=(name,))).verdict is Verdict.ASK


def test_a_token_is_stricter_and_never_laxer(rules: Policy) -> None:
    def verdict(mode: str, own: str, risk: str = "EXFILTRATION", allow: tuple[str, ...] = ()) -> Verdict:
        return rules.decide(of_call(risk, mode=mode, grant={"approval_mode": own}, allow=allow)).verdict

    assert verdict("automatic", "automatic") is Verdict.ALLOW
    assert verdict("automatic", "trust") is Verdict.ASK
    assert verdict("automatic", "always", "WRITE") is Verdict.ASK
    assert verdict("trust", "automatic") is Verdict.ASK
    assert verdict("always", "automatic", "WRITE") is Verdict.ASK
    assert verdict("trust", "always", allow=("git.push",)) is Verdict.ASK
    assert verdict("trust", "trust", allow=("git.push",)) is Verdict.ALLOW


def test_what_a_call_says_of_itself_is_the_reason(rules: Policy) -> None:
    output = rules.decide(of_call("DESTRUCTIVE", effects=["it resets main", "it drops 3 commits"]))
    assert output.reasons == ("it resets main and it drops 3 commits",)
    assert rules.decide(of_call("DESTRUCTIVE")).reasons == ("it can destroy work or history",)


@pytest.mark.parametrize(
    "document",
    [
        of_call("SEVERE"), of_call("read"), of_call(""), of_call(kind="root"), of_call(kind=""), of_call(mode="off"),
        of_call(mode=""), {}, {"risk": "READ"}, {"risk": "READ", "actor": {"kind": "owner"}},
        of_call() | {"actor": None}, of_call() | {"context": []}, of_call("READ") | {"actor": "owner"},
    ],
    ids=repr,
)  # fmt: skip
def test_what_nobody_knows_is_refused(rules: Policy, document: JsonObject) -> None:
    assert rules.decide(document).verdict is Verdict.DENY


@pytest.mark.parametrize("part", ["effects", "remotes"])
@pytest.mark.parametrize("value", [None, 5, "x", {}, [1], [None]])
def test_a_document_that_is_out_of_shape_never_runs_what_asks(rules: Policy, part: str, value: object) -> None:
    assert rules.decide(of_call(**{part: value})).verdict is not Verdict.ALLOW  # type: ignore[arg-type]  # that is the point


@requirement("TRUST-01")
@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from([*PEOPLE, *DRIVEN, "system"]),
    mode=st.sampled_from(MODES),
    risk=st.sampled_from(RISKS),
    name=st.text(max_size=20),
    effects=st.lists(st.text(max_size=20), max_size=3),
    remotes=st.lists(st.text(max_size=20), max_size=3),
    allow=st.lists(st.text(max_size=20), max_size=3),
    untrusted=st.booleans(),
)
def test_whatever_is_said_a_shell_command_asks_and_every_call_is_decided(
    rules: Policy,
    kind: str,
    mode: str,
    risk: str,
    name: str,
    effects: list[str],
    remotes: list[str],
    allow: list[str],
    untrusted: bool,
) -> None:
    document = of_call(risk, kind, name, mode=mode, allow=(*allow, name), untrusted=untrusted)
    decision = rules.decide(document | {"effects": effects, "remotes": remotes})
    assert decision.verdict is not Verdict.DENY
    if risk == "HIGH" and kind != "owner":
        assert decision.verdict is Verdict.ASK
    if risk == "READ":
        assert decision.verdict is Verdict.ALLOW


def test_it_knows_every_mode_and_risk_there_is() -> None:
    text = files("codeplane.trust.policy").joinpath("default.rego").read_text()
    assert TrustConfig.model_fields["mode"].annotation is not None
    assert all(f'"{risk}"' in text for risk in RISKS)
    assert all(f'"{mode}"' in text for mode in MODES)


def test_it_looks_at_nothing_that_changes_with_every_call() -> None:
    input_use = InputUse.of(shipped_bundle().sources.values())
    for part in ("arguments", "paths", "resources"):
        assert not input_use.reads(part)
    seen = input_use.project(of_call(paths=["a"], arguments={"x": 1}))
    assert seen == input_use.project(of_call(paths=["b"], arguments={"x": 2}))
    assert seen["actor"] == {"kind": "agent"}
    context = seen["context"]
    assert isinstance(context, dict) and context.keys() == {"mode", "allow", "grant"}


def test_a_folder_that_is_missing_or_empty_is_the_shipped_policy(tmp_path: Path) -> None:
    with policy(tmp_path) as missing:
        version = missing.version
        assert missing.files == () and missing.problems() == []
    (tmp_path / ".codeplane" / "policy").mkdir(parents=True)
    (tmp_path / ".codeplane" / "policy" / "README.txt").write_text("not a policy")
    with policy(tmp_path) as empty:
        assert empty.version == version
        assert empty.decide(of_call()).verdict is Verdict.ASK
