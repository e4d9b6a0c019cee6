"""Counts tokens with the tokenizer that comes along, to bound what models are shown."""

from functools import cache
from typing import TYPE_CHECKING

from codeplane.vectors.static_vectors import wordllama_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER = "wordllama"
# A longer text is estimated by its beginning: to count it all would take longer than to send it.
_COUNTED = 20_000


def count_tokens(text: str) -> int:
    """How many tokens a text has."""
    counted = text[:_COUNTED]
    if not counted:
        return 0
    tokens = len(_tokenizer().encode(counted, add_special_tokens=False).ids)
    return tokens if len(text) <= _COUNTED else tokens * len(text) // _COUNTED


@cache
def _tokenizer() -> "Tokenizer":
    return wordllama_tokenizer()
