"""Clients that others wrote: `buf curl`, and Connect for Node in all its forms."""

import json
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server
from tests.surfaces.connect.outside import ROOT, buf, needed, node

SCENARIO = Path(__file__).resolve().parent / "scenario.mjs"
SERVICE = "codeplane.v1.OperationService/Call"


@pytest.fixture(autouse=True)
def _installed() -> None:
    needed()


def curl(server: Server, method: str, data: object, *options: str, token: bool = True, grpc: bool = False) -> object:
    """What `buf curl` prints, or the error it prints."""
    url = f"http://127.0.0.1:{server.facts['grpc_port']}" if grpc else server.url
    header = ["--header", f"authorization: Bearer {server.token}"] if token else []
    done = buf("curl", *options, *header, "--data", json.dumps(data), f"{url}/{method}")
    assert (done.returncode == 0) == bool(done.stdout.strip()), done
    return json.loads(done.stdout or done.stderr)


class TestBufCurl:
    @pytest.mark.parametrize("protocol", ["connect", "grpcweb"])
    def test_over_http(self, connect_server: Server, protocol: str) -> None:
        options = ("--schema", str(ROOT / "proto"), "--protocol", protocol)
        found = curl(connect_server, SERVICE, {"operation": "session.info"}, *options)
        assert isinstance(found, dict) and found["result"]["action"] == "status"
        refused = curl(connect_server, SERVICE, {"operation": "session.info"}, *options, token=False)
        assert isinstance(refused, dict) and refused["code"] == "unauthenticated"

    def test_over_grpc_by_reflection(self, connect_server: Server) -> None:
        options = ("--protocol", "grpc", "--http2-prior-knowledge")
        found = curl(connect_server, SERVICE, {"operation": "session.info"}, *options, grpc=True)
        assert isinstance(found, dict) and found["result"]["action"] == "status"
        refused = curl(connect_server, SERVICE, {"operation": "session.info"}, *options, token=False, grpc=True)
        assert isinstance(refused, dict) and refused["code"] == "unauthenticated"
        assert refused["details"][0]["type"] == "codeplane.v1.Error"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript that buf makes of the protos."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "package.json").write_text('{"type": "module"}')
    needed()
    done = buf("generate", "--template", "buf.gen.yaml", "--output", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("form", ["json", "binary", "grpcweb"])
def test_pair_list_watch_approve_and_be_revoked_in_the_middle(
    connect_server: Server, generated: Path, form: str
) -> None:
    issued = connect_server.call("agent.token", agent=f"agent-{form}", capabilities=["read_files", "write_files"])
    assert "result" in issued, issued
    result = issued["result"]
    assert isinstance(result, dict)
    done = node(SCENARIO, connect_server.url, connect_server.token, str(result["token"]), form, cwd=generated)
    steps: dict[str, JsonObject] = {}
    for line in done.stdout.splitlines():
        step: JsonObject = json.loads(line)
        steps[str(step.pop("step"))] = step
    assert list(steps) == [
        "nobody", "wrong code", "bound", "code again", "devices", "asked", "created", "listed", "agent itself",
        "approved", "twice", "changed", "revoked", "ended", "afterwards",
    ], done.stdout + done.stderr  # fmt: skip
    assert steps["nobody"] == {"code": "Unauthenticated", "error": "UNAUTHORIZED"}
    assert steps["wrong code"]["error"] == steps["code again"]["error"] == "PAIRING_REFUSED"
    assert steps["devices"] == {"current": ["a phone"]}
    assert steps["asked"] == {"code": "FailedPrecondition", "error": "APPROVAL_PENDING"}
    assert steps["created"] == {"tool": "ledger.retain", "risk": 4, "text": "string"}
    assert steps["listed"] == {"same": True}
    assert steps["agent itself"]["code"] == "PermissionDenied"
    assert steps["approved"] == steps["changed"] == {"status": "APPROVED"}
    assert steps["twice"]["error"] == "APPROVAL_SETTLED"
    assert steps["ended"]["code"] == steps["afterwards"]["code"] == "Unauthenticated"
