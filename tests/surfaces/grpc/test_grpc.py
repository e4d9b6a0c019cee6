"""The services over gRPC: the same answers, the same refusals, found by reflection, told of by health."""

import asyncio
import socket
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from codeplane._gen.approvals_pb2 import ApproveActionRequest, ApproveActionResponse
from codeplane._gen.events_pb2 import Event, WatchRequest
from codeplane._gen.operations_pb2 import CallRequest, CallResponse, StreamRequest, StreamResponse
from codeplane.adapters.peer_account import PeerAccounts
from codeplane.kernel.config import GrpcConfig, ServerConfig
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import BindRefused
from codeplane.surfaces.connections.connections import Connections, Limits
from codeplane.surfaces.grpc.surface import GrpcSurface
from codeplane.surfaces.grpc.tls import Tls, check_binding
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.grpc.channel import Metadata, call, channel, owner, raw_bytes, refusal
from tests.trust.door import door

pytestmark = requirement("RPC-05")

CALL, STREAM, WATCH = "OperationService/Call", "OperationService/Stream", "EventsService/Watch"


def called(server: Server, operation: str, *, metadata: Metadata | None = None, sec: float = 30) -> CallResponse:
    return call(server, CALL, CallRequest(operation=operation), CallResponse, metadata=metadata, sec=sec)


class TestCalls:
    def test_an_operation(self, connect_server: Server) -> None:
        found = called(connect_server, "session.info")
        assert found.result["action"] == "status" and found.meta["call_id"]

    def test_its_stream(self, connect_server: Server) -> None:
        with channel(connect_server) as found:
            run = found.unary_stream(
                f"/codeplane.v1.{STREAM}", StreamRequest.SerializeToString, StreamResponse.FromString
            )
            request = StreamRequest(operation="fixture.ticks")
            items = list(run(request, metadata=owner(connect_server), timeout=30))
        assert [item.item["number"] for item in items[:-1]] == [0, 1, 2] and items[-1].meta["call_id"]

    def test_a_watch_until_the_reader_has_enough(self, connect_server: Server) -> None:
        called(connect_server, "session.info")
        with channel(connect_server) as found:
            run = found.unary_stream(f"/codeplane.v1.{WATCH}", WatchRequest.SerializeToString, Event.FromString)
            events = run(WatchRequest(types=["session.opened"]), metadata=owner(connect_server), timeout=30)
            event = next(event for event in events if not event.HasField("heartbeat"))
            events.cancel()
        assert event.type == "session.opened"

    def test_an_error_is_a_status_with_ours_inside(self, connect_server: Server) -> None:
        request = ApproveActionRequest(action_id="act_none")
        with pytest.raises(grpc.RpcError) as failed:
            call(connect_server, "ApprovalsService/ApproveAction", request, ApproveActionResponse)
        code, error = refusal(failed.value)
        assert (code, error.error) == (grpc.StatusCode.NOT_FOUND, "APPROVAL_NOT_FOUND")
        assert error.hint and error.meta["call_id"]

    def test_a_deadline_is_kept(self, connect_server: Server) -> None:
        request = CallRequest(operation="fixture.wait")
        request.arguments["name"] = "grpc deadline"
        with pytest.raises(grpc.RpcError) as failed:
            call(connect_server, CALL, request, CallResponse, sec=0.1)
        assert failed.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED

    def test_bytes_that_are_no_message_are_malformed(self, connect_server: Server) -> None:
        with channel(connect_server) as found, pytest.raises(grpc.RpcError) as failed:
            run = found.unary_unary(f"/codeplane.v1.{CALL}", raw_bytes, raw_bytes)
            run(b"\xff\xff", metadata=owner(connect_server), timeout=30)
        assert refusal(failed.value)[1].error == "MALFORMED_REQUEST"

    def test_a_message_that_is_too_large_is_refused(self, connect_server: Server) -> None:
        request = CallRequest(operation="x" * (5 * 1024 * 1024))
        with pytest.raises(grpc.RpcError) as failed:
            call(connect_server, CALL, request, CallResponse)
        assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED

    def test_what_is_not_there_is_unimplemented(self, connect_server: Server) -> None:
        with pytest.raises(grpc.RpcError) as failed:
            call(connect_server, "OperationService/Nope", CallRequest(), CallResponse)
        assert failed.value.code() is grpc.StatusCode.UNIMPLEMENTED


class TestTokens:
    @pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", "Basic {token}", "Bearer {token}x"])
    def test_calls_and_streams_need_the_right_one(self, connect_server: Server, header: str | None) -> None:
        metadata = () if header is None else (("authorization", header.format(token=connect_server.token)),)
        with pytest.raises(grpc.RpcError) as failed:
            called(connect_server, "status", metadata=metadata)
        assert refusal(failed.value)[1].error == "UNAUTHORIZED"
        with channel(connect_server) as found, pytest.raises(grpc.RpcError) as failed:
            run = found.unary_stream(f"/codeplane.v1.{WATCH}", WatchRequest.SerializeToString, Event.FromString)
            list(run(WatchRequest(), metadata=metadata, timeout=30))
        assert refusal(failed.value)[0] is grpc.StatusCode.UNAUTHENTICATED

    def test_two_are_none_whichever_service_it_is(self, connect_server: Server) -> None:
        twice = owner(connect_server) * 2
        for method in (f"codeplane.v1.{CALL}", f"codeplane.v1.{WATCH}", "grpc.health.v1.Health/Check"):
            with channel(connect_server) as found, pytest.raises(grpc.RpcError) as failed:
                list(found.unary_stream(f"/{method}", raw_bytes, raw_bytes)(b"", metadata=twice, timeout=30))
            assert failed.value.code() is grpc.StatusCode.UNAUTHENTICATED


class TestAround:
    def test_reflection_tells_every_service(self, connect_server: Server) -> None:
        requests = [
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol="codeplane.v1.ApprovalsService"),
        ]
        with channel(connect_server) as found:
            run = found.stream_stream(
                "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                reflection_pb2.ServerReflectionRequest.SerializeToString,
                reflection_pb2.ServerReflectionResponse.FromString,
            )
            listed, file = run(iter(requests), timeout=30)
        names = {service.name for service in listed.list_services_response.service}
        ours = ("Approvals", "Auth", "Devices", "Events", "Operation", "System")
        assert {f"codeplane.v1.{name}Service" for name in ours} <= names
        descriptor = FileDescriptorProto.FromString(file.file_descriptor_response.file_descriptor_proto[0])
        assert descriptor.name == "codeplane/v1/approvals.proto"

    def test_health_says_serving(self, connect_server: Server) -> None:
        with channel(connect_server) as found:
            run = found.unary_unary(
                "/grpc.health.v1.Health/Check",
                health_pb2.HealthCheckRequest.SerializeToString,
                health_pb2.HealthCheckResponse.FromString,
            )
            answer = run(health_pb2.HealthCheckRequest(service="codeplane.v1.AuthService"), timeout=30)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING

    def test_streams_end_with_the_server_and_say_so(self, own_server: Server) -> None:
        with channel(own_server) as found:
            run = found.unary_stream(f"/codeplane.v1.{WATCH}", WatchRequest.SerializeToString, Event.FromString)
            events = run(WatchRequest(from_now=True), metadata=owner(own_server), timeout=30)
            next(events)
            assert own_server.stop() == 0
            with pytest.raises(grpc.RpcError) as failed:
                list(events)
        assert refusal(failed.value)[1].error == "SHUTTING_DOWN"


class TestBinding:
    TLS = Tls(certificate=b"", key=b"")

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", ""])
    def test_beyond_loopback_needs_both_tls_and_tokens(self, host: str) -> None:
        for tls, require_token in ((None, False), (None, True), (self.TLS, False)):
            with pytest.raises(BindRefused):
                check_binding(host, tls=tls, require_token=require_token)
        check_binding(host, tls=self.TLS, require_token=True)

    @pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
    def test_loopback_needs_neither(self, host: str) -> None:
        check_binding(host, tls=None, require_token=False)

    def test_a_port_that_is_taken_is_said_to_be(self, connect_server: Server, tmp_path: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            with pytest.raises(BindRefused, match="cannot listen"):
                asyncio.run(self._run(taken.getsockname()[1], tmp_path))

    @staticmethod
    async def _run(port: int, folder: Path) -> None:
        async with door(folder) as opened:
            surface = _surface(opened.conveyor, GrpcConfig(port=port))
            async with surface.run():
                raise AssertionError("it listens")


class TestTls:
    def test_only_who_trusts_the_certificate_gets_through(self, tmp_path: Path) -> None:
        certificate, key = _self_signed()
        asyncio.run(self._check(Tls(certificate=certificate, key=key), certificate, tmp_path))

    @staticmethod
    async def _check(tls: Tls, certificate: bytes, folder: Path) -> None:
        async with door(folder) as opened, _surface(opened.conveyor, GrpcConfig(), tls).run() as port:
            for roots, reached in ((certificate, True), (_self_signed()[0], False)):
                credentials = grpc.ssl_channel_credentials(roots)
                async with grpc.aio.secure_channel(f"127.0.0.1:{port}", credentials) as found:
                    run = found.unary_unary("/grpc.health.v1.Health/Check", raw_bytes, raw_bytes)
                    try:
                        await run(b"", timeout=10)
                        assert reached
                    except grpc.aio.AioRpcError as error:
                        assert not reached and error.code() is grpc.StatusCode.UNAVAILABLE
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as found:
                with pytest.raises(grpc.aio.AioRpcError):
                    await found.unary_unary("/grpc.health.v1.Health/Check", raw_bytes, raw_bytes)(b"", timeout=10)


def _surface(conveyor: Conveyor, config: GrpcConfig, tls: Tls | None = None) -> GrpcSurface:
    return GrpcSurface(
        conveyor=conveyor,
        config=config,
        host="127.0.0.1",
        folder=Path("/nowhere/that/can/be/written"),
        connections=Connections(PeerAccounts(), Limits(all=100, per_account=10)),
        bounds=ServerConfig(),
        stopping=asyncio.Event(),
        tls=tls,
    )


def _self_signed() -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made.public_bytes(serialization.Encoding.PEM), private
