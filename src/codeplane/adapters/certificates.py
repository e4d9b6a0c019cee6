"""TLS certificates: self-signed or the owner's own, and the client CA."""

import os
import re
import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from codeplane.adapters.file_replacement import storage_error
from codeplane.kernel.binding import address
from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import ConfigInvalid

if TYPE_CHECKING:
    from cryptography import x509

CERTIFICATE, KEY = "certificate.pem", "key.pem"
ALWAYS = ("localhost", "127.0.0.1", "::1")
# Browsers refuse certificates that are good for longer.
_GOOD_FOR = timedelta(days=397)
_RENEW_BEFORE = timedelta(days=30)
_SKEW = timedelta(hours=1)
_LARGEST = 1024 * 1024
# A documentation address, which belongs to no machine.
_ELSEWHERE = "192.0.2.1"
_NAME = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """A server's certificate and key and the CA for client certificates, as paths and PEM."""

    certificate_file: Path
    key_file: Path
    certificate: bytes
    key: bytes
    client_ca: bytes | None
    fingerprint: str
    not_after: datetime

    def context(self) -> ssl.SSLContext:
        """Return a server's context: TLS 1.2 or newer, with client certificates if a CA is named."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.options |= ssl.OP_NO_RENEGOTIATION
        try:
            # A password prompt would block on the terminal.
            context.load_cert_chain(self.certificate_file, self.key_file, password=lambda: b"")
        except (ssl.SSLError, OSError, ValueError) as error:
            raise ConfigInvalid(f"the TLS certificate and key do not fit together: {_describe_error(error)}") from error
        if self.client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            try:
                context.load_verify_locations(cadata=self.client_ca.decode("ascii"))
            except (ssl.SSLError, ValueError) as error:
                raise ConfigInvalid(f"server.tls_client_ca holds no certificates: {_describe_error(error)}") from error
        return context


def load_tls(config: ServerConfig, *, folder: Path, now_ns: int, root: Path) -> Tls | None:
    """Load TLS as the settings say, creating our own certificate if needed; None when TLS is off.

    Relative paths in the settings start at `root`.
    """
    if config.tls == "off":
        for name in ("tls_certificate", "tls_key", "tls_client_ca"):
            if getattr(config, name):
                raise ConfigInvalid(f"server.{name} is set, but server.tls is off", hint="set server.tls: files")
        return None
    now = datetime.fromtimestamp(now_ns // 1_000_000_000, UTC)
    if config.tls == "self_signed":
        if config.tls_certificate or config.tls_key:
            raise ConfigInvalid(
                "server.tls is self_signed, but tls_certificate or tls_key is set", hint="set server.tls: files"
            )
        certificate, key = _own_certificate(folder, names={*ALWAYS, *_names(config)}, more=_machine(config), now=now)
        files = folder / CERTIFICATE, folder / KEY
    else:
        certificate, key = (
            _file(root, config.tls_certificate, "tls_certificate"),
            _file(root, config.tls_key, "tls_key"),
        )
        files = _path(root, config.tls_certificate), _path(root, config.tls_key)
    leaf = _leaf(certificate)
    if not leaf.not_valid_before_utc <= now < leaf.not_valid_after_utc:
        raise ConfigInvalid(
            f"the TLS certificate is good from {leaf.not_valid_before_utc:%Y-%m-%d} to "
            f"{leaf.not_valid_after_utc:%Y-%m-%d}, not now",
            hint="put a new one in place, or look at this machine's clock",
        )
    ready = Tls(
        certificate_file=files[0],
        key_file=files[1],
        certificate=certificate,
        key=key,
        client_ca=_file(root, config.tls_client_ca, "tls_client_ca") if config.tls_client_ca else None,
        fingerprint=_fingerprint(leaf),
        not_after=leaf.not_valid_after_utc,
    )
    ready.context()
    return ready


def _names(config: ServerConfig) -> Iterable[str]:
    """Return the host names of this server; a wildcard address is not one."""
    for name in (config.host, *config.allowed_hosts):
        try:
            if ip_address(name).is_unspecified:
                continue
        except ValueError:
            pass
        yield name.lower()


def _machine(config: ServerConfig) -> set[str]:
    """Return the names of this machine, for a server that listens on every address."""
    if not ip_address(address(config.host)).is_unspecified:
        return set()
    named = {socket.gethostname().lower()}
    with suppress(OSError):
        named |= {str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(socket.gethostname(), None)}
    # The route shows which address others see; nothing is sent.
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way_out:
        way_out.connect((_ELSEWHERE, 9))
        named.add(way_out.getsockname()[0])
    return {name for name in named if _NAME.fullmatch(name)}


def _own_certificate(folder: Path, *, names: set[str], more: set[str], now: datetime) -> tuple[bytes, bytes]:
    """Return our own certificate and key; renew them when they do not fit or expire soon.

    That a name of `more` is missing is no reason: machines move, and clients pin the fingerprint.
    """
    try:
        certificate, key = (folder / CERTIFICATE).read_bytes(), (folder / KEY).read_bytes()
        if _still_fits(certificate, key, names, now):
            (folder / KEY).chmod(0o600)
            return certificate, key
    except FileNotFoundError:
        pass
    except OSError as error:
        raise storage_error(error, folder) from error
    certificate, key = _create_certificate(names | more, now)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        # The key is written first: a certificate without its key is recreated at the next start.
        _write_file(folder / KEY, key)
        _write_file(folder / CERTIFICATE, certificate)
    except OSError as error:
        raise storage_error(error, folder) from error
    return certificate, key


def _still_fits(certificate: bytes, key: bytes, names: set[str], now: datetime) -> bool:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    try:
        parsed = x509.load_pem_x509_certificate(certificate)
        private = serialization.load_pem_private_key(key, None)
        alternative_names = parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, TypeError, x509.ExtensionNotFound):
        return False
    covered = {
        *alternative_names.get_values_for_type(x509.DNSName),
        *map(str, alternative_names.get_values_for_type(x509.IPAddress)),
    }
    return (
        private.public_key() == parsed.public_key()
        and names <= covered
        and parsed.not_valid_before_utc <= now < parsed.not_valid_after_utc - _RENEW_BEFORE
    )


def _create_certificate(names: set[str], now: datetime) -> tuple[bytes, bytes]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    # Not Ed25519: browsers do not take it in certificates.
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "CodePlane on this machine")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _GOOD_FOR)
        .add_extension(x509.SubjectAlternativeName([_general(name) for name in sorted(names)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(private, hashes.SHA256())
    )
    key = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), key


def _general(name: str) -> "x509.GeneralName":
    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        pass
    try:
        return x509.DNSName(name)
    except ValueError as error:
        raise ConfigInvalid(f"{name!r} in server.allowed_hosts is not a host name: {_describe_error(error)}") from error


def _leaf(certificate: bytes) -> "x509.Certificate":
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(certificate)
    except ValueError as error:
        raise ConfigInvalid("server.tls_certificate holds no PEM certificate") from error


def _fingerprint(certificate: "x509.Certificate") -> str:
    """Return the SHA-256 fingerprint, which a client can pin."""
    from cryptography.hazmat.primitives import hashes

    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()


def _file(root: Path, named: str, setting: str) -> bytes:
    if not named:
        raise ConfigInvalid(f"server.tls is files, but server.{setting} names none")
    path = _path(root, named)
    try:
        with path.open("rb") as opened:
            data = opened.read(_LARGEST + 1)
    except OSError as error:
        raise ConfigInvalid(f"server.{setting}: {path} cannot be read: {error.strerror}") from error
    if len(data) > _LARGEST:
        raise ConfigInvalid(f"server.{setting}: {path} is too large")
    return data


def _path(root: Path, named: str) -> Path:
    return root / Path(named).expanduser()


def _write_file(path: Path, data: bytes) -> None:
    partial = path.with_name(path.name + ".part")
    partial.unlink(missing_ok=True)
    file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
    partial.replace(path)


def _describe_error(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__
