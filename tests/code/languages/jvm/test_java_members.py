"""Names of Java, followed by packages, imports, declared types and inheritance."""

from pathlib import Path

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-50")

ZOO = {
    "main/zoo/Animal.java": (
        "package zoo;\n"
        "public class Animal {\n"
        "  protected String name;\n"
        "  public String label() { return name; }\n"
        "  static int count;\n"
        "  static Animal create(int legs) { return new Animal(); }\n"
        "  static Animal create(String text) { return create(1); }\n"
        "  class Tag { String text() { return label() + name; } }\n"
        "  static class Box<T extends Animal> { T inside; T get() { return inside; } }\n"
        "}\n"
    ),
    "main/zoo/Dog.java": (
        "package zoo;\n"
        "import java.util.List;\n"
        "class Dog extends Animal {\n"
        "  String label;\n"
        "  @Override public String label() { return label + super.label() + this.name; }\n"
        "  String twice(List<Animal> all, Animal[] few, Box<Dog> box) {\n"
        "    for (Animal one : all) one.label();\n"
        "    for (var one : all) one.label();\n"
        "    all.get(0).label(); few[1].label(); box.get().label(); box.inside.label();\n"
        "    var made = Animal.create(1); made.label();\n"
        "    ((Animal) null).label();\n"
        "    Runnable r = () -> label();\n"
        "    new Object() { void m() { label(); } };\n"
        "    return name + count;\n"
        "  }\n"
        "}\n"
    ),
    "test/zoo/AnimalTest.java": (
        "package zoo;\n"
        "class AnimalTest {\n"
        "  Animal animal = new Animal() { @Override public String label() { return name; } };\n"
        "  void test(Other other, Unknown unknown) {\n"
        "    animal.label(); other.label(); unknown.label(); other.animal().label();\n"
        "    String name = animal.name; name.label();\n"
        "  }\n"
        "}\n"
    ),
    "main/zoo/Other.java": (
        "package zoo;\nclass Other { String label() { return null; } Animal animal() { return null; } }\n"
    ),
    "main/app/Main.java": (
        "package app;\n"
        "import static zoo.Animal.create;\n"
        "import zoo.Animal;\n"
        "import zoo.Animal.Tag;\n"
        "class Main { Animal a = create(2); zoo.Animal b; Tag tag; Object c = zoo.Animal.create(3); }\n"
    ),
    "other/zoo/Animal.java": "package other.zoo;\nclass Animal { String label() { return null; } }\n",
}


def test_a_method_is_followed_to_its_calls(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        found = repo.uses("main/zoo/Animal.java:4:17")
        assert found == {
            "main/zoo/Animal.java:4:17": "PROVEN",
            "main/zoo/Animal.java:8:38": "PROVEN",
            "main/zoo/Dog.java:5:58": "STRONG",
            "main/zoo/Dog.java:7:32": "STRONG",
            "main/zoo/Dog.java:8:29": "STRONG",
            "main/zoo/Dog.java:9:16": "STRONG",
            "main/zoo/Dog.java:9:32": "STRONG",
            "main/zoo/Dog.java:10:39": "STRONG",
            "main/zoo/Dog.java:11:21": "STRONG",
            "test/zoo/AnimalTest.java:5:12": "STRONG",
            "test/zoo/AnimalTest.java:5:68": "STRONG",
        }


def test_a_field_is_not_the_method_of_its_name(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        assert repo.uses("main/zoo/Dog.java:4:10") == {
            "main/zoo/Dog.java:4:10": "PROVEN",
            "main/zoo/Dog.java:5:44": "PROVEN",
        }
        assert repo.uses("main/zoo/Dog.java:5:27") == {
            "main/zoo/Dog.java:5:27": "PROVEN",
            "main/zoo/Dog.java:9:51": "STRONG",
            "main/zoo/Dog.java:9:71": "STRONG",
            "main/zoo/Dog.java:12:24": "PROVEN",
            "main/zoo/Dog.java:13:31": "PROVEN",
        }


def test_an_inherited_field_is_read_by_its_bare_name(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        assert repo.uses("Animal.name") == {
            "main/zoo/Animal.java:3:20": "PROVEN",
            "main/zoo/Animal.java:4:34": "PROVEN",
            "main/zoo/Animal.java:8:48": "PROVEN",
            "main/zoo/Dog.java:5:73": "STRONG",
            "main/zoo/Dog.java:14:12": "STRONG",
            "test/zoo/AnimalTest.java:3:75": "STRONG",
            "test/zoo/AnimalTest.java:6:26": "STRONG",
        }


def test_a_static_method_is_imported(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        found = repo.uses("Animal.create")
        assert {place: tier for place, tier in found.items() if place.startswith("main/app")} == {
            "main/app/Main.java:2:26": "STRONG",
            "main/app/Main.java:5:25": "STRONG",
            "main/app/Main.java:5:81": "STRONG",
        }


def test_a_type_is_that_of_its_package(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        found = repo.uses("main/zoo/Animal.java:2:14")
        assert not any(place.startswith("other/") for place in found)
        assert set(found.values()) == {"PROVEN", "STRONG"}
        assert {place for place in found if place.startswith("main/app")} == {
            "main/app/Main.java:2:19",
            "main/app/Main.java:3:12",
            "main/app/Main.java:4:12",
            "main/app/Main.java:5:14",
            "main/app/Main.java:5:40",
            "main/app/Main.java:5:74",
        }
        assert "main/app/Main.java:4:19" in repo.uses("Animal.Tag")


CALLS = {
    "Kind.java": "enum Kind { RED, BLUE; static final int GREEN = 1; }\n",
    "Base.java": (
        "class Base {\n"
        "  static Base get(Class<?> of) { return null; }\n"
        "  static Base get(String text) { return null; }\n"
        "}\n"
    ),
    "Made.java": (
        "import java.lang.annotation.ElementType;\n"
        "import java.util.*;\n"
        "import java.util.function.Function;\n"
        "class Made extends Base {\n"
        "  static final int TYPE = 2;\n"
        "  String name;\n"
        "  static Made get(Kind kind) { return null; }\n"
        "  int use(Kind kind, ElementType element, List<Made> all, Map<String, Made> by, Function<Made, String> f) {\n"
        '    Made.get(kind).name = get("a").toString() + get(Kind.class);\n'
        "    switch (kind) { case RED: return 1; case BLUE: break; }\n"
        "    switch (element) { case TYPE: return TYPE; default: break; }\n"
        "    all.forEach(one -> one.name.length());\n"
        "    all.stream().filter(one -> one.name != null).map(one -> one.name);\n"
        "    for (Map.Entry<String, Made> one : by.entrySet()) one.getValue().name = one.getKey();\n"
        "    Function<Made, String> g = made -> made.name;\n"
        "    if (f instanceof Made other) { return other.name.length(); }\n"
        "    return 0;\n"
        "  }\n"
        "}\n"
    ),
}


def test_overloads_of_a_base_are_told_apart_by_their_arguments(tmp_path: Path) -> None:
    with written(tmp_path / "repo", CALLS) as repo:
        assert repo.uses("Made.get") == {"Made.java:7:15": "PROVEN", "Made.java:9:10": "STRONG"}
        assert repo.uses("Base.get") == {
            "Base.java:2:15": "PROVEN",
            "Base.java:3:15": "PROVEN",
            "Made.java:9:27": "STRONG",
            "Made.java:9:49": "STRONG",
        }


def test_labels_of_a_switch_are_constants_of_its_enum(tmp_path: Path) -> None:
    with written(tmp_path / "repo", CALLS) as repo:
        assert repo.uses("Kind.RED") == {"Kind.java:1:13": "PROVEN", "Made.java:10:26": "STRONG"}
        assert repo.uses("Made.TYPE") == {"Made.java:5:20": "PROVEN", "Made.java:11:42": "PROVEN"}


def test_lambdas_and_containers_have_the_items_that_are_declared(tmp_path: Path) -> None:
    with written(tmp_path / "repo", CALLS) as repo:
        found = repo.uses("Made.name")
        assert sorted(int(place.split(":")[1]) for place in found) == [6, 9, 12, 13, 13, 14, 15, 16]
        assert set(found.values()) <= {"PROVEN", "STRONG"}


def test_a_type_is_made_by_its_name_beside_a_constant_of_that_name(tmp_path: Path) -> None:
    files = {
        "C.java": "import java.net.URL;\nimport java.util.function.Function;\ninterface C {\n"
        "  Function<String, URL> URL = URL::new;\n  class Box { Box(String text) {} }\n"
        "  Function<String, Box> Box = C.Box::new;\n  Object both = Box;\n}\n"
    }
    with written(tmp_path / "repo", files) as repo:
        assert list(repo.uses("C.java:4:25")) == ["C.java:4:25"]
        assert list(repo.uses("C.java:6:25")) == ["C.java:6:25", "C.java:7:17"]
        assert list(repo.uses("C.java:5:9")) == ["C.java:5:9", "C.java:5:15", "C.java:6:20", "C.java:6:33"]


def test_a_class_literal_and_what_is_made_from_texts_tell_methods_apart(tmp_path: Path) -> None:
    files = {
        "Base.java": "import java.lang.reflect.Type;\nclass Base {\n  static Base get(Type of) { return null; }\n"
        "  boolean contains(String part) { return true; }\n"
        "  Base add(Base... all) { return null; }\n}\n",
        "Made.java": "import javax.lang.model.type.WildcardType;\nclass Made extends Base {\n"
        "  static Made get(WildcardType of) { return null; }\n"
        "  Made add(java.util.List<Base> all) { return null; }\n}\n",
        "Use.java": "import static lib.Check.assertThat;\nclass Use {\n"
        '  void use() { Made.get(Object.class); assertThat("a").contains("b");\n'
        "    assertThat(new Base()).contains(1); new Made().add(new Base()).contains(null); }\n}\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert list(repo.uses("Made.get")) == ["Made.java:3:15"]
        assert repo.uses("Base.get")["Use.java:3:21"] == "STRONG"
        assert repo.uses("Base.add")["Use.java:4:52"] == "STRONG"
        assert sorted(repo.uses("Base.contains").values()) == ["ANCHORED", "PROVEN", "STRONG"]


def test_fields_from_outside_may_hold_what_their_type_is_made_of(tmp_path: Path) -> None:
    files = {
        "A.java": (
            "package a;\n"
            "import lib.Base;\n"
            "class Status { int kind; }\n"
            "class A extends Base<Status> {\n"
            "  void f(lib.Box<Status> box, lib.Plain plain) {\n"
            "    int a = this.item.kind + new A().item.kind;\n"
            "    var held = box.held; a = held.kind + plain.held.kind;\n"
            "  }\n"
            "}\n"
        )
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("A.java:3:20") == {
            "A.java:3:20": "PROVEN",
            "A.java:6:23": "ANCHORED",
            "A.java:6:43": "ANCHORED",
            "A.java:7:35": "ANCHORED",
        }


def test_types_are_reached_beside_everything_that_a_class_from_outside_brings(tmp_path: Path) -> None:
    files = {
        "zoo/Texts.java": "package zoo;\n\npublic class Texts {\n    public static String of() { return null; }\n}\n",
        "app/Main.java": "package app;\n\nimport static java.util.Collections.*;\n\nimport zoo.Texts;\n\nclass Main {\n"
        "    String name() { return Texts.of(); }\n    Object many() { return singleton(Texts.of()); }\n}\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("zoo/Texts.java:3:14") == {
            "zoo/Texts.java:3:14": "PROVEN",
            "app/Main.java:5:12": "STRONG",
            "app/Main.java:8:28": "STRONG",
            "app/Main.java:9:38": "STRONG",
        }
        assert set(repo.uses("Texts.of")) == {"zoo/Texts.java:4:26", "app/Main.java:8:34", "app/Main.java:9:44"}
