"""The repositories that the documents speak of: what stands in them, and what happened there before."""

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.docs.reader import Reader
from tests.harness import git


def _files(**texts: str) -> dict[str, str]:
    return {name: textwrap.dedent(text).lstrip("\n") for name, text in texts.items()}


_README: Final = {"README.md": "# shop\n\nCall `price` for one thing; every price is net.\n"}

_SHOP: Final = _README | _files(
    **{
        "shop/__init__.py": """
            from shop.prices import price

            __all__ = ["price"]
            """,
        "shop/prices.py": """
            def price(item):
                return item.net
            """,
        "shop/till.py": """
            from shop import price


            def total(items):
                return sum(price(item) for item in items)


            def paid(items):
                return total(items) == 0
            """,
        "shop/tag.py": """
            def tag(item):
                return price(item)
            """,
        "shop/zoo.py": """
            class Animal:
                def speak(self):
                    return ""


            class Dog(Animal):
                def speak(self):
                    return "woof"
            """,
        "tests/test_prices.py": """
            from shop.prices import price


            def test_price(item):
                assert price(item) == 1
            """,
        "main.py": """
            def main():
                print("shop")
            """,
        "tools/Makefile": "all:\n\t@echo 12 files checked\n",
        "tools/check": "#!/bin/sh\necho 'check: tools/a.conf: line 3: unknown key' >&2\nexit 2\n",
    }
)

_ORDERS: Final = _README | _files(
    **{
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "shop/__init__.py": "",
        "shop/prices.py": "FACTOR = 2\n\n\ndef price(net):\n    return net * FACTOR\n",
        "shop/orders.py": "from shop.prices import price\n\n\ndef order(net):\n    return price(net)\n",
        "tests/test_orders.py": (
            "from shop import prices\nfrom shop.orders import order\n\n\n"
            "def test_order():\n    assert order(1) == prices.FACTOR\n"
        ),
    }
)

_EDITED: Final = _README | _files(
    **{
        "shop/__init__.py": "",
        "shop/price.py": "def price(net):\n    rate = 0.19\n    return net * (1 + rate)\n",
        "shop/tax.py": "RATES = []\n\nLIMIT = max(7,\n    8,\n    9)\n",
        "shop/old.py": "def legacy():\n" + "    print()\n" * 10,
        "tests/test_price.py": "from shop.price import price\n\n\ndef test_price():\n    assert price(0) == 0\n",
        "run.sh": "echo run\n",
    }
)

_COMPARED: Final = _README | _files(
    **{
        "shop/__init__.py": "",
        "shop/money.py": """
            class MoneyAmount:
                def __init__(self, cents):
                    self.cents = cents
            """,
        "shop/cart.py": """
            from shop.money import MoneyAmount
            from shop.report.pdf import page


            def started():
                return MoneyAmount(0)


            class ShoppingCart:
                def __init__(self):
                    self.items = []

                def add(self, cents):
                    self.items.append(MoneyAmount(cents))

                def shown(self):
                    return page(sum(item.cents for item in self.items))

                def save(self):
                    return None
            """,
        "shop/shelf.py": "from shop.money import MoneyAmount\n\n\ndef worth():\n    return MoneyAmount(1)\n",
        "shop/till.py": (
            "from shop.cart import ShoppingCart\n\n\ndef closed():\n    ShoppingCart().save()\n\n\n"
            "def kept(cart):\n    cart.save()\n"
        ),
        "shop/report/__init__.py": "",
        "shop/report/pdf.py": "def page(total):\n    text = str(total)\n    return text.center(80)\n",
        "web/app.ts": "\nexport function drawPage(title: string): string {\n  return title;\n}\n",
    }
)

_DJANGO: Final = _README | _files(
    **{
        "pyproject.toml": """
            [project]
            name = "Django"
            version = "5.2"

            [project.scripts]
            django-admin = "django.core.management:execute_from_command_line"
            """,
        "django/__init__.py": "",
        "django/apps/__init__.py": "",
        "django/apps/config.py": """
            class AppConfig:
                def __init__(self, app_name):
                    if not hasattr(self, "label"):
                        self.label = getattr(self, "verbose_name", app_name)
            """,
        "django/core/management.py": """
            def execute_from_command_line(argv=None):
                return argv
            """,
        "django/contrib/sessions/middleware.py": """
            class SessionMiddleware:
                def process_request(self, request):
                    session_key = request.COOKIES.get("sessionid")
                    request.session = self.SessionStore(session_key)
            """,
        "django/db/models/query.py": """
            GET_ITERATOR_CHUNK_SIZE = 100


            class QuerySet:
                def get_or_create(self, defaults=None, **kwargs):
                    \"\"\"Look up an object with the given kwargs, creating one if necessary.\"\"\"
                    return self.get(**kwargs), False

                def prefetch_related(self, *lookups):
                    if isinstance(lookups, (list, tuple)):
                        return self
                    return None
            """,
        "django/http/__init__.py": "from django.http.request import HttpRequest\n",
        "django/http/request.py": "class HttpRequest:\n    pass\n",
        "django/urls/resolvers.py": "#\n" * 100 + "def get_resolver(urlconf=None):\n    return urlconf\n",
    }
)

_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "docs/guides/asking.md": _DJANGO,
    "docs/guides/structural.md": _DJANGO,
    "docs/guides/workspaces.md": _DJANGO,
    "docs/guides/changing.md": _EDITED,
    "docs/guides/undo.md": _EDITED,
    "docs/guides/comparing.md": _COMPARED,
    "docs/guides/git.md": _ORDERS,
}


def files_for(document: str) -> Mapping[str, str]:
    """The repository a document speaks of."""
    return _OF.get(document, _SHOP)


def prepare(reader: Reader, document: str, section: str) -> None:
    """What happened before a section begins."""
    if happened := _BEFORE.get((document, section)):
        happened(reader)


def _a_neighbour(reader: Reader) -> None:
    folder = reader.home / "projects" / "django"
    for name, text in _DJANGO.items():
        write(folder / name, text)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")


def _commits(reader: Reader) -> None:
    for number, message in enumerate(("wip", "Round prices", "fix rounding")):
        write(reader.repo / "shop" / f"rounding{number}.py", f"CENTS = {number}\n")
        git(reader.repo, "add", "--all")
        git(reader.repo, "commit", "--quiet", "--message", message)


def _lost_work(reader: Reader) -> None:
    write(reader.repo / "shop/prices.py", "FACTOR = 4\n")
    lost = reader.call("git.discard", paths=["shop/prices.py"])
    reader.remember("mut_5f0c0d1e7a42c9d1f3aa", str(lost))


def _edited_orders(reader: Reader) -> None:
    write(reader.repo / "shop/prices.py", _ORDERS["shop/prices.py"].replace("FACTOR = 2", "FACTOR = 3"))
    write(reader.repo / "shop/orders.py", _ORDERS["shop/orders.py"].replace("(net)", "(net )", 1))
    write(reader.repo / "tests/test_orders.py", _ORDERS["tests/test_orders.py"].replace("order(1)", "order(2) / 2"))


def _edited_cart(reader: Reader) -> None:
    write(reader.repo / "shop/money.py", _COMPARED["shop/money.py"].replace("MoneyAmount", "Amount"))
    write(reader.repo / "shop/cart.py", _COMPARED["shop/cart.py"].replace("save(self)", "save(self, where)"))
    (reader.repo / "shop/report/pdf.py").rename(reader.repo / "shop/report/paper.py")
    write(reader.repo / "web/app.ts", _COMPARED["web/app.ts"].replace("string)", "string, size?: number)"))
    write(reader.repo / "shop/extra.py", "def more():\n    return 1\n")
    write(reader.repo / "README.md", "# The shop\n")


def _a_question(reader: Reader) -> None:
    reader.let_an_agent_ask()


_BEFORE: Final[Mapping[tuple[str, str], Callable[[Reader], None]]] = {
    ("docs/guides/approvals.md", "Review and approve"): _a_question,
    ("docs/guides/comparing.md", "Comparing by structure"): _edited_cart,
    ("docs/guides/git.md", "What would be lost is kept"): _lost_work,
    ("docs/guides/git.md", "Rebase by a plan"): _commits,
    ("docs/guides/git.md", "checkpoint"): _edited_orders,
    ("docs/guides/workspaces.md", "A folder"): _a_neighbour,
}


def write(path: Path, text: str) -> None:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if text.startswith("#!"):
        path.chmod(0o755)
