"""What a run of tests would start, for whoever decides on it: commands, folders, and the code as it is now."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from shlex import join

from codeplane.index.files.paths import shown
from codeplane.index.snapshot import Snapshot
from codeplane.testing.command import Filters, custom_words, words
from codeplane.testing.program import Programs
from codeplane.testing.target import Wanted

_REPORT = Path("REPORT")
_REPORTER = "REPORTER"
_MAX_COMMANDS = 20
_MAX_COMMAND = 2000
_DIGITS = 24


def commands(wanted: Sequence[Wanted], programs: Programs, filters: Filters, *, root: Path, offline: bool) -> list[str]:
    """The commands with the folders they run in; of what can share a process one, though it may be run in parts."""
    groups: dict[object, list[Wanted]] = {}
    for one in wanted:
        groups.setdefault(one.together or one, []).append(one)
    found = [
        f"in {shown(str(root / group[0].target.root))}:\n  {_command(group, programs, filters, offline=offline)}"
        for group in list(groups.values())[:_MAX_COMMANDS]
    ]
    if len(groups) > _MAX_COMMANDS:
        found.append(f"and {len(groups) - _MAX_COMMANDS} commands more")
    return found


def state_of(wanted: Sequence[Wanted], snapshot: Snapshot) -> str:
    """One value for everything that is run: the targets, and every file of the repository that they may run."""
    hashed = sha256()
    for one in wanted:
        hashed.update(f"{one.target_id!r} {one.target.runner_name!r} {one.names!r}\n".encode())
    for path, known in sorted(snapshot.files.items()):
        # What is too large to be read has no digest, and is known by its times.
        held = known.digest or repr(known.stamp)
        hashed.update(f"{path!r} {held} {known.stamp.mode:o}\n".encode())
    return hashed.hexdigest()[:_DIGITS]


def _command(wanted: Sequence[Wanted], programs: Programs, filters: Filters, *, offline: bool) -> str:
    target = wanted[0].target
    if target.custom is not None:
        program = programs.command(target.custom.cmd[0], target.root)
        said = join(custom_words(target, program.words, _REPORT)) if program else f"{target.custom.cmd[0]} (not found)"
    elif target.runner is not None and (found := programs.at(target.runner, target.root)) is not None:
        command = words(target.runner, found.words, wanted, _REPORT, filters, offline=offline)
        # A reporter of ours is given as text, in which nobody would find what is run.
        ours = target.runner.script_text() if target.runner.script else None
        said = join([_REPORTER if word == ours else word for word in command])
    else:
        said = f"{target.runner_name} (not found)"
    said = shown(said)
    return said if len(said) <= _MAX_COMMAND else f"{said[:_MAX_COMMAND]} … and {len(said) - _MAX_COMMAND} characters"
