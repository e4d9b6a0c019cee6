"""`cpl doctor`: what is wrong here, and how to fix it."""

import json
from pathlib import Path

import pytest

from codeplane import __version__
from tests.harness import Server, cpl, make_repo, until


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


def test_a_healthy_server(codeplane_server: Server) -> None:
    found = verdicts(codeplane_server.repo)
    names = ["version", "git", "repository", "settings", "tests", "sandbox", "home", "server", "ledger"]
    around = ["worktree", "ownership", "clients", "attached", "waiting"]
    assert list(found) == [*names, "names", "policy", "secrets", "tls", "ports", "index", *around]
    # Whether there is a sandbox, and what its clients start, is the machine's affair.
    assert {verdict for name, (verdict, _, _) in found.items() if name not in ("sandbox", "clients")} == {"ok"}
    assert "no gaps" in found["ledger"][1]


def test_one_line_a_check_for_people(codeplane_server: Server) -> None:
    done = cpl("doctor", cwd=codeplane_server.repo)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 20
    assert all(line.startswith("ok    ") for line in lines if line[6:13] not in ("sandbox", "clients"))


def test_a_repository_nobody_has_set_up_is_only_warned_of(repo: Path) -> None:
    found = verdicts(repo)
    assert (found["home"][0], found["home"][2]) == ("warn", "cpl init")
    assert (found["server"][0], found["server"][2]) == ("warn", "cpl up")
    assert found["ledger"][:2] == ("ok", "none yet")
    assert not (repo / ".codeplane").exists()


def test_test_runners_that_are_missing_are_named(repo: Path) -> None:
    (repo / "mix.exs").write_text("")
    assert verdicts(repo)["tests"][:2] == ("warn", "Test runner 'mix' not found in PATH")


def test_no_commit_is_a_warning(tmp_path: Path) -> None:
    assert verdicts(tmp_path, "--repo", str(tmp_path))["repository"][0] == "warn"


def test_broken_settings_are_named_with_their_place(repo: Path) -> None:
    (repo / ".codeplane").mkdir()
    (repo / ".codeplane/config.yaml").write_text("trust:\n  mode: reckless\n")
    verdict, said, fix = verdicts(repo)["settings"]
    assert verdict == "fail"
    assert "config.yaml:2: trust.mode" in said
    assert fix


def test_a_policy_broken_while_the_server_runs_is_told_with_what_holds_meanwhile(server: Server) -> None:
    def told() -> str:
        lines = dict(line.split(maxsplit=1) for line in cpl("status", cwd=server.repo).stdout.splitlines())
        return lines.get("policy", "")

    assert told() == ""
    server.workspace.policy.mkdir()
    mine = server.workspace.policy / "mine.rego"
    mine.write_text("package codeplane.policy\n\ndeny contains {\n")
    said = until(told)
    assert "mine.rego:" in said and "stays in force" in said and said.endswith("see: cpl policy check")
    assert "policy: the policy cannot be used" in cpl("call", "status", cwd=server.repo).stdout
    verdict, found, fix = verdicts(server.repo)["policy"]
    assert (verdict, fix) == ("fail", "mend it; cpl policy check")
    assert "mine.rego:" in found and "stays in force" in found and "only reads" not in found
    mine.write_text('package codeplane.policy\n\ndeny contains "x" if input.risk == "HIGH"\n')
    assert verdicts(server.repo)["policy"][:2] == ("ok", "1 of your own: mine.rego")
    assert until(lambda: not told())


def test_a_server_of_another_version(codeplane_server: Server) -> None:
    written = codeplane_server.workspace.server
    before = written.read_text()
    try:
        written.write_text(json.dumps({**json.loads(before), "version": "0.0.1"}))
        verdict, said, fix = verdicts(codeplane_server.repo)["server"]
    finally:
        written.write_text(before)
    assert (verdict, said, fix) == ("warn", f"runs 0.0.1, this is {__version__}", "cpl down && cpl up")


def test_a_token_nobody_can_read_is_a_failed_check_and_not_the_end(codeplane_server: Server) -> None:
    token = codeplane_server.workspace.owner_token
    before = token.read_bytes()
    try:
        token.write_bytes(b"\xff\xfe")
        assert verdicts(codeplane_server.repo)["ledger"][0] == "fail"
        token.write_bytes(b"another-token-than-the-servers-own-one")
        verdict, said, fix = verdicts(codeplane_server.repo)["ledger"]
        assert (verdict, said) == ("fail", "the token is nobody's")
        assert fix
    finally:
        token.write_bytes(before)


def test_home_that_is_a_file(repo: Path) -> None:
    (repo / ".codeplane").write_text("?")
    verdict, said, fix = verdicts(repo)["home"]
    assert (verdict, said) == ("fail", f"{repo}/.codeplane is not a folder")
    assert fix.startswith("mv ")


class TestLogs:
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
        verdict, said, fix = verdicts(used)["ledger"]
        assert verdict == "fail"
        assert "damaged" in said
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
