"""The rooms of the house: every package stands in the one order of knowledge, and nothing is excepted from it."""

import tomllib
from pathlib import Path

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
