"""Tokens that others may read, and certificates that end."""

import os
import stat
from datetime import UTC, datetime, timedelta

import pytest

from codeplane.adapters.certificates import load_tls
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.workspace import Workspace
from codeplane.trust.identity.secret_file import write_secret
from tests.harness import cpl
from tests.interaction.requirements import requirement
from tests.surfaces.cli.diagnosis.doctor_run import run_check, settings

pytestmark = requirement("CLI-20")

_FILES = "server: {tls: files, tls_certificate: .codeplane/tls/certificate.pem, tls_key: .codeplane/tls/key.pem}\n"


class TestSecrets:
    def test_a_token_that_others_may_read(self, workspace: Workspace) -> None:
        workspace.owner_token.write_text("hidden-one-of-forty-letters-and-some-more")
        workspace.owner_token.chmod(0o644)
        found = run_check(workspace, "secrets")
        assert found.verdict == "fail" and "owner.token is 644" in found.found
        assert found.fix == f"chmod 600 {workspace.owner_token}"
        assert "hidden-one" not in found.found
        workspace.owner_token.chmod(0o600)
        assert run_check(workspace, "secrets").verdict == "ok"

    @pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
    def test_one_that_somebody_else_owns(self, workspace: Workspace) -> None:
        workspace.server_key.write_text("x")
        workspace.server_key.chmod(0o600)
        os.chown(workspace.server_key, 12345, -1)
        found = run_check(workspace, "secrets")
        assert found.verdict == "fail" and found.fix == f"chown 0 {workspace.server_key}"

    def test_a_key_that_is_none(self, workspace: Workspace) -> None:
        for path, held in ((workspace.server_key, "00" * 31), (workspace.agent_keys, "{}")):
            path.touch(mode=0o600)
            for text in ("", held, "[" * 100_000):
                path.write_text(text)
                found = run_check(workspace, "secrets")
                assert found.verdict == "fail" and f"{path} holds no key" in found.found
                assert found.fix.startswith(f"mv {path} {path}.broken, ")
            path.unlink()
        # What the server would close on its way is left as it is.
        workspace.server_key.touch(mode=0o400)
        assert run_check(workspace, "secrets").verdict == "ok"
        assert stat.S_IMODE(workspace.server_key.stat().st_mode) == 0o400

    @pytest.mark.parametrize("name", ["server.key", "agent.keys"])
    @pytest.mark.parametrize("content", [b"garbage", b"\xff\xfe", b""])
    def test_a_file_that_holds_no_key(self, workspace: Workspace, name: str, content: bytes) -> None:
        file = workspace.home / name
        write_secret(file, content)
        found = run_check(workspace, "secrets")
        assert found.verdict == "fail" and f"{file} holds no key" in found.found
        assert found.fix.startswith(f"mv {file} {file}.broken, ") and file.read_bytes() == content
        file.rename(f"{file}.broken")
        assert run_check(workspace, "secrets").verdict == "ok"

    def test_what_it_says_of_a_key_is_what_a_start_says(self, workspace: Workspace) -> None:
        write_secret(workspace.server_key, b"garbage")
        done = cpl("call", "status", cwd=workspace.root)
        assert done.returncode and run_check(workspace, "secrets").fix in done.stderr

    def test_a_file_that_holds_no_token(self, workspace: Workspace) -> None:
        write_secret(workspace.owner_token, b"garbage")
        found = run_check(workspace, "secrets")
        assert found.verdict == "warn" and "owner.token holds no token" in found.found and "cpl up -d" in found.fix
        assert cpl("call", "status", cwd=workspace.root).returncode == 0
        assert run_check(workspace, "secrets").verdict == "ok"
        assert "token was made again" in workspace.log.read_text()


class TestCertificate:
    def make(self, workspace: Workspace, *, days_ago: int = 0) -> None:
        made = datetime.now(UTC) - timedelta(days=days_ago)
        own = settings(server={"tls": "self_signed"}).server
        now_ns = int(made.timestamp()) * SECOND_NS
        assert load_tls(own, folder=workspace.tls, now_ns=now_ns, root=workspace.root) is not None

    @pytest.mark.parametrize(("days", "verdict"), [(0, "ok"), (380, "warn"), (500, "fail")])
    def test_one_that_ends_soon_or_has_ended(self, workspace: Workspace, days: int, verdict: str) -> None:
        self.make(workspace, days_ago=days)
        workspace.config.write_text(_FILES)
        assert run_check(workspace, "tls").verdict == verdict

    def test_one_that_is_not_there_or_is_none(self, workspace: Workspace) -> None:
        workspace.config.write_text(_FILES)
        found = run_check(workspace, "tls")
        assert found.verdict == "fail" and "is not there" in found.found
        workspace.tls.mkdir()
        (workspace.tls / "certificate.pem").write_text("not a certificate")
        assert run_check(workspace, "tls").verdict == "fail"

    def test_a_key_that_does_not_fit(self, workspace: Workspace) -> None:
        self.make(workspace)
        workspace.config.write_text(_FILES)
        kept = (workspace.tls / "certificate.pem").read_bytes()
        (workspace.tls / "certificate.pem").unlink()
        (workspace.tls / "key.pem").unlink()
        self.make(workspace)
        (workspace.tls / "certificate.pem").write_bytes(kept)
        found = run_check(workspace, "tls")
        assert found.verdict == "fail" and "do not fit together" in found.found and "server.tls_key" in found.fix

    def test_one_of_our_own_is_made_at_the_start(self, workspace: Workspace) -> None:
        workspace.config.write_text("server: {tls: self_signed}\n")
        assert run_check(workspace, "tls").found == "none yet; it is made at the start"

    def test_without_tls_there_is_none_to_look_at(self, workspace: Workspace) -> None:
        assert run_check(workspace, "tls").verdict == "ok"


class TestRedaction:
    @requirement("TRUST-53")
    def test_a_file_with_too_many_values_is_named(self, workspace: Workspace) -> None:
        (workspace.root / ".env").write_text("DB_PASSWORD=hunter2-correct\n")
        assert run_check(workspace, "redaction").verdict == "ok"
        (workspace.root / ".env.big").write_text("".join(f"X{i}_TOKEN=q{i}zR{i * 7919}kW\n" for i in range(300)))
        found = run_check(workspace, "redaction")
        assert found.verdict == "warn" and ".env.big" in found.found and "zR" not in found.found
