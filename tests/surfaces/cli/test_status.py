"""`cpl status`: one view of what runs here."""

import json
import subprocess
from pathlib import Path

from tests.harness import CPL, Server, cpl, git
from tests.interaction.requirements import requirement


class TestRunning:
    def test_for_people(self, codeplane_server: Server) -> None:
        done = cpl("status", cwd=codeplane_server.repo)
        assert (done.returncode, done.stderr) == (0, "")
        lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
        assert f"running at {codeplane_server.url}, pid {codeplane_server.process.pid}" in lines["server"]
        head = git(codeplane_server.repo, "rev-parse", "HEAD").strip()
        assert lines["repository"] == f"{codeplane_server.repo} at {head}"

    @requirement("CLI-03")
    def test_for_programs(self, codeplane_server: Server) -> None:
        done = cpl("status", "--json", cwd=codeplane_server.repo)
        found = json.loads(done.stdout)
        assert (found["running"], found["url"], found["api_version"]) == (True, codeplane_server.url, "1.0.0")
        assert set(found) >= {"daemon", "ledger", "session", "config", "paths"}
        assert found["paths"]["ledger"] == str(codeplane_server.workspace.ledger)
        assert found["paths"]["ledger_bytes"] > 0

    def test_from_a_folder_inside(self, codeplane_server: Server) -> None:
        inside = codeplane_server.repo / "a" / "b"
        inside.mkdir(parents=True, exist_ok=True)
        assert cpl("status", cwd=inside).returncode == 0
        assert cpl("status", "--repo", str(inside)).returncode == 0

    def test_verbose_adds_the_log(self, codeplane_server: Server) -> None:
        *_, newest = codeplane_server.workspace.log.read_text().splitlines()
        done = cpl("status", "--verbose", cwd=codeplane_server.repo)
        last = [line for line in done.stdout.splitlines() if line.startswith("{") and json.loads(line)["event"]]
        assert 0 < len(last) <= 50
        assert newest in last

    def test_verbose_for_programs_is_one_object(self, codeplane_server: Server) -> None:
        *_, newest = codeplane_server.workspace.log.read_text().splitlines()
        found = json.loads(cpl("status", "-v", "--json", cwd=codeplane_server.repo).stdout)
        assert newest in found["log"]

    @requirement("CLI-03")
    def test_follow_prints_the_log_as_it_grows(self, codeplane_server: Server) -> None:
        with subprocess.Popen(
            [CPL, "status", "--follow"], cwd=codeplane_server.repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert any(line.startswith(b"settings") for line in iter(process.stdout.readline, b""))
            log = codeplane_server.workspace.log
            with log.open("a") as file:
                file.write('{"event":"something new"}\n')
            assert process.stdout.readline() == b'{"event":"something new"}\n'
            process.kill()

    def test_its_log_goes_on_in_a_new_file(self, repo: Path) -> None:
        log = repo / ".codeplane/logs/server.jsonl"
        log.parent.mkdir(parents=True)
        log.write_text("old\n")
        with subprocess.Popen([CPL, "status", "--follow"], cwd=repo, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(b"server")
            process.stdout.readline()
            log.rename(log.with_name("server.jsonl.1"))
            log.write_text("new\n")
            assert process.stdout.readline() == b"new\n"
            process.kill()


class TestNotRunning:
    def test_the_exit_code_is_three(self, repo: Path) -> None:
        done = cpl("status", cwd=repo)
        assert done.returncode == 3
        assert "not running; start it: cpl up" in done.stdout
        found = cpl("status", "--json", cwd=repo)
        assert found.returncode == 3
        assert json.loads(found.stdout)["running"] is False
        assert not (repo / ".codeplane").exists()
