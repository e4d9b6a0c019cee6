"""Refusals of the calls that work makes, each with its twin: the steps are started over every way in."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace

from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, JsonValue
from tests.harness import until
from tests.trust.refusals.callers import ALL, WHO
from tests.trust.refusals.cast import EIGHT
from tests.trust.refusals.places import Place
from tests.trust.refusals.ways import Credential

_ACTIVE = ("QUEUED", "RUNNING")
# In the question about a step of work whose item, or whom it acts for, has read untrusted content.
_UNTRUSTED = "untrusted content was read"


@dataclass(frozen=True, kw_only=True)
class Steps:
    """One step of work, started by somebody; `ends` is how the item ends: an error's name, or None."""

    who: str
    operation: str
    arguments: JsonObject = field(default_factory=dict)
    ends: str | None = None
    world: str = "main"
    # In the reason of the question that it waits for.
    reason: str = ""


def _write(path: str) -> JsonObject:
    return {"edits": [{"path": path, "content": "x\n"}]}


_SEND: JsonObject = {"name": "x"}
PENDING, DENIED = "APPROVAL_PENDING", "CAPABILITY_DENIED"
WORK_ROWS: tuple[tuple[Steps, Steps], ...] = (
    # Whoever starts it, and whatever mode, list and rule say: work only proposes what reaches out.
    *(
        (
            Steps(who=who, operation="witness.send", arguments=_SEND, ends=PENDING, world=world),
            Steps(who=who, operation="witness.write", world=world),
        )
        for who, world in (("owner", "main"), ("device", "main"), ("owner", "untrusted"), ("unread", "untrusted"))
    ),
    (
        Steps(who="owner", operation="witness.shell", ends=PENDING),
        Steps(who="owner", operation="witness.read"),
    ),
    # Work of an agent that has read untrusted content is asked about for that.
    (
        Steps(who="eager", operation="witness.send", ends=PENDING, world="untrusted", reason=_UNTRUSTED),
        Steps(who="eager", operation="witness.write", world="untrusted"),
    ),
    # It may do what both may: those who started it, and agents.
    (
        Steps(who="spawner", operation="witness.write", ends=DENIED),
        Steps(who="whole", operation="witness.write"),
    ),
    (
        Steps(who="owner", operation="witness.mesh", ends=DENIED),
        Steps(who="owner", operation="witness.tools"),
    ),
    (
        Steps(who="pathed", operation="write_files", arguments=_write("docs/work.txt"), ends="PATH_DENIED"),
        Steps(who="pathed", operation="write_files", arguments=_write("src/$unique.txt")),
    ),
    (
        Steps(who="owner", operation="witness.owners", ends="POLICY_DENIED"),
        Steps(who="owner", operation="witness.write"),
    ),
    (
        Steps(who="owner", operation="write_files", arguments=_write(".codeplane/config.yaml"), ends="PATH_DENIED"),
        Steps(who="owner", operation="write_files", arguments=_write("src/$unique.txt")),
    ),
)


def refused_work(place: Place, count: Counter[str]) -> Iterator[str]:
    """What is wrong with the work that is started at a place."""
    for asked in WORK_ROWS:
        for steps in asked:
            if steps.world == place.world:
                for way in sorted(WHO[steps.who].ways & place.ways.keys()):
                    count[way] += 1
                    yield from _differs(place, way, steps)
    if place.world == "main":
        for way in sorted(ALL & place.ways.keys()):
            count[way] += 1
            _check_revocation(place, way)


def _differs(place: Place, way: str, steps: Steps) -> Iterable[str]:
    before = place.owner("witness.count").counts.get(steps.operation, 0)
    item = _started(place, way, place.credential(steps.who), steps)
    found = PENDING if item.waits_for == "approval" else item.error
    if found != steps.ends:
        yield f"{way}: work of {steps}: {found} ({item.message})"
    ran = place.owner("witness.count").counts.get(steps.operation, 0) - before
    if steps.operation.startswith("witness.") and ran != (steps.ends is None):
        yield f"{way}: work of {steps}: ran {ran} times"
    if steps.reason and steps.reason not in str(place.owner("approval.show", action_id=item.action_id).reasons):
        yield f"{way}: work of {steps}: the question does not say {steps.reason!r}"


def _check_revocation(place: Place, way: str) -> None:
    """Check that work ends, and its question with it, when its starter is revoked, and not otherwise."""
    for decides, state, status in (
        ("agent.revoke", "CANCELLED", "REJECTED"),
        ("approval.approve", "COMPLETED", "EXECUTED"),
    ):
        agent = new_id("a").replace("_", "-")
        token = str(place.owner("agent.token", agent=agent, capabilities=list(EIGHT)).token)
        shown = Credential(authorization=(f"Bearer {token}",), client=agent)
        item = _started(place, way, shown, Steps(who="whole", operation="witness.send", arguments=_SEND))
        if decides == "agent.revoke":
            place.owner(decides, agent=agent)
        else:
            place.owner(decides, action_id=item.action_id)
        _until_ended(place, item, state, status)


def _until_ended(place: Place, item: SimpleNamespace, state: str, status: str) -> None:
    until(lambda: _shown(place, item.work_id).state == state)
    until(lambda: place.owner("approval.show", action_id=item.action_id).status == status)


def _started(place: Place, way: str, shown: Credential, steps: Steps) -> SimpleNamespace:
    """The item once it has ended or waits."""
    title = new_id("title")
    step: JsonValue = {"operation": steps.operation, "arguments": place.fill(steps.arguments)}
    answer = place.ways[way].call(shown, "work.start", {"title": title, "steps": [step]})
    assert answer.error is None, (way, steps, answer)
    [work_id] = [item["work_id"] for item in place.owner("work.list").results if item["title"] == title]
    until(lambda: _shown(place, work_id).state not in _ACTIVE)
    return _shown(place, work_id)


def _shown(place: Place, work_id: str) -> SimpleNamespace:
    return place.owner("work.show", work_id=work_id)
