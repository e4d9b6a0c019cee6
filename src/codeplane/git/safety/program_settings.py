"""Refuses settings by which git runs programs outside the sandbox or trusts others, where agents could write them.

Hooks, filters, merge drivers and monitors are not among them: those are sandboxed.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from codeplane.git.safety.settings import SettingEntry, Settings
from codeplane.index.files.paths import path_text
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
# These decide where the owner's credentials are sent, which files git writes meanwhile, and whether reading fetches.
_NETWORK = re.compile(
    r"(?:http\.(?:.*\.)?|remote\..*\.)"
    r"(?:proxy\w*|ssl\w+|cookiefile|savecookies|curloptresolve|extraheader|followredirects|delegation|emptyauth)"
    r"|remote\..*\.(?:promisor|partialclonefilter)",
    _FLAGS,
)
# Our own diff commands ignore these.
_DIFF = re.compile(r"diff\.external|diff\..*\.(?:command|textconv)", _FLAGS)
_UPDATE = re.compile(r"submodule\..*\.update", _FLAGS)
_WORK_TREE = "core.worktree"


def refuse_programs(settings: Settings, *, root: Path, own: Path, submodule: bool) -> None:
    """Raise GitRefused for such a setting in a file of the work tree, or in a submodule's own settings.

    `root` is the work tree and `own` its git folder. Agents can write such files, and can make a submodule use a git
    folder that a hook created.
    """
    if submodule:
        for entry in _of_submodule(settings, root, own):
            raise GitRefused(
                f"the settings of the submodule {path_text(root.name)} name what git would run or write outside of it:"
                f" {path_text(entry.key)}",
                hint=f"look at {path_text(str(entry.file))}, and take that setting out; ~/.gitconfig may have it",
            )
    for entry in settings.entries:
        what = _power_of(entry)
        if what and _is_in(entry.file, root) and not _is_in(entry.file, own):
            raise GitRefused(
                f"git's settings include {path_text(str(entry.file))}, which agents can write, and that {what}:"
                f" {path_text(entry.key)}",
                hint="move that setting to .git/config or ~/.gitconfig",
            )


def _of_submodule(settings: Settings, root: Path, own: Path) -> Iterator[SettingEntry]:
    for entry in settings.entries:
        if entry.scope not in _OF_REPOSITORY:
            continue
        elsewhere = entry.key == _WORK_TREE and os.path.realpath(own / entry.value) != os.path.realpath(root)
        if elsewhere or _names_program(entry) or _DIFF.fullmatch(entry.key):
            yield entry


def _power_of(entry: SettingEntry) -> str:
    """Return what a setting does that only the owner may decide; empty for others."""
    if _names_program(entry):
        return "names a program"
    return "decides how git reaches other machines" if _NETWORK.fullmatch(entry.key) else ""


def _names_program(entry: SettingEntry) -> bool:
    if _UPDATE.fullmatch(entry.key):
        return entry.value.startswith("!")
    return bool(entry.value) and _PROGRAM.fullmatch(entry.key) is not None


def _is_in(file: Path | None, folder: Path) -> bool:
    return file is not None and Path(os.path.realpath(folder)) in Path(os.path.realpath(file)).parents
