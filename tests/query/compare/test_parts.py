"""Heads taken apart, types compared, files put into categories."""

import pytest

from codeplane.code.languages.contract import Shape
from codeplane.query.compare.file_category import category
from codeplane.query.compare.parameters import Parameter, parameters
from codeplane.query.compare.type_compatibility import narrows, widens
from tests.interaction.requirements import requirement
from tests.query.compare.versions import outline


def read(output: str, shape: Shape) -> tuple[Parameter, ...]:
    return parameters(output.split(), shape)


@requirement("CMP-02")
def test_parameters_as_languages_write_them() -> None:
    python = read("a , / , b = 1 , * args , c , ** kw", "marked")
    assert [(one.name, one.how, one.is_required) for one in python] == [
        ("a", "positional_only", True),
        ("b", "positional", False),
        ("args", "rest", False),
        ("c", "keyword_only", True),
        ("kw", "keyword_rest", False),
    ]
    go = read("a , b int , rest ... string", "grouped")
    assert [(one.name, one.type) for one in go] == [("a", "int"), ("b", "int"), ("rest", "... string")]
    assert [(one.name, one.type) for one in read("int , string", "grouped")] == [("", "int"), ("", "string")]
    java = read("final Map < String , Integer > m , int ... n", "type_first")
    assert [(one.name, one.type, one.how) for one in java] == [
        ("m", "Map < String , Integer >", "positional"),
        ("n", "int ...", "rest"),
    ]
    typescript = read("a ? : string , { b , c } = { } , ... d : any [ ]", "name_first")
    assert [(one.name, one.is_required) for one in typescript] == [("a", False), ("{ b , c }", False), ("d", False)]


@requirement("CMP-02")
def test_decorators_belong_to_what_they_are_above_of() -> None:
    text = "class A:\n    @one\n    @two(\n        'x',\n    )\n    # and\n    def f(self): ...\n\n"
    text += "    y = 1\n    def g(self): ...\n"
    found = outline("a.py", text)
    marks = {one.name: found.parts(place).header.marks for place, one in enumerate(found.entities)}
    assert marks["f"] == ("@ one", "@ two ( 'x' , )") and marks["g"] == ()


@requirement("CMP-02")
def test_types_that_take_more_or_give_less() -> None:
    assert widens("string", "string | number") and not widens("string | number", "string")
    assert widens("string", "unknown")
    assert narrows("string | undefined", "string") and not narrows("string", "string | undefined")
    assert narrows("Promise < string | null >", "Promise < string >")
    assert widens("{ a : string }", "{ a : string ; b ? : number }", members=True)
    assert widens("{ a : string }", "{ a : string b ? : number }", members=True)
    assert not widens("{ a : string }", "{ a : string ; b : number }", members=True)


@requirement("CMP-02")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app.py", "prod"),
        ("tests/test_app.py", "test"),
        ("web/app.spec.ts", "test"),
        ("pyproject.toml", "build"),
        (".github/workflows/ci.yml", "build"),
        ("Dockerfile", "build"),
        ("package-lock.json", "build"),
        ("docs/guide.rst", "docs"),
        ("README", "docs"),
        ("settings.yaml", "config"),
        (".editorconfig", "config"),
        ("logo.png", "prod"),
    ],
)
def test_what_a_file_is_for(path: str, expected: str) -> None:
    assert category(path) == expected
