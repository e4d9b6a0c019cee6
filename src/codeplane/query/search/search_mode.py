"""The choice of a search mode, by the query's shape."""

import re

from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.pattern import MAX_PATTERN, Regex, looks_like_regex
from codeplane.query.search.search_request import SearchRequest

# A word as people write it in a sentence, with what may stand around it: `save()`, [docs], Class.method:
_WORD = re.compile(r"[\"'`(\[<*#@:]*[^\W\d_][\w'’./:@#$-]*(?:\([^()]*\)|\[[^\[\]]*\])?[\"'`)\]>*]*[,.;:!?]*$")
_LEAST_WORDS, _SHARE_OF_WORDS = 2, 0.5


def choose_mode(call: Call, request: SearchRequest) -> str:
    """Choose the mode; auto goes by the query's shape, and treats an invalid expression as text."""
    if request.mode != "auto":
        return "ranked" if request.mode == "lexical" else request.mode
    if request.kinds:
        return "definitions"
    if "\n" in request.query.strip() or len(request.query) > MAX_PATTERN:
        # No line holds several: an issue, a trace or a diff.
        return "ranked"
    if not looks_like_regex(request.query):
        return "literal"
    try:
        Regex(request.query)
    except InvalidArgument as error:
        call.warn(f"looked for as text: {error.message}")
        return "literal"
    return "regex"


def fallback_modes(mode: str, query: str) -> tuple[str, ...]:
    """The modes auto tries in turn if one finds nothing: an expression as text, words ranked, one name as a symbol."""
    if mode == "regex":
        return ("literal", "ranked") if _is_text(query) else ("literal",)
    if mode not in ("literal", "definitions"):
        return ()
    return ("ranked",) if _is_text(query) else ("symbol",)


def _is_text(query: str) -> bool:
    """Whether a query is made of words rather than of code."""
    written = query.split()
    words = sum(_WORD.match(word) is not None for word in written)
    return words >= _LEAST_WORDS and words >= _SHARE_OF_WORDS * len(written)
