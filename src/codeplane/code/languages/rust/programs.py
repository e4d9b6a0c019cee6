"""Whether a Rust file belongs to a program, whose names nothing outside can use."""

from collections.abc import Callable, Container

_PROGRAMS = ("src/main.rs", "src/bin/", "tests/", "examples/", "benches/", "build.rs")


def is_program(path: str, files: Container[str], read: Callable[[str], bytes | None]) -> bool:
    """Whether the crate of a file is a program and no library."""
    folder = path.rpartition("/")[0]
    while True:
        before = f"{folder}/" if folder else ""
        if f"{before}Cargo.toml" in files:
            break
        if not folder:
            return False
        folder = folder.rpartition("/")[0]
    if path.removeprefix(before).startswith(_PROGRAMS):
        return True
    manifest = read(f"{before}Cargo.toml") or b""
    return f"{before}src/main.rs" in files and f"{before}src/lib.rs" not in files and b"[lib]" not in manifest
