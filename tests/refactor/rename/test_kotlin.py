"""Renames of Kotlin through the operations: complete where declarations say what is meant, else asked about."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.marked_sources import definition, plain, renamed
from tests.refactor.test_operations import failed, made, texts

pytestmark = requirement("REF-42")

SHAPES = """package zoo

interface Shape {
    fun «*area»(): Int
}

open class Base {
    open fun area(): Int = 0
}
"""
COMPLETE: dict[str, dict[str, str]] = {
    "implementations and calls through a parameter": {
        "zoo/Shape.kt": SHAPES,
        "zoo/Square.kt": "package zoo\n\nclass Square(val side: Int) : Shape {\n"
        "    override fun «area»(): Int = side\n}\n\n"
        "fun twice(shape: Shape, base: Base): Int = shape.«area»() + base.area()\n",
    },
    "a member inherited without a receiver": {
        "Animal.kt": 'open class Animal {\n    fun «*label»(): String = "a"\n}\n',
        "Dog.kt": "class Dog : Animal() {\n    fun twice(): String = «label»() + this.«label»() + super.«label»()\n}\n",
        "Other.kt": "fun label(n: Int): Int = n\n\nfun go(): Int = label(1)\n",
    },
    "functions of a package and their imports": {
        "a/Text.kt": "package a\n\nfun «*shorten»(text: String): String = text\n",
        "a/Beside.kt": 'package a\n\nval short = «shorten»("b")\n',
        "b/Use.kt": 'package b\n\nimport a.«shorten»\n\nval c = «shorten»("c")\nval d = ::«shorten»\n',
        "b/Star.kt": 'package b.c\n\nimport a.*\n\nval c = «shorten»("c")\n',
        "b/Alias.kt": 'package b.d\n\nimport a.«shorten» as cut\n\nval c = cut("c")\n',
        "c/Own.kt": "package c\n\nfun shorten(n: Int) = n\n\nval e = shorten(1)\n",
    },
    "an override with the defaults of what it overrides": {
        "Finder.kt": "interface Finder {\n    fun «find»(value: Any, deep: Boolean = false): Int\n}\n",
        "Klaxon.kt": "class Klaxon : Finder {\n    override fun «*find»(value: Any, deep: Boolean): Int = 1\n}\n",
        "Use.kt": "class Use(private val klaxon: Klaxon) {\n    fun all(values: List<Any>): List<Int> =\n"
        "        values.map { klaxon.«find»(it) + klaxon.«find»(it, true) + Klaxon().«find»(it) }\n}\n",
    },
    "an extension function": {
        "a/Ext.kt": "package a\n\nclass Box(val width: Int)\n\nfun Box.«*grow»(by: Int): Box = Box(width + by)\n",
        "b/Use.kt": "package b\n\nimport a.Box\nimport a.«grow»\n\nclass Tree {\n    fun grow(n: Int): Int = n\n}\n\n"
        "fun go(box: Box, tree: Tree): Int = box.«grow»(1).width + tree.grow(2)\n\n"
        "fun more(box: Box?): Box? = box?.«grow»(2)\n\nfun within(box: Box): Box = with(box) { «grow»(3) }\n",
    },
    "an extension that an object declares beside a function of its name": {
        "Render.kt": "object Render {\n    fun «*render»(s: String) = StringBuilder().«render»(s).toString()\n\n"
        '    fun all(out: Appendable) {\n        out.«render»("a")\n    }\n\n'
        "    private fun <A : Appendable> A.«render»(s: String): A = this\n}\n",
        "Use.kt": 'fun go(): String = Render.«render»("b")\n',
    },
    "a constant outside of classes, also as a default": {
        "a/Json.kt": 'package a\n\nconst val «*UNSET» = "unset"\n\n'
        "annotation class Json(\n    val name: String = «UNSET»,\n    val index: Int = 1\n)\n"
        "fun Json.isSet() = this.name != «UNSET»\n",
        "b/Use.kt": 'package b\n\nimport a.«UNSET»\n\nval c = "$«UNSET»" + «UNSET»\n',
    },
    "a property of a constructor, by name and copied": {
        "Point.kt": "data class Point(val «*left»: Int, val top: Int)\n",
        "Use.kt": "fun go(): Point {\n    val point = Point(«left» = 1, top = 2)\n    val (left, top) = point\n"
        '    println("${point.«left»} $left")\n    return point.copy(«left» = left + top)\n}\n',
    },
    "a member of a companion": {
        "Box.kt": "class Box private constructor(val size: Int) {\n    companion object {\n"
        "        fun «*empty»(): Box = Box(0)\n    }\n\n    fun other(): Box = «empty»()\n}\n",
        "Use.kt": "class Bag {\n    fun empty(): Int = 1\n}\n\nval box = Box.«empty»()\n"
        "val again = Box.Companion.«empty»()\n"
        "val bag = Bag().empty()\n",
    },
    "a class with its constructor, imports, labels and references": {
        "a/Box.kt": "package a\n\nclass «*Box»(val size: Int) {\n    inner class Lid {\n"
        "        val of = this@«Box».size\n"
        "    }\n}\n",
        "b/Use.kt": "package b\n\nimport a.«Box»\n\nval box: «Box» = «Box»(1)\nval name = «Box»::class\n"
        "val all: List<«Box»> = listOf(box)\n\nfun check(any: Any): Boolean = any is «Box»\n",
        "c/Box.kt": "package c\n\nclass Box\n\nval box = Box()\n",
    },
    "a variable of a lambda and of a smart cast": {
        "Item.kt": "class Item(val «*price»: Int)\n\nclass Other(val price: Int)\n",
        "Use.kt": "fun sum(items: List<Item>) = items.filter { it.«price» > 1 }.sumOf { item -> item.«price» }\n\n"
        "fun of(any: Any): Int = when (any) {\n    is Item -> any.«price»\n    else -> 0\n}\n\n"
        "fun first(items: List<Item>, other: Other): Int = items.first().«price» + other.price\n",
    },
    "a named argument": {
        "A.kt": "fun run(«*count»: Int): Int {\n    return «count»\n}\n",
        "B.kt": "fun go(): Int {\n    return run(«count» = 1)\n}\n\nfun walk(count: Int): Int = count\n\n"
        "fun other(): Int {\n    return walk(count = 1)\n}\n",
    },
    "a member of a second base": {
        "Shape.kt": "open class Base\n\ninterface Shape {\n    fun «*area»(): Int\n}\n",
        "Square.kt": "class Square : Base(), Shape {\n    override fun «area»(): Int = 1\n}\n",
    },
    "members behind a delegate": {
        "Shape.kt": "interface Shape {\n    fun «*area»(): Int\n}\n",
        "Frame.kt": "class Frame(private val inner: Shape) : Shape by inner {\n"
        "    fun twice(): Int = «area»() * 2\n}\n\n"
        "fun go(frame: Frame): Int = frame.«area»()\n",
    },
    "members in a class with a delegate": {
        "Frame.kt": "class Frame(private val inner: Shape) : Shape by inner {\n"
        "    fun «*twice»(): Int = area() * 2\n}\n\n"
        "interface Shape {\n    fun area(): Int\n}\n",
        "Use.kt": "fun go(frame: Frame): Int = frame.«twice»()\n",
    },
    "a lazy property and one of a getter": {
        "Node.kt": "class Node(val «*depth»: Int)\n",
        "Use.kt": "class Tree {\n    private val root by lazy { Node(1) }\n    val top get() = root\n\n"
        "    fun deep(): Int = root.«depth» + top.«depth»\n}\n",
    },
    "an entry of an enum": {
        "Kind.kt": "enum class Kind {\n    «*SMALL», BIG;\n\n    fun isSmall() = this == «SMALL»\n}\n",
        "Use.kt": "import Kind.«SMALL»\n\nfun of(kind: Kind): Int = when (kind) {\n    Kind.«SMALL» -> 1\n"
        "    Kind.BIG -> 2\n}\n\n"
        "val small = «SMALL»\n",
    },
    "members of a lambda with a receiver": {
        "Page.kt": 'class Page {\n    var «*title»: String = ""\n}\n\n'
        "fun page(build: Page.() -> Unit): Page = Page().apply(build)\n",
        "Use.kt": 'class Book {\n    var title: String = "b"\n\n    fun of(): Page = page { «title» = "a" }\n\n'
        "    fun other(): String = listOf(1).map { title }.first()\n}\n\n"
        'val direct = Page().apply { «title» = "c" }\n',
    },
    "what is expected here and made for platforms there": {
        "common/Clock.kt": "package clock\n\nexpect class «*Clock»() {\n    fun now(): Long\n}\n",
        "jvm/Clock.kt": "package clock\n\nactual class «Clock» actual constructor() {\n"
        "    actual fun now(): Long = 1\n}\n",
        "js/Clock.kt": "package clock\n\nactual class «Clock» actual constructor() {\n"
        "    actual fun now(): Long = 2\n}\n",
        "common/Use.kt": "package clock\n\nval clock = «Clock»()\n",
    },
    "names that files say in texts alone": {
        "a/Version.kt": "package a\n\nval «*number» = 1\n",
        "a/Use.kt": 'package a\n\nval text = "v$«number»"\n',
        "a/Other.kt": 'package a\n\nval other = "$«number»"\n',
    },
    "a type that texts name without a path": {
        "a/Unsafe.kt": "package lib.a\n\nclass «*Unsafe»\n",
        "a/Use.kt": 'package lib.a\n\nval unsafe = «Unsafe»()\nval text = "Unsafe" + "not lib.Unsafe at all"\n',
    },
    "a constant in the head of its class": {
        "Json.kt": "class Json(val name: String = «UNSET») {\n    companion object {\n"
        '        const val «*UNSET» = "a"\n    }\n}\n',
    },
    "names in texts": {
        "Use.kt": 'fun go(«*name»: String): String = "a $«name», b$«name» ${«name»} $nameless"\n',
        "Other.kt": 'val name = "b"\nval text = "$name"\n',
    },
    "a parameter that hides nothing": {
        "Use.kt": "class Bag(«*name»: String) {\n    val title = «name».trim()\n\n    fun of(name: String) = name\n}\n",
    },
    "an infix function and a generic reference": {
        "Rule.kt": "class Rule<T> {\n    infix fun «*both»(other: Rule<T>): Rule<T> = other\n}\n",
        "Use.kt": "fun <T> all(rules: List<Rule<T>>): Rule<T> = rules.reduce(Rule<T>::«both»)\n\n"
        "fun of(a: Rule<Int>, b: Rule<Int>): Rule<Int> = a «both» b\n\n"
        "fun both(n: Int): Int = n\n",
    },
    "a class of Java that Kotlin uses": {
        "a/Shop.java": "package a;\n\npublic class Shop {\n    public int «*total»() {\n        return 1;\n    }\n}\n",
        "a/Use.kt": "package a\n\nclass Corner : Shop() {\n    fun twice(): Int = «total»() + Shop().«total»()\n}\n",
    },
    "a class of Kotlin that Java uses": {
        "a/Shop.kt": "package a\n\nopen class Shop {\n    open fun «*total»(): Int = 1\n}\n",
        "a/Use.java": "package a;\n\nclass Use extends Shop {\n    @Override\n    public int «total»() {\n"
        "        return super.«total»() + new Shop().«total»();\n    }\n}\n",
    },
    "a label of a function": {
        "Use.kt": "fun «*each»(items: List<Int>, act: (Int) -> Unit) {\n    for (item in items) act(item)\n}\n\n"
        "fun go() = «each»(listOf(1)) {\n    if (it > 1) return@«each»\n}\n",
    },
    "overloads in several files of a package are one family": {
        "a/Text.kt": "package a\n\nclass Text\n\nfun «*mark»(text: String): Text = Text()\n",
        "a/Number.kt": "package a\n\nfun «mark»(number: Int): Text = Text()\n",
        "a/Other.kt": 'package a\n\nfun String.mark(): Text = Text()\n\nval other = "a".mark()\n',
        "b/Use.kt": 'package b\n\nimport a.*\n\nfun go(key: Any) = listOf(«mark»("a"), «mark»(1), «mark»(key))\n',
    },
    "extensions of what functions of the library make of containers": {
        "a/Item.kt": "package a\n\nclass Item\n\nfun Iterable<Item>.«*pick»(): Int = 1\n",
        "a/Array.kt": "package a\n\nfun Array<Item>.pick(): Int = 2\n",
        "a/Sequence.kt": "package a\n\nfun Sequence<Item>.pick(): Int = 3\n",
        "a/Use.kt": "package a\n\nfun go(all: Array<Item>, more: Sequence<Item>) =\n"
        "    all.asIterable().«pick»() + all.filter { true }.«pick»() + more.toList().«pick»() + all.pick() +\n"
        "        more.pick() + more.map { it }.pick() + all.toList().asSequence().pick() + all.map { it }.«pick»()\n",
    },
    "an object of a file, and one of its name in a program beside it": {
        "lib/Grammar.kt": "package lib\n\nopen class Grammar\n\nfun Grammar.«*parse»(text: String): Int = 1\n",
        "one/Main.kt": 'import lib.*\n\nobject Sum : Grammar()\n\nval a = Sum.«parse»("a")\n',
        "two/Main.kt": "import lib.*\n\nobject Sum {\n    fun parse(text: String): Int = 2\n}\n\n"
        'val b = Sum.parse("b")\n',
    },
    "functions of programs beside each other": {
        "one/Main.kt": 'fun «*parse»(text: String): Int = 1\n\nval a = «parse»("a")\n',
        "two/Main.kt": 'fun parse(text: String): Int = 2\n\nval b = parse("b")\n',
    },
    "private functions of one package": {
        "a/One.kt": "package a\n\nprivate fun «*helper»(n: Int): Int = n\n\nval one = «helper»(1)\n",
        "a/Two.kt": "package a\n\nprivate fun helper(n: Any): Any = n\n\nval two = helper(2)\n",
    },
    "overloads are one family": {
        "Log.kt": "class Log {\n    fun «*write»(text: String) = println(text)\n"
        "    fun «write»(number: Int) = println(number)\n}\n",
        "Use.kt": 'fun go(log: Log) {\n    log.«write»("a")\n    log.«write»(1)\n}\n',
    },
}


@pytest.mark.parametrize("case", COMPLETE)
async def test_a_rename_that_declarations_decide_is_complete(case: str, tmp_path: Path) -> None:
    files = COMPLETE[case]
    root = made(tmp_path, plain(files))
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol=definition(files), new_name="fresh", apply=True))
        assert done["status"] == "applied", done
        assert texts(root) == renamed(files, "fresh")


@pytest.mark.parametrize("case", COMPLETE)
async def test_what_is_used_is_not_deleted(case: str, tmp_path: Path) -> None:
    files = COMPLETE[case]
    root = made(tmp_path, plain(files))
    async with asking(root) as ask:
        asked = await ask("refactor.delete", target=definition(files), apply=True)
        assert failed(asked) in ("STILL_USED", "INVALID_ARGUMENT", "NOT_REFACTORABLE")
    assert texts(root) == plain(files)


ASKED: dict[str, dict[str, str]] = {
    "an override of a base from outside": {
        "A.kt": "import lib.Base\n\nclass A : Base() {\n    override fun «*run»(): Int = 1\n}\n\n"
        "fun go(a: A) = a.«run»()\n",
    },
    "an operator": {"A.kt": "class A {\n    operator fun «*plus»(other: A): A = other\n}\n\nfun go(a: A) = a + a\n"},
    "a receiver that nothing declares": {
        "A.kt": "class A {\n    fun «*size»(): Int = 1\n}\n",
        "B.kt": "import lib.make\n\nfun go(): Int = make().size()\n",
    },
    "a lambda of a function from outside": {
        "A.kt": "import lib.build\n\nclass A {\n    fun «*size»(): Int = 1\n\n    fun go() = build { size() }\n}\n",
    },
    "a type that a text names by its whole path": {
        "a/Unsafe.kt": "package lib.a\n\nannotation class «*Unsafe»\n",
        "build.gradle.kts": 'kotlin { optIn.add("lib.a.Unsafe") }\n',
    },
    "functions of one name in two programs": {
        "one/A.kt": "fun «*size»(): Int = 1\n",
        "two/A.kt": "fun size(): Int = 2\n",
        "three/B.kt": "fun go(): Int = size()\n",
    },
    "two classes of one name": {
        "one/A.kt": "class A {\n    fun «*size»(): Int = 1\n}\n",
        "two/A.kt": "class A {\n    fun size(): Int = 2\n}\n",
        "three/B.kt": "fun go(a: A): Int = a.size()\n",
    },
}


@pytest.mark.parametrize("case", ASKED)
async def test_what_declarations_do_not_decide_is_not_renamed_at_once(case: str, tmp_path: Path) -> None:
    files = ASKED[case]
    root = made(tmp_path, plain(files))
    async with asking(root) as ask:
        envelope = await ask("refactor.rename", symbol=definition(files), new_name="fresh", apply=True)
        if envelope.get("result") is None:
            assert failed(envelope) == "NOT_REFACTORABLE"
        else:
            assert result(envelope)["status"] in ("needs_decision", "previewed")
    assert texts(root) == plain(files)


@requirement("REF-40")
async def test_a_constant_in_use_is_not_deleted_and_one_without_uses_is(tmp_path: Path) -> None:
    files = {
        "a/Json.kt": 'package a\n\nconst val UNSET = "unset"\nconst val SPARE = "spare"\n',
        "a/Use.kt": "package a\n\nclass Json(val name: String = UNSET)\n",
    }
    async with asking(made(tmp_path, files)) as ask:
        assert failed(await ask("refactor.delete", target="a/Json.kt:3:11", apply=True)) == "STILL_USED"
        assert result(await ask("refactor.delete", target="a/Json.kt:4:11", apply=True))["status"] == "applied"
