"""Rego through regopy: what its compiler and interpreter let pass is refused, and nothing they do ends this process."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.adapters.rego import Rego, RegoProgram
from codeplane.kernel.errors import PolicyInvalid
from codeplane.kernel.json import JsonObject, JsonValue
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-15")

PATIENCE_SEC = 30.0
SLOW = "some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a * b == 7"
HEAD = 'package p\n\nanswer := {"deny": deny}\n'


@contextmanager
def program(
    text: str, *, timeout_ms: float = 5000.0, compile_sec: float = PATIENCE_SEC, b: str | None = None
) -> Iterator[RegoProgram]:
    rego = Rego(timeout_ms=timeout_ms, compile_sec=compile_sec)
    texts = {"a.rego": text} | ({"b.rego": b} if b is not None else {})
    made = rego.program(texts, packages=dict.fromkeys(texts, "p"), entry="p/answer")
    try:
        yield made
    finally:
        made.close()


def problems(text: str, b: str | None = None) -> list[tuple[str, int, str]]:
    with program(text, b=b) as made, pytest.raises(PolicyInvalid) as caught:
        made.is_compiled(PATIENCE_SEC)
    listed = caught.value.details["problems"]
    assert isinstance(listed, list)
    return [(one["file"], one["line"], one["message"]) for one in listed if isinstance(one, dict)]


def test_a_policy_answers() -> None:
    with program(HEAD + 'deny contains "x" if input.a == 1\n') as made:
        assert made.evaluate({"a": 1}) == {"deny": ["x"]}
        assert made.evaluate({"a": 2}) == {"deny": []}


def _children() -> set[int]:
    """The processes that this one has started."""
    tasks = Path("/proc/self/task").iterdir()
    return {int(pid) for task in tasks for pid in (task / "children").read_text().split()}


def test_a_process_prepared_before_is_the_next_programs() -> None:
    text = HEAD + 'deny contains "x" if input.a == 1\n'
    rego = Rego(timeout_ms=5000.0, compile_sec=PATIENCE_SEC)
    others = _children()
    rego.prepare()
    (prepared,) = _children() - others
    first = rego.program({"a.rego": text}, packages={"a.rego": "p"}, entry="p/answer")
    second = rego.program({"a.rego": text}, packages={"a.rego": "p"}, entry="p/answer")
    try:
        assert first.pid == prepared != second.pid
        assert [made.evaluate({"a": 1}) for made in (first, second)] == [{"deny": ["x"]}] * 2
    finally:
        first.close()
        second.close()


def test_a_prepared_process_that_died_is_replaced() -> None:
    rego = Rego(timeout_ms=5000.0, compile_sec=PATIENCE_SEC)
    others = _children()
    rego.prepare()
    (prepared,) = _children() - others
    os.kill(prepared, signal.SIGKILL)
    # It stays to be reaped, so that its end can be waited for.
    os.waitid(os.P_PID, prepared, os.WEXITED | os.WNOWAIT)
    made = rego.program({"a.rego": HEAD + 'deny contains "x"\n'}, packages={"a.rego": "p"}, entry="p/answer")
    try:
        assert made.pid != prepared and made.evaluate({}) == {"deny": ["x"]}
    finally:
        made.close()


def test_a_prepared_process_ends_unused() -> None:
    rego = Rego(timeout_ms=5000.0)
    others = _children()
    rego.prepare()
    assert _children() != others
    rego.close()
    assert _children() == others


WRONG = {
    "a missing builtin": ("deny contains r if { r := foo.bar(1) }", "there is no function foo.bar"),
    "a builtin the library lacks": ('deny contains r if { r := http.send({"url": "x"}) }', "http.send is not allowed"),
    "one called by brackets": ('deny contains r if { r := http["send"]({"url": "x"}) }', "http.send is not allowed"),
    "the environment": ("deny contains r if { r := opa.runtime().env }", "opa.runtime is not allowed"),
    "one put in another's place": (
        'deny contains r if { r := 1; startswith("a", "b") with startswith as opa.runtime }',
        "opa.runtime is not allowed",
    ),
    "the clock": ("deny contains r if { r := time.now_ns() }", "time.now_ns is not allowed"),
    "chance": ('deny contains r if { r := rand.intn("x", 3) }', "rand.intn is not allowed"),
    "a made-up id": ('deny contains r if { r := uuid.rfc4122("x") }', "uuid.rfc4122 is not allowed"),
    "output": ('deny contains r if { print("x"); r := 1 }', "internal.print is not allowed"),
    "a function that calls itself": ("deny contains r if { r := f(3) }\nf(n) := f(n - 1)", "p.f depends on itself"),
    "rules in a circle": ("deny contains 1 if y\ny if not z\nz if not y", "depends on itself"),
    "a forgotten input": ('deny contains r if { actor.kind == "agent"; r := "x" }', "a name is used here that nothing"),
    "one below not": ('deny contains "x" if not actor.kind == "agent"', "a name is used here that nothing"),
    "a misspelt input": ('deny contains "x" if inptu.risk == "READ"', "a name is used here that nothing"),
    "half a rule": ("deny contains r if {", "unclosed"),
    "a set and a value": ('deny contains "x"\ndeny := true', "Invalid rule body"),
    "no Rego": ("this is not a policy at all )(", ""),
}  # fmt: skip


@pytest.mark.parametrize(("text", "output"), WRONG.values(), ids=WRONG.keys())
def test_what_would_be_silently_undefined_is_refused_with_file_and_line(text: str, output: str) -> None:
    found = problems(HEAD + text + "\n")
    assert any(output in message for _, _, message in found), found
    file, line, _ = next(one for one in found if output in one[2])
    assert file == "a.rego"
    assert line >= 4


def test_the_file_and_line_are_the_right_ones_of_several() -> None:
    other = "package p.lib\n\nimport rego.v1\n\n# a comment\nf(x) := y if {\n\ty := time.now_ns() + x\n}\n"
    found = problems(HEAD + 'deny contains "x" if data.p.lib.f(1) > 0\n', b=other)
    assert found == [("b.rego", 7, "time.now_ns is not allowed in a policy")]


def test_a_file_defines_rules_in_its_own_package_alone() -> None:
    found = problems(HEAD + 'deny contains "x"\n', b="package q\n\nanswer := 1\n")
    assert found == [("b.rego", 3, "q.answer is not in the package p")]
    assert problems(HEAD + 'deny contains "x"\n', b="package pp\n\nx := 1\n")[0][0] == "b.rego"
    with program(HEAD + "deny contains data.p.q.x\n", b='package p.q\n\nx := "y"\n') as made:
        assert made.evaluate({}) == {"deny": ["y"]}


def test_a_text_that_would_end_at_a_nul_is_refused() -> None:
    assert problems(HEAD + 'deny contains "x"\0 if false\n') == [("a.rego", 4, "it holds a NUL, and would end there")]


FAILING = {
    "an error of a builtin": 'deny contains r if { r := to_number("abc") }',
    "division by zero": "deny contains r if { r := 1 / input.zero }",
    "a wrong type": 'deny contains "x" if startswith(input.zero, "b")',
    "two values for one rule": "deny := input.zero\ndeny := 2",
    "nothing to say": "deny := 1 if input.missing",
}


@pytest.mark.parametrize("text", FAILING.values(), ids=FAILING.keys())
def test_an_error_is_raised_and_the_next_question_answered(text: str) -> None:
    with program(f"{HEAD}{text}\nother := 1\n") as made:
        for _ in range(2):
            with pytest.raises(RuntimeError):
                made.evaluate({"zero": 0})


@pytest.mark.parametrize(
    "body",
    [
        'regex.match("(a+)+$", input.text)',
        SLOW,
    ],
)
def test_what_takes_too_long_is_ended_and_the_next_question_answered(body: str) -> None:
    text = HEAD + f'deny contains "x" if {{ input.slow; {body} }}\n'
    with program(text, timeout_ms=500.0) as made:
        assert made.evaluate({"slow": False}) == {"deny": []}
        first = made.pid
        with pytest.raises(TimeoutError, match="longer than 500 ms"):
            made.evaluate({"slow": True, "text": "a" * 50 + "b"})
        assert made.pid != first
        assert made.is_compiled(PATIENCE_SEC)
        assert made.evaluate({"slow": False}) == {"deny": []}


async def test_the_loop_goes_on_while_a_program_is_asked() -> None:
    text = HEAD + f'deny contains "x" if {{ input.slow; {SLOW} }}\n'

    with program(text, timeout_ms=500.0) as made:
        assert await made.evaluate_async({"slow": False}) == {"deny": []}
        slow = asyncio.create_task(made.evaluate_async({"slow": True}))
        turns = 0
        while not slow.done():
            await asyncio.sleep(0)
            turns += 1
        assert turns > 10
        with pytest.raises(TimeoutError, match="longer than 500 ms"):
            await slow
        assert await made.evaluate_async('{"slow": false}') == {"deny": []}, "what it takes to compile is waited for"


async def test_who_stops_waiting_leaves_the_program_to_the_next() -> None:
    text = HEAD + f"deny contains input.n if {{ input.n == 1; {SLOW} }}\ndeny contains input.n if input.n != 1\n"

    with program(text, timeout_ms=500.0) as made:
        assert await made.evaluate_async({"n": 0}) == {"deny": [0]}
        slow = asyncio.create_task(made.evaluate_async({"n": 1}))
        await asyncio.sleep(0)
        slow.cancel()
        found = await asyncio.gather(*(made.evaluate_async({"n": n}) for n in range(2, 6)))
        assert found == [{"deny": [n]} for n in range(2, 6)], "each its own answer"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="not tested: this system cannot wait for others' processes")
def test_a_process_that_was_ended_by_others_is_started_again() -> None:
    with program(HEAD + "deny contains input.n\n") as made:
        assert made.evaluate({"n": 1}) == {"deny": [1]}
        for again in (made.evaluate, lambda document: asyncio.run(made.evaluate_async(document))):
            first = made.pid
            with os.fdopen(os.pidfd_open(first)) as watched:
                os.kill(first, signal.SIGKILL)
                assert select.select([watched], [], [], PATIENCE_SEC)[0]
            assert again({"n": 2}) == {"deny": [2]}
            assert made.pid != first


def test_what_ends_the_interpreter_ends_that_process_alone() -> None:
    with program(HEAD + 'deny contains "x" if regex.match("^(a|b)*$", input.text)\n') as made:
        assert made.evaluate({"text": "ab"}) == {"deny": ["x"]}
        with pytest.raises(RuntimeError, match="it crashed"):
            made.evaluate({"text": "a" * 1_000_000})
        assert made.is_compiled(PATIENCE_SEC)
        assert made.evaluate({"text": "c"}) == {"deny": []}


def test_what_ends_the_compiler_is_refused() -> None:
    deep = HEAD + "deny := " + "[" * 50_000 + "]" * 50_000 + "\n"
    with program(deep, compile_sec=2.0) as made, pytest.raises(PolicyInvalid, match=r"crashed|took over"):
        made.is_compiled(PATIENCE_SEC)


def test_a_compilation_that_takes_too_long_is_refused() -> None:
    long = HEAD + "".join(f"deny contains {n} if input.a == {n}\n" for n in range(3000))
    with program(long, compile_sec=0.2) as made, pytest.raises(PolicyInvalid, match="took over"):
        made.is_compiled(PATIENCE_SEC)


def test_a_compiler_without_cpu_time_is_waited_for() -> None:
    with program(HEAD + 'deny contains "x"\n', compile_sec=2.0) as made:
        os.kill(made.pid, signal.SIGSTOP)
        assert not made.is_compiled(2.5)
        os.kill(made.pid, signal.SIGCONT)
        assert made.evaluate({}) == {"deny": ["x"]}


def test_a_compiler_that_never_gets_cpu_time_is_given_up() -> None:
    with program(HEAD + 'deny contains "x"\n', compile_sec=0.05) as made:
        os.kill(made.pid, signal.SIGSTOP)
        with pytest.raises(PolicyInvalid, match="took over"):
            made.is_compiled(PATIENCE_SEC)


def test_it_can_be_looked_at_without_waiting() -> None:
    long = HEAD + "".join(f"deny contains {n} if input.a == {n}\n" for n in range(1000))
    with program(long) as made:
        assert not made.is_compiled(0.0)


def test_a_program_that_was_put_away_answers_nothing() -> None:
    with program(HEAD + 'deny contains "x"\n') as made:
        made.close()
        with pytest.raises(RuntimeError):
            made.evaluate({})


def test_many_threads_ask_one_program() -> None:
    wrong: list[JsonValue] = []

    def ask(number: int, made: RegoProgram) -> None:
        for _ in range(20):
            if (found := made.evaluate({"n": number})) != {"deny": [number]}:
                wrong.append(found)

    with program(HEAD + "deny contains input.n\n") as made:
        threads = [threading.Thread(target=ask, args=(number, made)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def echo() -> Iterator[RegoProgram]:
    with program(
        'package p\n\nanswer := {"given": input.given, "same": same}\n\nsame if input.given == input.again\n'
    ) as made:
        yield made


@settings(max_examples=100, deadline=None)
@given(value=_VALUES)
def test_every_value_arrives_as_it_was_sent(echo: RegoProgram, value: JsonValue) -> None:
    document: JsonObject = {"given": value, "again": json.loads(json.dumps(value))}
    assert echo.evaluate(document) == {"given": value, "same": True}


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**64 + 1, 10**30])
def test_a_number_that_would_become_another_is_an_error(echo: RegoProgram, number: int) -> None:
    with pytest.raises(RuntimeError, match="larger than numbers are"):
        echo.evaluate({"given": number, "again": number})


_ORPHAN = """
from codeplane.adapters.rego import Rego
body = 'some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a * b == 7'
text = 'package p\\n\\nanswer := 1 if { ' + body + ' }'
program = Rego(timeout_ms=600000.0).program({"a.rego": text}, packages={"a.rego": "p"}, entry="p/answer")
assert program.is_compiled(30.0)
print(program.pid, flush=True)
program.evaluate({})
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="not tested: this system cannot wait for others' processes")
def test_a_policy_that_runs_for_ever_does_not_outlive_a_server_that_is_killed() -> None:
    server = subprocess.Popen([sys.executable, "-c", _ORPHAN], stdout=subprocess.PIPE)
    assert server.stdout is not None
    pid = int(server.stdout.readline())
    watched = os.pidfd_open(pid)
    try:
        begun = _ticks(pid)
        # Only when it has computed for a while is it sure to be inside the policy.
        while _ticks(pid) < begun + 20:
            os.sched_yield()
        server.kill()
        server.communicate()
        assert select.select([watched], [], [], PATIENCE_SEC)[0], "it is still there"
    finally:
        os.close(watched)


def _ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
