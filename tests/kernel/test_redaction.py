"""Secrets are taken out of text and JSON, and what only looks a little like one stays."""

import base64
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.json import JsonValue, dumps
from codeplane.kernel.redaction import MARK, Redactor, prompt_hash
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-29")

redacted, redacted_json = Redactor().text, Redactor().json

R40 = "a8Bc3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7cDe"
BODY = base64.b64encode(bytes(range(200))).decode()
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----"

# Put together here, so that no scanner of the repository takes them for real ones.
SECRETS = {
    "jwt": "ey" + "JhbGciOiJFZERTQSJ9.eyJzdWIiOiJhZ2VudCJ9." + R40,
    "jwt without a signature": "ey" + "JhbGciOiJub25lIn0.eyJzdWIiOiJhZ2VudCJ9.",
    "owner token": "cpl_" + R40,
    "device token": "cpd_" + R40,
    "aws": "AKIA" + "IOSFODNN7EXAMPL3",
    "github": "ghp_" + R40[:36],
    "github fine": "github_pat_" + R40,
    "gitlab": "glpat-" + R40[:20],
    "slack": "xoxb-" + "123456789012-abcdefGHIJ",
    "google": "AIza" + R40[:35],
    "google oauth": "ya29." + R40,
    "stripe": "sk_live_" + R40[:24],
    "openai": "sk-proj-" + R40,
    "anthropic": "sk-ant-api03-" + R40,
    "npm": "npm_" + R40[:36],
    "hugging face": "hf_" + R40[:34],
    "private key": KEY,
    "private key on one line": KEY.replace("\n", "\\n"),
    "private key cut off": KEY[:150],
}


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("around", ["{}", "before {} after", '{{"x": "{}"}}', "ümläut {} ünd", "x={}\n", "({})"])
def test_known_shapes_go_wherever_they_stand(name: str, around: str) -> None:
    secret = SECRETS[name]
    text = redacted(around.format(secret))
    assert text == around.format(MARK)
    assert Redactor().text(around.format(secret), assignments=False) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Authorization: Bearer abcdef", f"Authorization: Bearer {MARK}"),
        ('"authorization":"Basic dXNlcjpwYXNz"', f'"authorization":"Basic {MARK}"'),
        (f"bearer {R40}", f"bearer {MARK}"),
        ("postgres://me:hunter2@db/x", f"postgres://me:{MARK}@db/x"),
        ("redis://:s3cr@t@host:6379/0", f"redis://:{MARK}@host:6379/0"),
        ("https://me:p@ss@host/a and more", f"https://me:{MARK}@host/a and more"),
        ("DB_PASSWORD=Tr0ub4dor&3xyz", f"DB_PASSWORD={MARK}"),
        ("password: 'superS3cretThing'", f"password: '{MARK}'"),
        (f'"client_secret": "{R40}"', f'"client_secret": "{MARK}"'),
        (f"X-Api-Key: {R40}", f"X-Api-Key: {MARK}"),
        (f"aws_secret_access_key = {R40}", f"aws_secret_access_key = {MARK}"),
        (f'{{\\"token\\": \\"{R40}\\"}}', f'{{\\"token\\": \\"{MARK}\\"}}'),
        ("tool --password hunter22 --force", f"tool --password {MARK} --force"),
        ("tool --api-key=abc123xyz", f"tool --api-key={MARK}"),
        ("https://hooks.slack.com/services/T0/B0/" + R40[:24], f"https://hooks.slack.com/services/{MARK}"),
    ],
)
def test_what_stands_before_a_secret_stays(text: str, kept: str) -> None:
    assert redacted(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "token = request.POST.get('token')", "password = form.cleaned_data['password1']",
        "tokens = tokens[:-1]", "pass_rate: 0.98765432",
        'password="password"', "secret = settings.SECRET_KEY", "token: str | None = None", "token = csrf_token_2",
        "https://host:8080/path", "postgres://user:password@host/db", "postgres://user:${PASSWORD}@host",
        "git@github.com:owner/name.git", "mailto:a@b.c", "bearer authentication is needed here", "basic understanding",
        "max_tokens=4096", "idempotency_key=key_0198f2a1b3c4", "sha256:" + "ab" * 32, "-----BEGIN CERTIFICATE-----",
        "if line == '-----BEGIN PRIVATE KEY-----':", "sk-folding-cube-animation", "AKIAIOSFODNNEXAMPLE", "npm_config_x",
        "cpl_call_operation", "grant_0198f2a1b3c4d5", "token=<your token here>", "--token TOKEN", "--password -f",
        "x = sk_live_", "commit 2cfba92d8434b8c59204837ceabca78ed01fd2fede", "token=$GITHUB_TOKEN_2",
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted(text) is text


def test_source_code_keeps_its_assignments_where_that_is_asked_for() -> None:
    text = "PASSWORD = 'Tr0ub4dor3xyz'"
    assert Redactor().text(text, assignments=False) == text
    assert redacted(text) != text


def test_secrets_that_were_named_go_whole_and_short_ones_are_not_named() -> None:
    redactor = Redactor(known=["correcthorse", "correcthorsebattery", "the", ""])
    assert redactor.text("a correcthorsebattery b correcthorse the") == f"a {MARK} b {MARK} the"
    assert redacted("a correcthorsebattery") == "a correcthorsebattery"
    assert redactor.json({"a": ["xcorrecthorsex"]}) == {"a": [f"x{MARK}x"]}


def test_json_is_walked_through_and_secret_names_are_believed() -> None:
    value: JsonValue = {
        "operation": "git.push",
        "remote": "https://me:hunter2@host/x.git",
        "nested": [{"token": "plainword", "next_page_token": "abcdefghij", "n": 1}, SECRETS["github"], None, True],
        "password": "aaaaaaaa",
        "Set-Cookie": "session=abc; x",
        "secret": 5,
    }
    assert redacted_json(value) == {
        "operation": "git.push",
        "remote": f"https://me:{MARK}@host/x.git",
        "nested": [{"token": MARK, "next_page_token": "abcdefghij", "n": 1}, MARK, None, True],
        "password": MARK,
        "Set-Cookie": MARK,
        "secret": 5,
    }


def test_json_without_secrets_is_given_back_as_it_is() -> None:
    value: JsonValue = {"operation": "write_files", "changed_paths": ["a.py"], "n": 1.5}
    assert redacted_json(value) is value


def test_deep_and_odd_json_is_bounded() -> None:
    deep: JsonValue = "password=Tr0ub4dor3xyz"
    for _ in range(sys.getrecursionlimit() * 2):
        deep = [deep]
    assert "Tr0ub4dor" not in repr_of(redacted_json(deep))
    assert redacted_json({"x": float("nan"), "token": "abcdefghi"}) != {}


def repr_of(value: JsonValue) -> str:
    """The innermost thing of nested lists."""
    while isinstance(value, list):
        value = value[0]
    return str(value)


@given(st.text(), st.sampled_from(sorted(SECRETS.values())), st.text())
def test_no_surroundings_save_a_secret(before: str, secret: str, after: str) -> None:
    text = redacted(f"{before} {secret} {after}")
    assert secret not in text
    assert redacted(text) == text


VALUES = st.recursive(
    st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)


@given(VALUES)
def test_the_quick_look_misses_nothing(value: JsonValue) -> None:
    redactor = Redactor()
    for secret in ("token\t=\t" + R40, SECRETS["jwt"], "Bearer\t" + R40, KEY, 'password="Tr0ub4dor3"'):
        found = redactor.json({"other": value, "here": secret})
        assert isinstance(found, dict)
        assert found["here"] == redactor.text(secret) != secret


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    assert isinstance(redacted(text + "\ud800"), str)
    assert redacted_json({text: text}) is not None


@pytest.mark.parametrize(
    "part", ["token=", "://a:", "-----BEGIN PRIVATE KEY-----", "eyJ", "--token ", "Bearer ", "pass"]
)
def test_a_long_text_of_beginnings_is_taken(part: str) -> None:
    """With an engine that goes back and forth this would not end."""
    assert redacted(part * 100_000) == part * 100_000


def test_prompts_are_told_apart_by_hash_alone() -> None:
    assert prompt_hash("a") == prompt_hash("a") != prompt_hash("b")
    assert prompt_hash("explain this").startswith("sha256:")
    assert "explain" not in prompt_hash("explain this")
    assert prompt_hash("\ud800") != prompt_hash("")


def test_counts_of_tokens_are_clean_and_hide_no_secret_beside_them() -> None:
    redactor = Redactor()
    counts: JsonValue = {"input_tokens": 10, "output_tokens": 5, "cached_tokens": None, "max_tool_tokens": 200_000}
    assert redactor.is_clean(dumps(counts)) and redactor.json(counts) is counts
    for secret in SECRETS.values():
        beside: JsonValue = {"input_tokens": 10, "text": secret, "tokens": 5}
        assert not redactor.is_clean(dumps(beside)) and secret not in dumps(redactor.json(beside)), secret
    # A text under such a name, and a count inside of a text, are looked at as before.
    assert not redactor.is_clean(dumps({"tokens": "hunter2-correct-horse", "input_tokens": 1}))
    assert not redactor.is_clean(dumps({"text": '{"auth_token":1234567890123}', "input_tokens": 1}))
