"""JavaScript, TypeScript and the components that hold a script."""

import re
from dataclasses import replace

from codeplane.code.languages.class_rules import ClassRules
from codeplane.code.languages.javascript.contract import COMPONENT_CONTRACT, JAVASCRIPT_CONTRACT, TYPESCRIPT_CONTRACT
from codeplane.code.languages.javascript.keywords import JAVASCRIPT_RESERVED, JAVASCRIPT_SOFT, TYPESCRIPT_SOFT
from codeplane.code.languages.javascript.source_repair import blank_variance, separate_members
from codeplane.code.languages.language import Language, SourceRepair
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.project_family import project_family
from codeplane.code.languages.reserved_words import words

_NAMES = NameRules(
    follows_imports=True,
    aliases_exports=True,
    commonjs=True,
    types_and_values=True,
    shorthand_properties=True,
    object_literals=True,
    parameter_properties=True,
    declares_types=True,
    members_may_be_keywords=True,
    special_members=frozenset({"constructor"}),
    builtin_types=words("any bigint boolean never number object string symbol undefined unknown void"),
    sigils="#@",
    private_sign="#",
    documentation_link=re.compile(rb"\{@link(?:code|plain)?\s+\Z"),
)
_CLASSES = ClassRules(function_this=True, static_members=True, heritage_clauses=True)

JAVASCRIPT = Language(
    name="javascript",
    package="javascript",
    title="JavaScript",
    family="javascript",
    extensions=("js", "jsx", "mjs", "cjs"),
    shebangs=("node", "nodejs"),
    aliases=("js", "jsx"),
    query="javascript+jsx+ecma",
    variables_in=frozenset({"file"}),
    methods_in=frozenset({"class"}),
    members_in=frozenset({"class", "object"}),
    members=(".", "?."),
    identifier=r"#?(?:[^\W\d]|[$])[\w$]*",
    import_binds="none",
    explicit_members=True,
    soft_keywords=JAVASCRIPT_SOFT,
    # `for (… of …)`, where comments may stand between.
    keyword_leads={"of": re.compile(rb"\bfor\s*(?:await\s*)?[(/]")},
    # What is declared stands before the keyword: a name, or a pattern that a bracket ends.
    never_keyword_after={"of": re.compile(rb"(?:[=({,;:?&|+*<>!.\[-]|\b(?:return|yield|await|default|case))\s*\Z")},
    reserved=JAVASCRIPT_RESERVED,
    names=replace(_NAMES, untyped=True, outer_assignment="plain"),
    classes=_CLASSES,
    contract=JAVASCRIPT_CONTRACT,
    patterns=("javascript",),
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    name="typescript",
    grammar="typescript",
    extensions=("ts", "mts", "cts"),
    shebangs=("deno", "ts-node", "tsx", "bun"),
    aliases=("ts",),
    query="typescript+ecma",
    variables_in=frozenset({"file", "namespace"}),
    methods_in=frozenset({"class", "interface", "type"}),
    members_in=frozenset({"class", "interface", "object", "type"}),
    soft_keywords=TYPESCRIPT_SOFT,
    source_repair=SourceRepair(before_parsing=blank_variance, after_errors=separate_members),
    names=replace(_NAMES, type_queries=True, written_results=True),
    classes=replace(_CLASSES, declares_interfaces=True),
    contract=TYPESCRIPT_CONTRACT,
    # Components are TypeScript too: a pattern that left them out would be half an answer.
    patterns=("typescript", "tsx"),
)
TSX = replace(
    TYPESCRIPT,
    name="tsx",
    grammar="tsx",
    extensions=("tsx",),
    shebangs=(),
    aliases=(),
    query="typescript+jsx+ecma",
    patterns=("tsx",),
)
# Components: their script is read, all else is text.
VUE = replace(
    TYPESCRIPT,
    name="vue",
    extensions=("vue",),
    shebangs=(),
    aliases=(),
    embedded=r"(?is)<script\b[^>]*>(.*?)</script\s*>",
    soft_keywords=frozenset(),
    source_repair=None,
    names=_NAMES,
    contract=COMPONENT_CONTRACT,
    patterns=(),
)
SVELTE = replace(VUE, name="svelte", extensions=("svelte",))
ASTRO = replace(VUE, name="astro", extensions=("astro",), embedded=r"(?s)\A\s*---\r?\n(.*?)\n---")
LANGUAGES = (JAVASCRIPT, TYPESCRIPT, TSX, VUE, SVELTE, ASTRO)
PROJECT = project_family(
    "javascript",
    languages="javascript typescript jsx tsx vue svelte astro",
    include="*.js *.jsx *.mjs *.cjs *.vue *.svelte *.astro *.ts *.tsx *.cts *.mts",
    fences="pnpm-workspace.yaml lerna.json nx.json turbo.json rush.json yarn.lock pnpm-lock.yaml",
    packages="package.json deno.json deno.jsonc tsconfig.json jsconfig.json",
    fronts="src/index.ts src/index.tsx src/index.js src/index.mjs index.ts index.tsx index.js index.mjs lib/index.js"
    " source/index.ts source/index.js",
)
