"""Which files of Rust are of programs, whose names nothing outside can use."""

import pytest

from codeplane.code.languages.rust.programs import is_program
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-50")

FILES = {
    "Cargo.toml": b"[workspace]\n",
    "tool/Cargo.toml": b'[package]\nname = "tool"\n',
    "tool/src/main.rs": b"",
    "tool/src/walk.rs": b"",
    "both/Cargo.toml": b'[package]\nname = "both"\n',
    "both/src/main.rs": b"",
    "both/src/lib.rs": b"",
    "both/src/part.rs": b"",
    "both/tests/all.rs": b"",
    "odd/Cargo.toml": b'[package]\nname = "odd"\n[lib]\npath = "src/odd.rs"\n',
    "odd/src/main.rs": b"",
    "odd/src/odd.rs": b"",
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tool/src/walk.rs", True),
        ("tool/src/main.rs", True),
        ("both/src/main.rs", True),
        ("both/src/lib.rs", False),
        ("both/src/part.rs", False),
        ("both/tests/all.rs", True),
        ("odd/src/odd.rs", False),
    ],
)
def test_a_crate_without_a_library_is_a_program(path: str, expected: bool) -> None:
    assert is_program(path, FILES, FILES.get) is expected


def test_without_a_manifest_nothing_is_known() -> None:
    files = {"src/walk.rs": b""}
    assert not is_program("src/walk.rs", files, files.get)
