"""The walk through the house: every file that it names is there, and is reached from the one that wires them all."""

import re
from itertools import pairwise
from pathlib import Path

import grimp
import pytest

from tests.interaction.requirements import requirement

pytestmark = requirement("HSE-01")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/concepts/a-call.md").read_text()
STEP = re.compile(r"^\d+\. `([\w/]+\.py)`", re.MULTILINE)
MOST = {"A search": 8, "An edit": 10, "An approval": 10}
WALKS = {name: STEP.findall(text) for name, text in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("codeplane", cache_dir=None)


def module(file: str) -> str:
    return "codeplane." + file.removesuffix(".py").replace("/", ".")


def test_the_walks_are_short() -> None:
    assert {name: len(steps) <= MOST[name] for name, steps in WALKS.items()} == dict.fromkeys(MOST, True)


def test_a_step_is_one_file() -> None:
    steps = re.findall(r"^\d+\. .*(?:\n   .*)*", PAGE, re.MULTILINE)
    assert len(steps) == sum(map(len, WALKS.values()))
    assert [step for step in steps if len(re.findall(r"`[\w/]+\.py`", step)) != 1] == []


@pytest.mark.parametrize("file", sorted(set(re.findall(r"`([\w/]+\.py)`", PAGE))))
def test_every_file_is_there(file: str) -> None:
    assert (ROOT / "src/codeplane" / file).is_file()


@pytest.mark.parametrize("name", sorted(MOST))
def test_each_step_is_called_by_one_before_it_or_wired(graph: grimp.ImportGraph, name: str) -> None:
    parts = graph.find_children("codeplane.wiring")
    wired = {one for part in parts for one in graph.find_modules_directly_imported_by(part)}
    steps = [module(file) for file in WALKS[name]]
    known = {steps[0]}
    for before, step in pairwise(steps):
        known |= graph.find_modules_directly_imported_by(before)
        assert step in known or step in wired, step
