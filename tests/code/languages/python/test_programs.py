"""Scripts of a repository that no user of its packages imports."""

import pytest

from codeplane.code.languages.python.programs import is_program
from tests.interaction.requirements import requirement

pytestmark = requirement("CMP-12")
FILES = {
    "setup.py": b"setup(py_modules=['six_more'], packages=find_packages())\n",
    "pyproject.toml": b"[tool.mypy]\nexclude = ['noise/']\n",
    "shop/__init__.py": b"",
    "shop/__main__.py": b"",
    "shop/till/data/table.py": b"",
    "src/plain.py": b"",
    "six_more.py": b"",
    "unasync.py": b"",
    "maint/release/run.py": b"",
    "noise/make.py": b"",
    "sketches/make.py": b"",
    "shop/tools/press.py": b"",
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("shop/prices.py", False),
        ("shop/till/data/table.py", False),
        ("shop/tools/press.py", False),
        ("src/plain.py", False),
        ("six_more.py", False),
        ("noise/make.py", False),
        ("setup.py", True),
        ("shop/__main__.py", True),
        ("unasync.py", True),
        ("maint/release/run.py", True),
        ("sketches/make.py", True),
    ],
)
def test_what_is_installed_is_no_program(path: str, expected: bool) -> None:
    assert is_program(path, FILES, FILES.get) is expected


def test_a_namespace_may_have_no_file_that_marks_it() -> None:
    files = {"pyproject.toml": b"[tool.setuptools.packages.find]\nnamespaces = true\n", "vendor/till/money.py": b""}
    assert not is_program("vendor/till/money.py", files, files.get)
    listed = files | {"pyproject.toml": b"[tool.poetry]\npackages = [{include = 'shop'}]\n"}
    assert is_program("vendor/till/money.py", listed, listed.get)
    looked_for = files | {"pyproject.toml": b"[project]\nname = 'till'\n"}
    assert not is_program("vendor/till/money.py", looked_for, looked_for.get)
    assert is_program("tool/run.py", {"tool/run.py": b""}, FILES.get)


def test_a_repository_without_a_manifest_may_use_the_modules_beside_it() -> None:
    assert not is_program("money.py", {"money.py": b""}, FILES.get)


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        (b"my-shop", "dummies/server.py", True),
        (b"my-shop", "src/my_shop/prices.py", False),
        (b"other", "dummies/server.py", False),
    ],
)
def test_packages_beside_the_sources_are_tools(name: bytes, path: str, expected: bool) -> None:
    files = {
        "pyproject.toml": b"[project]\nname = '%s'\n" % name,
        "src/my_shop/__init__.py": b"",
        "dummies/__init__.py": b"",
    }
    assert is_program(path, files, files.get) is expected
