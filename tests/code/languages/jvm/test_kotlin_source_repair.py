"""Valid Kotlin on one line, which the grammar alone does not read."""

import pytest

from codeplane.code.facts.extract import extractor
from codeplane.code.languages.jvm.kotlin_source_repair import blank_delegates
from codeplane.code.languages.registry import LANGUAGES
from tests.interaction.requirements import requirement

pytestmark = requirement("FCT-18")

VALID = (
    "class Dog : Animal() { fun twice() = label() }",
    "class A(val x: Int) { fun f() = x }",
    "object O { val x = 1 }",
    "class A { val x = 1; fun f() {} }",
    "enum class E { A, B; fun f() = 1 }",
    "class A { companion object { const val X = 1 } }",
    "interface I { fun f() }",
    "sealed class S { object A : S() }",
    "class A { fun f() { } fun g() { } }",
    "class A { init { println() } }",
    "fun interface F { fun f(): Int }",
    "class A { val x: Int get() = 1 }",
    "class A { fun <T> f(x: T): T = x }",
    "class A { lateinit var x: String }",
    "class A { class B; inner class C }",
    "class A { operator fun plus(o: A) = o }",
    'class A { fun f(): String { return "a }" } }',
    'open class A { open fun label() = "a"; fun b() = 2 }',
    "class A { val a = 1; val b = 2 }",
    "class A\nprivate constructor(private val x: Int) : B { fun f() = x }",
)


@pytest.mark.parametrize("text", VALID)
def test_members_of_one_line_are_read(text: str) -> None:
    facts = extractor(LANGUAGES["kotlin"]).facts(f"{text}\n".encode())
    assert facts.errors == 0
    assert len(facts.definitions) > (0 if "init" in text else 1)


DELEGATING = (
    "class A(val b: I) : I by b {\n    fun f() = 1\n}\n",
    "class A(b: I) : Base(), I\nby b {\n    fun f() = 1\n}\n",
    "val a = object : I<Int> by make(1) {\n    fun f() = 1\n}\n",
)


@pytest.mark.parametrize("text", DELEGATING)
def test_the_body_behind_a_delegate_is_that_of_the_class(text: str) -> None:
    facts = extractor(LANGUAGES["kotlin"]).facts(text.encode())
    assert facts.errors == 0
    assert [one.kind for one in facts.definitions if one.name == "f"] == ["method"]


def test_a_property_with_a_delegate_keeps_it() -> None:
    text = b"class A {\n    val a: Int by lazy { make() }\n}\n"
    assert blank_delegates(text) == text
