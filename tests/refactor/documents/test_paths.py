"""Paths of files that move, in documentation."""

from collections.abc import Mapping
from pathlib import Path

from codeplane.refactor.documents.paths import path_edits
from codeplane.refactor.draft import Edit
from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("REF-30")

CODE = {"shop/prices.py": "x = 1\n", "shop/till.py": "y = 1\n", "setup.py": "z = 1\n"}


def changed(root: Path, files: Mapping[str, str], moved: Mapping[str, str]) -> tuple[dict[str, str], list[Edit]]:
    """The documents with what is more than low made, and all edits."""
    with written(root, files) as repo:
        edits = path_edits(repo.world(), repo.store, moved)
    texts = {}
    for path in {edit.path for edit in edits}:
        raw = files[path].encode()
        for edit in sorted(edits, key=lambda edit: -edit.start):
            if edit.path == path and edit.confidence != "low":
                raw = raw[: edit.start] + edit.new.encode() + raw[edit.end :]
        texts[path] = raw.decode()
    return texts, edits


def test_links_code_and_sentences(tmp_path: Path) -> None:
    output = """# Ünits
See [prices](shop/prices.py), [a line](./shop/prices.py#L3 "Prices") and [other](shop/till.py).
Run `python shop/prices.py:12`, or look into shop/prices.py.
Not https://example.org/shop/prices.py nor old-shop/prices.py.
![picture](<shop/prices.py>) <a href="shop/prices.py">x</a>

[ref]: shop/prices.py

```sh
python shop/prices.py --fast
```
"""
    files = {**CODE, "README.md": output, "docs/a.md": "[up](../shop/prices.py) and `shop/prices.py`\n"}
    texts, edits = changed(tmp_path, files, {"shop/prices.py": "shop/money/prices.py"})
    expected = output.replace("shop/prices.py", "shop/money/prices.py")
    expected = expected.replace("example.org/shop/money/", "example.org/shop/").replace("old-shop/money/", "old-shop/")
    assert texts == {
        "README.md": expected,
        "docs/a.md": "[up](../shop/money/prices.py) and `shop/money/prices.py`\n",
    }
    by_line = {
        files[edit.path][: edit.start].count("\n") + 1: edit.confidence for edit in edits if edit.path == "README.md"
    }
    assert by_line[2] == by_line[7] == by_line[10] == "high" and by_line[3] == "medium"
    assert all(not edit.semantic and edit.role == "DOCUMENT" and edit.why for edit in edits)


def test_a_document_that_moves_keeps_its_links(tmp_path: Path) -> None:
    files = {
        **CODE,
        "docs/a.md": "[b](b.md) [code](../shop/till.py) [gone](nowhere.md) [root](/setup.py) [web](https://x.y/b.md)\n",
        "docs/b.md": "[a](a.md#top)\n",
    }
    texts, _ = changed(tmp_path, files, {"docs/a.md": "docs/deep/one.md"})
    assert texts == {
        "docs/a.md": "[b](../b.md) [code](../../shop/till.py) [gone](nowhere.md) [root](/setup.py) [web](https://x.y/b.md)\n",
        "docs/b.md": "[a](deep/one.md#top)\n",
    }
    both = {"docs/a.md": "guide/a.md", "docs/b.md": "guide/b.md"}
    texts, _ = changed(tmp_path / "both", files, both)
    # Two that move together still lie beside each other.
    assert "docs/b.md" not in texts or texts["docs/b.md"] == files["docs/b.md"]


def test_folders_of_which_nothing_stays(tmp_path: Path) -> None:
    files = {**CODE, "README.md": "All of `shop/` is in [shop](shop); `shop` is a name.\n"}
    moved = {"shop/prices.py": "store/prices.py", "shop/till.py": "store/till.py"}
    texts, _ = changed(tmp_path / "a", files, moved)
    assert texts["README.md"] == "All of `store/` is in [shop](store); `shop` is a name.\n"
    texts, _ = changed(tmp_path / "b", files, {"shop/prices.py": "store/prices.py"})
    assert texts == {}


def test_names_alone_and_records_are_only_proposed(tmp_path: Path) -> None:
    files = {
        **CODE,
        "README.md": "See `prices.py`.\n",
        "CHANGELOG.md": "Added `shop/prices.py`.\n",
        "x.rst": "`till.py`\n",
    }
    texts, edits = changed(tmp_path, files, {"shop/prices.py": "shop/costs.py"})
    assert {edit.path: edit.confidence for edit in edits} == {"README.md": "low", "CHANGELOG.md": "low"}
    assert all(texts[path] == files[path] for path in texts)


def test_restructured_text_and_escaped_links(tmp_path: Path) -> None:
    files = {
        **CODE,
        "my shop/a b.py": "x = 1\n",
        "docs/x.rst": ".. literalinclude:: ../shop/prices.py\n\nSee ``shop/prices.py``, `it <../shop/prices.py>`_.\n",
        "README.md": "[a](my%20shop/a%20b.py)\n",
    }
    moved = {"shop/prices.py": "shop/costs.py", "my shop/a b.py": "our shop/a b.py"}
    texts, _ = changed(tmp_path, files, moved)
    assert texts["docs/x.rst"] == files["docs/x.rst"].replace("prices", "costs")
    assert texts["README.md"] == "[a](our%20shop/a%20b.py)\n"
