"""The entry for the registry of ACP agents: as its schema wants it, and true of this package."""

import json
import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]  # it has no types

from tests.interaction.requirements import requirement

pytestmark = requirement("ACP-13")

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "editors" / "acp-registry" / "codeplane"
_TEXT = {"type": "string", "minLength": 1}
_PACKAGE = {
    "type": "object",
    "required": ["package"],
    "additionalProperties": False,
    "properties": {"package": _TEXT, "args": {"type": "array", "items": _TEXT}, "env": {"type": "object"}},
}
# What agent.schema.json of the registry asks of an entry that is installed as a package.
SCHEMA = {
    "type": "object",
    "required": ["id", "name", "version", "description", "distribution"],
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"},
        "name": _TEXT,
        "version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+"},
        "description": _TEXT,
        "authors": {"type": "array", "items": _TEXT},
        "license": _TEXT,
        "distribution": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": False,
            "properties": {"npx": _PACKAGE, "uvx": _PACKAGE},
        },
    },
}


def entry() -> dict[str, object]:
    found: dict[str, object] = json.loads((FOLDER / "agent.json").read_text())
    return found


def test_the_entry_is_as_the_schema_wants_it() -> None:
    assert list(Draft7Validator(SCHEMA).iter_errors(entry())) == []
    assert entry()["id"] == FOLDER.name


@pytest.mark.parametrize("wrong", [{"id": "Code Plane"}, {"version": "1"}, {"distribution": {}}])
def test_the_schema_refuses_what_is_wrong(wrong: dict[str, object]) -> None:
    assert list(Draft7Validator(SCHEMA).iter_errors({**entry(), **wrong}))


def test_it_names_this_version_and_a_command_that_the_package_has() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said = entry()
    assert (said["version"], said["license"]) == (project["version"], project["license"])
    uvx = said["distribution"]["uvx"]  # type: ignore[index]  # checked above
    name, _, version = uvx["package"].partition("@")
    assert (name, version) == (project["name"], project["version"])
    # uvx runs the command that is called as the package.
    assert project["scripts"][name] == project["scripts"]["cpl"] and uvx["args"] == ["acp"]


def test_the_icon_is_small_and_takes_its_colour_from_the_editor() -> None:
    icon = ElementTree.parse(FOLDER / "icon.svg").getroot()
    assert (icon.get("width"), icon.get("height"), icon.get("viewBox")) == ("16", "16", "0 0 16 16")
    colours = re.findall(r'(?:fill|stroke)="([^"]+)"', (FOLDER / "icon.svg").read_text())
    assert set(colours) == {"none", "currentColor"}
