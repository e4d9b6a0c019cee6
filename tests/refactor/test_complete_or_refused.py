"""A rename or delete is complete or not made: no success over code that still uses the old name."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import Ask, asking
from tests.query.asking import result
from tests.refactor.test_operations import edits, failed, made, texts

ANIMAL = 'package zoo;\n\npublic class Animal {\n    public static String label() {\n        return "a";\n    }\n}\n'
# Files, the symbol, and a place that uses it without a receiver, which declared types explain.
FOLLOWED: dict[str, tuple[dict[str, str], str, str]] = {
    "java inherited": (
        {
            "zoo/Animal.java": ANIMAL.replace("static ", ""),
            "zoo/Dog.java": "package zoo;\n\nclass Dog extends Animal {\n    String twice() {\n"
            "        return label() + label();\n    }\n}\n",
        },
        "zoo/Animal.java:4:19",
        "zoo/Dog.java:5",
    ),
    "java inherited in the same file": (
        {
            "Zoo.java": 'class Animal {\n    String label() {\n        return "a";\n    }\n}\n\n'
            "class Dog extends Animal {\n    String twice() {\n        return label();\n    }\n}\n"
        },
        "Zoo.java:2:12",
        "Zoo.java:9",
    ),
    "java call beside a field of that name": (
        {
            "zoo/Animal.java": ANIMAL.replace("static ", ""),
            "zoo/Dog.java": "package zoo;\n\nclass Dog extends Animal {\n    String label;\n\n    String twice() {\n"
            "        return label + label();\n    }\n}\n",
        },
        "zoo/Animal.java:4:19",
        "zoo/Dog.java:7",
    ),
    "java import static": (
        {
            "zoo/Animal.java": ANIMAL,
            "app/Main.java": "package app;\n\nimport static zoo.Animal.label;\n\nclass Main {\n    String name() {\n"
            "        return label();\n    }\n}\n",
        },
        "zoo/Animal.java:4:26",
        "app/Main.java:7",
    ),
    "csharp using static": (
        {
            "Animal.cs": "namespace Zoo\n{\n    public static class Animal\n    {\n"
            "        public static string label()\n"
            '        {\n            return "a";\n        }\n\n        public static int Legs = 4;\n    }\n}\n',
            "Main.cs": "using static Zoo.Animal;\n\nnamespace App\n{\n    class Main\n    {\n        string Name()\n"
            "        {\n            return label();\n        }\n    }\n}\n",
        },
        "Animal.cs:5:30",
        "Main.cs:9",
    ),
    "java override in another file": (
        {
            "zoo/Animal.java": ANIMAL.replace("static ", ""),
            "zoo/Dog.java": "package zoo;\n\nclass Dog extends Animal {\n    public String label() {\n"
            '        return "d";\n    }\n}\n',
        },
        "zoo/Animal.java:4:19",
        "zoo/Dog.java:4",
    ),
}
# Files, the symbol, and a place that uses it in a way that no scope of its file explains.
UNSEEN: dict[str, tuple[dict[str, str], str, str]] = {
    "kotlin inherited": (
        {
            "Animal.kt": 'open class Animal {\n    fun label(): String {\n        return "a"\n    }\n}\n',
            "Dog.kt": "class Dog : Animal() {\n    fun twice(): String {\n        return label()\n    }\n}\n",
        },
        "Animal.kt:2:9",
        "Dog.kt:3",
    ),
    "scala inherited": (
        {
            "Animal.scala": 'class Animal {\n  def label(): String = "a"\n\n  def legs(): Int = 4\n}\n',
            "Dog.scala": "class Dog extends Animal {\n  def twice(): String = label()\n}\n",
        },
        "Animal.scala:2:7",
        "Dog.scala:2",
    ),
    "ruby inherited": (
        {
            "animal.rb": "class Animal\n  def label\n    'a'\n  end\n\n  def legs\n    4\n  end\nend\n",
            "dog.rb": "class Dog < Animal\n  def twice\n    label\n  end\nend\n",
        },
        "animal.rb:2:7",
        "dog.rb:3",
    ),
    "swift inherited": (
        {
            "Animal.swift": 'class Animal {\n    func label() -> String {\n        return "a"\n    }\n}\n',
            "Dog.swift": "class Dog: Animal {\n    func twice() -> String {\n        return label()\n    }\n}\n",
        },
        "Animal.swift:2:10",
        "Dog.swift:3",
    ),
    "c++ template": (
        {
            "shape.hpp": "class Shape {\npublic:\n    int area();\n    int twice();\n};\n",
            "shape.cpp": '#include "shape.hpp"\n\nint Shape::area() {\n    return 1;\n}\n\n'
            "template <class T> int twice(T shape) {\n    return shape.area() * 2;\n}\n",
        },
        "shape.hpp:3:9",
        "shape.cpp:8",
    ),
    "c prototype that only the linker joins": (
        {
            "shape.c": "int area(int side) {\n    return side * side;\n}\n\nint sides(void) {\n    return 4;\n}\n",
            "main.c": "extern int area(int side);\n\nint main(void) {\n    return area(2);\n}\n",
        },
        "shape.c:1:5",
        "main.c:4",
    ),
}


# Cases whose definition is refused for another reason, or is no use of the one that is deleted.
KEPT_BY_OTHERS = (
    "java override in another file",
    "scala inherited",
)


def _folder(case: str) -> str:
    return case.replace(" ", "_").replace("+", "p")


def _together() -> dict[str, str]:
    """All cases as folders of one repository."""
    cases = {**UNSEEN, **FOLLOWED}
    return {f"{_folder(case)}/{path}": text for case, (files, _, _) in cases.items() for path, text in files.items()}


@requirement("REF-40")
async def test_a_rename_that_would_leave_a_use_asks_back(tmp_path: Path) -> None:
    root = made(tmp_path, _together())
    async with asking(root) as ask:
        for case, (_, symbol, place) in UNSEEN.items():
            asked = await ask("refactor.rename", symbol=f"{_folder(case)}/{symbol}", new_name="fresh", apply=True)
            found = result(asked)
            assert found["status"] == "needs_decision", case
            proposed = {f"{one['path']}:{one['line']}" for one in edits(found) if not one["applies"]}
            assert f"{_folder(case)}/{place}" in proposed, case
            assert "not applied" in str(asked["text"]), case
            capsules = cast(list[JsonObject], found["decision_capsules"])
            assert "receiver_resolution" in {capsule["type"] for capsule in capsules}, case
    assert texts(root) == _together()


@requirement("REF-42")
@pytest.mark.parametrize("case", FOLLOWED)
async def test_uses_without_a_receiver_are_renamed_where_types_are_declared(case: str, tmp_path: Path) -> None:
    files, symbol, _ = FOLLOWED[case]
    root = made(tmp_path, files)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol=symbol, new_name="fresh", apply=True))
        assert done["status"] == "applied"
    now = texts(root)
    assert all(
        now[path].count("fresh") == text.count("label()") + text.count("label;\n\nclass")
        for path, text in files.items()
    )
    assert not any("label()" in text for text in now.values())


async def test_a_function_to_decide_about_is_not_called_a_member(tmp_path: Path) -> None:
    files, symbol, _ = UNSEEN["c prototype that only the linker joins"]
    async with asking(made(tmp_path, files)) as ask:
        asked = await ask("refactor.rename", symbol=symbol, new_name="fresh")
        proposed = [str(one["why"]) for one in edits(result(asked)) if not one["applies"]]
        assert "the same name; whether it is this function is not certain" in proposed
        assert "a member of" not in str(asked)


@requirement("REF-41")
async def test_a_delete_of_what_may_be_in_use_is_refused(tmp_path: Path) -> None:
    root = made(tmp_path, _together())
    async with asking(root) as ask:
        for case, (_, symbol, place) in {**UNSEEN, **FOLLOWED}.items():
            if case in KEPT_BY_OTHERS:
                continue
            envelope = await ask("refactor.delete", target=f"{_folder(case)}/{symbol}", apply=True)
            assert failed(envelope) == "STILL_USED", case
            details = cast(JsonObject, cast(JsonObject, envelope["error"])["details"])
            places = {f"{one['path']}:{one['line']}" for one in cast(list[JsonObject], details["places"])}
            assert f"{_folder(case)}/{place}" in places, case
    assert texts(root) == _together()


GO = {
    "go.mod": "module example.com/zoo\n\ngo 1.22\n",
    "args.go": "package zoo\n\n// legacyArgs is old.\nfunc legacyArgs() int {\n\treturn 1\n}\n\n"
    "func Public() int {\n\treturn 2\n}\n",
    "command.go": "package zoo\n\nfunc run() int {\n\treturn legacyArgs() + Public()\n}\n",
    "zoo_test.go": 'package zoo_test\n\nimport "example.com/zoo"\n\nfunc use() int {\n\treturn zoo.Public()\n}\n',
    "doc/doc.go": 'package doc\n\nimport old "example.com/zoo"\n\nfunc legacyArgs() int {\n\treturn old.Public()\n}\n',
    "other/other.go": 'package other\n\nimport "example.org/zoo"\n\nfunc use() int {\n\treturn zoo.Public()\n}\n',
}


@requirement("REF-42")
async def test_names_of_a_go_package_are_followed_through_its_files_and_importers(tmp_path: Path) -> None:
    root = made(tmp_path, GO)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="args.go:4:6", new_name="oldArgs", apply=True))
        assert done["status"] == "applied"
        assert "public_api" not in cast(JsonObject, cast(JsonObject, done["manifest"])["risk_kinds"])
        assert "return oldArgs() + Public()" in texts(root)["command.go"]
        assert "legacyArgs" in texts(root)["doc/doc.go"]
        done = result(await ask("refactor.rename", symbol="args.go:8:6", new_name="Shown", apply=True))
        assert done["status"] == "applied"
    now = texts(root)
    assert {path for path in now if "Shown" in now[path]} == {"args.go", "command.go", "zoo_test.go", "doc/doc.go"}
    assert now["other/other.go"] == GO["other/other.go"]


@requirement("REF-41")
async def test_a_go_function_with_a_caller_is_not_deleted(tmp_path: Path) -> None:
    root = made(tmp_path, GO)
    async with asking(root) as ask:
        assert failed(await ask("refactor.delete", target="args.go:4:6", apply=True)) == "STILL_USED"
        assert result(await ask("refactor.delete", target="doc/doc.go:5:6", apply=True))["status"] == "applied"
    assert texts(root)["args.go"] == GO["args.go"]
    assert "legacyArgs" not in texts(root)["doc/doc.go"]


@requirement("REF-41")
async def test_methods_of_another_receiver_stay_when_one_is_deleted(tmp_path: Path) -> None:
    files = {
        "zoo.go": "package zoo\n\ntype Cat struct{}\n\ntype Dog struct{}\n\nfunc (c Cat) Speak() {}\n\n"
        "func (d Dog) Speak() {}\n"
    }
    root = made(tmp_path, files)

    async def body(ask: Ask) -> JsonObject:
        return await ask("refactor.delete", target="zoo.go:7:14", apply=True)

    async with asking(root) as ask:
        await body(ask)
    assert "func (d Dog) Speak() {}" in texts(root)["zoo.go"]


C_FAMILY = {
    "shape.h": "int area(int side);\n",
    "shape.c": '#include "shape.h"\n\nint area(int side) {\n    return side * side;\n}\n',
    "main.c": '#include "shape.h"\n\nint main(void) {\n    return area(2);\n}\n',
    "form.hpp": "class Form {\npublic:\n    virtual int size();\n    int twice();\n};\n\n"
    "class Square : public Form {\npublic:\n    int size() override;\n    int more() { return size() + 1; }\n};\n",
    "form.cpp": '#include "form.hpp"\n\nint Form::size() {\n    return 1;\n}\n\n'
    "int Form::twice() {\n    return size() * 2;\n}\n\nint Square::size() {\n    return 2;\n}\n",
}


@requirement("REF-42")
async def test_declarations_of_c_and_overriding_methods_of_cpp_are_renamed_together(tmp_path: Path) -> None:
    root = made(tmp_path, C_FAMILY)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="shape.c:3:5", new_name="surface", apply=True))
        assert done["status"] == "applied"
        done = result(await ask("refactor.rename", symbol="form.hpp:3:17", new_name="extent", apply=True))
        assert done["status"] == "applied"
        assert failed(await ask("refactor.rename", symbol="form.hpp:4:9", new_name="extent")) == "NAME_TAKEN"
    assert texts(root) == {
        path: text.replace("area", "surface").replace("size", "extent") for path, text in C_FAMILY.items()
    }


@requirement("REF-41")
async def test_what_c_only_declares_elsewhere_is_not_deleted(tmp_path: Path) -> None:
    root = made(tmp_path, C_FAMILY)
    async with asking(root) as ask:
        assert failed(await ask("refactor.delete", target="shape.c:3:5", apply=True)) == "STILL_USED"
        assert failed(await ask("refactor.delete", target="form.hpp:3:17", apply=True)) == "STILL_USED"
    assert texts(root) == C_FAMILY


RUST = {
    "Cargo.toml": '[package]\nname = "zoo"\n\n[dependencies]\nignore = "1"\n',
    "src/main.rs": "mod exit_codes;\nmod size;\nmod walk;\n\nuse crate::exit_codes::ExitCode;\n\n"
    "fn main() {\n    let _ = walk::run();\n    let _: ExitCode = ExitCode::Good;\n}\n",
    "src/exit_codes.rs": "pub enum ExitCode {\n    Good,\n}\n",
    "src/walk.rs": "use super::exit_codes::{self, ExitCode as Code};\nuse crate::size::SizeFilter;\n"
    "use ignore::Filter;\n\npub fn run() -> Code {\n    SizeFilter::parse();\n    Filter::parse();\n"
    "    Vec::<u8>::new();\n    exit_codes::ExitCode::Good\n}\n",
    "src/size.rs": "pub struct SizeFilter;\n\nimpl SizeFilter {\n    pub fn parse() -> Self {\n        SizeFilter\n"
    "    }\n}\n\npub struct Other;\n\nimpl Other {\n    pub fn parse() -> Self {\n        Other\n    }\n}\n\n"
    "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn parses() {\n        SizeFilter::parse();\n"
    "        Other::parse();\n    }\n}\n",
}


@requirement("REF-42")
async def test_paths_of_rust_are_followed_and_explicit_types_kept_apart(tmp_path: Path) -> None:
    root = made(tmp_path, RUST)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="ExitCode", new_name="Status", apply=True))
        assert done["status"] == "applied"
        done = result(await ask("refactor.rename", symbol="SizeFilter.parse", new_name="from_text", apply=True))
        assert done["status"] == "applied"
    now = texts(root)
    assert now["src/main.rs"] == RUST["src/main.rs"].replace("ExitCode", "Status")
    assert now["src/walk.rs"] == (
        RUST["src/walk.rs"].replace("ExitCode", "Status").replace("SizeFilter::parse", "SizeFilter::from_text")
    )
    assert now["src/size.rs"] == RUST["src/size.rs"].replace(
        "impl SizeFilter {\n    pub fn parse", "impl SizeFilter {\n    pub fn from_text"
    ).replace("SizeFilter::parse", "SizeFilter::from_text")


@requirement("REF-42")
async def test_a_trait_of_rust_and_its_implementations_are_one(tmp_path: Path) -> None:
    files = {
        "src/main.rs": "mod dog;\n\ntrait Speak {\n    fn speak(&self) -> u8;\n}\n\nfn main() {\n"
        "    let all: Vec<Box<dyn Speak>> = vec![Box::new(dog::Dog)];\n    all[0].speak();\n    dog::Dog.speak();\n}\n",
        "src/dog.rs": "use crate::Speak;\nuse std::fmt;\n\npub struct Dog;\n\nimpl Speak for Dog {\n"
        "    fn speak(&self) -> u8 {\n        1\n    }\n}\n\nimpl fmt::Display for Dog {\n"
        "    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n        Ok(())\n    }\n}\n",
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        for target in ("src/main.rs:4:8", "src/dog.rs:7:8", "src/dog.rs:13:8"):
            assert failed(await ask("refactor.delete", target=target, apply=True)) == "STILL_USED"
        promised = await ask("refactor.rename", symbol="src/dog.rs:13:8", new_name="fresh", apply=True)
        assert failed(promised) == "NOT_REFACTORABLE"
        done = result(await ask("refactor.rename", symbol="src/dog.rs:7:8", new_name="fresh", apply=True))
        assert done["status"] == "applied"
    assert texts(root) == {path: text.replace("speak", "fresh") for path, text in files.items()}


@requirement("REF-41")
async def test_what_rust_only_imports_is_not_deleted(tmp_path: Path) -> None:
    files = RUST | {
        "src/walk.rs": "use crate::size::Other;\n\npub fn run() {}\n",
        "src/main.rs": "mod size;\nmod walk;\n",
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        assert failed(await ask("refactor.delete", target="src/size.rs:9:12", apply=True)) == "STILL_USED"
    assert texts(root) == files


@requirement("REF-42")
async def test_variables_in_format_strings_of_rust_are_renamed(tmp_path: Path) -> None:
    files = {"src/main.rs": 'fn main() {\n    let count = 1;\n    println!("{count} {count:?} {{count}}");\n}\n'}
    root = made(tmp_path, files)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="src/main.rs:2:9", new_name="total", apply=True))
        assert done["status"] == "applied"
    assert texts(root)["src/main.rs"] == (
        'fn main() {\n    let total = 1;\n    println!("{total} {total:?} {{count}}");\n}\n'
    )


AWAITED = {
    "web.py": "class Response:\n    def read(self) -> str:\n        return ''\n\n\n"
    "class Client:\n    async def get(self) -> Response:\n        return Response()\n",
    "app.py": "from web import Client\n\n\nasync def main() -> str:\n    client = Client()\n"
    "    response = await client.get()\n    return response.read()\n",
}


@requirement("REF-42")
async def test_what_is_awaited_has_the_class_that_the_method_says(tmp_path: Path) -> None:
    root = made(tmp_path, AWAITED)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="Response.read", new_name="text", apply=True))
        assert done["status"] == "applied"
    assert texts(root)["app.py"] == AWAITED["app.py"].replace(".read()", ".text()")


UNSURE = {
    "shop.py": "class Door:\n    def open(self):\n        return 1\n\n\ndef enter(thing):\n    return thing.open()\n",
    "more.py": "def leave(thing, other):\n    return thing.open() + other.open()\n",
}


@requirement("REF-40")
async def test_open_places_are_decided_by_number_or_tier_and_nothing_is_applied_before(tmp_path: Path) -> None:
    root = made(tmp_path, UNSURE)
    async with asking(root) as ask:
        asked = {"symbol": "Door.open", "new_name": "unlock"}
        found = result(await ask("refactor.rename", **asked, apply=True))
        assert found["status"] == "needs_decision" and found["open_places"] == 3
        plan = found["refactor_id"]
        again = result(await ask("refactor.rename", refactor_id=plan))
        assert again["status"] == "needs_decision"
        # Whoever has not seen the places has to name all of them.
        blind = result(await ask("refactor.rename", **asked, apply=True, include=["unknown"]))
        assert blind["status"] == "needs_decision"
        assert texts(root) == UNSURE
        number = next(str(one["id"]) for one in edits(found) if one["path"] == "shop.py" and not one["applies"])
        done = result(await ask("refactor.rename", refactor_id=plan, include=[f"#{number}"], exclude=["anchored"]))
        assert done["status"] == "applied"
        assert texts(root) == UNSURE | {"shop.py": UNSURE["shop.py"].replace("open", "unlock")}
        result(await ask("undo"))
        # As the answer writes it, which a shell gives as one word.
        done = result(await ask("refactor.rename", **asked, apply=True, exclude="[anchored, unknown]"))
        assert done["status"] == "applied"
        assert texts(root) == UNSURE | {"shop.py": UNSURE["shop.py"].replace("def open", "def unlock")}


@requirement("REF-40")
async def test_a_module_s_function_is_renamed_though_unknown_things_have_a_method_of_its_name(tmp_path: Path) -> None:
    files = {
        "api.py": "def post(url):\n    return url\n",
        "app.py": "from api import post\n\n\ndef send(client):\n    client.post('a')\n    return post('b')\n",
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        done = result(await ask("refactor.rename", symbol="api.post", new_name="put", apply=True))
        assert done["status"] == "applied"
    assert texts(root)["app.py"] == (
        "from api import put\n\n\ndef send(client):\n    client.post('a')\n    return put('b')\n"
    )


@requirement("REF-41")
async def test_attributes_of_rust_are_deleted_with_what_they_belong_to(tmp_path: Path) -> None:
    kept = 'const KEPT: u8 = 1;\n\nfn main() {\n    print!("{}", KEPT);\n}\n'
    files = {
        "Cargo.toml": '[package]\nname = "zoo"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/main.rs": '// Only there.\n#[cfg(all(\n    not(windows),\n    feature = "more"\n))]\n// Not used.\n'
        f"#[allow(dead_code)]\nstatic GONE: u8 = 1;\n\n{kept}",
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        assert result(await ask("refactor.delete", target="GONE", apply=True))["status"] == "applied"
    assert texts(root)["src/main.rs"] == kept


@requirement("REF-41")
async def test_what_only_a_format_string_names_is_not_deleted(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "zoo"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/main.rs": 'static HELLO: &str = "hi";\n\nfn main() {\n    println!("{HELLO}");\n}\n',
    }
    root = made(tmp_path, files)
    async with asking(root) as ask:
        assert failed(await ask("refactor.delete", target="HELLO", apply=True)) == "STILL_USED"
    assert texts(root) == files


@requirement("REF-41")
async def test_what_stands_on_one_line_above_is_no_attribute_of_what_is_deleted(tmp_path: Path) -> None:
    kept = 'class Dog extends Animal {\n    @Override public String name() { return "dog"; }\n'
    gone = "    // Not used.\n    @Deprecated\n    private int legs() { return 4; }\n"
    root = made(
        tmp_path, {"Dog.java": f"{kept}{gone}}}\n", "Animal.java": 'class Animal { String name() { return ""; } }\n'}
    )
    async with asking(root) as ask:
        assert result(await ask("refactor.delete", target="Dog.java:5:17", apply=True))["status"] == "applied"
    assert texts(root)["Dog.java"] == f"{kept}}}\n"
