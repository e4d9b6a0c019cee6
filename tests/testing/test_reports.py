"""Reports of runners that are not installed here, as their documentation shows them; and reports that nobody wrote."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.testing.case import MAX_STACK, UnreadableReport
from codeplane.testing.report import formats, parse_cases, read_contents
from codeplane.testing.runner import runners
from tests.interaction.requirements import requirement

RECORDED = Path(__file__).parent / "recorded"


def _read(report_format: str, name: str) -> dict[str, tuple[str, str, str]]:
    found = parse_cases(report_format, (RECORDED / name).read_bytes())
    return {one.name: (one.status, one.kind, one.message) for one in found}


@requirement("TST-03")
def test_every_runner_has_a_report_that_can_be_read() -> None:
    assert {one.report for one in runners().values()} <= set(formats())


@requirement("TST-03")
def test_maven() -> None:
    assert _read("junit", "surefire.xml") == {
        "adds": ("passed", "", ""),
        "totals": ("failed", "org.opentest4j.AssertionFailedError", "expected: <3> but was: <2>"),
        "explodes": ("error", "java.lang.NullPointerException", "null"),
        "later": ("skipped", "", "not yet"),
    }


@requirement("TST-03")
def test_gradle() -> None:
    found = parse_cases("junit", (RECORDED / "gradle.xml").read_bytes())
    assert [(one.name, one.status, one.duration_ms, one.owner) for one in found] == [
        ("rounds()", "passed", 20, "com.example.PriceTest"),
        ("parses()", "failed", 11, "com.example.PriceTest"),
    ]
    assert "PriceTest.java:18" in found[1].stack


@requirement("TST-03")
def test_dotnet() -> None:
    found = parse_cases("trx", (RECORDED / "dotnet.trx").read_bytes())
    assert [(one.name.rpartition(".")[2], one.status, one.duration_ms, one.line) for one in found] == [
        ("Adds", "passed", 12, None),
        ("Totals", "failed", 1500, 17),
        ("Later", "skipped", 0, None),
    ]
    assert found[1].message.startswith("Assert.Equal() Failure")


@requirement("TST-03")
def test_rspec() -> None:
    assert _read("rspec", "rspec.json") == {
        "Cart adds": ("passed", "", ""),
        "Cart totals": (
            "failed",
            "RSpec::Expectations::ExpectationNotMetError",
            "expected: 3 got: 2 (compared using ==)",
        ),
        "Cart later": ("skipped", "", "Not yet implemented"),
    }


def test_rspec_that_could_not_load() -> None:
    data = (
        b'{"examples":[],"messages":["\\nAn error occurred while loading ./spec/a_spec.rb.\\n'
        b'Failure/Error: require \\"nothing\\"\\n\\nLoadError:\\n  cannot load such file"],'
        b'"summary":{"errors_outside_of_examples_count":1}}'
    )
    (found,) = parse_cases("rspec", data)
    assert (found.status, found.kind) == ("error", "LoadError")


def test_go() -> None:
    assert _read("go", "go.jsonl") == {
        "TestAdd": ("passed", "", ""),
        "TestTotal/empty": ("failed", "failure", "total = 2, want 3"),
        "TestLater": ("skipped", "", "cart_test.go:30: not yet"),
        "price": ("error", "BuildFailed", "price/price.go:4:9: undefined: nothing"),
    }


def test_mix() -> None:
    found = parse_cases("mix", (RECORDED / "mix.txt").read_bytes())
    assert [(one.name, one.status, one.kind, one.message, one.file, one.line) for one in found] == [
        ("test adds", "passed", "", "", "test/cart_test.exs", 4),
        ("test totals", "failed", "ExUnit.AssertionError", "Assertion with == failed", "test/cart_test.exs", 8),
        ("test later", "skipped", "", "", "test/cart_test.exs", 12),
        ("test raises", "failed", "RuntimeError", "no price", "test/cart_test.exs", 16),
    ]


def test_mix_that_does_not_compile() -> None:
    output = b"** (CompileError) lib/cart.ex:3: undefined function nothing/0\n    (elixir) lib/x.ex\n"
    (found,) = parse_cases("mix", output)
    assert (found.status, found.kind) == ("error", "CompileError")


def test_cargo_that_does_not_compile() -> None:
    output = b"   Compiling tiny v0.1.0\nerror[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:2:5\n"
    (found,) = parse_cases("cargo", output)
    assert (found.kind, found.message) == ("BuildFailed", "cannot find value `x` in this scope")


BOMB = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuites><testsuite><testcase name="&b;"/></testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("report_format", "data"),
    [
        ("junit", BOMB),
        ("trx", BOMB),
        ("junit", b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuites/>'),
        ("junit", b"<testsuites><testsuite>"),
        ("junit", b""),
        ("junit", b"<a>" * 200 + b"</a>" * 200),
        ("jest", b"{}"),
        ("jest", b"not JSON"),
        ("jest", b"[" * 100_000),
        ("rspec", b'{"examples": 3}'),
        ("unittest", b'[{"name": 1}]'),
    ],
)
def test_what_is_no_report_is_refused(report_format: str, data: bytes) -> None:
    with pytest.raises(UnreadableReport):
        parse_cases(report_format, data)


def test_more_cases_than_are_read_are_refused() -> None:
    with pytest.raises(UnreadableReport):
        parse_cases("junit", b"<testsuite>" + b'<testcase name="x"/>' * 50_001 + b"</testsuite>")


def test_a_huge_report_is_not_read(tmp_path: Path) -> None:
    report = tmp_path.resolve() / "report"
    with report.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(UnreadableReport):
        read_contents(report)


def test_a_report_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("<testsuites>token</testsuites>")
    (tmp_path / "report").symlink_to(secret)
    assert b"token" not in (read_contents(tmp_path.resolve() / "report") or b"")


def test_long_stacks_are_cut_and_say_so() -> None:
    data = (
        b'<testsuite><testcase name="x"><failure message="m">'
        + b"frame\n" * 10_000
        + b"</failure></testcase></testsuite>"
    )
    (found,) = parse_cases("junit", data)
    assert len(found.stack) < MAX_STACK + 100
    assert "characters cut" in found.stack


@given(st.sampled_from(sorted(formats())), st.binary(max_size=300))
def test_bytes_of_any_kind_are_read_or_refused(report_format: str, data: bytes) -> None:
    try:
        parse_cases(report_format, data)
    except UnreadableReport:
        pass
