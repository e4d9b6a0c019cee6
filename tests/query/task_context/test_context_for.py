"""`context_for` through the door: what to read next for a task, a diff, a failure or a comment, or nothing."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane

FILES = {
    "shop/cart.py": (
        "from shop.discount import apply_discount\n\n\n"
        "class ShoppingCart:\n"
        "    def grand_total(self, coupon):\n"
        "        return apply_discount(self.items, coupon)\n\n"
        "    def clear(self):\n"
        "        self.items = []\n"
    ),
    "shop/discount.py": (
        "def apply_discount(items, coupon):\n"
        '    """Take what a coupon is worth off the prices."""\n'
        "    return sum(items) - coupon.worth\n"
    ),
    "shop/invoice.py": "def print_invoice(order):\n    return order.number\n",
    "shop/mail.py": "def send_mail(address):\n    return address\n",
    "shop/stock.py": "def count_stock(shelf):\n    return len(shelf)\n",
    "shop/search.py": "def find_articles(words):\n    return words\n",
    "settings/prices.toml": "currency = 'EUR'\n",
    "tests/test_cart.py": (
        "from shop.cart import ShoppingCart\n\n\n"
        "def test_total_with_coupon():\n"
        "    assert ShoppingCart().grand_total(None) == 0\n"
    ),
    "tests/test_mail.py": "from shop.mail import send_mail\n\n\ndef test_mail():\n    assert send_mail('a') == 'a'\n",
}
DIFF = """diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -4,3 +4,3 @@ class ShoppingCart:
 class ShoppingCart:
     def grand_total(self, coupon):
-        return apply_discount(self.items, coupon)
+        return apply_discount(self.items, coupon, strict=True)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = make_repo(tmp_path / "shop", FILES)
    for number in range(3):
        for path in ("shop/cart.py", "settings/prices.toml"):
            file = folder / path
            file.write_text(file.read_text() + f"# {number}\n")
        git(folder, "commit", "--quiet", "--all", "--message", f"change {number}")
    return folder


def files(envelope: JsonObject) -> dict[str, JsonObject]:
    found = result(envelope)["files"]
    assert isinstance(found, list)
    return {str(file["path"]): file for file in found if isinstance(file, dict)}


@requirement("NXT-01")
def test_a_task_leads_to_the_definition_it_speaks_of(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("context_for", text="A coupon should never take more than the prices are worth")
        first, *_ = files(envelope).values()
        assert first["path"] == "shop/discount.py"
        assert first["spans"] == [{"first": 1, "last": 3, "title": "def apply_discount(items, coupon)"}]
        assert "shop/discount.py" in str(envelope["text"]) and "1-3 def apply_discount" in str(envelope["text"])

    with_plane(root, body)


@requirement("NXT-01")
def test_a_diff_leads_to_what_uses_it_and_changed_with_it_but_not_to_itself(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("context_for", text=f"Be strict about coupons\n\n{DIFF}")
        found = files(envelope)
        assert result(envelope)["given"] == ["shop/cart.py"]
        assert "shop/cart.py" not in found
        assert "changed together in 4 commits" in found["settings/prices.toml"]["reasons"]  # type: ignore[operator]
        assert "has apply_discount" in str(found["shop/discount.py"]["reasons"])
        assert "tests/test_cart.py" in found

    with_plane(root, body)


@requirement("NXT-01")
def test_tests_are_asked_for_by_want(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("context_for", text="Be strict about coupons", paths=["shop/cart.py"], want="tests")
        assert next(iter(files(envelope))) == "tests/test_cart.py"

    with_plane(root, body)


@requirement("NXT-01")
def test_a_trace_of_another_checkout_leads_to_the_cause_with_its_lines(root: Path) -> None:
    trace = (
        "FAILED tests/test_cart.py::test_total_with_coupon - AttributeError\n"
        "Traceback (most recent call last):\n"
        '  File "/home/else/shop/tests/test_cart.py", line 5, in test_total_with_coupon\n'
        '  File "/home/else/shop/shop/discount.py", line 3, in apply_discount\n'
        "AttributeError: 'NoneType' object has no attribute 'worth'\n"
    )

    async def body(ask: Ask) -> None:
        envelope = await ask("context_for", text=trace)
        assert result(envelope)["wanted"] == "cause"
        first, *_ = files(envelope).values()
        assert (first["path"], first["spans"]) == (
            "shop/discount.py",
            [{"first": 1, "last": 3, "title": "def apply_discount(items, coupon)"}],
        )
        assert "in the trace" in first["reasons"]  # type: ignore[operator]

    with_plane(root, body)


@requirement("NXT-02")
def test_nothing_here_is_an_answer(root: Path) -> None:
    async def body(ask: Ask) -> None:
        foreign = "Kubernetes pods restart because the kubelet evicts containers when etcd leases expire quickly"
        envelope = await ask("context_for", text=foreign)
        assert files(envelope) == {}
        assert str(envelope["text"]).startswith("nothing here fits: ")
        # The same words with a file of ours are about that file, where its history leads on.
        envelope = await ask("context_for", text=foreign, paths=["shop/cart.py"])
        assert "settings/prices.toml" in files(envelope) and result(envelope)["nothing"] is None

    with_plane(root, body)


@requirement("NXT-02")
def test_nothing_here_is_an_answer_beside_a_file_that_leads_nowhere(root: Path) -> None:
    async def body(ask: Ask) -> None:
        foreign = "Kubernetes pods restart because the kubelet evicts containers when etcd leases expire quickly"
        (root / "notes").mkdir()
        (root / "notes/plan.txt").write_text("What we want to sell next year.\n")
        await ask("search", query="next year", mode="ranked", fresh="strict")
        envelope = await ask("context_for", text=foreign, paths=["notes/plan.txt"])
        assert files(envelope) == {} and result(envelope)["given"] == ["notes/plan.txt"]
        assert "nothing here fits: " in str(envelope["text"])
        # A change in hand is followed, whatever its words are.
        envelope = await ask("context_for", text=f"{foreign}\n\n{DIFF}")
        assert "settings/prices.toml" in files(envelope)

    with_plane(root, body)


@requirement("NXT-01")
def test_what_a_package_is_made_of_comes_with_a_change_of_it(tmp_path: Path) -> None:
    crate = {"Cargo.toml": '[package]\nname = "man"\n[features]\ncolour = []\n', "src/page.rs": "pub fn page() {}\n"}
    repo = make_repo(
        tmp_path / "crates", {f"man/{path}": text for path, text in crate.items()} | {"a/Cargo.toml": "\n"}
    )
    change = '@@ -1,1 +1,2 @@\n+#[cfg(feature = "colour")]\n pub fn page() {}\n'

    async def body(ask: Ask) -> None:
        envelope = await ask("context_for", text=f"Put colours behind a feature\n\n{change}", paths=["man/src/page.rs"])
        assert next(iter(files(envelope))) == "man/Cargo.toml"
        assert "says what the package is made of" in str(envelope["text"])
        assert "says what" not in str(files(envelope).get("a/Cargo.toml"))

    with_plane(repo, body)


@requirement("NXT-01")
def test_what_commits_like_the_task_changed_is_read_next(root: Path) -> None:
    async def body(ask: Ask) -> None:
        (root / "shop/mail.py").write_text("def send_mail(address):\n    return address.lower()\n")
        git(root, "commit", "--quiet", "--all", "--message", "Send mail to an address in lower case")
        task = "Why do we send mail to an address that is not lower case?"
        envelope = await ask("context_for", text=task)
        found = files(envelope)
        assert "changed in a commit like this" in found["shop/mail.py"]["reasons"]  # type: ignore[operator]

    with_plane(root, body)


@requirement("NXT-02")
def test_what_the_limit_or_the_budget_leaves_out_is_counted(root: Path) -> None:
    async def body(ask: Ask) -> None:
        whole = files(await ask("context_for", text=f"Be strict about coupons\n\n{DIFF}"))
        assert len(whole) > 2
        short = await ask("context_for", text=f"Be strict about coupons\n\n{DIFF}", limit=1)
        assert list(files(short)) == list(whole)[:1]
        assert f"{len(whole) - 1} more files left out" in str(short["text"])
        small = result(await ask("context_for", text=f"Be strict about coupons\n\n{DIFF}", budget=500))
        assert isinstance(small["bytes"], int) and small["bytes"] <= 500

    with_plane(root, body)


@requirement("NXT-02")
def test_a_path_that_is_not_there_is_said(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("context_for", text="Be strict about coupons", paths=["shop/basket.py"])
        assert "no file here is called shop/basket.py" in str(envelope["meta"])
        assert result(envelope)["given"] == []

    with_plane(root, body)


@requirement("NXT-02")
def test_a_repository_without_commits_is_answered_from_its_files(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    git(tmp_path, "init", "--quiet")
    (tmp_path / "shop/coupon.py").write_text("def redeem_coupon(code):\n    return code\n")
    (tmp_path / "shop/mail.py").write_text("def send_mail(address):\n    return address\n")

    async def body(ask: Ask) -> None:
        envelope = await ask("context_for", text="redeem a coupon", paths=["shop/mail.py"])
        assert list(files(envelope)) == ["shop/coupon.py"]

    with_plane(tmp_path, body)
