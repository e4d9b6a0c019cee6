"""`repo.entry_points`: commands and programs first, then the fronts of libraries, last what only shows them."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane

pytestmark = requirement("EXR-03")

# By the name of the repository: its files, and where it is entered.
REPOSITORIES: dict[str, tuple[dict[str, str], list[tuple[str, str]]]] = {
    "bytes": (
        {
            "Cargo.toml": '[package]\nname = "bytes"\n',
            "src/lib.rs": "pub mod buf;\n",
            "src/buf.rs": "",
            "build.rs": "fn main() {}\n",
        },
        [("library", "src/lib.rs"), ("function", "build.rs")],
    ),
    "tool": (
        {
            "Cargo.toml": '[package]\nname = "tool"\n',
            "src/main.rs": "fn main() {}\n",
            "examples/e.rs": "fn main() {}\n",
        },
        [("function", "src/main.rs"), ("function", "examples/e.rs")],
    ),
    "mux": (
        {"go.mod": "module github.com/gorilla/mux/v2\n", "mux.go": "package mux\n", "route.go": "package mux\n"},
        [("library", "mux.go")],
    ),
    "checkout": (
        {
            "go.mod": "module example.com/cobra\n",
            "cobra.go": "package cobra\n",
            "cmd/x.go": "package cmd\n\nfunc Main() {\n}\n",
            "cmd/x/main.go": "package main\n\nfunc main() {\n}\n",
        },
        [("function", "cmd/x/main.go"), ("library", "cobra.go")],
    ),
    "gson": (
        {
            "pom.xml": "<project/>\n",
            "gson/pom.xml": "<project/>\n",
            "gson/src/main/java/com/g/Gson.java": "package com.g;\npublic class Gson {}\n",
            "gson/src/test/java/com/g/GsonTest.java": "package com.g;\nclass GsonTest { void main() {} }\n",
        },
        [("library", "gson/src/main/java/com/g/Gson.java")],
    ),
    "spdlog": (
        {
            "include/spdlog/spdlog.h": "#pragma once\n",
            "include/spdlog/async.h": "#pragma once\n",
            "bench/b.cpp": "int main() { return 0; }\n",
        },
        [("library", "include/spdlog/spdlog.h"), ("function", "bench/b.cpp")],
    ),
    "klaxon": (
        {
            "settings.gradle.kts": 'include("klaxon")\n',
            "klaxon/build.gradle.kts": "",
            "klaxon/src/main/kotlin/k/Klaxon.kt": "package k\nclass Klaxon\n",
        },
        [("library", "klaxon/src/main/kotlin/k/Klaxon.kt")],
    ),
    "carts-java": (
        {
            "pom.xml": "<project/>\n",
            "src/main/java/s/Cart.java": "package s;\npublic class Cart {}\n",
            "src/main/java/s/Rare.java": "package s;\npublic class Rare {}\n",
            "src/test/java/s/CartTest.java": "package s;\nclass CartTest { Cart cart; }\n",
            "src/test/java/s/OtherTest.java": "package s;\nclass OtherTest { Cart cart; Rare rare; }\n",
        },
        [("library", "src/main/java/s/Cart.java")],
    ),
    "plain-io": (
        {
            "pom.xml": "<project/>\n",
            "README.md": "# Plain IO\n\nPlain IO reads and writes. With Plain IO all is plain.\n",
            "src/main/java/p/IO.java": "package p;\nclass IO {}\n",
            "src/main/java/p/Streams.java": "package p;\npublic class Streams {}\n",
            "src/test/java/p/IOTest.java": "package p;\nclass IOTest { IO io; Streams streams; }\n",
            "src/test/java/p/StreamsTest.java": "package p;\nclass StreamsTest { Streams streams; }\n",
        },
        [("library", "src/main/java/p/Streams.java")],
    ),
    "drill": (
        {
            "pyproject.toml": '[project]\nname = "drill"\n[project.scripts]\ndrill = "drill.main:run"\n',
            "src/drill/main.py": "def run():\n    pass\n",
            "testdata/aid/pyproject.toml": '[project]\nname = "aid"\n[project.scripts]\naid = "aid.main:main"\n',
            "testdata/aid/aid/__init__.py": "",
            "testdata/aid/aid/main.py": "def main():\n    pass\n",
        },
        [("script", "pyproject.toml")],
    ),
    "parse-net": (
        {
            "src/Grammar/Grammar.csproj": "<Project/>\n",
            "src/Grammar/Parse.cs": "namespace G { public static class Parse {} }\n",
            "src/Grammar/Parse.Many.cs": "namespace G { public static partial class Parse {} }\n",
            "src/Grammar/Input.cs": "namespace G { class Input {} }\n",
            "README.md": "# Grammar\n\n    var name = Parse.Letter;\n",
            "test/Grammar.Tests/Grammar.Tests.csproj": "<Project/>\n",
            "test/Grammar.Tests/ATests.cs": "class ATests { Parse parse; Input input; }\n",
            "test/Grammar.Tests/BTests.cs": "class BTests { Input input; }\n",
        },
        [("library", "src/Grammar/Parse.cs")],
    ),
    "yaml-cpp": (
        {
            "include/yaml-cpp/yaml.h": "#pragma once\n",
            "include/yaml-cpp/anchor.h": "#pragma once\n",
            "util/parse.cpp": "int main() { return 0; }\n",
            "tests.c": "int main() { return 0; }\n",
        },
        [("library", "include/yaml-cpp/yaml.h"), ("function", "util/parse.cpp")],
    ),
    "fetcher": (
        {"package.json": '{"name": "fetcher"}', "source/index.ts": "export const a = 1;\n"},
        [("library", "source/index.ts")],
    ),
    "board": (
        {
            "package.json": '{"name": "board", "workspaces": ["packages/*"]}',
            "packages/a/package.json": '{"name": "a", "main": "./dist/index.js", "module": "./dist/index.mjs"}',
            "packages/a/src/index.ts": "export const a = 1;\n",
            # Written as it is imported, and under both names.
            "packages/b/package.json": '{"name": "b", "main": "./lib/b", "module": "./lib/b.js"}',
            "packages/b/lib/b.js": "module.exports = 1;\n",
            "packages/d/package.json": '{"name": "d", "main": "./dist/prod/index.js"}',
            "packages/d/index.tsx": "export const d = 1;\n",
            # Built, and nobody knows from what.
            "packages/c/package.json": '{"name": "c", "main": "./dist/c.js"}',
            "packages/c/src/deep/thing.ts": "export const c = 1;\n",
        },
        [
            ("script", "packages/b/package.json"),
            ("script", "packages/c/package.json"),
            ("library", "packages/a/src/index.ts"),
            ("library", "packages/d/index.tsx"),
        ],
    ),
    "cluster": (
        {
            "go.mod": "module example.com/cluster\n",
            "cmd/cluster/main.go": "package main\n\nfunc main() {\n}\n",
            "dump/dump.sh": "main() {\n  echo dump\n}\nmain\n",
            "hack/verify.py": "def main():\n    pass\n",
        },
        [("function", "cmd/cluster/main.go"), ("function", "dump/dump.sh"), ("function", "hack/verify.py")],
    ),
    "dumper": (
        {"dump.sh": "main() {\n  echo dump\n}\nmain\n"},
        [("function", "dump.sh")],
    ),
    "git-ui": (
        {
            "go.mod": "module example.com/git-ui\n",
            "main.go": "package main\n\nfunc main() {\n}\n",
            "vendor/example.com/tool/gen.go": "package main\n\nfunc main() {\n}\n",
            "third_party/web/package.json": '{"name": "web", "bin": "./web.js"}',
        },
        [("function", "main.go")],
    ),
    "query": (
        {
            "src/main.c": "#ifdef _WIN32\nint umain(int n) {\n#else\nint main(int n) {\n#endif\n  return n;\n}\n",
            "src/query.c": "/* its main (loop) */\nint run(void) {\n  return 0;\n}\n",
            "tests/t.c": "int main(void) {\n  return 0;\n}\n",
        },
        [("function", "src/main.c")],
    ),
    "packager": (
        {
            "composer.json": '{"name": "shop/packager", "bin": ["bin/packager"]}',
            "bin/packager": "#!/usr/bin/env php\n<?php\nnew P\\Packager();\n",
            "src/Packager/Packager.php": "<?php\nnamespace P;\nclass Packager {}\n",
        },
        [("script", "composer.json"), ("library", "src/Packager/Packager.php")],
    ),
    "http-kit": (
        {
            "composer.json": '{"name": "shop/http-kit"}',
            "README.md": "# kit kit kit\n\n`$client = new Kit\\Client();`\n",
            "src/Client.php": "<?php\nnamespace Kit;\nclass Client {}\n",
            "src/Pool.php": "<?php\nnamespace Kit;\nclass Pool {}\n",
            "src/kit.php": "<?php\nreturn ['kit' => true, 'Kit' => true];\n",
            "tests/ClientTest.php": "<?php\nclass ClientTest { function testGet() { new Client(); new Pool(); } }\n",
        },
        [("library", "src/Client.php")],
    ),
    "panther": (
        {
            "panther.gemspec": "Gem::Specification.new do |s|\n  s.executables = ['panther', \"pantherctl\"]\nend\n",
            "Gemfile": "gemspec\n",
            "bin/panther": "#!/usr/bin/env ruby\n",
            "exe/pantherctl": "#!/usr/bin/env ruby\n",
            "lib/panther.rb": "module Panther\nend\n",
        },
        [("script", "panther.gemspec"), ("script", "panther.gemspec"), ("library", "lib/panther.rb")],
    ),
    "Flames": (
        {
            "Package.swift": 'let package = Package(name: "Flames", targets: [])\n',
            "Source/Flames.swift": "public let flames = 1\n",
            "Source/Core/Request.swift": "public class Request {}\n",
            "Tests/FlamesTests.swift": "final class FlamesTests {}\n",
        },
        [("library", "Source/Flames.swift")],
    ),
    "courier": (
        {
            "setup.cfg": "[options.entry_points]\nconsole_scripts =\n  courier = courier.cli:main\n",
            "courier/__init__.py": "",
            "courier/cli.py": "def main():\n    pass\n",
        },
        [("script", "setup.cfg"), ("library", "courier/__init__.py")],
    ),
    "lifespan": (
        {
            "pyproject.toml": '[project]\nname = "lifespan"\n',
            "lifespan/__init__.py": "",
            "lifespan/on.py": "class On:\n    def main(self):\n        pass\n",
        },
        [("library", "lifespan/__init__.py")],
    ),
    "web-kit": (
        {"package.json": '{"name": "web-kit", "scripts": {"test": "jest"}}', "src/index.ts": "export const a = 1;\n"},
        [("library", "src/index.ts"), ("script", "package.json")],
    ),
    "shop": (
        {
            "pyproject.toml": '[project]\nname = "shop"\n[project.scripts]\nshop = "shop.cli:main"\n',
            "shop/__init__.py": "",
            "shop/__main__.py": "",
            "shop/cli.py": "def main():\n    pass\n",
            "tools/x.py": "def main():\n    pass\n",
        },
        [
            ("script", "pyproject.toml"),
            ("module", "shop/__main__.py"),
            ("library", "shop/__init__.py"),
            ("function", "tools/x.py"),
        ],
    ),
}


@pytest.mark.parametrize("name", REPOSITORIES)
def test_a_repository_is_entered_where_its_users_would(name: str, tmp_path: Path) -> None:
    files, expected = REPOSITORIES[name]

    async def body(ask: Ask) -> None:
        found = result(await ask("repo.entry_points"))
        points = cast(list[JsonObject], found["entry_points"])
        assert [(point["kind"], point["path"]) for point in points] == expected
        assert found["count"] == len(expected)
        first = result(await ask("repo.entry_points", limit=1))
        assert len(cast(list[JsonObject], first["entry_points"])) == 1 and first["count"] == len(expected)

    with_plane(make_repo(tmp_path / name, files), body)


def test_nothing_to_enter_is_said(tmp_path: Path) -> None:
    async def body(ask: Ask) -> None:
        found = result(await ask("repo.entry_points"))
        assert found["entry_points"] == [] and found["count"] == 0

    with_plane(make_repo(tmp_path / "notes", {"a.md": "# a\n"}), body)
