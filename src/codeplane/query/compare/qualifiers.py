"""Types that take, or give, what others did, as far as a word or a sign around them tells."""

from codeplane.code.languages.contract import Contract
from codeplane.query.compare.parameters import Parameter
from codeplane.query.compare.type_compatibility import widens


def accepts(before: Parameter, after: Parameter, rules: Contract) -> bool:
    """Whether whatever was given for a parameter still can be."""
    one, two = before.type or before.name, after.type or after.name
    if one == two:
        return True
    if rules.c_declarations:
        one, two = _by_value(one), _by_value(two)
        return one == two or two == f"const {one} &" or (two == f"const {one}" and one[-1:] in ("*", "&"))
    if rules.nullable_types:
        return two == f"{one} ?"
    modes = rules.self_modes
    if one in modes and two in modes:
        return modes.index(two) < modes.index(one) or {one, two} == {"self", "mut self"}
    if rules.array_varargs and after.how == "rest":
        return one.removesuffix("[ ]").strip() == two.replace("...", "").strip()
    return rules.unions and bool(before.type) and bool(after.type) and widens(one, two)


def gives_no_more(before: str, after: str, rules: Contract) -> bool:
    """Whether what comes back is always something that could come back before."""
    return rules.nullable_results and before == f"{after} ?"


def _by_value(said: str) -> str:
    """A type without the word that binds only who is called: what is given is copied."""
    words = said.split(" ")
    if "*" not in words and "&" not in words:
        return " ".join(word for word in words if word != "const")
    return " ".join(words[:-1] if words[-1] == "const" else words)
