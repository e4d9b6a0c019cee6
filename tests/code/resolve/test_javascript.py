"""References in JavaScript and TypeScript: modules, exports, classes and types, each with its tier."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

SHAPES = "export class Shape {\n  area() { return 1; }\n}\nexport const LIMIT = 3;\nexport function helper() {}\n"


def uses(tmp_path: Path, files: Mapping[str, str], query: str) -> dict[str, str]:
    """The references of one question to a repository of these files."""
    with written(tmp_path / "repo", files) as repo:
        return repo.uses(query)


@requirement("RES-02")
def test_barrels_pass_names_on(tmp_path: Path) -> None:
    files = {
        "src/shapes.ts": SHAPES,
        "src/named.ts": "export { helper, LIMIT as MOST } from './shapes';\n",
        "src/all.ts": "export * from './named';\n",
        "src/space.ts": "export * as shapes from './shapes';\n",
        "app.ts": (
            "import { helper as h } from './src/all';\n"
            "import { shapes } from './src/space';\n"
            "import * as every from './src/all';\n"
            "h(); shapes.helper(); every.helper();\n"
            "function other(helper: number) { return helper; }\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("src/shapes.ts:5") == {
            "app.ts:1:10": "STRONG",
            "app.ts:4:13": "STRONG",
            "app.ts:4:29": "STRONG",
            "src/named.ts:1:10": "STRONG",
            "src/shapes.ts:5:17": "PROVEN",
        }
        assert repo.uses("LIMIT") == {"src/named.ts:1:18": "STRONG", "src/shapes.ts:4:14": "PROVEN"}


@requirement("RES-02")
def test_a_default_is_known_by_any_name(tmp_path: Path) -> None:
    files = {
        "make.ts": "export default function make() {}\n",
        "index.ts": "export { default as make } from './make';\nexport { default } from './make';\n",
        "app.ts": "import make from './index';\nimport { make as m } from './index';\nmake(); m();\n",
        "rest.ts": "import made from './make';\nmade();\nconst make = 1;\nprint(make);\n",
    }
    assert uses(tmp_path, files, "make.ts:1") == {
        "app.ts:1:8": "STRONG",
        "app.ts:2:10": "STRONG",
        "app.ts:3:1": "STRONG",
        "index.ts:1:21": "STRONG",
        "make.ts:1:25": "PROVEN",
    }


@requirement("RES-02")
def test_types_are_imported_annotated_and_extended(tmp_path: Path) -> None:
    files = {
        "types.ts": "export interface Box<T> { open(): T }\nexport type Id = string;\n",
        "app.ts": (
            "import type { Box } from './types';\n"
            "import { type Id } from './types.js';\n"
            "interface Chest extends Box<Id> {}\n"
            "export function take(box: Box<Id>, other: unknown, list: Box<Id>[]) {\n"
            "  box.open(); list.open(); (other as Box<Id>).open();\n"
            "}\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("Box") == {
            "app.ts:1:15": "STRONG",
            "app.ts:3:25": "STRONG",
            "app.ts:4:27": "STRONG",
            "app.ts:4:58": "STRONG",
            "app.ts:5:38": "STRONG",
            "types.ts:1:18": "PROVEN",
        }
        assert repo.uses("Box.open") == {
            "app.ts:5:7": "STRONG",
            "app.ts:5:20": "ANCHORED",
            "app.ts:5:47": "ANCHORED",
            "types.ts:1:27": "PROVEN",
        }
        assert repo.uses("Id")["app.ts:2:15"] == "STRONG"


@requirement("RES-02")
def test_members_are_strong_where_the_class_is_written(tmp_path: Path) -> None:
    files = {
        "shapes.ts": SHAPES,
        "app.ts": (
            "import { Shape } from './shapes';\n"
            "class Square extends Shape {\n"
            "  side!: Shape;\n"
            "  constructor(private readonly inner: Shape) { super(); }\n"
            "  twice() { return this.area() + this.inner.area() + this.side!.area(); }\n"
            "  own() { return super.area(); }\n"
            "  late() { return function () { return this.area(); }; }\n"
            "  soon() { return () => this.area(); }\n"
            "}\n"
            "new Square(null).area();\n"
            "const one = new Shape();\n"
            "one.area();\n"
            "function guess(thing) { thing.area(); }\n"
        ),
    }
    assert uses(tmp_path, files, "Shape.area") == {
        "app.ts:5:25": "STRONG",
        "app.ts:5:45": "STRONG",
        "app.ts:5:65": "STRONG",
        "app.ts:6:24": "STRONG",
        "app.ts:7:45": "ANCHORED",
        "app.ts:8:30": "STRONG",
        "app.ts:10:18": "STRONG",
        "app.ts:12:5": "STRONG",
        "app.ts:13:31": "ANCHORED",
        "shapes.ts:2:3": "PROVEN",
    }


@requirement("RES-02")
def test_an_override_and_an_implementation_have_their_own_references(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "interface Runs { run(): void }\n"
            "class Base implements Runs { run() {} }\n"
            "class Child extends Base { run() { super.run(); } }\n"
            "function go(runs: Runs, base: Base, child: Child) { runs.run(); base.run(); child.run(); }\n"
        )
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("Runs.run") == {"a.ts:1:18": "PROVEN", "a.ts:4:58": "STRONG"}
        assert repo.uses("Base.run") == {"a.ts:2:30": "PROVEN", "a.ts:3:42": "STRONG", "a.ts:4:70": "STRONG"}
        assert repo.uses("Child.run") == {"a.ts:3:28": "PROVEN", "a.ts:4:83": "STRONG"}


@requirement("RES-02")
def test_a_comment_is_no_part_of_a_chain(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "class Tool { use() {} }\n"
            "const tool = new Tool();\n"
            "// Ends with a full stop.\n"
            "tool.use();\n"
            "other() // of tool\n"
            "  .use();\n"
        )
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("a.ts:2") == {"a.ts:2:7": "PROVEN", "a.ts:4:1": "PROVEN"}
        assert repo.uses("Tool.use") == {"a.ts:1:14": "PROVEN", "a.ts:4:6": "STRONG", "a.ts:6:4": "ANCHORED"}


def test_what_is_assigned_to_this_is_what_the_base_declares(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "class Base { delay = 0; static now = 1; }\n"
            "class Child extends Base { start() { this.delay = 1; return this.now; } }\n"
            "Base.now;\n"
        )
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("Base.delay") == {"a.ts:1:14": "PROVEN", "a.ts:2:43": "STRONG"}
        assert repo.uses("Base.now") == {"a.ts:1:32": "PROVEN", "a.ts:2:66": "ANCHORED", "a.ts:3:6": "STRONG"}


def test_what_adds_to_another_module_is_proposed(tmp_path: Path) -> None:
    files = {
        "types.ts": "export interface Modules { core: number }\n",
        "more.ts": "declare module './types' {\n  export interface Modules { more: number }\n}\n",
    }
    assert uses(tmp_path, files, "types.ts:1:18") == {"more.ts:2:20": "UNKNOWN", "types.ts:1:18": "PROVEN"}


@pytest.mark.parametrize("base", ["mixed(Other)", "(Other as any)", "outside.Base"])
def test_an_unknown_base_makes_an_inherited_member_a_guess(tmp_path: Path, base: str) -> None:
    files = {
        "package.json": '{"dependencies": {"outside": "1"}}',
        "a.ts": (
            "import * as outside from 'outside';\n"
            "class Other { run() {} }\n"
            f"class Child extends {base} {{ go() {{ this.run(); }} }}\n"
        ),
    }
    assert set(uses(tmp_path, files, "Other.run").values()) == {"PROVEN", "ANCHORED"}


def test_members_of_objects_and_short_forms_are_never_claimed(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "export interface Options { size: number; draw(): void }\n"
            "export const painter = { draw() {}, size: 1 };\n"
            "const { size } = painter;\n"
            "export const made: Options = { size, draw() {} };\n"
            "painter.draw();\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("Options.size") == {
            "a.ts:1:28": "PROVEN",
            "a.ts:2:37": "UNKNOWN",
            "a.ts:3:9": "UNKNOWN",
            "a.ts:4:32": "UNKNOWN",
        }
        assert repo.uses("Options.draw") == {"a.ts:1:42": "PROVEN", "a.ts:2:26": "UNKNOWN", "a.ts:4:38": "UNKNOWN"}
        assert repo.uses("a.ts:2:26")["a.ts:5:9"] == "ANCHORED"


def test_a_method_is_no_reference_to_a_function_of_its_name(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "export function url() {}\n"
            "interface Api { url(): void }\n"
            "const api: Api = { url() {} };\n"
            "call({ url() { return url(); } });\n"
        )
    }
    assert uses(tmp_path, files, "a.ts:1") == {"a.ts:1:17": "PROVEN", "a.ts:4:23": "PROVEN"}


def test_components_are_references(tmp_path: Path) -> None:
    files = {
        "ui/Card.tsx": "export const Card = () => <div>Card</div>;\nexport default Card;\n",
        "ui/index.ts": "export { default as Card } from './Card';\n",
        "App.tsx": "import * as ui from './ui';\nimport { Card } from './ui';\nconst a = <Card><ui.Card /></Card>;\n",
        "Old.jsx": "import Card from './ui/Card';\nexport const b = <Card />;\n",
    }
    found = uses(tmp_path, files, "ui/Card.tsx:1")
    assert found == {
        "App.tsx:2:10": "STRONG",
        "App.tsx:3:12": "STRONG",
        "App.tsx:3:21": "STRONG",
        "App.tsx:3:30": "STRONG",
        "Old.jsx:1:8": "STRONG",
        "Old.jsx:2:19": "STRONG",
        "ui/Card.tsx:1:14": "PROVEN",
        "ui/Card.tsx:2:16": "PROVEN",
        "ui/index.ts:1:21": "STRONG",
    }


def test_modules_that_are_one_function_and_modules_of_many(tmp_path: Path) -> None:
    files = {
        "view.js": "module.exports = View;\nfunction View() {}\n",
        "tools.js": (
            "exports.first = function () {};\nfunction second() {}\nexports.second = second;\nexports.first();\n"
        ),
        "app.js": (
            "var View = require('./view');\n"
            "var tools = require('./tools');\n"
            "var { second } = require('./tools');\n"
            "new View(); tools.first(); tools.second(); second();\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("View") == {
            "app.js:1:5": "STRONG",
            "app.js:4:5": "STRONG",
            "view.js:1:18": "PROVEN",
            "view.js:2:10": "PROVEN",
        }
        assert repo.uses("tools.js:1:9") == {
            "app.js:4:19": "STRONG",
            "tools.js:1:9": "PROVEN",
            "tools.js:4:9": "STRONG",
        }
        assert repo.uses("tools.js:2:10") == {
            "app.js:3:7": "STRONG",
            "app.js:4:34": "STRONG",
            "app.js:4:44": "STRONG",
            "tools.js:2:10": "PROVEN",
            "tools.js:3:9": "STRONG",
            "tools.js:3:18": "PROVEN",
        }


@requirement("RES-03")
@pytest.mark.parametrize(
    ("config", "source"),
    [
        ({"tsconfig.json": '{"compilerOptions": {"baseUrl": "."}}'}, "src/deep/tool"),
        ({"tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}'}, "@/deep/tool"),
        ({"tsconfig.json": '{"compilerOptions": {"paths": {"tool": ["./src/deep/tool.ts"]}}}'}, "tool"),
        (
            {
                "tsconfig.json": '{"extends": "./base.json", "compilerOptions": {"baseUrl": "src"}}',
                "base.json": '{"compilerOptions": {"paths": {"~/*": ["deep/*"],},}} // said there',
            },
            "~/tool",
        ),
        (
            {
                "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
                "tsconfig.app.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
            },
            "@/deep/tool.js",
        ),
        ({"package.json": '{"name": "me", "imports": {"#deep/*": "./src/deep/*.ts"}}'}, "#deep/tool"),
        ({"package.json": '{"name": "me", "exports": {"./t": {"import": "./dist/deep/tool.js"}}}'}, "me/t"),
        ({"package.json": '{"name": "@my/own"}'}, "@my/own/deep/tool"),
    ],
)
def test_modules_are_found_by_what_renames_them(tmp_path: Path, config: dict[str, str], source: str) -> None:
    files = {
        **config,
        "src/deep/tool.ts": "export const tool = 1;\n",
        "src/app.ts": f"import {{ tool }} from '{source}';\ntool;\n",
    }
    assert uses(tmp_path, files, "src/deep/tool.ts:1") == {
        "src/app.ts:1:10": "STRONG",
        "src/app.ts:2:1": "STRONG",
        "src/deep/tool.ts:1:14": "PROVEN",
    }


def test_workspace_packages_are_ours_and_dependencies_are_not(tmp_path: Path) -> None:
    files = {
        "packages/core/package.json": '{"name": "@my/core", "main": "dist/index.js"}',
        "packages/core/src/index.ts": "export function start() {}\n",
        "packages/app/package.json": '{"name": "app", "dependencies": {"@my/core": "workspace:*", "other": "1"}}',
        "packages/app/a.ts": "import { start } from '@my/core';\nstart();\n",
        "packages/app/b.ts": "import { start } from 'other';\nstart();\n",
        "packages/app/c.ts": "import { start } from '~unknown/alias';\nstart();\n",
    }
    assert uses(tmp_path, files, "start") == {
        "packages/app/a.ts:1:10": "STRONG",
        "packages/app/a.ts:2:1": "STRONG",
        "packages/app/c.ts:1:10": "UNKNOWN",
        "packages/app/c.ts:2:1": "UNKNOWN",
        "packages/core/src/index.ts:1:17": "PROVEN",
    }


def test_of_two_packages_with_one_name_neither_is_meant(tmp_path: Path) -> None:
    files = {
        "a/package.json": '{"name": "twin"}',
        "a/index.ts": "export const one = 1;\n",
        "b/package.json": '{"name": "twin"}',
        "app.ts": "import { one } from 'twin';\n",
    }
    assert uses(tmp_path, files, "a/index.ts:1") == {"a/index.ts:1:14": "PROVEN", "app.ts:1:10": "UNKNOWN"}


def test_declarations_of_one_name_are_one_symbol(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "export interface Error { code: number }\n"
            "export const Error = make();\n"
            "export namespace Metric { export interface Hooks { on(): void } }\n"
            "export class Metric {}\n"
        ),
        "b.ts": (
            "import { Error, Metric } from './a';\n"
            "new Error();\n"
            "function f(error: Error, hooks: Metric.Hooks) { error.code; hooks.on(); }\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("a.ts:1") == {
            "a.ts:1:18": "PROVEN",
            "a.ts:2:14": "PROVEN",
            "b.ts:1:10": "STRONG",
            "b.ts:2:5": "STRONG",
            "b.ts:3:19": "STRONG",
        }
        assert repo.uses("Error.code")["b.ts:3:55"] == "STRONG"
        assert repo.uses("Hooks") == {"a.ts:3:44": "PROVEN", "b.ts:3:40": "STRONG"}
        assert repo.uses("Hooks.on")["b.ts:3:67"] == "STRONG"


def test_what_the_grammar_does_not_know_hides_nothing(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "export interface Box<in out T> {\n"
            "  // a call, then another\n"
            "  (value: T): Box<T>\n"
            "  <A>(value: A): Box<A>\n"
            "}\n"
            "export const after: Box<string> = make();\n"
        )
    }
    assert uses(tmp_path, files, "Box") == {
        "a.ts:1:18": "PROVEN",
        "a.ts:3:15": "PROVEN",
        "a.ts:4:18": "PROVEN",
        "a.ts:6:21": "PROVEN",
    }


def test_what_an_open_quote_swallows_is_proposed(tmp_path: Path) -> None:
    swallowed = "call(1);\n" * 60
    files = {
        "a.ts": (
            "export function helper() {}\n"
            "type Bad<P extends string> =\n"
            "  `Missing \\`Self\\` generic - use \\`class Self extends Class<Self>()(${P}{ ... })\\``\n"
            f"{swallowed}helper();\nconst good = `text`;\n"
        ),
        "b.ts": "const good = `" + "helper\n" * 80 + "`;\n",
    }
    assert uses(tmp_path, files, "a.ts:1") == {"a.ts:1:17": "PROVEN", "a.ts:64:1": "UNKNOWN"}


@requirement("RES-03")
@pytest.mark.parametrize(
    ("first", "second", "query"),
    [
        # Without a root there is no crate to look in.
        (("src/one.rs", "pub fn help() {}\n"), ("src/two.rs", "use crate::one::help;\nfn f() { help() }\n"), "help"),
        (
            ("p/One.scala", "package p\nclass One {\n  def help(): Int = 1\n}\n"),
            ("p/Two.scala", "package q\nimport p.One\nclass Two {\n  def f(one: One): Int = one.help()\n}\n"),
            "One.help",
        ),
        (
            ("p/One.scala", "package p\nclass One\n"),
            ("p/Two.scala", "package q\nimport p.One\nclass Two extends One {\n  def make: One = new One\n}\n"),
            "One",
        ),
    ],
)
def test_without_a_way_to_find_modules_nothing_is_claimed_across_files(
    tmp_path: Path, first: tuple[str, str], second: tuple[str, str], query: str
) -> None:
    found = uses(tmp_path, dict((first, second)), query)
    assert {tier for place, tier in found.items() if place.startswith(first[0])} == {"PROVEN"}
    across = {tier for place, tier in found.items() if place.startswith(second[0])}
    assert across and across <= {"ANCHORED", "UNKNOWN"}


@requirement("RES-03")
def test_names_of_kotlin_are_followed_across_files(tmp_path: Path) -> None:
    files = {
        "p/One.kt": "package p\nopen class One {\n    fun help() {}\n}\n",
        "p/Two.kt": "package q\nimport p.One\nclass Two : One() {\n    fun f(one: One) { one.help() }\n}\n",
    }
    assert uses(tmp_path, files, "One.help") == {"p/One.kt:3:9": "PROVEN", "p/Two.kt:4:27": "STRONG"}


def test_members_of_a_type_that_is_an_object_are_defined_and_used(tmp_path: Path) -> None:
    files = {
        "types.ts": (
            "export type Options = Base & {\n  limit?: number;\n  again(): void;\n};\n"
            "export type Shape =\n  | { kind: 'a' }\n  | { kind: 'b'; side: number }\n  | { deep: { other: 1 } };\n"
            "export type Unrelated = { limit: string };\n"
        ),
        "use.ts": "export function f(o: any) {\n  o.limit;\n  o.a.again();\n  g({ limit: 3 });\n  o.side;\n}\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("Options.limit") == {
            "types.ts:2:3": "PROVEN",
            "use.ts:2:5": "ANCHORED",
            "use.ts:4:7": "UNKNOWN",
        }
        assert repo.uses("Options.again") == {"types.ts:3:3": "PROVEN", "use.ts:3:7": "ANCHORED"}
        assert repo.uses("side") == {"types.ts:7:18": "PROVEN", "use.ts:5:5": "ANCHORED"}
        assert "types.ts:6:7" in repo.uses("Shape.kind")


def test_a_method_of_an_object_that_a_function_gives_is_used_in_other_files(tmp_path: Path) -> None:
    files = {
        "made.ts": "export function made() {\n  return {\n    drain() {},\n  };\n}\nmade().drain();\n",
        "use.ts": "import { made } from './made';\nmade().drain();\nconst m = made();\nm.drain();\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("drain") == {
            "made.ts:3:5": "PROVEN",
            "made.ts:6:8": "ANCHORED",
            "use.ts:2:8": "ANCHORED",
            "use.ts:4:3": "ANCHORED",
        }


def test_a_field_that_an_interface_declares_may_give_an_object_its_shape(tmp_path: Path) -> None:
    files = {
        "a.ts": "interface Provider {\n  start: () => void;\n}\nexport const own: Provider = {\n  start() {},\n};\n",
        "b.ts": "export class Other {\n  start() {}\n}\n",
        "c.ts": "export interface Further {\n  start: () => void;\n}\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("a.ts:5:3") == {"a.ts:2:3": "UNKNOWN", "a.ts:5:3": "PROVEN", "c.ts:2:3": "UNKNOWN"}
        assert repo.uses("Other.start")["a.ts:2:3"] == "UNKNOWN"
        assert "c.ts:2:3" not in repo.uses("Provider.start")


def test_a_parameter_of_a_type_is_known_in_it_alone(tmp_path: Path) -> None:
    files = {"a.ts": "export type Box<Kept> = { value: Kept };\n", "b.ts": "export const f = (x: any) => x.Kept;\n"}
    assert uses(tmp_path, files, "a.ts:1:17") == {"a.ts:1:17": "PROVEN", "a.ts:1:34": "PROVEN"}


@requirement("RES-02")
def test_what_an_inferred_type_extends_is_a_reference(tmp_path: Path) -> None:
    files = {
        "part.ts": "export interface Part { a: string }\n",
        "use.ts": (
            "import { Part } from './part';\n"
            "type Item<T> = T extends (infer U extends Part)[] ? U : never;\n"
            "type First<T> = T extends [infer V extends Part, ...infer R] ? V : R;\n"
        ),
    }
    assert uses(tmp_path, files, "part.ts:1:18") == {
        "part.ts:1:18": "PROVEN",
        "use.ts:1:10": "STRONG",
        "use.ts:2:43": "STRONG",
        "use.ts:3:44": "STRONG",
    }


BUILDER = """export interface Base { check(): this; describe(text: string): this }
export interface Text extends Base { min(size: number): this; size(): Size }
export class Size { grow(by: number): Size { return this; } get next(): Size { return this; } }
export function text(): Text;
export function text(size: number): Text;
export function text(size = 0): Text { return make(size); }
export const size = (text: string): Size => new Size();
export function any<T>(value: T): T { return value; }
export function either(): Text | Size { return text(); }
export class Maker { static create = (size?: number): Size => new Size(); }
const copied = Maker.create;
export let moved = Maker.create;
export { copied as copy };
"""


@requirement("RES-02")
def test_calls_give_what_functions_write_behind_their_parameters(tmp_path: Path) -> None:
    files = {
        "make.ts": BUILDER,
        "use.ts": (
            "import * as m from './make';\n"
            "import { size, text } from './make';\n"
            "text().min(1).min(2).check().min(3);\n"
            "const short = m.text('()')\n  .describe('a')\n  .min(4);\nshort.min(5);\n"
            "text().size().grow(1).next.grow(2);\n"
            "const made = size('a');\nmade.grow(3);\n"
            "let kept = size('a') || other;\nkept.grow(4);\n"
            "m.any(made).grow(5);\nm.either().grow(6);\n"
            "const both = size('a')\n  ?? other;\nboth.grow(7);\n"
            "import { copy, moved } from './make';\ncopy().grow(8);\nmoved().grow(9);\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        strong = {place for place, tier in repo.uses("Text.min").items() if tier == "STRONG"}
        assert strong == {"use.ts:3:8", "use.ts:3:15", "use.ts:3:30", "use.ts:6:4", "use.ts:7:7"}
        grown = repo.uses("Size.grow")
        strong = {place for place, tier in grown.items() if tier == "STRONG"}
        assert strong == {"use.ts:8:15", "use.ts:8:28", "use.ts:10:6", "use.ts:19:8"}
        assert {place for place, tier in grown.items() if tier == "ANCHORED"} == {
            "use.ts:12:6",
            "use.ts:13:13",
            "use.ts:14:12",
            "use.ts:17:6",
            "use.ts:20:9",
        }


@requirement("RES-02")
def test_a_method_of_an_object_may_be_what_an_interface_asks_for(tmp_path: Path) -> None:
    files = {
        "make.ts": BUILDER,
        "init.ts": "import { install } from './make';\ninstall({ min(size) { return this; } });\n",
        "use.ts": "import { text } from './make';\ntext().min(1);\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("init.ts:2:11")["use.ts:2:8"] == "ANCHORED"
        assert repo.uses("Text.min")["use.ts:2:8"] == "STRONG"
