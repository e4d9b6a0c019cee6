"""Fingerprints: equal when nothing but incidental detail differs, and only then."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.call import Effects, Failure
from codeplane.kernel.trace import normalise_trace
from codeplane.work.task import failure_fingerprint, mutation_fingerprint
from tests.interaction.requirements import requirement

PYTHON = """Traceback (most recent call last):
  File "{folder}/pkg/core/mod.py", line {line}, in handle
    return self.run(<Thing object at {address}>)
  File "{folder}/pkg/run.py", line {line}2, in run
ValueError: bad value in {folder}/pkg/data.json at {at} (id {uuid}, run {number})
{folder}/tmp{token} is gone; took {number}.25s
"""
PLAIN = {
    "folder": "/home/me/repo",
    "line": "10",
    "address": "0x7f00deadbeef",
    "at": "2026-01-02T03:04:05.678Z",
    "uuid": "0b0c7a5e-3f6d-5d1e-9c57-0d8b1d1f6a10",
    "number": "7",
    "token": "abc",
}
INCIDENTAL = [
    {"folder": "/tmp/pytest-of-root/pytest-12/x"},
    {"folder": "/r"},
    {"folder": "/Users/my name/the repo"},
    {"folder": "C:\\Users\\me\\repo"},
    {"line": "99999"},
    {"address": "0xA"},
    {"at": "1999-12-31 23:59:59"},
    {"at": "2026-01-02T03:04:05+02:00"},
    {"at": "2026-01-02 03:04:05,678"},
    {"uuid": "FFFFFFFF-3f6d-7d1e-9c57-0d8b1d1f6a11"},
    {"number": "123456"},
    {"token": "zz9"},
]


@requirement("TASK-03")
@pytest.mark.parametrize("change", INCIDENTAL, ids=str)
def test_incidental_details_do_not_count(change: dict[str, str]) -> None:
    if " " in change.get("folder", ""):
        # Only where a path is quoted can it be told where one with spaces ends.
        first, other = (PYTHON.split("ValueError")[0].format(**{**PLAIN, **more}) for more in ({}, change))
    else:
        first, other = PYTHON.format(**PLAIN), PYTHON.format(**{**PLAIN, **change})
    assert normalise_trace(first) == normalise_trace(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/pkg/mod.py:12: AssertionError", "/abs/src/pkg/mod.py:99: AssertionError"),
        ("tests/unit/test_a.py::test_b FAILED", "./tests/unit/test_a.py::test_b FAILED"),
        ("at Foo (/a/b/c.js:1:2)", "at Foo (C:\\x\\c.js:10:22)"),
        ("java.lang.Object@1b6d3586", "java.lang.Object@7cca494b"),
        ("goroutine 1 [running]: main.go:12 +0x1d", "goroutine 77 [running]: main.go:99 +0x2f"),
        ("commit 0123456789abcdef0123456789abcdef01234567", "commit fedcba9876543210fedcba9876543210fedcba98"),
        ("a\n  b\tc", "a\n b c  \n"),
    ],
)
def test_the_same_place_written_in_another_way(one: str, other: str) -> None:
    assert normalise_trace(one) == normalise_trace(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("in mod.py: KeyError", "in other.py: KeyError"),
        ("KeyError: 'a'", "KeyError: 'b'"),
        ("expected text/html", "expected text/plain"),
        ("assert foo() == bar()", "assert foo() == baz()"),
        ("line one\nline two", "line two\nline one"),
        ("/repo/pkg/mod.py in handle", "/repo/pkg/mod.py in run"),
    ],
)
def test_different_failures_stay_different(one: str, other: str) -> None:
    assert normalise_trace(one) != normalise_trace(other)


@given(st.text())
def test_what_is_normal_stays_as_it_is(text: str) -> None:
    once = normalise_trace(text)
    assert normalise_trace(once) == once or "<" in once or "/" in text or "\\" in text


FAILURE = Failure(kind="AssertionError", trace="boom at x.py:1", failing_tests=("a", "b"), exit_code=1)


@pytest.mark.parametrize(
    "same",
    [
        Failure(kind="pkg.AssertionError", trace="boom at /q/x.py:22", failing_tests=("b", "a"), exit_code=1),
        Failure(kind="AssertionError", trace="  boom at x.py:3\n", failing_tests=("a", "b"), exit_code=1),
    ],
)
def test_the_same_failure_has_the_same_fingerprint(same: Failure) -> None:
    assert failure_fingerprint(same) == failure_fingerprint(FAILURE)


@pytest.mark.parametrize(
    "different",
    [
        Failure(kind="ValueError", trace=FAILURE.trace, failing_tests=("a", "b"), exit_code=1),
        Failure(kind=FAILURE.kind, trace="bang at x.py:1", failing_tests=("a", "b"), exit_code=1),
        Failure(kind=FAILURE.kind, trace=FAILURE.trace, failing_tests=("a",), exit_code=1),
        Failure(kind=FAILURE.kind, trace=FAILURE.trace, failing_tests=("a", "b"), exit_code=2),
        Failure(kind=FAILURE.kind, trace=FAILURE.trace, failing_tests=("a", "b")),
    ],
)
def test_another_failure_has_another_fingerprint(different: Failure) -> None:
    assert failure_fingerprint(different) != failure_fingerprint(FAILURE)


def test_a_crash_is_the_same_wherever_it_is_raised_from() -> None:
    def broken() -> None:
        raise ValueError("x")

    prints = set()
    for _ in range(2):
        try:
            broken()
        except ValueError as error:
            prints.add(failure_fingerprint(Failure.of(error)))
    assert len(prints) == 1


CHANGE = Effects(changed_paths=("a",), files_changed_hash="h", insertions=1, deletions=2, symbol_changes=("f", "g"))


def test_a_change_is_its_content_and_not_its_order() -> None:
    same = Effects(changed_paths=("b",), files_changed_hash="h", insertions=1, deletions=2, symbol_changes=("g", "f"))
    assert mutation_fingerprint(CHANGE) == mutation_fingerprint(same)
    for other in (
        Effects(changed_paths=("a",), files_changed_hash="i", insertions=1, deletions=2, symbol_changes=("f", "g")),
        Effects(changed_paths=("a",), files_changed_hash="h", insertions=2, deletions=1, symbol_changes=("f", "g")),
        Effects(changed_paths=("a", "b"), files_changed_hash="h", insertions=1, deletions=2, symbol_changes=("f", "g")),
        Effects(changed_paths=("a",), files_changed_hash="h", insertions=1, deletions=2, symbol_changes=("f",)),
    ):
        assert mutation_fingerprint(CHANGE) != mutation_fingerprint(other)


@pytest.mark.parametrize("text", ["/-", "a/", "x" * 50 + "\n", '"File "/', "0x", "1", "a.b/"])
def test_a_trace_of_megabytes_costs_milliseconds(text: str) -> None:
    began = time.process_time()
    normalise_trace(text * (3_000_000 // len(text)))
    assert time.process_time() - began < 0.5
