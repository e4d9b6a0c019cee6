"""British and American spellings of one word, so that a question about `colours` finds `color`."""

import re
from typing import Final

_IRREGULAR: Final = {
    "artefact": "artifact",
    "centre": "center",
    "defence": "defense",
    "fibre": "fiber",
    "grey": "gray",
    "judgement": "judgment",
    "licence": "license",
    "litre": "liter",
    "metre": "meter",
    "offence": "offense",
    "programme": "program",
    "theatre": "theater",
}
_TO_AMERICAN: Final = _IRREGULAR | {f"{british}s": f"{american}s" for british, american in _IRREGULAR.items()}
_TO_BRITISH: Final = {american: british for british, american in _TO_AMERICAN.items()}
# What comes out is only looked up, so a spelling that nobody uses does no harm.
_ENDINGS: Final = (
    ("our", "or", r"(?:s|ed|ing|able|ful|less|al|ally|ist|ists|ite|ites|ably|ation|ations)?"),
    ("is", "iz", r"(?:e|es|ed|er|ers|ing|able|ation|ations)"),
    ("ys", "yz", r"(?:e|es|ed|er|ers|ing)"),
    ("ell", "el", r"(?:ed|ing|er|ers)"),
    ("ogue", "og", r"s?"),
)
_PATTERNS: Final = tuple(
    (re.compile(rf"(?<=\w\w\w){before}(?={rest}$)"), after)
    for british, american, rest in _ENDINGS
    for before, after in ((british, american), (american, british))
)


def other_spelling(word: str) -> str | None:
    """The word as it is spelled on the other side of the Atlantic, if that may differ."""
    if irregular := _TO_AMERICAN.get(word, _TO_BRITISH.get(word)):
        return irregular
    if not word.isalpha():
        return None
    return next((found for pattern, after in _PATTERNS if (found := pattern.sub(after, word)) != word), None)
