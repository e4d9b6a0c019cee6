"""Whether a checkout still compiles, by the compiler of its language, doing no more again than it has to.

What cannot be read from the checkout stands in `NAME.json` beside it: `language`, `sources` (Java, Kotlin and C#),
`classpath` (Java and Kotlin), `flags`, `units` (C and C++, where there is no `compile_commands.json`).
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_JAVA_SERVER = Path(__file__).parent / "JavacServer.java"
_KOTLIN_SERVER = Path(__file__).parent / "KotlincServer.java"
_GO_CHECKER = Path(__file__).parent / "go_checker.go"
_ERROR = re.compile(r"(?m)^(?=.*(?:\berror\b|: undefined|: undeclared|fatal)).*$", re.IGNORECASE)


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
    """A command over the whole project."""

    def __init__(self, project: Project, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.cpu = 0.0
        self._project = project
        self._command = command
        self._environment = {**os.environ, **environment}
        problem = self.check(())
        if problem:
            raise SystemExit(f"{project.root.name} does not compile before anything is changed: {problem}")

    def check(self, changed: Collection[str]) -> str:
        """The first error of the command, if it fails."""
        code, output, cpu = run(self._command, self._project.root, self._environment)
        self.cpu += cpu
        return first_error(output) or f"exit {code}" if code else ""

    def covers(self, path: str) -> bool:
        """Whether a file is one of the language, in a source set where there are any."""
        return is_source(self._project, path)

    def close(self) -> None:
        """Nothing is running."""


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

    @property
    def commands(self) -> Mapping[str, Sequence[str]]:
        """How each unit is compiled."""
        return self._units

    def covers(self, path: str) -> bool:
        """Whether a unit reads the file."""
        return any(path in reads for reads in self._reads.values())

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


class WarmCompiler:
    """A compiler in a process that stays: a line in, errors and a line with NUL out."""

    def __init__(self, project: Project, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._project = project
        self._process = subprocess.Popen(
            command,
            cwd=project.root,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
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
        """The first error over everything."""
        lines = self._ask(self._request("check"))
        return first_error("".join(lines)) if lines else ""

    def references(self) -> list[str]:
        """Every use of every name that the project declares: where it is declared, a tab, where it is used."""
        return self._ask(self._request("references"))

    def covers(self, path: str) -> bool:
        """Whether a file is one of the language, in a source set where there are any."""
        return is_source(self._project, path)

    def close(self) -> None:
        """End the compiler."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)

    def _ask(self, request: str) -> list[str]:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(request, file=self._process.stdin, flush=True)
        lines = []
        while (line := self._process.stdout.readline()) not in ("\0\n", ""):
            lines.append(line)
        return lines

    def _request(self, command: str) -> str:
        return command


class JavaCompiler(WarmCompiler):
    """A `javac` that stays warm and stops before it writes classes."""

    def _request(self, command: str) -> str:
        project = self._project
        arguments = ["-proc:none", "-nowarn", "-implicit:none", "-XDshould-stop.ifNoError=FLOW", "-encoding", "UTF-8"]
        arguments += project.flags
        if project.classpath:
            arguments += ["-classpath", ":".join(project.classpath)]
        # Descriptors of modules name what is not at hand.
        files = sorted(
            str(path)
            for folder in project.sources
            for path in (project.root / folder).rglob("*.java")
            if path.name != "module-info.java"
        )
        return json.dumps([command, *arguments, *files])


class KotlinCompiler(WarmCompiler):
    """A `kotlinc` that stays warm."""

    def __init__(self, project: Project, command: Sequence[str]) -> None:
        self._built = tempfile.TemporaryDirectory(prefix="codeplane-kotlinc-")
        super().__init__(project, command, {})

    def close(self) -> None:
        """End the compiler and delete what it wrote."""
        super().close()
        self._built.cleanup()

    def _request(self, command: str) -> str:
        project = self._project
        files = [str(path) for folder in project.sources for path in sorted((project.root / folder).rglob("*.kt"))]
        arguments = ["-nowarn", "-d", f"{self._built.name}/classes", *project.flags]
        arguments += ["-classpath", ":".join(project.classpath)] if project.classpath else []
        listed = Path(self._built.name, "arguments")
        listed.write_text("\n".join(shlex.quote(argument) for argument in [*arguments, *files]))
        return str(listed)


def is_source(project: Project, path: str) -> bool:
    """Whether a file is one of the project's language, in a source set where there are any."""
    inside = not project.sources or any(Path(path).is_relative_to(folder) for folder in project.sources)
    return inside and path.endswith(TOOLCHAINS[project.language].suffixes)


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
    """How projects of a language are checked: which programs that takes (`A|B`: either), and what makes a compiler of
    them."""

    suffixes: tuple[str, ...]
    programs: tuple[str, ...]
    opened: Callable[[Project], Compiler]


def _go(project: Project) -> Compiler:
    # A type checker that stays costs a tenth of `go vet`.
    checker = Path(tempfile.gettempdir(), f"codeplane-go-checker-{os.getuid()}-{os.getpid()}")
    subprocess.run(["go", "build", "-o", str(checker), str(_GO_CHECKER)], check=True, env={**os.environ, **_GO})
    try:
        return WarmCompiler(project, [str(checker), "linux", "windows"], _GO)
    finally:
        checker.unlink()


def _rust(project: Project) -> Compiler:
    command = ["cargo", "check", "--quiet", "--workspace", "--all-targets", "--offline", *project.flags]
    return CommandCompiler(project, command, _RUST)


def _csharp(project: Project) -> Compiler:
    built = Path(tempfile.gettempdir(), f"codeplane-csharp-{os.getpid()}.dll")
    folders = [f"-recurse:{folder}/*.cs" for folder in project.sources or (".",)]
    # Roslyn where it can be had: Mono's compiler stops at C# 7.
    compiler = "csc" if shutil.which("csc") else "mcs"
    return CommandCompiler(project, [compiler, "-target:library", f"-out:{built}", *project.flags, *folders], {})


def _java(project: Project) -> Compiler:
    options = ["-Xss8m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    options += ["--add-exports", "jdk.compiler/com.sun.tools.javac.tree=ALL-UNNAMED"]
    return JavaCompiler(project, ["java", *options, str(_JAVA_SERVER)], {})


def _kotlin(project: Project) -> Compiler:
    # Its jars are beside the script, wherever that is installed.
    jars = Path(str(shutil.which("kotlinc"))).resolve().parent.parent / "lib" / "*"
    # With the small cache of this level its own warning would count as an error.
    options = ["-Xss8m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m"]
    options += ["-classpath", str(jars)]
    return KotlinCompiler(project, ["java", *options, str(_KOTLIN_SERVER)])


_GO = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
_RUST = {
    "CARGO_NET_OFFLINE": "true",
    "CARGO_TERM_COLOR": "never",
    "CARGO_INCREMENTAL": "1",
    # The new names are not written as a crate that denies warnings may want them.
    "RUSTFLAGS": "--cap-lints=warn",
}
TOOLCHAINS: Mapping[str, Toolchain] = {
    "go": Toolchain(suffixes=(".go",), programs=("go",), opened=_go),
    "rust": Toolchain(suffixes=(".rs",), programs=("cargo", "rustc"), opened=_rust),
    "java": Toolchain(suffixes=(".java",), programs=("java", "javac"), opened=_java),
    "kotlin": Toolchain(suffixes=(".kt",), programs=("java", "kotlinc"), opened=_kotlin),
    "csharp": Toolchain(suffixes=(".cs",), programs=("csc|mcs",), opened=_csharp),
    "c": Toolchain(suffixes=(".c", ".h"), programs=("gcc",), opened=lambda project: UnitCompiler(project, "gcc")),
    "cpp": Toolchain(
        suffixes=(".cc", ".cpp", ".cxx", ".h", ".hpp"),
        programs=("g++",),
        opened=lambda project: UnitCompiler(project, "g++"),
    ),
}


@contextlib.contextmanager
def compiling(project: Project) -> Iterator[Compiler]:
    """The compiler of a project that compiles, ended afterwards."""
    toolchain = TOOLCHAINS.get(project.language)
    if toolchain is None:
        raise SystemExit(f"no compiler is known for {project.language}: {', '.join(TOOLCHAINS)}")
    missing = [names for names in toolchain.programs if not any(map(shutil.which, names.split("|")))]
    if missing:
        raise SystemExit(f"{project.language} needs {', '.join(missing)}")
    compiler = toolchain.opened(project)
    try:
        yield compiler
    finally:
        compiler.close()
