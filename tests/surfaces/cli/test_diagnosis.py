"""What `cpl doctor` finds in rules, tokens, certificates and ports; each check has one that is sound beside it."""

import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from codeplane.adapters.certificates import tls
from codeplane.adapters.home import prepare
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.config import Config
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis import Check, certificate, index, names, policy, ports, secrets


@pytest.fixture
def workspace(repo: Path) -> Workspace:
    """A repository that was set up, without a server."""
    found = Workspace(root=repo)
    prepare(found)
    return found


def settings(**sections: dict[str, object]) -> Config:
    """Settings with some of them set."""
    return Config.model_validate(sections)


def told(check: Check) -> tuple[str, str]:
    """A verdict, with what it is about and how to mend it."""
    assert check.fix if check.verdict != "ok" else True
    return check.verdict, f"{check.found} {check.fix}"


class TestNames:
    def test_an_operation_that_is_not_there_is_named_with_the_nearest(self, workspace: Workspace) -> None:
        verdict, said = told(names(settings(trust={"allow": ("ledger.retian",)}), workspace, None))
        assert verdict == "fail"
        assert "'ledger.retian'" in said
        assert "ledger.retain" in said

    def test_one_that_is(self, workspace: Workspace) -> None:
        assert told(names(settings(trust={"allow": ("ledger.retain",)}), workspace, None))[0] == "ok"


class TestPolicy:
    def test_rules_that_cannot_be_read_are_named(self, workspace: Workspace) -> None:
        workspace.policy.mkdir()
        (workspace.policy / "mine.rego").write_text("package codeplane.policy\n\ndeny contains {\n")
        verdict, said = told(policy(workspace, settings()))
        assert verdict == "fail"
        assert "mine.rego" in said

    def test_without_any_the_shipped_ones_hold(self, workspace: Workspace) -> None:
        assert policy(workspace, settings()) == Check(name="policy", verdict="ok", found="the shipped rules alone")


class TestSecrets:
    def test_a_token_that_others_may_read(self, workspace: Workspace) -> None:
        workspace.owner_token.write_text("secret")
        workspace.owner_token.chmod(0o644)
        verdict, said = told(secrets(workspace))
        assert verdict == "fail"
        assert "owner.token is 644" in said
        assert f"chmod 600 {workspace.owner_token}" in said
        assert "secret" not in said.replace("others may read", "")
        workspace.owner_token.chmod(0o600)
        assert told(secrets(workspace))[0] == "ok"

    @pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
    def test_one_that_somebody_else_owns(self, workspace: Workspace) -> None:
        workspace.server_key.write_text("x")
        workspace.server_key.chmod(0o600)
        os.chown(workspace.server_key, 12345, -1)
        assert told(secrets(workspace))[0] == "fail"


class TestCertificate:
    @pytest.mark.parametrize(("days", "verdict"), [(0, "ok"), (380, "warn"), (500, "fail")])
    def test_one_that_ends_soon_or_has_ended(self, workspace: Workspace, days: int, verdict: str) -> None:
        made = datetime.now(UTC) - timedelta(days=days)
        own = settings(server={"tls": "self_signed"})
        now_ns = int(made.timestamp()) * SECOND_NS
        assert tls(own.server, folder=workspace.tls, now_ns=now_ns, root=workspace.root) is not None
        files = settings(server={"tls": "files", "tls_certificate": ".codeplane/tls/certificate.pem"})
        assert told(certificate(workspace, files, None))[0] == verdict

    def test_one_that_is_not_there_or_is_none(self, workspace: Workspace) -> None:
        files = settings(server={"tls": "files", "tls_certificate": "cert.pem"})
        assert told(certificate(workspace, files, None))[0] == "fail"
        (workspace.root / "cert.pem").write_text("not a certificate")
        assert told(certificate(workspace, files, None))[0] == "fail"

    def test_without_tls_there_is_none_to_look_at(self, workspace: Workspace) -> None:
        assert told(certificate(workspace, settings(), None))[0] == "ok"


class TestPorts:
    @pytest.mark.parametrize("setting", ["server", "grpc"])
    def test_a_port_that_somebody_has(self, setting: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            verdict, said = told(ports(settings(**{setting: {"port": port}}), None))
        assert verdict == "fail"
        assert f"{setting}.port {port} is taken" in said

    def test_a_port_for_tls_that_somebody_has(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            assert told(ports(settings(server={"tls_port": port}), None))[0] == "ok", "without TLS nobody wants it"
            verdict, said = told(ports(settings(server={"tls_port": port, "tls": "self_signed"}), None))
        assert verdict == "fail" and f"server.tls_port {port} is taken" in said

    def test_any_port_will_do(self) -> None:
        assert told(ports(settings(), None)) == ("ok", "any that is free ")


def test_an_index_is_built_by_the_server(workspace: Workspace) -> None:
    assert index(workspace, None).found == "none yet; cpl up builds it"
