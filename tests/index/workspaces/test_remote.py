"""Addresses of remotes: which are taken, how they are shown, and that nothing secret is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.index.workspaces.remote import Remote
from codeplane.kernel.errors import InvalidArgument
from tests.interaction.requirements import requirement

# In capitals, so that what is left of them stands out from what git says.
USER = st.text("ABCDEFGHIJ0123456789._~!$&()*+,;=%", min_size=3, max_size=30)
PASSWORD = st.text("ABCDEFGHIJ0123456789._~!$&()*+,;=%@:", min_size=3, max_size=30)


@requirement("WSP-05")
@pytest.mark.parametrize(
    ("url", "shown", "last"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b.git", "b"),
        ("https://github.com/a/b/", "https://github.com/a/b/", "b"),
        ("https://me:secret@host:8443/b.git?token=x#y", "https://host:8443/b.git", "b"),
        ("https://token@host/b", "https://host/b", "b"),
        ("ssh://git@host:22/a/b.git", "ssh://git@host:22/a/b.git", "b"),
        ("ssh://git:secret@host/b", "ssh://git@host/b", "b"),
        ("git@github.com:a/b.git", "git@github.com:a/b.git", "b"),
        ("host:b.git", "host:b.git", "b"),
        ("git://host/b", "git://host/b", "b"),
        ("file:///srv/b.git", "file:///srv/b.git", "b"),
        ("file://localhost/srv/b%20c", "file:///srv/b%20c", "b c"),
        ("https://[::1]/b", "https://[::1]/b", "b"),
    ],
)
def test_addresses_that_are_taken(url: str, shown: str, last: str) -> None:
    remote = Remote.of(url)
    assert (remote.shown, remote.last) == (shown, last)


@requirement("WSP-05")
@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% /tmp/x",
        "ext::sh",
        "fd::17/x",
        "--upload-pack=x",
        "-x",
        "http://example.com/x",
        "ftp://example.com/x",
        "/etc",
        "../source",
        "ssh://-oProxyCommand=x/y",
        "ssh://-x@host/y",
        "-oProxyCommand=x:y",
        "https://",
        "https://host",
        "https://host:port/x",
        "https://host/a b",
        "https://host/a\nb",
        "https://host/a\u2028b",
        "file://elsewhere/x",
        "file:///",
        "file:///a%00b",
        "host::x",
        "host:-x",
        "https::x://y/z",
        "x" * 2001,
        "",
    ],
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(InvalidArgument):
        Remote.of(url)


@requirement("WSP-05")
@given(user=USER, password=PASSWORD)
def test_nothing_of_a_password_is_ever_shown(user: str, password: str) -> None:
    try:
        remote = Remote.of(f"https://{user}:{password}@example.org/xyz.git")
    except InvalidArgument as refused:
        assert password not in refused.message
        return
    output = remote.redact(f"fatal: '{remote.url}' for {user}:{password}@example.org and {password}")
    assert remote.shown == "https://example.org/xyz.git"
    left = output.replace("***", "")
    assert password not in left
    assert user not in left


@requirement("WSP-05")
@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        remote = Remote.of(text)
    except InvalidArgument:
        return
    assert remote.url.isprintable()
    assert not remote.url.startswith("-")
