"""Clients that others wrote: `buf curl`, and Connect for Node in all its forms."""

import json
from base64 import b64decode
from pathlib import Path

import pytest

from codeplane._gen.error_pb2 import Error
from codeplane.kernel.json import JsonObject
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.connect.buf_curl import FORMS, BufCurl
from tests.surfaces.connect.npm_clients import buf, node, require_npm_clients

pytestmark = requirement("RPC-01")

SCENARIO = Path(__file__).resolve().parent / "scenario.mjs"


@pytest.fixture(autouse=True)
def _installed() -> None:
    require_npm_clients()


@pytest.mark.parametrize("form", FORMS)
class TestBufCurl:
    def test_a_call_and_its_refusal(self, connect_server: Server, form: str) -> None:
        curl = BufCurl(server=connect_server, form=form)
        found = curl.call("OperationService/Call", {"operation": "session.info"}, connect_server.token)
        assert isinstance(result := found["result"], dict) and result["action"] == "status"
        refused = curl.call("OperationService/Call", {"operation": "session.info"}, None)
        assert (refused["code"], _ours(refused)) == ("unauthenticated", "UNAUTHORIZED")

    def test_pair_list_watch_approve_and_be_revoked_in_the_middle(self, connect_server: Server, form: str) -> None:
        curl, owner = BufCurl(server=connect_server, form=form), connect_server.token
        agent = _agent(connect_server, f"curl-{form}")
        assert curl.call("DevicesService/ListDevices", {}, None)["code"] == "unauthenticated"
        code = curl.call("AuthService/CreatePairingCode", {}, owner)["code"]
        wrong = curl.call("AuthService/BindPairingCode", {"code": "ZZZZ-ZZZZ", "deviceName": "x"}, None)
        assert _ours(wrong) == "PAIRING_REFUSED"
        name = f"a phone of {form}"
        bound = curl.call("AuthService/BindPairingCode", {"code": code, "deviceName": name}, None)
        device = str(bound["token"])
        again = curl.call("AuthService/BindPairingCode", {"code": code, "deviceName": "another"}, None)
        assert _ours(again) == "PAIRING_REFUSED"
        devices = _items(curl.call("DevicesService/ListDevices", {}, device))
        assert [one["name"] for one in devices if one.get("isCurrent")] == [name]

        wanted: JsonObject = {"stream": "action/*", "fromNow": True, "heartbeatMs": 200}
        with curl.stream("EventsService/Watch", wanted, device) as watched:
            next(one for one in watched.messages if "heartbeat" in one)
            retain: JsonObject = {"operation": "ledger.retain", "idempotencyKey": f"curl-{form}"}
            asked = curl.call("OperationService/Call", retain, agent)
            assert (asked["code"], _ours(asked)) == ("failed_precondition", "APPROVAL_PENDING")
            created = next(one["proposedActionCreated"] for one in watched.messages if "proposedActionCreated" in one)
            assert isinstance(created, dict)
            assert (created["tool"], created["riskClass"]) == ("ledger.retain", "DESTRUCTIVE")
            action: JsonObject = {"actionId": created["actionId"]}
            pending: JsonObject = {"status": "PENDING", "pageSize": 5}
            listed = _items(curl.call("ApprovalsService/ListApprovals", pending, device))
            assert action["actionId"] in [one["actionId"] for one in listed]
            item = curl.call("ApprovalsService/GetApproval", action, device)["item"]
            assert isinstance(item, dict)
            assert curl.call("ApprovalsService/ApproveAction", action, agent)["code"] == "permission_denied"
            shown: JsonObject = {**action, "previewHash": item["previewHash"]}
            assert curl.call("ApprovalsService/ApproveAction", shown, device)["status"] == "APPROVED"
            late = curl.call("ApprovalsService/RejectAction", {**action, "reason": "too late"}, device)
            assert _ours(late) == "APPROVAL_SETTLED"
            name = "proposedActionStatusChanged"
            changed = next(found for one in watched.messages if isinstance(found := one.get(name), dict))
            assert (changed["actionId"], changed["status"]) == (action["actionId"], "APPROVED")
            curl.call("DevicesService/RevokeDevice", {"deviceId": bound["deviceId"]}, owner)
            for _ in watched.messages:
                pass
            assert watched.error()["code"] == "unauthenticated"
        assert curl.call("DevicesService/ListDevices", {}, device)["code"] == "unauthenticated"


def _ours(error: JsonObject) -> object:
    """The name that our own error has among the details."""
    details = error["details"]
    assert isinstance(details, list)
    (detail,) = [one for one in details if isinstance(one, dict) and one["type"] == "codeplane.v1.Error"]
    return Error.FromString(b64decode(f"{detail['value']}==")).error


def _items(answer: JsonObject) -> list[JsonObject]:
    items = answer["items"]
    assert isinstance(items, list)
    return items


def _agent(server: Server, name: str) -> str:
    issued = server.call("agent.token", agent=name, capabilities=["read_files", "write_files"])
    assert "result" in issued, issued
    result = issued["result"]
    assert isinstance(result, dict)
    return str(result["token"])


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript that buf makes of the protos."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "package.json").write_text('{"type": "module"}')
    require_npm_clients()
    done = buf("generate", "--template", "buf.gen.yaml", "--output", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("form", ["json", "binary", "grpcweb"])
def test_pair_list_watch_approve_and_be_revoked_in_the_middle(
    connect_server: Server, generated: Path, form: str
) -> None:
    agent = _agent(connect_server, f"agent-{form}")
    done = node(SCENARIO, connect_server.url, connect_server.token, agent, form, cwd=generated)
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
