"""How `cpl` is typed from where somebody is, so that what we print can be pasted."""

import shlex
import shutil
from pathlib import Path


def typed(program: Path, root: Path, *, cwd: Path, path: str | None = None) -> tuple[str, str]:
    """The program's name, and what a command has to add to mean the repository; `path` is where programs are found."""
    found = shutil.which("cpl", path=path)
    if found is not None and Path(found).resolve() == program.resolve():
        name = "cpl"
    elif program.is_relative_to(cwd):
        name = shlex.quote(str(program.relative_to(cwd)))
    else:
        name = shlex.quote(str(program))
    inside = cwd.resolve().is_relative_to(root.resolve())
    return name, "" if inside else f" --repo {shlex.quote(str(root))}"
