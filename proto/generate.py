"""Makes the Python of the protos: `python proto/generate.py`, or into another folder that is named.

Messages of `codeplane.v1` are in `codeplane._gen`, those of another package `codeplane.NAME.v1` in
`codeplane._gen.NAME`.
"""

import re
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

_PROTOS = Path(__file__).resolve().parent
_TARGET = _PROTOS.parent / "src" / "codeplane" / "_gen"
_HEAD = '"""Generated from proto/ by `make protos`; not edited."""\n'
# protoc takes a proto's folder for its package, which ours is not: `codeplane` holds more than generated code.
_IMPORT = re.compile(r"^from codeplane((?:\.\w+)?)\.v1 import ", re.MULTILINE)


def generate(target: Path) -> list[Path]:
    """Write the modules of all protos into a folder, and say which."""
    sources = sorted((_PROTOS / "codeplane").rglob("*.proto"))
    with tempfile.TemporaryDirectory() as made:
        bundled = str(files("grpc_tools") / "_proto")
        command = ["protoc", f"-I{_PROTOS}", f"-I{bundled}", f"--python_out={made}", f"--pyi_out={made}"]
        if protoc.main([*command, *map(str, sources)]) != 0:
            raise SystemExit("protoc refused the protos")
        shutil.rmtree(target, ignore_errors=True)
        written: list[Path] = []
        for path in sorted(path for path in (Path(made) / "codeplane").rglob("*") if path.is_file()):
            folder = target.joinpath(*_package(path.relative_to(Path(made) / "codeplane")))
            folder.mkdir(parents=True, exist_ok=True)
            if folder / "__init__.py" not in written:
                written.append(folder / "__init__.py")
                written[-1].write_text(_HEAD)
            written.append(folder / path.name)
            written[-1].write_text(_IMPORT.sub(r"from codeplane._gen\1 import ", path.read_text()))
    return written


def _package(path: Path) -> tuple[str, ...]:
    """The folder of a module: that of its package without the version."""
    *package, version = path.parent.parts
    assert version == "v1" and len(package) <= 1, f"{path}: put it into codeplane/v1 or codeplane/NAME/v1"
    return tuple(package)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else _TARGET)
