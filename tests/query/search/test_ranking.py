"""Ranked search: which evidence puts a file in front, and what is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.index.fulltext import Document, FullText
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.best_line import best_lines
from codeplane.query.search.question import MAX_QUESTION, named_paths, parse_question, variants
from codeplane.query.search.ranking import Ranked, rank, reasons, weigh
from tests.interaction.requirements import requirement

FILES = {
    "shop/cart.py": (
        b"class Cart:\n    def total_price(self):\n        return sum(self.items)\n",
        ["Cart", "total_price"],
    ),
    "shop/orders/models.py": (b"class Order:\n    cart = None\n    def ship(self): pass\n", ["Order", "ship"]),
    "shop/orders/views.py": (
        b"from shop.cart import Cart\ndef checkout(request):\n    Cart().total_price()\n",
        ["checkout"],
    ),
    "shop/shipping.py": (b"def ship(order):\n    '''Send the parcel by courier.'''\n", ["ship"]),
    "shop/text.py": (b"def slugify(value):\n    return value.strip('-')\n", ["slugify"]),
    "tests/test_cart.py": (
        b"def test_total_price():\n    Cart().total_price(); Cart().total_price()\n",
        ["test_total_price"],
    ),
    "docs/cart.md": (b"The cart has a total price. total_price of the Cart.\n", []),
    "vendor/cart.py": (b"class Cart:\n    def total_price(self): return total_price\n", ["Cart", "total_price"]),
}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[FullText]:
    full_text = FullText(tmp_path / "text")
    full_text.add(Document(path=path, text=text, names=names) for path, (text, names) in FILES.items())
    full_text.commit(1)
    yield full_text
    full_text.close()


def paths(ranked: list[Ranked]) -> list[str]:
    return [one.path for one in ranked]


@requirement("RNK-01")
def test_the_definition_comes_before_its_uses_and_says_so(shop: FullText) -> None:
    question = "Cart.total_price() is wrong"
    first = rank(shop, question, limit=5)[0].path
    assert first == "shop/cart.py"
    assert reasons(shop, question, [first])[first] == ("defines Cart, total_price", "path has cart")


@requirement("RNK-01")
@pytest.mark.parametrize(
    "mention",
    [
        "shop/orders/models.py",
        "shop.orders.models.Order",
        'Traceback:\n  File "/usr/lib/python3/site-packages/shop/orders/models.py", line 3, in ship',
        "C:\\work\\shop\\orders\\models.py",
        "models.py",
    ],
)
def test_a_mentioned_file_comes_first(shop: FullText, mention: str) -> None:
    question = f"Parcels are never sent by courier\nsee {mention}"
    first = rank(shop, question, limit=5)[0].path
    assert first == "shop/orders/models.py"
    assert "mentioned" in reasons(shop, question, [first])[first]


@requirement("RNK-01")
def test_the_title_counts_more_than_the_rest(shop: FullText) -> None:
    assert paths(rank(shop, "slugify value\n\nseen beside the courier", limit=1)) == ["shop/text.py"]
    assert paths(rank(shop, "courier parcel\n\nseen beside slugify", limit=1)) == ["shop/shipping.py"]


@requirement("RNK-01")
def test_other_forms_of_a_word_are_found(shop: FullText) -> None:
    assert "shop/shipping.py" in paths(rank(shop, "parcels", limit=3))
    assert {"price", "prices", "pricing", "priced"} - {"prices"} <= variants("prices")
    assert variants("SQL2") == variants("is") == set()


def test_tests_docs_and_what_others_wrote_come_behind_source(shop: FullText) -> None:
    found = paths(rank(shop, "total price of the cart", limit=9))
    assert found[0] == "shop/cart.py"
    source = max(found.index(path) for path in ("shop/cart.py", "shop/orders/views.py"))
    assert all(found.index(path) > source for path in ("tests/test_cart.py", "docs/cart.md", "vendor/cart.py"))


def test_tests_come_forward_when_they_are_asked_about(shop: FullText) -> None:
    assert paths(rank(shop, "test of total price", limit=1)) == ["tests/test_cart.py"]
    assert paths(rank(shop, "total price test_total_price", limit=1, tests=True)) == ["tests/test_cart.py"]
    assert "tests/test_cart.py" not in paths(rank(shop, "test of total price", limit=9, tests=False))


def test_only_what_is_kept_is_ranked_however_far_behind(tmp_path: Path) -> None:
    full_text = FullText(tmp_path)
    full_text.add(Document(path=f"near/{number}.py", text=b"word word") for number in range(300))
    full_text.add([Document(path="far/last.py", text=b"word " + b"other " * 900)])
    full_text.commit(1)
    assert paths(rank(full_text, "word", limit=2, keep=lambda path: path.startswith("far/"))) == ["far/last.py"]
    full_text.close()


def test_words_that_say_nothing_are_left_out_unless_there_is_nothing_else(shop: FullText) -> None:
    assert parse_question("the cart of the user").title == {"cart"}
    assert parse_question("the").title == {"the"}
    assert paths(rank(shop, "the", limit=1)) != []
    assert rank(shop, "zyzzyva", limit=5) == []


@requirement("RNK-01")
def test_what_a_report_has_beside_its_question_is_left_out(shop: FullText) -> None:
    report = (
        "The total is wrong\n<!-- Please search\nthe courier first -->\n"
        "see https://parcel.example/courier?slugify=1 and https://git.example/a/b/blob/main/shop/cart.py#L3\n"
        "courier: 1.2.3\nslugify 0.9\nparcel: None\n"
    )
    asked = parse_question(report)
    assert {*asked.title, *asked.prose}.isdisjoint({"courier", "slugify", "parcel", "please", "example"})
    assert named_paths(report) == {"shop/cart.py"}
    # What only looks like that stays.
    assert {"courier", "slugify"} <= parse_question("total\ncourier: 1.2.3 is slow\nslugify: fails").prose.keys()


@requirement("RNK-01")
def test_declarations_and_demos_come_behind_what_does_it(tmp_path: Path) -> None:
    full_text = FullText(tmp_path / "text")
    text = b"export function setProgress(value) { progress(value) }\n"
    declared = b"// typings of setProgress\nexport function setProgress(value: number): void\n"
    files = {"src/props.js": text, "src/index.d.ts": declared, "demo/progress.js": text * 3, "karma.conf.js": text}
    full_text.add(Document(path=path, text=text, names=["setProgress"]) for path, text in files.items())
    full_text.add([Document(path=f"src/{number}.js", text=b"export const x = 1\n") for number in range(9)])
    full_text.commit(1)
    assert paths(rank(full_text, "setProgress loses its value", limit=9))[0] == "src/props.js"
    assert paths(rank(full_text, "typings of setProgress lose its value", limit=9))[0] == "src/index.d.ts"
    assert paths(rank(full_text, "the progress demo loses its value", limit=9))[0] == "demo/progress.js"
    full_text.close()


def test_a_question_of_nothing_is_refused(shop: FullText) -> None:
    for question in ("", " \n\t", "?!"):
        with pytest.raises(InvalidArgument) as refused:
            rank(shop, question, limit=5)
        assert refused.value.hint


def test_a_question_of_any_length_is_ranked_by_its_beginning(shop: FullText) -> None:
    short = "where is the total of a cart?"
    long = short + "\n" + "x " * MAX_QUESTION
    assert paths(rank(shop, long, limit=1)) == paths(rank(shop, short, limit=1)) != []


def test_code_blocks_are_told_from_prose() -> None:
    question = parse_question("Title words\nprose here\n```python\nimport wheel\n```\nagain prose")
    assert question.title == {"title", "words"}
    assert question.prose == {"prose": 2}
    assert question.code == {"python": 1, "import": 1, "wheel": 1}


@given(st.text(max_size=400))
def test_any_text_is_a_question_or_is_refused(text: str) -> None:
    try:
        question = parse_question(text)
    except InvalidArgument:
        return
    assert question.title or question.prose or question.code


def test_the_same_question_gets_the_same_answer(shop: FullText) -> None:
    question = "Order.ship sends cart\nship the Order, shop.cart and checkout\n```\nCart().total_price()\n```"
    assert all(rank(shop, question, limit=9) == rank(shop, question, limit=9) for _ in range(3))


@pytest.mark.parametrize("tests", [None, True, False])
def test_fewer_files_are_the_first_of_more(shop: FullText, tests: bool | None) -> None:
    whole = rank(shop, "the price of the cart, slugify", limit=100, tests=tests)
    assert len(whole) > 2
    for limit in range(len(whole) + 1):
        assert rank(shop, "the price of the cart, slugify", limit=limit, tests=tests) == whole[:limit]


def test_no_index_is_no_answer(tmp_path: Path) -> None:
    full_text = FullText(tmp_path)
    assert rank(full_text, "anything", limit=5) == []
    full_text.close()


def test_the_telling_line_has_the_rare_words_and_opens_a_definition(shop: FullText) -> None:
    words = weigh(shop, parse_question("slugify strips the value")).words
    (line,) = best_lines(FILES["shop/text.py"][0], words)
    assert (line.number, line.text) == (1, "def slugify(value):")
    both = best_lines(FILES["shop/text.py"][0], words, limit=2)
    assert [line.number for line in both] == [1, 2]


def test_no_line_without_words_and_long_lines_are_cut() -> None:
    assert best_lines(b"some text", {}) == []
    assert best_lines(b"some text", {"absent": 1.0}) == []
    (line,) = best_lines(b"a\n" + b"word " * 200 + b"\xff", {"word": 1.0})
    assert line.number == 2
    assert len(line.text) < 250


@given(
    lines=st.lists(
        st.lists(st.sampled_from(["def", "cart", "carts", "price", "total", "x", "class"]), max_size=5), max_size=12
    ),
    words=st.dictionaries(st.sampled_from(["cart", "carts", "price", "total", "none"]), st.floats(0.1, 9), max_size=4),
    limit=st.integers(1, 3),
)
def test_the_best_lines_are_those_of_looking_at_every_one(
    lines: list[list[str]], words: dict[str, float], limit: int
) -> None:
    text = "\n".join(" ".join(line) for line in lines).encode()
    scored = []
    for number, line in enumerate(lines, 1):
        held = {word for word in line if word in words} | {"cart" for word in line if word == "carts" not in words}
        score = sum(words[word] for word in sorted(held & words.keys()))
        scored += [(-score * (1.5 if line[0] in ("def", "class") else 1.0), number)] if score else []
    best = sorted(number for _, number in sorted(scored)[:limit])
    assert [one.number for one in best_lines(text, words, limit=limit)] == best
