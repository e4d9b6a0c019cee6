"""Makes the Python of the protos: `python proto/generate.py`, or into another folder that is named."""

import re
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

_PROTOS = Path(__file__).resolve().parent
_TARGET = _PROTOS.parent / "src" / "codeplane" / "_gen"
# protoc takes a proto's folder for its package, which ours is not: `codeplane` holds more than generated code.
_IMPORT = re.compile(r"^from codeplane\.(?:scip\.)?v1 import ", re.MULTILINE)
_PACKAGES = ("codeplane/v1", "codeplane/scip/v1")


def generate(target: Path) -> list[Path]:
    """Write the modules of all protos into a folder, and say which."""
    sources = sorted(source for package in _PACKAGES for source in (_PROTOS / package).glob("*.proto"))
    with tempfile.TemporaryDirectory() as made:
        bundled = str(files("grpc_tools") / "_proto")
        command = ["protoc", f"-I{_PROTOS}", f"-I{bundled}", f"--python_out={made}", f"--pyi_out={made}"]
        if protoc.main([*command, *map(str, sources)]) != 0:
            raise SystemExit("protoc refused the protos")
        target.mkdir(parents=True, exist_ok=True)
        for old in target.glob("*_pb2.py*"):
            old.unlink()
        (target / "__init__.py").write_text('"""Generated from proto/ by `make protos`; not edited."""\n')
        written = [target / "__init__.py"]
        for path in sorted(path for package in _PACKAGES for path in (Path(made) / package).iterdir()):
            written.append(target / path.name)
            written[-1].write_text(_IMPORT.sub("from codeplane._gen import ", path.read_text()))
    return written


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else _TARGET)
