"""What the root of a Rust crate reaches is public; what it does not reach is not."""

from pathlib import Path

import pytest

from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.compare.test_public_surface import broken
from tests.query.compare.versions import compared, every

pytestmark = requirement("CMP-12")
MANIFEST = '[package]\nname = "shapes"\nedition = "2021"\n'
FILES = {
    "Cargo.toml": MANIFEST,
    "src/lib.rs": (
        "mod inner;\nmod draw;\npub mod map;\nmod macros;\n#[doc(hidden)]\npub mod private;\n"
        '#[cfg_attr(windows, path = "windows.rs")]\npub mod system;\n'
        "pub use crate::inner::{Kept, Old as New};\npub use draw::*;\n\n"
        "mod local {\n    pub fn near(a: u8) {}\n    pub fn far(a: u8) {}\n}\npub use local::near;\n"
        '#[cfg(feature = "unstable-early")]\npub mod early;\n#[cfg(feature = "optional")]\npub mod optional;\n'
        "pub use optional::_support;\ndeclare! { tokens }\ncfg_feature! {\n    pub mod extra;\n}\n"
    ),
    "src/inner.rs": (
        "pub struct Kept;\n\nimpl Kept {\n    pub fn keep(&self, a: u8) {}\n"
        "    pub fn lend(&self) -> Lent {\n        Lent\n    }\n}\n\n"
        "impl crate::macros::Adds for Kept {}\nimpl crate::map::Open for Kept {}\n\n"
        "pub struct Old;\n\npub struct Lent;\n\nimpl Lent {\n    pub fn back(&self, a: u8) {}\n}\n\n"
        "pub struct Trie;\n\nimpl Trie {\n    pub fn insert(&self, a: u8) {}\n}\n"
    ),
    "src/draw.rs": "pub fn draw(a: u8) {}\n\npub(crate) fn paint(a: u8) {}\n\nmod deep;\n\npub use self::deep::dive;\n",
    "src/draw/deep.rs": "pub fn dive(a: u8) {}\n\npub fn sink(a: u8) {}\n",
    "src/map.rs": "pub use std::fmt::Debug;\n\npub fn walk(a: u8) {}\n\npub(super) fn step(a: u8) {}\n\n"
    "impl crate::inner::Trie {\n    pub fn grow(&self, a: u8) {}\n}\n\n"
    "impl crate::Kept {\n    pub fn more(&self, a: u8) {}\n}\n\n"
    "pub trait Open {\n    fn open(&self);\n}\n\npub trait Closed: sealed::Sealed {\n    fn close(&self);\n}\n\n"
    "mod sealed {\n    pub trait Sealed {}\n}\n",
    "src/macros.rs": "pub use std::fmt::Debug;\n\npub trait Adds {}\n\n"
    "#[macro_export]\nmacro_rules! sum {\n    ($a:expr) => { $a };\n}\n\npub fn add(a: u8) {}\n",
    "src/private.rs": "pub fn support(a: u8) {}\n",
    "src/system.rs": "pub fn open(a: u8) {}\n",
    "src/windows.rs": "pub fn open(a: u8) {}\n",
    "src/early.rs": "pub fn early(a: u8) {}\n",
    "src/optional.rs": 'pub fn optional(a: u8) {}\n\n#[cfg(all(unix, feature = "unstable"))]\npub fn tried(a: u8) {}\n'
    "\n#[doc(hidden)]\npub fn _support(a: u8) {}\n",
    "src/extra.rs": "pub fn extra(a: u8) {}\n",
    "src/generated.rs": "pub fn made(a: u8) {}\n",
}


def edited(tmp_path: Path, path: str, old: str, new: str) -> set[str]:
    root = make_repo(tmp_path / "repo", FILES)
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new))
    return broken(root)


@pytest.mark.parametrize(
    ("path", "function", "breaks"),
    [
        ("src/inner.rs", "keep(&self, ", True),
        ("src/inner.rs", "insert(&self, ", False),
        # No path leads to the type, but users get values of it.
        ("src/inner.rs", "back(&self, ", True),
        ("src/draw.rs", "draw(", True),
        ("src/draw.rs", "paint(", False),
        ("src/draw/deep.rs", "dive(", True),
        ("src/draw/deep.rs", "sink(", False),
        ("src/map.rs", "walk(", True),
        ("src/map.rs", "step(", False),
        # `impl` blocks of types that other files define.
        ("src/map.rs", "grow(&self, ", False),
        ("src/map.rs", "more(&self, ", True),
        ("src/lib.rs", "near(", True),
        ("src/lib.rs", "far(", False),
        # Features and names that promise nothing.
        ("src/early.rs", "early(", False),
        ("src/optional.rs", "optional(", True),
        ("src/optional.rs", "tried(", False),
        ("src/optional.rs", "_support(", False),
        ("src/macros.rs", "add(", False),
        ("src/private.rs", "support(", False),
        # Either file may be the module.
        ("src/system.rs", "open(", True),
        ("src/windows.rs", "open(", True),
        # Macros may declare these.
        ("src/extra.rs", "extra(", True),
        ("src/generated.rs", "made(", True),
    ],
)
def test_only_what_the_root_reaches_can_break(tmp_path: Path, path: str, function: str, breaks: bool) -> None:
    assert bool(edited(tmp_path, path, f"{function}a: u8", f"{function}a: u16")) == breaks


@pytest.mark.parametrize(
    ("path", "old", "new", "breaks"),
    [
        ("src/lib.rs", "Old as New", "Old as Newer", True),
        ("src/lib.rs", "{Kept, Old as New}", "{Old as New, Kept}", False),
        ("src/lib.rs", "pub use draw::*;", "pub use draw::{dive, draw};", False),
        ("src/lib.rs", "pub use draw::*;", "pub use draw::draw;", True),
        ("src/lib.rs", "pub mod map;", "mod map;", True),
        # What it passes on is hidden.
        ("src/lib.rs", "pub use optional::_support;\n", "", False),
        # A `pub use` that nothing reaches.
        ("src/macros.rs", "pub use std::fmt::Debug;\n", "", False),
        ("src/map.rs", "pub use std::fmt::Debug;\n", "", True),
        # Nobody else knows the trait.
        ("src/inner.rs", "impl crate::macros::Adds for Kept {}\n", "", False),
        ("src/inner.rs", "impl crate::map::Open for Kept {}\n", "", True),
        ("src/inner.rs", "pub struct Old;", "pub(crate) struct Old;", True),
        ("src/inner.rs", "pub struct Old;\n", "", True),
        ("src/draw/deep.rs", "pub fn sink(a: u8) {}\n", "", False),
        ("src/draw/deep.rs", "pub fn dive(a: u8) {}\n", "", True),
        ("src/macros.rs", "#[macro_export]\n", "", True),
        ("src/map.rs", "fn open(&self);", "fn open(&self);\n    fn shut(&self);", True),
        # Nobody else can implement it.
        ("src/map.rs", "fn close(&self);", "fn close(&self);\n    fn shut(&self);", False),
    ],
)
def test_paths_and_promises(tmp_path: Path, path: str, old: str, new: str, breaks: bool) -> None:
    assert bool(edited(tmp_path, path, old, new)) == breaks


def test_a_method_may_move_to_another_file_as_it_is(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    method = "    pub fn keep(&self, a: u8) {}\n"
    inner, walk = root / "src/inner.rs", root / "src/map.rs"
    inner.write_text(inner.read_text().replace(method, ""))
    before = walk.read_text()
    walk.write_text(before.replace("impl crate::Kept {\n", f"impl crate::Kept {{\n{method}"))
    assert broken(root) == set()
    walk.write_text(before)
    assert "Kept.keep" in broken(root)


def test_a_module_may_move_below_what_passes_it_on(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    (root / "src/draw/deep.rs").rename(root / "src/draw/deeper.rs")
    draw = root / "src/draw.rs"
    draw.write_text(draw.read_text().replace("mod deep;", "mod deeper;").replace("self::deep::", "self::deeper::"))
    assert broken(root) == set()
    draw.write_text(draw.read_text().replace("pub use self::deeper::dive;\n", ""))
    assert broken(root) != set()


@pytest.mark.parametrize(
    ("old", "new", "breaks"), [("Shape,", "Form,", True), ("fn expand(a: u8)", "fn grow(a: u16)", False)]
)
def test_a_macro_crate_gives_away_its_macros_alone(tmp_path: Path, old: str, new: str, breaks: bool) -> None:
    lib = (
        "mod parts;\npub use parts::expand;\n\n#[proc_macro_derive(Shape, attributes(side))]\n"
        "pub fn derive(input: TokenStream) -> TokenStream {\n    input\n}\n"
    )
    files = {
        "Cargo.toml": MANIFEST + "[lib]\nproc-macro = true\n",
        "src/lib.rs": lib,
        "src/parts.rs": "pub fn expand(a: u8) {}\n",
    }
    root = make_repo(tmp_path / "repo", files)
    for path in ("src/lib.rs", "src/parts.rs"):
        (root / path).write_text((root / path).read_text().replace(old, new))
    assert bool(broken(root)) == breaks


def test_the_root_is_the_file_that_the_manifest_names(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": MANIFEST + '[lib]\npath = "source/root.rs"\n',
        "source/root.rs": "pub mod seen;\nmod unseen;\n",
        "source/seen.rs": "pub fn go(a: u8) {}\n",
        "source/unseen.rs": "pub fn stay(a: u8) {}\n",
    }
    root = make_repo(tmp_path / "repo", files)
    (root / "source/unseen.rs").write_text("pub fn stay(a: u16) {}\n")
    assert broken(root) == set()
    (root / "source/seen.rs").write_text("pub fn go(a: u16) {}\n")
    assert broken(root) == {"go"}


SPELLED = (
    "use anstyle::Style;\nuse other::*;\nuse std::fmt;\n\nmod inner {\n    pub struct Part;\n}\n\n"
    "pub struct Text;\n\nimpl Text {\n    pub fn new() -> Text {}\n"
    "    pub fn paint(&self, style: anstyle::Style) -> &anstyle::Style {}\n"
    "    pub fn show(&self, shown: impl std::fmt::Display) {}\n    pub fn each(&self) -> Option<Each<u8>> {}\n"
    "    pub fn last(&self) -> Last {}\n    pub fn check(&self) -> std::io::Error {}\n}\n\n"
    "pub type Inner = crate::inner::Part;\n\npub struct Ranged<T: std::convert::TryFrom<u64> = u64>(T);\n\n"
    "pub fn put(into: impl core::fmt::Write) {}\n\npub trait Shown {\n    fn name(&self) -> &str;\n}\n\n"
    "pub struct Args<'s>(&'s str);\n\nimpl<'s> Args<'s> {\n"
    "    pub fn next(&self, at: &mut usize) -> Option<Part<'_>> {}\n"
    "    pub fn both(&self, other: &str) -> &str {}\n    pub fn far(&self) -> other::Far {}\n}\n\n"
    "pub fn cut(text: &str) -> &str {}\n\n"
    "pub struct Held<T>(T);\n\nimpl<T> Held<T> {\n    pub fn hold() -> Held<u8> {}\n}\n"
)


@pytest.mark.parametrize(
    ("old", "new", "breaks"),
    [
        ("-> Text {}", "-> Self {}", False),
        ("style: anstyle::Style) -> &anstyle::Style", "style: Style) -> &Style", False),
        ("impl std::fmt::Display", "impl fmt::Display", False),
        ("Each<u8>", "Each<'_, u8>", False),
        ("-> Last {}", "-> Last<'_> {}", False),
        ("-> Last {}", "-> Last<'static> {}", True),
        ("-> std::io::Error", "-> Error", True),
        ("-> Held<u8>", "-> Self", True),
        ("style: anstyle::Style", "style: fmt::Style", True),
        ("= crate::inner::Part", "= inner::Part", False),
        ("= crate::inner::Part", "= self::inner::Part", False),
        ("= crate::inner::Part", "= crate::other::Part", True),
        ("T: std::convert::TryFrom<u64>", "T: TryFrom<u64>", False),
        ("T: std::convert::TryFrom<u64>", "T: std::convert::TryInto<u64>", True),
        ("core::fmt::Write", "std::fmt::Write", False),
        ("core::fmt::Write", "std::io::Write", True),
        # A name that only `use other::*` can bring.
        ("-> other::Far", "-> Far", False),
        ("-> other::Far", "-> Near", True),
        # What leaving a lifetime out means.
        (
            "next(&self, at: &mut usize) -> Option<Part<'_>>",
            "next<'a>(&'a self, at: &mut usize) -> Option<Part<'a>>",
            False,
        ),
        (
            "next(&self, at: &mut usize) -> Option<Part<'_>>",
            "next<'a>(&self, at: &'a mut usize) -> Option<Part<'a>>",
            True,
        ),
        ("both(&self, other: &str) -> &str", "both<'a>(&self, other: &'a str) -> &'a str", True),
        ("both(&self, other: &str) -> &str", "both<'a>(&'a self, other: &'a str) -> &'a str", True),
        ("cut(text: &str) -> &str", "cut<'a>(text: &'a str) -> &'a str", False),
        # What lives as long as the text that it was made from outlives the borrow.
        ("both(&self, other: &str) -> &str", "both(&self, other: &str) -> &'s str", False),
        ("both(&self, other: &str) -> &str", "both(&self, other: &str) -> &'static str", False),
        ("name(&self) -> &str", "name(&self) -> &'static str", True),
    ],
)
def test_a_type_may_be_spelled_differently(old: str, new: str, breaks: bool) -> None:
    assert old in SPELLED
    changes = every(compared("src/lib.rs", SPELLED, SPELLED.replace(old, new)))
    assert any(change.breaking for change in changes) == breaks


HELD = {
    "Cargo.toml": MANIFEST,
    "src/lib.rs": "mod parts;\npub use parts::{Merge, Pair, Held, join, Sum, Wrapped};\n",
    "src/parts.rs": (
        "pub struct Inner<I, C>(I, C);\n\npub type Merge<I> = Inner<I, u8>;\n\npub struct Pair<I>(Vec<I>);\n\n"
        "pub struct Held<I> {\n    held: I,\n}\n\n"
        "pub fn join<F: Fn(u8) -> bool>(f: F) -> Held<u8> {}\n\npub struct Sum(pub u8);\n\n"
        "pub struct Wrapped(pub(crate) u8);\n\n"
        "impl Into<u8> for Sum {\n    fn into(self) -> u8 {\n        0\n    }\n}\n\n"
        "mod sealed {\n    pub trait Sealed {\n        fn insert(&self);\n    }\n}\n\n"
        "pub trait Named: sealed::Sealed {}\n"
    ),
}


@pytest.mark.parametrize(
    ("old", "new", "breaks"),
    [
        # What an alias stands for has no name of its own outside.
        ("= Inner<I, u8>", "= Inner<I, u16>", False),
        ("= Inner<I, u8>", "= Pair<I>", True),
        ("struct Inner<I, C>(I, C)", "struct Inner<I, C: Clone>(I, C)", False),
        # Nobody wrote the fields of it.
        ("struct Pair<I>(Vec<I>)", "struct Pair<I>(Option<I>)", False),
        ("struct Sum(pub u8)", "struct Sum(pub u16)", True),
        ("struct Wrapped(pub(crate) u8)", "struct Wrapped(pub(crate) u16)", False),
        ("struct Held<I> {\n    held: I,\n}", "type Held<I> = Inner<I, u8>;", False),
        ("struct Held<I> {\n    held: I,\n}", "type Held<I, J> = Inner<I, J>;", True),
        (
            "struct Held<I> {\n    held: I,\n}",
            "struct Kept<I> {\n    held: I,\n}\n\npub type Held<I> = Kept<I>;",
            False,
        ),
        ("Fn(u8) -> bool", "FnMut(u8) -> bool", False),
        ("Fn(u8) -> bool", "Fn(u16) -> bool", True),
        ("impl Into<u8> for Sum {\n    fn into(self)", "impl From<Sum> for u8 {\n    fn from(sum: Sum)", False),
        # Nobody can import the trait.
        ("        fn insert(&self);\n", "        fn try_insert(&self);\n", False),
    ],
)
def test_what_users_cannot_write_out(tmp_path: Path, old: str, new: str, breaks: bool) -> None:
    root = make_repo(tmp_path / "repo", HELD)
    parts = root / "src/parts.rs"
    text = parts.read_text()
    assert old in text
    parts.write_text(text.replace(old, new))
    assert bool(broken(root)) == breaks
