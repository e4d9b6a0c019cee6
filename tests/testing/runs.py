"""Where the runners are that the tests drive, and small repositories for each."""

import os
import shutil
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.clients.node import NODE
from tests.interpreter import bare_python


def environment(**more: str) -> dict[str, str]:
    """Variables with a Python that has pytest, the pinned Node and cargo on PATH."""
    cargo = shutil.which("cargo")
    folders = [str(bare_python()), str(NODE.parent)]
    folders += [str(Path(cargo).parent)] if cargo else []
    kept = {name: os.environ[name] for name in ("HOME", "RUSTUP_HOME", "CARGO_HOME") if name in os.environ}
    return {**kept, "PATH": os.pathsep.join([*folders, "/usr/local/bin", "/usr/bin", "/bin"]), **more}


def needs(program: str) -> None:
    """Fail, not skip: `tests/setup.sh` brings what is needed."""
    if shutil.which(program) is None:
        pytest.fail(f"{program} is not installed: sh tests/setup.sh")


def statuses(result: JsonObject) -> dict[str, str]:
    """The status of each target."""
    found = result["results"]
    assert isinstance(found, list)
    return {str(one["target_id"]): str(one["status"]) for one in found if isinstance(one, dict)}


def failing(result: JsonObject) -> dict[str, str]:
    """The tests that failed, with what they raised."""
    found = result["failures"]
    assert isinstance(found, list)
    return {str(one["test"]): str(one["kind"]) for one in found if isinstance(one, dict)}


PYTEST = {
    "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['slow']\n",
    "shop/__init__.py": "",
    "shop/cart.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_cart.py": (
        "import pytest\n"
        "from shop.cart import total\n\n\n"
        "class TestTotal:\n"
        "    @pytest.mark.parametrize('last', [3, 4])\n"
        "    def test_sums(self, last):\n"
        "        assert total([1, last]) == 4\n\n\n"
        "@pytest.mark.slow\n"
        "def test_empty():\n"
        "    assert total([]) == 0\n\n\n"
        "@pytest.mark.skip(reason='later')\n"
        "def test_later():\n"
        "    pass\n"
    ),
    "tests/test_other.py": "def test_fine():\n    print('printed by test_fine')\n",
    "tests/test_broken.py": "import nothing_of_that_name\n",
    "tests/test_empty.py": "VALUE = 1\n",
}
