"""What the rules are told of a call, and that they are told when it is not everything."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Assessment, Risk
from codeplane.trust.policy.input_document import CallContext, build_input
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps

pytestmark = requirement("TRUST-13")

OPERATION = Catalogue([FixtureOps()]).get("fixture.push")
AGENT = Actor(kind=ActorKind.AGENT, actor_id="mcp:editor")


def input_document(assessment: Assessment, arguments: JsonObject | None = None) -> JsonObject:
    return build_input(
        actor=AGENT,
        operation=OPERATION,
        assessment=assessment,
        context=CallContext(mode="trust", allow=("git.reset",)),
        arguments=arguments or {},
    )


def test_everything_is_there() -> None:
    found = input_document(
        Assessment(
            risk=Risk.EXFILTRATION,
            effects=("it pushes",),
            paths=("a.py",),
            remotes=("https://example.org/a.git",),
            remote_names=("origin",),
            kinds=("force",),
        ),
        {"n": 1},
    )
    assert found == {
        "actor": {"kind": "agent", "id": "mcp:editor", "owner": "owner"},
        "operation": {
            "name": "fixture.push",
            "family": "fixture",
            "capability": OPERATION.mark.capability,
            "mutates": True,
        },
        "risk": "EXFILTRATION",
        "identity": "IDENTITY_BOT",
        "effects": ["it pushes"],
        "paths": ["a.py"],
        "remotes": ["https://example.org/a.git"],
        "remote_names": ["origin"],
        "kinds": ["force"],
        "resources": [],
        "arguments": {"n": 1},
        "context": {
            "mode": "trust",
            "allow": ["git.reset"],
            "surface": "",
            "client": "",
            "session_id": "",
            "task_id": "",
            "workspace": "",
            "untrusted": False,
            "grant": None,
            "origin": None,
        },
        "cut": [],
    }


def test_a_calls_context() -> None:
    call = Call(
        call_id="call",
        request_id="req",
        operation=OPERATION,
        caller=Caller(surface="mcp", client="editor"),
        actor=AGENT,
        task=None,
        idempotency_key=None,
        log=None,  # type: ignore[arg-type]  # nothing is written here
        check_path=lambda actor, path: None,
        find_scope=lambda call: None,
    )
    found = CallContext.of(call, mode="always", allow=(), untrusted=True, grant={"approval_mode": "trust"})
    assert (found.surface, found.client, found.task_id, found.session_id) == ("mcp", "editor", "", "")
    assert found.untrusted and found.mode == "always"


def test_what_is_too_much_is_cut_and_said() -> None:
    many = input_document(Assessment(risk=Risk.WRITE, paths=tuple(f"f{number}" for number in range(1001))))
    assert many["cut"] == ["paths"]
    assert isinstance(many["paths"], list) and len(many["paths"]) == 1000
    assert input_document(Assessment(risk=Risk.WRITE, paths=tuple(f"f{number}" for number in range(1000))))["cut"] == []
    too_much: list[JsonObject] = [
        {"text": "x" * 4097},
        {f"k{number}": "x" * 4000 for number in range(20)},
        {"a": _deep(9)},
    ]
    for arguments in too_much:
        assert input_document(Assessment(risk=Risk.WRITE), arguments)["cut"] == ["arguments"]
    assert input_document(Assessment(risk=Risk.WRITE), {"a": _deep(5), "text": "x" * 4096})["cut"] == []


def test_arguments_that_were_not_gathered_are_not_taken_for_empty() -> None:
    found = build_input(
        actor=AGENT,
        operation=OPERATION,
        assessment=Assessment(risk=Risk.WRITE),
        context=CallContext(mode="trust"),
    )
    assert found["arguments"] == {} and found["cut"] == ["arguments"]


def test_a_number_that_rego_would_take_for_another_is_a_text() -> None:
    assert input_document(Assessment(risk=Risk.WRITE), {"n": 2**63, "m": -5})["arguments"] == {"n": str(2**63), "m": -5}


def _deep(levels: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(levels):
        value = [value]
    return value


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(0, 6000).map(lambda size: "é" * size),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=30,
)


@settings(max_examples=50, deadline=None)
@given(arguments=st.dictionaries(st.text(max_size=5), _VALUES, max_size=4))
def test_it_is_bounded_and_whole_or_said_not_to_be(arguments: JsonObject) -> None:
    found = input_document(Assessment(risk=Risk.WRITE), arguments)
    assert len(json.dumps(found["arguments"], ensure_ascii=False)) < 500_000
    as_texts = json.loads(
        json.dumps(arguments), parse_int=lambda text: int(text) if -(2**63) <= int(text) < 2**63 else text
    )
    if found["cut"] == []:
        assert found["arguments"] == as_texts
