"""Ranked, semantic and hybrid search through the door, and what auto makes of a question."""

from pathlib import Path

import pytest

from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.search.hits import paths
from tests.surfaces.http.wire import get_field

FILES = {
    "shop/cart.py": (
        "class ShoppingCart:\n"
        "    def add_item(self, product, quantity):\n"
        "        self.items.append((product, quantity))\n"
    ),
    "shop/payment.py": (
        "def charge_credit_card(card, amount):\n    '''Take money from the customer.'''\n    return gateway(card)\n"
    ),
    "shop/mail.py": "def send_receipt(address):\n    '''Send an email with the bill.'''\n",
    "tests/test_cart.py": "def test_add_item_to_shopping_cart():\n    assert True\n",
    "README.md": "# Shop\nA small shop.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


@requirement("RNK-01")
def test_a_question_finds_its_file_with_a_telling_line(root: Path) -> None:
    async def body(ask: Ask) -> None:
        for mode in ("ranked", "lexical", "hybrid"):
            found = result(await ask("search", query="adding an item to the shopping cart", mode=mode))
            assert paths(found)[0] == "shop/cart.py", mode
            assert get_field(found, "results", 0, "line") in (1, 2)
        assert found["mode"] == "hybrid" and "wordllama" in str(found["model"])
        meant = result(await ask("search", query="charge money credit card", mode="semantic"))
        assert paths(meant)[0] == "shop/payment.py"
        assert get_field(meant, "results", 0, "match_type") == "semantic"

    with_plane(root, body)


@requirement("TXT-03")
def test_a_changed_index_ranks_as_a_fresh_one(tmp_path: Path) -> None:
    words = ("zebra", "giraffe", "walrus", "ostrich", "heron", "otter")

    def text(number: int) -> str:
        lines = [f"def feed_{words[(number * step) % 6]}_{step}():\n    return 'food'\n" for step in range(number % 7)]
        return f"# Feeds the {words[number % 6]}.\n" + "".join(lines)

    files = {f"zoo/keeper{number}.py": text(number) for number in range(60)}
    before = {path: f"# {content}{content}" for path, content in [*files.items()][:40]}
    changed = make_repo(tmp_path / "changed", {**files, **before, "gone.py": "def feed_zebra():\n    pass\n"})
    fresh = make_repo(tmp_path / "fresh", files)
    answers: list[list[object]] = []

    async def ask_all(ask: Ask) -> None:
        answers.append([])
        for mode in ("semantic", "ranked", "hybrid"):
            for query in ("feeding the zebra", "who feeds walrus and otter with food", "heron", "feed_ostrich_2"):
                found = result(await ask("search", query=query, mode=mode, limit=60))
                assert not found.get("partial")
                answers[-1].append(found["results"])

    async def change_and_ask(ask: Ask) -> None:
        await ask_all(ask)
        for path, content in files.items():
            (changed / path).write_text(content)
        (changed / "gone.py").unlink()
        result(await ask("search", query="zebra", mode="ranked", fresh="strict"))
        await ask_all(ask)

    with_plane(changed, change_and_ask)
    with_plane(fresh, ask_all)
    assert answers[0] != answers[1] and answers[1] == answers[2]


@requirement("SRV-17")
def test_no_answer_is_partial_once_no_vectors_wait(root: Path) -> None:
    async def body(ask: Ask) -> None:
        result(await ask("search", query="money of the customer", mode="semantic"))
        for number in range(30):
            (root / "shop" / f"shelf{number}.py").write_text(f"def shelf_{number}():\n    return {number}\n")
        found = result(await ask("search", query="which shelf is it", mode="ranked", fresh="strict"))
        assert "shop/shelf0.py" in paths(found)
        while get_field(result(await ask("status")), "index", "symbols", "vectors", "waiting"):
            await ask("search", query="which shelf is it", mode="semantic")
        assert not result(await ask("search", query="which shelf is it", mode="hybrid")).get("partial")

    with_plane(root, body)


@requirement("SRV-17")
def test_edits_that_come_one_upon_another_are_found_at_once(root: Path) -> None:
    async def body(ask: Ask) -> None:
        for number, word in enumerate(("zebra", "giraffe", "walrus", "ostrich")):
            content = f"# feeding the {word} in the evening\n"
            result(await ask("write_files", edits=[{"path": f"shop/zoo{number % 2}.py", "content": content}]))
            found = result(await ask("search", query=f"when is the {word} fed in the evening", mode="ranked"))
            assert paths(found)[0] == f"shop/zoo{number % 2}.py" and not found.get("partial"), word
        meant = result(await ask("search", query="the evening meal of an ostrich", mode="semantic"))
        assert paths(meant)[0] == "shop/zoo1.py" and not meant.get("partial")

    with_plane(root, body)


@requirement("RNK-01")
def test_auto_ranks_what_stands_nowhere(root: Path) -> None:
    async def body(ask: Ask) -> None:
        question = result(await ask("search", query="where is the credit card charged?"))
        assert (question["mode"], paths(question)[0]) == ("ranked", "shop/payment.py")
        first = result(await ask("search", query="shop cart email receipt item money", limit=1))
        cursor = get_field(first, "pagination", "next_cursor")
        second = result(await ask("search", query="shop cart email receipt item money", limit=1, cursor=cursor))
        assert second["mode"] == "ranked" and paths(second) != paths(first)
        part = result(await ask("search", query="addItem"))
        assert (part["mode"], paths(part)[0]) == ("symbol", "shop/cart.py")
        text = result(await ask("search", query="email with the bill"))
        assert (text["mode"], paths(text)) == ("literal", ["shop/mail.py"])

    with_plane(root, body)


@requirement("RNK-01")
def test_edits_and_removals_are_ranked_anew(root: Path) -> None:
    async def body(ask: Ask) -> None:
        await ask("search", query="credit card", mode="ranked")
        (root / "shop/payment.py").unlink()
        (root / "shop/bank.py").write_text("def charge_credit_card(card):\n    return 1\n")
        found = result(await ask("search", query="charge credit card", mode="ranked", fresh="strict"))
        assert paths(found)[0] == "shop/bank.py" and "shop/payment.py" not in paths(found)

    with_plane(root, body)


@requirement("RNK-01")
def test_without_a_model_words_decide_and_that_is_said(root: Path) -> None:
    async def body(ask: Ask) -> None:
        found = result(await ask("search", query="adding an item to the shopping cart", mode="hybrid"))
        assert paths(found)[0] == "shop/cart.py" and "switched off" in str(found["partial"])
        refused = await ask("search", query="money", mode="semantic")
        assert get_field(refused, "error", "error") == "INVALID_ARGUMENT"

    with_plane(root, body, "embeddings.model=none")


def test_the_index_is_taken_up_again_after_a_stop(root: Path) -> None:
    async def body(ask: Ask) -> None:
        for mode in ("ranked", "semantic", "definitions"):
            found = result(await ask("search", query="send_receipt", mode=mode))
            assert paths(found)[0] == "shop/mail.py", mode

    with_plane(root, body)
    with_plane(root, body)


@requirement("RNK-09")
def test_a_long_report_is_answered_by_a_small_repository(tmp_path: Path) -> None:
    """Most of its words are of the caller's own program, and none of the ones that say what is wrong."""
    files = {
        "shop/cart.py": "def grand_total(items, coupon):\n    return sum(items) - coupon.worth\n",
        "shop/mail.py": "def send_mail(address, subject):\n    return address\n",
        "shop/stock.py": "def count_stock(shelf):\n    return len(shelf)\n",
    }
    own_program = " ".join(f"customer{number} waiter{number}" for number in range(60))
    report = f"The grand total of items is wrong when a coupon has no worth\n\nSeen so:\n```\n{own_program}\n```\n"

    async def body(ask: Ask) -> None:
        found = result(await ask("search", query=report))
        assert isinstance(found["results"], list)
        best = found["results"][0]
        assert isinstance(best, dict) and best["path"] == "shop/cart.py"

    with_plane(make_repo(tmp_path / "shop", files), body)


@requirement("RNK-09")
def test_nothing_here_fits_is_an_answer(tmp_path: Path) -> None:
    files = {
        "shop/cart.py": "def grand_total(items, coupon):\n    return sum(items) - coupon.worth\n",
        "shop/mail.py": "def send_mail(address, subject):\n    return address\n",
        "shop/stock.py": "def count_stock(shelf):\n    return len(shelf)\n",
    }
    own = "the grand total of the items is wrong when a coupon is given"
    foreign = "kubelet evicts containers when etcd leases expire and the address of a pod changes quickly"

    async def body(ask: Ask) -> None:
        for mode in ("auto", "ranked"):
            envelope = await ask("search", query=foreign, mode=mode)
            found = result(envelope)
            assert found["results"] == [] and found["total"] == 0
            assert "nothing here fits, ranked" in str(envelope["text"])
            assert "nearest: shop/mail.py 0." in str(envelope["text"])
        # A score says how much of the question a file has, whatever else was asked.
        found = result(await ask("search", query=own, mode="ranked"))
        assert isinstance(found["results"], list)
        best = found["results"][0]
        assert isinstance(best, dict) and best["path"] == "shop/cart.py" and 0.15 < float(str(best["score"])) <= 1.0
        # Who narrows it down is shown what there is, and so is who asks with a few words.
        assert result(await ask("search", query=foreign, mode="ranked", paths=["shop"]))["results"]
        assert result(await ask("search", query="kubelet address", mode="ranked"))["results"]

    with_plane(make_repo(tmp_path / "shop", files), body)


@requirement("RNK-12")
@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("where are colours decided?", "american.py"),
        ("where are colors decided?", "american.py"),
        ("how is the catalog normalized?", "british.py"),
        ("who normalised the catalogue?", "british.py"),
    ],
)
def test_british_and_american_spellings_find_each_other(tmp_path: Path, question: str, found: str) -> None:
    files = {
        "american.py": "def pick(color):\n    return color\n",
        "british.py": "def normalise(catalogue):\n    return catalogue\n",
        "other.py": "def decide(who):\n    return who\n",
    }

    async def body(ask: Ask) -> None:
        assert found in paths(result(await ask("search", query=question, mode="ranked")))

    with_plane(make_repo(tmp_path / "repo", files), body)
