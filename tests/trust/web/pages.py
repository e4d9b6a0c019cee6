"""A real server on loopback that answers as it is told, and the way to it through the guard."""

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from codeplane.adapters.web_fetch import WebFetch
from codeplane.kernel.config import WebConfig
from codeplane.kernel.json import JsonValue
from codeplane.trust.untrusted.marks import UntrustedMarks
from codeplane.trust.web.models import OpenResult
from codeplane.trust.web.operations import WebOperations, WebParts
from tests.trust.door import AGENT, Door, door

HOST = "page.test"


def answer(body: bytes | str, *headers: str, status: str = "200 OK", kind: str = "text/html") -> bytes:
    """A whole answer."""
    data = body.encode() if isinstance(body, str) else body
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Length: {len(data)}",
        *([f"Content-Type: {kind}"] if kind else []),
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + data


def moved(location: str) -> bytes:
    """A redirect."""
    return answer("", f"Location: {location}", status="302 Found")


@dataclass(kw_only=True)
class Site:
    """What a server answers by path, and what it was asked."""

    answers: dict[str, bytes] = field(default_factory=dict)
    asked: list[bytes] = field(default_factory=list)
    port: int = 0
    # After its answer it says nothing and does not hang up either.
    holds: bool = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            self.asked.append(request)
            path = request.split(b" ")[1].decode().partition("?")[0]
            writer.write(self.answers.get(path, answer("gone", status="404 Not Found", kind="text/plain")))
            await writer.drain()
            if self.holds:
                await reader.read()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()


@dataclass(kw_only=True)
class Web:
    """The operations, with a site that they can reach."""

    door: Door
    site: Site
    untrusted: UntrustedMarks
    looked_up: list[str]

    def url(self, path: str = "/", *, host: str = HOST, scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.site.port}{path}"

    async def open(self, url: str, **arguments: JsonValue) -> OpenResult:
        outcome = await self.door.conveyor.call("web.open", {"url": url, **arguments}, AGENT)
        assert outcome.error is None, outcome.error
        assert isinstance(outcome.result, OpenResult)
        return outcome.result

    async def refused(self, url: str, **arguments: JsonValue) -> tuple[str, str]:
        outcome = await self.door.conveyor.call("web.open", {"url": url, **arguments}, AGENT)
        assert outcome.error is not None, outcome.result
        return outcome.error.name, outcome.error.message


@asynccontextmanager
async def web(
    tmp_path: Path,
    site: Site,
    *,
    names: Mapping[str, list[str]] | None = None,
    check: Callable[[str, int], str] | None = None,
    tls: tuple[ssl.SSLContext, ssl.SSLContext] | None = None,
    **config: object,
) -> AsyncIterator[Web]:
    """A site on loopback; by default the check lets exactly its port through."""
    looked_up: list[str] = []
    known = {HOST: ["127.0.0.1"], "search.test": ["127.0.0.1"], **(names or {})}

    def resolve(host: str, port: int) -> list[str]:
        looked_up.append(host)
        if host not in known:
            raise OSError("no such name")
        return list(iter(known[host]))

    def only_the_site(address: str, port: int) -> str:
        return "" if (address, port) == ("127.0.0.1", site.port) else "it is not the site"

    server = await asyncio.start_server(site.serve, "127.0.0.1", 0, ssl=tls[0] if tls else None)
    site.port = server.sockets[0].getsockname()[1]
    untrusted = UntrustedMarks()
    operations = WebOperations(
        WebParts(
            config=WebConfig.model_validate({name: _placed(value, site.port) for name, value in config.items()}),
            network=WebFetch(resolve=resolve, tls=tls[1] if tls else None),
            check=check or only_the_site,
            untrusted=untrusted,
        )
    )
    async with server, door(tmp_path / "log", operations) as opened:
        await untrusted.restore(opened.log)
        yield Web(door=opened, site=site, untrusted=untrusted, looked_up=looked_up)


def _placed(value: object, port: int) -> object:
    return value.replace("PORT", str(port)) if isinstance(value, str) else value


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The server's side with a certificate for a name, and the side of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "both.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(serialization.Encoding.PEM)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    client = ssl.create_default_context(cafile=str(file))
    return server, client
