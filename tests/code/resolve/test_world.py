"""Modules are found out once for the same paths, and again where a file may rename them."""

from pathlib import Path

from codeplane.code.resolve.world import SharedModules
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-41")


def test_modules_hold_until_a_path_or_a_renaming_file_is_another(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one", "b.ts": "two", "tsconfig.json": "{}"})
    indexer, shared = RecordingIndexer(root, tmp_path / "home"), SharedModules()
    snapshot = indexer.start()
    python, javascript = shared.python(snapshot), shared.javascript(snapshot)
    (root / "a.py").write_text("three")
    snapshot = indexer.reconcile()
    assert shared.python(snapshot) is python and shared.javascript(snapshot) is javascript
    (root / "tsconfig.json").write_text('{"compilerOptions": {"baseUrl": "src"}}')
    snapshot = indexer.reconcile()
    assert shared.python(snapshot) is python
    assert shared.javascript(snapshot) is not javascript
    (root / "c.py").write_text("four")
    (snapshot, javascript) = (indexer.reconcile(), shared.javascript(snapshot))
    assert shared.python(snapshot) is not python and shared.javascript(snapshot) is not javascript
    assert shared.python(snapshot).find("c", "a.py") == ("c.py",)
    indexer.close()
