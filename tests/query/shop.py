"""A small repository with enough in it to be asked about."""

SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\n[project.scripts]\nshop = "shop.cli:main"\n',
    "README.md": "# Shop\n",
    "shop/__init__.py": 'from shop.cart import ShoppingCart\n\n__all__ = ["ShoppingCart"]\n',
    "shop/cart.py": (
        "import decimal\n"
        "import requests\n"
        "from shop.money import MoneyAmount\n\n\n"
        "class BaseBasket:\n"
        "    def clear(self):\n"
        "        pass\n\n\n"
        "class ShoppingCart(BaseBasket):\n"
        '    """Holds what a customer wants.\n\n'
        "    And more of it.\n"
        '    """\n\n'
        "    def __init__(self):\n"
        "        self.items = []\n\n"
        "    @property\n"
        "    def grand_total(self):\n"
        '        """The sum of all."""\n'
        "        return MoneyAmount(1)\n\n"
        "    def save(self):\n"
        '        return getattr(self, "items")\n\n'
        "    def _hidden(self):\n"
        "        return self.save()\n"
    ),
    "shop/money.py": (
        "class MoneyAmount:\n"
        "    # An amount.\n"
        "    def __init__(self, cents):\n"
        "        self.cents = cents\n\n"
        "    def save(self):\n"
        "        pass\n"
    ),
    "shop/cli.py": (
        "from shop.cart import ShoppingCart\n"
        "from shop.money import MoneyAmount\n\n\n"
        "def main():\n"
        "    cart = ShoppingCart()\n"
        "    price = MoneyAmount(2)\n"
        "    return cart.grand_total, price\n\n\n"
        "def store_all(things):\n"
        "    for thing in things:\n"
        "        thing.save()\n"
    ),
    "shop/report/pdf.py": "from shop.money import MoneyAmount\n\n\ndef render_invoice():\n    return MoneyAmount(3)\n",
    "tests/test_cart.py": (
        "from shop.cart import ShoppingCart\n\n\n"
        "def test_empty():\n"
        "    assert ShoppingCart().items == []\n\n\n"
        "def render_invoice():\n"
        "    pass\n"
    ),
    "web/app.ts": ("/** Draws the page. */\nexport function drawPage(title: string): string {\n  return title;\n}\n"),
}
