"""The home folder of an outside agent: its own, with a copy of what the settings name of the person's."""

import os
import shutil
from pathlib import Path

from codeplane.kernel.errors import OutsideAgentFailed

_MAX_BYTES = 64 * 1024 * 1024
_MAX_FILES = 5000


def fill_home(real: Path, names: tuple[str, ...], home: Path) -> None:
    """Make the folder, and copy what is named of the real home into it again; what is not there is left out."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    left = [_MAX_BYTES, _MAX_FILES]
    for name in names:
        source, target = real / name, home / name
        if source.is_dir():
            for folder, _, files in os.walk(source):
                for file in files:
                    path = Path(folder) / file
                    _copy(path, home, target / path.relative_to(source), left)
        elif source.is_file():
            _copy(source, home, target, left)


def _copy(source: Path, home: Path, target: Path, left: list[int]) -> None:
    if source.is_symlink() or not source.is_file():
        return
    left[0] -= source.stat().st_size
    left[1] -= 1
    if min(left) < 0:
        raise OutsideAgentFailed(
            "what `home` of an agent names is too large to be copied for it",
            hint=f"name single files in `home`: at most {_MAX_FILES} files and {_MAX_BYTES // 1024 // 1024} MB",
        )
    # The agent may have put links there, which are not to be written through.
    for place in (*reversed(target.relative_to(home).parents), target.relative_to(home)):
        if (home / place).is_symlink():
            (home / place).unlink()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o600)
