"""Whether a type of TypeScript takes what another one took: yes, no, or not known from the text."""

import pytest

from codeplane.query.compare.type_assignment import Assignment
from codeplane.query.compare.type_declarations import FileScope
from codeplane.query.compare.type_finder import type_here
from codeplane.query.compare.type_parser import parse_type
from tests.interaction.requirements import requirement
from tests.query.compare.versions import compared, every, outline

pytestmark = requirement("CMP-11")

DECLARED = """
import { Foreign } from 'elsewhere'
type Id = string | number
type Options = { name: string; size?: number }
type Named<T> = { name: T }
interface Base { id: Id }
interface Derived extends Base { more: string }
interface Handler { (event: string, options?: Options): void }
interface Observer<T> { next: (value: T) => void; done: () => void }
interface Tap<T> extends Observer<T> { started: () => void }
class Account { id = 1; owner: string }
type Tree = { left?: Tree; value: string }
"""


def _assign(source: str, target: str) -> bool | None:
    scope = FileScope(outline("a.ts", DECLARED), type_here)
    return Assignment().check(parse_type(source, scope), parse_type(target, scope), exact=True)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("string", "Id"),
        ("'a' | 'b'", "string"),
        ("boolean", "true | false"),
        ("{ name : string }", "Options"),
        ("{ name : string ; size : number | undefined }", "Options"),
        ("Derived", "Base"),
        ("Options", "Partial < Options >"),
        ("Partial < Observer < string > >", "Partial < Tap < string > >"),
        ("Pick < Options , 'name' >", "Named < string >"),
        ("( event : string | number ) => void", "( event : string ) => void"),
        ("( ) => string", "( event : string ) => void"),
        ("( event : string , options ? : Options ) => void", "Handler"),
        ("Handler", "( event : string ) => void"),
        ("Promise < 'a' >", "Promise < string >"),
        ("string [ ]", "readonly ( string | number ) [ ]"),
        ("[ string , string ]", "string [ ]"),
        ("Record < string , string >", "{ [ key : string ] : Id }"),
        ("{ a : string } & { b : number }", "{ a : string ; b : number }"),
        ("Derived", "object"),
        ("Tree", "{ left ? : Tree ; value : string }"),
        ("< T > ( value : T ) => void", "( value : string ) => void"),
    ],
)
def test_what_can_be_given(source: str, target: str) -> None:
    assert _assign(source, target) is True


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Id", "string"),
        ("string", "'a' | 'b'"),
        ("{ name : string }", "{ name : string ; size : number }"),
        ("{ name ? : string }", "Named < string >"),
        ("{ name : string ; colour : string }", "Options"),
        ("Base", "Derived"),
        ("( event : string ) => void", "( event : string | number ) => void"),
        ("( event : string , other : number ) => void", "( event : string ) => void"),
        ("Promise < string >", "Promise < number >"),
        ("readonly string [ ]", "string [ ]"),
        ("[ string ]", "[ string , string ]"),
        ("null", "string"),
        ("string [ ]", "{ callbacks : string [ ] }"),
    ],
)
def test_what_cannot_be_given(source: str, target: str) -> None:
    assert _assign(source, target) is False


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Foreign", "string"),
        ("string", "Foreign"),
        ("string", "Id extends string ? 'a' : 'b'"),
        ("{ [ K in Id ] : string }", "Options"),
        ("Library . Element", "Other . Element"),
        ("typeof value", "Options"),
        ("{ id : number ; owner : string }", "Account"),
        ("not ( a type", "string"),
    ],
)
def test_what_the_text_does_not_tell(source: str, target: str) -> None:
    assert _assign(source, target) is None


def _breaking(before: str, after: str, path: str = "a.ts") -> set[str]:
    return {change.pair.now.path for change in every(compared(path, f"{before}\n", f"{after}\n")) if change.breaking}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # A result that nobody used, and one that is narrower than it was.
        ("export const f = (a: A): void => {}", "export const f = (a: A): string | undefined => a.b"),
        (
            "export const f = (): [boolean, (c: () => void) => void] => x",
            "export const f = (): [boolean, (c: () => void | Promise<void>) => void] => x",
        ),
        # Members that may be left out, in a type of its own.
        (
            "export const f = (o: { a: string; b?: B }): void => {}",
            "type O = | { a: string; b?: B; c?: C } | { d: D }\nexport const f = (o: O): void => {}",
        ),
        # The written type of a value is what users see.
        (
            "export const f = (...p: string[]): string => x",
            "export const f: (...p: string[]) => string = (a, b, ...c): string => x",
        ),
        (
            "export class C { set = (name: string, value: string | undefined): void => {} }",
            "interface S { (name: 'a', value?: A): void; (name: string, value?: string): void }\n"
            "export class C { set: S = (name, value): void => {} }",
        ),
        # Another overload takes the calls.
        (
            "export class C {\n  help(context?: H): void\n  help(cb?: F): void\n}",
            "export class C {\n  help(context?: H): void\n  help(cb: F): void\n}",
        ),
        # Type parameters that arguments tell, and bounds that allow more.
        ("export function f<A, B>(a: A, b: B): void {}", "export function f<A, B, C>(a: A, b: B, c?: C): void {}"),
        ("export type T<I extends In> = { a: I }", "export type T<I extends In | Out> = { a: I }"),
        # What had a default has its type.
        (
            "export const f = (a = table): void => {}",
            "export const f = (a: Record<string, string> = table): void => {}",
        ),
        # What a call makes is not known, nor is who else has a name.
        ("export class A extends mixin()<B> { a = 1 }", "export class A { a = 1 }"),
        ("export interface E extends One.E {}", "export interface E extends Two.E {}"),
        ("export type C = One.C", "export type C = Two.C"),
        # Members that moved up.
        ("export interface P { a: string; b: B }", "interface Q { a: string }\nexport interface P extends Q { b: B }"),
        ("export type T = Record<string, unknown>", "export type T = object"),
        ("export interface D { kind: 'a' | 'b' }", "export interface D { kind: 'a' | 'b' | 'c' }"),
        ("interface I { a: A }", "export interface I { a: A; b: B }"),
        ("export function f(this: A, b: B): void {}", "export function f(this: A | C, b: B): void {}"),
    ],
)
def test_types_written_otherwise_break_nobody(before: str, after: str) -> None:
    assert not _breaking(before, after)


@pytest.mark.parametrize(
    ("before", "after", "broken"),
    [
        ("export const f = (a: unknown): void => {}", "export const f = (a: string): void => {}", "f"),
        ("export const f = (): string => x", "export const f = (): string | null => x", "f"),
        ("export const f = async (): Promise<void> => x", "export const f = (): void => x", "f"),
        (
            "export class C {\n  help(context?: H): void\n  help(cb?: F): void\n}",
            "export class C {\n  help(context: H): void\n  help(cb: F): void\n}",
            "C.help",
        ),
        ("export function f<T>(): T {}", "export function f<T, U>(): T {}", "f"),
        ("export type T<I extends In | Out> = { a: I }", "export type T<I extends In> = { a: I }", "T"),
        ("export interface P { b: B }", "interface Q { a: string }\nexport interface P extends Q { b: B }", "P"),
        ("export interface D { kind: 'a' | 'b' }", "export interface D { kind: 'a' }", "D.kind"),
        ("export type O = { a?: string }", "export type O = { a: string }", "O"),
        (
            "export const f = (a: { b: B }): void => {}",
            "type O = { b: B; c: C }\nexport const f = (a: O): void => {}",
            "f",
        ),
    ],
)
def test_what_certainly_takes_less_or_gives_more_breaks(before: str, after: str, broken: str) -> None:
    assert broken in _breaking(before, after)


def test_members_of_javascript_with_an_underscore_are_private() -> None:
    assert not _breaking("export class A { _go(a) {} }", "export class A { _run(a, b) {} }", "a.js")
    assert _breaking("export class A { go(a) {} }", "export class A { run(a, b) { return 1 } }", "a.js")


def test_parameters_may_be_called_by_words_of_other_languages() -> None:
    changes = list(every(compared("a.py", "def get(url, params=None): ...\n", "def get(url, out=None): ...\n")))
    assert [(change.breaking, change.why) for change in changes] == [(True, ("params is out now",))]


def test_a_base_may_be_named_by_its_module() -> None:
    before = "from typing import MutableMapping\nclass Jar(MutableMapping): ...\n"
    after = "import typing\nclass Jar(typing.MutableMapping[str, str]): ...\n"
    assert not _breaking(before, after, "a.py")
    assert _breaking(before, "import typing\nclass Jar(typing.Sized): ...\n", "a.py") == {"Jar"}


def test_what_the_interpreter_alone_calls_may_go() -> None:
    assert not _breaking("class A:\n    def __del__(self): ...\n", "class A:\n    b = 1\n", "a.py")
    assert _breaking("class A:\n    def __len__(self): ...\n", "class A:\n    b = 1\n", "a.py")


@pytest.mark.parametrize(
    ("path", "breaks"), [("examples/app.ts", False), ("demo/src/app.py", False), ("src/app.ts", True)]
)
def test_nobody_uses_what_only_shows_how_a_package_is_used(path: str, breaks: bool) -> None:
    before, after = (
        ("def go(a): ...", "def go(a, b): ...")
        if path.endswith(".py")
        else ("export function go(a: A): void {}", "export function go(a: A, b: B): void {}")
    )
    assert bool(_breaking(before, after, path)) == breaks
