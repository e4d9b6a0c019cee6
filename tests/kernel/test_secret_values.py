"""What a secrets file says that is a secret, and what is a word, a name, a path or an address like others."""

import base64
import html
import json
import random
import re
import shlex
import shutil
import string
import subprocess
import textwrap
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.redaction import MARK, Redactor
from codeplane.kernel.secret_matcher import SecretMatcher, splice
from codeplane.kernel.secret_values import is_public, values_of
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-51")

SECRET = (
    ("DB_PASSWORD=hunter2-correct", "hunter2-correct"),
    ("machine a.example login bob password hunter2-correct", "hunter2-correct"),
    ("machine a.example\n  login bob\n  password hunter2-correct\n", "hunter2-correct"),
    ("default login anonymous password x9Kd02mmQz", "x9Kd02mmQz"),
    ("https://bob:s3cr%40tpass@git.example", "s3cr@tpass"),
    ('SECRET_KEY="django-insecure-ab$%^12"', "django-insecure-ab$%^12"),
    ("export API_TOKEN=abcdef123456  # of the shop", "abcdef123456"),
    ("DB_PASS=correct horse battery staple", "correct horse battery staple"),
    ("authToken: 'x9Kd02mmQz'", "x9Kd02mmQz"),
    ('  "clientSecret": "c1ient-9secret",', "c1ient-9secret"),
    ("DATABASE_URL=postgres://bob:s3cr%40tpass@localhost:5432/db", "s3cr@tpass"),
    ("SENTRY_DSN=https://0123abcd4567ef@o1.ingest.example/1", "0123abcd4567ef"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("TOKENS=abcd1234efgh,ijkl5678mnop", "ijkl5678mnop"),
    ("SESSION_SECRET=Tr0ub4dor&3", "Tr0ub4dor&3"),
    ("API_KEY=walnut-778899", "walnut-778899"),
    ("STRIPE_KEY=topsecret-11223344", "topsecret-11223344"),
    ("DB_PASS=mango-4711-quux", "mango-4711-quux"),
    ("GPG_PASSPHRASE=correcthorsebatterystaple", "correcthorsebatterystaple"),
    ("SIGNING_KEY=/9j4AAQSkZJRgABAQEASABI+x==", "/9j4AAQSkZJRgABAQEASABI+x=="),
    ("SECRET_KEY=/9j4AAQSkZJR/gABAQEA/SABI+x==", "/9j4AAQSkZJR/gABAQEA/SABI+x=="),
    ("DB_PASSWORD=//x9Kd02mmQz", "//x9Kd02mmQz"),
    ("ADMIN_PASSWORD=$2b$12$KIXQ0123456789abcdefghuO9", "$2b$12$KIXQ0123456789abcdefghuO9"),
    ("DB_PASSWORD='$ecretPassw0rd'", "$ecretPassw0rd"),
    ("DB_PASSWORD=$3cr3tpw", "$3cr3tpw"),
    ("DB_PASSWORD=%x9Kd02mm%", "%x9Kd02mm%"),
    ("API_KEY=${API_KEY:-x9Kd02mmQz}", "x9Kd02mmQz"),
    ("API_KEY={{x9Kd02mmQz", "{{x9Kd02mmQz"),
)
ORDINARY = (
    "NODE_ENV=production",
    "DB_HOST=localhost:5432",
    "SECRET=production",
    "PASSWORD=password",
    "AUTH_BACKEND=django.contrib.auth.backends.ModelBackend",
    "TOKEN_URL=https://example.com/oauth/token",
    "PRIVATE_KEY_PATH=/etc/ssl/private/key1.pem",
    "KEY_FILE=./keys/server-2024.pem",
    "KEYBOARD_LAYOUT=us1234567x",
    "MONKEY=xk29dk20dk",
    "API_KEY=${OTHER_KEY1}",
    "API_KEY=<your-key-123>",
    "TOKEN_REGION=us-east-1-prod",
    "DB_PASSWORD=xxxxxxxxxx",
    "TOKEN=short1",
    "PASSWORD_HASHER=argon2id",
    "AUTH_TTL=1234567890",
    "API_KEY=release-2026",
    "AUTH_HOST=db.example.com:54321",
    "# DB_PASSWORD=hunter2-correct",
    "KEY_FILE=/run/secrets/9f8Xk2",
    "KEY_FILE=~/.ssh/id_ed25519",
    "KEY_FILE=../conf/KeyFile.pem",
    "AUTH_PATH=/api/v1/tokens",
    "PRIVATE_KEY=/srv/My-Certs/tls.2024.key",
    "PRIVATE_KEY=C:\\\\keys\\\\server1.pem",
    "DB_PASSWORD=$DB_PASSWORD_2",
    "DB_PASSWORD=$dbPassword2",
    "DB_PASSWORD=${DB_USER}:${DB_PASS1}",
    "DB_PASSWORD=$(pass show shop/db1)",
    "DB_PASSWORD=%DB_PASSWORD1%",
    "DB_PASSWORD=%(password1)s",
    "DB_PASSWORD={{ vault.db_password1 }}",
)


@pytest.mark.parametrize(("line", "value"), SECRET)
def test_a_secret_is_known_by_its_key(line: str, value: str) -> None:
    found = list(values_of(f"OTHER=1\n{line}\nLAST=2\n"))
    assert value in found and "1" not in found and "2" not in found


@pytest.mark.parametrize("line", ORDINARY)
def test_an_ordinary_word_is_none(line: str) -> None:
    assert list(values_of(f"{line}\n")) == []


def test_a_private_key_is_known_by_its_lines_and_a_certificate_is_none() -> None:
    line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
    key = f"-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----\n"
    public = key.replace("PRIVATE KEY", "CERTIFICATE")
    assert list(values_of(public + key, is_key=True)) == [line]
    assert list(values_of(f'KEY="{key}"')) == [line]
    assert list(values_of(public, is_key=True)) == []
    assert is_public(public) and not is_public(public + key) and not is_public("no key at all")
    assert list(values_of("0123456789abcdef\n", is_key=True)) == ["0123456789abcdef"]


@given(st.text(min_size=8, max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_every_form_is_found(value: str, before: str, after: str) -> None:
    redactor = Redactor(matcher=lambda: matcher)
    matcher = SecretMatcher([value])
    raw = (before + value + after).encode("utf-8", "surrogatepass")
    for text in (
        before + value + after,
        json.dumps(before + value + after),
        json.dumps([json.dumps(value)]),
        quote(value, safe="", errors="surrogatepass"),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
        raw.hex(),
        raw.hex().upper(),
        json.dumps(value).replace("/", r"\/"),
        quote(value, errors="surrogatepass"),
        re.sub("%..", lambda code: code[0].lower(), quote(value, safe="", errors="surrogatepass")),
        quote_plus(value, errors="surrogatepass"),
        shlex.quote(value),
        html.escape(value),
        repr(value),
        textwrap.fill(base64.b64encode(b"0" * 40 + raw + b"0" * 40).decode(), 64),
    ):
        assert not redactor.is_clean(text)
        assert MARK in redactor.text(text, assignments=False)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\n"])
@pytest.mark.parametrize("width", [8, 10, 16, 20, 31, 40])
def test_short_lines_hide_nothing(width: int, line_end: str) -> None:
    raw = b"some text before it hunter2-correct-horse and after it, longer"
    for encoded in (base64.b64encode(raw).decode(), raw.hex(), raw.hex().upper(), raw.hex(" ")):
        lines = [encoded[at : at + width] for at in range(0, len(encoded), width)]
        if " " in encoded:
            lines = [line.strip() for line in textwrap.wrap(encoded, width)]
        text = line_end.join(lines)
        seen = _seen("hunter2-correct-horse", text)
        assert MARK in seen and not _redactor("hunter2-correct-horse").is_clean(text), text
        # What is around it stays.
        assert seen.startswith(lines[0][:8]) and seen.endswith(lines[-1][-4:])


@pytest.mark.parametrize("form", [r"\x%02x", r"\\x%02X", r"\u%04x", "%%%02X", "0x%02x, ", "&#x%x;", "%02x ", "%02x:"])
def test_letters_that_are_written_one_by_one_are_found(form: str) -> None:
    value = "hunter2-correct-horse"
    text = f"before {''.join(form % ord(letter) for letter in value)} after"
    assert re.fullmatch(r"before .{0,3}\[redacted\][, :;]* after", _seen(value, text)), text
    other = f"before {''.join(form % ord(letter) for letter in 'nothing-of-the-kind')} after"
    assert _seen(value, other) == other


def test_what_od_and_xxd_print_is_found(tmp_path: Path) -> None:
    (file := tmp_path / "value").write_text("a b\nhunter2-correct-horse\n")
    commands = ["od -An -tx1", "od -tx1", "od -An -v -tx1 -w10", "xxd -p -c 10", "xxd -p"]
    for command in (one for one in commands if shutil.which(one.split()[0])):
        done = subprocess.run([*command.split(), file], capture_output=True, text=True, check=False)
        assert MARK in _seen("hunter2-correct-horse", done.stdout), done.stdout
        assert MARK in _seen("hunter2-correct-horse", json.dumps(done.stdout)), done.stdout


def test_a_question_shows_what_a_secrets_file_says() -> None:
    words = Redactor(matcher=lambda: SecretMatcher(["tok4prod9876", "rm -rf / # token"]))
    for text in ("curl -H tok4prod9876 x", "rm -rf / # token"):
        assert words.plainly(text) == text


@requirement("TRUST-53")
def test_values_of_any_number_and_length_are_found() -> None:
    draw = random.Random(1)
    values = ["".join(draw.choices(string.ascii_letters + string.digits, k=4000)) for _ in range(240)]
    twins = [f"{values[0][:3000]}{end}" for end in ("-one", "-another")]
    redactor = Redactor(matcher=lambda: matcher)
    matcher = SecretMatcher([*values, *twins, "short4secret"])
    for value in (*values[:3], values[-1], *twins, "short4secret"):
        raw = f"before {value} after".encode()
        assert redactor.text(raw.decode(), assignments=False) == f"before {MARK} after"
        encoded = redactor.text(base64.b64encode(raw).decode(), assignments=False)
        assert MARK in encoded and len(encoded) < 40
    # A part of one is left out as far as it goes.
    assert redactor.text(f"x {values[1][:2000]} y short4", assignments=False) == f"x {MARK} y short4"


def test_what_a_shell_writes_is_found() -> None:
    value = "pa$$w0rd 'of' \"mine\" \\ & <9>"
    matcher = SecretMatcher([value])
    redactor = Redactor(matcher=lambda: matcher)
    for script in ('printf %q "$1"', 'set -- "$1"; declare -p 1', "x=$1; declare -p x", "x=$1; set | grep ^x="):
        output = subprocess.run(
            ["bash", "-c", script, "bash", value], capture_output=True, text=True, check=False
        ).stdout
        assert not output or MARK in redactor.text(output, assignments=False), output


def _redactor(value: str) -> Redactor:
    matcher = SecretMatcher([value])
    return Redactor(matcher=lambda: matcher)


def _seen(value: str, text: str) -> str:
    return _redactor(value).text(text, assignments=False)


@pytest.mark.parametrize(
    ("value", "least"), [("hunter2-correct-horse", 16), ("x9Kd02mmQz4r7T", 8), ("correct horse battery staple", 16)]
)
def test_a_value_that_text_was_cut_in_leaves_no_half(value: str, least: int) -> None:
    for size in range(least, len(value)):
        assert _seen(value, f"x = {value[:size]}…") == f"x = {MARK}…"
        assert _seen(value, f"x = {value[:size]}… 12 bytes more\ny") == f"x = {MARK}… 12 bytes more\ny"
        assert _seen(value, f"x = {value[:size]}") == f"x = {MARK}"
        assert _seen(value, f"…{value[-size:]} = x") == f"…{MARK} = x"
        assert not _redactor(value).is_clean(json.dumps([f"x = {value[:size]}…"]))
        # As pytest does it.
        assert _seen(value, f"FAILED x: {value[:size]}...\n") == f"FAILED x: {MARK}...\n"
    # What anybody could have said stays.
    words = ("hunter…", "…horse", "correct…", "correct horse", "…staple", "a hunter", "x9", "horse…correct")
    for output in (*words, "a correct horse...", "......"):
        assert _seen(value, output) == output


@given(st.integers(0, 60), st.integers(1, 9))
def test_a_part_has_no_half_of_what_reaches_out_of_it(begin: int, size: int) -> None:
    value = "hunter2-correct-horse"
    data = f"some text before {value} and after it, some more".encode()
    matcher = SecretMatcher([value])
    spans = Redactor(matcher=lambda: matcher).spans(data)
    assert spans == [(17, 17 + len(value))]
    part = splice(data, spans, b"*", begin, begin + size)
    shown = bytes(sign if not 17 <= at < 17 + len(value) else 0 for at, sign in enumerate(data))[begin : begin + size]
    assert part == re.sub(b"\0+", b"*", shown)


def test_a_matcher_of_many_values_is_no_trap() -> None:
    for text in ("x" * 50 + "…", "." * 100, "a... ", "QUJD" * 19 + "\n", "/" * 80):
        assert _seen("hunter2-correct-horse", text * 2000) == text * 2000
    for value in (f"/{'a' * 60_000}!", f"${'a_' * 30_000}!", "${" * 30_000 + "1", "$(" * 30_000 + "1a"):
        list(values_of(f"DB_PASSWORD={value}"))
