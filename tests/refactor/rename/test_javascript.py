"""Renames in JavaScript and TypeScript."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import InvalidArgument
from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import repo


@requirement("REF-03")
def test_an_exported_function_is_followed_and_aliases_stay(tmp_path: Path) -> None:
    files = {
        "a.ts": "export function load() {}\nload()\n",
        "index.ts": "export { load } from './a'\nexport { load as fetchAll } from './a'\nexport * from './a'\n",
        "b.ts": "import { load as l } from './a'\nimport { load } from './index'\nload(); l()\n",
        "c.ts": "import { fetchAll as load } from './index'\nload()\n",
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.ts:1:17", "read") == {
            "a.ts": "export function read() {}\nread()\n",
            "b.ts": "import { read as l } from './a'\nimport { read } from './index'\nread(); l()\n",
            "index.ts": "export { read } from './a'\nexport { read as fetchAll } from './a'\nexport * from './a'\n",
        }


@requirement("REF-03")
def test_shorthands_are_written_out(tmp_path: Path) -> None:
    files = {
        "a.js": (
            "const size = 1\n"
            "const o = { size, other: size }\n"
            "function f({ wide, size = 2 }) { return { wide } }\n"
            "if (o) { size }\n"
        )
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.js:1:7", "area") == {
            "a.js": (
                "const area = 1\n"
                "const o = { size: area, other: area }\n"
                "function f({ wide, size = 2 }) { return { wide } }\n"
                "if (o) { area }\n"
            )
        }
        assert found.after("a.js:3:14", "w") == {
            "a.js": files["a.js"].replace(
                "{ wide, size = 2 }) { return { wide } }", "{ wide: w, size = 2 }) { return { wide: w } }"
            )
        }
        assert found.after("a.js:3:20", "s")["a.js"].splitlines()[2] == (
            "function f({ wide, size: s = 2 }) { return { wide } }"
        )


@requirement("REF-03")
def test_commonjs_names_move_together(tmp_path: Path) -> None:
    files = {
        "a.js": "function load() {}\nmodule.exports = { load }\n",
        "b.js": "const { load } = require('./a')\nconst a = require('./a')\nload(); a.load()\n",
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.js:1:10", "read") == {
            "a.js": "function read() {}\nmodule.exports = { read }\n",
            "b.js": "const { read } = require('./a')\nconst a = require('./a')\nread(); a.read()\n",
        }


@requirement("REF-03")
def test_a_member_of_a_class_and_what_may_be_one(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "export class Box {\n  size = 1\n  grow() { this.size += 1; return this.size }\n}\n"
            "const b = new Box()\nb.size\n"
            "const size = 2\nconst o = { size }\nfunction f(x: any) { return x.size }\n"
        )
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("a.ts:2:3", "area")
        text = found.applied(draft.edits)["a.ts"]
        assert text.count("area") == 4
        assert found.proposed(draft) == {"a.ts:8:13": "UNKNOWN", "a.ts:9:31": "ANCHORED"}
        assert {edit.new for edit in draft.edits if edit.tier == "UNKNOWN"} == {"area: size"}


@requirement("REF-03")
def test_a_parameter_that_is_a_field_is_one_symbol(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "class A {\n  constructor(private size: number) { console.log(size) }\n  get() { return this.size }\n}\n"
        )
    }
    with repo(tmp_path, files) as found:
        for place in ("2:23", "3:23"):
            assert found.after(f"a.ts:{place}", "area")["a.ts"].count("area") == 3


@requirement("REF-03")
def test_a_private_name_keeps_its_sign(tmp_path: Path) -> None:
    files = {"a.js": "class A {\n  #size = 1\n  get() { return this.#size }\n}\n"}
    with repo(tmp_path, files) as found:
        assert found.after("a.js:2", "#area")["a.js"].count("#area") == 2
        with pytest.raises(InvalidArgument, match="begin"):
            found.plan("a.js:2", "area")


def test_a_default_import_of_the_same_name_goes_along(tmp_path: Path) -> None:
    files = {
        "a.ts": "export default class Box {}\n",
        "b.ts": "import Box from './a'\nnew Box()\n",
        "c.ts": "import Other from './a'\nnew Other()\n",
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.ts:1:22", "Crate") == {
            "a.ts": "export default class Crate {}\n",
            "b.ts": "import Crate from './a'\nnew Crate()\n",
        }


def test_a_function_called_like_a_type_leaves_the_type(tmp_path: Path) -> None:
    text = "export function number(x: number): number { return x }\nlet a: bigint = 1n\nexport const b = number(2)\n"
    with repo(tmp_path, {"a.ts": text}) as found:
        assert found.after("a.ts:1:17", "amount") == {
            "a.ts": text.replace("function number", "function amount").replace("number(2)", "amount(2)")
        }


def test_a_member_of_an_object_without_a_name_is_not_the_function_of_its_name(tmp_path: Path) -> None:
    text = "function pack(x) { return x }\nuse({ pack() { return pack(1) } })\nuse({ pack() {} })\nthing.pack()\n"
    with repo(tmp_path, {"a.js": text}) as found:
        draft = found.plan("a.js:2:7", "wrap")
        assert found.applied(draft.edits) == {"a.js": text.replace("use({ pack() { r", "use({ wrap() { r")}
        assert found.proposed(draft) == {"a.js:4:7": "ANCHORED"}


def test_a_parameter_of_one_overload_is_its_own(tmp_path: Path) -> None:
    text = "function f(one: string): void\nfunction f(one: number): void\nfunction f(one: any) { return one }\n"
    with repo(tmp_path, {"a.ts": text}) as found:
        after = text.replace("(one: any) { return one", "(it: any) { return it")
        assert found.after("a.ts:3:12", "it") == {"a.ts": after}


def test_the_text_of_a_literal_type_is_text(tmp_path: Path) -> None:
    text = "const hello = 1\nlet a: `hello ${typeof hello}`\n"
    with repo(tmp_path, {"a.ts": text}) as found:
        assert found.after("a.ts:1:7", "hi") == {"a.ts": "const hi = 1\nlet a: `hello ${typeof hi}`\n"}


STATIC = """class A {
  static s = 1; s = 2;
  static { this.s; }
  static z = this.s; y = this.s;
  static t() { return this.s; }
  u() { return this.s; }
  m() {} static m() {}
}
A.s; new A().s;
class B extends A { static t() { return this.s; } u() { return this.s; } }
"""


def test_a_static_field_and_an_instance_s_are_two(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.js": STATIC}) as found:
        draft = found.plan("a.js:2:10", "zz")
        proposed = found.proposed(draft)
        text = found.applied(draft.edits)["a.js"]
    assert text == (
        STATIC.replace("static s", "static zz")
        .replace("static { this.s", "static { this.zz")
        .replace("static z = this.s", "static z = this.zz")
        .replace("static t() { return this.s", "static t() { return this.zz")
        .replace("A.s;", "A.zz;")
    )
    assert proposed == {}


def test_what_a_class_has_is_not_what_its_instances_have(tmp_path: Path) -> None:
    code = "class A { s = 2; static s = 1; static t() { this.s; } u() { this.s; } }\nA.s; new A().s;\n"
    with repo(tmp_path, {"a.js": code}) as found:
        draft = found.plan("a.js:1:11", "zz")
        assert found.applied(draft.edits)["a.js"] == (
            "class A { zz = 2; static s = 1; static t() { this.s; } u() { this.zz; } }\nA.s; new A().zz;\n"
        )
        assert found.proposed(draft) == {}


def test_a_static_method_and_an_instance_s_are_two(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.js": STATIC}) as found:
        assert found.after("a.js:7:3", "zz")["a.js"] == STATIC.replace("m() {} static m()", "zz() {} static m()")
        assert found.after("a.js:7:17", "zz")["a.js"] == STATIC.replace("static m()", "static zz()")


SIDES = """class A {
  static m = 1;
  get m() { return A.m; }
  static on() { return this.m + new A().m; }
}
class B extends A {
  static of() { return super.m + this.m; }
  own() { return super.m + this.m; }
}
B.m; new B().m;
class C extends A { m() {} }
C.m; new C().m();
"""


@pytest.mark.parametrize("name", ["a.js", "a.ts"])
def test_a_field_and_an_accessor_of_either_side_are_followed_alone(tmp_path: Path, name: str) -> None:
    static = (
        SIDES.replace("static m", "static zz")
        .replace("A.m", "A.zz")
        .replace("this.m + new", "this.zz + new")
        .replace("of() { return super.m + this.m", "of() { return super.zz + this.zz")
        .replace("B.m", "B.zz")
        .replace("C.m", "C.zz")
    )
    with repo(tmp_path, {name: SIDES}) as found:
        for place in (f"{name}:2:10", f"{name}:3:22", f"{name}:10:3"):
            assert found.after(place, "zz") == {name: static}
        draft = found.plan(f"{name}:10:14", "zz")
        family = {candidate.id: found.applied(candidate.edits)[name] for candidate in draft.candidates}["family"]
    # The subclass overrides what instances have, not what the class has.
    assert family == (
        SIDES.replace("get m", "get zz")
        .replace("new A().m", "new A().zz")
        .replace("own() { return super.m + this.m", "own() { return super.zz + this.zz")
        .replace("new B().m", "new B().zz")
        .replace("{ m() {} }", "{ zz() {} }")
        .replace("new C().m", "new C().zz")
    )


def test_what_a_constructor_assigns_is_no_static_field(tmp_path: Path) -> None:
    code = "class A { static m = 1; constructor() { this.m = 2; } static { this.m = 3; } }\n"
    with repo(tmp_path, {"a.js": code}) as found:
        after = "class A { static zz = 1; constructor() { this.m = 2; } static { this.zz = 3; } }\n"
        assert found.after("a.js:1:18", "zz") == {"a.js": after}


def test_an_interface_speaks_of_instances(tmp_path: Path) -> None:
    code = "interface I { m(): void }\nclass A implements I { static m() {} m() {} }\nA.m(); new A().m();\n"
    with repo(tmp_path, {"a.ts": code}) as found:
        draft = found.plan("a.ts:1:15", "zz")
        family = {candidate.id: found.applied(candidate.edits)["a.ts"] for candidate in draft.candidates}["family"]
    assert family == code.replace("I { m", "I { zz").replace("{} m()", "{} zz()").replace("new A().m", "new A().zz")


def test_a_private_member_is_not_the_variable_that_is_called_alike(tmp_path: Path) -> None:
    text = "class A {\n  #size = 1;\n  set(size: number) {\n    this.#size = size;\n  }\n}\n"
    with repo(tmp_path, {"a.ts": text}) as found:
        assert found.after("a.ts:3:7", "fresh")["a.ts"] == (
            "class A {\n  #size = 1;\n  set(fresh: number) {\n    this.#size = fresh;\n  }\n}\n"
        )


def test_a_type_and_a_value_of_one_name_are_told_of(tmp_path: Path) -> None:
    text = "export interface Size {\n  a: number;\n}\nexport const Size = 1;\nexport const other = 2;\n"
    with repo(tmp_path, {"a.ts": text}) as found:
        assert "type_and_value" in {danger.kind for danger in found.plan("a.ts:4:14", "Fresh").dangers}
        assert "type_and_value" not in {danger.kind for danger in found.plan("a.ts:5:14", "Fresh").dangers}


def test_typeof_asks_for_the_value_behind_a_type_of_its_name(tmp_path: Path) -> None:
    text = "const size = { a: 1 };\nfunction f() {\n  type size = (typeof size)['a'];\n  return 1 as size;\n}\n"
    with repo(tmp_path, {"a.ts": text}) as found:
        assert found.after("a.ts:3:8", "zz")["a.ts"] == text.replace("type size", "type zz").replace("as size", "as zz")
        assert found.after("a.ts:1:7", "zz")["a.ts"] == text.replace("const size", "const zz").replace(
            "typeof size", "typeof zz"
        )
    within = "function f() {\n  const size = { a: 1 };\n  type size = (typeof size)['a'];\n}\n"
    with repo(tmp_path / "within", {"a.ts": within}) as found:
        assert found.after("a.ts:3:8", "zz")["a.ts"] == within.replace("size", "zz")
