"""Uses that are not written as the plain name: named arguments, symbols, accessors, attributes."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import edits, failed, made, texts

# Files, the parameter, its new name, and a call that names an argument by it.
NAMED_ARGUMENTS: dict[str, tuple[dict[str, str], str, str, str]] = {
    "csharp constructor": (
        {
            "A.cs": "class A\n{\n    public A(int count)\n    {\n    }\n}\n",
            "B.cs": "class B : A\n{\n    public B() : base(count: 1)\n    {\n    }\n}\n",
        },
        "A.cs:3:18",
        "total",
        "B.cs:3",
    ),
    "scala": (
        {
            "A.scala": "object A {\n  def run(count: Int): Int = count\n}\n",
            "B.scala": "object B {\n  def go(): Int = A.run(count = 1)\n\n  def other(): Int = A.walk(count = 1)\n}\n",
        },
        "A.scala:2:11",
        "total",
        "B.scala:2",
    ),
    "swift": (
        {
            "A.swift": "func run(count: Int) -> Int {\n    return count\n}\n",
            "B.swift": "func go() -> Int {\n    return run(count: 1)\n}\n",
        },
        "A.swift:1:10",
        "total",
        "B.swift:2",
    ),
    "php": (
        {
            "a.php": "<?php\nfunction run($count) {\n    return $count;\n}\n",
            "b.php": "<?php\necho run(count: 1);\necho walk(count: 1);\n",
        },
        "a.php:2:14",
        "$total",
        "b.php:2",
    ),
    "php promoted property": (
        {
            "a.php": "<?php\nclass Box {\n    public function __construct(public int $width) {}\n}\n",
            "b.php": "<?php\nfunction wide(Box $box) {\n    return $box->width;\n}\n",
        },
        "a.php:3:44",
        "$size",
        "b.php:3",
    ),
    "ruby": (
        {
            "a.rb": "class A\n  def run(count:)\n    count\n  end\nend\n",
            "b.rb": "A.new.run count: 1\n",
        },
        "a.rb:3:5",
        "total",
        "b.rb:1",
    ),
}


@requirement("REF-40")
async def test_a_parameter_that_calls_may_name_is_a_question(tmp_path: Path) -> None:
    files = {
        f"{case.replace(' ', '_')}/{path}": text
        for case, (some, _, _, _) in NAMED_ARGUMENTS.items()
        for path, text in some.items()
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        for case, (_, place, new, use) in NAMED_ARGUMENTS.items():
            folder = case.replace(" ", "_")
            found = result(await ask("refactor.rename", symbol=f"{folder}/{place}", new_name=new, apply=True))
            assert found["status"] == "needs_decision", case
            proposed = {f"{one['path']}:{one['line']}" for one in edits(found) if not one["applies"]}
            assert {one for one in proposed if one.startswith(f"{folder}/")} == {f"{folder}/{use}"}, case
    assert texts(root) == files


RUBY = {
    "a.rb": "class A\n  attr_reader :name\n\n  def initialize(name)\n    @name = name\n  end\n\n"
    "  def label\n    1\n  end\n\n  def title=(text)\n    @title = text\n  end\n\n  def spare\n    2\n  end\nend\n",
    "b.rb": "a = A.new('a')\n[a].map(&:label)\na.title = 'b'\n",
}


@requirement("REF-40")
async def test_symbols_and_accessors_of_ruby_are_possible_uses(tmp_path: Path) -> None:
    root = made(tmp_path, RUBY)
    async with asking(root) as ask:
        for place, new, use in (("a.rb:8:7", "text", "b.rb:2"), ("a.rb:2:16", "title", "a.rb:5")):
            found = result(await ask("refactor.rename", symbol=place, new_name=new, apply=True))
            assert found["status"] == "needs_decision", place
            assert use in {f"{one['path']}:{one['line']}" for one in edits(found) if not one["applies"]}
        assert failed(await ask("refactor.rename", symbol="a.rb:12:7", new_name="caption")) == "NOT_REFACTORABLE"
        for place in ("a.rb:8:7", "a.rb:12:7"):
            assert failed(await ask("refactor.delete", target=place, apply=True)) == "STILL_USED"
        assert result(await ask("refactor.delete", target="a.rb:16:7", apply=True))["status"] == "applied"


MIXED = {
    "User.java": "package a;\n\npublic class User {\n    public String getName() {\n        return null;\n    }\n}\n",
    "Use.kt": "package b\n\nimport a.User\n\nfun go(user: User): String {\n    return user.name\n}\n",
    "Box.kt": "package b\n\nclass Box {\n    var height: Int = 1\n    val unused: Int = 2\n}\n\n"
    "fun helper(): Int {\n    return 1\n}\n",
    "Call.java": "package b;\n\nclass Call {\n    int of(Box box) {\n        return box.getHeight() + BoxKt.helper();\n"
    "    }\n}\n",
}


@requirement("REF-40")
@requirement("REF-41")
async def test_uses_between_java_and_kotlin_are_not_left_behind(tmp_path: Path) -> None:
    root = made(tmp_path, MIXED)
    async with asking(root) as ask:
        for place, new, status in (
            ("User.java:4:19", "getTitle", "previewed"),
            ("Box.kt:4:9", "depth", "needs_decision"),
            ("Box.kt:8:5", "aid", "needs_decision"),
        ):
            found = result(await ask("refactor.rename", symbol=place, new_name=new, apply=True))
            assert found["status"] == status, place
            assert failed(await ask("refactor.delete", target=place, apply=True)) == "STILL_USED", place
        assert result(await ask("refactor.delete", target="Box.kt:5:9", apply=True))["status"] == "applied"


# Files, the member, and the place of another that has to keep its name.
SHARED: dict[str, tuple[dict[str, str], str, str]] = {
    "swift": (
        {
            "Shape.swift": "class Base {\n}\n\nprotocol Shape {\n    func area() -> Int\n}\n",
            "Square.swift": "class Square: Base, Shape {\n    func area() -> Int { return 1 }\n}\n",
        },
        "Shape.swift:5:10",
        "Square.swift:2",
    ),
    "scala": (
        {
            "Shape.scala": "class Base\n\ntrait Shape {\n  def area(): Int\n}\n",
            "Square.scala": "class Square extends Base with Shape {\n  def area(): Int = 1\n}\n",
        },
        "Shape.scala:4:7",
        "Square.scala:2",
    ),
    "php": (
        {
            "shape.php": "<?php\ninterface Shape {\n    public function area();\n}\n",
            "square.php": "<?php\nclass Square implements Shape {\n    public function area() {\n"
            "        return 1;\n    }\n}\n",
        },
        "shape.php:3:21",
        "square.php:3",
    ),
    "ruby": (
        {
            "shape.rb": "class Shape\n  def area\n    1\n  end\n\n  def other\n    2\n  end\nend\n",
            "square.rb": "class Square < Shape\n  def area\n    super\n  end\nend\n",
        },
        "shape.rb:2:7",
        "square.rb:2",
    ),
}


@requirement("REF-40")
async def test_a_member_of_a_second_base_in_another_file_is_a_question(tmp_path: Path) -> None:
    files = {f"{case}/{path}": text for case, (some, _, _) in SHARED.items() for path, text in some.items()}
    root = made(tmp_path, files)
    async with asking(root) as ask:
        for case, (_, place, other) in SHARED.items():
            found = result(await ask("refactor.rename", symbol=f"{case}/{place}", new_name="extent", apply=True))
            assert found["status"] == "needs_decision", case
            proposed = {f"{one['path']}:{one['line']}" for one in edits(found) if not one["applies"]}
            assert f"{case}/{other}" in proposed, case
            assert failed(await ask("refactor.delete", target=f"{case}/{place}", apply=True)) == "STILL_USED", case
    assert texts(root) == files


BY_LANGUAGE: dict[str, tuple[str, str]] = {
    "V.kt": ("class V(val x: Int) {\n    operator fun plus(other: V): V = V(x + other.x)\n}\n", "V.kt:2:18"),
    "A.scala": ("object A {\n  def apply(n: Int): Int = n\n\n  def other: Int = A(1)\n}\n", "A.scala:2:7"),
    "a.php": ("<?php\nclass A {\n    public function __toString() {\n        return 'a';\n    }\n}\n", "a.php:3:21"),
    "a.rb": ("class A\n  def initialize\n    @x = 1\n  end\nend\n", "a.rb:2:7"),
    "B.swift": ("struct B {\n    func callAsFunction() -> Int { return 1 }\n}\n", "B.swift:2:10"),
}


@requirement("REF-40")
@requirement("REF-41")
async def test_what_a_language_calls_without_its_name_is_neither_renamed_nor_deleted(tmp_path: Path) -> None:
    root = made(tmp_path, {path: text for path, (text, _) in BY_LANGUAGE.items()})
    async with asking(root) as ask:
        for _, place in BY_LANGUAGE.values():
            assert failed(await ask("refactor.rename", symbol=place, new_name="other")) == "NOT_REFACTORABLE", place
            assert failed(await ask("refactor.delete", target=place, apply=True)) == "STILL_USED", place


PROMISED: dict[str, tuple[str, str]] = {
    "a.php": (
        "<?php\nclass A implements \\Countable {\n    public function count() {\n        return 1;\n    }\n}\n",
        "a.php:3:21",
    ),
    "A.swift": ("struct A {\n}\n\nextension A: Thing {\n    func ask() -> Int { return 1 }\n}\n", "A.swift:5:10"),
    "A.scala": ("class A extends Thing {\n  def ask(): Int = 1\n}\n", "A.scala:2:7"),
}


@requirement("REF-40")
async def test_a_member_that_a_base_from_outside_may_ask_for_is_a_question(tmp_path: Path) -> None:
    root = made(tmp_path, {path: text for path, (text, _) in PROMISED.items()})
    async with asking(root) as ask:
        for _, place in PROMISED.values():
            found = result(await ask("refactor.rename", symbol=place, new_name="other", apply=True))
            assert found["status"] == "previewed", place
