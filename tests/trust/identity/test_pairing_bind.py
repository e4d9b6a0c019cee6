"""Beyond this machine only with TLS and tokens."""

import pytest

from codeplane.kernel.binding import address, is_loopback, may_bind
from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import BindRefused
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-23")

LOOPBACK = ["127.0.0.1", "localhost", "::1", "127.8.9.1", "::ffff:127.0.0.1"]
BEYOND = ["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "8.8.8.8", "fe80::1", "::ffff:10.0.0.1", "::ffff:0.0.0.0"]


@pytest.mark.parametrize("host", LOOPBACK)
def test_this_machine_needs_nothing(host: str) -> None:
    may_bind(ServerConfig(host=host))
    assert is_loopback(host)


@pytest.mark.parametrize("host", BEYOND)
def test_others_need_both(host: str) -> None:
    assert not is_loopback(host)
    for config in (
        ServerConfig(host=host),
        ServerConfig(host=host, require_token=True),
        ServerConfig(host=host, tls="self_signed"),
        ServerConfig(host=host, tls="files", tls_client_ca="ca.pem"),
    ):
        with pytest.raises(BindRefused) as caught:
            may_bind(config)
        assert ("server.tls" in caught.value.message) == (config.tls == "off")
        assert ("require_token" in caught.value.message) == (not config.require_token)
    may_bind(ServerConfig(host=host, tls="self_signed", require_token=True))
    may_bind(ServerConfig(host=host, tls="files", require_token=True))


@pytest.mark.parametrize("host", ["", "example.com", "127.1", "0177.0.0.1", "2130706433", "localhost.", "127.0.0.1 "])
def test_what_is_no_address_is_refused_however_safe_the_rest(host: str) -> None:
    with pytest.raises(BindRefused):
        may_bind(ServerConfig(host=host, tls="self_signed", require_token=True))
    with pytest.raises(BindRefused):
        address(host)
