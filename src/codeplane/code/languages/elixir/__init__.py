"""Elixir."""

from codeplane.code.languages.comment_syntax import HASH
from codeplane.code.languages.contract import Contract
from codeplane.code.languages.elixir.keywords import ELIXIR_RESERVED
from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import project_family
from codeplane.code.languages.reserved_words import words

ELIXIR = Language(
    name="elixir",
    package="elixir",
    title="Elixir",
    family="elixir",
    extensions=("ex", "exs"),
    shebangs=("elixir",),
    identifier=r"[^\W\d]\w*[?!]?",
    comments=HASH,
    reserved=ELIXIR_RESERVED,
    contract=Contract(shape="bare", calls="exact", modifiers=words("def defp defmacro defmodule")),
    patterns=("elixir",),
)
LANGUAGES = (ELIXIR,)
PROJECT = project_family(
    "elixir",
    languages="elixir",
    include="*.ex *.exs",
    fences="mix.lock",
    packages="mix.exs",
    fronts="lib/{name}.ex",
)
