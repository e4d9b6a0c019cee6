"""Gradle settings: strict when every include is a plain string, permissive otherwise."""

import pytest

from tests.index.contexts.tree import Tree
from tests.interaction.requirements import requirement

ROOTS = ("app", "lib", "lib/core", "tools", "build-logic")


def kept(settings: str, name: str = "settings.gradle") -> set[str]:
    """The roots that stay, apart from the fence's own."""
    tree = Tree({name: settings, **{f"{root}/build.gradle": "" for root in ROOTS}})
    statuses = tree.statuses("jvm")
    assert statuses.pop("") == "pending"
    return {root for root, status in statuses.items() if status == "pending"}


@requirement("CTX-03")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("include('app')", {"app"}),
        ('include("app")', {"app"}),
        ("include ':app', ':lib:core'", {"app", "lib", "lib/core"}),
        ("include ':app',\n    ':tools'\nrootProject.name = 'x' + y", {"app", "tools"}),
        ('include(\n  ":app",\n  ":lib:core", // the core\n)\n', {"app", "lib", "lib/core"}),
        ("include('app'); include('tools')", {"app", "tools"}),
        ("if (x) { include 'app' }", {"app"}),
        ("settings.include('app')", {"app"}),
        ("includeBuild('build-logic') { name = 'l' }\ninclude('app')", {"app", "build-logic"}),
        ("pluginManagement { includeBuild 'build-logic' }", {"build-logic"}),
        ("// include('app')\n/* include 'lib' */ include 'tools'", {"tools"}),
        ("url = 'http://x' // y\ninclude 'app'", {"app"}),
        ("include 'a$b', 'app'", {"app"}),
        ('rootProject.name = "$x"', set()),
        ("", set()),
    ],
)
@pytest.mark.parametrize("name", ["settings.gradle", "settings.gradle.kts"])
def test_plain_strings_are_strict(settings: str, expected: set[str], name: str) -> None:
    assert kept(settings, name) == expected


@requirement("CTX-03")
@pytest.mark.parametrize(
    "settings",
    [
        'include("app-$x")',
        "include(prefix + 'app')",
        "include('app' + suffix)",
        "include 'app' + suffix",
        "include(*names)",
        "include(names)",
        "include names",
        "names.forEach { include(it) }",
        "file('.').eachDir { include it.name }",
        "include('app'\n",
        "include(",
        "include",
        "include('ap\\u0070')",
        "include 'app'\nproject(':app').projectDir = file('elsewhere')",
        "include 'app'\napply from: 'more.gradle'",
    ],
)
def test_anything_computed_keeps_every_root(settings: str) -> None:
    assert kept(settings) == set(ROOTS)
    tree = Tree({"settings.gradle": settings})
    assert "all roots below are kept" in tree.candidates("jvm")[""].reason


@requirement("CTX-03")
def test_maven_folders_fence_nothing() -> None:
    tree = Tree({".mvn/maven.config": "", "a/pom.xml": "", "b/pom.xml": ""})
    assert tree.statuses("jvm") == {"": "pending", "a": "pending", "b": "pending"}
