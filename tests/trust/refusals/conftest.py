"""The worlds in which the table is asked, made once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from codeplane.kernel import refusal_count
from tests.trust.refusals.cast import Cast, cast
from tests.trust.refusals.places import Place, embedded, served
from tests.trust.refusals.served import WINDOW_SEC
from tests.trust.refusals.worlds import WORLDS


@pytest.fixture(scope="session")
def everyone(tmp_path_factory: pytest.TempPathFactory) -> Cast:
    """Everyone who calls."""
    return cast(tmp_path_factory.mktemp("cast"))


@pytest.fixture(scope="session")
def places(everyone: Cast, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[Place]]]:
    """Each world, behind a server and in this process."""
    folder = tmp_path_factory.mktemp("worlds")
    with ExitStack() as stack, ThreadPoolExecutor(len(WORLDS)) as starting:
        stack.enter_context(pytest.MonkeyPatch.context()).setattr(refusal_count, "WINDOW_SEC", WINDOW_SEC)
        begun = [starting.submit(_entered, stack, everyone, folder / "served", world) for world in WORLDS]
        inside = {world: stack.enter_context(embedded(everyone, folder / "embedded", world)) for world in WORLDS}
        yield {world: [place.result(), inside[world]] for world, place in zip(WORLDS, begun, strict=True)}


def _entered(stack: ExitStack, everyone: Cast, folder: Path, world: str) -> Place:
    return stack.enter_context(served(everyone, folder, world))


@pytest.fixture(scope="module")
def inside(everyone: Cast, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The main world, in this process alone."""
    with embedded(everyone, tmp_path_factory.mktemp("inside"), "main") as place:
        yield place
