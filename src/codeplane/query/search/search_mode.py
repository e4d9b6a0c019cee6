"""The choice of a search mode, by the query's shape."""

import re

from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.pattern import Regex, looks_like_regex
from codeplane.query.search.search_request import SearchRequest

# A word as people write it in a sentence, with what may stand around it.
_WORD = re.compile(r"[\"'`(\[]*[^\W\d_][\w'’.-]*[\"'`)\]]*[,.;:!?]*$")
_LEAST_WORDS, _SHARE_OF_WORDS = 3, 0.6


def choose_mode(call: Call, request: SearchRequest) -> str:
    """Choose the mode; auto goes by the query's shape, and treats an invalid expression as text."""
    if request.mode != "auto":
        return "ranked" if request.mode == "lexical" else request.mode
    if request.kinds:
        return "definitions"
    if not looks_like_regex(request.query):
        return "literal"
    try:
        Regex(request.query)
    except InvalidArgument as error:
        call.warn(f"looked for as text: {error.message}")
        return "literal"
    return "regex"


def fallback_mode(mode: str, query: str) -> str | None:
    """The mode auto tries next: ranking for sentences, symbols for the rest."""
    if _is_sentence(query):
        return "ranked"
    return "symbol" if mode in ("literal", "definitions") else None


def _is_sentence(query: str) -> bool:
    """Whether a query reads like a sentence rather than code."""
    words_written = query.split()
    words = sum(_WORD.match(word) is not None for word in words_written)
    return words >= _LEAST_WORDS and words >= _SHARE_OF_WORDS * len(words_written)
