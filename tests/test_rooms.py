"""The rooms of the house: every package stands in the one order of knowledge, and nothing is excepted from it."""

import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tests.interaction.requirements import requirement

pytestmark = requirement("HSE-01")

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "codeplane"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
# Rooms whose parts stand at different heights, so that the parts are named.
PARTED = ("code", "git", "surfaces")


def layers() -> list[str]:
    (contract,) = [one for one in CONTRACTS if one["type"] == "layers"]
    return [room.strip() for line in contract["layers"] for room in line.split("|")]


def rooms(source: Path) -> set[str]:
    """Every module or package that has to stand somewhere."""
    found = set()
    for entry in source.iterdir():
        if entry.name in PARTED:
            found |= {f"{entry.name}.{part}" for part in rooms(entry)}
        elif (entry / "__init__.py").exists() or (entry.suffix == ".py" and entry.stem != "__init__"):
            found.add(entry.stem)
    return found


def unlisted(source: Path) -> set[str]:
    return rooms(source) - set(layers())


def test_every_room_stands_in_the_order() -> None:
    assert rooms(SOURCE) == set(layers())


@pytest.mark.parametrize("name", ["attic", "git/cellar", "surfaces/porch"])
def test_a_room_that_is_nowhere_is_noticed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True)
    (tmp_path / name / "__init__.py").touch()
    assert unlisted(tmp_path) == {name.replace("/", ".")}


def test_nothing_is_excepted() -> None:
    assert not [one["name"] for one in CONTRACTS if one.get("ignore_imports")]


def cycle(graph: grimp.ImportGraph) -> list[str]:
    """Modules that import each other in a circle, also where only types are imported; none when there is no circle."""
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_through_others() -> None:
    assert cycle(grimp.build_graph("codeplane", cache_dir=None)) == []


@pytest.fixture
def looped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of two modules that know each other, of which one imports nothing but types."""
    package = tmp_path / "looped_rooms"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "left.py").write_text("import looped_rooms.right\n")
    (package / "right.py").write_text(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import looped_rooms.left\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield package.name


def test_a_circle_of_modules_is_noticed(looped: str) -> None:
    assert set(cycle(grimp.build_graph(looped, cache_dir=None))) == {"looped_rooms.left", "looped_rooms.right"}
