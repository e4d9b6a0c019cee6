"""What others give may be ours all the same: such uses are told as uncertain, and never left out."""

from pathlib import Path

import pytest

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

PLUGIN = (
    "from typing import Any, cast\nimport copy\nimport typing\nimport ext\nimport logging\n"
    "from ext import View, made\nfrom other import Thing\n"
    "class Plugin(View):\n"
    "    def fire(self): ...\n"
)
USES = [
    ("def f(x: Any):\n    x.fire()\n", "ANCHORED"),
    ("def f(x: 'typing.Any'):\n    x.fire()\n", "ANCHORED"),
    ("def f(x: Any = None):\n    x.fire()\n", "ANCHORED"),
    ("class Has:\n    x: Any\n    def f(self):\n        self.x.fire()\n", "ANCHORED"),
    ("def g() -> Any: ...\ng().fire()\n", "ANCHORED"),
    ("x = cast(Plugin, 3)\nx.fire()\n", "ANCHORED"),
    ("x: type[Plugin] = cast('type[Plugin]', 3)\nx.fire()\n", "ANCHORED"),
    ("x = copy.copy(Plugin())\nx.fire()\n", "ANCHORED"),
    ("x = made(Plugin)\nx.fire()\n", "ANCHORED"),
    ("ext.made(Plugin).fire()\n", "ANCHORED"),
    ("def f(x: View):\n    x.fire()\n", "ANCHORED"),
    ("def f(x: ext.deep.View | None):\n    x.fire()\n", "ANCHORED"),
    ("def f(x: Plugin):\n    x.fire()\n", "STRONG"),
    ("x = Thing()\nx.fire()\n", None),
    ("def f(x: Thing):\n    x.fire()\n", None),
    ("x = logging.getLogger()\nx.fire()\n", None),
    ("logging.fire()\n", None),
]


@requirement("RES-01")
@pytest.mark.parametrize(("text", "tier"), USES)
def test_a_receiver_from_elsewhere_is_told_unless_it_is_certainly_theirs(
    tmp_path: Path, text: str, tier: str | None
) -> None:
    with written(tmp_path / "repo", {"plugin.py": PLUGIN + text}) as repo:
        found = repo.uses("Plugin.fire")
        assert found.pop("plugin.py:9:9") == "PROVEN"
        assert list(found.values()) == ([tier] if tier else [])


SCRIPT = (
    "import { clone, Other, Shape } from 'ext';\nimport { Far } from 'far';\n"
    "export class Box implements Shape {\n  fire() {}\n}\n"
)


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("const x = clone(new Box());\nx.fire();\n", "ANCHORED"),
        ("clone(new Box()).fire();\n", "ANCHORED"),
        ("function f(x: Shape) { x.fire(); }\n", "ANCHORED"),
        ("const x = new Box();\nx.fire();\n", "STRONG"),
        ("const x = new Far();\nx.fire();\n", None),
        ("function f(x: Far) { x.fire(); }\n", None),
    ],
)
def test_the_same_in_typescript(tmp_path: Path, text: str, tier: str | None) -> None:
    package = '{"dependencies": {"ext": "1", "far": "1"}}'
    with written(tmp_path / "repo", {"package.json": package, "box.ts": SCRIPT + text}) as repo:
        found = repo.uses("Box.fire")
        assert found.pop("box.ts:4:3") == "PROVEN"
        assert list(found.values()) == ([tier] if tier else [])
