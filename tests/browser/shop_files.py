"""A small shop in Python and TypeScript: the repository that the pages are looked at with."""

PRICE = '''"""What things cost."""

from shop.tax import rate


def net(cents: int) -> int:
    """Without tax."""
    return cents


def gross(cents: int, country: str) -> int:
    """With the tax of a country."""
    return round(net(cents) * (1 + rate(country)))


def rounded(cents: int, step: int = 5) -> int:
    """To the nearest coin that is still in use."""
    return step * round(cents / step)
'''

TAX = '''"""Taxes by country."""

RATES = {
    "at": 0.20,
    "ch": 0.077,
    "de": 0.19,
    "fr": 0.20,
    "it": 0.22,
}


def rate(country: str) -> float:
    """The tax rate; unknown countries are an error."""
    return RATES[country]
'''

CART = '''"""What somebody wants to buy."""

from dataclasses import dataclass, field

from shop.discount import after_discount
from shop.price import gross


@dataclass
class Cart:
    """Items in cents, and the country they are sent to."""

    country: str
    items: list[int] = field(default_factory=list)

    def add(self, cents: int) -> None:
        """Put something in."""
        self.items.append(cents)

    def total(self) -> int:
        """What is to be paid, taxes and discounts included."""
        return after_discount(sum(gross(cents, self.country) for cents in self.items))
'''

DISCOUNT = '''"""Less for those who buy more."""

STEPS = ((50_000, 0.10), (20_000, 0.05))


def discount(cents: int) -> float:
    """The share that is taken off."""
    return next((share for least, share in STEPS if cents >= least), 0.0)


def after_discount(cents: int) -> int:
    """What is left to be paid."""
    return round(cents * (1 - discount(cents)))
'''

ORDERS = '''"""Orders, from the first click to the parcel."""

from dataclasses import dataclass
from enum import StrEnum

from shop.cart import Cart


class State(StrEnum):
    """Where an order stands."""

    OPEN = "open"
    PAID = "paid"
    SENT = "sent"


@dataclass
class Order:
    """A cart that somebody has paid for, or will."""

    number: int
    cart: Cart
    state: State = State.OPEN

    def pay(self, cents: int) -> None:
        """Take the money; anything but the total is refused."""
        if cents != self.cart.total():
            raise ValueError(f"order {self.number} costs {self.cart.total()}, not {cents}")
        self.state = State.PAID

    def send(self) -> None:
        """Hand it to the carrier."""
        if self.state is not State.PAID:
            raise ValueError(f"order {self.number} is not paid")
        self.state = State.SENT
'''

CLI = '''"""The shop on the command line."""

import argparse

from shop.cart import Cart


def main() -> None:
    """Say what a cart costs."""
    parser = argparse.ArgumentParser(prog="shop")
    parser.add_argument("country")
    parser.add_argument("cents", type=int, nargs="+")
    arguments = parser.parse_args()
    cart = Cart(arguments.country)
    for cents in arguments.cents:
        cart.add(cents)
    print(f"{cart.total() / 100:.2f}")


if __name__ == "__main__":
    main()
'''

TEST_PRICE = """import pytest

from shop.price import gross, rounded


@pytest.mark.parametrize(("country", "cents"), [("at", 1200), ("ch", 1077), ("de", 1190), ("fr", 1200), ("it", 1220)])
def test_gross(country: str, cents: int) -> None:
    assert gross(1000, country) == cents


def test_rounded() -> None:
    assert rounded(1077, 5) == 1075
"""

TEST_CART = """from shop.cart import Cart


def test_a_cart_adds_up() -> None:
    cart = Cart("de")
    cart.add(1000)
    cart.add(2000)
    assert cart.total() == 3570


def test_an_empty_cart_costs_nothing() -> None:
    assert Cart("fr").total() == 0
"""

TEST_ORDERS = """import pytest

from shop.cart import Cart
from shop.orders import Order, State


def test_an_order_is_paid_and_sent() -> None:
    order = Order(1, Cart("de", [1000]))
    order.pay(1190)
    order.send()
    assert order.state is State.SENT


def test_it_is_not_sent_before_it_is_paid() -> None:
    with pytest.raises(ValueError, match="not paid"):
        Order(2, Cart("de", [1000])).send()
"""

# Every other time it is late: what it remembers is none of the repository's files.
TEST_CARRIER = """from pathlib import Path

LAST = Path(__file__).parent / ".carrier"


def test_the_carrier_answers_in_time() -> None:
    if late := LAST.exists():
        LAST.unlink()
    else:
        LAST.touch()
    assert not late, "no answer within 2 s"
"""

WEB_CART = """import { money } from "./money";

export interface Item { name: string; cents: number }

export function total(items: Item[]): number {
  return items.reduce((sum, item) => sum + item.cents, 0);
}

export function line(item: Item): string {
  return `${item.name} ${money(item.cents)}`;
}
"""

WEB_MONEY = """export function money(cents: number, currency = "EUR"): string {
  return new Intl.NumberFormat("en", { style: "currency", currency }).format(cents / 100);
}
"""

DOCS = """# Taxes

| country | rate |
|---|---|
| Austria | 20 % |
| Switzerland | 7.7 % |
| Germany | 19 % |
| France | 20 % |
| Italy | 22 % |
"""

FILES = {
    "README.md": "# shop\n\nPrices, taxes, carts and orders.\n\n    shop de 1000 2000\n",
    "pyproject.toml": (
        '[project]\nname = "shop"\nversion = "1.2.0"\n\n[project.scripts]\nshop = "shop.cli:main"\n\n'
        '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'
    ),
    ".gitignore": "__pycache__/\n.carrier\n",
    "shop/__init__.py": '"""A small shop."""\n',
    "shop/price.py": PRICE,
    "shop/tax.py": TAX,
    "shop/cart.py": CART,
    "shop/discount.py": DISCOUNT,
    "shop/orders.py": ORDERS,
    "shop/cli.py": CLI,
    "tests/test_price.py": TEST_PRICE,
    "tests/test_cart.py": TEST_CART,
    "tests/test_orders.py": TEST_ORDERS,
    "tests/test_carrier.py": TEST_CARRIER,
    "web/cart.ts": WEB_CART,
    "web/money.ts": WEB_MONEY,
    "docs/taxes.md": DOCS,
    "assets/logo.bin": "\0\1\2" * 200,
}
