"""The documentation sweep: which words it takes for the symbol, and how sure it says it is (002 §8.11)."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.kernel.config import DocSweepConfig
from codeplane.refactor.documents.code_blocks import Flavour
from codeplane.refactor.documents.markup import Markup
from codeplane.refactor.documents.word_kinds import word_kind
from tests.interaction.requirements import requirement
from tests.refactor.documents.sweep_repository import confidences, on_lines, sweep, sweeping

SHOP = '''"""Carts, see ShoppingCart."""

# A ShoppingCart holds things.
class ShoppingCart:
    """Unlike `ShoppingCart.empty`, which is new, a ShoppingCart is old."""

    label = "ShoppingCart"

    def total(self):
        return "ShoppingCart"  # of the ShoppingCart
'''


@requirement("REF-20")
def test_comments_docstrings_and_documents_are_found_and_code_is_not(tmp_path: Path) -> None:
    files = {
        "shop/cart.py": SHOP,
        "README.md": "See `ShoppingCart`.\nThe ShoppingCart pays.\nShoppingCarts and MyShoppingCart are others.\n",
        "page.html": "<p>ShoppingCart</p>",
    }
    draft = sweep(tmp_path / "a", files, "ShoppingCart", qualified="shop.cart.ShoppingCart", near=("shop/cart.py",))
    assert confidences(draft, files) == {
        "README.md:1:6": "high",
        "README.md:2:5": "medium",
        "shop/cart.py:1:15": "medium",
        "shop/cart.py:3:5": "medium",
        "shop/cart.py:5:16": "high",
        "shop/cart.py:5:53": "medium",
        "shop/cart.py:10:41": "medium",
    }
    for edit in draft.edits:
        assert (edit.semantic, edit.tier, edit.new) == (False, "UNKNOWN", "renamed") and edit.why
        assert edit.role == ("DOCUMENT" if edit.path == "README.md" else "COMMENT")
        assert files[edit.path].encode()[edit.start : edit.end] == b"ShoppingCart"
    assert draft.coverage.truncated == "" and draft.coverage.unparsed == ()


@requirement("REF-20")
def test_every_way_to_mark_a_name_is_high(tmp_path: Path) -> None:
    rst = """Use :func:`parse_url` here.
Or :py:func:`~shop.urls.parse_url`.
Or ``parse_url()``.
Or shop.urls.parse_url in prose.
Passed on as shop.parse_url too.

.. autofunction:: shop.urls.parse_url

Example::

    parse_url(1)

.. code-block:: python
   :linenos:

   x = parse_url(2)

>>> parse_url(3)

from shop.urls import parse_url
Not in :doc:`parse_url` nor here: parse_url.
"""
    markdown = """```python
from shop.urls import parse_url
parse_url("a")
```

    parse_url(2)

<code>parse_url</code>
- a list

    parse_url in its item
"""
    adoc = "Call `parse_url`.\n\n[source,python]\n----\nparse_url(1)\n----\nparse_url is prose.\n"
    script = "/** {@link parse_url} */\nexport const a = 1;\n// ```\n// parse_url(1)\n// ```\n// parse_url\n"
    files = {
        "shop/__init__.py": "",
        "shop/urls.py": "def parse_url(x):\n    return x\n",
        "guide.rst": rst,
        "guide.md": markdown,
        "guide.adoc": adoc,
        "a.js": script,
    }
    draft = sweep(tmp_path / "a", files, "parse_url", qualified="shop.urls.parse_url", near=("shop/urls.py",))
    found = on_lines(draft, files, "guide.rst")
    assert {line for line, sure in found.items() if sure == "high"} == {1, 2, 3, 4, 5, 7, 11, 16, 18, 20}
    assert found[21] == "medium"
    assert on_lines(draft, files, "guide.md") == {2: "high", 3: "high", 6: "high", 8: "high", 11: "medium"}
    assert on_lines(draft, files, "guide.adoc") == {1: "high", 5: "high", 7: "medium"}
    assert on_lines(draft, files, "a.js") == {1: "high", 4: "high", 6: "medium"}


@requirement("REF-20")
def test_common_words_are_never_more_than_low_because_they_occur(tmp_path: Path) -> None:
    names = ("get", "data", "name", "value", "Model", "id")
    files: dict[str, str] = {}
    for name in names:
        files[f"shop/{name}s.py"] = f"def {name}(x):\n    # {name} it\n    return x\n\n# {name}, `{name}`\n"
        files[f"{name}.md"] = f'You {name} it. The `{name}` there.\n\n```json\n{{"{name}": 1}}\n```\n'
        files[f"code/{name}.md"] = f"```\n{name} = 1\nx.{name}()\n```\n"
        files[f"{name}_.py"] = f"import os  # {name} it\n"
    with sweeping(tmp_path / "a", files) as ask:
        for name in names:
            draft = ask(name, qualified=f"shop.{name}s.{name}", near=(f"shop/{name}s.py",))
            assert len(draft.edits) == 9
            assert {edit.confidence for edit in draft.edits} == {"low"}


@requirement("REF-20")
def test_a_common_word_written_out_in_full_is_high(tmp_path: Path) -> None:
    files = {
        "shop/store.py": "class Store:\n    def get(self):\n        return 1\n",
        "README.md": "Call Store.get or :meth:`~shop.store.Store.get`.\nNot `Other.get`, `store.get` or os.get.\n",
    }
    draft = sweep(tmp_path / "a", files, "get", qualified="shop.store.Store.get", near=("shop/store.py",))
    assert confidences(draft, files) == {
        "README.md:1:12": "high",
        "README.md:1:44": "high",
        "README.md:2:12": "low",
        "README.md:2:25": "low",
        "README.md:2:36": "low",
    }


@requirement("REF-20")
def test_ordinary_words_need_a_mark(tmp_path: Path) -> None:
    files = {
        "shop/a.py": "def normalize(x):\n    return x\n\n\n# normalize() first, then normalize again\ny = 1\n",
        "README.md": "We normalize input. `normalize` does it.\n\n```python\nnormalize(1)\nnormalize = 2\n```\n",
    }
    draft = sweep(tmp_path / "a", files, "normalize", qualified="shop.a.normalize", near=("shop/a.py",))
    assert confidences(draft, files) == {
        "README.md:1:4": "low",
        "README.md:1:22": "high",
        "README.md:4:1": "low",
        "README.md:5:1": "low",
        "shop/a.py:5:3": "medium",
        "shop/a.py:5:27": "low",
    }


def test_code_that_is_shown_is_one_thing(tmp_path: Path) -> None:
    blocks = [
        # An import says what every use of it means.
        "from shop.prices import price\n\nprice(1)\ntotal = price\nx.price(2)  # the price\nf(price=1)\nd['price']",
        # Another import makes them another thing.
        "from other import price\n\nprice(1)",
        # Nothing says that the second is meant: then neither is changed.
        "price(1)\nprice = 2",
        "shop.prices.price(1)\nprice(2)\nprint(price)",
    ]
    files = {
        "shop/prices.py": "def price(net):\n    return net\n",
        "README.md": "\n".join(f"```python\n{one}\n```\n" for one in blocks),
    }
    draft = sweep(tmp_path / "a", files, "price", qualified="shop.prices.price", near=("shop/prices.py",))
    assert confidences(draft, files) == {
        "README.md:2:25": "high",
        "README.md:4:1": "high",
        "README.md:5:9": "high",
        "README.md:6:3": "low",
        "README.md:6:19": "low",
        "README.md:7:3": "low",
        "README.md:8:4": "low",
        "README.md:12:19": "low",
        "README.md:14:1": "low",
        "README.md:18:1": "low",
        "README.md:19:1": "low",
        "README.md:23:13": "high",
        "README.md:24:1": "high",
        "README.md:25:7": "high",
    }


def test_members_whose_receiver_is_not_known_keep_a_block_as_it_is(tmp_path: Path) -> None:
    files = {
        "zoo.py": "class Dog:\n    def speak_up(self):\n        return 1\n",
        "README.md": "```python\nDog.speak_up\nit.speak_up()\n```\n\n```python\nDog.speak_up\nCat.speak_up\n```\n",
    }
    draft = sweep(tmp_path / "a", files, "speak_up", qualified="zoo.Dog.speak_up", near=("zoo.py",))
    assert confidences(draft, files) == {
        "README.md:2:5": "medium",
        "README.md:3:4": "medium",
        "README.md:7:5": "high",
        "README.md:8:5": "low",
    }


@requirement("REF-20")
def test_another_definition_of_the_name_makes_it_doubtful(tmp_path: Path) -> None:
    files = {
        "shop/a.py": "def send_mail():\n    return 1\n\n# see `send_mail`\n",
        "shop/b.py": "def send_mail():\n    return 2\n",
        "README.md": "`send_mail`, a.send_mail\n\n```\nfrom shop.a import send_mail\nfrom b import send_mail\n```\n",
    }
    draft = sweep(tmp_path / "a", files, "send_mail", qualified="shop.a.send_mail", near=("shop/a.py",))
    assert confidences(draft, files) == {
        "README.md:1:2": "low",
        "README.md:1:16": "high",
        "README.md:4:20": "high",
        "README.md:5:15": "low",
        "shop/a.py:4:8": "medium",
    }


def test_paths_addresses_longer_words_and_records_are_low(tmp_path: Path) -> None:
    files = {
        "shop/a.py": "def parse_url():\n    return 1\n",
        "README.md": "docs/parse_url\nparse_url.py\nsee https://x.org/?q=parse_url\n--parse_url\nparse_url-ng\n[a](#parse_url)\n",
        "CHANGES.md": "- added `parse_url`\n",
        "docs/releases/1.0.txt": "``parse_url`` is new\n",
        "requirements.txt": "parse_url==1\n",
        "vendor/x.md": "`parse_url`\n",
    }
    draft = sweep(tmp_path / "a", files, "parse_url", qualified="shop.a.parse_url", near=("shop/a.py",))
    assert {edit.confidence for edit in draft.edits} == {"low"}
    assert len(draft.edits) == 9 and not any(edit.path.startswith("vendor") for edit in draft.edits)


def test_code_of_another_language_is_less_sure(tmp_path: Path) -> None:
    files = {
        "shop/a.py": "def parse_url():\n    return 1\n",
        "README.md": "```go\nparse_url()\n```\n```py\nparse_url()\n```\n```console\nparse_url\n```\n",
    }
    draft = sweep(tmp_path / "a", files, "parse_url", qualified="shop.a.parse_url", near=("shop/a.py",))
    assert on_lines(draft, files, "README.md") == {2: "medium", 5: "high", 8: "high"}


def test_a_parameter_is_looked_for_in_its_function_alone(tmp_path: Path) -> None:
    source = '''def pay(user_id, name):
    """Pay.

    :param user_id: of the one who pays
    :param name: the name
    Args:
        name: a thing
        user_id (int): another

    The name is `name`, and user_id stays.
    """
    return user_id  # user_id


def other(user_id):
    """:param user_id: not this one"""
'''
    files = {"shop/a.py": source, "README.md": "`user_id` and user_id, `name`\n"}
    with sweeping(tmp_path / "a", files) as ask:
        draft = ask("user_id", qualified="shop.a.pay.user_id", near=("shop/a.py",))
        assert confidences(draft, files) == {
            "shop/a.py:4:12": "high",
            "shop/a.py:8:9": "high",
            "shop/a.py:10:29": "medium",
            "shop/a.py:12:23": "medium",
        }
        draft = ask("name", qualified="shop.a.pay.name", near=("shop/a.py",))
        assert confidences(draft, files) == {
            "shop/a.py:5:12": "high",
            "shop/a.py:5:22": "low",
            "shop/a.py:7:9": "high",
            "shop/a.py:10:9": "low",
            "shop/a.py:10:18": "high",
        }


def test_a_parameter_in_the_comment_above_a_function(tmp_path: Path) -> None:
    source = "/**\n * @param {string} userId who\n */\nexport function pay(userId) { return userId }\n// userId\n"
    files = {"a.js": source}
    draft = sweep(tmp_path / "a", files, "userId", qualified="a.pay.userId", near=("a.js",))
    assert confidences(draft, files) == {"a.js:2:20": "high"}


def test_what_is_not_looked_at_is_said(tmp_path: Path) -> None:
    files = {
        "shop/a.py": "def parse_url():\n    return 1\n",
        "broken.py": "# parse_url\ndef (:\n",
        "b.md": "`parse_url` " * 1500,
        "c.md": "`parse_url` " * 1500,
    }
    near, qualified = ("shop/a.py",), "shop.a.parse_url"
    with sweeping(tmp_path / "a", files) as ask:
        many = ask("parse_url", qualified=qualified, near=near)
        assert len(many.edits) == 2000 and "more than 2000 matches: from c.md on" in many.coverage.truncated
        late = ask("parse_url", qualified=qualified, near=near, seconds=-1)
        assert late.edits == () and "out of time" in late.coverage.truncated
        broken = ask("parse_url", qualified=qualified, near=near, config=DocSweepConfig(scan_extensions=()))
        assert broken.coverage.unparsed == ("broken.py",) and len(broken.edits) == 1


def test_it_can_be_switched_off_and_told_where_to_look(tmp_path: Path) -> None:
    files = {"shop/a.py": "def parse_url(): ...\n", "a.md": "`parse_url`", "a.org": "`parse_url`"}
    near, qualified = ("shop/a.py",), "shop.a.parse_url"
    with sweeping(tmp_path / "a", files) as ask:
        draft = ask("parse_url", qualified=qualified, near=near, config=DocSweepConfig(enabled=False))
        assert draft.edits == () and "switched off" in draft.coverage.truncated
        draft = ask("parse_url", qualified=qualified, near=near, config=DocSweepConfig(scan_extensions=(".org",)))
        assert [edit.path for edit in draft.edits] == ["a.org"]


def test_names_beside_other_alphabets_and_line_ends(tmp_path: Path) -> None:
    files = {"shop/a.py": "def parse_url(): ...\n", "a.md": "“parse_url” é parse_url\r\n`parse_url`\r\nöparse_url\r\n"}
    draft = sweep(tmp_path / "a", files, "parse_url", qualified="shop.a.parse_url", near=("shop/a.py",))
    assert confidences(draft, files) == {"a.md:1:4": "medium", "a.md:1:20": "medium", "a.md:2:2": "high"}


def test_words() -> None:
    assert [word_kind(one) for one in ("getUser", "get_user", "_parse", "HTTPServer", "utf8", "MAX_SIZE")] == [
        "distinctive"
    ] * 6
    assert [word_kind(one) for one in ("normalize", "Flask", "TIMEZONE")] == ["ordinary"] * 3
    assert [word_kind(one) for one in ("get", "Data", "x", "GitHub", "_id")] == ["common"] * 5


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(alphabet="`~:. \n\tab>*-_(){}@<", max_size=200),
    flavour=st.sampled_from(["markdown", "rst", "adoc", "plain"]),
)
def test_no_text_is_too_odd_to_be_read(text: str, flavour: Flavour) -> None:
    markup = Markup(text, flavour)
    for at in range(len(text)):
        assert markup.at(at, at + 1).kind in ("link", "import", "name", "code", "prose")
