"""Which roots are found, and which of them a workspace file leaves out."""

import pytest

from codeplane.index.contexts.discovery import is_marker
from tests.index.contexts.tree import Tree
from tests.interaction.requirements import requirement

ROWS = {
    "javascript": (
        "pnpm-workspace.yaml lerna.json nx.json turbo.json rush.json yarn.lock pnpm-lock.yaml",
        "package.json deno.json deno.jsonc tsconfig.json jsconfig.json",
    ),
    "python": (
        "uv.lock poetry.lock Pipfile.lock",
        "pyproject.toml setup.py setup.cfg requirements.txt Pipfile",
    ),
    "go": ("go.work", "go.mod"),
    "rust": ("Cargo.lock", "Cargo.toml"),
    "jvm": (
        "settings.gradle settings.gradle.kts .mvn/maven.config",
        "build.gradle build.gradle.kts pom.xml build.sbt",
    ),
    "dotnet": ("All.sln", "a.csproj b.fsproj c.vbproj"),
    "terraform": (".terraform.lock.hcl", "main.tf versions.tf"),
    "ruby": ("Gemfile.lock", "Gemfile"),
    "php": ("composer.lock", "composer.json"),
    "config": ("flake.lock", "flake.nix"),
    "protobuf": ("buf.work.yaml", "buf.yaml"),
    "swift": ("Package.resolved", "Package.swift"),
    "elixir": ("mix.lock", "mix.exs"),
    "haskell": ("cabal.project stack.yaml", "x.cabal"),
}
CASES = [
    (family, tier, marker)
    for family, tiers in ROWS.items()
    for tier, markers in enumerate(tiers, 1)
    for marker in markers.split()
]


@requirement("CTX-02")
@pytest.mark.parametrize(("family", "tier", "marker"), CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("folder", ["", "apps/my api/"])
def test_each_marker_makes_its_folder_a_root_of_its_family(family: str, tier: int, marker: str, folder: str) -> None:
    text = "{}" if marker == "package.json" else ""
    found = Tree({folder + marker: text}).candidates(family)[folder.rstrip("/")]
    assert (found.tier, found.status, found.reason) == (tier, "pending", "")
    assert found.markers == (f"{folder}{marker.partition('/')[0]}",)
    assert is_marker(folder + marker)


@requirement("CTX-02")
def test_package_json_with_workspaces_and_cargo_with_a_workspace_are_fences() -> None:
    assert Tree({"package.json": '{"workspaces": []}'}).candidates("javascript")[""].tier == 1
    assert Tree({"Cargo.toml": "[workspace]"}).candidates("rust")[""].tier == 1


@requirement("CTX-02")
@pytest.mark.parametrize("family", ["sql", "docker", "markdown", "json_yaml", "graphql", "protobuf"])
def test_families_without_markers_have_one_root(family: str) -> None:
    found = Tree({}).candidates(family)
    assert [(root, each.tier) for root, each in found.items()] == [("", 0)]


@requirement("CTX-02")
def test_protobuf_has_no_root_of_its_own_when_buf_yaml_says_where_it_is() -> None:
    assert set(Tree({"proto/buf.yaml": ""}).candidates("protobuf")) == {"proto"}


def test_code_families_without_markers_have_no_root() -> None:
    assert Tree({"a.py": "x", "b.go": "x"}).candidates("python") == {}


def test_markers_below_excluded_folders_count_for_nothing() -> None:
    tree = Tree({"node_modules/a/package.json": "{}", "x/vendor/b/go.mod": "", "build/setup.py": ""})
    assert not tree.candidates("javascript") and not tree.candidates("go") and not tree.candidates("python")
    assert not is_marker("node_modules/a/package.json")


def packages(*roots: str) -> dict[str, str]:
    return {f"{root}/package.json": "{}" for root in roots}


@pytest.mark.parametrize(
    "fence",
    [
        {"package.json": '{"workspaces": ["apps/*", "!apps/old", "./libs/core/"]}'},
        {"package.json": '\ufeff{"workspaces": {"packages": ["apps/*", "!apps/old", "libs/core"], "nohoist": []}}'},
        {"pnpm-workspace.yaml": "packages:\n  - 'apps/*'\n  - '!apps/old'\n  - libs/core\n"},
    ],
)
def test_javascript_members_are_kept_and_others_detached(fence: dict[str, str]) -> None:
    tree = Tree({**fence, **packages("apps/web", "apps/old", "apps/web/deep", "libs/core", "libs/x", "appsy/z")})
    assert tree.statuses("javascript") == {
        "": "pending",
        "apps/web": "pending",
        "libs/core": "pending",
        "apps/old": "detached",
        "apps/web/deep": "detached",
        "libs/x": "detached",
        "appsy/z": "detached",
    }
    assert next(iter(fence)) in tree.candidates("javascript")["libs/x"].reason


@pytest.mark.parametrize(
    ("glob", "kept"),
    [
        ("packages/**", {"packages", "packages/a", "packages/a/b", "packages/[x]"}),
        ("**", {"packages", "packages/a", "packages/a/b", "packages/[x]"}),
        ("packages/**/**", {"packages", "packages/a", "packages/a/b", "packages/[x]"}),
        ("**/b", {"packages/a/b"}),
        ("packages/{a,c}", {"packages/a"}),
        ("packages/[a-c]", {"packages/a"}),
        ("packages/[x]", {"packages/[x]"}),
        ("packages/?", {"packages/a"}),
        ("packages/[!a]*", {"packages/[x]"}),
        ("other/../packages/a", {"packages/a"}),
        ("../packages/a", set()),
    ],
)
def test_globs_of_members(glob: str, kept: set[str]) -> None:
    tree = Tree({"pnpm-workspace.yaml": f"packages: ['{glob}']", **packages("packages", "packages/a")})
    tree.files |= Tree(packages("packages/a/b", "packages/[x]")).files
    assert {root for root, status in tree.statuses("javascript").items() if status == "pending"} - {""} == kept


def test_lock_files_alone_fence_nothing() -> None:
    tree = Tree({"yarn.lock": "", "nx.json": "{}", "lerna.json": "{}", **packages("a", "b/c")})
    assert set(tree.statuses("javascript").values()) == {"pending"}


def test_a_package_with_its_own_lock_file_is_still_judged_by_the_workspace_around_it() -> None:
    tree = Tree({"package.json": '{"workspaces": ["a"]}', "demo/yarn.lock": "", **packages("a", "demo")})
    assert tree.statuses("javascript")["demo"] == "detached"


def test_the_closest_fence_decides() -> None:
    outer = '{"workspaces": ["in", "in/left-out"]}'
    tree = Tree({"package.json": outer, "in/package.json": '{"workspaces": ["kept"]}'})
    tree.files |= Tree(packages("in/kept", "in/left-out")).files
    assert tree.statuses("javascript") == {
        "": "pending",
        "in": "pending",
        "in/kept": "pending",
        "in/left-out": "detached",
    }


def test_a_fence_that_its_outer_fence_does_not_list_is_pending() -> None:
    tree = Tree({"package.json": '{"workspaces": []}', "x/package.json": '{"workspaces": ["y"]}', **packages("x/y")})
    assert set(tree.statuses("javascript").values()) == {"pending"}


def test_a_fence_is_no_authority_for_another_family() -> None:
    tree = Tree({"package.json": '{"workspaces": []}', "api/setup.py": "", "api/go.mod": ""})
    assert tree.statuses("python") == tree.statuses("go") == {"api": "pending"}


@pytest.mark.parametrize(
    "work",
    [
        'go 1.22\nuse ./a\nuse `my dir`\nuse "b/c"\n',
        'go 1.22\n\nuse (\n\t./a // the first\n\t"my dir"\n\tb/c/\n)\nreplace x => ./d\n',
        "use (./a)\r\nuse (\r\n  `my dir`\r\n  ./b/c\r\n)\r\n// use ./d\r\n",
    ],
)
def test_go_work_names_its_modules(work: str) -> None:
    tree = Tree({"go.work": work, "a/go.mod": "", "my dir/go.mod": "", "b/c/go.mod": "", "d/go.mod": ""})
    statuses = tree.statuses("go")
    assert statuses == {"": "pending", "a": "pending", "my dir": "pending", "b/c": "pending", "d": "detached"}


def test_a_module_beside_go_work_is_in_only_when_listed() -> None:
    assert Tree({"go.work": "use ./a", "go.mod": ""}).statuses("go") == {"": "detached"}
    assert Tree({"go.work": "use .", "go.mod": ""}).statuses("go") == {"": "pending"}


def test_cargo_members_and_excludes() -> None:
    toml = '[workspace]\nmembers = ["crates/*", "tools/x", "old/named"]\nexclude = ["crates/out", "old"]\n'
    roots = ("crates/in", "crates/out", "crates/in/deep", "tools/x", "tools/y", "old/named", "old/other")
    tree = Tree({"Cargo.toml": toml, **{f"{root}/Cargo.toml": "[package]" for root in roots}})
    assert tree.statuses("rust") == {
        "": "pending",
        "crates/in": "pending",
        "crates/out": "detached",
        "crates/in/deep": "detached",
        "tools/x": "pending",
        "tools/y": "detached",
        "old/named": "pending",
        "old/other": "detached",
    }


@pytest.mark.parametrize(
    ("family", "name", "text"),
    [
        ("javascript", "package.json", "{"),
        ("javascript", "package.json", "[]"),
        ("javascript", "package.json", '{"workspaces": "apps/*"}'),
        ("javascript", "package.json", '{"workspaces": [1]}'),
        ("javascript", "package.json", '{"workspaces": ["+(a|b)"]}'),
        ("javascript", "package.json", '{"workspaces": ["{{a}"]}'),
        ("javascript", "package.json", '{"workspaces": ["x[z-a]"]}'),
        ("javascript", "package.json", '{"workspaces": ["\\ud800*"]}'),
        ("javascript", "package.json", "[" * 100_000),
        ("javascript", "package.json", b"\xff{}"),
        ("javascript", "package.json", " " * 600_000),
        ("javascript", "package.json", None),
        ("javascript", "pnpm-workspace.yaml", "packages: [a"),
        ("javascript", "pnpm-workspace.yaml", "[" * 200_000),
        ("javascript", "pnpm-workspace.yaml", "- a"),
        ("javascript", "pnpm-workspace.yaml", "packages: &a [*a]"),
        ("javascript", "pnpm-workspace.yaml", "\x00"),
        ("go", "go.work", "use (\n ./a"),
        ("rust", "Cargo.toml", "[workspace"),
        ("rust", "Cargo.toml", "workspace = 1"),
        ("rust", "Cargo.toml", '[workspace]\nmembers = "a"'),
        ("rust", "Cargo.toml", "a." * 40_000 + "b = 1"),
        ("jvm", "settings.gradle", b"include '\xff'"),
    ],
)
def test_a_marker_that_cannot_be_read_detaches_nothing_and_says_why(
    family: str, name: str, text: str | bytes | None
) -> None:
    package = {"javascript": "package.json", "go": "go.mod", "rust": "Cargo.toml", "jvm": "pom.xml"}[family]
    tree = Tree({name: text, f"in/{package}": "{}" if family == "javascript" else ""})
    found = tree.candidates(family)
    assert found["in"].status == "pending"
    assert found[""].status == "pending" and name in found[""].reason


def test_settings_alone_in_pnpm_workspace_fence_nothing() -> None:
    tree = Tree({"pnpm-workspace.yaml": "onlyBuiltDependencies: [esbuild]", **packages("a")})
    assert tree.statuses("javascript") == {"": "pending", "a": "pending"}
