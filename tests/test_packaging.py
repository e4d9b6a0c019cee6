"""What is built installs and runs by itself, and what is locked is locked."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import portalocker
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from codeplane import __version__
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.surfaces.cli.test_shim import Shim
from tests.surfaces.http.wire import get_field

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCKS = {
    "requirements.lock": [*PROJECT["dependencies"], *EXTRAS["build"]],
    "requirements-dev.lock": [*PROJECT["dependencies"], *EXTRAS["build"], *EXTRAS["dev"]],
    "requirements-bench.lock": [*PROJECT["dependencies"], *EXTRAS["bench"]],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder with the wheel and an environment that holds nothing else, made once for all workers of a run."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        folder = folder.parent
    made = folder / "built"
    with portalocker.Lock(folder / "built.lock", "a", timeout=600):
        if not (made / "complete").exists():
            shutil.rmtree(made, ignore_errors=True)
            _install(_build(made / "dist"), made / "venv")
            (made / "complete").touch()
    return made


def _build(folder: Path) -> Path:
    """The wheel, built with what the lock holds."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


def _install(wheel: Path, venv: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=120)
    # What is imported compiles itself; compiling everything takes longer than the rest.
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin/python"), "--disable-pip-version-check"]
    install = [*pip, "install", "--quiet", "--no-compile", str(wheel)]
    done = subprocess.run(install, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel."""
    (found,) = (built / "dist").glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(built: Path) -> Path:
    """The wheel's `cpl` in an environment that holds nothing else."""
    return built / "venv/bin/cpl"


@pytest.fixture(scope="module")
def repo(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A repository that the installed one serves."""
    made = make_repo(tmp_path_factory.mktemp("packaged") / "repo")
    assert run(installed, "up", "-d", cwd=made).returncode == 0
    yield made
    assert "ended" in run(installed, "down", cwd=made).stdout


def run(program: Path, *arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE"))}
    return subprocess.run([str(program), *arguments], cwd=cwd, env=environ, capture_output=True, text=True, timeout=120)


class TestWheel:
    @requirement("PRJ-01")
    def test_it_holds_the_docs_and_nothing_of_the_tests(self, wheel: Path) -> None:
        names = set(zipfile.ZipFile(wheel).namelist())
        docs = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
        assert docs
        assert {f"codeplane/_docs/{name}" for name in docs} <= names
        assert not [
            name for name in names if not name.startswith(("codeplane/", f"codeplane-{__version__}.dist-info/"))
        ]
        assert not [name for name in names if name.endswith((".pyc", ".db", ".jsonl"))]

    def test_it_holds_the_recorded_session_and_the_sample(self, wheel: Path) -> None:
        demo = ROOT / "src/codeplane/surfaces/cli/demo"
        data = {path for path in demo.rglob("*") if path.suffix in (".txt", ".toml")}
        assert demo / "session.toml" in data and demo / "sample/.gitignore.txt" in data
        assert {f"{path.relative_to(ROOT / 'src')}" for path in data} <= set(zipfile.ZipFile(wheel).namelist())

    def test_version(self, installed: Path, tmp_path: Path) -> None:
        assert run(installed, "--version", cwd=tmp_path).stdout == f"cpl {__version__}\n"

    @requirement("PRJ-01")
    def test_it_serves_a_fresh_repository(self, installed: Path, repo: Path) -> None:
        done = run(installed, "status", cwd=repo)
        assert done.returncode == 0, done.stderr
        assert f"repository  {repo} at " in done.stdout
        assert run(installed, "call", "ledger.verify", cwd=repo).stdout.startswith("sound: ")
        assert run(installed, "doctor", cwd=repo).returncode == 0

    def test_clients_are_shown_the_docs(self, installed: Path, repo: Path) -> None:
        with subprocess.Popen(
            [str(installed), "mcp"], cwd=repo, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            client = Shim(process, process.stdin)
            client.hello()
            client.send("resources/list", number=1)
            resources = get_field(client.receive(), "result", "resources")
            client.stdin.close()
            assert process.wait(timeout=30) == 0
        assert isinstance(resources, list)
        listed = {str(resource["uri"]) for resource in resources}
        for path in (ROOT / "docs").rglob("*.md"):
            name = path.relative_to(ROOT / "docs").with_suffix("")
            assert any(uri.endswith(str(name)) for uri in listed), (name, listed)


@pytest.mark.parametrize("lock", LOCKS)
class TestLocks:
    @requirement("PRJ-02")
    def test_it_names_no_index(self, lock: str) -> None:
        text = (ROOT / lock).read_text()
        assert not re.search(r"https?://|file:/|^-", text, re.MULTILINE)

    @requirement("PRJ-02")
    def test_every_requirement_is_pinned_and_hashed(self, lock: str) -> None:
        for package, hashes in _locked(lock):
            assert re.fullmatch(r"==[^*]+", str(package.specifier)), package
            assert hashes, package

    def test_it_fits_the_project(self, lock: str) -> None:
        pinned = {canonicalize_name(package.name): package for package, _ in _locked(lock)}
        for text in LOCKS[lock]:
            wanted = Requirement(text)
            if wanted.marker is not None and not wanted.marker.evaluate():
                continue
            (pin,) = pinned[canonicalize_name(wanted.name)].specifier
            assert wanted.specifier.contains(pin.version, prereleases=True), (wanted, pin)


def _locked(lock: str) -> Iterator[tuple[Requirement, list[str]]]:
    lines = [line for line in (ROOT / lock).read_text().splitlines() if not line.lstrip().startswith("#")]
    for entry in "\n".join(lines).replace("\\\n", " ").splitlines():
        text, *hashes = entry.split("--hash=")
        if text.strip():
            yield Requirement(text.strip()), [found for found in hashes if found.startswith("sha256:")]
