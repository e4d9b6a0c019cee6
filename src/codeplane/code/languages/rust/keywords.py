"""The words of Rust that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

RUST_RESERVED = reserved_words(
    hard="""as async await break const continue crate dyn else enum extern false fn for if impl in let loop
        match mod move mut pub ref return self Self static struct super trait true type unsafe use where
        while abstract become box do final gen macro override priv try typeof unsized virtual yield _""",
    soft="union raw safe auto default",
    shadowed="Option Some None Result Ok Err Vec String Box Clone Copy Default Drop Iterator Send Sync drop",
)
RUST_SOFT = words("auto default macro_rules raw union")
