"""What is known of a programming language: one entry for each, made in the package of its family."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from codeplane.code.languages.class_rules import ClassRules
from codeplane.code.languages.comment_syntax import SLASHES, CommentSyntax
from codeplane.code.languages.contract import Contract
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.reserved_words import ReservedWords

Kind = Literal["code", "configuration", "data", "markup", "prose"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRepair:
    """How a text is changed for a grammar that does not know all of its language; every byte keeps its place."""

    before_parsing: Callable[[bytes], bytes]
    after_errors: Callable[[bytes], bytes | None] = lambda text: None
    version: int = 1
    """To be raised when texts are changed in another way: facts are made again then."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """A language: how its files are recognised, which grammar reads them, and what its syntax means.

    Facts made from files are made again when one of the plain fields changes, not when one of the rules does.
    """

    name: str
    package: str
    """The package below `code/languages/` that holds its queries."""
    title: str
    """What people call the language that runs it: a file of TypeScript runs as JavaScript."""
    grammar: str = ""
    family: str | None = None
    kind: Kind = "code"
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    unread_extensions: tuple[str, ...] = ()
    """Files of other tools that hold its code between code of their own, such as grammars: they are text here."""
    shebangs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    """Other names that callers give it."""
    query: str = ""
    """The queries it is read with, joined by `+`; its own name where this is empty."""
    embedded: str = ""
    """Where a file of several languages holds this one: the first group of a pattern; the rest is text."""
    variables_in: frozenset[str] = frozenset()
    """Scopes whose assignments are definitions."""
    methods_in: frozenset[str] = frozenset()
    """Scopes whose functions are methods."""
    members_in: frozenset[str] = frozenset()
    """Scopes whose definitions are reached through their owner alone, never by their bare name."""
    hidden_from_functions: frozenset[str] = frozenset()
    """Scopes whose names nested functions do not see."""
    receiver_scopes: bool = False
    """A method that names its receiver stands outside of its type, in a scope of its own like a body of the type."""
    members: tuple[str, ...] = (".",)
    """What stands between a receiver and its member."""
    identifier: str = r"[^\W\d]\w*"
    implicit_exports: bool = False
    import_binds: Literal["first", "last", "none"] = "last"
    """The part of a module's name that importing the whole module binds."""
    joint: str = "."
    """What joins the parts of a source that is written in parts."""
    bare_members: bool = False
    """Inside their class, its members are reached by their bare name."""
    explicit_members: bool = False
    """Members are never reached by their bare name from another file: no implicit receivers, no imports of members."""
    visible_names: bool = False
    """Other files can name whatever stands at the top of a file."""
    linked: str = ""
    """The group of languages in which top-level names of several files may be one symbol."""
    calls_apart: bool = False
    """`name(` never means a variable called `name`."""
    indented: bool = False
    """Indentation decides where a block ends."""
    docstrings: bool = False
    """A string that stands first in a body documents it."""
    comments: CommentSyntax = SLASHES
    soft_keywords: frozenset[str] = frozenset()
    """Keywords at some places that are names at others."""
    keyword_leads: Mapping[str, re.Pattern[bytes]] = field(default_factory=dict)
    """What stands somewhere above such a word wherever it is a keyword: without it, the text need not be parsed."""
    never_keyword_after: Mapping[str, re.Pattern[bytes]] = field(default_factory=dict)
    """What stands right before such a word, without a comment between, only where it is a name."""
    reserved: ReservedWords | None = None
    """The words that cannot be names; None where names have no references, so that nothing is renamed."""
    source_repair: SourceRepair | None = None
    expression_macros: frozenset[str] = frozenset()
    """Macros whose arguments are expressions, which the grammar reads as mere tokens: `name!(…)` is like a call."""
    preprocessed: bool = False
    """Macros are expanded before it is parsed, so that correct code may be an error to its grammar."""
    read_as: tuple[str, str] = ("", "")
    """Another language, and the pattern of a text that is written in it: headers of C++ are named like those of C."""
    names: NameRules = field(default_factory=NameRules)
    classes: ClassRules = field(default_factory=ClassRules)
    contract: Contract = field(default_factory=Contract)
    patterns: tuple[str, ...] = ()
    """The grammars that read its files for structural patterns; empty where it has none."""
    pattern_contexts: tuple[tuple[str, str], ...] = ()
    """What to put around a fragment so that it is read as what it is, the likeliest first."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "grammar", self.grammar or self.name)

    @property
    def group(self) -> str:
        """The languages whose files can refer to each other's names."""
        return self.family or self.linked or self.name

    @property
    def names_things(self) -> bool:
        """Whether other files use its names: headings and keys are not used."""
        return self.kind in ("code", "configuration")

    @property
    def family_name(self) -> str:
        """The family, or the language itself where it has none."""
        return self.family or self.name
