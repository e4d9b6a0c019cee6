"""A definition on one line, and its author's first words, in several languages."""

import pytest

from codeplane.code.facts.extract import extractor
from codeplane.code.languages.registry import languages
from codeplane.query.signature import MAX_SIGNATURE, doc, signature
from tests.interaction.requirements import requirement


def signatures(language: str, source: str) -> dict[str, tuple[str, str]]:
    text = source.encode()
    facts = extractor(languages().by_name[language]).facts(text)
    return {one.path: (signature(facts, text, one), doc(facts, text, one)) for one in facts.definitions}


@requirement("EXP-01")
@pytest.mark.parametrize(
    ("language", "source", "path", "expected"),
    [
        (
            "python",
            'class A(B, metaclass=M):  # why\n    """One.\n\n    Two."""\n',
            "A",
            ("class A(B, metaclass=M)", "One."),
        ),
        (
            "python",
            "def f(\n    a=1,  # note\n    *,\n    b,\n):\n    # first\n    r'''Raw.'''\n",
            "f",
            ("def f(a=1, *, b)", "Raw."),
        ),
        ("python", "def f() -> int:\n    return 'no doc'\n", "f", ("def f() -> int", "")),
        ("python", "LIMIT = [\n    1,\n]\n", "LIMIT", ("LIMIT = [", "")),
        (
            "typescript",
            "/**\n * Draws.\n * @param x it\n */\nexport function draw(x: number): void {\n}\n",
            "draw",
            ("function draw(x: number): void", "Draws."),
        ),
        (
            "go",
            "package a\n\n// Foo does.\n// So.\nfunc Foo(a int) string {\n}\n",
            "Foo",
            ("func Foo(a int) string", "Foo does. So."),
        ),
        (
            "rust",
            "/// Adds.\n#[inline]\npub fn add(a: i32) -> i32 { a }\n",
            "add",
            ("pub fn add(a: i32) -> i32", "Adds."),
        ),
        ("go", "package a\n\n// Of another.\n\nfunc Foo() {\n}\n", "Foo", ("func Foo()", "")),
    ],
)
def test_signatures_and_docs(language: str, source: str, path: str, expected: tuple[str, str]) -> None:
    assert signatures(language, source)[path] == expected


@requirement("EXP-01")
def test_a_long_signature_is_cut() -> None:
    arguments = ", ".join(f"argument_{n}" for n in range(100))
    output, _ = signatures("python", f"def f({arguments}):\n    pass\n")["f"]
    assert output.endswith("…") and len(output) == MAX_SIGNATURE + 1
