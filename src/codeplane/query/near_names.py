"""Names that are spelled almost like one that nothing has."""

import difflib
import re

from codeplane.index.fact_store import FactStore

_MAX_NEAR = 50_000


def near_names(store: FactStore, symbol: str) -> tuple[str, ...]:
    """Names similar to the last part of a query."""
    wanted = re.split(r"::|[.#]", symbol.removesuffix("()"))[-1]
    low = wanted.lower()
    alike = [name for name in store.all_names() if abs(len(name) - len(wanted)) <= 4 or low in name.lower()]
    by_case: dict[str, list[str]] = {}
    for name in alike[:_MAX_NEAR]:
        by_case.setdefault(name.lower(), []).append(name)
    close = difflib.get_close_matches(low, by_case, n=5, cutoff=0.6)
    # Spelled as it was meant first: `Client` for `Clinet`.
    return tuple(
        name
        for near in close
        for name in sorted(
            by_case[near], key=lambda candidate: (candidate[:1].isupper() != wanted[:1].isupper(), candidate)
        )
    )[:5]
