"""The servers, their logs and their telemetry."""

from typing import Annotated, Literal

from pydantic import Field

from codeplane.kernel.config.section import Level, Off, Section


class ServerConfig(Section):
    """The HTTP server."""

    host: str = Field("127.0.0.1", description="address to bind; beyond loopback only with TLS and require_token")
    port: int = Field(
        0,
        ge=0,
        le=65535,
        description="loopback port; 0: a stable one, derived from the repository's path",
    )
    shutdown_timeout_sec: float = Field(5.0, gt=0, le=300, description="how long calls under way may finish")
    max_body_bytes: int = Field(4 * 1024 * 1024, ge=1024, description="largest request body")
    max_connections: int = Field(
        1000,
        ge=1,
        description="open connections of HTTP and gRPC; beyond it the longest waiting one is closed, or 503",
    )
    max_connections_per_account: int = Field(
        100,
        ge=1,
        description="per other account, and per other machine; for all of these together: half of all",
    )
    header_timeout_sec: float = Field(10.0, gt=0, description="how long a TLS handshake or a request's head may take")
    body_timeout_sec: float = Field(
        20.0,
        gt=0,
        description="how long a request's body may take, and a second more for each 500 bytes, up to 30 times as long",
    )
    max_headers: int = Field(100, ge=8, description="headers of one request")
    max_header_bytes: int = Field(65_536, ge=1024, description="largest head of a request")
    one_core: bool = Field(
        True, description="keep the server's threads on one core while it is busy; what it starts runs on all"
    )
    idle_exit_sec: float = Field(1800.0, ge=0, description="a detached server ends after this long idle; 0: never")
    allowed_hosts: tuple[str, ...] = Field((), description="further Host names to accept, beside loopback ones")
    allowed_origins: tuple[str, ...] = Field((), description="further Origins to accept, beside loopback ones")
    require_token: bool = Field(False, description="MCP clients need a token too")
    tls: Annotated[Literal["off", "self_signed", "files"], Off] = Field(
        "off", description="self_signed: a certificate made by CodePlane; files: tls_certificate and tls_key"
    )
    tls_port: int = Field(
        0,
        ge=0,
        le=65535,
        description="TLS port on server.host; 0: a stable one, derived from the repository's path",
    )
    tls_certificate: str = Field("", description="the certificate chain, as a PEM file")
    tls_key: str = Field("", description="its private key, as a PEM file")
    tls_client_ca: str = Field("", description="clients must show a certificate signed by one of these (mTLS)")
    announce: bool = Field(
        False, description="announce the TLS address in the local network by Bonjour (_codeplane._tcp); only with tls"
    )


class GrpcConfig(Section):
    """The gRPC server."""

    enabled: bool = Field(True, description="serve gRPC beside HTTP, with the same tokens and TLS")
    port: int = Field(0, ge=0, le=65535, description="0: any free port, which cpl status shows")


class LogOutput(Section):
    """One destination of the log."""

    format: Literal["console", "json"] = Field("console", description="lines for people, or JSON lines")
    destination: str = Field("stderr", description="stderr, stdout or an absolute file path")
    level: Level | None = Field(None, description="instead of logging.level, for this output alone")


class LoggingConfig(Section):
    """The server's own log."""

    level: Level = Field("INFO", description="the least severe level that is written")
    outputs: tuple[LogOutput, ...] = Field((LogOutput(),), description="where it is written, each in its own format")


class ObserveConfig(Section):
    """Metrics and traces of calls."""

    metrics_open: bool = Field(False, description="/metrics answers every account, and other machines, without a token")
    traces: int = Field(1000, ge=0, le=100_000, description="calls whose spans are kept in memory; 0: none are timed")
    otlp_endpoint: str = Field("", description="an OpenTelemetry collector (OTLP/HTTP), as in http://127.0.0.1:4318")
    otlp_header_variable: str = Field("", description="the environment variable with one more header, name=value")
