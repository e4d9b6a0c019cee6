"""What a person is shown before the repository's code is run, and before it is committed."""

import os
from pathlib import Path

from codeplane.kernel.operation import Preview
from codeplane.wiring.app import Plane
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import NO_CALL, plane

pytestmark = requirement("TRUST-40")

QUIET = ("embeddings.model=none", "index.watch=false", "tests.sandbox=off", "tests.runners={python: unittest}")
FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": "def price(net):\n    return net * 2\n",
    "tests/__init__.py": "",
    "tests/test_prices.py": "import unittest\nfrom shop.prices import price\n\n\nclass Prices(unittest.TestCase):\n"
    "    def test_price(self):\n        self.assertEqual(price(2), 4)\n",
}


async def shows(opened: Plane, operation: str, **arguments: object) -> Preview:
    """A preview, which is the same when it is asked for again."""
    found = opened.conveyor.catalogue.get(operation)
    assert found.preview is not None
    request = found.request.model_validate(arguments)
    first = await found.preview(NO_CALL, request)
    assert await found.preview(NO_CALL, request) == first
    return first


async def test_a_run_names_its_commands_and_folder_and_is_of_the_code_as_it_is(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    async with plane(root, *QUIET) as opened:
        seen = await shows(opened, "test.run")
        assert seen.summary == "run 1 test target WITHOUT a sandbox"
        assert f"in {root.resolve()}" in seen.body and "test_prices" in seen.body and "python" in seen.body
        # Not the test itself: any code that it reaches is run.
        (root / "shop/prices.py").write_text("import os\n")
        os.utime(root / "shop/prices.py", (1, 1))
        changed = await shows(opened, "test.run")
        assert changed != seen
        (root / "tests/test_more.py").write_text(FILES["tests/test_prices.py"])
        more = await shows(opened, "test.run")
        assert "2 test targets" in more.summary
        assert "1 test target " in (await shows(opened, "test.run", targets=["tests/test_more.py"])).summary


async def test_a_checkpoint_names_message_files_and_commands(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    async with plane(root, *QUIET, 'tests.lint=[["true", "--strict", "{paths}"]]') as opened:
        (root / "shop/prices.py").write_text("def price(net):\n    return 2 * net\n")
        (root / "shop/new.py").write_text("x = 1\n")
        seen = await shows(opened, "checkpoint", message="Prices\n\nare doubled")
        assert seen.summary == "commit 2 files: Prices"
        head = git(root, "rev-parse", "HEAD").strip()
        for output in ("are doubled", "shop/new.py (new)", f"on main at {head}", "true --strict shop/new.py"):
            assert output in seen.body
        assert "WITHOUT a sandbox" in seen.body and "test_prices" in seen.body
        bare = await shows(opened, "checkpoint", message="x", tests="none", lint=False, paths=["shop/new.py"])
        assert "shop/prices.py" not in bare.body and "sandbox" not in bare.body
        (root / "shop/new.py").write_text("x = 2\n")
        assert await shows(opened, "checkpoint", message="Prices\n\nare doubled") != seen
        late = await shows(opened, "checkpoint", message="x", tests="none", lint=False, paths=["shop/new.py"])
        assert late != bare
        assert git(root, "rev-parse", "HEAD").strip() == head
