"""The language families: which files are theirs, and which files mark a root, as one table.

The names are a closed list. Rows for swift, elixir and haskell, whose markers the specification leaves open, use what
their build tools write. A language outside the list (C, C++, shell, Lua …) has no family and no markers: its files
belong to the one fallback context without a family, never to a family named after the language.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family; a marker `*.x` means any file so named, `x/` any folder so named."""

    name: str
    code: bool
    languages: tuple[str, ...]
    include: tuple[str, ...]
    fences: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    # A context at the root is there without any marker: always, or unless one of these is found.
    ambient: bool = False
    ambient_unless: tuple[str, ...] = ()


def _row(
    name: str,
    languages: str,
    include: str,
    *,
    code: bool = True,
    tier1: str = "",
    tier2: str = "",
    ambient: bool = False,
    unless: str = "",
) -> Family:
    return Family(
        name=name,
        code=code,
        languages=tuple(languages.split()),
        include=tuple(f"**/{each}" for each in include.split()),
        fences=tuple(tier1.split()),
        packages=tuple(tier2.split()),
        ambient=ambient,
        ambient_unless=tuple(unless.split()),
    )


FAMILIES: tuple[Family, ...] = (
    _row(
        "javascript",
        "javascript typescript jsx tsx vue svelte astro",
        "*.js *.jsx *.mjs *.cjs *.vue *.svelte *.astro *.ts *.tsx *.cts *.mts",
        tier1="pnpm-workspace.yaml lerna.json nx.json turbo.json rush.json yarn.lock pnpm-lock.yaml",
        tier2="package.json deno.json deno.jsonc tsconfig.json jsconfig.json",
    ),
    _row(
        "python",
        "python cython",
        "*.py *.pyi *.pyw *.pyx *.pxd *.pxi",
        tier1="uv.lock poetry.lock Pipfile.lock",
        tier2="pyproject.toml setup.py setup.cfg requirements.txt Pipfile",
    ),
    _row("go", "go", "*.go", tier1="go.work", tier2="go.mod"),
    _row("rust", "rust", "*.rs", tier1="Cargo.lock", tier2="Cargo.toml"),
    _row(
        "jvm",
        "java kotlin scala",
        "*.java *.kt *.kts *.scala *.sc",
        tier1="settings.gradle settings.gradle.kts .mvn/",
        tier2="build.gradle build.gradle.kts pom.xml build.sbt",
    ),
    _row(
        "dotnet",
        "csharp fsharp vb",
        "*.cs *.fs *.fsx *.vb",
        tier1="*.sln",
        tier2="*.csproj *.fsproj *.vbproj",
    ),
    _row("ruby", "ruby", "*.rb *.rake Gemfile", tier1="Gemfile.lock", tier2="Gemfile"),
    _row("php", "php", "*.php", tier1="composer.lock", tier2="composer.json"),
    _row("swift", "swift", "*.swift", tier1="Package.resolved", tier2="Package.swift"),
    _row("elixir", "elixir", "*.ex *.exs", tier1="mix.lock", tier2="mix.exs"),
    _row("haskell", "haskell", "*.hs *.lhs", tier1="cabal.project stack.yaml", tier2="*.cabal"),
    _row(
        "terraform",
        "terraform hcl",
        "*.tf *.hcl",
        code=False,
        tier1=".terraform.lock.hcl",
        tier2="main.tf versions.tf",
    ),
    _row("sql", "sql", "*.sql", code=False, ambient=True),
    _row(
        "docker",
        "docker dockerfile",
        "Dockerfile *.Dockerfile docker-compose.yml docker-compose.yaml",
        code=False,
        ambient=True,
    ),
    _row("markdown", "markdown", "*.md *.markdown *.mdx", code=False, ambient=True),
    _row("json_yaml", "json yaml toml jsonc", "*.json *.yaml *.yml *.toml *.jsonc", code=False, ambient=True),
    _row(
        "protobuf",
        "protobuf proto",
        "*.proto",
        code=False,
        tier1="buf.work.yaml",
        tier2="buf.yaml",
        ambient=True,
        unless="buf.yaml",
    ),
    _row("graphql", "graphql", "*.graphql *.gql", code=False, ambient=True),
    _row("config", "nix", "*.nix", code=False, tier1="flake.lock", tier2="flake.nix"),
)

FAMILY: dict[str, Family] = {family.name: family for family in FAMILIES}

_BY_GLOB = {glob.removeprefix("**/"): family.name for family in FAMILIES for glob in family.include}
_BY_NAME = {glob: name for glob, name in _BY_GLOB.items() if "*" not in glob}
_BY_SUFFIX = {glob[1:]: name for glob, name in _BY_GLOB.items() if glob.startswith("*")}
_BY_LANGUAGE = {language: family.name for family in FAMILIES for language in (family.name, *family.languages)}


def family_of(path: str) -> str | None:
    """The family of a file, by its whole name first (`docker-compose.yml` is docker's), then its suffix."""
    name = path[path.rfind("/") + 1 :]
    family = _BY_NAME.get(name)
    if family is None and (dot := name.rfind(".")) >= 0:
        return _BY_SUFFIX.get(name[dot:])
    return family


def families_of(path: str) -> tuple[str, ...]:
    """Every family whose globs include a file: none, one or two."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    names = (_BY_NAME.get(name), _BY_SUFFIX.get(name[dot:]) if dot >= 0 else None)
    return tuple(dict.fromkeys(each for each in names if each))


def family_of_language(language: str) -> str | None:
    """The family of a language or family name such as `java` or `jvm`; None outside the list."""
    return _BY_LANGUAGE.get(language.lower())
