"""The words of Elixir that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words

ELIXIR_RESERVED = reserved_words(
    hard="after and catch do else end false fn in nil not or rescue true when __MODULE__ __ENV__",
    shadowed="def defmodule if unless case cond raise throw send spawn inspect to_string length",
)
