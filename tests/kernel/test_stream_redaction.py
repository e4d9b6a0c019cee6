"""Text that comes in pieces is redacted as if it had come whole, wherever it was split."""

import base64
import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.kernel.redaction import MARK, Redactor
from codeplane.kernel.secret_matcher import SecretMatcher
from codeplane.kernel.stream_redaction import StreamRedaction
from tests.interaction.requirements import requirement

pytestmark = requirement("LOG-53")

TOKEN = "cpl_" + "k3Zq9xW2" * 6
VALUE, PHRASE = "hunter2-correct-horse", "open the pod bay doors 2001"
MATCHER = SecretMatcher([VALUE, PHRASE])
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEAr7x4\n" * 6 + "-----END RSA PRIVATE KEY-----"
SECRETS = (
    TOKEN,
    VALUE,
    PHRASE,
    VALUE.encode().hex(),
    " ".join(f"{byte:02x}" for byte in VALUE.encode()),
    base64.encodebytes((VALUE * 4).encode()).decode(),
    KEY,
    "ghp_" + "aB3dE5gH7j" * 4,
    "Authorization: Bearer abcdef123456ghijkl",
    "password = 'aB3dE5gH7jKl9'",
    "--token s3cr3tV4lue9",
    "https://user:pa55w0rd@example.com/x",
    "AKIA1234567890ABCDEF",
)
WORDS = (
    *("the", "token", "of a face", "password", "is", "Bearer", "-----BEGIN", "PRIVATE KEY-----", "…", "hunter2"),
    *("open the pod", "authorization:", "\n", "\n\n", "\t", "  ", "=", "-----BEGIN CERTIFICATE-----\nMIIB\n", "äöü 🙂"),
)
TEXTS = st.lists(st.sampled_from((*SECRETS, *WORDS)) | st.text(max_size=12), max_size=14).flatmap(
    lambda parts: st.lists(st.sampled_from((" ", "\n", "", ", ")), min_size=len(parts), max_size=len(parts)).map(
        lambda between: "".join(part + gap for part, gap in zip(parts, between, strict=True))
    )
)


def redactor() -> Redactor:
    return Redactor([TOKEN], lambda: MATCHER)


def streamed(pieces: list[str]) -> str:
    stream = StreamRedaction(redactor())
    return "".join([*(stream.take(piece) for piece in pieces), stream.finish()])


def split(text: str, places: list[int]) -> list[str]:
    cuts = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[first:last] for first, last in itertools.pairwise(cuts)]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS, places=st.lists(st.integers(0, 10_000), max_size=12))
def test_any_split_gives_the_same_redacted_whole(text: str, places: list[int]) -> None:
    assert streamed(split(text, places)) == redactor().text(text)
    assert streamed(list(text)) == redactor().text(text)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_in_two_pieces_does_not_pass(secret: str) -> None:
    text = f"before {secret} and after\n"
    expected = redactor().text(text)
    assert MARK in expected
    for at in range(len(text)):
        assert streamed([text[:at], text[at:]]) == expected


def test_words_are_shown_as_they_end() -> None:
    stream = StreamRedaction(redactor())
    assert [stream.take(piece) for piece in ("The ans", "wer is fo", "rty two", ".\n")] == [
        "The ",
        "answer is ",
        "forty ",
        "two.\n",
    ]
    assert stream.finish() == ""


def test_what_is_held_back_is_bounded_and_left_out_where_it_is_longer() -> None:
    long_word, bound = "x1" * 20_000, redactor().margin
    text = f"a {long_word} b {TOKEN} c"
    assert len(long_word) > bound
    whole = streamed([text])
    assert whole == f"a {MARK} b {MARK} c"
    assert streamed(split(text, [3, 17_000, 20_001, 39_000])) == whole == streamed(list(text))
    endless = KEY.replace("-----END RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEAr7x4\n" * 2000)
    assert streamed([endless]) == MARK == streamed(split(endless, [40, 15_000, 30_000]))
    ended = f"{endless}-----END RSA PRIVATE KEY----- done"
    assert "MIIE" not in streamed([ended]) and streamed([ended]).endswith(" done")
