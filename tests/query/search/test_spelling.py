"""Other spellings of English words."""

import pytest

from codeplane.query.search.spelling import other_spelling
from tests.interaction.requirements import requirement

pytestmark = requirement("RNK-12")

PAIRS = [
    ("colours", "colors"),
    ("favourite", "favorite"),
    ("behaviour", "behavior"),
    ("serialiser", "serializer"),
    ("normalisation", "normalization"),
    ("analyse", "analyze"),
    ("cancelled", "canceled"),
    ("catalogues", "catalogs"),
    ("centres", "centers"),
    ("licence", "license"),
]


@pytest.mark.parametrize(("british", "american"), PAIRS)
def test_each_spelling_leads_to_the_other(british: str, american: str) -> None:
    assert other_spelling(british) == american
    assert other_spelling(american) == british


@pytest.mark.parametrize("word", ["hour", "four", "or", "log", "parsed", "x86", "color_map", ""])
def test_other_words_have_one_spelling(word: str) -> None:
    assert other_spelling(word) is None
