"""Commands that are printed can be pasted where they are read."""

from pathlib import Path

from codeplane.surfaces.cli.output import command_prefix
from tests.interaction.requirements import requirement

pytestmark = requirement("CLI-23")


def made(folder: Path) -> Path:
    program = folder / "bin" / "cpl"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    return program


def test_one_that_is_found_is_named_plainly_and_the_repository_only_from_outside(tmp_path: Path) -> None:
    program, root = made(tmp_path), tmp_path / "repo"
    (root / "inner").mkdir(parents=True)
    path = str(program.parent)
    assert command_prefix(program, root, cwd=root / "inner", path=path) == ("cpl", "")
    assert command_prefix(program, root, cwd=tmp_path, path=path) == ("cpl", f" --repo {root}")


def test_one_that_is_not_found_is_named_by_its_place(tmp_path: Path) -> None:
    program, root = made(tmp_path / "a b"), tmp_path / "my repo"
    root.mkdir()
    other = str(made(tmp_path / "other").parent)
    assert command_prefix(program, root, cwd=tmp_path / "a b", path=other) == ("bin/cpl", f" --repo '{root}'")
    assert command_prefix(program, root, cwd=root, path=str(root)) == (f"'{program}'", "")
