"""Deletes of what no reference shows to be in use: strings, protocols, decorators, bases that learn of subclasses."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import StillUsed
from codeplane.refactor.delete.planner import plan_delete
from codeplane.refactor.draft import GRAVE
from tests.interaction.requirements import requirement
from tests.refactor.repository import repository

pytestmark = requirement("REF-41")
TYPES = "from typing import Literal, Union\n\nAlias = Union[str, int]\nMode = Literal['a']\n\n\nclass Box:\n    pass\n"
RUNNER = "from typing import Protocol\n\n\nclass Runner(Protocol):\n    def run(self, far: int) -> int: ...\n"
DOG = "class Dog:\n    def run(self, far):\n        return far\n\n    def rest(self):\n        return 0\n"


@pytest.mark.parametrize(
    ("files", "target"),
    [
        ({"a.py": f"{TYPES}\n\ndef take(box: 'Alias') -> None: ...\n"}, "Alias"),
        ({"a.py": TYPES, "b.py": "from a import Mode\n\n\ndef take() -> 'list[Mode]': ...\n"}, "Mode"),
        ({"a.py": f"from typing import cast\n\n\n{TYPES}\n\nvalue = cast('Box', 1)\n"}, "Box"),
        ({"shop/__init__.py": "", "shop/a.py": TYPES, "settings.py": "PARTS = ['shop.a.Box']\n"}, "Box"),
        ({"a.py": TYPES, "b.py": "import a\n\ngetattr(a, 'Box')\n"}, "Box"),
        ({"a.py": DOG, "b.py": "from operator import methodcaller\n\nstop = methodcaller('rest')\n"}, "Dog.rest"),
        ({"a.py": DOG, "b.py": f"{RUNNER}\n\ndef go(runner: Runner):\n    return runner.run(1)\n"}, "Dog.run"),
        (
            {
                "a.ts": "export interface Box {\n  size: number\n}\n",
                "b.ts": "export type { Box as Crate } from './a'\n",
            },
            "Box",
        ),
    ],
)
def test_a_use_that_is_written_in_another_way_is_a_use(tmp_path: Path, files: dict[str, str], target: str) -> None:
    with repository(tmp_path, files) as repo, pytest.raises(StillUsed):
        repo.plan(plan_delete, repo.target(target), force=False)


@pytest.mark.parametrize(
    ("text", "target", "kind"),
    [
        ("@app.route('/')\ndef index():\n    return ''\n", "index", "registered"),
        ("@register\nclass Box:\n    pass\n", "Box", "registered"),
        (
            "class Base:\n    def __init_subclass__(cls):\n        kinds.append(cls)\n\n\nclass Box(Base):\n    pass\n",
            "Box",
            "registered",
        ),
        ("class Base(metaclass=Kinds):\n    pass\n\n\nclass Box(Base):\n    pass\n", "Box", "registered"),
        (
            "class Own:\n    def do(self, kind):\n        return getattr(self, f'on_{kind}')()\n\n"
            "    def on_start(self):\n        return 1\n",
            "Own.on_start",
            "computed_name",
        ),
        (
            "import threading\n\n\nclass Work(threading.Thread):\n    def run(self):\n        pass\n",
            "Work.run",
            "outside_base",
        ),
    ],
)
def test_what_may_have_been_handed_on_is_asked_about(tmp_path: Path, text: str, target: str, kind: str) -> None:
    with repository(tmp_path, {"a.py": text}) as repo:
        draft = repo.plan(plan_delete, repo.target(target), force=False)
        assert {danger.kind for danger in draft.dangers} & GRAVE == {kind}


@pytest.mark.parametrize(
    ("files", "target"),
    [
        ({"a.py": f"{TYPES}\n\ndef take(box: 'Box') -> None: ...\n"}, "Alias"),
        ({"a.py": TYPES, "b.py": "text = 'Box'\n"}, "Box"),
        ({"a.py": DOG, "b.py": RUNNER}, "Dog.rest"),
        ({"a.py": "import functools\n\n\n@functools.cache\ndef price():\n    return 1\n"}, "price"),
        (
            {
                "a.py": "class Own:\n    def do(self, kind):\n        return getattr(self, f'on_{kind}')()\n\n"
                "    def off_start(self):\n        return 1\n"
            },
            "Own.off_start",
        ),
        ({"a.py": "class Late(Exception):\n    def text(self):\n        return ''\n"}, "Late"),
    ],
)
def test_what_nothing_uses_goes(tmp_path: Path, files: dict[str, str], target: str) -> None:
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_delete, repo.target(target), force=False)
        assert not {danger.kind for danger in draft.dangers} & GRAVE
