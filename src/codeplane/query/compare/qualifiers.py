"""Types that take, or give, what others did, as far as a word or a sign around them tells."""

from codeplane.query.compare.parameters import Parameter
from codeplane.query.compare.type_compatibility import widens

_C_LIKE = frozenset({"c", "cpp"})
_QUESTIONED = frozenset({"kotlin", "swift", "csharp"})
# What a method does to what it is called on, from least to most.
_SELVES = ("& self", "& mut self", "self", "mut self")


def accepts(before: Parameter, after: Parameter, language: str) -> bool:
    """Whether whatever was given for a parameter still can be."""
    one, two = before.type or before.name, after.type or after.name
    if one == two:
        return True
    if language in _C_LIKE:
        one, two = _by_value(one), _by_value(two)
        return one == two or two == f"const {one} &" or (two == f"const {one}" and one[-1:] in ("*", "&"))
    if language in _QUESTIONED:
        return two == f"{one} ?"
    if language == "rust" and one in _SELVES and two in _SELVES:
        return _SELVES.index(two) < _SELVES.index(one) or {one, two} == {"self", "mut self"}
    if language == "java" and after.how == "rest":
        return one.removesuffix("[ ]").strip() == two.replace("...", "").strip()
    return language in ("typescript", "tsx") and bool(before.type) and bool(after.type) and widens(one, two)


def gives_no_more(before: str, after: str, language: str) -> bool:
    """Whether what comes back is always something that could come back before."""
    return language in ("kotlin", "swift") and before == f"{after} ?"


def _by_value(said: str) -> str:
    """A type without the word that binds only who is called: what is given is copied."""
    words = said.split(" ")
    if "*" not in words and "&" not in words:
        return " ".join(word for word in words if word != "const")
    return " ".join(words[:-1] if words[-1] == "const" else words)
