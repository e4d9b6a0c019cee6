"""A call that names another workspace gets that workspace's handler and judgement, through the same door."""

from pathlib import Path

import pytest

from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.errors import ApprovalPending, NotFound
from codeplane.kernel.operation import Assessment, Budget, Result, Risk, assesses, operation
from codeplane.kernel.schema import input_schema
from codeplane.kernel.stages.ports import no_workspace
from codeplane.kernel.workspace_request import WorkspaceRequest
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, events, of_call, plane
from tests.kernel.ports import exchange


class Asked(WorkspaceRequest):
    """What is asked."""

    text: str = ""


class Where(Result):
    """Who answers."""

    place: str


class Places:
    """The operations of one place."""

    def __init__(self, place: str, risk: Risk = Risk.WRITE) -> None:
        self._place = place
        self._risk = risk

    @operation("place.read", risk=Risk.READ)
    async def read(self, call: Call, request: Asked) -> Where:
        """Say where this is."""
        return Where(place=self._place)

    @operation("place.write", risk=Risk.WRITE, budget=Budget.MUTATION)
    async def write(self, call: Call, request: Asked) -> Where:
        """Change something here."""
        return Where(place=self._place)

    @assesses("place.write")
    def assess(self, request: Asked) -> Assessment:
        """As grave as the place is."""
        return Assessment(risk=self._risk)


@requirement("WSP-06")
async def test_handler_and_judgement_are_those_of_the_workspace_named(tmp_path: Path) -> None:
    places = {
        "there": Catalogue([Places("there")]),
        "guarded": Catalogue([Places("guarded", Risk.DESTRUCTIVE)]),
    }

    def elsewhere(name: str) -> Catalogue:
        if name not in places:
            raise NotFound(f"there is no workspace {name!r}", hint=f"there are {', '.join(places)}")
        return places[name]

    async with plane(tmp_path / "repo", operations=[Places("here")]) as opened:
        call = exchange(opened, elsewhere=elsewhere).call
        for arguments, place in (({}, "here"), ({"workspace": ""}, "here"), ({"workspace": "there"}, "there")):
            for name in ("place.read", "place_write"):
                outcome = await call(name, arguments, AGENT)
                assert outcome.result == Where(place=place)
        answer = await of_call(opened, outcome)
        assert [one.payload["workspace"] for one in answer] == ["there", "there"]
        here = await of_call(opened, await call("place.write", {}, AGENT))
        assert all("workspace" not in one.payload for one in here)
        denied = await call("place.write", {"workspace": "guarded"}, AGENT)
        assert isinstance(denied.error, ApprovalPending)
        unknown = await call("place.write", {"workspace": "nowhere"}, AGENT)
        assert isinstance(unknown.error, NotFound)
        assert unknown.error.hint == "there are there, guarded"
        assert [one.payload["status"] for one in await events(opened, "call.refused")] == ["NOT_FOUND"]


@requirement("WSP-06")
async def test_a_key_used_here_is_another_call_there(tmp_path: Path) -> None:
    async with plane(tmp_path / "repo", operations=[Places("here")]) as opened:
        conveyor = exchange(opened, elsewhere=lambda name: Catalogue([Places(name)]))
        await conveyor.call("place.write", {"idempotency_key": "k"}, AGENT)
        again = await conveyor.call("place.write", {"idempotency_key": "k", "workspace": "there"}, AGENT)
        assert again.error is not None
        assert again.error.name == "IDEMPOTENCY_CONFLICT"
        replayed = await conveyor.call("place.write", {"idempotency_key": "k"}, AGENT)
        assert replayed.meta.replayed


@requirement("WSP-06")
def test_without_other_workspaces_every_name_is_unknown() -> None:
    catalogue = Catalogue([Places("here")])
    with pytest.raises(NotFound) as refused:
        no_workspace("x" * 1000)
    assert len(refused.value.message) < 200
    assert input_schema(catalogue.get("place.read"))["properties"] == {
        "workspace": {"description": "an attached workspace", "type": "string"},
        "text": {"type": "string"},
    }
