"""Where the server listens: on this machine only, and at the same port every time if it can."""

import socket
from pathlib import Path

import pytest

from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import BindRefused
from codeplane.surfaces.http.binding import bind, bind_tls, stable_port, stable_tls_port
from tests.interaction.requirements import requirement

ROOT = Path("/src/app")


@requirement("SRV-03")
@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "192.168.1.7", "10.0.0.1", "example.com", "localhost.example.com", "", "127.1", "*", "fe80::1"],
)
def test_an_address_that_others_can_reach_is_refused(host: str) -> None:
    with pytest.raises(BindRefused, match=r"loopback|not an IP address") as caught:
        bind(ServerConfig(host=host), ROOT)
    assert "127.0.0.1" in caught.value.hint


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("127.0.0.9", "127.0.0.9"), ("::1", "::1")],
)
def test_a_loopback_address_is_taken(host: str, address: str) -> None:
    if ":" in host and not _has_ipv6():
        pytest.skip("this machine has no ::1")
    with bind(ServerConfig(host=host), ROOT) as listener:
        assert listener.getsockname()[0] == address


@requirement("SRV-03")
def test_the_port_is_the_repositorys_own() -> None:
    assert stable_port(ROOT) == stable_port(ROOT)
    assert len({stable_port(Path(f"/src/{number}")) for number in range(100)}) > 90
    with bind(ServerConfig(), ROOT) as listener:
        assert listener.getsockname()[1] == stable_port(ROOT)


@requirement("SRV-03")
def test_another_port_when_it_is_taken() -> None:
    with bind(ServerConfig(), ROOT) as first, bind(ServerConfig(), ROOT) as second:
        assert first.getsockname()[1] == stable_port(ROOT) != second.getsockname()[1]


def test_a_port_that_was_asked_for_is_not_exchanged_for_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BindRefused, match=str(port)) as caught:
            bind(ServerConfig(port=port), ROOT)
    assert "--set server.port=" in caught.value.hint
    with bind(ServerConfig(port=port), ROOT) as listener:
        assert listener.getsockname()[1] == port


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_with_tls_each_port_is_its_own_setting_and_stays_the_same() -> None:
    both = ServerConfig(tls="self_signed")
    with bind(both, ROOT) as plain, bind_tls(both, ROOT) as secure:
        assert plain.getsockname()[1] == stable_port(ROOT)
        assert secure.getsockname()[1] == stable_tls_port(ROOT)
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [found.getsockname()[1] for found in (one, other)]
    chosen = ServerConfig(tls="self_signed", port=ports[0], tls_port=ports[1])
    with bind(chosen, ROOT) as plain, bind_tls(chosen, ROOT) as secure:
        assert [plain.getsockname()[1], secure.getsockname()[1]] == ports
        with pytest.raises(BindRefused) as caught:
            bind_tls(chosen, ROOT)
    assert "--set server.tls_port=" in caught.value.hint
