"""Secrets files: empty in every sandbox, out of every answer by their values, and shown only by the owner's setting."""

import asyncio
import base64
import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller, Progress
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.trust.shell.output_capture import CHUNK_BYTES
from codeplane.wiring.app import Plane
from tests.git.test_guarded_programs import needs_bubblewrap
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane

VALUE = "hunter2-correct-horse"
ENV = f"NODE_ENV=production\nDB_HOST=localhost\nDB_PASSWORD={VALUE}\nexport API_TOKEN='tok4prod9876'\n"
PROBE = """import os, pathlib

def test_secrets():
    seen = {}
    for name in NAMES:
        try:
            seen[name] = pathlib.Path(name).read_text()
        except FileNotFoundError:
            assert not pathlib.Path(name).exists()
        except OSError as error:
            seen[name] = type(error).__name__
    print(seen)
    pathlib.Path("taken.txt").write_text(repr(seen))
    for attempt in (
        lambda: os.rename("config", "node_modules/config"),
        lambda: os.rename(".env", "env.txt"),
        lambda: os.link(".env", "linked.txt"),
        lambda: os.unlink(".env"),
        lambda: pathlib.Path(".env").write_text("x"),
        lambda: pathlib.Path(".cplignore").write_text("!.env\\n!*.pem\\n"),
    ):
        try:
            attempt()
        except OSError:
            pass
    assert ".env" in seen and not any(seen.values()), seen
"""
HIDDEN = (
    "venvs/.env/notes.txt",
    ".env",
    "config/.env.local",
    "ignored/.env",
    "alias.txt",
    "plain.txt",
    "other-name.txt",
    "keys/id_rsa",
)
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n"


def _repo(folder: Path, *names: str) -> Path:
    """A repository with secrets in every place and by every name, and a test that reads those that are named."""
    probe = PROBE.replace("NAMES", repr(names or HIDDEN))
    root = make_repo(folder, {"test_probe.py": probe, ".gitignore": "ignored/\n.env*\n", "README.md": "# shop\n"})
    for path in (".env", "config/.env.local", "ignored/.env"):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(ENV)
    for path, text in (("keys/id_rsa", KEY), ("keys/ca.pem", CERTIFICATE), ("real.settings", ENV)):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    (root / "node_modules").mkdir()
    # A folder of such a name that passes for an environment of Python.
    (root / "venvs/.env").mkdir(parents=True)
    (root / "venvs/.env/pyvenv.cfg").write_text("home = /usr/bin\n")
    (root / "venvs/.env/notes.txt").write_text(ENV)
    # By a link to it, by what it is a link to, and by a second name of the same file.
    (root / "alias.txt").symlink_to(".env")
    (root / "plain.txt").write_text(ENV)
    (root / ".env.production").symlink_to("plain.txt")
    os.link(root / ".env", root / "other-name.txt")
    return root


async def _call(opened: Plane, name: str, *, caller: Caller = AGENT, **arguments: JsonValue) -> JsonObject:
    outcome = await opened.conveyor.call(name, arguments, caller)
    answer: JsonObject = json.loads(outcome.to_json(with_text=True))
    return answer


def _error(answer: JsonObject) -> str:
    error = answer.get("error")
    return str(error["error"]) if isinstance(error, dict) else ""


@requirement("TRUST-50")
@needs_bubblewrap
async def test_a_test_sees_empty_files_and_moves_none_of_them(tmp_path: Path) -> None:
    root = _repo(tmp_path / "repo")
    async with plane(root) as opened:
        # Made after the start, as an owner does who fills in the example.
        (root / "late").mkdir()
        (root / "late" / ".env").write_text(ENV)
        done = await _call(opened, "test.run", targets=["test_probe.py"])
        assert "1 passed" in str(done["text"]), done
        again = await _call(opened, "test.run", targets=["test_probe.py"], fresh=True)
        assert "1 passed" in str(again["text"]), again
        # In a copy of the last commit, where what git ignores is copied too.
        (root / "README.md").write_text("# changed\n")
        parent = await _call(opened, "test.run", targets=["test_probe.py"], baseline=True)
        assert "1 passed" in str(parent["text"]), parent
    assert VALUE not in (root / "taken.txt").read_text()
    assert (root / ".env").read_text() == (root / "config/.env.local").read_text() == ENV
    assert not (root / "linked.txt").exists() and not (root / "env.txt").exists()
    # Of rules that the test left behind nothing comes.
    assert (root / ".cplignore").read_text().startswith("!.env")


def _environment(folder: Path) -> None:
    """A folder that looks like an environment of Python."""
    for name in ("bin", "lib", "conf"):
        (folder / name).mkdir(parents=True)
        (folder / name / "prod").write_text(ENV)
    (folder / "bin" / "python").symlink_to("/usr/bin/python3")
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (folder / "prod").write_text(ENV)


@requirement("TRUST-50")
@needs_bubblewrap
async def test_an_environment_of_python_shows_its_own_files_and_one_from_git_none(tmp_path: Path) -> None:
    hidden = [f"tools/.env/{name}" for name in ("prod", "conf/prod")]
    hidden += [f".env.d/{name}" for name in ("prod", "conf/prod", "lib/prod")]
    root = _repo(tmp_path / "repo", ".env", *hidden)
    _environment(root / "tools" / ".env")
    _environment(root / ".env.d")
    (root / ".env.e" / "lib").mkdir(parents=True)
    (root / ".env.e" / "pyvenv.cfg").touch()
    (root / ".env.e" / "lib" / "prod").write_text(ENV)
    git(root, "add", "--force", ".env.d/pyvenv.cfg")
    shown = "    assert pathlib.Path('tools/.env/lib/prod').read_text()\n    assert not os.path.exists('.env.e/lib')\n"
    (root / "test_probe.py").write_text((root / "test_probe.py").read_text() + shown)
    async with plane(root) as opened:
        done = await _call(opened, "test.run", targets=["test_probe.py"])
        assert "1 passed" in str(done["text"]), done


@requirement("TRUST-50")
@needs_bubblewrap
async def test_other_names_of_a_secrets_file_are_hidden_and_not_read(tmp_path: Path) -> None:
    root = _repo(tmp_path / "repo", ".env", "node_modules/.env", "node_modules/some/name.txt", "plain.txt")
    (root / "node_modules" / "some").mkdir()
    (root / "node_modules" / ".env").write_text(ENV)
    os.link(root / ".env", root / "node_modules" / "some" / "name.txt")
    # Links that a test can leave behind take no source away.
    (root / ".env.readme").symlink_to("README.md")
    os.link(root / "test_probe.py", root / ".env.probe")
    async with plane(root) as opened:
        for path in ("plain.txt", "other-name.txt"):
            assert _error(await _call(opened, "read_files", paths=[path])) == "PATH_DENIED", path
            edit: JsonObject = {"path": path, "content": "x"}
            assert _error(await _call(opened, "write_files", edits=[edit])) == "PATH_DENIED", path
            assert _error(await _call(opened, "git.stage", paths=[path])) == "PATH_DENIED", path
        found = await _call(opened, "search", query="NODE_ENV", mode="literal", fresh="strict")
        assert "plain.txt" not in str(found) and "other-name.txt" not in str(found), found
        for path in ("README.md", "test_probe.py"):
            assert not _error(await _call(opened, "read_files", paths=[path])), path
        done = await _call(opened, "test.run", targets=["test_probe.py"])
        assert "1 passed" in str(done["text"]), done


@requirement("TRUST-50")
async def test_a_comparison_brings_no_secret_into_the_index(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {".env.production": ENV, ".cplignore": "left-out/\n"})
    (root / ".env.production").write_text(ENV.replace("localhost", "machine-of-ours"))
    hidden = (".env", "left-out/notes.txt", "node_modules/notes.txt")
    for path in hidden:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(ENV.replace("localhost", "machine-of-ours"))
    async with plane(root) as opened:
        for paths in ([], [".env", ".env.production"]):
            compared = await _call(opened, "semantic_diff", paths=[*paths])
            assert ".env.production" in str(compared) and not _error(compared)
            found = await _call(opened, "search", query="machine-of-ours", mode="literal")
            assert "nothing found" in str(found["text"]), found


@requirement("TRUST-50")
@needs_bubblewrap
@pytest.mark.parametrize("target", ["conf/prod.txt", "conf"])
async def test_what_a_link_leads_to_stays_hidden_when_git_is_made_to_track_it(tmp_path: Path, target: str) -> None:
    names = ("conf/prod.txt",)
    probe = PROBE.replace("NAMES", repr(names)).replace('".env" in seen and ', "")
    ignored = {".gitignore": ".env\nconf/\n", "README.md": "# shop\n", "test_probe.py": probe}
    root = make_repo(tmp_path / "repo", ignored)
    for name, value in (("user.name", "Test"), ("user.email", "test@example.com")):
        git(root, "config", name, value)
    (root / "conf").mkdir()
    (root / "conf" / "prod.txt").write_text(ENV)
    (root / ".env").symlink_to(target)
    hook = root / ".git" / "hooks" / "pre-commit"
    dummy = "$(echo dummy | git hash-object -w --stdin)"
    hook.write_text(f"#!/bin/sh\ngit update-index --add --cacheinfo 100644,{dummy},conf/prod.txt\nrm .env\n")
    hook.chmod(0o755)

    async def stays_hidden() -> None:
        async with plane(root) as opened:
            await asyncio.to_thread(opened.secrets.walk)
            assert _error(await _call(opened, "read_files", paths=["conf/prod.txt"])) == "PATH_DENIED"
            assert "DB_HOST" not in str(await _call(opened, "git.diff"))
            done = await _call(opened, "test.run", targets=["test_probe.py"], fresh=True)
            assert "1 passed" in str(done["text"]), done

    async with plane(root) as opened:
        done = await _call(opened, "git.commit", message="x", allow_empty=True)
        assert not _error(done), done
        await asyncio.to_thread(opened.secrets.walk)
        assert _error(await _call(opened, "read_files", paths=["conf/prod.txt"])) == "PATH_DENIED"
        assert "DB_HOST" not in str(await _call(opened, "git.diff"))
    # The index and the last commit have it, and the hook took the link away.
    assert "conf/prod.txt" in git(root, "ls-files") and not (root / ".env").exists()
    hook.unlink()
    (root / ".env").symlink_to(target)
    await stays_hidden()


@requirement("TRUST-50")
async def test_a_link_that_is_left_behind_takes_no_changed_source_away(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n", "same.txt": "same\n"})
    (root / ".env.same").symlink_to("same.txt")
    async with plane(root) as opened:
        await asyncio.to_thread(opened.secrets.walk)
        (root / "README.md").write_text("# changed\n")
        (root / ".env.readme").symlink_to("README.md")
        (root / "same.txt").write_text("changed\n")
        await asyncio.to_thread(opened.secrets.walk)
        for path in ("README.md", "same.txt"):
            assert not _error(await _call(opened, "read_files", paths=[path])), path


@requirement("TRUST-50")
async def test_what_a_link_led_to_at_a_start_stays_hidden_after_another(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    (root / "prod.txt").write_text(ENV)
    (root / "notes.txt").write_text("notes\n")
    (root / ".env").symlink_to("prod.txt")
    async with plane(root) as opened:
        assert _error(await _call(opened, "read_files", paths=["prod.txt"]))
        # One that comes later counts while it is there.
        (root / ".env.notes").symlink_to("notes.txt")
    for link in (".env", ".env.notes"):
        (root / link).unlink()
    for _ in range(2):
        async with plane(root) as opened:
            assert _error(await _call(opened, "read_files", paths=["prod.txt"]))
            assert not _error(await _call(opened, "read_files", paths=["notes.txt"]))
    git(root, "add", "prod.txt")
    git(root, "commit", "--quiet", "--message", "no secret")
    async with plane(root) as opened:
        assert not _error(await _call(opened, "read_files", paths=["prod.txt"]))


@requirement("TRUST-50")
@needs_bubblewrap
async def test_the_owner_lets_tests_see_what_they_need(tmp_path: Path) -> None:
    root = _repo(tmp_path / "repo", ".env")
    (root / "test_probe.py").write_text(
        f"def test_it():\n    assert {VALUE!r} in open('.env').read()\n"
        "    assert not open('config/.env.local').read()\n"
        "    assert 'CERTIFICATE' in open('keys/ca.pem').read()\n"
    )
    lint = ["sh", "-c", "test -s .env"]
    async with plane(root, 'tests.secrets=["/.env"]', f"tests.lint={json.dumps([lint])}") as opened:
        done = await _call(opened, "test.run", targets=["test_probe.py"])
        assert "1 passed" in str(done["text"]), done
        # For tests alone: a linter sees an empty file, and this one says no.
        stopped = await _call(opened, "checkpoint", message="x", paths=["test_probe.py"], tests="none")
        result = stopped["result"]
        assert isinstance(result, dict) and result["stopped_by"] == "lint", stopped


@requirement("TRUST-50")
@needs_bubblewrap
async def test_hooks_and_commands_see_empty_files(tmp_path: Path) -> None:
    root = _repo(tmp_path / "repo")
    for name, value in (("user.name", "Test"), ("user.email", "test@example.com")):
        git(root, "config", name, value)
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\ncat .env config/.env.local keys/id_rsa > taken.txt\nmv config moved\ntrue\n")
    hook.chmod(0o755)
    async with plane(root) as opened:
        (root / "README.md").write_text("# changed\n")
        done = await _call(opened, "git.commit", message="x", paths=["README.md"])
        assert not _error(done), done
        output = await _call(
            opened, "run_bash", caller=OWNER, command="cat .env config/.env.local keys/id_rsa; echo end"
        )
        result = output["result"]
        assert isinstance(result, dict) and result["stdout"] == "end\n", output
    assert (root / "taken.txt").read_text() == ""
    assert (root / "config/.env.local").read_text() == ENV


@needs_bubblewrap
async def test_the_token_of_a_work_tree_inside_that_is_served_too_is_seen_by_nobody(tmp_path: Path) -> None:
    probe = "def test_it():\n    assert not open('inner/.codeplane/owner.token').read()\n"
    root = make_repo(tmp_path / "repo", {"test_probe.py": probe, ".gitignore": "inner/\n"})
    for name, value in (("user.name", "Test"), ("user.email", "test@example.com")):
        git(root, "config", name, value)
    git(root, "worktree", "add", "--quiet", "inner")
    token = root / "inner/.codeplane/owner.token"
    token.parent.mkdir()
    token.write_text("cpl_the-inner-one")
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\ncat inner/.codeplane/* > taken.txt 2>&1\ntrue\n")
    hook.chmod(0o755)
    async with plane(root) as opened:
        done = await _call(opened, "test.run", targets=["test_probe.py"])
        assert "FileNotFoundError" in str(done) and "cpl_the-inner-one" not in str(done), done
        (root / "test_probe.py").write_text(f"{probe}\n")
        assert not _error(await _call(opened, "git.commit", message="x", paths=["test_probe.py"]))
        output = await _call(opened, "run_bash", caller=OWNER, command="cat inner/.codeplane/*; echo end")
        assert "cpl_the-inner-one" not in str(output), output
    assert "cpl_the-inner-one" not in (root / "taken.txt").read_text()
    assert token.read_text() == "cpl_the-inner-one"


@needs_bubblewrap
async def test_the_filters_of_an_attached_folder_outside_see_no_token(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    script = f"cat '{root}/.codeplane/owner.token' > leaked 2>&1\ncat\n"
    other = make_repo(tmp_path / "other", {".gitattributes": "*.dat filter=f\n", "f.dat": "1\n", "f.sh": script})
    git(other, "config", "filter.f.clean", "sh f.sh")
    async with plane(root, f'workspaces.roots=["{tmp_path}"]') as opened:
        attached = await opened.conveyor.call("workspace.attach", {"path": str(other), "name": "other"}, OWNER)
        assert attached.error is None
        (other / "f.dat").write_text("2\n")
        output = await _call(opened, "git.status", workspace="other")
        assert "f.dat" in str(output), output
    assert "No such file" in (other / "leaked").read_text()


@requirement("REPO-08")
async def test_no_branch_brings_rules_that_show_a_secret(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    (root / ".env").write_text(ENV)
    for name, value in (("user.name", "Test"), ("user.email", "test@example.com")):
        git(root, "config", name, value)
    git(root, "checkout", "--quiet", "-b", "rules")
    (root / ".cplignore").write_text("!.env\n")
    (root / ".gitignore").write_text("!.env\n")
    git(root, "add", ".cplignore", ".gitignore")
    git(root, "commit", "--quiet", "--message", "rules")
    git(root, "checkout", "--quiet", "main")

    async def ways() -> None:
        async with plane(root) as opened:
            for way, arguments in (
                ("git.cherrypick", {"commit": "rules"}),
                ("git.reset", {"ref": "main~1", "mode": "hard"}),
                ("git.merge", {"ref": "rules"}),
                ("git.checkout", {"ref": "rules"}),
            ):
                caller = OWNER if way == "git.reset" else AGENT
                done = await opened.conveyor.call(way, arguments, caller)
                assert done.error is None, (way, done.error)
                read = await _call(opened, "read_files", paths=[".env"])
                assert _error(read) == "PATH_DENIED", way
                found = await _call(opened, "search", query="DB_HOST", mode="literal", fresh="strict")
                assert "localhost" not in str(found), way

    async def shown() -> None:
        async with plane(root, 'index.secrets=[".env"]') as opened:
            found = await _call(opened, "search", query="DB_HOST", mode="literal", fresh="strict")
            assert "localhost" in str(found)

    await ways()
    await shown()


def _told(opened: Sequence[object]) -> str:
    return "\n".join(map(str, opened))


@requirement("TRUST-51")
async def test_the_values_of_secrets_files_are_in_no_answer(tmp_path: Path) -> None:
    encoded = base64.b64encode(f"password {VALUE} here".encode()).decode()
    text = f"one {VALUE} two\nproduction localhost\n{encoded}\n{VALUE.encode().hex()}\n"
    root = make_repo(tmp_path / "repo", {"notes.txt": text, "test_it.py": f"def test_it():\n    assert 0, {VALUE!r}\n"})
    (root / ".env").write_text(ENV)
    progress: list[Progress] = []

    async def heard(one: Progress) -> None:
        progress.append(one)

    async with plane(root) as opened:
        agent = replace(AGENT, on_progress=heard)
        answers = [
            await _call(opened, "read_files", paths=["notes.txt"]),
            await _call(opened, "search", query="one", mode="literal"),
            await _call(opened, "search", query=VALUE, mode="literal"),
            await _call(opened, "read_files", paths=[f"{VALUE}.txt"]),
            await _call(opened, "git.diff", ref="HEAD"),
            await _call(opened, "test.run", caller=agent, targets=["test_it.py"]),
            await _call(opened, "write_files", edits=[{"path": "b.txt", "content": VALUE}]),
        ]
        assert VALUE not in _told(answers) and VALUE[3:] not in _told(answers)
        read = str(answers[0]["text"])
        assert read.count("[redacted]") == 3 and "production localhost" in read
        assert "one [redacted] two" in read
        assert VALUE not in _told([one.message for one in progress])
        recorded = await _call(opened, "ledger.events", limit=500)
        assert not _error(recorded) and VALUE not in str(recorded)
        # To the owner it is no secret.
        assert VALUE in str(await _call(opened, "read_files", caller=OWNER, paths=["notes.txt"]))
        # In a folder of such a name, and whatever else is called so.
        (root / ".env.d").mkdir()
        (root / ".env.d" / "shop").write_text("API_TOKEN=in-a-folder-77x\n")
        os.mkfifo(root / "pipe.key")
        (root / ".env.gone").symlink_to("nowhere")
        (root / "notes.txt").write_text("in-a-folder-77x\n")
        assert "[redacted]" in str((await _call(opened, "read_files", paths=["notes.txt"]))["text"])
        # Another value from now on, and the old one may lie in a copy.
        (root / ".env").write_text("DB_PASSWORD=another9secret\n")
        (root / "notes.txt").write_text(f"another9secret {VALUE}\n")
        again = await _call(opened, "read_files", paths=["notes.txt"])
        assert "[redacted] [redacted]" in str(again["text"])


async def _pages(opened: Plane, name: str, key: str, limit: int, *, caller: Caller, **arguments: JsonValue) -> str:
    """Everything that one answer after another says, but for most of the filler."""
    output, offset = "", 0
    while True:
        answer = await _call(opened, name, caller=caller, offset=offset, limit=limit, **arguments)
        result = answer["result"]
        assert isinstance(result, dict), answer
        assert result["offset"] == offset
        page = str(result[key])
        output += page
        following = result["next_offset"]
        if not isinstance(following, int) or following == offset:
            return output
        # Thousands of equal pages would follow, until near the end of the chunk that output is kept in.
        offset = max(following, CHUNK_BYTES - 200) if limit > 1 and page == "x" * limit else following


@requirement("TRUST-51")
@needs_bubblewrap
async def test_a_value_is_not_seen_in_pieces(tmp_path: Path) -> None:
    test = f"def test_it():\n    print({VALUE[:9]!r} + {VALUE[9:]!r})\n    assert 0\n"
    # A value that is printed in two pieces.
    script = (
        f"printf 'a {VALUE[:7]}'; sleep 0.3; echo '{VALUE[7:]} z'\nhead -c {CHUNK_BYTES - 4} /dev/zero | tr '\\0' x\n"
    )
    root = make_repo(tmp_path / "repo", {"test_it.py": test, "say.sh": script})
    (root / ".env").write_text(ENV)
    progress: list[Progress] = []

    async def heard(one: Progress) -> None:
        progress.append(one)

    async with plane(root) as opened:
        await _call(opened, "test.run", targets=["test_it.py"])
        caller = replace(OWNER, on_progress=heard)
        ran = await _call(opened, "run_bash", caller=caller, command="bash say.sh")
        result = ran["result"]
        assert isinstance(result, dict)
        execution = {"execution_id": result["execution_id"]}
        for limit in (1, 5, 13, 4000):
            for name, key, named in (
                ("test.output", "output", {"target": "test_it.py"}),
                ("shell.output", "content", execution),
            ):
                if name == "shell.output" and limit == 1:
                    continue
                output = await _pages(opened, name, key, limit, caller=AGENT, **named)
                assert "[redacted]" in output, (name, limit)
                assert not any(VALUE[at : at + 4] in output for at in range(len(VALUE) - 3)), (
                    name,
                    limit,
                    output[:300],
                )
                # To the owner it is no secret, and offsets are the same.
                assert VALUE in await _pages(opened, name, key, limit, caller=OWNER, **named), (name, limit)
        shared: JsonObject = {"agent": "agent", "without_token": True, "capabilities": ["context_sharing"]}
        assert (await opened.conveyor.call("capability.grant", shared, OWNER)).error is None
        events = await _call(opened, "ledger.events", limit=500)
        assert "shell.output" in str(events)
        assert VALUE[:7] not in str(events) and VALUE[7:] not in str(events)
        assert not any(VALUE[:7] in str(one.message) and VALUE not in str(one.message) for one in progress)


@requirement("TRUST-51")
@needs_bubblewrap
async def test_what_runs_is_watched_by_whole_lines(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    (root / ".env").write_text(ENV)
    progress: list[Progress] = []

    async def heard(one: Progress) -> None:
        progress.append(one)

    command = (
        f"echo first; printf '{VALUE[:9]}'; sleep 0.4; printf '{VALUE[9:]}'; sleep 0.4; echo; echo last; sleep 0.3"
    )
    async with plane(root) as opened:
        await _call(opened, "run_bash", caller=replace(OWNER, on_progress=heard), command=command)
        output = [one.message for one in progress]
        assert "first" in output and VALUE[:9] not in output and VALUE[9:] not in output, output
        # The end of a long output, which begins inside of a value.
        long = f"printf '{VALUE}'; head -c {16_384 - 8} /dev/zero | tr '\\0' x"
        ran = await _call(opened, "run_bash", caller=OWNER, command=long)
        assert f"{VALUE[-8:]}xxx" in str(ran["text"])


@requirement("TRUST-51")
async def test_lines_of_a_key_are_not_read_one_by_one(tmp_path: Path) -> None:
    body = [f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{number:04d}" for number in range(6)]
    key = "\n".join(("-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"))
    root = make_repo(tmp_path / "repo", {"settings.py": f'NAME = "shop"\nKEY = """{key}"""\nDEBUG = False\n'})
    async with plane(root) as opened:
        for lines in ("1-2", "3-4", "4", "7-9", "1-9"):
            read = await _call(opened, "read_files", paths=[f"settings.py:{lines}"])
            assert "MIIE" not in str(read) and "[redacted]" in str(read["text"]), lines
            assert "left out" in str(read["meta"])
        assert "MIIE" in str(await _call(opened, "read_files", caller=OWNER, paths=["settings.py:4"]))
        rest = await _call(opened, "read_files", paths=["settings.py:10"])
        assert "DEBUG = False" in str(rest["text"]) and "left out" not in str(rest["meta"])


@requirement("TRUST-51")
async def test_a_placeholder_is_not_written_back(tmp_path: Path) -> None:
    config = f'NAME = "shop"\nPASSWORD = "{VALUE}"\nDEBUG = False\n'
    root = make_repo(tmp_path / "repo", {"config.py": config, "redact.py": 'MARK = "[redacted]"\nx = 1\n'})
    (root / ".env").write_text(ENV)
    whole = config.replace(VALUE, "[redacted]").replace("False", "True")
    refused: tuple[JsonObject, ...] = (
        {"path": "config.py", "content": whole},
        {"path": "config.py", "old_text": "DEBUG = False", "new_text": 'PASSWORD = "[redacted]"'},
        {"path": "new.py", "content": whole},
        {"path": "redact.py", "content": 'x = "[redacted]"\ny = "[redacted]"\n'},
    )
    passing: tuple[JsonObject, ...] = (
        {"path": "config.py", "old_text": "DEBUG = False", "new_text": "DEBUG = True"},
        {"path": "redact.py", "content": '# The mark.\nMARK = "[redacted]"\nx = 2\n'},
        {"path": "redact.py", "old_text": 'MARK = "[redacted]"', "new_text": 'SIGN = "[redacted]"'},
        {"path": "redact.py", "new_path": "moved.py"},
    )
    async with plane(root) as opened:
        for edit in refused:
            for dry_run in (False, True):
                answer = await _call(opened, "write_files", edits=[edit], dry_run=dry_run)
                assert _error(answer) == "PLACEHOLDER_WRITTEN", edit
        assert (root / "config.py").read_text() == config
        for edit in passing:
            assert not _error(await _call(opened, "write_files", edits=[edit])), edit
        assert VALUE in (root / "config.py").read_text()
        done = await _call(opened, "write_files", caller=OWNER, edits=[refused[2]])
        assert not _error(done), done


@requirement("TRUST-52")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_files", {"edits": [{"path": ".env", "new_path": "env.txt"}]}),
        ("write_files", {"edits": [{"path": "open.txt", "link_to": ".env"}]}),
        ("refactor.move", {"from_path": ".env", "to_path": "env.txt", "apply": True}),
        ("git.stage", {"paths": [".env"]}),
        ("git.stage", {"paths": ["."]}),
        ("git.commit", {"message": "x", "paths": [".env"]}),
        ("git.stash_push", {"include_untracked": True}),
        ("checkpoint", {"message": "x", "paths": [".env"], "tests": "none"}),
    ],
)
async def test_a_secret_gets_no_other_name_and_no_place_in_git(
    tmp_path: Path, name: str, arguments: JsonObject
) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    (root / ".env").write_text(ENV)
    before = git(root, "count-objects")
    async with plane(root) as opened:
        done = await opened.conveyor.call(name, arguments, AGENT)
        # What is in no index can be moved by no refactoring.
        assert done.error is not None
        assert done.error.name == ("NOT_FOUND" if name == "refactor.move" else "PATH_DENIED")
    assert git(root, "count-objects") == before
    assert git(root, "status", "--porcelain") == "?? .env\n"


async def test_a_refusal_of_several_secrets_files_speaks_of_several(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    (root / ".env").write_text(ENV)
    (root / ".env.local").write_text(ENV)
    async with plane(root) as opened:
        one = str(await _call(opened, "git.stage", paths=[".env"]))
        assert ".env holds secrets by its name, so only the owner gives it to git" in one
        both = str(await _call(opened, "git.stage", paths=["."]))
        assert ".env, .env.local hold secrets by their names, so only the owner gives them to git" in both


@requirement("TRUST-52")
async def test_a_checkpoint_leaves_secrets_out_and_says_so(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    for name, value in (("user.name", "Test"), ("user.email", "test@example.com")):
        git(root, "config", name, value)
    (root / ".env").write_text(ENV)
    (root / "README.md").write_text("# changed\n")
    async with plane(root) as opened:
        done = await _call(opened, "checkpoint", message="x", tests="none")
        assert "left out" in str(done["text"]) and ".env" in str(done["text"])
        # The owner decides about his own files.
        assert not _error(await _call(opened, "git.stage", caller=OWNER, paths=[".env"]))
    assert git(root, "ls-tree", "--name-only", "HEAD").split() == ["README.md"]


@requirement("TRUST-51")
async def test_questions_about_git_calls_show_no_secret_and_change_none(tmp_path: Path) -> None:
    """Whoever asks can look at the question, so what a tracked secrets file holds is not in it either."""
    root = make_repo(tmp_path / "repo", {"a.txt": "one\n"})
    (root / ".env").write_text(ENV)
    git(root, "add", "--force", ".env")
    git(root, "commit", "--quiet", "-m", "a secret by mistake")
    (root / ".env").write_text("PLAIN=mango\n")
    (root / "a.txt").write_text("two\n")
    async with plane(root, "embeddings.model=none", "index.watch=false") as opened:
        for paths in ([".env"], ["."]):
            for answer in (
                await _call(opened, "git.discard", paths=paths),
                await _call(opened, "git.checkout", ref="HEAD", paths=paths),
            ):
                assert _error(answer) == "PATH_DENIED" and "mango" not in json.dumps(answer), paths
        asked = await _call(opened, "git.discard", paths=["a.txt"])
        assert _error(asked) == "APPROVAL_PENDING"
        # The owner's own question names the file and not what it holds.
        amended = await _call(opened, "git.amend", message="without", paths=["a.txt", ".env"], caller=AGENT)
        for one in (asked, amended):
            assert "mango" not in json.dumps(one) and VALUE not in json.dumps(one)
        listed = await _call(opened, "approval.list", caller=OWNER)
        for action_id in re.findall(r"act_[0-9a-f-]+", json.dumps(listed)):
            shown = json.dumps(await _call(opened, "approval.show", action_id=action_id))
            assert "mango" not in shown and VALUE not in shown
        assert _error(amended) in ("APPROVAL_PENDING", "PATH_DENIED")
        discarded = await _call(opened, "git.discard", caller=OWNER, paths=[".env"])
        assert _error(discarded) == "" and (root / ".env").read_text() == ENV


def _held_by_git(root: Path) -> str:
    """Everything that git's objects say."""
    command = ["git", "cat-file", "--batch", "--batch-all-objects"]
    return subprocess.run(command, cwd=root, capture_output=True, check=True).stdout.decode("latin-1")


@requirement("TRUST-52")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("git.checkout", {"ref": "other", "paths": ["config/.env"]}),
        ("git.reset", {"ref": "HEAD", "mode": "hard"}),
        ("git.discard", {"paths": ["config/.env"]}),
    ],
)
async def test_what_the_owner_overwrites_of_a_secrets_file_is_kept_for_undo_and_not_by_git(
    tmp_path: Path, name: str, arguments: JsonObject
) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    (root / "config").mkdir()
    for branch in ("main", "other"):
        if branch == "other":
            git(root, "switch", "--quiet", "-c", branch)
        (root / "config" / ".env").write_text(f"BRANCH={branch}\n")
        git(root, "add", "--force", "config/.env")
        git(root, "commit", "--quiet", "-m", branch)
    git(root, "switch", "--quiet", "-")
    (root / "config" / ".env").write_text(ENV)
    (root / "README.md").write_text("# a change that may be kept\n")
    async with plane(root) as opened:
        done = await _call(opened, name, caller=OWNER, **arguments)
        assert not _error(done), done
        assert "config/.env" in str(done["result"])
        assert "kept for undo in .codeplane/" in str(done["meta"])
        assert (root / "config" / ".env").read_text() != ENV
        assert VALUE not in _held_by_git(root)
        git(root, "fsck", "--strict")
        undone = await _call(opened, "undo", caller=OWNER)
        assert not _error(undone), undone
        assert (root / "config" / ".env").read_text() == ENV
        again = await _call(opened, "redo", caller=OWNER)
        assert not _error(again), again
        assert (root / "config" / ".env").read_text() != ENV
        assert not _error(await _call(opened, "undo", caller=OWNER))
        assert (root / "config" / ".env").read_text() == ENV
        assert VALUE not in _held_by_git(root)
        if name == "git.reset":
            # What is no secret is under a recovery ref as ever.
            assert "a change that may be kept" in _held_by_git(root)
    kept = list((root / ".codeplane" / "overwritten-secrets").iterdir())
    assert [file.read_text() for file in kept] == [ENV]
    assert kept[0].stat().st_mode & 0o077 == 0


async def test_so_is_what_a_checkout_overwrites_of_one_that_git_ignores(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    git(root, "switch", "--quiet", "-c", "other")
    (root / ".env").write_text("BRANCH=other\n")
    git(root, "add", "--force", ".env")
    git(root, "commit", "--quiet", "-m", "other")
    git(root, "switch", "--quiet", "-")
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "exclude").write_text(".env*\n")
    (root / ".env").write_text(ENV)
    async with plane(root) as opened:
        done = await _call(opened, "git.checkout", caller=OWNER, ref="other")
        assert not _error(done), done
        assert (root / ".env").read_text() == "BRANCH=other\n" and VALUE not in _held_by_git(root)
        # An agent does not see what is kept.
        shown = await _call(opened, "mutation.show", mutation_id=_mutation(done))
        assert VALUE not in str(shown)
        assert not _error(await _call(opened, "undo", caller=OWNER, mutation_id=_mutation(done)))
        assert (root / ".env").read_text() == ENV and VALUE not in _held_by_git(root)


def _mutation(answer: JsonObject) -> str:
    result = answer["result"]
    assert isinstance(result, dict) and isinstance(result["delta"], dict)
    return str(result["delta"]["mutation_id"])
