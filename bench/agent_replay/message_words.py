"""The words of a commit message that a person would look for."""

import re

_IDENTIFIER = re.compile(r"`([^`\n]{2,60})`|\b(\w*[a-z0-9]_\w+|[A-Za-z]*[a-z][A-Z]\w*|\w+(?:\.\w+)+)(?:\(\))?")
_WORD = re.compile(r"[A-Za-z][A-Za-z-]{3,}")
_NOISE = re.compile(r"#\d+|https?://\S+|\b(?:Co-authored-by|Signed-off-by|Closes|Fixes)\b.*", re.I)
_STOP = frozenset(
    re.findall(
        r"\w+",
        """
        about after again allow also always avoid back because been before being better both bump case cases change
        changed changes chore clean cleanup code could docs does doesn ensure error errors feat feature file files
        fixed fixes from function have improve instead into issue just like make makes method minor missing more move
        must name need needs only other over perf pull refactor release remove removed request return review should
        simplify some support test tests than that their them then there these they this typo unused update updated
        used using value values version were what when where which while will with without work would
        """,
    )
)
_MOST = 4


def identifiers(message: str) -> list[str]:
    """Names of code in a message, first mentioned first."""
    found = (quoted or plain for quoted, plain in _IDENTIFIER.findall(_NOISE.sub("", message)))
    names = (re.sub(r"\(.*", "", name).strip("`'\" .") for name in found)
    return list(dict.fromkeys(name.rsplit(".", 1)[-1] for name in names if re.search(r"[A-Za-z]{2}", name)))[:_MOST]


def words(message: str) -> list[str]:
    """Plain words that are not in every message, longest first within the first line and then the others."""
    subject, _, body = _NOISE.sub("", message).partition("\n")
    found: dict[str, None] = {}
    for text in (subject, body):
        plain = [word for word in _WORD.findall(text) if word.lower() not in _STOP]
        found |= dict.fromkeys(sorted((word.lower() for word in plain), key=len, reverse=True))
    return list(found)[:_MOST]
