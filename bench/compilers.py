"""Whether a checkout still compiles, by the compiler of its language, doing no more again than it has to.

What cannot be read from the checkout stands in `NAME.json` beside it: `language`, `sources` and `classpath` (Java),
`flags`, `units` (C and C++, where there is no `compile_commands.json`).
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

_JAVA_SERVER = Path(__file__).parent / "JavacServer.java"
_ERROR = re.compile(r"(?m)^(?=.*(?:\berror\b|: undefined|: undeclared|fatal)).*$", re.IGNORECASE)


class CompilerMissing(Exception):
    """A tool that a language is checked with is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A checkout and what has to be known to compile it."""

    root: Path
    language: str
    sources: tuple[str, ...] = ()
    classpath: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    units: tuple[str, ...] = ()

    @classmethod
    def at(cls, root: Path, described: Mapping[str, object]) -> "Project":
        """The project in a folder, as the JSON beside its checkout describes it."""

        def words(name: str) -> tuple[str, ...]:
            given = described.get(name, ())
            return tuple(shlex.split(given)) if isinstance(given, str) else tuple(map(str, given))  # type: ignore[call-overload]  # plain JSON

        return cls(
            root=root,
            language=str(described["language"]),
            sources=words("sources"),
            classpath=words("classpath"),
            flags=words("flags"),
            units=words("units"),
        )


class Compiler(Protocol):
    """Checks a project again and again."""

    @property
    def cpu(self) -> float:
        """CPU seconds that it took so far."""

    def check(self, changed: Collection[str]) -> str:
        """The first error after these files changed, or nothing."""

    def covers(self, path: str) -> bool:
        """Whether a file is compiled at all."""

    def warnings(self) -> str:
        """All that the compiler warns about, from scratch."""

    def close(self) -> None:
        """End what is running."""


def first_error(output: str) -> str:
    """The line of a compiler's output that says what is wrong."""
    match = _ERROR.search(output)
    line = match[0] if match else output.strip().partition("\n")[0]
    after = output[match.end() :].lstrip("\n").split("\n", 2) if match else []
    # rustc says where in the line below.
    where = f" ({after[0].strip()})" if after and after[0].lstrip().startswith("-->") else ""
    return (line.strip() + where)[:240]


class CommandCompiler:
    """One or more commands over the whole project; those that fail before anything changed are left out."""

    def __init__(
        self,
        project: Project,
        commands: Sequence[Sequence[str]],
        *,
        environment: Mapping[str, str],
        warned: Sequence[str] = (),
        sources: Collection[str] | None = None,
    ) -> None:
        self.cpu = 0.0
        self._root = project.root
        self._environment = {**os.environ, **environment}
        self._warned = warned
        self._sources = frozenset(sources) if sources is not None else None
        self._commands: list[Sequence[str]] = []
        for number, command in enumerate(commands):
            problem = self._run(command)
            if problem and not number:
                raise SystemExit(f"{project.root.name} does not compile before anything is changed: {problem}")
            if not problem:
                self._commands.append(command)

    def check(self, changed: Collection[str]) -> str:
        """The first error of the first command that fails."""
        return next((problem for command in self._commands if (problem := self._run(command))), "")

    def covers(self, path: str) -> bool:
        """Whether the compiler named the file; all are, where it names none."""
        return self._sources is None or path in self._sources

    def warnings(self) -> str:
        """What the command for warnings prints."""
        return run(self._warned, self._root, self._environment)[1] if self._warned else ""

    def close(self) -> None:
        """Nothing is running."""

    def _run(self, command: Sequence[str]) -> str:
        # The first words may set variables, as in a shell.
        settings = [word for word in command if re.match(r"^[A-Z]+=", word)]
        environment = {**self._environment, **dict(word.split("=", 1) for word in settings)}
        code, output, cpu = run(command[len(settings) :], self._root, environment)
        self.cpu += cpu
        return first_error(output) or f"exit {code}" if code else ""


class UnitCompiler:
    """The translation units of C and C++, each compiled again when a file it includes has changed.

    A definition that is renamed without its prototype compiles, so what is left to the linker is compared, too.
    """

    def __init__(self, project: Project, compiler: str) -> None:
        self.cpu = 0.0
        self._root = project.root
        self._objects = tempfile.TemporaryDirectory(prefix="codeplane-objects-")
        self._reads: dict[str, frozenset[str]] = {}
        self._names: dict[str, Linked] = {}
        self._units = dict(self._commands(project, compiler))
        for unit, command in list(self._units.items()):
            error, names = self._compile(unit)
            if error:
                print(f"left out, does not compile: {unit}: {error}", flush=True)
                del self._units[unit]
                continue
            _, output, cpu = run([*command, "-M"], self._root, os.environ)
            self.cpu += cpu
            self._names[unit] = names
            self._reads[unit] = frozenset(self._inside(re.sub(r"\\\n", " ", output).partition(":")[2].split()))
        if not self._units:
            raise SystemExit(f"nothing of {project.root.name} compiles")

    def check(self, changed: Collection[str]) -> str:
        """The first error among the units that read a changed file, or the first name that none of them defines now."""
        names = dict(self._names)
        for unit, reads in self._reads.items():
            if not reads.isdisjoint(changed):
                error, names[unit] = self._compile(unit)
                if error:
                    return error
        lost = Linked.of(names.values()).undefined - Linked.of(self._names.values()).undefined
        return f"error: undefined reference to {min(lost)}" if lost else ""

    def covers(self, path: str) -> bool:
        """Whether a unit reads the file."""
        return any(path in reads for reads in self._reads.values())

    def warnings(self) -> str:
        """What is unused in every unit."""
        return "".join(
            run([*one, "-fsyntax-only", "-Wunused"], self._root, os.environ)[1] for one in self._units.values()
        )

    def close(self) -> None:
        """Delete the objects."""
        self._objects.cleanup()

    def _compile(self, unit: str) -> tuple[str, "Linked"]:
        built = f"{self._objects.name}/unit.o"
        code, output, cpu = run([*self._units[unit], "-c", "-o", built], self._root, os.environ)
        self.cpu += cpu
        return (first_error(output), Linked()) if code else ("", Linked.read(built))

    def _inside(self, names: Collection[str]) -> Iterator[str]:
        for name in names:
            path = Path(os.path.normpath(self._root / name))
            if path.is_relative_to(self._root):
                yield path.relative_to(self._root).as_posix()

    def _commands(self, project: Project, compiler: str) -> Iterator[tuple[str, list[str]]]:
        always = [compiler, "-O0", "-fdiagnostics-color=never"]
        always += ["-Werror=implicit-function-declaration"] if compiler == "gcc" else ["-w"]
        database = self._root / "compile_commands.json"
        if project.units:
            for pattern in project.units:
                for unit in sorted(self._root.glob(pattern)):
                    yield str(unit.relative_to(self._root)), [*always, *project.flags, str(unit)]
            return
        for entry in json.loads(database.read_text()):
            words = entry.get("arguments") or shlex.split(entry["command"])
            kept = [word for word in words[1:] if word not in ("-c", "-o") and not word.endswith(".o")]
            yield entry["file"], [*always, *kept]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """What objects define for others, and what they need of others."""

    defined: frozenset[str] = frozenset()
    undefined: frozenset[str] = frozenset()

    @classmethod
    def read(cls, built: str) -> "Linked":
        """The names of one object."""
        lines = [line.split() for line in subprocess.check_output(["nm", "-gP", built], text=True).splitlines()]
        return cls(
            defined=frozenset(line[0] for line in lines if line[1] not in ("U", "v", "w")),
            undefined=frozenset(line[0] for line in lines if line[1] == "U"),
        )

    @classmethod
    def of(cls, objects: Iterable["Linked"]) -> "Linked":
        """What all of them define, and what none of them defines."""
        some = list(objects)
        defined = frozenset().union(*(one.defined for one in some))
        return cls(defined=defined, undefined=frozenset().union(*(one.undefined for one in some)) - defined)


class JavaCompiler:
    """One `javac` that stays warm and stops before it writes classes."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._scratch = tempfile.TemporaryDirectory(prefix="codeplane-javac-")
        command = ["java", "-Xss8m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", str(_JAVA_SERVER)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        problem = self.check(())
        if problem:
            self.close()
            raise SystemExit(f"{project.root.name} does not compile before anything is changed: {problem}")

    @property
    def cpu(self) -> float:
        """CPU seconds of the compiler's process so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def check(self, changed: Collection[str]) -> str:
        """The first error over all source sets."""
        return self._ask("check")

    def covers(self, path: str) -> bool:
        """Whether a source set holds the file."""
        return path.endswith(".java") and any(Path(path).is_relative_to(one) for one in self._project.sources)

    def warnings(self) -> str:
        """Java's compiler warns of nothing unused."""
        return ""

    def close(self) -> None:
        """End the compiler."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._scratch.cleanup()

    def _ask(self, what: str) -> str:
        project = self._project
        arguments = [
            "-proc:none",
            "-nowarn",
            "-implicit:none",
            "-XDshould-stop.ifNoError=FLOW",
            "-d",
            self._scratch.name,
        ]
        arguments += ["-encoding", "UTF-8", *project.flags]
        if project.classpath:
            arguments += ["-classpath", ":".join(project.classpath)]
        files = sorted(
            path for one in project.sources for path in (project.root / one).rglob("*.java") if self._counts(path)
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps([what, *arguments, *map(str, files)]), file=self._process.stdin, flush=True)
        lines = []
        while (line := self._process.stdout.readline()) not in ("\0\n", ""):
            lines.append(line)
        return first_error("".join(lines)) if lines else ""

    @staticmethod
    def _counts(path: Path) -> bool:
        # Descriptors of modules name what is not at hand.
        return path.name != "module-info.java"


def run(command: Sequence[str], root: Path, environment: Mapping[str, str]) -> tuple[int, str, float]:
    """Run a command to its end: its exit code, all it printed, and its CPU seconds."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(command, cwd=root, env=dict(environment), stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return process.returncode, output.read(), usage.ru_utime + usage.ru_stime


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """How projects of a language are checked: which programs that takes, and what makes a compiler of them."""

    suffixes: tuple[str, ...]
    programs: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...] = ()
    warned: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


_GO = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GONOSUMDB": "*", "GONOSUMCHECK": "1"}
_RUST = {"CARGO_NET_OFFLINE": "true", "CARGO_TERM_COLOR": "never", "CARGO_INCREMENTAL": "1"}
_VET = ("go", "vet", "-atomic", "./...")
TOOLCHAINS: Mapping[str, Toolchain] = {
    # An analyser that finds nothing: what is wanted is that every package is checked with its tests.
    "go": Toolchain(
        suffixes=(".go",),
        programs=("go",),
        commands=(_VET, ("GOOS=windows", *_VET)),
        environment=_GO,
    ),
    "rust": Toolchain(
        suffixes=(".rs",),
        programs=("cargo", "rustc"),
        commands=(("cargo", "check", "--quiet", "--workspace", "--all-targets", "--offline"),),
        warned=("cargo", "check", "--workspace", "--all-targets", "--offline"),
        environment=_RUST,
    ),
    "java": Toolchain(suffixes=(".java",), programs=("java", "javac")),
    "c": Toolchain(suffixes=(".c", ".h"), programs=("gcc",)),
    "cpp": Toolchain(suffixes=(".cc", ".cpp", ".cxx", ".h", ".hpp"), programs=("g++",)),
}


def compiler_of(project: Project) -> Compiler:
    """The compiler of a project; the project has to compile."""
    toolchain = TOOLCHAINS.get(project.language)
    if toolchain is None:
        raise SystemExit(f"no compiler is known for {project.language}: {', '.join(TOOLCHAINS)}")
    missing = [program for program in toolchain.programs if shutil.which(program) is None]
    if missing:
        raise CompilerMissing(f"{project.language} needs {', '.join(missing)}")
    if project.language in ("c", "cpp"):
        return UnitCompiler(project, toolchain.programs[0])
    if project.language == "java":
        return JavaCompiler(project)
    return CommandCompiler(project, toolchain.commands, environment=toolchain.environment, warned=toolchain.warned)


@contextlib.contextmanager
def compiling(project: Project) -> Iterator[Compiler]:
    """The compiler of a project, ended afterwards."""
    compiler = compiler_of(project)
    try:
        yield compiler
    finally:
        compiler.close()
