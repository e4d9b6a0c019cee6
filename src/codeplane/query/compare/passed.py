"""Names that a file gives away without defining them."""

from collections.abc import Set

from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Facts
from codeplane.query.compare.source_scan import is_passed_on


def passed_through(facts: Facts, path: str, text: bytes, defined: Set[str]) -> dict[str, tuple[str, int]]:
    """Each with where it comes from, in words, and where the file says so."""
    passed: dict[str, tuple[str, int]] = {}
    how = LANGUAGES[facts.language].contract.re_exports
    if how == "exports":
        taken = {one.local for one in facts.imports if one.scope == 0 and one.local}
        for one in facts.exports:
            name = f"* from {one.source}" if one.name == "*" else one.name
            is_passed = one.source or one.local in taken or (one.local and one.local != one.name)
            if is_passed and name not in defined and name != "default":
                passed[name] = (f"{one.local} {one.source}", one.at)
    elif how == "package":
        listed = {one.name for one in facts.exports if one.evidence == "all"}
        package = path.rpartition("/")[2] == "__init__.py" and not listed
        for item in facts.imports:
            given = item.local in listed or (package and item.imported and item.source.startswith("."))
            if item.scope == 0 and given and item.local not in defined and not item.local.startswith("_"):
                passed[item.local] = (f"{item.imported} {item.source}", item.local_at)
    elif how == "use":
        for item in facts.imports:
            name = item.local or item.imported or "*"
            if item.scope == 0 and name not in defined and is_passed_on(text, item.local_at):
                name = f"* from {item.source}" if name == "*" else name
                passed[name] = (f"{item.imported} {item.source}", item.local_at)
    return passed
