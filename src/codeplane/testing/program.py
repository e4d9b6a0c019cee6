"""The programs of runners: the repository's own first, then those in PATH."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.errors import TestRunnerNotFound
from codeplane.testing.runner import Runner

_OWN = (".venv/bin", "venv/bin", "env/bin", "node_modules/.bin", "vendor/bin")
_MAX_FIRST_LINE = 512
_INTERPRETER = re.compile(rb"^#!\s*(/\S*python[\d.]*)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The words that start a runner, and the folders it needs."""

    words: tuple[str, ...]
    tools: tuple[Path, ...]


class Programs:
    """Finds programs for roots inside one repository."""

    def __init__(self, root: Path, *, path: str) -> None:
        self._root = root
        self._path = path

    def find(self, runner: Runner, root: str) -> Program:
        """Return the program of a runner; TestRunnerNotFound says how to get it."""
        found = self.at(runner, root)
        if found is None:
            raise TestRunnerNotFound(
                f"Test runner '{runner.name}' not found in {root or 'the repository'} or in PATH",
                hint=f"{self.remedy(runner, root)}; or name another under tests.runners in .codeplane/config.yaml",
                details={"runner": runner.name, "looked_in": list(_OWN)},
            )
        return found

    def at(self, runner: Runner, root: str) -> Program | None:
        """Return the program of a runner, or None."""
        file = self._file(runner, root)
        return _program(runner, file) if file is not None else None

    def fault(self, runner: Runner, root: str) -> str:
        """Say why a runner's program cannot start, as far as its files show; nothing is run."""
        file = self._file(runner, root)
        if file is None:
            return ""
        found = _INTERPRETER.match(_first_line(file))
        if found and not _is_program(Path(os.fsdecode(found[1]))):
            return f"{self.relative_path(file)} starts {os.fsdecode(found[1])}, which does not exist"
        interpreter = _interpreter(file) if runner.module else None
        if interpreter is not None and not _has_module(interpreter, runner.module):
            return f"{runner.module} is not installed for {self.relative_path(interpreter)}"
        return ""

    def remedy(self, runner: Runner, root: str) -> str:
        """Return the command that installs a runner for the tests of a root, or how to get it."""
        for install in runner.install:
            for folder in self._upwards(root):
                if _holds(folder / install.file, install.contains):
                    return (
                        install.command
                        if folder == self._root
                        else f"cd {self.relative_path(folder)} && {install.command}"
                    )
        return runner.hint

    def relative_path(self, file: Path) -> str:
        """Return a path relative to the repository's root, or unchanged if it is elsewhere."""
        return str(file.relative_to(self._root)) if file.is_relative_to(self._root) else str(file)

    def _file(self, runner: Runner, root: str) -> Path | None:
        for name in runner.programs:
            file = self._repository_program(name, root) if not name.startswith("./") else self._wrapper(name[2:], root)
            if file is None and not name.startswith("./"):
                on_path = shutil.which(name, path=self._path)
                file = Path(on_path) if on_path else None
            if file is not None:
                return file
        return None

    def command(self, word: str, root: str) -> Program | None:
        """Return the program that the first word of a custom command names."""
        if "/" in word:
            file = self._root / root / word
            return Program(words=(str(file),), tools=_tools(file)) if _is_program(file) else None
        file_or_none = self._repository_program(word, root)
        if file_or_none is None:
            on_path = shutil.which(word, path=self._path)
            file_or_none = Path(on_path) if on_path else None
        return Program(words=(str(file_or_none),), tools=_tools(file_or_none)) if file_or_none else None

    def _repository_program(self, name: str, root: str) -> Path | None:
        for folder in self._upwards(root):
            for own in _OWN:
                if _is_program(folder / own / name):
                    return folder / own / name
        return None

    def _wrapper(self, name: str, root: str) -> Path | None:
        return next((folder / name for folder in self._upwards(root) if _is_program(folder / name)), None)

    def _upwards(self, root: str) -> list[Path]:
        folder = self._root / root if root else self._root
        return [folder, *(parent for parent in folder.parents if parent == self._root or self._root in parent.parents)]


def _program(runner: Runner, file: Path) -> Program:
    if runner.module:
        interpreter = _interpreter(file)
        if interpreter is not None:
            # As a module, with the root in sys.path, as most people run it by hand.
            return Program(words=(str(interpreter), "-m", runner.module), tools=(*_tools(interpreter), *_tools(file)))
    return Program(words=(str(file),), tools=_tools(file))


def _first_line(file: Path) -> bytes:
    try:
        with file.open("rb") as script:
            return script.readline(_MAX_FIRST_LINE).strip()
    except OSError:
        return b""


def _interpreter(file: Path) -> Path | None:
    found = _INTERPRETER.match(_first_line(file))
    # A shim that chooses between versions has one for the interpreter beside it.
    near = [Path(os.fsdecode(found[1]))] if found else [file.parent / "python", file.parent / "python3"]
    return next((path for path in near if _is_program(path)), None)


def _has_module(interpreter: Path, module: str) -> bool:
    """Whether an interpreter's virtual environment has a module; assumed for an interpreter without one."""
    environment = interpreter.parent.parent
    settings = environment / "pyvenv.cfg"
    if not settings.is_file() or _holds(settings, "include-system-site-packages = true"):
        return True
    packages = list(environment.glob("lib*/python*/site-packages"))
    return any(next(folder.glob(name), None) for folder in packages for name in (module, f"{module}-*.dist-info"))


def _holds(file: Path, contains: str) -> bool:
    try:
        return file.is_file() and (not contains or contains in file.read_text(errors="replace"))
    except OSError:
        return False


def _tools(file: Path) -> tuple[Path, ...]:
    """Return the folders a program may need: its own, those that its links lead through, and the ones beside them."""
    found: list[Path] = []
    for _ in range(10):
        folder = file.parent
        found.append(folder.parent if folder.name in ("bin", ".bin", "libexec") else folder)
        try:
            target = file.readlink()
        except OSError:
            break
        file = Path(os.path.normpath(folder / target))
    real = Path(os.path.realpath(file))
    found.append(real.parent.parent if real.parent.name in ("bin", ".bin", "libexec") else real.parent)
    # A folder in the path may be a link itself.
    return tuple(dict.fromkeys([*found, *(Path(os.path.realpath(folder)) for folder in found)]))


def _is_program(file: Path) -> bool:
    return file.is_file() and os.access(file, os.X_OK)
