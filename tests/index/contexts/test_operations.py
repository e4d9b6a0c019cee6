"""Contexts through the door: discovered for real, kept in step with what people write."""

from pathlib import Path

from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.surfaces.http.wire import get_field

FILES = {
    "pyproject.toml": "[project]\nname = 'whole'\n",
    "app/main.py": "def main():\n    pass\n",
    "libs/one/setup.py": "from setuptools import setup\nsetup()\n",
    "libs/one/one.py": "ONE = 1\n",
    "broken/go.mod": "module example\n",
    "broken/main.go": ")))(((\n",
    "README.md": "# Whole\n",
}


@requirement("CTX-09")
async def test_projects_are_found_probed_and_shown(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    async with asking(root) as ask:
        envelope = await ask("context.list", all=True)
        listed = result(envelope)["contexts"]
        assert isinstance(listed, list)
        found = {str(get_field(one, "id")): one for one in listed}
        assert get_field(found, "python:.", "status") == get_field(found, "python:libs/one", "status") == "valid"
        assert get_field(found, "python:libs/one", "files") == 2
        assert get_field(found, "go:broken", "status") == "failed"
        shown = result(await ask("context.list", family="python"))
        assert shown["total"] == 2
        of = result(await ask("context.of", path="libs/one/one.py"))
        assert of["home"] == "python:libs/one" and of["owners"] == {"python": "python:libs/one"}
        missing = await ask("context.of", path="nowhere.py")
        assert get_field(missing, "error", "error") == "NOT_FOUND"
        assert "python:libs/one" in (root / ".codeplane" / "contexts.yaml").read_text()


@requirement("CTX-09")
async def test_what_is_written_and_what_changes_is_heeded(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    async with asking(root) as ask:
        await ask("context.list")
        (root / "libs/two").mkdir()
        (root / "libs/two/setup.py").write_text("x = 1\n")
        await ask("search", query="x", fresh="strict")
        assert result(await ask("context.of", path="libs/two/setup.py"))["home"] == "python:libs/two"
        file = root / ".codeplane" / "contexts.yaml"
        file.write_text("contexts: [\n")
        listed = await ask("context.list")
        assert "contexts.yaml was not heeded" in str(listed["text"])
        assert file.read_text() == "contexts: [\n"
