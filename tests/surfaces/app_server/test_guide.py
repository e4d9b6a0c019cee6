"""The Python of the guide, run as it stands there."""

import os
import re
from pathlib import Path

import pytest

from tests.harness import CPL
from tests.interaction.requirements import requirement
from tests.surfaces.app_server.assistant import assistant

pytestmark = requirement("CDX-01")

ROOT = Path(__file__).resolve().parents[3]
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "guides" / "app-server.md").read_text(), re.DOTALL)


def test_the_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with assistant(tmp_path) as served:
        monkeypatch.chdir(served.repo)
        monkeypatch.setenv("PATH", str(Path(CPL).parent), prepend=os.pathsep)
        exec(compile(EXAMPLE, "app-server.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "you said where are colours decided?" in printed and "turn/completed" in printed
