"""Maximal marginal relevance: copies come after what is new, and nothing else moves."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from codeplane.query.search.diversity import diversify
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.search.hits import paths


@requirement("RNK-10")
def test_a_copy_comes_after_what_is_new() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0, 0]], np.float32)
    assert diversify([1.0, 0.99, 0.95, 0.5], vectors, 0.1) == [0, 2, 1, 3]
    assert diversify([1.0, 0.99, 0.5, 0.4], vectors, 0.1) == [0, 1, 2, 3], "it loses a tenth, no more"
    assert diversify([1.0, 0.99, 0.95, 0.5], vectors, 0.0) == [0, 1, 2, 3]
    assert diversify([], np.zeros((0, 2), np.float32), 0.1) == []


@requirement("RNK-10")
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(0, 5))
def test_what_has_nothing_in_common_keeps_its_order(scores: list[float], zeros: int) -> None:
    scores = sorted(scores, reverse=True)
    vectors = np.eye(len(scores), 24, dtype=np.float32)
    vectors[:zeros] = 0
    assert diversify(scores, vectors, 0.5) == list(range(len(scores)))


@requirement("RNK-10")
def test_copies_of_a_chunk_do_not_fill_the_first_places(tmp_path: Path) -> None:
    copy = "def charge_credit_card(card, amount):\n    '''Take money from the card of the customer.'''\n"
    files = {f"vendor{number}/pay.py": copy for number in range(4)}
    files["shop/debit.py"] = "def debit_card(card, amount):\n    '''Charge money to a credit card.'''\n"
    # Copies have one content; a blank line makes another of it, with the same vector.
    files = {path: text + "\n" * at for at, (path, text) in enumerate(files.items())}
    root = make_repo(tmp_path / "repo", files)

    async def body(ask: Ask) -> None:
        found = paths(result(await ask("search", query="charge money from a credit card", mode="semantic")))
        assert found[:2] == ["vendor0/pay.py", "shop/debit.py"] and len(found) == 5

    with_plane(root, body)
