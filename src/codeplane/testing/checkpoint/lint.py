"""Lint commands, which check a change before it is committed, in the sandbox of the tests."""

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from codeplane.kernel.config import TestsConfig
from codeplane.kernel.errors import TestRunnerNotFound
from codeplane.kernel.operation import Result
from codeplane.testing import process
from codeplane.testing.environment import clean_environment
from codeplane.testing.program import Programs
from codeplane.testing.sandbox import Enclosure, ProcessTree, Sandbox

PATHS = "{paths}"
_MAX_OUTPUT = 4000


class Linted(Result):
    """The result of one command, with the end of its output."""

    command: str
    passed: bool
    exit_code: int
    output: str = ""

    def text(self) -> str:
        if self.passed:
            return f"lint {self.command}: passed"
        return f"lint {self.command}: FAILED with {self.exit_code}\n{self.output}".rstrip()


class Linters:
    """Runs the owner's `tests.lint` commands one after the other."""

    def __init__(
        self,
        *,
        root: Path,
        config: TestsConfig,
        environment: Mapping[str, str],
        sandbox: Sandbox,
        tree: ProcessTree,
    ) -> None:
        self._root = root
        self._config = config
        self._environment = environment
        self._sandbox = sandbox
        self._tree = tree
        self._programs = Programs(root, path=environment.get("PATH", ""))

    def __bool__(self) -> bool:
        return bool(self._config.lint)

    def commands(self, paths: Sequence[str]) -> list[list[str]]:
        """Return the commands for these changed files; commands that take files are left out when none exists."""
        files = [path for path in paths if (self._root / path).is_file()]
        return [
            [word for part in command for word in (files if part == PATHS else [part])]
            for command in self._config.lint
            if files or PATHS not in command
        ]

    async def run(self, paths: Sequence[str]) -> tuple[Linted, ...]:
        """Run the commands up to the first that fails; `{paths}` in a command stands for the changed files."""
        results: list[Linted] = []
        for command in self.commands(paths):
            results.append(await self._run_command(command))
            if not results[-1].passed:
                break
        return tuple(results)

    async def _run_command(self, command: list[str]) -> Linted:
        program = self._programs.command(command[0], "")
        if program is None:
            raise TestRunnerNotFound(
                f"{command[0]!r}, which tests.lint names, is not found in the repository or in PATH",
                hint="install it, or fix tests.lint in .codeplane/config.yaml; lint=false leaves it out",
            )
        argv = [*program.words, *command[1:]]
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="codeplane-lint-"))
        try:
            if self._config.sandbox != "off" and not self._sandbox.unavailable_reason():
                enclosure = Enclosure(root=self._root, tools=program.tools, network=self._config.network)
                argv = await asyncio.to_thread(self._sandbox.command, argv, cwd=self._root, enclosure=enclosure)
            output = folder / "output"
            seconds = self._config.run_timeout_sec
            ended = await process.run(
                argv,
                cwd=self._root,
                environment=clean_environment(self._environment, network=self._config.network),
                mark=str(folder),
                output=output,
                limits=process.Limits(seconds=seconds, silence=seconds),
                tree=self._tree,
                on_line=_ignore_line,
            )
            text = (await asyncio.to_thread(output.read_bytes)).decode(errors="replace").strip()
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if ended.timed_out:
            text += f"\nended after {ended.seconds:.0f} s (tests.run_timeout_sec)"
        cut = "[…] " if len(text) > _MAX_OUTPUT else ""
        passed = ended.code == 0 and not ended.timed_out
        return Linted(
            command=" ".join(command)[:200],
            passed=passed,
            exit_code=ended.code,
            output="" if passed else cut + text[-_MAX_OUTPUT:],
        )


async def _ignore_line(line: str) -> None:
    """Ignore a line: only the result of a linter is reported."""
