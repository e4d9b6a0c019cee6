"""Imported indexes that speak of files as they were."""

from codeplane.kernel.workspace import Workspace
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.refactor.scip.index_writer import Doc, index_bytes
from tests.surfaces.cli.diagnosis.doctor_run import run_check

pytestmark = requirement("CLI-20")


def test_an_index_that_is_outdated(server: Server) -> None:
    root = server.workspace.root
    assert run_check(server.workspace, "scip").found == "no index was imported"
    (root / "shop.py").write_text("class Cart: pass\n")
    place = (0, 6, 4, "scip-python python shop 1.0 shop/Cart#", 1)
    (root / "index.scip").write_bytes(index_bytes([Doc(path="shop.py", places=(place,))], root=f"file://{root}"))
    assert "error" not in server.call("scip.import")
    assert (run_check(server.workspace, "scip").verdict, run_check(server.workspace, "scip").found) == (
        "ok",
        "index.scip by scip-test 1.0",
    )
    (root / "shop.py").write_text("class Basket: pass\n")
    found = run_check(server.workspace, "scip")
    assert found.verdict == "warn" and "holds for 0 of 1 file" in found.found
    assert "cpl call scip.import path=index.scip" in found.fix
    server.stop()
    assert run_check(server.workspace, "scip").found == "not known without a server"


def test_none(workspace: Workspace) -> None:
    assert run_check(workspace, "scip").verdict == "ok"
