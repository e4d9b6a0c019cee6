"""Attributes of Rust that keep an item from being promised to users."""

import re

_HIDDEN = re.compile(r"\bdoc\s*\([^)]*\bhidden\b")
# Features that packages name so to say that anything behind them may change.
_UNSTABLE = re.compile(
    r"\bcfg\s*\(\s*(?:all\s*\([^()]*)?\bfeature\s*=\s*"
    r'"(?:_[^"]*|(?:[^"]*[-_])?(?:unstable|nightly|experimental)(?:[-_][^"]*)?|bench|no_std)"'
)


def is_unpromised(attributes: str) -> bool:
    """Whether attributes hide an item from the documentation, or leave it out without an unstable feature."""
    return _HIDDEN.search(attributes) is not None or _UNSTABLE.search(attributes) is not None
