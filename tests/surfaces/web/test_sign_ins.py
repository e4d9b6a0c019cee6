"""Links and sessions: once, for a while, and not for a new owner."""

from pathlib import Path

from codeplane.kernel.clock import SECOND_NS
from codeplane.surfaces.web.sign_ins import LINK_SEC, SESSION_SEC, SignIns, form_token
from tests.interaction.requirements import requirement

pytestmark = requirement("WEB-01")


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.ns = 1_800_000_000 * SECOND_NS

    def now_ns(self) -> int:
        return self.ns

    def monotonic_ns(self) -> int:
        return self.ns


def sign_ins(clock: Clock, file: Path | None = None, token: str = "owner") -> SignIns:
    return SignIns(clock=clock, owner_token=token, file=file)


def entered(found: SignIns, token: str = "owner") -> str:
    cookie = found.redeem(found.link(token=token, who="owner:owner")[0])
    assert cookie is not None
    return cookie


def test_a_link_is_good_once_and_not_for_long() -> None:
    clock = Clock()
    found = sign_ins(clock)
    secret, expires_ns = found.link(token="owner", who="owner:owner")
    assert expires_ns == clock.ns + LINK_SEC * SECOND_NS
    assert found.redeem(secret) is not None and found.redeem(secret) is None
    late, _ = found.link(token="owner", who="owner:owner")
    clock.ns += LINK_SEC * SECOND_NS
    assert found.redeem(late) is None


def test_a_session_ends_by_itself() -> None:
    clock = Clock()
    found = sign_ins(clock)
    cookie = entered(found)
    clock.ns += SESSION_SEC * SECOND_NS - 1
    assert found.find(cookie) is not None
    clock.ns += 1
    assert found.find(cookie) is None and found.all() == ()


def test_whoever_made_up_a_cookie_is_nobody() -> None:
    found = sign_ins(Clock())
    entered(found)
    assert found.find("made up") is None and found.find("") is None and found.find(None) is None


def test_the_owners_sessions_outlive_a_restart_and_devices_do_not(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "dashboard.json"
    first = sign_ins(clock, file)
    owners, devices = entered(first), entered(first, token="device")
    assert "device" not in file.read_text() and owners not in file.read_text()
    again = sign_ins(clock, file)
    assert again.find(owners) == first.find(owners) and again.find(devices) is None


def test_a_new_owner_signs_in_anew(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "dashboard.json"
    cookie = entered(sign_ins(clock, file))
    assert sign_ins(clock, file, token="another").find(cookie) is None


def test_a_file_that_is_not_whole_lets_nobody_in(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "dashboard.json"
    cookie = entered(sign_ins(clock, file))
    whole = file.read_text()
    for broken in ("", "{", "[]", "null", whole[:-9], whole.replace("seal", "deal")):
        file.write_text(broken)
        assert sign_ins(clock, file).find(cookie) is None


def test_signing_out_holds_over_a_restart(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "dashboard.json"
    found = sign_ins(clock, file)
    cookie, other = entered(found), entered(found)
    signed_in = found.find(cookie)
    assert signed_in is not None and found.end(signed_in.seal) and not found.end(signed_in.seal)
    assert sign_ins(clock, file).find(cookie) is None and sign_ins(clock, file).find(other) is not None
    assert found.end_all() == 1 and sign_ins(clock, file).all() == ()


def test_there_is_room_for_some_only() -> None:
    clock = Clock()
    found = sign_ins(clock)
    links = [found.link(token="owner", who="owner:owner")[0] for _ in range(30)]
    assert found.redeem(links[0]) is None and found.redeem(links[-1]) is not None
    cookies = []
    for _ in range(60):
        clock.ns += 1
        cookies.append(entered(found))
    assert len(found.all()) == 50 and found.find(cookies[0]) is None and found.find(cookies[-1]) is not None


def test_a_form_belongs_to_its_cookie() -> None:
    assert form_token("a") == form_token("a") != form_token("b")
