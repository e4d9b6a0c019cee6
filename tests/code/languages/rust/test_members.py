"""Names, paths, fields and methods of Rust, followed by modules and by declared types."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import made, texts

pytestmark = requirement("RES-50")

MANIFEST = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
_MARK = re.compile(r"«(\w+)»|‹(\w+)›|\?(\w+)\?")


def marked(text: str) -> tuple[str, dict[str, str]]:
    """Return a text without its marks, and the marked places: `«name»` is certain, `?name?` is proposed."""
    places: dict[str, str] = {}
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        while (mark := _MARK.search(line)) is not None:
            name = mark[1] or mark[2] or mark[3]
            places[f"{number}:{mark.start() + 1}"] = "defined" if mark[2] else "sure" if mark[1] else "proposed"
            line = f"{line[: mark.start()]}{name}{line[mark.end() :]}"
        lines.append(line)
    return "\n".join(lines), places


def check(folder: Path, files: Mapping[str, str]) -> None:
    """Ask for the references of what is marked as `‹defined›`, and compare them with the marked places."""
    texts, wanted = {"Cargo.toml": MANIFEST}, {}
    asked = ""
    for path, text in files.items():
        texts[path], places = marked(text)
        for place, how in places.items():
            asked = f"{path}:{place}" if how == "defined" else asked
            wanted[f"{path}:{place}"] = "proposed" if how == "proposed" else "sure"
    with written(folder / "repo", texts) as repo:
        found = repo.uses(asked)
    shown = {place: "sure" if tier in ("PROVEN", "STRONG") else "proposed" for place, tier in found.items()}
    assert shown == wanted


CASES: dict[str, dict[str, str]] = {
    "a field that a macro reads and makes a text of": {
        "src/main.rs": "macro_rules! show { ($($field:ident),*) => {\n"
        "    fn show(&self) { $( put(stringify!($field), &self.$field); )* }\n} }\nfn put(s: &str, n: &u8) {}\n"
        "struct A { ‹left›: u8, right: u8 }\nimpl A { show!(«left», right); }\n"
        "struct B { left: u8 }\nimpl B { show!(left); }\n",
    },
    "a macro is known in the modules below it": {
        "src/main.rs": "macro_rules! ‹cap› { () => { 1 }; }\nmod shop;\n"
        "mod inner { fn f() -> u8 { «cap»!() } }\nfn g() -> u8 { «cap»!() }\n",
        "src/shop.rs": "mod till;\nfn f() -> u8 { «cap»!() }\n",
        "src/shop/till.rs": "fn f() -> u8 { «cap»!() }\n",
    },
    "a macro of a module under macro_use is known below that, and one of another module is not": {
        "src/main.rs": "#[macro_use]\nmod tools;\nmod shop;\n",
        "src/tools.rs": "macro_rules! ‹cap› { () => { 1 }; }\n",
        "src/shop.rs": "mod own { macro_rules! cap { () => { 2 }; } fn g() -> u8 { cap!() } }\n"
        "fn f() -> u8 { «cap»!() }\n",
    },
    "a macro below the module that uses its name is asked about": {
        "src/main.rs": "mod shop;\nmacro_rules! ‹cap› { () => { 1 }; }\n",
        "src/shop.rs": "fn f() -> u8 { ?cap?!() }\n",
    },
    "the name of a loop is no use of a field": {
        "src/main.rs": "struct A { ‹name›: u8 }\n"
        "fn f(a: A) -> u8 { 'name: loop { if a.«name» > 1 { break 'name; } continue 'name; } 1 }\n",
    },
    "the body of a macro means what it means where it is called": {
        "src/main.rs": "struct A;\nimpl A { fn ‹go›(&self) {} fn put(&self) {} }\nstruct B;\n"
        "impl B { fn go(&self) {} }\n"
        "macro_rules! run { ($x:expr) => { $x.«go»() }; }\nfn f(a: A) { run!(a); }\n",
    },
    "a macro that is called with several types is asked about": {
        "src/main.rs": "struct A;\nimpl A { fn ‹go›(&self) {} }\nstruct B;\nimpl B { fn go(&self) {} }\n"
        "macro_rules! run { ($x:expr) => { $x.?go?() }; }\nfn f(a: A, b: B) { run!(a); run!(b); }\n",
    },
    "names that a macro is given as parts of code": {
        "src/main.rs": "struct A;\nimpl A { fn ‹go›(&self) {} fn put(&self) {} }\nstruct B;\n"
        "impl B { fn go(&self) {} }\n"
        "macro_rules! call { (go $t:ty, $($m:ident),*) => { $( fn $m(x: &$t) { x.$m(); } )* }; }\n"
        "call!(go A, «go», put);\n",
    },
    "methods that a macro writes into an implementation": {
        "src/lib.rs": "pub trait Area { fn ‹area›(&self) -> u32; }\npub struct Square;\n"
        "impl Area for Square { fn area(&self) -> u32 { 1 } }\n"
        "macro_rules! forward { () => { fn «area»(&self) -> u32 { (**self).«area»() } }; }\n"
        "impl<T: Area + ?Sized> Area for &T { forward!(); }\nimpl<T: Area> Area for Box<T> { forward!(); }\n",
    },
    "items and variables that a macro writes under their own names": {
        "src/main.rs": "struct A;\nimpl A { fn ‹go›(&self) {} }\n"
        "macro_rules! tests { ($m:ident) => { mod $m { use super::*; fn go() { let go = 1; A.«go»(); go + 1; } } }; }\n"
        "tests!(a);\ntests!(b);\n",
    },
    "a variant of an enum whose names are all brought into a block has fields of its own": {
        "src/main.rs": "enum E { Full { limit: u8 }, No }\nstruct S { ‹limit›: u8 }\n"
        "fn f(s: S, e: E) -> u8 { use E::*; match e { Full { limit } => limit, No => s.«limit» } }\n"
        "fn g(limit: u8) -> E { use E::*; Full { limit } }\n",
    },
    "a method that a trait gives to a type by a macro of the same file": {
        "src/main.rs": "trait Norm { fn norm(&self) -> u8; fn ‹twice›(&self) -> u8 { self.norm() } }\nstruct P;\n"
        "macro_rules! imp { ($($t:ident)*) => { $(impl Norm for $t { fn norm(&self) -> u8 { 1 } })* }; }\n"
        "imp! { P }\nimpl P { fn go(&self) -> u8 { self.«twice»() } }\n",
    },
    "a method that a trait gives to a type by a macro of another file": {
        "src/main.rs": "#[macro_use]\nmod m;\nmod a;\n"
        "trait Norm { fn norm(&self) -> u8; fn ‹twice›(&self) -> u8 { self.norm() } }\n",
        "src/m.rs": "macro_rules! imp { ($($t:ident)*) => { "
        "$(impl crate::Norm for $t { fn norm(&self) -> u8 { 1 } })* }; }\n",
        "src/a.rs": "use crate::Norm;\nstruct P;\nimp! { P }\nimpl P { fn go(&self) -> u8 { self.«twice»() } }\n",
    },
    "a method that a trait gives to types from outside by a macro": {
        "src/main.rs": "trait Norm { fn ‹norm›(&self) -> u8; }\n"
        "macro_rules! imp { ($($t:ty),*) => { $(impl Norm for $t { fn «norm»(&self) -> u8 { 1 } })* }; }\n"
        "imp! { u8, i32 }\nfn go(v: Vec<i32>) -> u8 { 5u8.«norm»() + v[0].«norm»() }\n",
    },
    "a method of a trait that a type may derive is asked about": {
        "src/main.rs": "trait Norm { fn ‹norm›(&self) -> u8; }\n#[derive(Norm, Clone)]\nstruct P;\n"
        "fn go(p: P) -> u8 { p.?norm?() }\n",
    },
    "names in the strings that standard macros format": {
        "src/main.rs": 'mod a;\npub static ‹HI›: &str = "x";\n'
        'fn f() { assert_eq!(1, 2, "{«HI»} {}", 1); println!(r"{«HI»:?}"); let s = "{HI}"; }\n'
        'fn k() { log!("{?HI?}"); println!("{HI}", HI = 2); } // {HI}\n',
        "src/a.rs": 'use crate::«HI»;\nmacro_rules! p { () => { println!("{?HI?}"); }; }\n'
        'fn g(HI: u8) { print!("{HI}"); }\nfn h() { panic!("{«HI»}{{HI}}"); }\n',
    },
    "everything of another crate inside a function may hide a name": {
        "src/main.rs": "fn ‹visit›(n: u8) { use std::fmt::*; ?visit?(n - 1); }\nfn f() { «visit»(1); }\n",
    },
    "everything of another crate beside everything of this one does not": {
        "src/main.rs": "fn ‹visit›(n: u8) {}\nmod tests { use super::*; use std::fmt::*; fn f() { «visit»(1); } }\n",
    },
    "imports that a macro writes": {
        "src/main.rs": "mod shop { pub struct ‹Item›; }\nuse shop::«Item»;\n"
        "macro_rules! tests { () => { use super::*; }; }\n"
        "mod a { fn f() -> «Item» { todo!() } tests!(); }\n",
    },
    "functions of one name in several implementations of a trait": {
        "src/main.rs": "struct A;\nimpl From<u8> for A { fn from(n: u8) -> A { A } }\n"
        "impl From<&str> for A { fn from(n: &str) -> Self { A } }\n#[derive(Default)]\nstruct B;\n"
        "impl A { fn ‹go›(&self) {} }\nimpl B { fn go(&self) {} }\n"
        "fn f() { let a = A::from(1); a.«go»(); let b = B::default(); b.go(); }\n",
    },
    "types from outside with a trait of the repository": {
        "src/lib.rs": "pub trait Feed { fn feed(&mut self); fn limit(self, n: u8) -> Limit<Self> where Self: Sized; }\n"
        "pub struct Limit<T>(T);\nimpl<T> Limit<T> { pub fn limit(&self) {} }\n"
        "impl Feed for &[u8] { fn feed(&mut self) {}\n    fn ‹limit›(self, n: u8) -> Limit<Self> { todo!() } }\n"
        'pub fn f() { let text = &b"abc"[..]; let l = text.«limit»(4); l.limit(); }\n',
    },
    "raw pointers have members behind a star": {
        "src/lib.rs": "struct A { n: u8 }\nimpl A { fn ‹is_null›(&self) {} }\n"
        "unsafe fn f(p: *mut A, q: *const ()) { p.is_null(); (*p).«is_null»(); let a = q as *mut A; (*a).«is_null»();\n"
        "    (*q.cast::<A>()).«is_null»(); }\n",
    },
    "variables of a macro are not those of its caller": {
        "src/main.rs": "struct A;\nimpl A { fn ‹go›(&self) {} }\nstruct B;\nimpl B { fn go(&self) {} }\n"
        "macro_rules! both { ($x:expr) => { let value = B; $x; value.go(); }; }\n"
        "fn f(value: A) { both!(value.«go»()); }\n",
    },
    "an empty array and comments before values are read": {
        "src/main.rs": "struct A;\nimpl A { fn ‹go›(&self) {} }\nfn f(a: A) {\n    let none: [u8; 0] = []; none.go();\n"
        "    let empty = []; empty.go();\n    let all = [/* first */ a]; (/* one */ all[0]).«go»();\n}\n",
    },
    "tests of a program do not reach its names": {
        "src/main.rs": "struct Entry;\nimpl Entry { pub fn ‹path›(&self) {} }\n"
        "fn f(e: &Entry, x: X) { e.«path»(); x.?path?(); }\n",
        "tests/outer.rs": "#[test]\nfn f() { temp().path(); }\n",
    },
    "tests of a library do": {
        "src/lib.rs": "pub struct Entry;\nimpl Entry { pub fn ‹path›(&self) {} }\n",
        "tests/outer.rs": "#[test]\nfn f() { temp().?path?(); }\n",
    },
    "parts of a string are strings": {
        "src/main.rs": "struct A;\nimpl A { fn ‹is_empty›(&self) -> bool { true } }\nfn f(text: &str, a: &A) {\n"
        "    let rest = text.trim_start_matches(' ');\n"
        "    if rest.is_empty() || a.«is_empty»() {}\n"
        "    for line in text.lines() { if line.trim().is_empty() {} }\n"
        "    if let Some((one, two)) = text.split_once(' ') { one.is_empty(); two.is_empty(); }\n}\n",
    },
    "an explicit type is that type's": {
        "src/main.rs": "mod size;\nuse std::path::Path;\nuse size::{Filter, Other};\nfn main() {\n"
        "    Filter::«parse»(); Other::parse(); Path::parse(); size::Filter::«parse»();\n}\n",
        "src/size.rs": "pub struct Filter;\nimpl Filter { pub fn ‹parse›() -> Self { Self::«parse»() } }\n"
        "pub struct Other;\nimpl Other { pub fn parse() {} }\n",
    },
    "a constructor is not that of other types": {
        "src/main.rs": "use std::path::Path;\nstruct Buffer { lines: Vec<u8> }\n"
        "impl Buffer { fn ‹new›() -> Self { Buffer { lines: Vec::new() } } }\n"
        'fn main() { let b = Buffer::«new»(); Path::new("x"); String::new(); b.lines.len(); }\n',
    },
    "a method is that of the declared receiver": {
        "src/main.rs": "mod a;\nuse a::{A, B};\nfn f(a: &A, b: &mut B, o: Option<A>, r: Result<Box<A>, u8>) {\n"
        "    a.«go»(); b.go(); o.unwrap().«go»(); r.as_ref().unwrap().«go»();\n"
        "    if let Some(x) = &o { x.«go»(); }\n"
        "    match r { Ok(y) => y.«go»(), Err(_) => {} }\n}\n"
        "fn g(list: Vec<A>) -> Result<(), u8> {\n    for one in &list { one.«go»(); }\n"
        "    list.iter().filter(|x| x.ok()).for_each(|x| x.«go»());\n    let z = made()?; z.«go»();\n"
        "    let (p, q) = (A, B); p.«go»(); q.go();\n    A.«go»(); list[0].«go»(); Ok(())\n}\n"
        "fn made() -> Result<A, u8> { Ok(A) }\nasync fn h() { later().await.«go»(); }\nasync fn later() -> A { A }\n",
        "src/a.rs": "pub struct A;\nimpl A { pub fn ‹go›(&self) {} pub fn ok(&self) -> bool { self.«go»(); true } }\n"
        "pub struct B;\nimpl B { pub fn go(&self) {} }\n",
    },
    "an unknown receiver is a proposal": {
        "src/main.rs": "struct A { go: u8 }\nimpl A { fn ‹go›(&self, n: u8) {} }\n"
        "fn f() { let x = unknown(); x.?go?(1); x.go(1, 2); x.go; }\n",
    },
    "fields are found in literals and patterns": {
        "src/main.rs": "struct P { ‹size›: u8 }\nstruct Q { size: u8 }\n"
        "fn f(p: P, q: Q) -> u8 {\n    let P { size: other } = p;\n"
        "    let made = P { «size»: 1 };\n    made.«size» + q.size + Q { size: other }.size\n}\n".replace(
            "P { size: other }", "P { «size»: other }"
        )
        + "fn g(size: u8) -> P { P { «size» } }\nfn h(p: P) -> u8 { let P { «size» } = p; size }\n"
        "impl P { fn size(&self) -> u8 { self.«size» } }\n",
    },
    "a field is not a method of the same name": {
        "src/main.rs": "struct P { size: u8 }\nimpl P { fn ‹size›(&self) -> u8 { self.size } }\n"
        "fn f(p: P) -> u8 { p.«size»() + p.size }\n",
    },
    "a variable hides a function only behind its own statement": {
        "src/main.rs": 'fn ‹count›() -> u8 { 1 }\nfn main() {\n    let count = «count»();\n    println!("{}", count);\n'
        "    let f = || { let count = count; count };\n}\n",
    },
    "a variable does not hide a module": {
        "src/main.rs": "mod config;\nfn main() { let config = config::«load»(); config.load(); }\n",
        "src/config.rs": "pub struct C;\nimpl C { pub fn load(&self) {} }\npub fn ‹load›() -> C { C }\n",
    },
    "imports by nested trees, globs, aliases and re-exports": {
        "src/main.rs": "mod a;\nmod b;\nuse crate::{a::{inner::{«Thing» as Other}}, b::*};\n"
        "fn main() { let x: Other = «Thing»; let y = crate::b::«Thing»; let z = a::inner::deep::«Thing»; }\n",
        "src/a.rs": "pub mod inner {\n    pub use self::deep::«Thing»;\n    pub mod deep {\n"
        "        pub struct ‹Thing›;\n        impl super::super::Trait for «Thing» {}\n    }\n}\n"
        "pub trait Trait {}\nstruct Thing2;\n",
        "src/b.rs": "pub use super::a::inner::«Thing»;\nmod own { struct Thing; fn f() -> Thing { Thing } }\n",
    },
    "tests in the same file": {
        "src/lib.rs": "fn ‹helper›() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n"
        "    fn works() { «helper»(); super::«helper»(); assert_eq!(«helper»(), ()); }\n}\n"
        "mod other { fn helper() {} fn g() { helper(); } }\n",
    },
    "an inline module does not see what is around it": {
        "src/lib.rs": "mod b { pub fn ‹helper›() {} }\nfn helper() {}\n"
        "mod a { use crate::b::*; fn f() { «helper»(); super::helper(); } }\nfn g() { helper(); b::«helper»(); }\n",
    },
    "variants in paths, patterns and globs": {
        "src/main.rs": "enum E { ‹Aa›, Bb(u8) }\nenum F { Aa }\nuse E::*;\n"
        "fn g(e: E) { match e { «Aa» => {}, E::Bb(_) => {} } let _ = (E::«Aa», F::Aa); }\n"
        "impl E { fn is(&self) -> bool { matches!(self, Self::«Aa») } }\n",
    },
    "bounds say which trait": {
        "src/main.rs": "trait T { fn ‹go›(&self); fn make() -> Self where Self: Sized; }\ntrait U { fn go(&self); }\n"
        "fn f<X: T, Y>(x: X, y: Y, z: &dyn T, i: impl U) where Y: U { x.«go»(); y.go(); z.«go»(); i.go(); }\n"
        "fn h<X: T>(x: X) { T::«go»(&x); X::«go»(&x); <X as T>::«go»(&x); }\n",
    },
    "default methods of traits": {
        "src/main.rs": "trait T { fn ‹go›(&self) {} }\nstruct A;\nimpl T for A {}\nstruct B;\n"
        "impl B { fn go(&self) {} }\nfn f(a: A, b: B) { a.«go»(); b.go(); }\n",
    },
    "names in macros": {
        "src/main.rs": "struct A { ‹size›: u8 }\nfn f(a: A, b: Vec<A>) {\n"
        '    println!("{}", a.«size»);\n    assert!(b.iter().all(|x| x.«size» == 1));\n    let v = vec![a.«size»];\n'
        "    custom!(a.?size?);\n}\n",
    },
    "macros of the same name as a function": {
        "src/main.rs": 'fn ‹print›() {}\nfn f() { «print»(); print!("x"); }\n',
    },
    "macros in functions": {
        "src/main.rs": "fn check() {}\nfn main() {\n    macro_rules! ‹check› {\n        () => {};\n    }\n"
        "    «check»!();\n    check();\n}\n",
    },
    "strings of attributes that are paths": {
        "src/main.rs": "mod make;\nstruct S {\n"
        '    #[serde(default = "make::«start»", rename = "start")]\n    n: u8,\n}\n',
        "src/make.rs": 'pub fn ‹start›() -> u8 { 1 }\nstruct T {\n    #[serde(default = "«start»")]\n    n: u8,\n}\n',
    },
    "paths in macro_rules": {
        "src/lib.rs": "#[macro_export]\nmacro_rules! m { () => { $crate::inner::«helper»() }; }\n"
        "pub mod inner { pub fn ‹helper›() {} }\n",
    },
    "a type behind a smart pointer": {
        "src/main.rs": "use std::rc::Rc;\nuse std::sync::{Arc, Mutex};\nstruct A;\nimpl A { fn ‹go›(&self) {} }\n"
        "fn f(a: Rc<A>, b: Arc<Mutex<A>>) { a.«go»(); a.clone().«go»(); b.lock().unwrap().«go»();\n"
        "    Rc::new(A).«go»();\n}\n",
    },
    "what a type dereferences to": {
        "src/main.rs": "use std::ops::Deref;\nstruct A;\nimpl A { fn ‹go›(&self) {} }\nstruct W(A);\n"
        "impl Deref for W { type Target = A; fn deref(&self) -> &A { &self.0 } }\n"
        "fn f(w: W) { w.«go»(); w.0.«go»(); }\n",
    },
    "generic types give what they are made of": {
        "src/main.rs": "struct A;\nimpl A { fn ‹go›(&self) {} }\nstruct B;\nimpl B { fn go(&self) {} }\n"
        "struct W<T> { inner: T }\nimpl<T> W<T> { fn get(&self) -> &T { &self.inner } }\n"
        "fn f(a: W<A>, b: W<B>) { a.inner.«go»(); b.inner.go(); a.get().«go»(); b.get().go(); }\n",
    },
    "a builder": {
        "src/main.rs": "#[derive(Default)]\nstruct B { n: u8 }\nimpl B {\n    fn new() -> Self { Self { n: 0 } }\n"
        "    fn ‹with›(mut self, n: u8) -> Self { self.n = n; self }\n"
        "    fn done(self) -> Result<u8, u8> { Ok(self.n) }\n}\n"
        "fn f() -> Result<u8, u8> { B::new().«with»(1).«with»(2).done()?;\n"
        "    Some(B::new()).map(|b| b.«with»(3)); Ok(1)\n}\n",
    },
    "closures given to functions of the repository": {
        "src/main.rs": "struct A;\nimpl A { fn ‹go›(&self) {} }\nstruct B;\nimpl B { fn go(&self) {} }\n"
        "fn each<F: Fn(&A, B)>(f: F) {}\nfn with(f: impl FnOnce(A)) {}\n"
        "fn f() { each(|a, b| { a.«go»(); b.go(); }); with(|x| x.«go»()); }\n",
    },
    "blocks in other files": {
        "src/main.rs": "mod a;\nmod b;\nfn f(a: a::A) { a.«go»(); }\n",
        "src/a.rs": "pub struct A { pub(crate) n: u8 }\n",
        "src/b.rs": "use crate::a::A;\nimpl A { pub fn ‹go›(&self) -> u8 { self.n } }\n"
        "struct C;\nimpl C { fn go(&self) {} }\n",
    },
    "what a trait gives a type from outside": {
        "src/main.rs": "use core::arch::x86_64::{__m128i, __m256i};\n"
        "pub trait Vector { const BYTES: usize; }\nimpl Vector for __m256i { const ‹BYTES›: usize = 32; }\n"
        "fn f() -> usize { __m256i::?BYTES? + __m128i::BYTES }\n",
    },
    "files named by an attribute": {
        "src/main.rs": '#[path = "odd/place.rs"]\nmod tidy;\nfn main() { tidy::«go»(); }\n',
        "src/odd/place.rs": "pub fn ‹go›() { super::tidy::«go»(); }\n",
    },
}


@pytest.mark.parametrize("case", CASES)
def test_names_mean_what_the_compiler_says(tmp_path: Path, case: str) -> None:
    check(tmp_path, CASES[case])


WORKSPACE = {
    "Cargo.toml": '[workspace]\nmembers = ["one", "two"]\n',
    "one/Cargo.toml": '[package]\nname = "part-one"\n',
    "one/src/lib.rs": "pub struct Thing;\nimpl Thing { pub fn go(&self) {} }\n",
    "two/Cargo.toml": '[package]\nname = "two"\n[dependencies]\npart-one = { path = "../one" }\n',
    "two/src/main.rs": "use part_one::Thing;\nfn main() { Thing.go(); }\n",
    "two/tests/all.rs": "use part_one::*;\n#[test]\nfn t() { Thing.go(); part_one::Thing.go(); }\n",
}


def test_crates_of_a_workspace_are_followed(tmp_path: Path) -> None:
    with written(tmp_path / "repo", WORKSPACE) as repo:
        assert set(repo.uses("Thing.go").values()) == {"PROVEN", "STRONG"}
        assert len(repo.uses("Thing.go")) == 4
        assert len(repo.uses("Thing")) == 6


SIZED = {
    "Cargo.toml": '[package]\nname = "sized"\n',
    "src/lib.rs": (
        "pub struct List<T, const CAP: usize> { items: [T; CAP] }\n"
        "impl<T, const CAP: usize> List<T, CAP> {\n"
        "    const SIZE: usize = CAP;\n"
        "    pub fn left(&self) -> usize { CAP }\n"
        "    pub fn grown<const MORE: usize>(&self) -> List<T, MORE> { todo!() }\n"
        "}\n"
        "pub fn first<T, const CAP: usize>(list: &List<T, CAP>) -> &T { &list.items[0] }\n"
    ),
}


def test_constant_parameters_are_those_of_their_item(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SIZED) as repo:
        assert sorted(repo.uses("src/lib.rs:2:15")) == [
            "src/lib.rs:2:15",
            "src/lib.rs:2:35",
            "src/lib.rs:3:25",
            "src/lib.rs:4:35",
        ]
        assert sorted(repo.uses("src/lib.rs:5:24")) == ["src/lib.rs:5:24", "src/lib.rs:5:55"]
        assert sorted(repo.uses("src/lib.rs:1:26")) == ["src/lib.rs:1:26", "src/lib.rs:1:51"]
        for query in ("src/lib.rs:2:15", "src/lib.rs:5:24", "src/lib.rs:1:26"):
            assert set(repo.uses(query).values()) <= {"PROVEN", "STRONG"}


HELD = {
    "Cargo.toml": '[package]\nname = "held"\n',
    "src/lib.rs": (
        "use std::mem::ManuallyDrop;\n"
        "pub struct Shared { cap: usize }\n"
        "pub unsafe fn raw(shared: *mut Shared) -> usize {\n"
        "    let shared = *Box::from_raw(shared);\n"
        "    let shared = ManuallyDrop::new(shared);\n"
        "    shared.cap\n"
        "}\n"
        "pub fn made(shared: usize) -> usize {\n"
        "    let held = ManuallyDrop::new(unknown(shared));\n"
        "    held.cap\n"
        "}\n"
        "pub trait Buf { fn advance(&mut self, count: usize); }\n"
        "impl<T: AsRef<[u8]>> Buf for std::io::Cursor<T> { fn advance(&mut self, count: usize) {} }\n"
        "pub fn use_it(buf: &mut impl Buf) { buf.advance(1); }\n"
    ),
}


def test_what_a_pointer_holds_is_read_through_it_and_is_not_known_without_a_type(tmp_path: Path) -> None:
    with written(tmp_path / "repo", HELD) as repo:
        uses = repo.uses("Shared.cap")
    assert set(uses) == {"src/lib.rs:2:21", "src/lib.rs:6:12", "src/lib.rs:10:10"}
    assert uses["src/lib.rs:6:12"] == "STRONG" and uses["src/lib.rs:10:10"] == "ANCHORED"


async def test_a_trait_for_a_generic_type_behind_a_path_is_implemented(tmp_path: Path) -> None:
    root = made(tmp_path, HELD)
    async with asking(root) as ask:
        done = await ask("refactor.rename", symbol="src/lib.rs:13:54", new_name="skip", apply=True)
        assert result(done)["status"] == "applied"
    after = texts(root)["src/lib.rs"]
    assert "advance" not in after and after.count("skip(") == 3
