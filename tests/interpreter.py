"""A Python with pytest and nothing else, which runs the tests of the repositories that tests make.

Ours has a hundred packages: pytest takes twice as long to start there, and each run looks at all of their files.
"""

import compileall
import os
import shutil
import sys
import tempfile
import venv
from importlib.metadata import distribution
from pathlib import Path

_NEEDED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def bare_python() -> Path:
    """The folder of its programs; made once for all test runs with these packages."""
    versions = "-".join(distribution(name).version for name in _NEEDED)
    home = Path(tempfile.gettempdir()) / f"codeplane-tests-{os.getuid()}"
    made = home / f"python-{sys.version_info[0]}.{sys.version_info[1]}-{versions}"
    if not made.exists():
        home.mkdir(exist_ok=True)
        begun = Path(tempfile.mkdtemp(dir=home))
        _make(begun, made)
        try:
            begun.rename(made)
        except OSError:
            # Another process was first.
            shutil.rmtree(begun)
    return made / "bin"


def _make(folder: Path, name: Path) -> None:
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    for needed in _NEEDED:
        found = distribution(needed)
        for file in found.files or ():
            source = Path(str(found.locate_file(file)))
            if ".." in file.parts or "__pycache__" in file.parts or not source.exists():
                continue
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, site / file)
    # Runs of tests keep no byte code.
    compileall.compile_dir(site, quiet=2, stripdir=str(folder), prependdir=str(name))
    program = folder / "bin" / "pytest"
    program.write_text(f"#!{name}/bin/python\nimport sys\n\nimport pytest\n\nsys.exit(pytest.main())\n")
    program.chmod(0o755)
