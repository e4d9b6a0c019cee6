"""Processes that are forked from one which has imported CodePlane already.

Importing it takes a server most of its start, more than a second of a core, and tests start hundreds of them.
What each of them does from its first line on is the same. Run as a program, this is the process that is forked; another
one, which has imported nothing but the library for policies, is forked for the processes that run them.
"""

import atexit
import contextlib
import ctypes
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, TracebackType
from typing import IO, TypedDict

# What an interpreter and its libraries read once, while they start.
_READ_AT_START = ("PYTHON", "LANG", "LC_", "LD_", "GRPC_", "MALLOC_", "OPENBLAS_", "COVERAGE_")
_IMPORTS = (
    "codeplane.wiring.serve",
    "codeplane.surfaces.cli.commands",
    "codeplane.surfaces.cli.commands.init",
    "codeplane.surfaces.cli.entry",
    "codeplane.surfaces.grpc.surface",
    "codeplane.surfaces.mcp.resources",
    "codeplane.surfaces.mcp.server",
    "codeplane.surfaces.mcp.stream",
    "codeplane.vectors.static_vectors",
    "anyio._backends._asyncio",
    "encodings.idna",
    "tokenizers",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.auto",
    "uvloop",
)
_LONGEST, _SHORT = 1 << 20, 32
# Of Linux alone: the signal that a process gets when its parent has ended.
_PR_SET_PDEATHSIG = 1


# What a server starts for itself, as often as there are servers.
_WORKER = [sys.executable, "-P", "-m", "codeplane.index.parse_worker"]
_POLICY = [sys.executable, "-P", "-m", "codeplane.adapters.rego_worker"]
# How `cpl` starts a server in the background.
_BACKGROUND = [sys.executable, "-P", "-m", "codeplane", "up", "--background"]
# Which of the two processes that are forked this is to be.
_POLICIES = "policies"
# As long as the arguments of a forked process may be, for those who look at it from outside.
_ROOM = "-" * 2048


class _Order(TypedDict):
    arguments: list[str]
    module: str | None
    cwd: str
    environ: dict[str, str]
    session: bool


def can_be_forked(environ: Mapping[str, str] | None) -> bool:
    """Whether a process with these variables may come of one that did not have them when it started."""
    measured = any(name.startswith("COVERAGE_") for name in os.environ)
    return not measured and not any(name.startswith(_READ_AT_START) for name in environ or ())


class _Forked:
    """A process that was forked on order, with the methods of `subprocess.Popen` that need no pipes."""

    def __init__(self, orders: socket.socket, order: _Order, standard: Sequence[int]) -> None:
        """`standard`: the numbers of the files that are its input, output and errors."""
        self.args = order["arguments"]
        self.returncode: int | None = None
        self._waiting = threading.Lock()
        self._ended, ended = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with ended:
            socket.send_fds(orders, [json.dumps(order).encode()], [*standard, ended.fileno()])
        self.pid = int(self._ended.recv(_SHORT))

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once there is one."""
        with self._waiting:
            if self.returncode is None:
                self._ended.settimeout(timeout)
                try:
                    self.returncode = int(self._ended.recv(_SHORT))
                except (TimeoutError, BlockingIOError):
                    raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
                self._ended.close()
            return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class WarmProcess(_Forked):
    """One process, with the methods of `subprocess.Popen` that tests use and pipes for its output."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        module: str | None = None,
        cwd: Path | None = None,
        environ: Mapping[str, str | None] | None = None,
        stdin: int | None = None,
    ) -> None:
        """`module` is run; without one, the first of the arguments. `stdin`: a file's number, or as in this process.

        `environ` is added to this process's variables; those that are None there are left out.
        """
        variables = {**os.environ, **(environ or {})}
        order = _Order(
            arguments=list(arguments),
            module=module,
            cwd=str(cwd or Path.cwd()),
            environ={name: value for name, value in variables.items() if value is not None},
            session=False,
        )
        stdout, stderr = os.pipe(), os.pipe()
        try:
            super().__init__(_template(), order, [0 if stdin is None else stdin, stdout[1], stderr[1]])
        finally:
            os.close(stdout[1])
            os.close(stderr[1])
        self.stdout: IO[bytes] = os.fdopen(stdout[0], "rb")
        self.stderr: IO[bytes] = os.fdopen(stderr[0], "rb")

    def __enter__(self) -> "WarmProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stdout.close()
        self.stderr.close()
        self.wait()

    def communicate(self, timeout: float) -> tuple[bytes, bytes]:
        """All that it writes until it has ended; killed after `timeout` seconds."""
        found: list[bytes] = []
        reading = threading.Thread(target=lambda: found.append(self.stderr.read()))
        late = threading.Timer(timeout, self.kill)
        reading.start()
        late.start()
        stdout = self.stdout.read()
        reading.join()
        self.wait()
        if not late.is_alive():
            raise subprocess.TimeoutExpired(self.args, timeout)
        late.cancel()
        return stdout, found[0]


class _Worker(_Forked):
    """A process that parses or runs policies for a forked server, which starts it as any other program."""

    def __init__(self, orders: socket.socket, args: Sequence[str], environ: Mapping[str, str]) -> None:
        stdin, stdout = os.pipe(), os.pipe()
        order = _Order(arguments=list(args[3:]), module=args[3], cwd="/", environ=dict(environ), session=False)
        try:
            with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # as the server has it, before its modules are asked
                super().__init__(orders, order, [stdin[0], stdout[1], nowhere.fileno()])
        finally:
            os.close(stdin[0])
            os.close(stdout[1])
        self.stdin: IO[bytes] = os.fdopen(stdin[1], "wb")
        self.stdout: IO[bytes] = os.fdopen(stdout[0], "rb")


class _Background(_Forked):
    """A server in the background that a forked `cpl` starts, as any other program."""

    def __init__(self, orders: socket.socket, args: Sequence[str], cwd: Path, stdout: IO[bytes], stderr: IO[bytes]):
        order = _Order(arguments=list(args[3:]), module=args[3], cwd=str(cwd), environ=dict(os.environ), session=True)
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123  # as the server has it, before its modules are asked
            super().__init__(orders, order, [nothing.fileno(), stdout.fileno(), stderr.fileno()])


class _Child:
    """A server in the background that the process which starts it, forked from it, looks after as a child."""

    def __init__(self, args: Sequence[str], cwd: Path, stdout: IO[bytes], stderr: IO[bytes], env: Mapping[str, str]):
        order = _Order(arguments=list(args[3:]), module=args[3], cwd=str(cwd), environ=dict(env), session=True)
        self.returncode: int | None = None
        for written in (sys.stdout, sys.stderr):
            written.flush()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(stdout.fileno(), 1)
                os.dup2(stderr.fileno(), 2)
                _forget_parent()
                _run(order)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def kill(self) -> None:
        """End it at once."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """The exit code, once there is one."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode


def _forget_parent() -> None:
    """What a program that is started does not take over: what to do at signals and at the end."""
    atexit._clear()
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@cache
def _template() -> socket.socket:
    """Where the process that is forked takes orders; there is one for all tests of this process."""
    ours, process = _start_template("tests.warm_process")

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _start_template(module: str, *arguments: str) -> "tuple[socket.socket, subprocess.Popen[bytes]]":
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", module, str(theirs.fileno()), *arguments, _ROOM],
            pass_fds=[theirs.fileno()],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    return ours, process


class _Template:
    """The process that is forked, from the outside: takes orders, and tells how each child ended."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._children: dict[int, socket.socket] = {}
        # Where children give orders.
        self._below, self.above = socket.socketpair(type=socket.SOCK_SEQPACKET)
        self._woken, self._wake = socket.socketpair()
        for end in (self._woken, self._wake):
            end.setblocking(False)

    def next_child(self) -> _Order:
        """Fork for every order; this returns in the children, with the order. Ends with who gives the orders."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._wake.fileno())
        with selectors.DefaultSelector() as selector:
            for taken in (self._orders, self._below, self._woken):
                selector.register(taken, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select()]
                if self._woken in ready:
                    self._woken.recv(_LONGEST)
                    self._tell_of_the_ended()
                for orders in (self._orders, self._below):
                    if orders not in ready:
                        continue
                    message, descriptors, _, _ = socket.recv_fds(orders, _LONGEST, 4)
                    if not message:
                        raise SystemExit
                    if (order := self._fork(message, descriptors)) is not None:
                        return order

    def _fork(self, message: bytes, descriptors: list[int]) -> _Order | None:
        *standard, ended = descriptors
        pid = os.fork()
        if pid == 0:
            self._become_child(standard)
            os.close(ended)
            order: _Order = json.loads(message)
            return order
        self._children[pid] = socket.socket(fileno=ended)
        # Who ordered it may have been killed meanwhile.
        with contextlib.suppress(OSError):
            self._children[pid].send(str(pid).encode())
        for descriptor in standard:
            os.close(descriptor)
        return None

    def _become_child(self, standard: list[int]) -> None:
        # Tests that are killed end no server.
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for opened in (self._orders, self._below, self._woken, self._wake, *self._children.values()):
            opened.close()
        for number, descriptor in enumerate(standard):
            os.dup2(descriptor, number)
            os.close(descriptor)

    def _tell_of_the_ended(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._children.pop(pid) as ended, contextlib.suppress(OSError):
                ended.send(str(os.waitstatus_to_exitcode(status)).encode())


def _prepare() -> None:
    """Do once what every server and every `cpl` does first and with the same result."""
    from starlette.routing import compile_path
    from typer import main as typer_main

    from codeplane.code.facts.version import tables_version
    from codeplane.kernel.catalogue import definitions_on
    from codeplane.kernel.operation import OperationMark
    from codeplane.surfaces.cli.commands import app
    from codeplane.surfaces.web.surface import PAGES
    from codeplane.vectors.static_vectors import load_wordllama

    typer_main.get_command = cache(typer_main.get_command)
    typer_main.get_command(app)
    modules = [module for name, module in sys.modules.items() if name.startswith("codeplane.")]
    for kind in {value for module in modules for value in vars(module).values() if isinstance(value, type)}:
        if any(OperationMark.MARK in vars(value) for value in vars(kind).values() if isinstance(value, FunctionType)):
            definitions_on(kind)
    # Python keeps the expressions.
    for _, path, _ in (route for page in PAGES for route in page.ROUTES):
        compile_path(path)
    tables_version()
    load_wordllama()


def _show_arguments(order: _Order) -> None:
    """Have this process listed with its own arguments, not with those of the process that was forked."""
    shown = [sys.executable, *(["-m"] if order["module"] else []), *order["arguments"]]
    numbers = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(numbers[45]), int(numbers[46])
    room = end - start - 1
    with open("/proc/self/mem", "r+b", buffering=0) as memory:  # noqa: PTH123  # as above
        memory.seek(start)
        memory.write(os.fsencode("\0".join(shown))[:room].ljust(room, b"\0"))


def _fork_children(orders: socket.socket, policies: socket.socket) -> None:
    """Have what this process starts forked, too: to import what it needs takes longer than most of what it does."""

    class Popen(subprocess.Popen[bytes]):
        def __new__(
            cls,
            args: Sequence[str],
            *,
            stdout: IO[bytes] | None = None,
            stderr: IO[bytes] | None = None,
            cwd: Path | None = None,
            env: Mapping[str, str] | None = None,
            **options: object,
        ) -> "Popen":
            if args == _WORKER and env is not None:
                return _Worker(orders, args, env)  # type: ignore[return-value]  # has what is used of one
            if args == _POLICY:
                return _Worker(policies, args, os.environ)  # type: ignore[return-value]  # the same
            if args[: len(_BACKGROUND)] == _BACKGROUND and cwd and stdout and stderr:
                if env is None:
                    return _Background(orders, args, cwd, stdout, stderr)  # type: ignore[return-value]  # the same
                changed = {name: value for name, value in env.items() if os.environ.get(name) != value}
                if can_be_forked(changed):
                    return _Child(args, cwd, stdout, stderr, env)  # type: ignore[return-value]  # the same
            return super().__new__(cls)

    subprocess.Popen = Popen  # type: ignore[assignment, misc]  # for this process alone


def main() -> None:
    """Import everything, then become what is ordered."""
    if _POLICIES in sys.argv:
        import_module("codeplane.adapters.rego_bundle")
        _run(_Template(socket.socket(fileno=int(sys.argv[1]))).next_child())
        return
    policies, _ = _start_template("tests.warm_process", _POLICIES)
    # As the server says before it imports it: its own code would run in every child.
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    gc.disable()
    for name in _IMPORTS:
        import_module(name)
    _prepare()
    gc.freeze()
    template = _Template(socket.socket(fileno=int(sys.argv[1])))
    order = template.next_child()
    gc.enable()
    _fork_children(template.above, policies)
    _run(order)


def _run(order: _Order) -> None:
    """Be the program of an order, to its end."""
    _show_arguments(order)
    if order["session"]:
        os.setsid()
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environ"])
    # Both were read of the variables that this process had.
    tempfile.tempdir = None
    time.tzset()
    sys.argv[:] = order["arguments"]
    code = 0
    try:
        if order["module"] is not None:
            runpy.run_module(order["module"], run_name="__main__", alter_sys=True)
        else:
            # Where a program is, its modules are looked for first.
            sys.path[0] = str(Path(sys.argv[0]).parent)
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        code = end.code or 0
    _end(code)


def _end(code: int) -> None:
    """End as an interpreter does, but keep its modules: to free them writes to every page shared with the template.

    Output that cannot be written is left to the interpreter, which says so and ends with a code of its own.
    """
    threading._shutdown()  # type: ignore[attr-defined]  # what an interpreter does first: wait for threads
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code & 0xFF)
    sys.exit(code)


if __name__ == "__main__":
    main()
