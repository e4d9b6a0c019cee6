"""What is durable before what: proved from the system calls of a program that applies a batch."""

import re
import shutil
import subprocess
import sys

import pytest

from tests.interaction.requirements import requirement
from tests.ledger.test_durability_order import SystemCall, system_calls

PROGRAM = """
import os, sys
from pathlib import Path
from codeplane.edit.batch import Change
from tests.edit.batches import MUTATION, Place, kept, planted

place = Place.at(Path(sys.argv[1]))
changes = planted(place.root)
os.write(1, b"<begin>")
journal = place.journal()
journal.apply(MUTATION, kept(), changes)
os.write(1, b"<next>")
journal.apply("mut_0002", kept("mut_0002"), [Change(path="next.py", content=b"", before=None)])
os.write(1, b"<end>")
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[SystemCall]:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is NOT INSTALLED: the order of syncs and renames was not checked")
    if subprocess.run([strace, "-f", "-o", "/dev/null", "true"], capture_output=True).returncode:
        pytest.skip("strace MAY NOT TRACE here, so the order was not checked")
    folder = tmp_path_factory.mktemp("traced")
    trace = folder / "trace"
    wanted = "trace=write,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,link,linkat,mkdir,symlink"
    command = [strace, "-f", "-y", "-s", "4096", "-e", wanted, "-o", str(trace), sys.executable, "-c", PROGRAM]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = sorted(system_calls(trace.read_text(errors="replace").splitlines()), key=lambda call: call.began)
    return between(found, "<begin>", "<end>")


def between(calls: list[SystemCall], begin: str, end: str) -> list[SystemCall]:
    """The calls from one mark to another."""
    first, last = (next((call.began for call in calls if mark in call.text), None) for mark in (begin, end))
    return [call for call in calls if (first is None or first < call.began) and (last is None or call.began < last)]


@pytest.fixture
def calls(both: list[SystemCall]) -> list[SystemCall]:
    """Those of the first batch."""
    return between(both, "<begin>", "<next>")


def syncs(calls: list[SystemCall], path: str) -> list[SystemCall]:
    """The syncs of a file or folder, by how its path ends."""
    return [call for call in calls if call.name in ("fsync", "fdatasync") and f"{path}>" in call.text]


def rename(calls: list[SystemCall], target: str) -> SystemCall:
    (found,) = [call for call in calls if call.name.startswith("rename") and call.text.split('"')[-2].endswith(target)]
    return found


def replaces(calls: list[SystemCall]) -> list[SystemCall]:
    """Every call that touches a file of the work tree."""
    touching = ("rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir")
    return [
        call
        for call in calls
        if call.name in touching and ".codeplane" not in call.text.split('"')[-2] and call.text.endswith("= 0")
    ]


@requirement("EDT-03")
def test_everything_staged_is_durable_before_the_commit_record(calls: list[SystemCall]) -> None:
    committed = rename(calls, "/kept.json")
    staged = {match[0] for call in calls if (match := re.search(r"new\.\d+", call.text))}
    synced = {match[0] for call in syncs(calls, "") if (match := re.search(r"new\.\d+(?=>)", call.text))}
    links = {"new.23"}
    assert len(staged) >= 16
    assert staged - links == synced
    assert all(call.ended < committed.began for call in calls if re.search(r"sync\(\d+<[^>]*new\.\d+>", call.text))
    assert any(call.ended < committed.began for call in syncs(calls, "/manifest"))
    (written,) = [call for call in calls if call.name == "write" and "/manifest>" in call.text]
    assert any(written.ended < call.began and call.ended < committed.began for call in syncs(calls, "/mut_0001"))


@requirement("EDT-03")
def test_the_commit_record_is_durable_before_the_first_replace(calls: list[SystemCall]) -> None:
    committed = rename(calls, "/kept.json")
    touched = replaces(calls)
    assert len(touched) > 20
    first = min(call.began for call in touched)
    for folder in ("/mut_0001", ".codeplane/journal"):
        assert any(committed.ended < call.began and call.ended < first for call in syncs(calls, folder)), folder


@requirement("EDT-03")
def test_the_folders_are_durable_before_the_batch_is_over_each_once(calls: list[SystemCall]) -> None:
    last = max(call.ended for call in replaces(calls))
    kept = rename(calls, "/undo/mut_0001")
    for folder in ("root", "root/src", "root/gone", "root/moved", "root/new", "root/new/deep", "root/swap"):
        (found,) = syncs(calls, f"/{folder}")
        assert last < found.began and found.ended < kept.began, folder


def test_what_is_kept_is_durable_before_the_next_batch_lets_the_journal_forget_it(both: list[SystemCall]) -> None:
    kept = rename(both, "/undo/mut_0001")
    following = between(both, "<next>", "<end>")
    (undo,) = syncs(following, ".codeplane/undo")
    (journal,) = syncs(following, ".codeplane/journal")
    assert kept.ended < undo.began and undo.ended < journal.began
    assert journal.ended < min(call.began for call in replaces(following))
