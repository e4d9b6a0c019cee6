"""Every output gets every line it should, in its format; a failing output harms nobody; secrets stay out."""

import io
import json
import logging
import os
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.config import LoggingConfig, LogOutput
from codeplane.kernel.errors import ConfigInvalid
from codeplane.observe.log_sink import KEEP_OLD, ROTATE_BYTES
from codeplane.observe.logs import Logs, tail
from tests.interaction.requirements import requirement

QUIET = LoggingConfig(outputs=())
JSON_STDERR = LoggingConfig(outputs=(LogOutput(format="json"),))


class StoppedClock:
    """2026-01-26T15:30:00.123Z, always."""

    def now_ns(self) -> int:
        return 1_769_441_400_123_999_999

    def monotonic_ns(self) -> int:
        return 0


def made(config: LoggingConfig, file: Path | None = None) -> tuple[Logs, io.StringIO]:
    stderr = io.StringIO()
    return Logs(config=config, clock=StoppedClock(), file=file, stderr=stderr, stdout=io.StringIO()), stderr


def entries(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.removesuffix("\n").split("\n") if line]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".codeplane" / "logs" / "server.jsonl"


def test_json_lines_have_the_required_fields_first() -> None:
    logs, stderr = made(JSON_STDERR)
    logs.logger("server").info("server started", port=54321)
    assert stderr.getvalue() == (
        '{"ts":"2026-01-26T15:30:00.123Z","level":"info","event":"server started","logger":"server","port":54321}\n'
    )


def test_correlation_fields_stand_before_the_event_and_only_when_given() -> None:
    logs, stderr = made(JSON_STDERR)
    bound = logs.logger("x").bind(op_id="abc123")
    bound.error("indexer timeout", task_id=None, timeout_ms=30000)
    (entry,) = entries(stderr.getvalue())
    assert list(entry) == ["ts", "level", "op_id", "event", "logger", "timeout_ms"]


@pytest.mark.parametrize(
    ("method", "level"),
    [
        ("debug", "debug"),
        ("info", "info"),
        ("warning", "warn"),
        ("warn", "warn"),
        ("error", "error"),
        ("critical", "error"),
    ],
)
def test_levels_have_the_names_of_the_specification(method: str, level: str) -> None:
    logs, stderr = made(LoggingConfig(level="debug", outputs=(LogOutput(format="json"),)))
    getattr(logs.logger("x"), method)("said")
    assert entries(stderr.getvalue())[0]["level"] == level


@requirement("SRV-07")
def test_each_output_has_its_own_format_and_level(tmp_path: Path) -> None:
    destination = tmp_path / "all.jsonl"
    config = LoggingConfig(
        level="DEBUG", outputs=(LogOutput(level="INFO"), LogOutput(format="json", destination=str(destination)))
    )
    logs, stderr = made(config)
    logs.logger("x").debug("quiet")
    logs.logger("x").info("loud", n=1)
    assert stderr.getvalue() == "2026-01-26T15:30:00.123Z INFO  loud  logger=x  n=1\n"
    assert [entry["event"] for entry in entries(destination.read_text())] == ["quiet", "loud"]


def test_an_outputs_own_level_may_also_be_lower(file: Path) -> None:
    logs, stderr = made(LoggingConfig(level="ERROR", outputs=(LogOutput(level="DEBUG"),)), file)
    logs.logger("x").debug("detail")
    assert "detail" in stderr.getvalue()
    assert not file.exists()


def test_stdout_is_a_destination() -> None:
    stdout = io.StringIO()
    logs = Logs(
        config=LoggingConfig(outputs=(LogOutput(destination="stdout"),)),
        clock=StoppedClock(),
        file=None,
        stdout=stdout,
    )
    logs.logger("x").info("here")
    assert "here" in stdout.getvalue()


def test_the_workspace_file_is_always_written_and_private(file: Path) -> None:
    logs, _ = made(QUIET, file)
    logs.logger("x").info("said")
    logs.close()
    assert [entry["event"] for entry in entries(file.read_text())] == ["said"]
    assert file.stat().st_mode & 0o077 == 0
    assert file.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("destination", ["relative.jsonl", "~/x.jsonl", "", "STDERR"])
def test_a_relative_destination_is_refused(destination: str) -> None:
    with pytest.raises(ConfigInvalid, match=r"logging\.outputs\.0\.destination") as caught:
        made(LoggingConfig(outputs=(LogOutput(destination=destination),)))
    assert "whole path" in caught.value.hint


def test_the_workspace_file_cannot_be_an_output_twice(file: Path) -> None:
    with pytest.raises(ConfigInvalid, match="always written"):
        made(LoggingConfig(outputs=(LogOutput(destination=str(file)),)), file)


def test_two_logs_do_not_know_of_each_other(tmp_path: Path) -> None:
    one, first = made(LoggingConfig(level="DEBUG"))
    two, second = made(LoggingConfig(level="ERROR"))
    one.logger("x").debug("to one")
    two.logger("x").debug("to nobody")
    two.logger("x").error("to two")
    one.close()
    two.logger("x").error("still there")
    assert "to one" in first.getvalue()
    assert "to nobody" not in first.getvalue() + second.getvalue()
    assert second.getvalue().count("\n") == 2
    assert not structlog.is_configured()


SECRETS = ["token", "Authorization", "SECRET", "password", "api_key", "X-Api-Key", "owner_token", "apiKey"]


@requirement("SRV-07")
@pytest.mark.parametrize("key", SECRETS)
@pytest.mark.parametrize("form", ["json", "console"])
def test_values_of_secret_keys_are_never_written(key: str, form: str) -> None:
    output = LogOutput(format="json" if form == "json" else "console")
    logs, stderr = made(LoggingConfig(outputs=(output,)))
    logs.logger("x").bind(**{key: "hunter2"}).info("said", **{key: "hunter2"}, nested=[{key: {"deep": "hunter2"}}])
    assert "hunter2" not in stderr.getvalue()
    assert stderr.getvalue().count("***") == 2


@pytest.mark.parametrize(
    "text", ["GET /?token=hunter2&x=1", "Authorization: Bearer hunter2", "bearer hunter2", "password=hunter2"]
)
def test_secrets_inside_text_are_never_written(text: str) -> None:
    logs, stderr = made(JSON_STDERR)
    logs.logger("x").info(text, url=text)
    assert "hunter2" not in stderr.getvalue()


@pytest.mark.parametrize("key", ["tokens_used", "secretary", "path"])
def test_other_keys_are_written(key: str) -> None:
    logs, stderr = made(JSON_STDERR)
    logs.logger("x").info("unexpected token: }", **{key: "value"})
    assert entries(stderr.getvalue())[0][key] == "value"
    assert entries(stderr.getvalue())[0]["event"] == "unexpected token: }"


FORGERIES = [
    "a\n2026-01-26T15:30:00.123Z ERROR forged",
    "\x1b[2J",
    "a\rb",
    "\u2028",
    "\u202e",
    "\x9b31m",
    "\x00",
    "\x85",
]


@pytest.mark.parametrize("text", FORGERIES)
@pytest.mark.parametrize("form", ["json", "console"])
def test_no_value_can_forge_a_line_or_move_the_cursor(text: str, form: str) -> None:
    output = LogOutput(format="json" if form == "json" else "console")
    logs, stderr = made(LoggingConfig(outputs=(output,)))
    logs.logger(text).info(text, value=text, **{text: text})
    line = stderr.getvalue().removesuffix("\n")
    assert line.isprintable()
    if form == "json":
        assert json.loads(line)["value"] == text


@given(
    event=st.text(),
    value=st.recursive(
        st.text() | st.floats() | st.binary(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    ),
)
def test_whatever_is_said_is_one_line_in_both_formats(event: str, value: object) -> None:
    logs, stderr = made(LoggingConfig(outputs=(LogOutput(format="json"), LogOutput())))
    logs.logger("x").info(event, value=value)
    first, second = stderr.getvalue().removesuffix("\n").split("\n")
    assert first.isprintable()
    assert second.isprintable()
    assert isinstance(json.loads(first), dict)
    assert logs.dropped == 0


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no")


def test_values_that_are_not_json_are_written_somehow() -> None:
    logs, stderr = made(JSON_STDERR)
    around: list[object] = []
    around.append(around)
    logs.logger("x").info(
        "said",
        path=Path("/a"),
        broken=Unprintable(),
        nan=float("nan"),
        huge=10**5000,
        around=around,
        some={1, 2},
        ts="mine",
    )
    (entry,) = entries(stderr.getvalue())
    assert (entry["path"], entry["broken"], entry["nan"]) == ("/a", "<Unprintable>", "nan")
    assert entry["ts"] == "2026-01-26T15:30:00.123Z"
    assert logs.dropped == 0


def test_long_values_keep_their_ends() -> None:
    logs, stderr = made(JSON_STDERR)
    logs.logger("x").info("said", body="a" * 1_000_000 + "z")
    (entry,) = entries(stderr.getvalue())
    body = str(entry["body"])
    assert len(body) < 40_000
    assert body.startswith("aaa")
    assert body.endswith("z")


def failing() -> None:
    raise RuntimeError("broke\nERROR forged token=hunter2")


def test_exceptions_carry_their_traceback() -> None:
    logs, stderr = made(LoggingConfig(outputs=(LogOutput(format="json"), LogOutput())))
    try:
        failing()
    except RuntimeError:
        logs.logger("x").exception("it failed")
    first, *console = stderr.getvalue().removesuffix("\n").split("\n")
    assert "in failing" in json.loads(first)["exception"]
    assert "hunter2" not in stderr.getvalue()
    assert "it failed" in console[0]
    assert len(console) > 3
    assert all(line.startswith("    | ") for line in console[1:])


def test_an_exception_given_as_a_value_is_a_traceback_too() -> None:
    logs, stderr = made(JSON_STDERR)
    logs.logger("x").error("it failed", exc_info=ValueError("why"))
    logs.logger("x").error("nothing to show", exc_info=True)
    first, second = entries(stderr.getvalue())
    assert "ValueError: why" in str(first["exception"])
    assert "exception" not in second


class Hostile(Exception):
    def __getattribute__(self, name: str) -> object:
        if name == "__notes__":
            raise RuntimeError("no")
        return super().__getattribute__(name)


def test_an_exception_that_cannot_be_shown_is_named() -> None:
    logs, stderr = made(JSON_STDERR)
    logs.logger("x").error("it failed", exc_info=Hostile(), flag=True, nothing=None)
    (entry,) = entries(stderr.getvalue())
    assert (entry["exception"], entry["flag"], entry["nothing"]) == ("Hostile", True, None)


def test_a_closed_stderr_is_said_once_in_the_file(file: Path) -> None:
    logs, stderr = made(LoggingConfig(), file)
    stderr.close()
    logs.logger("x").info("one")
    logs.logger("x").info("two")
    printed = [entry["event"] for entry in entries(file.read_text())]
    assert printed == ["log output failed", "one", "two"]
    assert logs.dropped == 2


def test_a_process_without_stderr(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    logs = Logs(config=LoggingConfig(), clock=StoppedClock(), file=file)
    logs.logger("x").info("said")
    assert [entry["event"] for entry in entries(file.read_text())] == ["log output failed", "said"]


def test_a_workspace_whose_folder_cannot_be_made(file: Path) -> None:
    file.parent.parent.write_text("in the way")
    logs, stderr = made(LoggingConfig(), file)
    logs.logger("x").info("said")
    assert logs.dropped == 1
    assert f"output={file}" in stderr.getvalue()


def test_a_full_disk_is_said_once_on_stderr() -> None:
    logs, stderr = made(LoggingConfig(outputs=(LogOutput(destination="/dev/full"), LogOutput())))
    for number in range(3):
        logs.logger("x").info("said", number=number)
    assert stderr.getvalue().count("log output failed  output=/dev/full") == 1
    assert stderr.getvalue().count("said") == 3
    assert logs.dropped == 3


def test_when_every_output_fails_nobody_is_disturbed(tmp_path: Path) -> None:
    outputs = (
        LogOutput(destination="/dev/full"),
        LogOutput(destination=str(tmp_path / "no" / "folder.log")),
        LogOutput(),
    )
    logs, stderr = made(LoggingConfig(outputs=outputs))
    stderr.close()
    logs.logger("x").error("unheard")
    assert logs.dropped == 3


def test_a_pipe_that_nobody_reads_does_not_stop_the_caller(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    logs, stderr = made(LoggingConfig(outputs=(LogOutput(destination=str(pipe)), LogOutput())))
    logs.logger("x").info("said")
    assert logs.dropped == 1
    assert "log output failed" in stderr.getvalue()


def test_text_that_a_stream_cannot_encode_is_escaped() -> None:
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(raw, encoding="ascii")
    config = LoggingConfig(outputs=(LogOutput(destination="stdout"),))
    logs = Logs(config=config, clock=StoppedClock(), file=None, stdout=stdout)
    logs.logger("x").info("größer")
    assert rb"gr\xf6\xdfer" in raw.getvalue()
    assert logs.dropped == 0


def test_a_removed_file_is_made_again(file: Path) -> None:
    logs, _ = made(QUIET, file)
    logs.logger("x").info("one")
    file.unlink()
    logs.logger("x").info("two")
    assert [entry["event"] for entry in entries(file.read_text())] == ["two"]
    assert logs.dropped == 0


def test_a_removed_folder_drops_lines_until_it_is_back(file: Path) -> None:
    logs, stderr = made(LoggingConfig(), file)
    logs.logger("x").info("one")
    file.unlink()
    file.parent.rmdir()
    logs.logger("x").info("two")
    assert logs.dropped == 1
    assert "log output failed" in stderr.getvalue()
    file.parent.mkdir()
    logs.logger("x").info("three")
    assert [entry["event"] for entry in entries(file.read_text())] == ["three"]


def test_a_file_that_somebody_else_rotated_is_found_again(tmp_path: Path) -> None:
    destination = tmp_path / "x.log"
    logs, _ = made(LoggingConfig(outputs=(LogOutput(destination=str(destination)),)))
    logs.logger("x").info("one")
    destination.rename(tmp_path / "x.log.old")
    logs.logger("x").info("two")
    assert "two" in destination.read_text()


def test_a_link_in_place_of_the_workspace_file_is_not_followed(file: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    file.parent.mkdir(parents=True)
    file.symlink_to(victim)
    logs, _ = made(LoggingConfig(), file)
    logs.logger("x").info("said")
    assert victim.read_text() == "mine"
    assert logs.dropped == 1
    assert tail(file, 10) == []


def test_a_line_torn_by_a_crash_does_not_spoil_the_next(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text('{"ts":"20')
    logs, _ = made(QUIET, file)
    logs.logger("x").info("whole")
    torn, whole = file.read_text().splitlines()
    assert torn == '{"ts":"20'
    assert json.loads(whole)["event"] == "whole"


def test_a_line_torn_by_a_full_disk_does_not_spoil_the_next(file: Path) -> None:
    logs, _ = made(QUIET, file)
    logs.logger("x").info("one")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 10, before[1]))
    try:
        logs.logger("x").info("two")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    logs.logger("x").info("three")
    one, torn, three = file.read_text().splitlines()
    assert (json.loads(one)["event"], len(torn), json.loads(three)["event"]) == ("one", 10, "three")
    assert logs.dropped == 1


def test_the_workspace_file_rotates_and_keeps_three_old_ones(file: Path) -> None:
    logs, _ = made(QUIET, file)
    log = logs.logger("x")
    body = "b" * 30_000
    for number in range(1000):
        log.info("said", number=number, body=body)
    files = sorted(path.name for path in file.parent.iterdir())
    assert files == ["server.jsonl", *(f"server.jsonl.{age}" for age in range(1, KEEP_OLD + 1))]
    assert all(path.stat().st_size <= ROTATE_BYTES for path in file.parent.iterdir())
    numbers = [json.loads(line)["number"] for line in tail(file, 1000)]
    assert numbers == list(range(1000 - len(numbers), 1000))
    assert len(numbers) > 3 * ROTATE_BYTES // 31_000
    assert logs.dropped == 0


def test_a_file_that_cannot_be_rotated_grows_instead_of_losing_lines(file: Path) -> None:
    file.parent.joinpath("server.jsonl.3").mkdir(parents=True)
    file.parent.joinpath("server.jsonl.2").touch()
    logs, _ = made(QUIET, file)
    for number in range(200):
        logs.logger("x").info("said", number=number, body="b" * 30_000)
    assert file.stat().st_size > ROTATE_BYTES
    assert len(tail(file, 1000)) == 200
    assert logs.dropped == 0


def test_a_file_under_the_limit_is_not_rotated(file: Path) -> None:
    logs, _ = made(QUIET, file)
    for _ in range(100):
        logs.logger("x").info("said")
    assert [path.name for path in file.parent.iterdir()] == ["server.jsonl"]


def test_lines_of_many_threads_stay_whole(file: Path) -> None:
    logs, _ = made(QUIET, file)

    def talk(name: int) -> None:
        for number in range(60):
            logs.logger("x").info("said", thread=name, number=number, body="b" * 30_000)

    threads = [threading.Thread(target=talk, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    printed = {(entry["thread"], entry["number"]) for entry in map(json.loads, tail(file, 1000))}
    assert len(printed) == 240


@pytest.fixture
def captured() -> Iterator[tuple[Logs, io.StringIO]]:
    logs, stderr = made(JSON_STDERR)
    logs.capture_stdlib()
    yield logs, stderr
    logs.close()


@pytest.mark.parametrize("name", ["uvicorn.error", "uvicorn.access", "mcp.server.lowlevel", "asyncio"])
def test_records_of_libraries_reach_the_same_outputs(captured: tuple[Logs, io.StringIO], name: str) -> None:
    logging.getLogger(name).info("listening on %s", "127.0.0.1")
    logging.getLogger(name).debug("too quiet")
    (entry,) = entries(captured[1].getvalue())
    assert (entry["event"], entry["logger"], entry["level"]) == ("listening on 127.0.0.1", name, "info")


def test_other_libraries_are_heard_from_their_own_level_on(captured: tuple[Logs, io.StringIO]) -> None:
    logging.getLogger("somebody.else").info("chatter")
    logging.getLogger("somebody.else").warning("careful")
    assert [entry["event"] for entry in entries(captured[1].getvalue())] == ["careful"]


def test_a_record_with_an_exception_or_a_broken_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's own raise on the broken one
    logs, stderr = made(JSON_STDERR)
    logs.capture_stdlib()
    logging.getLogger("asyncio").error("lost", exc_info=ValueError("why"))
    logging.getLogger("asyncio").critical("no %d", "number")
    logs.close()
    first, second = entries(stderr.getvalue())
    assert "ValueError: why" in str(first["exception"])
    assert (second["event"], second["level"]) == ("no %d", "error")


def test_capturing_twice_writes_once(captured: tuple[Logs, io.StringIO]) -> None:
    captured[0].capture_stdlib()
    logging.getLogger("mcp").warning("said")
    assert len(entries(captured[1].getvalue())) == 1


def test_nothing_is_captured_unasked_or_after_closing() -> None:
    before = [(name, logging.getLogger(name).level) for name in ("uvicorn", "mcp", "asyncio")]
    handlers = list(logging.getLogger().handlers)
    logs, stderr = made(JSON_STDERR)
    logging.getLogger("mcp").error("unasked")
    logs.capture_stdlib()
    logs.close()
    logs.close()
    logging.getLogger("mcp").error("after")
    assert stderr.getvalue() == ""
    assert logging.getLogger().handlers == handlers
    assert [(name, logging.getLogger(name).level) for name, _ in before] == before


def test_lines_after_closing_are_counted_not_raised(file: Path) -> None:
    logs, _ = made(LoggingConfig(), file)
    logs.close()
    logs.logger("x").info("late")
    assert logs.dropped == 1
    assert not file.exists()


def test_tail_of_nothing(tmp_path: Path) -> None:
    assert tail(tmp_path / "none", 10) == []
    (tmp_path / "empty").touch()
    assert tail(tmp_path / "empty", 10) == []
    (tmp_path / "some").write_text("a\n")
    assert tail(tmp_path / "some", 0) == []
    assert tail(tmp_path, 10) == []


def test_tail_reads_the_end_of_a_long_file_only(tmp_path: Path) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.seek(50 * 1024**3)
        file.write(b"\nfirst\nlast\n")
    assert tail(path, 2) == ["first", "last"]


@given(
    files=st.lists(
        st.lists(st.text(alphabet="ab\u2028é\r", max_size=5).filter(bool), max_size=6), min_size=1, max_size=4
    ),
    lines=st.integers(0, 30),
)
def test_tail_is_the_end_of_all_files_put_together(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[str]], lines: int
) -> None:
    path = tmp_path_factory.mktemp("tail") / "x.jsonl"
    for age, content in enumerate(files):
        name = path if age == 0 else path.with_name(f"{path.name}.{age}")
        name.write_bytes("".join(f"{line}\n" for line in content).encode())
    together = [line for content in reversed(files) for line in content]
    assert tail(path, lines) == together[len(together) - min(lines, len(together)) :]


def test_tail_crosses_blocks_and_survives_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "x"
    wanted = [f"{number}:" + "é" * 9_000 for number in range(20)]
    path.write_bytes(b"\xff\n" + "".join(f"{line}\n" for line in wanted).encode())
    assert tail(path, 20) == wanted
    assert tail(path, 21)[0] == "\ufffd"
