"""TLS: certificates that fit, files that are said to be wrong, and clients that have to show one of theirs."""

import asyncio
import socket
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from codeplane.adapters.certificates import Tls, load_tls
from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import CodePlaneError, ConfigInvalid
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-23")

NOW = 1_750_000_000
DAY = 86_400
OWN = ServerConfig(tls="self_signed", host="192.168.1.5", allowed_hosts=("box.local",))


def made(folder: Path, config: ServerConfig = OWN, *, at: int = NOW) -> Tls:
    found = load_tls(config, folder=folder / "tls", now_ns=at * 1_000_000_000, root=folder)
    assert found is not None
    return found


def names(found: Tls) -> set[str]:
    output = x509.load_pem_x509_certificate(found.certificate).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    return {
        *output.value.get_values_for_type(x509.DNSName),
        *map(str, output.value.get_values_for_type(x509.IPAddress)),
    }


def test_without_tls_there_is_none(tmp_path: Path) -> None:
    assert load_tls(ServerConfig(), folder=tmp_path / "tls", now_ns=NOW, root=tmp_path) is None
    assert not (tmp_path / "tls").exists()


def test_our_own_is_made_once_closed_and_names_this_server(tmp_path: Path) -> None:
    first = made(tmp_path)
    assert names(first) == {"localhost", "127.0.0.1", "::1", "192.168.1.5", "box.local"}
    assert stat.S_IMODE((tmp_path / "tls" / "key.pem").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "tls").stat().st_mode) == 0o700
    assert len(first.fingerprint) == 95
    assert made(tmp_path).fingerprint == first.fingerprint
    (tmp_path / "tls" / "key.pem").chmod(0o644)
    assert made(tmp_path) == first
    assert stat.S_IMODE((tmp_path / "tls" / "key.pem").stat().st_mode) == 0o600
    (tmp_path / "b").mkdir()
    everywhere = made(tmp_path / "b", ServerConfig(tls="self_signed", host="0.0.0.0"))
    assert "0.0.0.0" not in names(everywhere)
    assert socket.gethostname().lower() in names(everywhere)


def test_a_machine_that_moved_keeps_its_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    anywhere = ServerConfig(tls="self_signed", host="0.0.0.0")
    monkeypatch.setattr(socket, "gethostname", lambda: "desk.local")
    first = made(tmp_path, anywhere)
    assert "desk.local" in names(first)
    monkeypatch.setattr(socket, "gethostname", lambda: "no name at all")
    assert made(tmp_path, anywhere).fingerprint == first.fingerprint
    (tmp_path / "tls" / "key.pem").unlink()
    assert "no name at all" not in names(made(tmp_path, anywhere))


def test_it_is_made_anew_before_it_ends_and_when_it_no_longer_fits(tmp_path: Path) -> None:
    first = made(tmp_path)
    assert made(tmp_path, at=NOW + 366 * DAY).fingerprint == first.fingerprint
    second = made(tmp_path, at=NOW + 368 * DAY)
    assert second.fingerprint != first.fingerprint
    # A clock that was set back: it is not good yet.
    third = made(tmp_path, at=NOW)
    assert third.fingerprint != second.fingerprint
    wider = made(tmp_path, OWN.model_copy(update={"allowed_hosts": ("other.local",)}))
    assert "other.local" in names(wider)
    for name, content in (("key.pem", b""), ("key.pem", b"nonsense"), ("certificate.pem", b"nonsense")):
        (tmp_path / "tls" / name).write_bytes(content)
        before, wider = wider, made(tmp_path)
        assert wider.fingerprint != before.fingerprint
    (tmp_path / "tls" / "certificate.pem").unlink()
    assert made(tmp_path).fingerprint != wider.fingerprint


def test_what_is_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "tls").write_text("a file")
    with pytest.raises(CodePlaneError) as caught:
        made(tmp_path)
    assert "tls" in caught.value.message
    with pytest.raises(ConfigInvalid):
        made(tmp_path / "b", ServerConfig(tls="self_signed", allowed_hosts=("bücher.example",)))


class Authority:
    """A CA of a test's own."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test CA")])
        self.pem = self._signed(self._name, self._key.public_key(), ca=True)

    def issue(self, folder: Path, name: str, *, days: int = 10, password: bytes | None = None) -> tuple[Path, Path]:
        """A certificate and its key, as files."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate, secret = folder / f"{name}.pem", folder / f"{name}.key"
        certificate.write_bytes(self._signed(subject, key.public_key(), days=days))
        closed = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, closed))
        return certificate, secret

    def _signed(self, subject: x509.Name, key: ec.EllipticCurvePublicKey, *, ca: bool = False, days: int = 10) -> bytes:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=20))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if ca:
            usage = x509.KeyUsage(
                digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
                key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
            )  # fmt: skip
            builder = builder.add_extension(usage, critical=True)
        else:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def today() -> int:
    return int(datetime.now(UTC).timestamp())


def test_files_of_the_owner_are_used_as_they_are(tmp_path: Path) -> None:
    certificate, key = Authority().issue(tmp_path, "server")
    found = made(tmp_path, ServerConfig(tls="files", tls_certificate="server.pem", tls_key=str(key)), at=today())
    assert found.certificate == certificate.read_bytes()
    assert found.certificate_file == certificate
    assert not (tmp_path / "tls").exists()


def test_files_that_will_not_do_are_said_at_the_start(tmp_path: Path) -> None:
    authority = Authority()
    certificate, key = authority.issue(tmp_path, "server")
    _, other = authority.issue(tmp_path, "other")
    closed_certificate, closed = authority.issue(tmp_path, "closed", password=b"secret")
    over, over_key = authority.issue(tmp_path, "over", days=-1)
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("nonsense")
    large = tmp_path / "large.pem"
    large.write_bytes(certificate.read_bytes() + b"\n" * 1024 * 1024)
    bad: list[dict[str, object]] = [
        {"tls_certificate": "", "tls_key": key},
        {"tls_certificate": certificate, "tls_key": ""},
        {"tls_certificate": tmp_path / "none.pem", "tls_key": key},
        {"tls_certificate": tmp_path, "tls_key": key},
        {"tls_certificate": nonsense, "tls_key": key},
        {"tls_certificate": large, "tls_key": key},
        {"tls_certificate": certificate, "tls_key": nonsense},
        {"tls_certificate": certificate, "tls_key": other},
        {"tls_certificate": closed_certificate, "tls_key": closed},
        {"tls_certificate": over, "tls_key": over_key},
        {"tls_certificate": certificate, "tls_key": key, "tls_client_ca": nonsense},
        {"tls_certificate": certificate, "tls_key": key, "tls_client_ca": tmp_path / "none.pem"},
        {"tls": "self_signed", "tls_certificate": certificate},
        {"tls": "off", "tls_certificate": certificate},
        {"tls": "off", "tls_client_ca": certificate},
    ]
    for settings in bad:
        given = {"tls": "files", **{name: str(value) for name, value in settings.items()}}
        with pytest.raises(ConfigInvalid):
            load_tls(ServerConfig(**given), folder=tmp_path / "tls", now_ns=today() * 1_000_000_000, root=tmp_path)


async def shake(server: ssl.SSLContext, client: ssl.SSLContext) -> str | None:
    """The TLS version that both agree on, after a byte each way; None when they do not."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(await reader.readexactly(1))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server)
    port = listening.sockets[0].getsockname()[1]
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client, server_hostname="localhost")
        writer.write(b"x")
        echoed = await reader.read(1)
        version = writer.get_extra_info("ssl_object").version()
        writer.close()
        return str(version) if echoed == b"x" else None
    except (ssl.SSLError, OSError):
        return None
    finally:
        listening.close()


def trusting(pem: bytes) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=pem.decode())


async def test_a_client_that_pins_our_own_certificate_is_served_with_tls_12_or_newer(tmp_path: Path) -> None:
    found = made(tmp_path, ServerConfig(tls="self_signed"), at=today())
    assert await shake(found.context(), trusting(found.certificate)) in ("TLSv1.2", "TLSv1.3")
    assert await shake(found.context(), ssl.create_default_context()) is None
    old = trusting(found.certificate)
    with pytest.warns(DeprecationWarning):
        old.minimum_version, old.maximum_version = ssl.TLSVersion.MINIMUM_SUPPORTED, ssl.TLSVersion.TLSv1_1
    assert await shake(found.context(), old) is None


async def test_where_clients_need_certificates_only_those_of_the_ca_are_served(tmp_path: Path) -> None:
    ours, theirs = Authority(), Authority()
    (tmp_path / "ca.pem").write_bytes(ours.pem)
    found = made(tmp_path, ServerConfig(tls="self_signed", tls_client_ca="ca.pem"), at=today())
    assert await shake(found.context(), trusting(found.certificate)) is None
    for authority, served in ((ours, True), (theirs, False)):
        client = trusting(found.certificate)
        client.load_cert_chain(*authority.issue(tmp_path, "client"))
        assert (await shake(found.context(), client) is not None) is served
