"""Child processes on either loop: read as far as there is room, waited for, and never left behind."""

import asyncio
import errno
import os
import resource
import sys
from io import FileIO
from pathlib import Path

import pytest

from codeplane.processes.child import PIPE, STDOUT, Child, ReadPipe
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-32")

on_either = pytest.mark.parametrize(
    "anyio_backend", [("asyncio", {}), ("asyncio", {"use_uvloop": True})], ids=["asyncio", "uvloop"]
)


def child(*command: str, given: bytes | None = None, stdout: int = PIPE, stderr: int = PIPE) -> Child:
    return Child(command, cwd=Path("/"), env=dict(os.environ), given=given, stdout=stdout, stderr=stderr)


def python(program: str, **more: object) -> Child:
    return child(sys.executable, "-c", program, **more)  # type: ignore[arg-type]  # what `child` takes


@on_either
async def test_what_it_prints_and_how_it_ends() -> None:
    one = child("sh", "-c", "echo out; echo err >&2; exit 7")
    at_first = one.returncode
    assert (await one.out.read(), await one.err.read(), await one.wait()) == (b"out\n", b"err\n", 7)
    assert (at_first, one.returncode) == (None, 7)
    both = child("sh", "-c", "echo out; echo err >&2", stderr=STDOUT)
    assert (await both.out.read(), await both.err.read(), await both.wait()) == (b"out\nerr\n", b"", 0)


@on_either
async def test_what_it_is_given_it_reads_or_not() -> None:
    much = os.urandom(3_000_000)
    echo = child("cat", given=much)
    assert await echo.out.read() == much and await echo.wait() == 0
    assert await child("true", given=much).wait() == 0
    nothing = child("cat")
    assert await nothing.out.read() == b"" and await nothing.wait() == 0


@on_either
async def test_a_flood_waits_until_it_is_read(tmp_path: Path) -> None:
    written = tmp_path / "written"
    flood = python(f"import os\nfor n in range(400): os.write(1, b'x' * 65536); open({str(written)!r}, 'a').write('.')")
    first = await flood.out.readexactly(1)
    await asyncio.sleep(1)
    assert written.stat().st_size < 100, "nobody reads it, and it is taken in all the same"
    rest = 0
    while data := await flood.out.read(1_000_000):
        rest += len(data)
    assert len(first) + rest == 400 * 65536 and await flood.wait() == 0


@on_either
async def test_its_end_does_not_wait_for_who_holds_its_pipes() -> None:
    one = child("sh", "-c", "sleep 60 & echo $!")
    daemon = int(await one.out.readline())
    async with asyncio.timeout(20):
        assert await one.wait() == 0
    one.close()
    assert await one.out.read() == b""
    # It is still in the group.
    one.end()
    async with asyncio.timeout(20):
        while Path(f"/proc/{daemon}/stat").exists() and " Z " not in Path(f"/proc/{daemon}/stat").read_text():
            await asyncio.sleep(0.01)


@on_either
async def test_it_is_ended_with_its_group_and_many_are_waited_for() -> None:
    asleep = child("sh", "-c", "sleep 60; true")
    asleep.end()
    alone = child("sleep", "60")
    alone.kill()
    assert (await asleep.wait(), await alone.wait()) == (-9, -9)
    # Once more than over is still over.
    asleep.end()
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
    many = [child("sh", "-c", f"exit {number}") for number in range(40)]
    assert await asyncio.gather(*(one.wait() for one in many)) == list(range(40))
    for one in many:
        one.close()
    # What others left may be collected meanwhile.
    assert set(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208


@on_either
async def test_what_cannot_be_started_says_why_and_leaves_nothing_open(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with pytest.raises(FileNotFoundError):
        child("no-such-program-anywhere", given=b"x")
    with pytest.raises(PermissionError):
        child(str(plain))
    with pytest.raises(NotADirectoryError):
        Child(["true"], cwd=plain, env={})
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


@on_either
async def test_one_that_cannot_be_watched_is_ended(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    pid = tmp_path / "pid"
    # Room for what starts it, and for nothing after that.
    for room in range(1, 12):
        resource.setrlimit(resource.RLIMIT_NOFILE, (before + room, hard))
        try:
            one = child("sh", "-c", f"echo $$ > {pid}; sleep 60")
        except OSError as error:
            assert error.errno == errno.EMFILE
        else:
            one.end()
            one.close()
            await one.wait()
            break
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
        assert not pid.exists() or not Path(f"/proc/{pid.read_text().strip() or 0}").exists()


@on_either
async def test_a_pipe_that_is_closed_says_so_once() -> None:
    class Heard(asyncio.Protocol):
        def __init__(self) -> None:
            self.said: list[bytes | None] = []

        def data_received(self, data: bytes) -> None:
            self.said.append(data)

        def connection_lost(self, exc: Exception | None) -> None:
            self.said.append(None)

    end, start = os.pipe()
    heard = Heard()
    pipe = ReadPipe(FileIO(end), heard)
    os.write(start, b"one")
    await asyncio.sleep(0.05)
    pipe.pause_reading()
    os.write(start, b"two")
    await asyncio.sleep(0.05)
    assert heard.said == [b"one"]
    pipe.resume_reading()
    os.close(start)
    await asyncio.sleep(0.05)
    pipe.close()
    assert heard.said == [b"one", b"two", None] and pipe.is_closing()
