"""Rust."""

from codeplane.code.languages.class_rules import ClassRules
from codeplane.code.languages.contract import Contract
from codeplane.code.languages.language import Language
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.project_family import project_family
from codeplane.code.languages.reserved_words import words
from codeplane.code.languages.rust.keywords import RUST_RESERVED, RUST_SOFT
from codeplane.code.languages.rust.programs import is_program
from codeplane.code.languages.rust.promises import is_unpromised

RUST = Language(
    name="rust",
    package="rust",
    title="Rust",
    family="rust",
    extensions=("rs",),
    shebangs=("rust-script",),
    aliases=("rs",),
    methods_in=frozenset({"class"}),
    members_in=frozenset({"class", "enum"}),
    members=(".", "::"),
    visible_names=True,
    expression_macros=words(
        """assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne print println eprint eprintln format
        format_args write writeln panic todo unimplemented unreachable vec dbg
        trace debug info warn error log bail ensure anyhow"""
    ),
    joint="::",
    soft_keywords=RUST_SOFT,
    reserved=RUST_RESERVED,
    names=NameRules(
        shorthand_fields=True,
        constant_patterns=True,
        attribute_paths=words(
            "default with serialize_with deserialize_with skip_serializing_if getter from into try_from"
        ),
        format_strings=True,
        unfollowed_operators=(b"::",),
    ),
    classes=ClassRules(traits=True),
    contract=Contract(
        visible="pub",
        is_program=is_program,
        is_unpromised=is_unpromised,
        top="private",
        member="private",
        module="file",
        package_entries=True,
        crates=True,
        manifest="Cargo.toml",
        re_exports="use",
        modifiers=words(
            "pub fn const async unsafe extern struct enum trait mod type static union default crate macro_rules"
        ),
        mark="#[",
        added=words("async unsafe"),
        removed=words("const async"),
        calls="exact",
        typed=True,
        returns="->",
        type_parentheses="fields",
        closed_enums=True,
        closed_structs=True,
        non_exhaustive=True,
        self_modes=("& self", "& mut self", "self", "mut self"),
    ),
    patterns=("rust",),
    pattern_contexts=(("fn f() { ", "; }"), ("fn f() { ", " }")),
)
LANGUAGES = (RUST,)
PROJECT = project_family(
    "rust",
    languages="rust",
    include="*.rs",
    fences="Cargo.lock",
    packages="Cargo.toml",
    fronts="src/lib.rs",
)
