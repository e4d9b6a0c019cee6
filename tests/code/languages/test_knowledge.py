"""What is known of a language is in its package: code elsewhere asks its entry and never compares names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.code.languages.registry import LANGUAGES
from tests.interaction.requirements import requirement

pytestmark = requirement("HSE-02")

SOURCE = Path(__file__).parents[3] / "src" / "codeplane"
NAMES = {name for language in LANGUAGES.values() for name in (language.name, language.family_name)}
# Entries of the tables, such as PYTHON: `name == PYTHON.name` is a comparison with a name, too.
ENTRIES = re.compile(rf"\b(?:{'|'.join(re.escape(name).upper() for name in sorted(LANGUAGES))})\.(?:name|family)\b")
ABOUT_LANGUAGES = re.compile(r"language|famil", re.IGNORECASE)
FUNCTIONS = (ast.Name, ast.Attribute, ast.Lambda)
# Files that may do so all the same; there are none.
EXCEPTIONS: frozenset[str] = frozenset()


def texts(node: ast.AST) -> list[str]:
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def collections(tree: ast.Module) -> dict[str, ast.expr]:
    """The names of a module's collections in which every text is the name of a language."""
    found: dict[str, ast.expr] = {}
    for statement in tree.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            continue
        value = statement.value
        # A table of functions chooses what a room does for a language, and says nothing of the language itself.
        if value is None or (isinstance(value, ast.Dict) and all(isinstance(one, FUNCTIONS) for one in value.values)):
            continue
        words = texts(ast.Tuple([key for key in value.keys if key])) if isinstance(value, ast.Dict) else texts(value)
        if len(words) > 1 and NAMES.issuperset(words):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found |= {ast.unparse(target): value for target in targets}
    return found


def language_tests(source: str) -> Iterator[tuple[int, str]]:
    """The lines of a module that compare with names of languages, or list them."""
    tree = ast.parse(source)
    listed = collections(tree)
    yield from ((value.lineno, ast.unparse(value)) for value in listed.values())
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            named = [side for side in sides if NAMES.intersection(texts(side)) or ast.unparse(side) in listed]
            others = " ".join(ast.unparse(side) for side in sides if side not in named)
            if ENTRIES.search(ast.unparse(node)) or (named and ABOUT_LANGUAGES.search(others)):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Match) and ABOUT_LANGUAGES.search(ast.unparse(node.subject)):
            cases = (case.pattern for case in node.cases if NAMES.intersection(texts(case.pattern)))
            yield from ((case.lineno, ast.unparse(case)) for case in cases)


def test_no_language_is_told_by_its_name_elsewhere() -> None:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(("code/languages/", "_gen/")) and name not in EXCEPTIONS:
            found += [f"{name}:{line}: {code}" for line, code in language_tests(path.read_text())]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        'if facts.language == "python": pass',
        'if subject.language.name != "rust": pass',
        'if language in ("typescript", "tsx"): pass',
        'if (around.kind, new.language) == ("struct", "csharp"): pass',
        'if _family(path) == "javascript": pass',
        'if language.family not in {"python", "javascript"}: pass',
        '_TYPED = frozenset({"typescript", "tsx"})\nif name in _TYPED: pass',
        '_MARKS = {"python": (b"#",), "go": (b"//",)}',
        'match language:\n    case "go": pass',
        "if facts.language == PYTHON.name: pass",
    ],
)
def test_each_way_to_compare_names_is_found(source: str) -> None:
    assert list(language_tests(source))


@pytest.mark.parametrize(
    "source",
    [
        "if language.names.named_arguments: pass",
        'if language.kind in ("data", "markup"): pass',
        'if request.format == "markdown": pass',
        'PLANNERS = {"python": plan_python, "javascript": plan_script}',
        "if language.family == other.family: pass",
    ],
)
def test_facts_and_tables_of_functions_are_not(source: str) -> None:
    assert not list(language_tests(source))
