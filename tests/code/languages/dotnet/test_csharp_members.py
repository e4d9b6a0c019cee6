"""Names of C#, followed by namespaces, usings, partial types, declared types and inheritance."""

from pathlib import Path

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-50")

ZOO = {
    "Animal.cs": (
        "namespace Zoo {\n"
        "  public abstract class Animal : ILabelled {\n"
        "    protected string name;\n"
        "    public virtual string Label() { return name; }\n"
        "    public static int Count = 0;\n"
        "    public Animal Parent { get; set; }\n"
        "    public class Tag { public string Text; }\n"
        "  }\n"
        "  public interface ILabelled { string Label(); }\n"
        "}\n"
    ),
    "Dog.cs": (
        "using System.Collections.Generic;\n"
        "using System.Linq;\n"
        "namespace Zoo {\n"
        "  public partial class Dog : Animal {\n"
        "    public override string Label() { return base.Label() + this.name + name; }\n"
        "    string Twice(List<Dog> all, Animal[] few, Dictionary<string, Animal> by) {\n"
        "      foreach (var one in all) one.Bark();\n"
        '      all[0].Bark(); few[0].Label(); by["a"].Label();\n'
        "      all.Where(one => one.Bark() != null).First().Bark();\n"
        "      var made = new Dog { Parent = null };\n"
        "      made?.Bark();\n"
        "      if (few[1] is Dog other) other.Bark();\n"
        "      return made.Parent.Label() + Animal.Count + Bark();\n"
        "    }\n"
        "  }\n"
        "}\n"
    ),
    "Dog.More.cs": "namespace Zoo;\npartial class Dog\n{\n  public string Bark() { return null; }\n}\n",
    "Main.cs": (
        "using static Zoo.Animal;\n"
        "using Pet = Zoo.Dog;\n"
        "namespace App {\n"
        "  using Zoo;\n"
        "  class Main {\n"
        "    Dog dog; Zoo.Dog other; Pet pet; Tag tag;\n"
        "    string Bark() { return dog.Bark() + pet.Bark() + Count + Unknown().Bark(); }\n"
        "    string Loud(Other one) { return one.Bark(); }\n"
        "  }\n"
        "  class Other { public string Bark() { return null; } }\n"
        "}\n"
    ),
    "Else.cs": "namespace Else { class Dog { void Bark() {} } }\n",
}


def _lines(found: dict[str, str], *tiers: str) -> set[str]:
    return {place.rpartition(":")[0] for place, tier in found.items() if tier in tiers}


def test_a_method_is_followed_to_its_calls(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        found = repo.uses("Dog.More.cs:4:17")
        assert _lines(found, "PROVEN", "STRONG") == {
            "Dog.More.cs:4", "Dog.cs:7", "Dog.cs:8", "Dog.cs:9", "Dog.cs:11", "Dog.cs:12", "Dog.cs:13", "Main.cs:7",
        }  # fmt: skip
        assert sum(place.startswith("Dog.cs:9:") for place in found) == 2
        assert _lines(found, "ANCHORED", "UNKNOWN") == {"Main.cs:7"}


def test_a_partial_type_is_one(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        for place in ("Dog.cs:4:24", "Dog.More.cs:2:15"):
            found = repo.uses(place)
            assert set(found.values()) <= {"PROVEN", "STRONG"}
            assert _lines(found, "PROVEN", "STRONG") == {
                "Dog.cs:4", "Dog.cs:6", "Dog.cs:10", "Dog.cs:12", "Dog.More.cs:2", "Main.cs:2", "Main.cs:6",
            }  # fmt: skip


def test_inherited_members_are_reached_by_bare_names_and_receivers(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        assert sorted(repo.uses("Animal.name")) == [
            "Animal.cs:3:22", "Animal.cs:4:44", "Dog.cs:5:65", "Dog.cs:5:72",
        ]  # fmt: skip
        assert _lines(repo.uses("Animal.Count"), "PROVEN", "STRONG") == {"Animal.cs:5", "Dog.cs:13", "Main.cs:7"}
        assert _lines(repo.uses("Animal.Parent"), "PROVEN", "STRONG") == {"Animal.cs:6", "Dog.cs:10", "Dog.cs:13"}
        assert _lines(repo.uses("Animal.Tag"), "PROVEN", "STRONG") == {"Animal.cs:7", "Main.cs:6"}


def test_constants_of_a_nested_enum_are_members_of_it(tmp_path: Path) -> None:
    files = {
        "A.cs": "class A {\n  enum Kind { Red, Blue }\n  Kind kind;\n"
        "  int Of() { switch (kind) { case Kind.Red: return 1; } return kind == Kind.Red ? 1 : 2; }\n}\n"
    }
    with written(tmp_path / "repo", files) as repo:
        assert sorted(repo.uses("A.Kind.Red").values()) == ["PROVEN", "STRONG", "STRONG"]
        assert len(repo.uses("A.Kind")) == 4


def test_a_type_parameter_has_the_members_of_its_constraints(tmp_path: Path) -> None:
    files = {
        "A.cs": "interface IShape { int Area(); }\n"
        "class Plot<T> where T : IShape, new() {\n  T one;\n"
        "  int Sum<S>(S other) where S : IShape { return one.Area() + other.Area(); }\n"
        "  int Of<U>(Missing gone) { return gone.Area(); }\n}\n"
    }
    with written(tmp_path / "repo", files) as repo:
        assert list(repo.uses("IShape.Area").values()) == ["PROVEN", "STRONG", "STRONG"]


def test_a_receiver_that_is_not_known_is_proposed(tmp_path: Path) -> None:
    files = {
        "A.cs": "class A {\n  public int Area() { return 1; }\n"
        "  int Of(dynamic any, (A left, int n) pair) { return any.Area() + pair.left.Area(); }\n"
        "  int From(System.Collections.Generic.List<A> all) {\n"
        "    var q = from one in all select one.Area();\n    return all.Select(one => one).First().Area();\n  }\n}\n"
    }
    with written(tmp_path / "repo", files) as repo:
        found = repo.uses("A.Area")
        assert {place.rpartition(":")[0]: tier for place, tier in found.items()} == {
            "A.cs:2": "PROVEN", "A.cs:3": "ANCHORED", "A.cs:5": "ANCHORED", "A.cs:6": "ANCHORED",
        }  # fmt: skip
        assert len(found) == 5


PARSERS = {
    "Parser.cs": (
        "using System;\n"
        "namespace Parsing {\n"
        "  public delegate Result<T> Parser<out T>(Input input);\n"
        "  public class Input { public char Current; public Input Advance() { return this; } }\n"
        "  public class Result<T> { public T Value; public Input Rest; }\n"
        "  public class Other { public char Current; public Input Rest; public int Value; }\n"
        "  public static class Parse {\n"
        "    public static Parser<char> One() { return i => { char c = i.Current; return null; }; }\n"
        "    public static Parser<char> Two => i => Make(i.Current);\n"
        "    static Result<char> Make(char c) { return null; }\n"
        "    static void Run(Parser<char> first, Func<int, Parser<char>> second, Input input) {\n"
        "      var a = first(input).Rest;\n"
        "      var b = second(1)(input);\n"
        "      Use(a.Current, b.Rest.Current, b.Value);\n"
        "    }\n"
        "    static void Use(char a, char b, char c) { }\n"
        "  }\n"
        "}\n"
    )
}


def test_lambdas_and_calls_of_delegates_have_the_types_that_these_declare(tmp_path: Path) -> None:
    with written(tmp_path / "repo", PARSERS) as repo:
        current = repo.uses("Parser.cs:4:36")
        assert {place: tier for place, tier in current.items() if tier != "PROVEN"} == {
            "Parser.cs:8:65": "STRONG",
            "Parser.cs:9:51": "STRONG",
            "Parser.cs:14:13": "STRONG",
            "Parser.cs:14:29": "STRONG",
        }
        assert repo.uses("Parser.cs:5:57") == {
            "Parser.cs:5:57": "PROVEN",
            "Parser.cs:12:28": "STRONG",
            "Parser.cs:14:24": "STRONG",
        }


def test_what_is_read_from_a_value_is_no_type(tmp_path: Path) -> None:
    files = {
        "Position.cs": (
            "namespace Shop.Text {\n"
            "  public class Position { public Position(int at) { } public static int Zero; }\n}\n"
        ),
        "Use.cs": (
            "using Shop.Text;\n"
            "class Use {\n"
            "  dynamic cursor;\n"
            "  int Find(dynamic i, bool ready) {\n"
            "    if (ready) Shop.Text.Position.Zero = 1;\n"
            "    return i.Position + i.Rest.Position + Make(i).Position + this.cursor.Position + Far.Position.Zero;\n"
            "  }\n"
            "}\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        found = repo.uses("Position.cs:2:16")
        assert found.pop("Use.cs:5:26") == "STRONG"
        assert not [place for place in found if place.startswith("Use.cs")]


GENERIC = {
    "Option.cs": (
        "using System;\n"
        "using System.Collections.Generic;\n"
        "namespace Generic {\n"
        "  public class Option<T> { public T Get() { return default(T); } }\n"
        "  public class Item { public int Price; }\n"
        "  public static class Make {\n"
        "    public static Option<T> Of<T>(T value) { return null; }\n"
        "    public static Option<T> Any<T>(object made) { return null; }\n"
        "    public static Option<IList<T>> Listed<T>(this Option<T> option) { return null; }\n"
        "    public static void Each<T>(this Option<T> option, Action<T> then) { }\n"
        "    static int Run() {\n"
        "      var of = Of(new Item()).Get().Price;\n"
        "      var listed = Of(new Item()).Listed().Get()[0].Price;\n"
        "      var written = Any<Item>(null).Get().Price;\n"
        "      Of(new Item()).Each(item => Console.WriteLine(item.Price));\n"
        "      return Found().Get().Price;\n"
        "    }\n"
        "    static Option<Item> Found() { return null; }\n"
        "    static T Passed<T>(Func<T> made) { return made(); }\n"
        "    static int Last() { return Passed(() => new Item()).Price; }\n"
        "  }\n"
        "}\n"
    )
}


def test_calls_of_generic_methods_give_what_their_arguments_say(tmp_path: Path) -> None:
    with written(tmp_path / "repo", GENERIC) as repo:
        prices = repo.uses("Option.cs:5:34")
        assert prices.pop("Option.cs:20:57") == "ANCHORED"
        assert sorted(prices) == [
            "Option.cs:12:37",
            "Option.cs:13:53",
            "Option.cs:14:43",
            "Option.cs:15:58",
            "Option.cs:16:28",
            "Option.cs:5:34",
        ]
        assert set(prices.values()) == {"PROVEN", "STRONG"}


def test_the_name_of_a_class_means_the_class_where_its_constructors_are_inherited(tmp_path: Path) -> None:
    files = {
        "Status.cs": (
            "namespace S {\n"
            "  public class Status {\n"
            "    public Status() { }\n"
            "    public static int Max;\n"
            "    int Own() { return Status.Max + nameof(Status).Length; }\n"
            "  }\n"
            "  class Sub : Status {\n"
            "    bool Of(object o) { return o is not Status && Status.Max > nameof(Status).Length; }\n"
            "  }\n"
            "}\n"
        )
    }
    with written(tmp_path / "repo", files) as repo:
        found = repo.uses("Status.cs:2:16")
        lines = [int(place.split(":")[1]) for place in found]
        assert [lines.count(line) for line in (2, 3, 5, 7, 8)] == [1, 1, 2, 1, 3]
        assert set(found.values()) == {"PROVEN"}


def test_a_constant_is_reached_through_a_namespace_that_is_named_from_the_one_around(tmp_path: Path) -> None:
    files = {
        "Info.cs": "namespace S.Inner\n{\n    public class Info\n    {\n"
        "        public enum Timing { Now, Later }\n    }\n}\n",
        "Main.cs": "namespace S\n{\n    public class Main\n    {\n"
        "        object One() { return Inner.Info.Timing.Later; }\n    }\n}\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert _lines(repo.uses("Info.cs:5:35"), "PROVEN", "STRONG") == {"Info.cs:5", "Main.cs:5"}


def test_types_of_the_repository_come_before_what_a_class_from_outside_may_bring(tmp_path: Path) -> None:
    files = {
        "Kind.cs": "namespace S\n{\n    public static class Box { public static int Size() { return 1; } }\n}\n",
        "Main.cs": "using static System.Math;\n\nnamespace S\n{\n    public class Main\n    {\n"
        "        public enum Kind { One }\n"
        "        object Make() { return Kind.One; }\n        int Of() { return Box.Size() + Max(1, 2); }\n    }\n}\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert _lines(repo.uses("Main.cs:7:28"), "PROVEN", "STRONG") == {"Main.cs:7", "Main.cs:8"}
        assert _lines(repo.uses("Main.cs:7:21"), "PROVEN", "STRONG") == {"Main.cs:7", "Main.cs:8"}
        assert _lines(repo.uses("Kind.cs:3:25"), "PROVEN", "STRONG") == {"Kind.cs:3", "Main.cs:9"}
        assert _lines(repo.uses("Box.Size"), "PROVEN", "STRONG") == {"Kind.cs:3", "Main.cs:9"}


def test_named_arguments_of_constructors_are_parameters_and_no_fields(tmp_path: Path) -> None:
    text = (
        "class Box\n{\n    int size;\n    Box(int size) { this.size = size; }\n"
        "    static Box Make() { return new Box(size: 2); }\n}\n"
    )
    with written(tmp_path / "repo", {"Box.cs": text}) as repo:
        assert sorted(repo.uses("Box.cs:3:9")) == ["Box.cs:3:9", "Box.cs:4:26"]
        assert sorted(repo.uses("Box.cs:4:13")) == ["Box.cs:4:13", "Box.cs:4:33", "Box.cs:5:40"]


def test_extensions_of_sequences_are_followed_to_collections(tmp_path: Path) -> None:
    text = (
        "using System.Collections.Generic;\nusing Names = System.Collections.Generic.List<string>;\n\n"
        "static class More\n{\n"
        "    static int Width<T>(this IEnumerable<T> all) { return 1; }\n"
        "    static int First<T>(this IEnumerable<T> all) { return 1; }\n"
        "    static int F(List<int> a, int[] b, Names c, Other d)\n    {\n"
        "        return a.Width() + b.Width() + c.Width() + d.Width() + a.First();\n    }\n}\n"
    )
    with written(tmp_path / "repo", {"More.cs": text}) as repo:
        found = repo.uses("More.Width")
        assert [found.get(f"More.cs:10:{at}") for at in (18, 30, 42)] == ["STRONG"] * 3
        assert "ANCHORED" in repo.uses("More.First").values()
