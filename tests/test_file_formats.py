"""What is written on users' disks, key by key: fields may be renamed in the code, keys in files may not change.

Each test writes with the code, compares with the literal text, and reads the literal text back.
"""

import json
import tarfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import jwt
import msgspec
import pytest

from codeplane.adapters.agent_settings import AgentSettings
from codeplane.adapters.model_settings import ModelSettings
from codeplane.adapters.provider_keys import ProviderKeys
from codeplane.adapters.sealed_bytes import SealedBytes
from codeplane.adapters.secret_aliases import SecretAliases
from codeplane.adapters.tool_secrets import ToolSecrets, ToolTokens
from codeplane.adapters.tool_settings import ToolSettings
from codeplane.adapters.yaml_config import load_config
from codeplane.code.facts.version import tables_version
from codeplane.code.model import Definition, DynamicAccess, Export, Facts, Import, Scope, pack_facts, unpack_facts
from codeplane.edit.batch import Batch, Change, Entry
from codeplane.edit.file_state import FileState
from codeplane.edit.history.mutation_record import MutationRecord, MutationStats
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.index_moves import IndexMove, moves_from_json
from codeplane.git.safety.known_links import KnownLinks
from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.git.write.pending_mutations import CallNote, PendingMutations, StartedMutation
from codeplane.git.write.pending_reversals import PendingReversals, StartedReversal
from codeplane.git.write.reversible_change import ReversibleChange, Side
from codeplane.git.write.stopped_operation import OperationStart
from codeplane.git.write.submodule_addition import SubmoduleAddition
from codeplane.git.write.submodule_update import SubmoduleUpdate
from codeplane.index import archive
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import TaskLimits
from codeplane.kernel.errors import GitRefused
from codeplane.kernel.event import ContentTrust, Correlation, Draft, Event, Source
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.ledger.database import SCHEMA_VERSION
from codeplane.ledger.job import Append, StoredBlob
from codeplane.ledger.shared_message import SharedMessage, decode, encode
from codeplane.refactor.plan import RefactorSpec
from codeplane.refactor.plan_store import PlanRecord, PlanStore
from codeplane.surfaces.web.sign_ins import SignIns
from codeplane.testing.baseline import Baseline, Baselines
from codeplane.testing.case import Case
from codeplane.testing.environment_state import EnvironmentLog, EnvironmentState
from codeplane.testing.flakiness import FlakinessLog, FlakyRecord
from codeplane.testing.history import History
from codeplane.testing.outcome import Outcome
from codeplane.testing.results import (
    FailedTest,
    RunnerError,
    RunProgress,
    RunResult,
    RunSummary,
    TargetFailure,
    TargetResult,
)
from codeplane.testing.reusable_outcomes import ReusableOutcomes
from codeplane.testing.run_store import RunStore
from codeplane.testing.target import Target, TargetSelection
from codeplane.trust.identity.agent_token import Claims, TokenContext, sign_token
from codeplane.trust.identity.issued_token import IssuedToken
from codeplane.trust.identity.signing_keys import SigningKeys
from codeplane.work.limits import limits_to_json
from tests.edit.batches import Place, kept
from tests.harness import make_repo
from tests.interaction.requirements import requirement

pytestmark = requirement("DSK-01")

TARGET = Target(
    target_id="tests/test_a.py",
    path="tests/test_a.py",
    root="",
    language="python",
    runner_name="pytest",
    runner=None,
    words=(),
)
CASES = (
    Case(name="test_one", status="passed", duration_ms=5),
    Case(
        name="test_two",
        status="failed",
        duration_ms=7,
        message="no",
        kind="AssertionError",
        stack="at",
        file="tests/test_a.py",
        line=3,
        owner="A",
        is_target_failure=False,
    ),
)
OUTCOME = Outcome(
    wanted=TargetSelection(target=TARGET),
    status="failed",
    cases=CASES,
    seconds=0.5,
    output="0.txt",
    shared=2,
    note="slow",
)


def test_undo_record(tmp_path: Path) -> None:
    text = (
        '{"mutation_id":"mut_1","kind":"files","what":"write_files","at_ns":1,"session_id":"ses_1","state":"applied",'
        '"paths":["a.py","b\\udcff.py"],"details":{"n":1}}'
    )
    one = MutationRecord(
        mutation_id="mut_1",
        kind="files",
        what="write_files",
        at_ns=1,
        session_id="ses_1",
        state="applied",
        paths=("a.py", "b\udcff.py"),
        details={"n": 1},
    )
    records = MutationStore(tmp_path / "undo", SystemClock(), 14, 1)
    records.add(one)
    assert (tmp_path / "undo" / "mut_1" / "kept.json").read_text() == text
    assert records.get("mut_1") == one
    assert MutationStats(actor="agent:a", insertions=2, deletions=3).to_json() == {
        "actor": "agent:a",
        "insertions": 2,
        "deletions": 3,
    }


def test_undo_records_with_other_keys_are_not_read(tmp_path: Path) -> None:
    records = MutationStore(tmp_path / "undo", SystemClock(), 14, 1)
    records.add(kept("mut_1"))
    manifest = tmp_path / "undo" / "mut_1" / "kept.json"
    written = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(written | {"more": 1}))
    assert records.get("mut_1") is None
    manifest.write_text(json.dumps({key: value for key, value in written.items() if key != "state"}))
    assert records.get("mut_1") is None


def test_journal_manifest() -> None:
    row: JsonObject = {
        "path": "new.py",
        "before": {"sha256": "00", "mode": 420, "link": False},
        "after": {"sha256": "11", "mode": 0, "link": True},
        "staged": "new.0",
        "image": "old.0",
        "temp": ".cpl-1",
        "moved_from": "old.py",
        "skipped": True,
    }
    details: JsonObject = {"actor": "owner", "entries": [row], "made": ["a"], "dropped": ["b"]}
    entry = Entry(
        path="new.py",
        before=FileState(sha256="00", mode=420),
        after=FileState(sha256="11", mode=0, link=True),
        staged="new.0",
        image="old.0",
        temp=".cpl-1",
        moved_from="old.py",
        skipped=True,
    )
    batch = Batch(entries=(entry,), made=("a",), dropped=("b",), more={"actor": "owner"})
    assert json.dumps(batch.to_json()) == json.dumps(details)
    assert Batch.of(details) == batch
    move = IndexMove(old="old.py", new="new.py", mode="100644", oid="abc")
    assert move.to_json() == ["old.py", "new.py", "100644", "abc"]
    assert moves_from_json([["old.py", "new.py", "100644", "abc"]]) == (move,)


def test_journal_folder(tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    (place.root / "a.py").write_text("one\n")
    before, after = sha256(b"one\n").hexdigest(), sha256(b"two\n").hexdigest()
    place.journal().apply("mut_0001", kept(), [Change(path="a.py", content=b"two\n", before=before)])
    folder = place.home / "undo" / "mut_0001"
    assert sorted(path.name for path in folder.iterdir()) == ["kept.json", "old.0"]
    written = json.loads((folder / "kept.json").read_text())["details"]
    (entry,) = written.pop("entries")
    entry["temp"] = ""
    assert written == {"actor": "agent:test", "journal": "mut_0001", "made": [], "dropped": []}
    assert entry == {
        "path": "a.py",
        "before": {"sha256": before, "mode": 0o644, "link": False},
        "after": {"sha256": after, "mode": 0o644, "link": False},
        "staged": "new.0",
        "image": "old.0",
        "temp": "",
        "moved_from": None,
        "skipped": False,
    }


def test_pending_git_mutation(tmp_path: Path) -> None:
    text = (
        '{"mutation_id":"mut_1","what":"merge","at_ns":1,"session_id":"ses_1","call_id":"call_1","undoable":true,'
        '"undoes":["refs/heads/"],"sign":"merge abc","worktree":"/w","before":{"symbolic":"refs/heads/main",'
        '"head":"abc","refs":{"refs/heads/main":"abc"},"stashes":[["s","t"]],"settings":[["k","v"]],"state":"none",'
        '"intended":["i"],"changed":["a","c"],"staged":["s"],"untracked":["u"]}}'
    )
    submodule: JsonObject = {
        "path": "libs/one",
        "is_cloned": True,
        "settings": ["submodule.other.url"],
        "gitmodules": '[submodule "other"]\n',
        "staged": "100644 abc 0\t.gitmodules",
    }
    picture = GitSnapshot(
        symbolic="refs/heads/main",
        head="abc",
        refs={"refs/heads/main": "abc"},
        recoveries={},
        stashes=(("s", "t"),),
        settings=(("k", "v"),),
        index=frozenset({b"100644 abc 0\ta"}),
        intended=frozenset({"i"}),
        changed=frozenset({"c", "a"}),
        staged=frozenset({"s"}),
        untracked=frozenset({"u"}),
        conflicts=(),
        state="none",
    )
    started = StartedMutation(
        mutation_id="mut_1",
        what="merge",
        at_ns=1,
        session_id="ses_1",
        call_id="call_1",
        undoable=True,
        undoes=("refs/heads/",),
        sign="merge abc",
        before=picture,
        reached={"a": "100644 abc", "n": None},
        worktree="/w",
        submodule=submodule,
    )
    pending = PendingMutations(tmp_path / "pending")
    pending.begin(started)
    pending.record_reached(started)
    pending.record_submodule(started)
    pending.note("call_1", what="merge", mutation_id="mut_1", done=True)
    folder = tmp_path / "pending" / "mut_1"
    names = ["begun.json", "index", "reached.json", "running", "submodule.json"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert json.loads((folder / "submodule.json").read_text()) == submodule
    assert SubmoduleAddition.of_json(submodule).to_json() == submodule
    assert (folder / "begun.json").read_text() == text
    assert (folder / "index").read_bytes() == b"100644 abc 0\ta"
    assert (folder / "reached.json").read_text() == '{"a":"100644 abc","n":null}'
    assert pending.all() == [started]
    note = tmp_path / "pending-ended" / "call_1"
    assert note.read_text() == '{"what":"merge","mutation_id":"mut_1","done":true}'
    assert pending.notes() == {"call_1": CallNote(what="merge", mutation_id="mut_1", done=True)}
    pending.note("call_1", what="undo", mutation_id="mut_1", done=False, reason="half")
    assert note.read_text() == '{"what":"undo","mutation_id":"mut_1","done":false,"reason":"half"}'
    assert pending.notes()["call_1"].reason == "half"


def test_reversals_under_way(tmp_path: Path) -> None:
    pending = PendingReversals(tmp_path)
    started = StartedReversal(mutation_id="mut_1", verb="undo", call_id="call_1")
    pending.begin(started)
    assert (tmp_path / "mut_1").read_text() == '{"mutation_id":"mut_1","verb":"undo","call_id":"call_1"}'
    assert pending.all() == [started]
    pending.end("mut_1")
    assert pending.is_empty


def test_submodules_that_are_updated() -> None:
    module: JsonObject = {
        "path": "libs/one",
        "name": "one",
        "commit": "c" * 40,
        "is_folder": True,
        "is_place": True,
        "entries": [".git"],
        "is_checked_out": True,
        "head": "a" * 40,
        "branch": "main",
        "index": "sha256:00",
    }
    level: JsonObject = {"folder": "", "settings": ["submodule.one.url"], "modules": [module]}
    update: JsonObject = {"recursive": True, "levels": [level]}
    assert SubmoduleUpdate.of_json(update).to_json() == update


def test_git_undo_record() -> None:
    raw: JsonObject = {
        "symbolic": "refs/heads/main",
        "head": "abc",
        "state": "none",
        "refs": {"refs/heads/main": "abc", "refs/heads/gone": None},
        "stashes": [["s", "t"]],
        "settings": [["k", "v"]],
        "index": ["100644 abc 0\ta"],
        "intended": ["i"],
        "files": {"a": "100644 abc", "n": None},
    }
    side = Side(
        symbolic="refs/heads/main",
        head="abc",
        state="none",
        refs={"refs/heads/main": "abc", "refs/heads/gone": None},
        stashes=(("s", "t"),),
        settings=(("k", "v"),),
        index=("100644 abc 0\ta",),
        intended=("i",),
        files={"a": "100644 abc", "n": None},
    )
    both = ReversibleChange(before=side, after=replace(side, stashes=None), branches=("main",))
    details: JsonObject = {"before": raw, "after": {**raw, "stashes": None}, "branches": ["main"]}
    assert json.dumps(both.to_json()) == json.dumps(details)
    assert ReversibleChange.of_json(details) == both
    begun = OperationStart(sign="merge abc", reached={"a": None}, dirty=frozenset({"c", "b"}))
    assert begun.to_json() == {"sign": "merge abc", "reached": {"a": None}, "dirty": ["b", "c"]}
    assert OperationStart.of_json(begun.to_json()) == begun


def test_index_archive(tmp_path: Path) -> None:
    (tmp_path / "facts.db").write_bytes(b"facts")
    found = archive.write_archive(tmp_path / "a.cplindex", folder=tmp_path, commit="abc", files=2, model=None)
    with tarfile.open(tmp_path / "a.cplindex") as packed_up:
        assert packed_up.getnames() == ["manifest.json", "facts.db"]
        manifest = packed_up.extractfile("manifest.json")
        assert manifest is not None
        text = manifest.read().decode()
    assert text == (
        f'{{"format": 1, "tables": {tables_version()}, "commit": "abc", "files": 2, "model": null, '
        f'"digests": {{"facts.db": "{sha256(b"facts").hexdigest()}"}}}}'
    )
    (tmp_path / "out").mkdir()
    assert archive.unpack_archive(tmp_path / "a.cplindex", tmp_path / "out") == found


def test_facts_are_lists_in_this_order() -> None:
    facts = Facts(
        language="python",
        definitions=(
            Definition(
                kind="class",
                name="A",
                inside="o",
                signature="()",
                scope=1,
                container=2,
                ordinal=3,
                column=4,
                start=5,
                name_after=6,
                line=7,
                lines_after=8,
                size=9,
                body_after=10,
                bases=(11, 12),
            ),
        ),
        scopes=(Scope(kind="file", parent=-1, start=1, size=2, definition=3),),
        imports=(
            Import(
                kind="from",
                scope=1,
                source="s",
                imported="i",
                alias="a",
                bound="b",
                at=2,
                imported_after=3,
                local_after=4,
            ),
        ),
        exports=(Export(name="n", known_as="k", source="s", evidence="e", at=1),),
        dynamic=(DynamicAccess(pattern="getattr", at=1, literal="l"),),
        bind_names=("x",),
        bind_packed=b"b",
        text_packed=b"t",
        label_packed=b"l",
        outer_packed=b"o",
        star=True,
        errors=13,
        clipped=True,
    )
    assert msgspec.msgpack.decode(pack_facts(facts)) == [
        "python",
        [["class", "A", "o", "()", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, [11, 12]]],
        [["file", -1, 1, 2, 3]],
        [["from", 1, "s", "i", "a", "b", 2, 3, 4]],
        [["n", "k", "s", "e", 1]],
        [["getattr", 1, "l"]],
        ["x"],
        b"b",
        b"t",
        b"l",
        b"o",
        True,
        13,
        True,
    ]
    assert unpack_facts(pack_facts(facts)) == facts


def test_plan(tmp_path: Path) -> None:
    text = (
        '{"asked":{"kind":"rename","symbol":"a.py:1:0","new_name":"b","options":{"force":true},"contexts":["c"]},'
        '"digest":"00","expires_ns":9000000000000000000,"paths":["a.py"]}'
    )
    spec = RefactorSpec(kind="rename", symbol="a.py:1:0", new_name="b", options={"force": True}, contexts=("c",))
    record = PlanRecord(spec=spec, digest="00", expires_ns=9_000_000_000_000_000_000, paths=("a.py",))
    assert msgspec.json.encode(record).decode() == text
    (tmp_path / "plan_1.json").write_text(text)
    assert PlanStore(tmp_path, SystemClock()).record("plan_1") == record


def test_results_of_tests_at_a_commit(tmp_path: Path) -> None:
    found = Baselines(tmp_path).note("t", "abc", [OUTCOME], run_id="run_1", at="2026", place="copy")
    fingerprint = found.targets["tests/test_a.py"].tests["tests/test_a.py::test_two"].fingerprint
    text = (
        '{"commit":"abc","targets":{"tests/test_a.py":{"run_id":"run_1","at":"2026","place":"copy","tests":{'
        '"tests/test_a.py::test_one":{"status":"passed","kind":"","fingerprint":""},'
        '"tests/test_a.py::test_two":{"status":"failed","kind":"AssertionError","fingerprint":'
        f'"{fingerprint}"}}}}}}}}}}'
    )
    assert (tmp_path / "t.json").read_text() == text
    assert isinstance(found, Baseline) and Baselines(tmp_path).get("t") == found


def test_outcomes_that_are_used_again(tmp_path: Path) -> None:
    file = tmp_path / "reuse.json"
    ReusableOutcomes(file, seconds=60).note("s", [OUTCOME], run_id="run_1", now_ns=1)
    assert file.read_text() == (
        '{"state":"s","targets":{"tests/test_a.py":{"run_id":"run_1","at_ns":1,"runner":"pytest","status":"failed",'
        '"cases":[{"name":"test_one","status":"passed","duration_ms":5,"message":"","kind":"","stack":"","file":"",'
        '"line":null,"owner":"","is_whole":false},{"name":"test_two","status":"failed","duration_ms":7,"message":"no",'
        '"kind":"AssertionError","stack":"at","file":"tests/test_a.py","line":3,"owner":"A","is_whole":false}],'
        '"seconds":0.5,"output":"0.txt","shared":2,"note":"slow"}}}'
    )
    again = ReusableOutcomes(file, seconds=60).find("s", [OUTCOME.wanted], kept=["run_1"], now_ns=2)
    assert again == {"tests/test_a.py": replace(OUTCOME, reused_from="run_1", output="../run_1/0.txt")}


def test_flaky_tests(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.json"
    FlakinessLog(file).note("s", {"a::one": True}, flaky=(), at="2026", environment="e")
    FlakinessLog(file).note("s", {"a::one": False}, flaky=(), at="2027", environment="e")
    assert file.read_text() == (
        '{"format": 1, "state": "s e", "counts": {"a::one": [1, 1]}, "flaky": '
        '[{"test": "a::one", "passed": 1, "failed": 1, "state": "s", "seen_at": "2027"}]}'
    )
    assert FlakinessLog(file).flaky() == [FlakyRecord(test="a::one", passed=1, failed=1, state="s", seen_at="2027")]


def test_history_of_targets(tmp_path: Path) -> None:
    history = History(tmp_path / "history.json")
    history.note("a", seconds=1.5, ran=["one"], bad=["two"], whole=True)
    history.save(known=["a"])
    assert (tmp_path / "history.json").read_text() == (
        '{"format": 2, "targets": {"a": {"seconds": [1.5], "failing": ["two"], "tests": ["one", "two"]}}}'
    )
    assert History(tmp_path / "history.json").failing_tests("a") == ("two",)


def test_environment_of_the_last_run(tmp_path: Path) -> None:
    state = EnvironmentState(dependencies={"variables": "00"}, leftovers="11")
    EnvironmentLog(tmp_path / "environment.json").note("c", "env_1", state)
    text = '{"code":"c","lineage":"env_1","dependencies":{"variables":"00"},"leftovers":"11"}'
    assert (tmp_path / "environment.json").read_text() == text
    assert EnvironmentLog(tmp_path / "environment.json").lineage(state) == "env_1"


def test_result_of_a_run(tmp_path: Path) -> None:
    text = (
        '{"run_id":"run_1","status":"completed","progress":{"total":1,"completed":1,"passed":0,"failed":1,"skipped":0,'
        '"unmatched":0,"reused":0},"summary":{"total_duration_ms":5,"tests":2,"tests_passed":1,"tests_failed":1,'
        '"tests_skipped":0,"flaky":[],"new_failures":["t"],"first_runs":[],"fixed":[]},"failures":[{"test":"t",'
        '"target_id":"a","status":"failed","kind":"k","message":"m","stack":"s","line":3,"fingerprint":"f"}],'
        '"results":[{"target_id":"a","runner":"pytest","status":"failed","duration_ms":5,"tests":2,"note":"",'
        '"reason":"","failure":{"message":"m","stack":"s","output":"o"}}],"more_failures":0,"errors":[{"runner":"r",'
        '"reason":"no","fix":"x","targets":["b"],"target_count":1}],"not_found":[],"notes":["n"],"began_at":"2026",'
        '"state":"s","sandboxed":true,"baseline_of":"","reused_from":[]}'
    )
    result = RunResult(
        run_id="run_1",
        status="completed",
        progress=RunProgress(total=1, completed=1, passed=0, failed=1, skipped=0),
        summary=RunSummary(total_duration_ms=5, tests=2, tests_passed=1, tests_failed=1, new_failures=("t",)),
        failures=(
            FailedTest(
                test="t", target_id="a", status="failed", kind="k", message="m", stack="s", line=3, fingerprint="f"
            ),
        ),
        results=(
            TargetResult(
                target_id="a",
                runner="pytest",
                status="failed",
                duration_ms=5,
                tests=2,
                failure=TargetFailure(message="m", stack="s", output="o"),
            ),
        ),
        errors=(RunnerError(runner="r", reason="no", fix="x", targets=("b",), target_count=1),),
        notes=("n",),
        began_at="2026",
        state="s",
    )
    runs = RunStore(tmp_path, most=5)
    folder = runs.create("run_1")
    runs.save(result, {"a": ("0.txt", 1)})
    assert (folder / "result.json").read_text() == text
    assert (folder / "outputs.json").read_text() == '{"a":["0.txt",1]}'
    assert runs.load("run_1") == result


def test_keys_of_tokens(tmp_path: Path) -> None:
    file = tmp_path / "agent_keys.json"
    file.write_text(
        f'{{"active":{{"key_id":"key_2","private":"{"11" * 32}"}},"retired":[{{"key_id":"key_1","public":"{"22" * 32}",'
        '"until_ns":9000000000000000000}]}\n'
    )
    keys = SigningKeys(file, clock=SystemClock())
    assert keys.active == "key_2" and keys.knows("key_1")
    made = keys.rotate(until_ns=9_000_000_000_000_000_000)
    written = json.loads(file.read_text())
    public = written["retired"][1]["public"]
    private = written["active"]["private"]
    assert file.read_text() == (
        f'{{"active":{{"key_id":"{made}","private":"{private}"}},"retired":[{{"key_id":"key_1","public":"{"22" * 32}",'
        f'"until_ns":9000000000000000000}},{{"key_id":"key_2","public":"{public}","until_ns":9000000000000000000}}]}}\n'
    )


def test_claims_of_tokens(tmp_path: Path) -> None:
    keys = SigningKeys(tmp_path / "agent_keys.json", clock=SystemClock())
    context = TokenContext(approval_mode="always", allowed_paths=("src",), allowed_tools=("search",), max_agents=2)
    claims = Claims(
        sub="a", exp=2_000_000_000, iat=1, nbf=1, jti="tok_00001", capabilities=("read_files",), context=context
    )
    token, key_id = sign_token(claims, keys)
    bounds: JsonObject = {
        "approval_mode": "always",
        "allowed_paths": ["src"],
        "allowed_tools": ["search"],
        "max_agents": 2,
    }
    printed: JsonObject = {
        "iss": "codeplane",
        "sub": "a",
        "aud": ["codeplane"],
        "exp": 2_000_000_000,
        "iat": 1,
        "nbf": 1,
        "jti": "tok_00001",
        "capabilities": ["read_files"],
        "context": bounds,
    }
    assert jwt.decode(token, options={"verify_signature": False}) == printed
    assert Claims.model_validate(printed) == claims
    issued = IssuedToken(
        token_id="tok_00001",
        agent_id="a",
        key_id=key_id,
        issued_ns=1,
        expires_ns=2,
        capabilities=("read_files",),
        context=context,
    )
    assert issued.to_json() == {
        "token_id": "tok_00001",
        "agent_id": "a",
        "key_id": key_id,
        "at_ns": 1,
        "expires_ns": 2,
        "capabilities": ["read_files"],
        "context": bounds,
        "session_of": None,
    }


def test_sign_ins_of_the_dashboard(tmp_path: Path) -> None:
    file = tmp_path / "dashboard.json"
    sign_ins = SignIns(clock=SystemClock(), owner_token="t", file=file)
    secret, _ = sign_ins.link(token="t", who="owner")
    assert sign_ins.redeem(secret) is not None
    (one,) = sign_ins.all()
    assert json.loads(file.read_text())["sessions"] == [
        {"seal": one.seal, "who": "owner", "opened_ns": one.opened_ns, "expires_ns": one.expires_ns}
    ]
    assert SignIns(clock=SystemClock(), owner_token="t", file=file).all() == (one,)


def test_links_in_gits_folder(tmp_path: Path) -> None:
    shared, record = tmp_path / "git", tmp_path / "git-links.json"
    (shared / "logs").mkdir(parents=True)
    (shared / "logs" / "HEAD").symlink_to("/elsewhere")
    KnownLinks(record).refuse_new(shared)
    assert record.read_text() == '{"links": {"logs/HEAD": "/elsewhere"}}'
    KnownLinks(record).refuse_new(shared)
    record.write_text('{"links": {}}')
    with pytest.raises(GitRefused, match="logs/HEAD"):
        KnownLinks(record).refuse_new(shared)
    record.unlink()
    (tmp_path / ".git").symlink_to("git")
    KnownLinks(record).refuse_new(shared, root=tmp_path)
    assert record.read_text() == '{"links": {"logs/HEAD": "/elsewhere"}, "folder": "git"}'
    KnownLinks(record).refuse_new(shared, root=tmp_path)
    with pytest.raises(GitRefused, match=r"\.git leads to"):
        KnownLinks(record).refuse_new(tmp_path / "other", root=tmp_path)


def test_other_paths_of_secrets_files(tmp_path: Path) -> None:
    root, record = make_repo(tmp_path.resolve() / "repo"), tmp_path / "secret-aliases.json"
    (root / "prod.txt").write_text("x\n")
    (root / ".env").symlink_to("prod.txt")
    assert SecretAliases(record).find_hidden(root, [root / ".env"]) == [root / "prod.txt"]
    assert record.read_text() == json.dumps({str(root): ["prod.txt"]})
    assert SecretAliases(record).find_hidden(root, []) == [root / "prod.txt"]


def test_events_in_traces_and_limits_in_the_log() -> None:
    ids = Correlation(session_id="s", call_id="c", task_id="t", thread_id="h", turn_id="u", job_id="j")
    event = Event(
        event_id="e",
        stream="task/t",
        sequence=1,
        position=2,
        type="call.started",
        schema=1,
        at_ns=0,
        actor="owner",
        source=Source.SYSTEM,
        content_trust=ContentTrust.TRUSTED_SYSTEM,
        correlation=ids,
        payload={"operation": "search"},
    )
    assert json.dumps(event.to_wire()) == (
        '{"event_id": "e", "stream": "task/t", "sequence": 1, "position": 2, "type": "call.started", "schema": 1, '
        '"occurred_at": "1970-01-01T00:00:00.000000000Z", "actor": "owner", "source": "SYSTEM", '
        '"content_trust": "TRUSTED_SYSTEM", "session_id": "s", "call_id": "c", "task_id": "t", "thread_id": "h", '
        '"turn_id": "u", "job_id": "j", "payload": {"operation": "search"}}'
    )
    assert "job_id" not in msgspec.structs.replace(event, correlation=Correlation(call_id="c")).to_wire()
    limits = TaskLimits(max_mutations=1, max_test_runs=2, max_duration_sec=3)
    assert limits_to_json(limits) == {"max_mutations": 1, "max_test_runs": 2, "max_duration_sec": 3}


def test_a_batch_of_the_shared_log() -> None:
    message = SharedMessage(
        batch_id="b1",
        node="node_1",
        entries=[
            Append(
                drafts=[
                    Draft(
                        stream="task/1",
                        type="call.started",
                        payload={"n": 1},
                        actor="agent:x",
                        source=Source.TOOL_EXECUTOR,
                        content_trust=ContentTrust.TRUSTED_SYSTEM,
                        correlation=Correlation(call_id="c1", work_id="w1"),
                        schema=2,
                        event_id="e1",
                        at_ns=5,
                    )
                ],
                payloads=['{"n":1}'],
                expect={"task/1": 0},
            ),
            StoredBlob(key="k", at_ns=6, data=b"\x00\xff", limit=100),
        ],
    )
    text = (
        f'{{"schema":{SCHEMA_VERSION},"batch":"b1",'
        '"node":"node_1","entries":[{"events":[{"id":"e1","stream":"task/1",'
        '"type":"call.started","schema":2,"at_ns":5,"actor":"agent:x","source":"TOOL_EXECUTOR",'
        '"content_trust":"TRUSTED_SYSTEM","call_id":"c1","work_id":"w1","payload":"{\\"n\\":1}"}],'
        '"expect":{"task/1":0}},{"blob":"k","at_ns":6,"data":"AP8="}]}'
    )
    assert encode(message) == text.encode()
    assert decode(text.encode(), blob_bytes=100) == message


def test_a_provider_that_a_command_added(tmp_path: Path) -> None:
    provider: JsonObject = {"name": "mine", "kind": "openai", "models": ["small"], "base_url": "http://127.0.0.1:1/v1"}
    ModelSettings(tmp_path).add(provider, is_default=True, is_external=False)
    lines = (tmp_path / "models.yaml").read_text().splitlines()
    assert lines[1:] == [
        "models:",
        "  providers:",
        "  - name: mine",
        "    kind: openai",
        "    models:",
        "    - small",
        "    base_url: http://127.0.0.1:1/v1",
        "  default: mine/small",
    ]
    workspace = Workspace(root=tmp_path / "repo")
    loaded = load_config(workspace=workspace, user_config=tmp_path / "config.yaml", environ={}, overrides=())
    assert (loaded.config.models.default, loaded.config.models.providers[0].models) == ("mine/small", ("small",))


def test_keys_of_model_providers(tmp_path: Path) -> None:
    seal = bytes(range(32))
    (tmp_path / "model-keys.key").write_text(seal.hex())
    sealed = SealedBytes(seal).seal(b'{"mine": "the key"}', "keys of model providers")
    (tmp_path / "model-keys.sealed").write_bytes(sealed)
    assert ProviderKeys(tmp_path).read() == {"mine": "the key"}
    ProviderKeys(tmp_path).store("other", "another")
    written = (tmp_path / "model-keys.sealed").read_bytes()
    opened = SealedBytes(seal).open(written, "keys of model providers")
    assert json.loads(opened) == {"mine": "the key", "other": "another"}


def test_servers_of_outside_tools(tmp_path: Path) -> None:
    ToolSettings(tmp_path).add({"notes": {"command": "notes", "args": ["--fast"]}})
    assert (tmp_path / "tools.yaml").read_text().splitlines()[1:] == [
        "mcp:",
        "  servers:",
        "    notes:",
        "      command: notes",
        "      args:",
        "      - --fast",
    ]
    workspace = Workspace(root=tmp_path / "repo")
    loaded = load_config(workspace=workspace, user_config=tmp_path / "config.yaml", environ={}, overrides=())
    assert loaded.config.mcp.servers["notes"].args == ("--fast",)


def test_outside_agents(tmp_path: Path) -> None:
    AgentSettings(tmp_path).add({"mine": {"command": "mine", "network": True}})
    assert (tmp_path / "agents.yaml").read_text().splitlines()[1:] == [
        "agents:",
        "  acp:",
        "    mine:",
        "      command: mine",
        "      network: true",
    ]
    workspace = Workspace(root=tmp_path / "repo")
    loaded = load_config(workspace=workspace, user_config=tmp_path / "config.yaml", environ={}, overrides=())
    assert loaded.config.agents.acp["mine"].network is True


@pytest.mark.parametrize(
    ("kind", "name", "label"),
    [
        (ToolSecrets, "tool-secrets", "secrets of outside tools"),
        (ToolTokens, "oauth-tokens", "oauth tokens of outside tools"),
    ],
)
def test_secrets_of_outside_tools(
    tmp_path: Path, kind: type[ToolSecrets] | type[ToolTokens], name: str, label: str
) -> None:
    seal = bytes(range(32))
    (tmp_path / f"{name}.key").write_text(seal.hex())
    (tmp_path / f"{name}.sealed").write_bytes(SealedBytes(seal).seal(b'{"notes": "kept"}', label))
    assert kind(tmp_path).read() == {"notes": "kept"}
    kind(tmp_path).store("other", "another")
    opened = SealedBytes(seal).open((tmp_path / f"{name}.sealed").read_bytes(), label)
    assert json.loads(opened) == {"notes": "kept", "other": "another"}
