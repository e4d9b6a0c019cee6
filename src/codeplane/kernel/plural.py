"""Numbers with their nouns, in singular or plural."""


def plural(number: int, noun: str, more: str = "", *, verbs: tuple[str, str] | None = None) -> str:
    """`1 file`, `2 files`, `1,000+ matches`; `more` is the sign of a number that is a lower bound.

    `verbs`: what follows, of one and of several, as in `1 file is`, `2 files are`.
    """
    is_one = number == 1 and not more
    text = f"{number:,}{more} {noun if is_one else _plural_noun(noun)}"
    return text if verbs is None else f"{text} {verbs[not is_one]}"


ARE = ("is", "are")


def _plural_noun(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("ch", "s", "x")) else "s")
