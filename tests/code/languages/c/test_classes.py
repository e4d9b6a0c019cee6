"""Members of C++: definitions outside of classes, implicit `this`, bases, namespaces and constructors."""

from pathlib import Path

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-57")

ZOO = {
    "zoo.h": (
        "#pragma once\n"
        "#include <memory>\n"
        "#include <vector>\n"
        "namespace zoo {\n"
        "class ZOO_EXPORT Animal {\n"
        " public:\n"
        "  explicit Animal(int legs);\n"
        "  virtual ~Animal();\n"
        "  virtual int speak() const;\n"
        "  int legs() const { return legs_; }\n"
        " private:\n"
        "  int legs_ GUARDED_BY(mu_);\n"
        "};\n"
        "class Dog : public Animal {\n"
        " public:\n"
        "  Dog();\n"
        "  int speak() const override { return legs() + 1; }\n"
        "};\n"
        "struct Kennel { std::vector<Dog*> dogs; std::unique_ptr<Dog> first; };\n"
        "enum class Kind { kDog, kCat };\n"
        "int count(const Animal& a);\n"
        "}  // namespace zoo\n"
    ),
    "zoo.cc": (
        '#include "zoo.h"\n'
        "namespace zoo {\n"
        "Animal::Animal(int legs) : legs_(legs) {}\n"
        "Animal::~Animal() = default;\n"
        "int Animal::speak() const { return legs_ + this->legs_ + legs(); }\n"
        "Dog::Dog() : Animal(4) {}\n"
        "int count(const Animal& a) { return a.legs(); }\n"
        "}\n"
    ),
    "main.cc": (
        '#include "zoo.h"\n'
        "using zoo::Dog;\n"
        "struct Car { int speak() { return 1; } int legs_; };\n"
        "template <class T> int say(const T& t) { return t.speak(); }\n"
        "int main() {\n"
        "  Dog dog; Car car; zoo::Kennel k;\n"
        "  for (Dog* d : k.dogs) d->speak();\n"
        "  for (auto* d : k.dogs) d->speak();\n"
        "  auto made = new zoo::Dog();\n"
        "  made->speak(); k.first->speak(); k.dogs[0]->speak();\n"
        "  car.legs_ = car.speak();\n"
        "  return dog.speak() + zoo::count(dog) + (int)zoo::Kind::kDog;\n"
        "}\n"
    ),
}


def test_a_virtual_method_is_found_by_the_type_of_its_receiver(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        assert repo.uses("zoo.h:17:7") == {
            "main.cc:10:27": "STRONG",
            "main.cc:10:47": "STRONG",
            "main.cc:10:9": "STRONG",
            "main.cc:12:14": "STRONG",
            "main.cc:4:51": "ANCHORED",
            "main.cc:7:28": "STRONG",
            "main.cc:8:29": "STRONG",
            "zoo.h:17:7": "PROVEN",
        }


def test_a_method_and_its_definition_elsewhere_are_one_symbol(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        for query in ("zoo.h:9:15", "zoo.cc:5:13"):
            uses = repo.uses(query)
            assert set(uses) == {"zoo.h:9:15", "zoo.cc:5:13", "main.cc:4:51"}
            assert uses["main.cc:4:51"] == "ANCHORED"


def test_members_are_reached_without_a_receiver(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        assert repo.uses("zoo.h:12:7") == {
            "zoo.h:10:29": "PROVEN",
            "zoo.h:12:7": "PROVEN",
            "zoo.cc:3:28": "STRONG",
            "zoo.cc:5:36": "STRONG",
            "zoo.cc:5:50": "STRONG",
        }
        assert repo.uses("zoo.h:10:7") == {
            "zoo.h:10:7": "PROVEN",
            "zoo.h:17:39": "PROVEN",
            "zoo.cc:5:58": "STRONG",
            "zoo.cc:7:39": "STRONG",
        }


def test_a_class_has_its_constructors_and_destructor(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        assert set(repo.uses("zoo.h:5:18")) == {
            "zoo.h:5:18",
            "zoo.h:7:12",
            "zoo.h:8:12",
            "zoo.h:14:20",
            "zoo.h:21:17",
            "zoo.cc:3:1",
            "zoo.cc:3:9",
            "zoo.cc:4:1",
            "zoo.cc:4:10",
            "zoo.cc:5:5",
            "zoo.cc:6:14",
            "zoo.cc:7:17",
        }
        assert set(repo.uses("zoo.h:5:18").values()) <= {"PROVEN", "STRONG"}


def test_names_of_a_namespace_are_followed(tmp_path: Path) -> None:
    with written(tmp_path / "repo", ZOO) as repo:
        assert set(repo.uses("zoo.h:21:5")) == {"zoo.h:21:5", "zoo.cc:7:5", "main.cc:12:29"}
        assert set(repo.uses("zoo.h:20:19")) == {"zoo.h:20:19", "main.cc:12:58"}
        assert set(repo.uses("zoo.h:14:7")) >= {
            "main.cc:2:12",
            "main.cc:6:3",
            "main.cc:9:24",
            "zoo.cc:6:1",
            "zoo.cc:6:6",
        }
        for query in ("zoo.h:21:5", "zoo.h:20:19", "zoo.h:14:7"):
            assert set(repo.uses(query).values()) <= {"PROVEN", "STRONG"}


TABLE = {
    "table.h": (
        "struct Slot { int hash; Slot* next(int step); };\n"
        "template <typename K>\n"
        "class Table {\n"
        " public:\n"
        "  class Cursor { public: bool valid() const; const K& key() const; Slot* slot_; };\n"
        "  ~Table();\n"
        "  Slot** find(int hash);\n"
        "  Slot** slots_;\n"
        "};\n"
        "template <typename K>\n"
        "bool Table<K>::Cursor::valid() const { return slot_ != nullptr; }\n"
        "template <typename K>\n"
        "const K& Table<K>::Cursor::key() const { return valid() ? slot_->hash : 0; }\n"
        "template <typename K>\n"
        "Table<K>::~Table() { delete slots_; }\n"
        "template <typename K>\n"
        "Slot** Table<K>::find(int hash) { while ((*slots_)->hash != hash) {} return slots_; }\n"
        "inline int walk(Slot*& first, Slot* many[]) {\n"
        "  Slot* some[2];\n"
        "  return first->hash + many[0]->hash + some[1]->next(2)->hash;\n"
        "}\n"
    ),
}


def test_bodies_of_destructors_and_of_methods_of_nested_classes_see_their_class(tmp_path: Path) -> None:
    with written(tmp_path / "repo", TABLE) as repo:
        assert repo.uses("table.h:8:10") == {
            "table.h:8:10": "PROVEN",
            "table.h:15:29": "PROVEN",
            "table.h:17:44": "PROVEN",
            "table.h:17:77": "PROVEN",
        }
        assert repo.uses("table.h:5:31") == {
            "table.h:5:31": "PROVEN",
            "table.h:11:24": "STRONG",
            "table.h:13:49": "PROVEN",
        }


def test_arrays_and_references_of_pointers_are_bound(tmp_path: Path) -> None:
    with written(tmp_path / "repo", TABLE) as repo:
        assert repo.uses("table.h:1:19") == {
            "table.h:1:19": "PROVEN",
            "table.h:13:66": "STRONG",
            "table.h:17:53": "STRONG",
            "table.h:20:17": "STRONG",
            "table.h:20:33": "STRONG",
            "table.h:20:58": "STRONG",
        }


def test_a_local_array_of_pointers_is_not_a_global_of_its_name(tmp_path: Path) -> None:
    files = {
        "a.cc": "struct Slot { int hash; };\nint some;\nint walk() { Slot* some[2]; return some[0]->hash; }\n",
        "b.cc": "int some(char**& some) { return **some; }\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("a.cc:2:5") == {"a.cc:2:5": "PROVEN"}


FIXTURE = {
    "repair.h": "void Repair();\n",
    "repair_test.cc": (
        '#include "repair.h"\n'
        "class Fixture : public testing::Test { public: void Repair(); int count_; };\n"
        "TEST_F(Fixture, Works) { Repair(); }\n"
        "CUSTOM(Fixture, Works) { Repair(); }\n"
        "int plain() { Repair(); }\n"
    ),
}


def test_the_body_of_a_test_macro_is_a_method_of_its_fixture(tmp_path: Path) -> None:
    with written(tmp_path / "repo", FIXTURE) as repo:
        assert repo.uses("repair_test.cc:2:53") == {
            "repair_test.cc:2:53": "PROVEN",
            "repair_test.cc:3:26": "PROVEN",
            "repair_test.cc:4:26": "ANCHORED",
        }
        assert repo.uses("repair.h:1:6") == {
            "repair.h:1:6": "PROVEN",
            "repair_test.cc:4:26": "ANCHORED",
            "repair_test.cc:5:15": "STRONG",
        }


SPACES = {
    "pool.h": "namespace lib { namespace io { void flush(); int size(); class Pool { void stop(); }; } }\n",
    "pool.cc": (
        '#include "pool.h"\nint size();\nvoid lib::io::flush() { size(); }\nvoid use() { lib::io::flush(); size(); }\n'
    ),
    "other.cc": '#include "pool.h"\nnamespace lib { void io::flush() {} }\n',
    "pool-inl.h": '#include "pool.h"\nPOOL_INLINE void lib::io::Pool::stop() POOL_NOEXCEPT { flush(); }\n',
}


def test_a_function_defined_with_its_namespace_before_it_is_the_declared_one(tmp_path: Path) -> None:
    places = {"pool.h:1:37", "pool.cc:3:15", "pool.cc:4:23", "other.cc:2:26", "pool-inl.h:2:56"}
    with written(tmp_path / "repo", SPACES) as repo:
        for query in ("pool.h:1:37", "pool.cc:3:15", "other.cc:2:26"):
            assert set(repo.uses(query)) == places
            assert set(repo.uses(query).values()) <= {"PROVEN", "STRONG"}


def test_names_in_such_a_function_are_looked_for_in_its_namespace_first(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SPACES) as repo:
        assert repo.uses("pool.h:1:50") == {"pool.h:1:50": "PROVEN", "pool.cc:3:25": "STRONG"}


def test_a_header_of_definitions_with_qualified_names_is_read_as_cpp(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SPACES) as repo:
        assert repo.uses("pool.h:1:76") == {"pool.h:1:76": "PROVEN", "pool-inl.h:2:33": "STRONG"}


def test_bases_of_a_class_behind_its_namespace_are_looked_up_there(tmp_path: Path) -> None:
    files = {
        "lib.h": "namespace lib {\ntemplate <typename T> struct formatter { int wide; };\n}\n",
        "app.cc": (
            '#include "lib.h"\nstruct point { int x; };\n'
            "template <> struct lib::formatter<point> : formatter<int> { int get(); };\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("lib.h:2:30") == {"lib.h:2:30": "PROVEN", "app.cc:3:25": "STRONG", "app.cc:3:44": "STRONG"}


def test_members_of_the_library_behind_a_typedef_are_none_of_the_repository(tmp_path: Path) -> None:
    files = {
        "store.h": "class Store { public: void reserve(int n); };\n",
        "fill.cc": (
            "#include <vector>\ntemplate <typename T> void fill(T t, int n) {\n"
            "  typedef ::std::vector<T> List;\n  List all;\n  all.reserve(n);\n  t.reserve(n);\n}\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("store.h:1:28") == {"store.h:1:28": "PROVEN", "fill.cc:6:5": "ANCHORED"}


def test_calls_of_objects_give_no_object_of_their_class(tmp_path: Path) -> None:
    files = {
        "status.h": (
            "class Status { public: int kind; };\nclass Maker { public: Status operator()(int n); int kind; };\n"
        ),
        "use.cc": (
            '#include "status.h"\n#include <functional>\n'
            "int run(std::function<Status()> made, Maker maker, Status (*old)(int)) {\n"
            "  return made().kind + maker(1).kind + old(2).kind;\n"
            "}\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("status.h:1:28") == {
            "status.h:1:28": "PROVEN",
            "use.cc:4:17": "ANCHORED",
            "use.cc:4:33": "ANCHORED",
            "use.cc:4:47": "STRONG",
        }


def test_inherited_constructors_are_uses_of_their_class(tmp_path: Path) -> None:
    files = {
        "status.h": "namespace n {\nclass Status { public: Status(int k); };\n}\n",
        "sub.cc": '#include "status.h"\nusing n::Status;\n'
        "class Sub : public Status { public: using Status::Status; };\n"
        "class Two : public Status { public: Two() : Status(1) {} using Status::Status; };\n",
    }
    with written(tmp_path / "repo", files) as repo:
        found = repo.uses("status.h:2:7")
        assert {place for place in found if place.startswith("sub.cc")} == {
            "sub.cc:2:10",
            "sub.cc:3:20",
            "sub.cc:3:43",
            "sub.cc:3:51",
            "sub.cc:4:20",
            "sub.cc:4:45",
            "sub.cc:4:64",
            "sub.cc:4:72",
        }


def test_other_names_of_namespaces_and_inline_ones_are_followed(tmp_path: Path) -> None:
    files = {
        "geo.h": "namespace geo {\ninline namespace v1 {\nstruct Point { static int size; };\nint area(int n);\n}\n"
        "namespace deep { int far(int n); }\n}\n",
        "use.cc": '#include "geo.h"\nnamespace short_geo = geo;\nnamespace d = ::geo::deep;\n'
        "int f() { return geo::v1::Point::size + short_geo::area(1) + geo::area(2) + d::far(3)"
        " + short_geo::deep::far(4); }\n",
    }
    with written(tmp_path / "repo", files) as repo:
        for asked, places in (
            ("geo.h:3:8", {"geo.h:3:8", "use.cc:4:27"}),
            ("geo.h:4:5", {"geo.h:4:5", "use.cc:4:52", "use.cc:4:67"}),
            ("geo.h:6:22", {"geo.h:6:22", "use.cc:4:80", "use.cc:4:106"}),
        ):
            found = repo.uses(asked)
            assert set(found) == places and set(found.values()) <= {"PROVEN", "STRONG"}
