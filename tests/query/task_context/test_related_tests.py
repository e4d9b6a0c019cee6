"""The tests that `explain_symbol` lists for a file: those most about it before those that only import it."""

from pathlib import Path

from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "shop/__init__.py": "",
    "shop/cart.py": "class ShoppingCart:\n    def grand_total(self):\n        return 0\n",
    "tests/test_aaa.py": "import shop.cart\n\n\ndef test_it():\n    assert shop.cart\n",
    "tests/test_checkout.py": (
        "from shop.cart import ShoppingCart\n\n\ndef test_total():\n    assert ShoppingCart().grand_total() == 0\n"
    ),
    "tests/test_elsewhere.py": "def test_nothing():\n    assert True\n",
}


@requirement("EXP-09")
def test_what_uses_a_file_and_changed_with_it_comes_before_what_only_imports_it(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "shop", FILES)
    for number in range(3):
        for path in ("shop/cart.py", "tests/test_checkout.py"):
            (root / path).write_text((root / path).read_text() + f"# {number}\n")
        git(root, "commit", "--quiet", "--all", "--message", f"change {number}")

    async def body(ask: Ask) -> None:
        found = result(await ask("explain_symbol", symbol="shop/cart.py"))["explanation"]
        assert isinstance(found, dict)
        assert found["test_files"] == ["tests/test_checkout.py", "tests/test_aaa.py"]

    with_plane(root, body)
