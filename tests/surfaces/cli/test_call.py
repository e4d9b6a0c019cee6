"""`cpl call`: any operation, through the server or without one."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import CPL, Server, cpl, git, make_repo
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import get_field
from tests.warm_process import WarmProcess

Call = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository without a server."""
    return make_repo(tmp_path_factory.mktemp("alone") / "repo")


@pytest.fixture(params=["served", "embedded"])
def call(request: pytest.FixtureRequest, codeplane_server: Server, alone: Path) -> Call:
    """`cpl call` both ways."""
    repo = codeplane_server.repo if request.param == "served" else alone

    def run(*arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        return cpl("call", *arguments, "--repo", str(repo), stdin=stdin)

    return run


@pytest.fixture
def served(codeplane_server: Server) -> Call:
    """`cpl call` through the server."""

    def run(*arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        return cpl("call", *arguments, "--repo", str(codeplane_server.repo), stdin=stdin)

    return run


def envelope(done: "subprocess.CompletedProcess[str]") -> JsonObject:
    found: JsonObject = json.loads(done.stdout)
    return found


class TestAnswer:
    @requirement("CLI-04")
    def test_text_for_people_and_the_envelope_for_programs(self, call: Call) -> None:
        text = call("session.info")
        assert text.returncode == 0
        assert text.stdout.startswith("session sess_")
        found = envelope(call("session.info", "--json"))
        assert set(found) == {"result", "meta"}
        assert get_field(found, "result", "action") == "status"

    def test_an_error_is_one_with_a_hint_on_stderr(self, call: Call) -> None:
        done = call("session.inf")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: ")
        assert "(UNKNOWN_OPERATION)\n\nhint: did you mean session.info" in done.stderr

    def test_an_error_is_an_envelope_for_programs(self, served: Call) -> None:
        done = served("session.info", "zzz=1", "--json")
        assert done.returncode == 1
        found = envelope(done)
        assert get_field(found, "error", "error") == "INVALID_ARGUMENT"
        assert str(get_field(found, "meta", "call_id")).startswith("call_")

    def test_what_can_be_called_is_listed(self, served: Call) -> None:
        done = served()
        assert done.returncode == 0
        assert "session.create(" in done.stdout and "ledger.verify(" in done.stdout
        assert "operation.list(" in served("operation.list", "name=operation.list").stdout


class TestArguments:
    @requirement("CLI-04")
    def test_text_json_and_nested_keys(self, call: Call) -> None:
        done = call(
            "session.create", "description=a=b c", "limits.max_mutations:=7", "limits.max_test_runs=8", "--json"
        )
        task = get_field(envelope(done), "result", "task")
        assert get_field(task, "description") == "a=b c"
        assert (get_field(task, "limits", "max_mutations"), get_field(task, "limits", "max_test_runs")) == (7, 8)

    def test_a_key_said_twice_is_a_list(self, call: Call) -> None:
        done = call("status", "include=session", "include=ledger", "--json")
        found = get_field(envelope(done), "result")
        assert get_field(found, "ledger") and get_field(found, "session")
        assert get_field(found, "daemon") is None

    def test_from_a_file_and_from_stdin_with_pairs_on_top(self, served: Call, tmp_path: Path) -> None:
        given = tmp_path / "given.json"
        given.write_text('{"description": "from a file", "limits": {"max_mutations": 3}}')
        file = envelope(served("session.create", "--input", str(given), "limits.max_test_runs:=4", "--json"))
        task = get_field(file, "result", "task")
        assert get_field(task, "description") == "from a file"
        assert (get_field(task, "limits", "max_mutations"), get_field(task, "limits", "max_test_runs")) == (3, 4)
        stdin = envelope(served("session.create", "--input", "-", "--json", stdin='{"description": "from stdin"}'))
        assert get_field(stdin, "result", "task", "description") == "from stdin"

    @pytest.mark.parametrize(
        "pair",
        ["nothing", "=x", ":=1", ".a=1", "a.=1", "a..b=1", "description:={", "description:=NaN", "description=\udcff"],
    )
    def test_a_pair_that_is_none_never_gets_to_the_operation(self, alone: Path, pair: str) -> None:
        done = cpl("call", "session.create", pair, "--repo", str(alone))
        assert (done.returncode, done.stdout) == (2, "")
        assert "(INVALID_ARGUMENT)\n\nhint: " in done.stderr

    def test_a_key_cannot_be_a_value_and_a_section(self, alone: Path) -> None:
        done = cpl("call", "session.create", "limits=x", "limits.max_mutations=1", "--repo", str(alone))
        assert done.returncode == 2
        assert "limits is already a value" in done.stderr

    @pytest.mark.parametrize("text", ["", "[]", "nonsense", '"x"', "[" * 100_000])
    def test_a_file_that_holds_no_object(self, alone: Path, tmp_path: Path, text: str) -> None:
        given = tmp_path / "given.json"
        given.write_text(text)
        done = cpl("call", "status", "--input", str(given), "--repo", str(alone))
        assert (done.returncode, done.stdout) == (2, "")
        assert str(given) in done.stderr

    def test_a_file_that_is_not_there(self, alone: Path, tmp_path: Path) -> None:
        done = cpl("call", "status", "--input", str(tmp_path / "none"), "--repo", str(alone))
        assert done.returncode == 2
        assert "No such file" in done.stderr


class TestFollow:
    def test_a_stream_is_printed_as_it_comes(self, fixture_server: Server) -> None:
        for flags in ((), ("--json",)):
            done = cpl("call", "fixture.ticks", "--follow", *flags, "--repo", str(fixture_server.repo))
            assert [json.loads(line)["number"] for line in done.stdout.splitlines()] == [0, 1, 2]
            assert done.returncode == 0

    def test_an_error_of_a_stream(self, codeplane_server: Server) -> None:
        done = cpl("call", "ledger.watch", "after=-1", "-f", "--repo", str(codeplane_server.repo))
        assert (done.returncode, done.stdout) == (1, "")
        assert "(INVALID_ARGUMENT)" in done.stderr

    def test_a_stream_that_is_called_says_how_to_follow_it(self, served: Call) -> None:
        done = served("ledger.watch")
        assert done.returncode == 1
        assert "cpl call ledger.watch --follow" in done.stderr

    def test_without_a_server_nothing_can_be_followed(self, alone: Path) -> None:
        done = cpl("call", "ledger.watch", "--follow", "--repo", str(alone))
        assert done.returncode == 3
        assert "hint: start it: cpl up --detach" in done.stderr


class TestAlone:
    @requirement("CLI-04")
    def test_many_at_once_take_turns(self, alone: Path) -> None:
        commands = [[CPL, "call", "session.create", f"description={number}", "--json"] for number in range(3)]
        running = [WarmProcess(command, cwd=alone) for command in commands]
        output = []
        for process in running:
            with process:
                output.append(json.loads(process.communicate(timeout=60)[0]))
        assert {get_field(one, "result", "task", "description") for one in output} == {"0", "1", "2"}

    def test_settings_can_be_overridden_and_a_server_ignores_them_aloud(
        self, alone: Path, codeplane_server: Server
    ) -> None:
        done = cpl("call", "session.info", "--json", "--set", "limits.max_mutations=5", "--repo", str(alone))
        assert get_field(envelope(done), "result", "task", "limits", "max_mutations") == 5
        served = cpl("call", "session.info", "--set", "limits.max_mutations=5", "--repo", str(codeplane_server.repo))
        assert served.returncode == 0
        assert "--set has no effect" in served.stderr

    def test_its_session_is_closed_behind_it(self, alone: Path) -> None:
        session = get_field(envelope(cpl("call", "session.info", "--json", "--repo", str(alone))), "meta", "session_id")
        log = cpl("log", "--session", str(session), "--type", "session.closed", "--json", "--repo", str(alone))
        assert json.loads(log.stdout)["payload"]["reason"] == "shutdown"


def test_what_did_not_come_to_pass_is_a_failure_though_it_is_answered(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"a.txt": "one\n"})
    git(repo, "checkout", "--quiet", "-b", "side")
    (repo / "a.txt").write_text("two\n")
    git(repo, "commit", "--quiet", "--all", "--message", "two")
    git(repo, "checkout", "--quiet", "main")
    (repo / "a.txt").write_text("three\n")
    git(repo, "commit", "--quiet", "--all", "--message", "three")
    done = cpl("call", "git.merge", "ref=side", "--repo", str(repo), "--json")
    assert done.returncode == 1
    assert "conflict" in json.loads(done.stdout)["meta"]["unmet"]


def test_each_command_of_a_person_can_take_back_the_one_before(alone: Path) -> None:
    edits = json.dumps([{"path": "new.txt", "content": "new\n"}])
    assert cpl("call", "write_files", f"edits={edits}", "--repo", str(alone)).returncode == 0
    assert (alone / "new.txt").exists()
    assert cpl("call", "undo", "--repo", str(alone)).returncode == 0
    assert not (alone / "new.txt").exists()


def test_a_repository_that_is_opened_runs_nothing_of_its_own(tmp_path: Path) -> None:
    evil = "open('/dev/null').close()\nimport pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"
    files = {"codeplane/__init__.py": evil, "struct.py": evil, "msgspec.py": evil, "zlib.py": evil, "a.py": "x = 1\n"}
    repo = make_repo(tmp_path / "repo", files)
    done = cpl("call", "facts.definitions", "name=x", "--json", cwd=repo)
    assert done.returncode == 0, done.stderr
    assert "a.py" in done.stdout
    assert not list(repo.rglob("ran"))
