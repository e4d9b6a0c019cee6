"""The names of Rust's standard prelude, which need no import."""

from codeplane.code.languages.reserved_words import words

PRELUDE = words(
    """bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64
    Option Some None Result Ok Err Box Vec String ToOwned ToString Clone Copy Send Sync Sized Unpin Drop Fn FnMut
    FnOnce drop AsRef AsMut Into From Default Iterator Extend IntoIterator DoubleEndedIterator ExactSizeIterator
    Eq PartialEq Ord PartialOrd TryFrom TryInto FromIterator Debug Hash
    assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne print println eprint eprintln format
    format_args write writeln panic todo unimplemented unreachable vec matches dbg env option_env include
    include_str include_bytes concat stringify line column file module_path cfg compile_error thread_local
    derive test ignore should_panic allow warn deny forbid expect must_use inline cold doc non_exhaustive deprecated
    cfg_attr repr automatically_derived macro_use macro_export path global_allocator track_caller no_mangle
    export_name link target_feature proc_macro proc_macro_derive proc_macro_attribute bench"""
)
