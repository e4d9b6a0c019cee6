"""How many of something, as people say it."""


def counted(number: int, noun: str, more: str = "") -> str:
    """`1 file`, `2 files`, `1,000+ matches`; `more` is the sign of a number that is a lower bound."""
    plural = noun + ("es" if noun.endswith(("ch", "s", "x")) else "s")
    return f"{number:,}{more} {noun if number == 1 and not more else plural}"
