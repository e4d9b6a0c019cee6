"""What the owner's rules say of resources holds for every list of work: threads, jobs, artifacts and schedules."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane
from tests.trust.approvals.agent_calls import refused, result
from tests.work.items.test_readable import GRANT, write_rule

pytestmark = requirement("TRUST-49")


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A kind of resource: how one is made, listed and looked at, and what rules call it."""

    make: str
    arguments: JsonObject = field(default_factory=dict)
    listing: str
    look: str
    key: str
    stream: str
    error: str


KINDS = {
    "threads": Listed(
        make="thread.create",
        listing="thread.list",
        look="thread.messages",
        key="thread_id",
        stream="thread",
        error="THREAD_NOT_FOUND",
    ),
    "jobs": Listed(
        make="job.create",
        arguments={"goal": "look around"},
        listing="job.list",
        look="job.show",
        key="job_id",
        stream="work",
        error="JOB_NOT_FOUND",
    ),
    "artifacts": Listed(
        make="artifact.put",
        arguments={"name": "notes.md", "text": "# Notes"},
        listing="artifact.list",
        look="artifact.get",
        key="artifact_id",
        stream="artifact",
        error="ARTIFACT_NOT_FOUND",
    ),
    "schedules": Listed(
        make="schedule.create",
        arguments={
            "name": "morning",
            "goal": "Say what changed",
            "trigger_kind": "SCHEDULE_TRIGGER_CRON",
            "trigger_spec": "30 9 * * 1-5",
            "timezone": "Europe/Berlin",
        },
        listing="schedule.list",
        look="schedule.show",
        key="schedule_id",
        stream="schedule",
        error="SCHEDULE_NOT_FOUND",
    ),
}


def hiding(word: str, resource: str) -> str:
    """A rule that keeps one resource from agents."""
    return (
        f'{word} contains "not for agents" if {{\n\tinput.actor.kind == "agent"\n'
        f'\tsome id in input.resources\n\tid == "{resource}"\n}}\n'
    )


async def listed(opened: Plane, kind: Listed) -> tuple[set[str], JsonObject]:
    page = result(await opened.conveyor.call(kind.listing, {}, AGENT))
    items = page["results"]
    assert isinstance(items, list)
    return {str(item[kind.key]) for item in items if isinstance(item, dict)}, page


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("word", ["deny", "ask"])
async def test_a_rule_hides_one_of_a_list_and_what_is_asked_about_it(tmp_path: Path, name: str, word: str) -> None:
    kind = KINDS[name]
    async with plane(tmp_path, GRANT) as opened:
        first, second = [
            str(result(await opened.conveyor.call(kind.make, kind.arguments, AGENT))[kind.key]) for _ in range(2)
        ]
        shown, page = await listed(opened, kind)
        assert shown == {first, second} and page["hidden"] == 0
    write_rule(tmp_path, hiding(word, f"{kind.stream}/{second}"))
    async with plane(tmp_path, GRANT) as opened:
        shown, page = await listed(opened, kind)
        assert shown == {first} and page["hidden"] == 1
        outcome = await opened.conveyor.call(kind.listing, {}, AGENT)
        assert outcome.result is not None and "1 item hidden by the owner's rules" in outcome.result.text()
        for named in (second, second[-12:]):
            assert refused(await opened.conveyor.call(kind.look, {kind.key: named}, AGENT)) == kind.error
        assert result(await opened.conveyor.call(kind.look, {kind.key: first[-12:]}, AGENT))
        everything = result(await opened.conveyor.call(kind.listing, {}, OWNER))
        assert (len(everything["results"]), everything["hidden"]) == (2, 0)  # type: ignore[arg-type]  # it is a list
        assert result(await opened.conveyor.call(kind.look, {kind.key: second}, OWNER))
