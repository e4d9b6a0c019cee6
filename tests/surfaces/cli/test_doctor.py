"""`cpl doctor`: what is wrong here, and how to fix it."""

import json
from pathlib import Path

import pytest

from tests.harness import Server, cpl, make_repo, until
from tests.interaction.requirements import requirement

NAMES = [
    *("version", "git", "sandbox", "repository", "worktree", "hooks", "lfs"),
    *("home", "ownership", "unfinished", "attached", "secrets", "recovery", "settings", "contexts"),
    *("server", "ledger", "clock", "scip", "waiting", "clients"),
    *("names", "ports", "tls", "policy", "redaction", "tests", "outside", "index"),
]


def verdicts(repo: Path, *arguments: str) -> dict[str, tuple[str, str, str]]:
    """Each check's verdict, finding and fix; the exit code has to fit them."""
    done = cpl("doctor", "--json", *arguments, cwd=repo)
    found = {
        check["name"]: (check["verdict"], check["found"], check["fix"]) for check in json.loads(done.stdout)["checks"]
    }
    assert done.returncode == (1 if "fail" in {verdict for verdict, _, _ in found.values()} else 0)
    return found


def damage(ledger: Path) -> None:
    """Overwrite the middle of a file, as a bad disk would."""
    data = bytearray(ledger.read_bytes())
    data[4096 : len(data) // 2] = b"\xa5" * (len(data) // 2 - 4096)
    ledger.write_bytes(data)


@pytest.fixture
def used(repo: Path) -> Path:
    """A repository with a ledger and no server."""
    assert cpl("call", "session.create", cwd=repo).returncode == 0
    return repo


@requirement("CLI-03", "CLI-24")
def test_a_healthy_server(codeplane_server: Server) -> None:
    found = verdicts(codeplane_server.repo)
    assert list(found) == NAMES
    # Whether there is a sandbox, and what its clients start, is the machine's affair.
    assert {verdict for name, (verdict, _, _) in found.items() if name not in ("sandbox", "clients")} == {"ok"}
    assert "no gaps" in found["ledger"][1]


def test_one_line_a_check_for_people(codeplane_server: Server) -> None:
    done = cpl("doctor", cwd=codeplane_server.repo)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line[6:16].rstrip() for line in lines] == NAMES
    assert all(line.startswith("ok    ") for line in lines if line[6:13] not in ("sandbox", "clients"))


def test_a_repository_nobody_has_set_up_is_only_warned_of(repo: Path) -> None:
    found = verdicts(repo)
    assert (found["home"][0], found["home"][2]) == ("warn", "cpl init")
    assert (found["server"][0], found["server"][2]) == ("warn", "cpl up")
    assert found["ledger"][:2] == ("ok", "none yet")
    assert not (repo / ".codeplane").exists()


def test_a_policy_broken_while_the_server_runs_is_told_with_what_holds_meanwhile(server: Server) -> None:
    def doctor_output() -> str:
        lines = dict(line.split(maxsplit=1) for line in cpl("status", cwd=server.repo).stdout.splitlines())
        return lines.get("policy", "")

    assert doctor_output() == ""
    server.workspace.policy.mkdir()
    mine = server.workspace.policy / "mine.rego"
    mine.write_text("package codeplane.policy\n\ndeny contains {\n")
    output = until(doctor_output)
    assert "mine.rego:" in output and "stays in force" in output and output.endswith("see: cpl policy check")
    assert "policy: the policy cannot be used" in cpl("call", "status", cwd=server.repo).stdout
    verdict, found, fix = verdicts(server.repo)["policy"]
    assert (verdict, fix) == ("fail", "fix it; then: cpl policy check")
    assert "mine.rego:" in found and "stays in force" in found and "only reads" not in found
    mine.write_text('package codeplane.policy\n\ndeny contains "x" if input.risk == "HIGH"\n')
    assert verdicts(server.repo)["policy"][:2] == ("ok", "1 of your own: mine.rego")
    assert until(lambda: not doctor_output())


class TestLogs:
    @requirement("CLI-03")
    def test_the_recent_log_is_added(self, codeplane_server: Server) -> None:
        *_, newest = codeplane_server.workspace.log.read_text().splitlines()
        done = cpl("doctor", "--logs", cwd=codeplane_server.repo)
        assert f"log {codeplane_server.workspace.log}" in done.stdout
        assert newest in done.stdout.splitlines()
        assert codeplane_server.token not in done.stdout

    def test_for_programs_it_is_part_of_the_object(self, codeplane_server: Server) -> None:
        *_, newest = codeplane_server.workspace.log.read_text().splitlines()
        found = json.loads(cpl("doctor", "--logs", "--json", cwd=codeplane_server.repo).stdout)
        assert newest in found["log"]

    def test_without_one_it_says_so(self, repo: Path) -> None:
        assert cpl("doctor", "--logs", cwd=repo).stdout.endswith("(empty)\n")


class TestSalvage:
    def test_a_damaged_ledger_is_found_salvaged_and_kept(self, used: Path) -> None:
        ledger = used / ".codeplane/ledger.db"
        damage(ledger)
        damaged = ledger.read_bytes()
        verdict, output, fix = verdicts(used)["ledger"]
        assert verdict == "fail"
        assert "damaged" in output
        assert "cpl doctor --salvage" in fix

        report = json.loads(cpl("doctor", "--salvage", "--json", cwd=used).stdout)
        assert "events kept" in report["salvage"]
        assert {check["name"]: check["verdict"] for check in report["checks"]}["ledger"] == "ok"
        assert (used / ".codeplane/ledger.db.damaged-1").read_bytes() == damaged
        done = cpl("call", "ledger.verify", "--json", cwd=used)
        assert json.loads(done.stdout)["result"]["ok"] is True, done.stdout

    def test_a_sound_one_is_left_alone(self, used: Path) -> None:
        before = (used / ".codeplane/ledger.db").read_bytes()
        done = cpl("doctor", "--salvage", cwd=used)
        assert done.returncode == 0
        assert done.stdout.startswith("nothing to salvage: the ledger is sound")
        assert (used / ".codeplane/ledger.db").read_bytes() == before

    def test_none_at_all(self, tmp_path: Path) -> None:
        repo = make_repo(tmp_path / "repo")
        assert cpl("doctor", "--salvage", cwd=repo).stdout.startswith("nothing to salvage: there is no ledger")

    def test_not_while_a_server_uses_it(self, codeplane_server: Server) -> None:
        done = cpl("doctor", "--salvage", cwd=codeplane_server.repo)
        assert done.returncode == 1
        assert "(SERVER_RUNNING)" in done.stderr


def test_the_guide_explains_every_line() -> None:
    guide = (Path(__file__).parents[3] / "docs/guides/trouble.md").read_text()
    _, _, table = guide.partition("## What `cpl doctor` looks at")
    assert [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")] == NAMES[1:]
