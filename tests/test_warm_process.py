"""Processes that are forked behave as ones that are started."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import CPL, PATIENCE_SEC, cpl, make_repo
from tests.interaction.requirements import requirement
from tests.warm_process import _POLICIES, WarmProcess, _Forked, _Order, _start_template, _template, can_be_forked

pytestmark = requirement("DOCS-06")

PROGRAM = """
import os, sys, tempfile, time
print(sys.argv[1:], os.getcwd(), os.environ["NAME"], tempfile.gettempdir(), time.tzname[0], sys.stdin.read())
sys.exit(7)
"""
AT_THE_END = """
import atexit, sys, threading
atexit.register(lambda: sys.stdout.write("end"))
threading.Thread(target=lambda: (threading.main_thread().join(), print("thread"))).start()
sys.stderr.write("why")
sys.exit(3)
"""
WORKERS = """
import os, signal, sys
from codeplane.index.worker_process import Worker
one, other = Worker(), Worker()
print(one.answers(), other.answers(), one.is_alive, one.pid != other.pid)
os.kill(one.pid, signal.SIGKILL)
print(one.was_killed(), one.is_alive, one.answers(), other.answers())
other.end()
print(other.is_alive, os.path.exists(f"/proc/{other.pid}"))
"""
POLICIES = """
import os, signal, sys
from codeplane.adapters.rego import Rego
text = 'package p\\n\\nanswer := {"deny": deny}\\ndeny contains "x" if input.a == 1\\n'
rego = Rego(timeout_ms=60000)
rego.prepare()
one, other = (rego.program({"a.rego": text}, packages={"a.rego": "p"}, entry="p/answer") for _ in range(2))
print(one.is_compiled(60), other.is_compiled(60), one.pid != other.pid)
print(one.evaluate({"a": 1}), other.evaluate({"a": 2}))
os.kill(one.pid, signal.SIGKILL)
try:
    print(one.evaluate({"a": 1}))
except RuntimeError as error:
    print(error)
print(one.evaluate({"a": 1}))
for program in (one, other):
    program.close()
    print(os.path.exists(f"/proc/{program.pid}"))
"""


@pytest.mark.parametrize("arguments", [("--version",), ("call",), ("no-such-command",)])
def test_cpl_says_and_returns_the_same(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    command = [CPL, *arguments]
    started = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=PATIENCE_SEC)
    with WarmProcess(command, cwd=tmp_path) as forked:
        assert forked.communicate(PATIENCE_SEC) == (started.stdout, started.stderr)
    assert forked.wait() == started.returncode


def test_a_program_gets_its_arguments_folder_variables_and_input(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with tempfile.TemporaryFile() as typed:
        typed.write(b"typed")
        typed.seek(0)
        command = [str(program), "one", "two"]
        environ = {"NAME": "value", "TMPDIR": str(tmp_path), "TZ": "XYZ-3"}
        with WarmProcess(command, cwd=tmp_path, environ=environ, stdin=typed.fileno()) as forked:
            stdout, _ = forked.communicate(PATIENCE_SEC)
    assert stdout.decode() == f"['one', 'two'] {tmp_path} value {tmp_path} XYZ typed\n"
    assert forked.poll() == 7


def test_one_that_ends_waits_for_its_threads_and_then_does_what_was_left_for_the_end(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(AT_THE_END)
    with WarmProcess([str(program)]) as forked:
        stdout, stderr = forked.communicate(PATIENCE_SEC)
    assert (stdout, stderr, forked.poll()) == (b"thread\nend", b"why", 3)


@pytest.mark.parametrize("ending", ["", "sys.exit(2)", "sys.exit('why')", "raise KeyError"])
def test_one_whose_output_nobody_takes_ends_as_a_started_one_does(tmp_path: Path, ending: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"import sys\nsys.stdin.read()\nprint('lost')\n{ending}")

    def ended(start: Callable[[int], WarmProcess | subprocess.Popen[bytes]]) -> int:
        typed, go_on = os.pipe()
        with os.fdopen(go_on, "wb"), os.fdopen(typed, "rb"):
            process = start(typed)
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
        with process.stderr:
            return process.wait(timeout=PATIENCE_SEC)

    pipe = subprocess.PIPE
    command = [sys.executable, str(program)]
    started = ended(lambda typed: subprocess.Popen(command, stdin=typed, stdout=pipe, stderr=pipe))
    assert ended(lambda typed: WarmProcess(command[1:], stdin=typed)) == started != 0


def test_what_parses_for_one_behaves_as_what_a_started_one_has(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(WORKERS)
    started = subprocess.run([sys.executable, str(program)], capture_output=True, timeout=PATIENCE_SEC)
    with WarmProcess([str(program)]) as forked:
        assert forked.communicate(PATIENCE_SEC) == (started.stdout, started.stderr)
    assert started.stdout == b"True True True True\nTrue False False True\nFalse False\n"


def test_what_runs_policies_for_one_behaves_as_what_a_started_one_has(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(POLICIES)
    started = subprocess.run([sys.executable, str(program)], capture_output=True, timeout=PATIENCE_SEC)
    with WarmProcess([str(program)]) as forked:
        assert forked.communicate(PATIENCE_SEC) == (started.stdout, started.stderr)
    lines = started.stdout.decode().splitlines()
    assert lines[:2] == ["True True True", "{'deny': ['x']} {'deny': []}"]
    assert lines[-3:] == ["{'deny': ['x']}", "False", "False"]


def test_what_is_forked_ends_with_the_process_that_it_was_forked_from(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import signal\nprint('ready', flush=True)\nsignal.pause()\n")
    orders, template = _start_template("tests.warm_process", _POLICIES)
    output, printed = os.pipe()
    with orders, os.fdopen(output) as lines:
        order = _Order(arguments=[str(program)], module=None, cwd=str(tmp_path), environ={}, session=True)
        _Forked(orders, order, [0, printed, printed])
        os.close(printed)
        assert lines.readline() == "ready\n"
        template.kill()
        template.wait()
        assert lines.read() == ""


def test_a_server_in_the_background_is_listed_as_a_started_one_is(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    command = [CPL, "up", "--detach", "--json"]

    def listed(run: Callable[[], bytes]) -> tuple[list[str], bool]:
        pid = json.loads(run())["pid"]
        arguments = Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
        leads = os.getsid(pid) == pid
        assert cpl("down", cwd=repo).stdout == f"ended (pid {pid})\n"
        return [word for word in arguments if word != "-P"], leads

    def forked() -> bytes:
        with WarmProcess(command, cwd=repo) as process:
            return process.communicate(PATIENCE_SEC)[0]

    started = listed(lambda: subprocess.run(command, cwd=repo, capture_output=True, timeout=PATIENCE_SEC).stdout)
    assert listed(forked) == started and "--background" in started[0] and started[1]


def test_one_that_is_killed_says_by_what(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import signal; print('here', flush=True); signal.pause()")
    with WarmProcess([str(program)]) as forked:
        assert forked.stdout.readline() == b"here\n"
        assert forked.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            forked.wait(timeout=0.01)
        forked.send_signal(signal.SIGTERM)
        assert forked.wait(timeout=PATIENCE_SEC) == -signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(forked.pid, 0)


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import signal; signal.pause()")
    with WarmProcess([str(program)]) as forked, pytest.raises(subprocess.TimeoutExpired):
        forked.communicate(0.01)
    assert forked.poll() == -signal.SIGKILL


def test_who_orders_one_and_is_gone_stops_no_others(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("print('here')")
    order: JsonObject = {"arguments": [str(program)], "module": None, "cwd": "/", "environ": {}, "session": False}
    gone, told = socket.socketpair(type=socket.SOCK_SEQPACKET)
    gone.close()
    with told, tempfile.TemporaryFile() as output:
        standard = [output.fileno()] * 3
        socket.send_fds(_template(), [json.dumps(order).encode()], [*standard, told.fileno()])
    with WarmProcess([str(program)]) as forked:
        assert forked.communicate(PATIENCE_SEC) == (b"here\n", b"")


def test_what_an_interpreter_reads_as_it_starts_needs_one_of_its_own() -> None:
    assert can_be_forked({"HOME": "/"})
    assert not can_be_forked({"PYTHONUTF8": "0"})
