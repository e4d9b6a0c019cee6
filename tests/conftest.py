"""Fixtures that many tests share."""

import asyncio
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import wraps
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.harness import Server, make_repo, start
from tests.interpreter import bare_python

# How long an example takes is the machine's affair; with tests side by side, more so.
settings.register_profile(
    "codeplane", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None
)
# Other examples each time are for whoever looks for what nobody has thought of: `make soak`.
settings.register_profile("drawn", settings.get_profile("codeplane"), derandomize=False, print_blob=True)
settings.load_profile("drawn" if os.environ.get("CODEPLANE_DRAWN") else "codeplane")


# Wrong codes of all tests add up.
_PAIRING = "devices.pairing_tries=1000"
# The files with tests that take longest, in their order: at the end, everybody else would wait for one.
_LONGEST = (
    "test_browser.py",
    "work/agents/test_published_agents.py",
    "trust/refusals/test_refusals.py",
    "trust/approvals/test_kill_recovery.py",
    "test_packaging.py",
    "clients/test_conformance.py",
    "docs/test_commands.py",
    "surfaces/cli/demo/test_demo.py",
    "surfaces/grpc/test_flood.py",
    "edit/test_kills.py",
    "git/test_kills.py",
    "git/test_reversal_kills.py",
    "test_shared_kills.py",
)
# New objects until the collector looks at them, and how often until it looks at older ones: as in a server.
_COLLECTED_AFTER = (10_000, 20, 20)
# No test takes as long, on the slowest machine.
_HANG_SEC = 300.0


def pytest_configure() -> None:
    """Whoever started the tests may ignore signals (nohup, a shell's background); what tests start heeds them.

    What `cpl init` notes of an account is not to be noted of this one. Repositories are tested by the same Python
    whatever this machine has on PATH.
    """
    os.environ["XDG_STATE_HOME"] = str(Path(tempfile.gettempdir()) / f"codeplane-tests-{os.getuid()}")
    os.environ["PATH"] = f"{bare_python()}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    for number, handler in ((signal.SIGHUP, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The browser's tests run in a process of their own, which `test_browser.py` starts, unless they are asked for."""
    browser = Path(__file__).parent / "browser"
    asked = any(Path(argument.partition("::")[0]).resolve().is_relative_to(browser) for argument in config.args)
    return True if collection_path == browser and not asked else None


def pytest_collection(session: pytest.Session) -> None:
    """Share the files out among processes that will all need them: who comes first to one rewrites its assertions.

    Where none are cached, as in a fresh clone, each would do so for all, which takes longer than the rest of its start.
    """
    gc.disable()
    worker = getattr(session.config, "workerinput", None)
    tests = Path(__file__).parent
    if worker is None or [Path(argument).resolve() for argument in session.config.args] != [tests]:
        return
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    files = (path for path in tests.rglob("test_*.py") if path.parent.name != "browser")
    for path in sorted(files)[number::count]:
        module = path.relative_to(tests.parent).with_suffix("")
        # What fails is reported when the file is collected.
        with suppress(Exception):
            import_module(".".join(module.parts))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave soak tests to those who ask for them: `make soak`, or `pytest -m soak`.

    Begin with the tests that take longest.
    """
    places = {Path(__file__).parent / name: place for place, name in enumerate(_LONGEST)}
    assert all(path.exists() for path in places)
    items.sort(key=lambda item: places.get(item.path, len(places)))
    if "soak" in str(config.option.markexpr):
        return
    unasked = [item for item in items if item.get_closest_marker("soak") is not None]
    if unasked:
        config.hook.pytest_deselected(items=unasked)
        items[:] = [item for item in items if item.get_closest_marker("soak") is None]


def pytest_collection_finish() -> None:
    """What was collected stays: the collector of cycles would look at all of it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTED_AFTER)
    gc.enable()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """What runs `async def` tests: a loop for each of them, as the server has one."""
    return "asyncio"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A hang is a failure, not a stuck suite."""
    test = pyfuncitem.obj
    if iscoroutinefunction(test):

        @wraps(test)
        async def bounded(**arguments: object) -> None:
            async with asyncio.timeout(_HANG_SEC):
                await test(**arguments)

        pyfuncitem.obj = bounded
    return (yield)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A git repository of its own."""
    return make_repo(tmp_path / "repo")


@pytest.fixture
def server(repo: Path) -> Iterator[Server]:
    """A server of the test's own, which it may end or kill."""
    running = start(repo)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def codeplane_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that tests share and leave as they find it."""
    running = start(make_repo(tmp_path_factory.mktemp("shared") / "repo"))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def fixture_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the conformance suite's operations and resources beside our own, all tools listed."""
    program = (sys.executable, "-m", "tests.clients.fixture_server")
    running = start(
        make_repo(tmp_path_factory.mktemp("fixture") / "repo"),
        program=program,
        overrides=["mcp.toolset=all", _PAIRING],
    )
    yield running
    running.stop()


@pytest.fixture(scope="session")
def connect_server(fixture_server: Server) -> Server:
    """The one with operations made for tests, for the tests of Connect and gRPC."""
    return fixture_server


@pytest.fixture
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One of the test's own, which it may end."""
    program = (sys.executable, "-m", "tests.clients.fixture_server")
    running = start(make_repo(tmp_path_factory.mktemp("own") / "repo"), program=program, overrides=[_PAIRING])
    yield running
    running.stop()
