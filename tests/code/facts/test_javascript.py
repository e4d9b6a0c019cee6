"""What is read from JavaScript, TypeScript and their markup, form by form."""

import pytest

from tests.code.facts.reading import bound, defined, exported, facts_of, imported, words
from tests.interaction.requirements import requirement

ALL = ("javascript", "typescript", "tsx")
TYPED = ("typescript", "tsx")


@requirement("FCT-11")
@pytest.mark.parametrize("language", ALL)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import d from 'x'", [("js_import", "x", "default", "d")]),
        ("import * as ns from 'x'", [("js_import", "x", "", "ns")]),
        ("import d, * as ns from 'x'", [("js_import", "x", "default", "d"), ("js_import", "x", "", "ns")]),
        ("import { a, b as c } from 'x'", [("js_import", "x", "a", "a"), ("js_import", "x", "b", "c")]),
        ("import d, { a } from 'x'", [("js_import", "x", "default", "d"), ("js_import", "x", "a", "a")]),
        ("import { default as d } from 'x'", [("js_import", "x", "default", "d")]),
        ("import './side.css'", [("js_import", "./side.css", "", "")]),
        ("import('x').then(f)", [("js_dynamic_import", "x", "", "")]),
        ("import(where)", []),
        ("import j from './j.json' with { type: 'json' }", [("js_import", "./j.json", "default", "j")]),
        ("const m = await import('x')", [("js_dynamic_import", "x", "", "m")]),
        (
            "const { a, b: c } = await import('x')",
            [("js_dynamic_import", "x", "a", "a"), ("js_dynamic_import", "x", "b", "c")],
        ),
        ("const x = require('y')", [("js_require", "y", "", "x")]),
        ("var { a, b: c } = require('y')", [("js_require", "y", "a", "a"), ("js_require", "y", "b", "c")]),
        ("const x = require('y').z", [("js_require", "y", "z", "x")]),
        ("require('y')", [("js_require", "y", "", "")]),
        ("require(y); other('z')", []),
    ],
)
def test_imports(language: str, text: str, found: list[tuple[str, str, str, str]]) -> None:
    assert imported(language, text) == found
    names = [local for _, _, _, local in found if local]
    assert [one.split()[:2] for one in bound(language, text)] == [[name, "IMPORT_ALIAS"] for name in names]


@requirement("FCT-11")
@pytest.mark.parametrize("language", TYPED)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import type D from 'x'", [("ts_import_type", "x", "default", "D")]),
        ("import type * as N from 'x'", [("ts_import_type", "x", "", "N")]),
        ("import type { A, B as C } from 'x'", [("ts_import_type", "x", "A", "A"), ("ts_import_type", "x", "B", "C")]),
        ("import { type A, b } from 'x'", [("ts_import_type", "x", "A", "A"), ("js_import", "x", "b", "b")]),
        ("import q = require('y')", [("js_require", "y", "", "q")]),
    ],
)
def test_typed_imports(language: str, text: str, found: list[tuple[str, str, str, str]]) -> None:
    assert imported(language, text) == found


@requirement("FCT-11")
def test_import_places() -> None:
    text = "import { long as short, same } from 'x'; import dflt from 'y'"
    renamed, same, given = facts_of("typescript", text).imports
    assert (renamed.alias, text[renamed.imported_at :][:4], text[renamed.local_at :][:5]) == ("short", "long", "short")
    assert same.alias == "" and same.imported_at == same.local_at == text.index("same")
    assert given.alias == "dflt" and text[given.local_at :][:4] == "dflt" and text[given.at :] == "import dflt from 'y'"


@requirement("FCT-11")
@pytest.mark.parametrize("language", ALL)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("export function f() { let inner }", [("f", "f", "", "declared")]),
        ("export async function* g(a) {}", [("g", "g", "", "declared")]),
        ("export class C { m() {} }", [("C", "C", "", "declared")]),
        ("export const a = 1, b = (c) => c", [("a", "a", "", "declared"), ("b", "b", "", "declared")]),
        (
            "export const { a, k: [b = 1, ...c] } = o",
            [("a", "a", "", "declared"), ("b", "b", "", "declared"), ("c", "c", "", "declared")],
        ),
        ("export { a, b as c }", [("a", "a", "", "named"), ("c", "b", "", "named")]),
        ("export { a as default }", [("default", "a", "", "named")]),
        ("export let a; export var b", [("a", "a", "", "declared"), ("b", "b", "", "declared")]),
        ("export default async function f() {}", [("default", "f", "", "default")]),
        ("export { a, b as c } from 'x'", [("a", "a", "x", "named"), ("c", "b", "x", "named")]),
        ("export { default } from 'x'", [("default", "default", "x", "named")]),
        ("export { default as d } from 'x'", [("d", "default", "x", "named")]),
        ("export * from 'x'", [("*", "*", "x", "star")]),
        ("export * as ns from 'x'", [("ns", "*", "x", "star")]),
        ("export default function f() {}", [("default", "f", "", "default")]),
        ("export default class C {}", [("default", "C", "", "default")]),
        ("export default f", [("default", "f", "", "default")]),
        ("export default function () {}", [("default", "", "", "default")]),
        ("export default () => 1", [("default", "", "", "default")]),
        ("export default { a: 1 }", [("default", "", "", "default")]),
        ("module.exports = f", [("default", "f", "", "module_exports")]),
        ("module.exports = function f() {}", [("default", "f", "", "module_exports")]),
        ("module.exports = class {}", [("default", "", "", "module_exports")]),
        (
            "module.exports = { a, b: c, d() {}, e: 1 }",
            [
                ("default", "", "", "module_exports"),
                ("a", "a", "", "commonjs"),
                ("b", "c", "", "commonjs"),
                ("d", "", "", "commonjs"),
                ("e", "", "", "commonjs"),
            ],
        ),
        ("exports.x = y", [("x", "y", "", "commonjs")]),
        ("module.exports.x = y", [("x", "y", "", "commonjs")]),
        ("exports.x = function () {}", [("x", "", "", "commonjs")]),
        ("(function () { exports.x = y })()", [("x", "y", "", "commonjs")]),
        ("other.x = y; exports = z; foo.exports = a", []),
    ],
)
def test_exports(language: str, text: str, found: list[tuple[str, str, str, str]]) -> None:
    assert exported(language, text) == found


@pytest.mark.parametrize("language", TYPED)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("export interface I { a: string }", [("I", "I", "", "declared")]),
        ("export type T = { a: string }", [("T", "T", "", "declared")]),
        ("export enum E { A }", [("E", "E", "", "declared")]),
        ("export abstract class A {}", [("A", "A", "", "declared")]),
        ("export default interface I {}", [("default", "I", "", "default")]),
        ("export namespace N { export const inner = 1 }", [("N", "N", "", "declared")]),
        ("export declare const a: string", [("a", "a", "", "declared")]),
        ("export declare function f(): void", [("f", "f", "", "declared")]),
        ("declare module 'm' { export function g(): void }", []),
        ("export = f", [("default", "f", "", "module_exports")]),
        ("export { type A, b }", [("A", "A", "", "named"), ("b", "b", "", "named")]),
        ("export default abstract class A {}", [("default", "A", "", "default")]),
        ("export type { A }", [("A", "A", "", "named")]),
        ("export type { A } from 'x'", [("A", "A", "x", "named")]),
        ("export type * from 'x'", [("*", "*", "x", "star")]),
    ],
)
def test_typed_exports(language: str, text: str, found: list[tuple[str, str, str, str]]) -> None:
    assert exported(language, text) == found


@pytest.mark.parametrize("language", ALL)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("function f() { function g() {} }", ["function f", "function f.g"]),
        ("async function* f() {}", ["function f"]),
        ("const f = async (a) => a", ["function f"]),
        ("let a = 1, f = function () {}", ["variable a", "function f"]),
        ("const LIMIT = 3; var { a, b: [c] } = o", ["constant LIMIT", "variable a", "variable c"]),
        ("function f() { const local = 1; for (let i;;) {} }", ["function f"]),
        (
            "class A extends B { #p = 1; static s; get v() {} set v(x) {} async *m() {} f = () => 1 }",
            ["class A", "field A.#p", "field A.s", "method A.v", "method A.v", "method A.m", "method A.f"],
        ),
        ("class A { constructor() { this.x = 1; this.x = 2 } }", ["class A", "method A.constructor", "field A.x"]),
        ("function f() { this.x = 1 }", ["function f"]),
        ("const A = class { m() {} }", ["class A", "method A.m"]),
        (
            "const api = { get() {}, put: () => 1, del: function () {}, n: 1 }",
            ["variable api", "method api.get", "method api.put", "method api.del"],
        ),
        ("A.prototype.m = function () {}; A.s = () => 1", ["method A.m", "function A.s"]),
        ("exports.f = function () {}", ["function f"]),
        ("if (x) { function g() {} }", ["function g"]),
    ],
)
def test_definitions(language: str, text: str, found: list[str]) -> None:
    assert defined(language, text) == found


@pytest.mark.parametrize("language", TYPED)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("interface I<T> { p: T; m(a: T): void; (x: T): T }", ["interface I", "field I.p", "method I.m"]),
        ("type T<K> = { [P in keyof K]: K[P] }", ["type T"]),
        ("enum E { A, B = 2, 'c' }", ["enum E", "enum_member E.A", "enum_member E.B", "enum_member E.c"]),
        ("namespace N { const a = 1; function f() {} }", ["namespace N", "variable N.a", "function N.f"]),
        ("declare module 'm' { function g(): void }", ["module m", "function m.g"]),
        (
            "abstract class A { abstract m(): void; over(a: string): void; over(a: any) {} }",
            ["class A", "method A.m", "method A.over", "method A.over"],
        ),
        (
            "class A { constructor(private a: string, readonly b = 1, c: string) {} }",
            ["class A", "method A.constructor", "field A.a", "field A.b"],
        ),
        ("function f(a: string): void; function f(a: any) {}", ["function f", "function f"]),
        ("declare const a: string; declare function f(): void", ["variable a", "function f"]),
    ],
)
def test_typed_definitions(language: str, text: str, found: list[str]) -> None:
    assert defined(language, text) == found


def test_overloads_differ_and_equals_are_counted() -> None:
    one, two, three = facts_of(
        "typescript", "function f(a: A): B; function f(a: C): D; function f(a: C): D;"
    ).definitions
    assert one.signature != two.signature == three.signature
    assert (one.ordinal, two.ordinal, three.ordinal) == (0, 0, 1)


@pytest.mark.parametrize("language", ALL)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("function f(a, b = 1, ...c) {}", ["f DEF_IN_SCOPE file", *(f"{n} PARAM function<file>"[:-1] for n in "abc")]),
        (
            "f(({ a, b: { c = 1 } }, [d, , e]) => a)",
            [f"{name} PARAM function<file" for name in "acde"],
        ),
        ("f(x => x)", ["x PARAM function<file"]),
        (
            "{ let a; const b = 1; var c }",
            ["a LOCAL_ASSIGN block<file", "b LOCAL_ASSIGN block<file", "c LOCAL_ASSIGN file"],
        ),
        (
            "function f() { if (x) { var a; let b } }",
            ["f DEF_IN_SCOPE file", "a LOCAL_ASSIGN function<file", "b LOCAL_ASSIGN block<function<file"],
        ),
        ("for (const [k, v] of z) {}", ["k LOCAL_ASSIGN block<file", "v LOCAL_ASSIGN block<file"]),
        ("for (var i in z) {}", ["i LOCAL_ASSIGN file"]),
        ("for (i of z) {}", []),
        ("for (let i = 0; i < 1; i++) {}", ["i LOCAL_ASSIGN block<file"]),
        ("try {} catch ({ message }) {}", ["message PARAM block<file"]),
        ("[a, b] = [b, a]; ({ c } = d); e = 1", []),
        ("(function self() {})", ["self LOCAL_ASSIGN function<file"]),
        ("class A { m() { let m } }", ["A DEF_IN_SCOPE file", "m LOCAL_ASSIGN function<class<file"]),
        ("switch (x) { case 1: let a }", ["a LOCAL_ASSIGN block<file"]),
        (
            "switch (x) { case 1: { let a } default: { let a } }",
            ["a LOCAL_ASSIGN block<block<file", "a LOCAL_ASSIGN block<block<file"],
        ),
        ("for (let i;;) { let i }", ["i LOCAL_ASSIGN block<file", "i LOCAL_ASSIGN block<block<file"]),
    ],
)
def test_bindings(language: str, text: str, found: list[str]) -> None:
    assert bound(language, text) == found


@pytest.mark.parametrize("language", TYPED)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("function f<T>(a: T, b?: T) {}", ["f DEF_IN_SCOPE file", *(f"{n} PARAM function<file" for n in "Tab")]),
        ("class A<T> extends B<T> {}", ["A DEF_IN_SCOPE file", "T PARAM class<file"]),
        (
            "type M<K> = K extends infer U ? U : 0",
            ["M DEF_IN_SCOPE file", "K PARAM type<file", "U PARAM block<type<file"],
        ),
        ("let f: (a: A) => void", ["f LOCAL_ASSIGN file", "a PARAM function<file"]),
        ("let t: [first: A, second?: B]", ["t LOCAL_ASSIGN file"]),
        ("class A { constructor(private a: B) {} }", ["A DEF_IN_SCOPE file", "a PARAM function<class<file"]),
        ("enum E { A, B = A }", ["E DEF_IN_SCOPE file", "A DEF_IN_SCOPE enum<file", "B DEF_IN_SCOPE enum<file"]),
    ],
)
def test_typed_bindings(language: str, text: str, found: list[str]) -> None:
    assert bound(language, text) == found


@pytest.mark.parametrize("language", ALL)
def test_words_in_text_are_no_references_and_shorthands_are(language: str) -> None:
    text = "f({ key: value, short, [comp]: 1 }, `frag ${subst} tail\\nesc`, 'str\\nx', /rx/g) // note"
    text += "\nout: for (;;) break out"
    assert words(language, text) - {"for", "break", "$"} == {"f", "value", "short", "comp", "subst"}


def test_private_names_are_one_word() -> None:
    assert words("typescript", "class A { #x = 1; m() { this.#x } }") == {"class", "A", "#x", "m", "this"}


def test_markup() -> None:
    text = "const a = <Comp attr={value} on='x' {...rest}>said {told}<div id={i}/></Comp>"
    for language in ("javascript", "tsx"):
        assert words(language, text) == {"const", "a", "Comp", "value", "rest", "told", "i"}


def test_names_reached_at_run_time() -> None:
    facts = facts_of("typescript", "a[b]; a['c']; a[0]; eval(x); new Function('y')")
    assert [(one.pattern, one.literal) for one in facts.dynamic] == [
        ("bracket_access", None),
        ("bracket_access", "c"),
        ("eval", None),
        ("eval", None),
    ]


@pytest.mark.parametrize("language", ALL)
def test_functions_in_an_object_are_methods_only_where_it_stands_in_the_file_itself(language: str) -> None:
    text = (
        "const whole = { first: () => 1 }\n"
        "export const given = { second: () => 2 }\n"
        "whole.part = { third: function () {} }\n"
        "function around() {\n"
        "  const local = { fourth: () => 4 }\n"
        "  local.part = { fifth: () => 5 }\n"
        "  local.sixth = () => 6\n"
        "}\n"
    )
    found = {one.name for one in facts_of(language, text).definitions}
    assert {"whole", "first", "given", "second", "third", "around"} <= found
    assert not found & {"fourth", "fifth", "sixth"}
