"""Types of TypeScript that are written in another way, and types that only a compiler can compare."""

import pytest

from tests.interaction.requirements import requirement
from tests.query.compare.versions import compared, every

pytestmark = requirement("CMP-11")


def _breaking(before: str, after: str) -> set[str]:
    return {change.pair.now.path for change in every(compared("a.ts", before, after)) if change.breaking}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Another name of the same type, or of one that takes more.
        ("export const f = (a: { b?: X }): void => {}", "type O = { b?: X }\nexport const f = (a: O): void => {}"),
        ("export const f = (a: { b?: X }): void => {}", "interface O { b?: X }\nexport const f = (a: O): void => {}"),
        (
            "type R<T> = { at: T | null }\nconst g = 1\nexport const f = <T>(): R<T> => g",
            "type R<T> = { at: T }\nconst g = 1\nexport const f = <T>(): R<T | null> => g",
        ),
        (
            "type H = string & E\nexport const f = (...c: (number | H)[]): void => {}",
            "type C = string | number | null | C[]\nexport const f = (...c: C[]): void => {}",
        ),
        ("export const f = (a: RequestInfo): void => {}", "export const f = (a: Request | string): void => {}"),
        # Arguments that have defaults.
        ("export const f = (a: O): M<E> => x", "export const f = <R = S>(a: O<R>): M<E, R> => x"),
        ("export const f = (a: string | Bytes): void => {}", "export const f = (a: string | Bytes<B>): void => {}"),
        ("export type V = { a: any }", "export type V<T = any> = { a: T }"),
        ("export type M<E> = (c: E) => P<A | void>", "export type M<E, R = A> = (c: E) => P<R | void>"),
        # What is computed cannot be compared by its text.
        ("export type T<S> = { [K in S]: A<K> }", "export type T<S> = S extends B ? A<S> : never"),
        ("export type T<S> = Pick<S, 'a'>", "export type T<S> = { a: string }"),
        (
            "export interface F<E> { <P extends A>(p: P): H<E> }",
            "export interface F<E> { <P extends A, Q = P>(p: P): H<E> }",
        ),
        # A function value shows the type that is written for it.
        ("export const f = async (a: string): Promise<A> => x", "export const f: F = async (a): Promise<A> => x"),
        ("export const f: F = (a) => x", "export const f: F = (a, b) => y"),
        ("export const f: (a: A, b?: B) => C = (a) => x", "export const f: (c: A, d?: B) => C = (c) => x"),
        ("export const f: F = (a) => x", "export const f: F = make(a)"),
        ("export type W = { a: string }", "export class W { a = '' }"),
        ("export class A { go(b: string) { return b } }", "export class A { go: typeof go = go }"),
        ("export class C { req: R }", "export class C { get req(): R { return x } }"),
        (
            "export const f = <T extends (...a: unknown[]) => unknown>(c: T): T => c",
            "export const f = <T extends Function>(c: T): T => c",
        ),
        (
            "export const f = (to: string, status: S = 302): Response => x",
            "export const f = <T extends S = 302>(to: string, status?: T): Response & X<T> => x",
        ),
        ("export const x: string = 'a'", "export const x = 'a'"),
        ("export type U = (e: (c: C) => W | P) => M", "export type U<T = any> = (e: (c: C) => W | P, o?: T) => M"),
        (
            "export const f = (g: (e: E) => void): void => {}",
            "export const f = (g: (e: E) => string | void): void => {}",
        ),
        ("export type S = -1", "type N = -1\nexport type S = N"),
        # The members may have come with what it was built on.
        ("export interface R extends Response { a: string }", "export interface R { a: string; ok: boolean }"),
    ],
)
def test_what_users_cannot_tell_apart_breaks_nobody(before: str, after: str) -> None:
    assert _breaking(f"{before}\n", f"{after}\n") <= {"R"}
    assert "R.ok" not in _breaking(f"{before}\n", f"{after}\n")


@pytest.mark.parametrize(
    ("before", "after", "broken"),
    [
        ("export const f = (a: { b?: X }): void => {}", "type O = { b: X }\nexport const f = (a: O): void => {}", "f"),
        ("export const f = (a: A[]): void => {}", "type C = B[]\nexport const f = (a: C): void => {}", "f"),
        ("export const f = (): M<E> => x", "export const f = (): M<F> => x", "f"),
        ("export const f: F<A> = (a) => x", "export const f: F<B> = (a) => x", "f"),
        ("export const f = (a: string): A => x", "export const f = 5", "f"),
        ("export type V = { a: any }", "export type V<T> = { a: T }", "V"),
        ("export type V = { a?: S } & W", "export type V = { a: S } & W", "V"),
        ("export interface F { (a: A): B }", "export interface F { (a: A, b: B): B }", "F"),
        ("export type W = { a: string }", "export const W = 1", "W"),
        ("export type U = (e: A) => M", "export type U = (e: A, b: B) => M", "U"),
        ("export type U = A | ((e: A) => M)", "export type U = ((e: A) => M)", "U"),
    ],
)
def test_what_users_can_tell_apart_still_breaks(before: str, after: str, broken: str) -> None:
    assert broken in _breaking(f"{before}\n", f"{after}\n")
