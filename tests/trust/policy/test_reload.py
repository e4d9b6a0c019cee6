"""Policies that change while CodePlane runs, and folders that hold what they should not."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.kernel.errors import PolicyInvalid
from codeplane.kernel.ports import Verdict
from codeplane.trust.policy.folder import MAX_BYTES, MAX_FILES, PolicyFolder
from codeplane.trust.policy.policy import Policy
from tests.kernel.plane import ManualClock, run
from tests.ledger.logs import opened as opened_log
from tests.trust.policy.calls import HEAD, PATIENCE_SEC, of_call, own, policy, write

DENY = HEAD + 'deny contains "never" if input.risk == "WRITE"\n'
WRITES = of_call("WRITE")


def _later(opened: Policy, clock: ManualClock) -> None:
    clock.advance(2.0)
    opened.settle(PATIENCE_SEC)


def test_a_change_takes_hold_and_a_broken_one_does_not(tmp_path: Path) -> None:
    clock = ManualClock()
    with policy(tmp_path, clock=clock) as opened:
        first = opened.version
        assert opened.decide(WRITES).verdict is Verdict.ALLOW
        write(own(tmp_path), mine=DENY)
        opened.settle(PATIENCE_SEC)
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
        assert not opened.broken

        write(own(tmp_path), mine=DENY)
        _later(opened, clock)
        assert opened.problems() == [] and opened.version == second
        (own(tmp_path) / "mine.rego").unlink()
        _later(opened, clock)
        assert opened.version == first
        assert opened.decide(WRITES).verdict is Verdict.ALLOW


def test_decisions_go_on_under_the_old_policy_while_a_new_one_is_compiled(tmp_path: Path) -> None:
    clock = ManualClock()
    with policy(tmp_path, clock=clock, mine=DENY) as opened:
        many = "".join(f'deny contains "x" if input.operation.name == "o{n}"\n' for n in range(600))
        write(own(tmp_path), mine=HEAD + many)
        clock.advance(2.0)
        assert opened.decide(WRITES).reasons == ("never",)
        opened.settle(PATIENCE_SEC)
        assert opened.decide(WRITES).verdict is Verdict.ALLOW
        assert opened.decide(of_call("WRITE", name="o599")).verdict is Verdict.DENY


def test_a_policy_broken_from_the_start_lets_only_reads_through(tmp_path: Path) -> None:
    clock = ManualClock()
    with policy(tmp_path, clock=clock, mine="package codeplane.policy\n\ndeny contains") as opened:
        assert opened.broken
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
        assert opened.broken
        write(own(tmp_path), mine=DENY)
        _later(opened, clock)
        assert opened.problems() == []
        assert opened.decide(WRITES).reasons == ("never",)
        assert opened.decide(of_call("WRITE", name="x") | {"risk": "READ"}).verdict is Verdict.ALLOW


def test_what_happens_is_in_the_log(tmp_path: Path) -> None:
    class Shouts:
        def __init__(self) -> None:
            self.said: list[str] = []

        def warning(self, event: str, **details: str) -> None:
            self.said.append(event)

    async def scenario() -> None:
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

    run(scenario())


def test_the_same_decision_is_not_made_twice_and_memory_is_bounded(tmp_path: Path) -> None:
    clock = ManualClock()
    with policy(tmp_path, clock=clock, mine=HEAD + 'ask contains "x" if input.arguments.n == 0\n') as opened:
        first = opened.decide(of_call("WRITE", arguments={"n": 1}))
        assert opened.decide(of_call("WRITE", arguments={"n": 1})) is first
        assert opened.decide(of_call("WRITE", arguments={"n": 0})).verdict is Verdict.ASK
        assert opened.decide(of_call("WRITE", arguments={"n": 1}, paths=["unseen"])) is first
        for number in range(2, 5000):
            opened._keep(str(number), first, None)
        assert len(opened._known) == 4096
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
    assert len(PolicyFolder(path=folder).marks()) > 0


def test_only_policies_are_read(tmp_path: Path) -> None:
    folder = write(own(tmp_path), b=DENY, a=DENY)
    (folder / "notes.txt").write_bytes(b"\xff")
    (folder / "sub").mkdir()
    before = PolicyFolder(path=folder).marks()
    assert [*PolicyFolder(path=folder).read()] == [".codeplane/policy/a.rego", ".codeplane/policy/b.rego"]
    (folder / "more.txt").write_text("x")
    assert PolicyFolder(path=folder).marks() == before
    write(folder, c=DENY)
    assert PolicyFolder(path=folder).marks() != before
