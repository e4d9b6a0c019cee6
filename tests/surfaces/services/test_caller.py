"""One token, or none; never a choice between two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.errors import InvalidArgument, Unauthorized
from codeplane.surfaces.services.caller import Headers, bearer
from tests.interaction.requirements import requirement


class TestBearer:
    @requirement("RPC-02")
    @pytest.mark.parametrize("value", ["Bearer abc", "bearer abc", "BEARER   abc ", " Bearer abc"])
    def test_one_is_found(self, value: str) -> None:
        assert bearer([value]) == "abc"

    @requirement("RPC-02")
    @pytest.mark.parametrize("value", ["", "Bearer", "Bearer ", "Basic abc", "abc", "Bearerabc"])
    def test_what_is_no_bearer_is_none(self, value: str) -> None:
        assert bearer([value]) is None

    @requirement("RPC-02")
    def test_nothing_is_none(self) -> None:
        assert bearer([]) is None

    @requirement("RPC-02")
    @pytest.mark.parametrize(
        "values",
        [["Bearer a", "Bearer a"], ["", ""], ["Bearer a, Bearer b"], ["Bearer a b"], ["Bearer a,b"], ["Bearer a\x00b"]],
    )
    def test_more_than_one_is_refused(self, values: list[str]) -> None:
        with pytest.raises(Unauthorized):
            bearer(values)

    @requirement("RPC-02")
    @given(st.lists(st.text(max_size=40), max_size=3))
    def test_a_token_never_holds_what_separates_tokens(self, values: list[str]) -> None:
        try:
            token = bearer(values)
        except Unauthorized:
            return
        assert token is None or (len(values) == 1 and " " not in token and "," not in token and token.isprintable())


@requirement("SRV-07")
def test_a_clients_name_is_fit_for_a_log() -> None:
    caller = Headers(surface="connect", authorization=(), user_agent="tool\x9b31m" + "x" * 200).caller()
    assert caller.client == "tool?31m" + "x" * 72


class TestApprovalWait:
    @requirement("RPC-11")
    @pytest.mark.parametrize(("values", "sec"), [([], None), (["0"], 0.0), (["1500"], 1.5), (["3600000"], 3600.0)])
    def test_a_caller_says_how_long_it_waits_for_a_person(self, values: list[str], sec: float | None) -> None:
        assert Headers(surface="grpc", authorization=[], approval_wait=values).caller().wait_sec == sec

    @requirement("RPC-11")
    @pytest.mark.parametrize("values", [["-1"], ["1.5"], ["soon"], [""], ["3600001"], ["1", "1"], ["\u0661"]])
    def test_what_is_no_time_is_refused(self, values: list[str]) -> None:
        with pytest.raises(InvalidArgument, match="approval-wait"):
            Headers(surface="grpc", authorization=[], approval_wait=values).caller()
