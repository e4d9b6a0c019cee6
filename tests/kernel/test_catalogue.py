"""What is accepted as an operation, and how it is found."""

from collections.abc import AsyncIterator

import pytest

from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue, Disabled
from codeplane.kernel.errors import OperationDisabled, UnknownOperation
from codeplane.kernel.operation import Assessment, Request, Result, Risk, assesses, operation, previews
from tests.interaction.requirements import requirement
from tests.kernel.plane import Answered, FixtureOps, Said


class Nothing(Request):
    """No arguments."""


class One:
    @operation("one.do_it", risk=Risk.READ, toolset="core")
    async def do(self, call: Call, request: Nothing) -> Answered:
        """Do it.

        And more about it.
        """
        return Answered(answer="")


class Same:
    @operation("one.do_it", risk=Risk.READ)
    async def do(self, call: Call, request: Nothing) -> Answered:
        """Do it too."""
        return Answered(answer="")


class SameTool:
    @operation("one_do.it", risk=Risk.READ)
    async def do(self, call: Call, request: Nothing) -> Answered:
        """Be the same tool under another name."""
        return Answered(answer="")


class Silent:
    @operation("silent", risk=Risk.READ)
    async def do(self, call: Call, request: Nothing) -> Answered:
        return Answered(answer="")


class NoRequest:
    @operation("wrong", risk=Risk.READ)
    async def do(self, call: Call) -> Answered:
        """Take nothing."""
        return Answered(answer="")


class NoResult:
    @operation("wrong", risk=Risk.READ)
    async def do(self, call: Call, request: Nothing) -> str:
        """Give text."""
        return ""


class Untyped:
    @operation("wrong", risk=Risk.READ)
    async def do(self, call, request):  # type: ignore[no-untyped-def]  # that it is refused is the point
        """Say nothing of types."""


class Blocking:
    @operation("wrong", risk=Risk.READ)
    def do(self, call: Call, request: Nothing) -> Answered:
        """Hold up everyone else."""
        return Answered(answer="")


class NotAStream:
    @operation("wrong", risk=Risk.READ)
    async def do(self, call: Call, request: Nothing) -> AsyncIterator[Answered]:  # type: ignore[empty-body]  # as above
        """Promise a stream."""


class StrayGate:
    @operation("git.push", risk=Risk.WRITE)
    async def push(self, call: Call, request: Nothing) -> Answered:
        """Push."""
        return Answered(answer="")

    @assesses("git.psuh")
    def assess(self, request: Nothing) -> Assessment:
        """Judge something else."""
        return Assessment(risk=Risk.DESTRUCTIVE)


class StrayPreview:
    @previews("git.push")
    async def preview(self, request: Nothing) -> Result:
        """Show what is not there."""
        return Result()


@requirement("DOOR-04")
def test_an_operation_is_found_by_its_name_and_as_a_tool() -> None:
    catalogue = Catalogue([One()])
    found = catalogue.get("one.do_it")
    assert catalogue.get("one_do_it") is found
    assert (found.name, found.tool, found.summary) == ("one.do_it", "one_do_it", "Do it.")
    assert found.description == "Do it.\n\nAnd more about it."
    assert (found.request, found.result, found.streaming, found.mutates) == (Nothing, Answered, False, False)


def test_streams_gates_and_previews_are_found() -> None:
    catalogue = Catalogue([FixtureOps()])
    assert catalogue.get("fixture.stream").streaming
    assert catalogue.get("fixture.write").mutates
    push = catalogue.get("fixture.push")
    assert push.assessment(Said(text="force")).risk is Risk.DESTRUCTIVE
    assert push.preview is not None
    assert catalogue.get("fixture.read").assessment(Said()) == Assessment(risk=Risk.READ)


@pytest.mark.parametrize("owners", [(One(), Same()), (One(), One()), (One(), SameTool())])
def test_two_of_one_name_are_refused(owners: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match=r"two operations|same tool"):
        Catalogue(owners)


@pytest.mark.parametrize("owner", [Silent(), NoRequest(), NoResult(), Untyped(), Blocking(), NotAStream()])
def test_what_is_not_described_or_typed_is_refused(owner: object) -> None:
    with pytest.raises(TypeError, match=r"silent|wrong"):
        Catalogue([owner])


@pytest.mark.parametrize("owner", [StrayGate(), StrayPreview()])
def test_a_gate_that_nothing_passes_is_refused(owner: object) -> None:
    with pytest.raises(ValueError, match="not one of its operations"):
        Catalogue([owner])


@pytest.mark.parametrize("name", ["fixture.raed", "fixture_raed", "fixture.reads"])
def test_an_unknown_name_is_answered_with_the_nearest(name: str) -> None:
    with pytest.raises(UnknownOperation) as caught:
        Catalogue([FixtureOps()]).get(name)
    assert "fixture.read" in caught.value.hint
    nearest = caught.value.details["nearest"]
    assert isinstance(nearest, list)
    assert nearest[0] == "fixture.read"


@pytest.mark.parametrize("name", ["", "zzz", "\ud800", "x" * 5_000_000])
def test_a_name_like_no_other_gets_the_list(name: str) -> None:
    with pytest.raises(UnknownOperation) as caught:
        Catalogue([FixtureOps()]).get(name)
    assert caught.value.hint == UnknownOperation.default_hint
    assert len(caught.value.message) < 200


@requirement("MCP-12")
@pytest.mark.parametrize("name", ["one.do_it", "one_do_it"])
def test_a_disabled_operation_is_answered_with_its_setting(name: str) -> None:
    catalogue = Catalogue([FixtureOps(), Disabled(owner=One, setting="one.enabled")])
    with pytest.raises(OperationDisabled, match=r"one\.do_it is switched off by one\.enabled: false") as caught:
        catalogue.get(name)
    assert "set one.enabled: true" in caught.value.hint
    assert caught.value.details == {"setting": "one.enabled"}
    assert "one.do_it" not in [found.name for found in catalogue.toolset(["all", "one"])]
    # Settings and policies may go on naming it.
    assert "one" in catalogue.families()
    # The passing twin.
    assert Catalogue([FixtureOps(), One()]).get(name).name == "one.do_it"


def test_toolsets_and_families() -> None:
    catalogue = Catalogue([FixtureOps(), One()])
    assert catalogue.families() == ("fixture", "one")
    assert [found.name for found in catalogue.toolset(["core"])] == ["one.do_it"]
    assert [found.name for found in catalogue.toolset(["one", "core"])] == ["one.do_it"]
    assert len(catalogue.toolset(["all"])) == len(list(catalogue))
    assert not catalogue.toolset(["nothing"])
