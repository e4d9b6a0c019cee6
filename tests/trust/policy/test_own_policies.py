"""The owner's own rules on top of the shipped ones: how they are weighed, and the guide's examples as written there."""

import json
import re
import shutil
from itertools import product
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import Verdict
from codeplane.trust.policy.judgement import MalformedAnswer, judge
from codeplane.trust.policy.models import PolicyExplained
from codeplane.trust.policy.rego_source import InputUse
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, plane
from tests.trust.policy.calls import HEAD, of_call, own, policy, write

pytestmark = requirement("TRUST-14")

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "policy.md"
EXAMPLES = re.findall(r"```rego\n(.*?)```\s+```text\n(.*?)```", GUIDE.read_text(), re.DOTALL)
SHOWN = re.findall(r"```json\n(.*?)```", GUIDE.read_text(), re.DOTALL)[0]
EVERYTHING = InputUse(parts=None)


def _document(line: str) -> JsonObject:
    kind, name, risk, *parts = line.split()
    document = of_call(risk, kind, name)
    for part in parts:
        field, _, value = part.partition("=")
        field, _, inner = field.partition(".")
        document[field] = {inner: value} if inner else value.split(",")
    return document


@pytest.mark.parametrize(("text", "calls"), EXAMPLES, ids=["first", "second"])
def test_the_guides_examples_decide_as_it_says(tmp_path: Path, text: str, calls: str) -> None:
    with policy(tmp_path, mine=text) as opened:
        assert opened.problems() == []
        for line in calls.strip().splitlines():
            asked, _, output = line.partition(" -> ")
            decision = opened.decide(_document(asked))
            assert f"{decision.verdict}: {'; '.join(decision.reasons)}" == output, line


def test_the_guide_has_examples() -> None:
    assert len(EXAMPLES) == 2


def _pushed_and_amended(folder: Path) -> Path:
    """A repository whose last commit, once pushed to origin, is another one now."""
    remote = folder / "remote.git"
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(remote))
    repo = make_repo(folder / "repo")
    git(repo, "remote", "add", "origin", str(remote))
    git(repo, "push", "--quiet", "--set-upstream", "origin", "main")
    git(repo, "commit", "--quiet", "--amend", "--message", "second")
    return repo


async def test_the_guides_first_example_refuses_a_real_forced_push_and_shows_its_input(tmp_path: Path) -> None:
    repo = _pushed_and_amended(tmp_path)
    write(own(repo), mine=EXAMPLES[0][0])
    forced: JsonObject = {"remote": "origin", "force": True}
    async with plane(repo) as opened:
        for caller in (AGENT, OWNER):
            refused = (await opened.conveyor.call("git.push", forced, caller)).error
            assert refused is not None and refused.name == "POLICY_DENIED"
            assert refused.details["reasons"] == ["what origin has is not replaced"]
        asked = (await opened.conveyor.call("git.push", {"remote": "origin"}, AGENT)).error
        assert asked is not None and asked.name == "APPROVAL_PENDING"
        thought: JsonObject = {"operation": "git.push", "arguments": forced}
        explained = (await opened.conveyor.call("policy.explain", thought, OWNER)).result
    assert isinstance(explained, PolicyExplained) and explained.verdict == "deny"
    shown = json.loads(SHOWN)
    real = json.loads(json.dumps(explained.input).replace(str(tmp_path / "remote.git"), "https://example.org/app.git"))
    # Sentences are not promised, and who asks is another one here.
    assert len(real.pop("effects")) == len(shown.pop("effects"))
    assert real.pop("context").keys() == shown.pop("context").keys()
    assert real == shown


KINDS: list[tuple[str, JsonObject, list[str]]] = [
    ("git.push", {"force": True}, ["force", "history"]),
    ("git.push", {"remote": "origin"}, []),
    ("git.push", {"ref": "main", "delete": True}, ["delete"]),
    ("git.delete_tag", {"name": "old"}, ["delete"]),
    ("git.delete_branch", {"name": "aside", "force": True}, ["delete", "history"]),
    ("git.amend", {"message": "again"}, ["history"]),
    ("git.reset", {"ref": "HEAD~1", "mode": "hard"}, ["history", "work"]),
    ("git.discard", {"paths": ["README.md"]}, ["work"]),
    ("git.stash_push", {"message": "aside"}, []),
    ("write_files", {"edits": [{"path": "a.txt", "content": "a"}]}, []),
]


async def test_rules_know_what_is_done_by_words_that_stay(tmp_path: Path) -> None:
    repo = _pushed_and_amended(tmp_path)
    git(repo, "tag", "old")
    git(repo, "switch", "--quiet", "--create", "aside")
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "third")
    git(repo, "switch", "--quiet", "main")
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "fourth")
    (repo / "README.md").write_text("changed")
    async with plane(repo) as opened:
        for name, arguments, kinds in KINDS:
            given: JsonObject = {"operation": name, "arguments": arguments}
            outcome = await opened.conveyor.call("policy.explain", given, OWNER)
            assert isinstance(outcome.result, PolicyExplained), (name, outcome.error)
            assert outcome.result.input["kinds"] == kinds, name
            names = ["origin"] if name == "git.push" else []
            assert outcome.result.input["remote_names"] == names, name


def _weigh(risk: str, shipped: JsonObject, yours: JsonObject, cut: tuple[str, ...] = ()) -> Verdict:
    document = of_call(risk, cut=list(cut))
    return judge({"shipped": shipped, "yours": yours}, document, EVERYTHING).decision.verdict


@pytest.mark.parametrize("risk", ["READ", "WRITE", "EXFILTRATION", "DESTRUCTIVE", "HIGH"])
def test_how_everything_is_weighed(risk: str) -> None:
    choices = [*product(([], ["x"]), repeat=6)]
    assert len(choices) == 64
    for sd, sk, sa, yd, yk, ya in choices:
        verdict = _weigh(risk, {"deny": sd, "ask": sk, "allow": sa}, {"deny": yd, "ask": yk, "allow": ya})
        lifted = ya and risk != "HIGH"
        if sd or yd:
            assert verdict is Verdict.DENY
        elif yk or (sk and not lifted):
            assert verdict is Verdict.ASK
        elif sa or (sk and lifted):
            assert verdict is Verdict.ALLOW
        else:
            assert verdict is Verdict.DENY


def test_what_was_cut_is_not_approved_unseen() -> None:
    runs: JsonObject = {"deny": [], "ask": [], "allow": ["x"]}
    assert _weigh("WRITE", runs, {}) is Verdict.ALLOW
    assert _weigh("WRITE", runs, {}, ("paths",)) is Verdict.ASK
    assert _weigh("WRITE", runs, {"allow": ["y"]}, ("paths",)) is Verdict.ASK
    document = of_call("WRITE", cut=["paths"])
    nobody_looks = judge({"shipped": runs, "yours": {}}, document, InputUse(parts={"risk": None}))
    assert nobody_looks.decision.verdict is Verdict.ALLOW
    a_person = judge({"shipped": runs, "yours": {}}, of_call("WRITE", "owner", cut=["paths"]), EVERYTHING)
    assert a_person.decision.verdict is Verdict.ALLOW


_SILENT: JsonObject = {"deny": [], "ask": [], "allow": []}
NONSENSE: list[JsonValue] = [
    None, True, "allow", [], {}, {"shipped": _SILENT}, {"yours": {}}, {"shipped": _SILENT, "yours": {}, "more": 1},
    {"shipped": {}, "yours": {}}, {"shipped": {"deny": [], "ask": []}, "yours": {}},
    {"shipped": _SILENT | {"deny": True}, "yours": {}}, {"shipped": _SILENT, "yours": None},
    {"shipped": _SILENT, "yours": {"deny": True}}, {"shipped": _SILENT, "yours": {"allow": "x"}},
    {"shipped": _SILENT, "yours": {"allow": [1]}}, {"shipped": _SILENT, "yours": {"allow": [""]}},
    {"shipped": _SILENT, "yours": {"allow": {"x": "y"}}}, {"shipped": _SILENT, "yours": {"permit": ["x"]}},
]  # fmt: skip


@pytest.mark.parametrize("answer", NONSENSE, ids=repr)
def test_nonsense_is_not_an_answer(answer: JsonValue) -> None:
    with pytest.raises(MalformedAnswer):
        judge(answer, of_call(), EVERYTHING)


FAILING = {
    "an error": 'deny contains "x" if to_number(input.risk) == 1',
    "a number for a reason": "allow contains 1 if true",
    "an empty reason": 'allow contains "" if true',
    "an object for reasons": 'allow contains {"x": 1} if true',
    "a rule with two values": 'a := input.risk\na := "x"\nallow contains a if true',
}


@pytest.mark.parametrize("text", FAILING.values(), ids=FAILING.keys())
def test_a_policy_that_fails_denies_everyone_everything(tmp_path: Path, text: str) -> None:
    with policy(tmp_path, mine=HEAD + text) as opened:
        assert opened.problems() == []
        for document in (of_call(), of_call("READ"), of_call("WRITE", "owner")):
            decision = opened.decide(document)
            assert decision.verdict is Verdict.DENY
            assert decision.reasons[0].startswith("the policy failed: ")


def test_a_policy_that_takes_too_long_denies_and_is_not_tried_again_at_once(tmp_path: Path) -> None:
    slow = HEAD + 'deny contains "x" if { input.risk == "WRITE"; regex.match("(a+)+$", input.actor.id) }\n'
    with policy(tmp_path, timeout_ms=400.0, mine=slow) as opened:
        document = of_call("WRITE") | {"actor": {"kind": "agent", "id": "a" * 60 + "b", "owner": "owner"}}
        decision = opened.decide(document)
        assert decision.verdict is Verdict.DENY
        assert decision.reasons == ("the policy failed: it took longer than 400 ms",)
        assert opened.decide(document) is decision
        opened.wait_until_compiled(30.0)
        assert opened.decide(of_call("READ")).verdict is Verdict.ALLOW


_FROZEN = HEAD + (
    'deny contains "docs" if "docs" in input.arguments.paths\n'
    'deny contains "deletes" if { some one in input.arguments.edits; one.action == "delete" }\n'
)
_EDIT: JsonObject = {"path": "a.txt", "action": "delete"}


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("fixture.write", {"paths": ["docs"]}),
        ("fixture.write", {"paths": "docs"}),
        ("fixture.write", {"path": "docs"}),
        ("fixture.write", {"Paths": ["docs"]}),
        ("fixture.write", {"file": "docs"}),
        ("fixture.write", {"paths": '["docs"]'}),
        ("write_files", {"edits": [_EDIT]}),
        ("write_files", {"edits": json.dumps([_EDIT])}),
        ("write_files", {"edits": _EDIT}),
        ("write_files", _EDIT),
    ],
    ids=str,
)
async def test_a_rule_about_arguments_holds_however_they_are_spelt(
    tmp_path: Path, operation: str, arguments: JsonObject
) -> None:
    repo = make_repo(tmp_path / "repo")
    (repo / "a.txt").write_text("here\n")
    write(own(repo), mine=_FROZEN)
    async with plane(repo, operations=[FixtureOps()]) as opened:
        error = (await opened.conveyor.call(operation, arguments, AGENT)).error
        assert error is not None and error.name == "POLICY_DENIED"
        assert (repo / "a.txt").read_text() == "here\n"
        reported = await opened.conveyor.call("policy.explain", {"operation": operation, "arguments": arguments}, OWNER)
        assert isinstance(reported.result, PolicyExplained) and reported.result.verdict == "deny"
        assert (await opened.conveyor.call("fixture.write", {"paths": "src"}, AGENT)).error is None


_NO_DOCS = HEAD + 'deny contains "docs are frozen" if { some one in input.paths; startswith(one, "docs/") }\n'


@pytest.mark.parametrize("below", ["docs", ".", "docs/deep", "gone"])
async def test_a_rule_about_files_holds_where_git_is_given_their_folder(tmp_path: Path, below: str) -> None:
    repo = make_repo(tmp_path / "repo")
    for name in ("docs/deep/a.md", "docs/gone/b.md", "src/c.py"):
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text("first\n")
    git(repo, "add", "-A")
    git(repo, "commit", "--quiet", "--message", "second")
    (repo / "docs/deep/a.md").write_text("edited\n")
    (repo / "docs/deep/new.md").write_text("new\n")
    shutil.rmtree(repo / "docs/gone")
    (repo / "src/c.py").write_text("edited\n")
    write(own(repo), mine=_NO_DOCS)
    given: JsonObject = {"paths": ["docs/gone" if below == "gone" else below]}
    async with plane(repo) as opened:
        before = git(repo, "status", "--porcelain")
        for name, more in (("git.stage", {}), ("git.commit", {"message": "x"}), ("git.amend", {"message": "x"})):
            error = (await opened.conveyor.call(name, given | more, OWNER)).error
            assert error is not None and error.name == "POLICY_DENIED", name
            assert git(repo, "status", "--porcelain") == before
        git(repo, "add", "docs")
        error = (await opened.conveyor.call("git.unstage", given, OWNER)).error
        assert error is not None and error.name == "POLICY_DENIED"
        git(repo, "reset", "--quiet")
        for name, more in (("git.stage", {}), ("git.commit", {"message": "x"})):
            assert (await opened.conveyor.call(name, given | more | {"paths": ["src"]}, OWNER)).error is None
        assert git(repo, "show", "--name-only", "--format=") == "src/c.py\n"
