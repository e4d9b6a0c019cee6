"""Language clients that are not ours: Neovim, Microsoft's own protocol package, and the extension of VS Code."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import CPL, Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.lsp.npm_clients import PATIENCE_SEC, run_client

pytestmark = requirement("LSP-09")

HERE = Path(__file__).resolve().parent
EXTENSION = HERE.parents[2] / "editors" / "vscode"
FILES = {
    "shop.py": "class Cart:\n    pass\n",
    "main.py": "from shop import Cart\n\ncart = Cart()\n",
    "unused.py": "def alone():\n    pass\n",
    "test_shop.py": "import shop\n\n\ndef test_cart():\n    assert shop.Cart()\n",
}
USES = [("main.py", 0, 17), ("main.py", 2, 7), ("shop.py", 0, 6), ("test_shop.py", 4, 16)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("outside") / "repo", FILES).resolve())
    yield running
    running.stop()


def starts(locations: object) -> list[tuple[str, int, int]]:
    found = []
    for location in cast(list[JsonObject], locations):
        start_ = cast(dict[str, dict[str, int]], location["range"])["start"]
        found.append((str(location["uri"]).rpartition("/")[2], start_["line"], start_["character"]))
    return sorted(found)


def test_neovim(server: Server, tmp_path: Path) -> None:
    nvim = shutil.which("nvim")
    if nvim is None:
        pytest.skip("NOT TESTED: neovim is not installed")
    out = tmp_path / "found.json"
    env = {**os.environ, "ROOT": str(server.repo), "CPL": CPL, "OUT": str(out), "HOME": str(tmp_path)}
    subprocess.run(
        [nvim, "--headless", "--clean", "-n", "-S", str(HERE / "neovim.lua")],
        env=env,
        check=True,
        capture_output=True,
        timeout=PATIENCE_SEC,
    )
    found = cast(JsonObject, json.loads(out.read_text()))
    assert starts(found["definition"]) == starts(found["moved"]) == [("shop.py", 0, 6)]
    assert starts(found["references"]) == USES
    assert "class Cart" in json.dumps(found["hover"])


def test_the_implementation_of_the_protocol_itself(server: Server, tmp_path: Path) -> None:
    found = run_client(tmp_path, "protocol_client.mjs", CPL, str(server.repo))
    assert found["encoding"] == "utf-16" and found["exit"] == 0
    assert starts(found["definition"]) == [("shop.py", 0, 6)]
    assert starts(found["partial"]) == USES
    assert found["last"] == [] and found["cancelled"] in (-32800, "answered")
    assert [symbol["name"] for symbol in cast(list[JsonObject], found["symbols"])] == ["cart"]
    changed = ["applied", "undone"]
    assert found["actions"] == [*changed, *changed, *changed, "completed", "completed"]
    assert "def alone" in str(found["moved"]) and not (server.repo / "helpers.py").exists()
    assert (server.repo / "unused.py").read_text() == FILES["unused.py"]
    assert found["lenses"] == ["3 references", "1 test target reaches it"]


def test_the_extension_of_vs_code_with_a_mock_of_its_api(server: Server, tmp_path: Path) -> None:
    found = run_client(tmp_path, "extension_client.mjs", CPL, str(server.repo), str(EXTENSION / "codeplane.js"))
    assert "shop.py" in str(found["answer"]) and found["shown"] == 1
    assert (found["renamed"], found["undone"]) == ("applied", "undone") and found["changes"]
    assert found["approved"] == {"approved": True} and found["approvals"] == []
    assert "completed" in json.dumps(found["tasks"]) and found["threads"]
    assert (server.repo / "unused.py").read_text() == FILES["unused.py"]


def test_the_extension_names_what_it_has() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text())
    script = (EXTENSION / "codeplane.js").read_text()
    for command in manifest["contributes"]["commands"]:
        assert f'"{command["command"]}"' in script, command
    assert (EXTENSION / manifest["main"]).exists() and (EXTENSION / "icon.svg").exists()
    pinned = json.loads((HERE / "npm" / "package.json").read_text())["dependencies"]
    assert manifest["dependencies"]["vscode-languageclient"] == pinned["vscode-languageclient"]
