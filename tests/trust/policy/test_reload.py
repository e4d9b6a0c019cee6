"""Policies that change while CodePlane runs, and folders that hold what they should not."""

import os
from collections.abc import Callable, Mapping
from contextlib import aclosing
from pathlib import Path

import pytest

from codeplane.kernel.call import Call
from codeplane.kernel.config import PolicyConfig
from codeplane.kernel.errors import PolicyInvalid
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.ports import Verdict
from codeplane.trust.policy.folder import MAX_BYTES, MAX_FILES, PolicyFolder
from codeplane.trust.policy.models import PolicyExplained, PolicySummary
from codeplane.trust.policy.policy import Policy
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, Answered, FixtureOps, ManualClock, Said, plane, run
from tests.ledger.logs import opened as opened_log
from tests.trust.policy.calls import HEAD, PATIENCE_SEC, of_call, own, policy, write

pytestmark = requirement("TRUST-16")

DENY = HEAD + 'deny contains "never" if input.risk == "WRITE"\n'
WRITES = of_call("WRITE")


def _later(opened: Policy, clock: ManualClock) -> None:
    clock.advance(2.0)
    opened.wait_until_compiled(PATIENCE_SEC)


def test_a_change_takes_hold_and_a_broken_one_does_not(tmp_path: Path) -> None:
    clock = ManualClock()
    with policy(tmp_path, clock=clock) as opened:
        first = opened.version
        assert opened.decide(WRITES).verdict is Verdict.ALLOW
        write(own(tmp_path), mine=DENY)
        opened.wait_until_compiled(PATIENCE_SEC)
        assert opened.decide(WRITES).verdict is Verdict.ALLOW, "it is not looked at all the time"
        _later(opened, clock)
        assert opened.decide(WRITES).reasons == ("never",)
        assert opened.files == (".codeplane/policy/mine.rego",)
        second = opened.version
        assert second != first

        write(own(tmp_path), mine=DENY.replace("input.", "inptu."))
        _later(opened, clock)
        assert opened.decide(WRITES).reasons == ("never",)
        assert opened.version == second
        assert "mine.rego:3:" in opened.problems()[0] and "stays in force" in opened.problems()[0]
        assert not opened.is_broken

        write(own(tmp_path), mine=DENY)
        _later(opened, clock)
        assert opened.problems() == [] and opened.version == second
        (own(tmp_path) / "mine.rego").unlink()
        _later(opened, clock)
        assert opened.version == first
        assert opened.decide(WRITES).verdict is Verdict.ALLOW


def _saved_late(root: Path, *, text: str, clock: ManualClock) -> None:
    """A policy that is saved, and nobody calls for long."""
    write(own(root), mine=text)
    clock.advance(20.0)


async def test_the_first_call_after_a_change_is_decided_by_it(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, operations=[FixtureOps()], clock=clock) as opened:
        assert (await opened.conveyor.call("fixture.write", {}, AGENT)).error is None
        _saved_late(tmp_path, text=DENY, clock=clock)
        refused = (await opened.conveyor.call("fixture.write", {}, AGENT)).error
        assert refused is not None and refused.details["reasons"] == ["never"]
        assert refused.hint.startswith("a rule of the owner's own says so, in .codeplane/policy/mine.rego")
        assert "cpl policy explain fixture.write" in refused.hint
        _saved_late(tmp_path, text=DENY.replace("never", "not now"), clock=clock)
        shown = (await opened.conveyor.call("policy.summary", {}, OWNER)).result
        assert isinstance(shown, PolicySummary) and shown.asks["agent"]["WRITE"] == "deny"
        assert opened.trust.policy.version == shown.version
        _saved_late(tmp_path, text=DENY.replace("WRITE", "HIGH"), clock=clock)
        explained = (await opened.conveyor.call("policy.explain", {"operation": "fixture.write"}, OWNER)).result
        assert isinstance(explained, PolicyExplained) and explained.verdict == "allow"


async def test_a_rule_that_comes_to_look_at_arguments_is_shown_them_at_once(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, operations=[FixtureOps()], clock=clock) as opened:
        assert (await opened.conveyor.call("fixture.write", {"text": "good"}, AGENT)).error is None
        _saved_late(tmp_path, text=HEAD + 'deny contains "bad" if input.arguments.text == "bad"\n', clock=clock)
        assert (await opened.conveyor.call("fixture.write", {"text": "good"}, AGENT)).error is None
        refused = (await opened.conveyor.call("fixture.write", {"text": "bad"}, AGENT)).error
        assert refused is not None and refused.name == "POLICY_DENIED"


async def test_a_rule_that_comes_to_look_at_paths_is_asked_about_those_learnt_of_on_the_way(tmp_path: Path) -> None:
    class Learns(FixtureOps):
        @operation("fixture.learns", risk=Risk.WRITE)
        async def learns(self, call: Call, request: Said) -> Answered:
            """Learn of a path after the policy has changed."""
            _saved_late(tmp_path, text=HEAD + 'deny contains "bad" if "bad.txt" in input.paths\n', clock=clock)
            call.may_write("bad.txt")
            return Answered(answer="written")

    clock = ManualClock()
    async with plane(tmp_path, operations=[Learns()], clock=clock) as opened:
        refused = (await opened.conveyor.call("fixture.learns", {}, AGENT)).error
        assert refused is not None and refused.name == "POLICY_DENIED"
        assert "bad.txt" in refused.message


async def test_a_change_takes_hold_though_nobody_calls(tmp_path: Path) -> None:
    async with plane(tmp_path, "policy.reload_sec=0.05") as opened:
        write(own(tmp_path), mine=DENY)
        async with aclosing(opened.log.watch(streams={"policy": 0}, heartbeat_sec=PATIENCE_SEC)) as happening:
            loaded = await anext(happening)
        assert isinstance(loaded, Event) and loaded.type == "policy.loaded"
        assert loaded.payload["files"] == [".codeplane/policy/mine.rego"]
        assert opened.trust.policy.files == (".codeplane/policy/mine.rego",)


class _NeverDone:
    """Programs of which all but the first are never compiled."""

    def __init__(self) -> None:
        self.made = 0

    def is_compiled(self, wait_sec: float = 0.0) -> bool:
        return self.made < 2

    def evaluate(self, document: JsonObject | str) -> JsonValue:
        return {"deny": [], "ask": [], "allow": ["the old policy"]}

    async def evaluate_async(self, document: JsonObject | str) -> JsonValue:
        return self.evaluate(document)

    def close(self) -> None:
        return None

    def program(self, sources: Mapping[str, str], *, packages: Mapping[str, str], entry: str) -> "_NeverDone":
        self.made += 1
        return self


def test_what_was_replaced_does_not_decide_even_if_the_new_one_is_never_compiled(tmp_path: Path) -> None:
    clock = ManualClock()
    opened = Policy(folder=own(tmp_path), engine=_NeverDone(), config=PolicyConfig(), clock=clock, change_sec=0.0)
    assert opened.decide(WRITES).reasons == ("the old policy",)
    _saved_late(tmp_path, text=DENY, clock=clock)
    for decision in (opened.decide(WRITES), run(opened.decide_async(WRITES)), run(opened.explain(WRITES)).decision):
        assert decision.verdict is Verdict.DENY
        assert decision.reasons == ("the policy was changed and is still being compiled",)
        assert decision.hint == "call again in a moment"


def test_a_file_that_is_saved_as_it_was_is_not_compiled_again(tmp_path: Path) -> None:
    clock, engine = ManualClock(), _NeverDone()
    opened = Policy(folder=write(own(tmp_path), mine=DENY), engine=engine, config=PolicyConfig(), clock=clock)
    _saved_late(tmp_path, text=DENY, clock=clock)
    opened.poll_folder()
    assert engine.made == 1
    _saved_late(tmp_path, text=DENY + "\n", clock=clock)
    opened.poll_folder()
    assert engine.made == 2


def test_a_denial_says_what_to_do_next(tmp_path: Path) -> None:
    write(own(tmp_path), other=HEAD + 'deny contains sprintf("not %s", [input.risk]) if input.risk == "EXFILTRATION"\n')
    with policy(tmp_path, mine=DENY) as opened:
        written = opened.decide(WRITES).hint
        assert "in .codeplane/policy/mine.rego, and no setting lifts it" in written
        assert written.endswith("cpl policy explain git.push")
        assert "in .codeplane/policy, and" in opened.decide(of_call("EXFILTRATION")).hint, "nobody knows which"
        unheard_of = opened.decide(of_call("WRITE", "stranger", name="x") | {"risk": "unheard of"})
        assert unheard_of.verdict is Verdict.DENY
        assert unheard_of.hint == "see which rules spoke: cpl policy explain x"
        assert opened.decide(of_call("READ")).hint == ""


def test_a_broken_policy_says_what_to_do_next(tmp_path: Path) -> None:
    with policy(tmp_path, mine="nothing") as opened:
        assert "cpl policy check" in opened.decide(WRITES).hint
    with policy(tmp_path, mine=HEAD + 'deny contains "x" if to_number(input.risk) == 1') as opened:
        assert opened.decide(WRITES).hint.endswith("cpl policy explain git.push")


def test_a_policy_broken_from_the_start_lets_only_reads_through(tmp_path: Path) -> None:
    clock = ManualClock()
    with policy(tmp_path, clock=clock, mine="package codeplane.policy\n\ndeny contains") as opened:
        assert opened.is_broken
        assert "only reads run" in opened.problems()[0]
        assert opened.decide(of_call("READ")).verdict is Verdict.ALLOW
        for kind in ("owner", "device", "agent", "system"):
            for risk in ("WRITE", "EXFILTRATION", "DESTRUCTIVE", "HIGH", "unheard of"):
                decision = opened.decide(of_call(risk, kind, mode="automatic", allow=("git.push",)))
                assert decision.verdict is Verdict.DENY
                assert "mine.rego" in decision.reasons[0]
                assert run(opened.explain(of_call(risk, kind))).decision.verdict is Verdict.DENY
        write(own(tmp_path), mine=HEAD + "deny contains")
        _later(opened, clock)
        assert opened.is_broken
        write(own(tmp_path), mine=DENY)
        _later(opened, clock)
        assert opened.problems() == []
        assert opened.decide(WRITES).reasons == ("never",)
        assert opened.decide(of_call("WRITE", name="x") | {"risk": "READ"}).verdict is Verdict.ALLOW


async def test_what_happens_is_in_the_log(tmp_path: Path) -> None:
    class Shouts:
        def __init__(self) -> None:
            self.said: list[str] = []

        def warning(self, event: str, **details: str) -> None:
            self.said.append(event)

    clock = ManualClock()
    async with opened_log(tmp_path / "ledger.db") as log:
        with policy(tmp_path, clock=clock, log=log) as opened:
            opened._logger = shouts = Shouts()
            write(own(tmp_path), mine=DENY)
            _later(opened, clock)
            write(own(tmp_path), mine="nothing")
            _later(opened, clock)
            version = opened.version
        await log.flush()
        loaded, rejected = await log.read(stream="policy")
        assert (loaded.type, loaded.payload["version"]) == ("policy.loaded", version)
        assert loaded.payload["files"] == [".codeplane/policy/mine.rego"]
        assert (rejected.type, rejected.payload["in_force"]) == ("policy.rejected", version)
        assert "mine.rego" in str(rejected.payload["reason"])
        assert shouts.said == ["the policy was rejected"]


def test_the_same_decision_is_not_made_twice_and_memory_is_bounded(tmp_path: Path) -> None:
    clock = ManualClock()
    with policy(tmp_path, clock=clock, mine=HEAD + 'ask contains "x" if input.arguments.n == 0\n') as opened:
        first = opened.decide(of_call("WRITE", arguments={"n": 1}))
        assert opened.decide(of_call("WRITE", arguments={"n": 1})) is first
        assert opened.decide(of_call("WRITE", arguments={"n": 0})).verdict is Verdict.ASK
        assert opened.decide(of_call("WRITE", arguments={"n": 1}, paths=["unseen"])) is first
        for number in range(2, 5000):
            opened._put_in_cache(str(number), first, None)
        assert len(opened._decisions) == 4096
        assert opened.decide(of_call("WRITE", arguments={"n": 1})) is not first
        write(own(tmp_path), mine=DENY)
        _later(opened, clock)
        assert opened.decide(of_call("WRITE", arguments={"n": 1})).verdict is Verdict.DENY


def _link_file(folder: Path) -> None:
    outside = folder.parent.parent / "outside.rego"
    outside.write_text(DENY)
    (folder / "a.rego").symlink_to(outside)


def _link_inside(folder: Path) -> None:
    write(folder, real=DENY)
    (folder / "a.rego").symlink_to("real.rego")


def _link_folder(folder: Path) -> None:
    elsewhere = write(folder.parent.parent / "elsewhere", a=DENY)
    folder.rmdir()
    folder.symlink_to(elsewhere)


def _file_for_folder(folder: Path) -> None:
    folder.rmdir()
    folder.write_text(DENY)


def _folder_for_file(folder: Path) -> None:
    (folder / "a.rego").mkdir()


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "a.rego")


def _not_utf8(folder: Path) -> None:
    write(folder, a=HEAD.encode() + b'deny contains "\xff" if true\n')


def _too_large(folder: Path) -> None:
    write(folder, a=DENY, b="#" * MAX_BYTES)


def _too_many(folder: Path) -> None:
    write(folder, **{f"p{number}": DENY for number in range(MAX_FILES + 1)})


def _odd_name(folder: Path) -> None:
    write(folder, **{"a\nb": DENY})


def _unreadable(folder: Path) -> None:
    write(folder, a=DENY)
    (folder / "a.rego").chmod(0)
    if os.access(folder / "a.rego", os.R_OK):
        pytest.skip("not tested: this user reads everything")


BAD_FOLDERS = [
    _link_file, _link_inside, _link_folder, _file_for_folder, _folder_for_file, _pipe, _not_utf8, _too_large, _too_many,
    _odd_name, _unreadable,
]  # fmt: skip


@pytest.mark.parametrize("make", BAD_FOLDERS)
def test_a_folder_with_what_does_not_belong_there_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    folder = own(tmp_path)
    folder.mkdir(parents=True)
    make(folder)
    with pytest.raises(PolicyInvalid) as caught:
        PolicyFolder(path=folder).read()
    assert ".codeplane/policy" in caught.value.message
    assert len(PolicyFolder(path=folder).fingerprint()) > 0


def test_only_policies_are_read(tmp_path: Path) -> None:
    folder = write(own(tmp_path), b=DENY, a=DENY)
    (folder / "notes.txt").write_bytes(b"\xff")
    (folder / "sub").mkdir()
    before = PolicyFolder(path=folder).fingerprint()
    assert [*PolicyFolder(path=folder).read()] == [".codeplane/policy/a.rego", ".codeplane/policy/b.rego"]
    (folder / "more.txt").write_text("x")
    assert PolicyFolder(path=folder).fingerprint() == before
    write(folder, c=DENY)
    assert PolicyFolder(path=folder).fingerprint() != before
