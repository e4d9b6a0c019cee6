"""Settings that name a program which git runs outside of any enclosure, and where such a setting may not stand.

Hooks, filters, merge drivers and monitors are not among them: those are enclosed.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from codeplane.git.safety.settings import Entry, Settings
from codeplane.index.files.paths import shown
from codeplane.kernel.errors import GitRefused

_OF_REPOSITORY = frozenset({"local", "worktree"})
_FLAGS = re.IGNORECASE | re.DOTALL
_PROGRAM = re.compile(
    r"core\.(?:sshcommand|gitproxy|alternaterefscommand)"
    r"|gpg\.(?:.*\.)?(?:program|defaultkeycommand)"
    r"|credential\.(?:.*\.)?helper"
    r"|remote\..*\.(?:uploadpack|receivepack|vcs)"
    r"|protocol\.(?:.*\.)?allow"
    r"|trailer\..*\.(?:command|cmd)"
    r"|uploadpack\.packobjectshook|gc\.recentobjectshook"
    r"|lfs\.(?:customtransfer|extension)\..*|lfs\.standalonetransferagent",
    _FLAGS,
)
# What is compared in the repository itself is compared without them.
_DIFF = re.compile(r"diff\.external|diff\..*\.(?:command|textconv)", _FLAGS)
_UPDATE = re.compile(r"submodule\..*\.update", _FLAGS)
_WORK_TREE = "core.worktree"


def refuse_programs(settings: Settings, *, root: Path, own: Path, submodule: bool) -> None:
    """GitRefused for a program named by a file of the work tree, or by the settings of a submodule's own.

    `root` is the work tree and `own` its git folder. Whoever writes the work tree writes such files, and can have a
    submodule take a git folder that a hook made.
    """
    if submodule:
        for entry in _of_submodule(settings, root, own):
            raise GitRefused(
                f"the settings of the submodule {shown(root.name)} name what git would run or write outside of it:"
                f" {shown(entry.key)}",
                hint=f"look at {shown(str(entry.file))}, and take that setting out; ~/.gitconfig may have it",
            )
    for entry in settings.entries:
        if _names_program(entry) and _is_in(entry.file, root) and not _is_in(entry.file, own):
            raise GitRefused(
                f"git's settings include {shown(str(entry.file))}, which agents can write, and that names a program:"
                f" {shown(entry.key)}",
                hint="move that setting to .git/config or ~/.gitconfig",
            )


def _of_submodule(settings: Settings, root: Path, own: Path) -> Iterator[Entry]:
    for entry in settings.entries:
        if entry.scope not in _OF_REPOSITORY:
            continue
        elsewhere = entry.key == _WORK_TREE and os.path.realpath(own / entry.value) != os.path.realpath(root)
        if elsewhere or _names_program(entry) or _DIFF.fullmatch(entry.key):
            yield entry


def _names_program(entry: Entry) -> bool:
    if _UPDATE.fullmatch(entry.key):
        return entry.value.startswith("!")
    return bool(entry.value) and _PROGRAM.fullmatch(entry.key) is not None


def _is_in(file: Path | None, folder: Path) -> bool:
    return file is not None and Path(os.path.realpath(folder)) in Path(os.path.realpath(file)).parents
