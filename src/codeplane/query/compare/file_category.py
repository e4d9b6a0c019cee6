"""The category of a file, by its path."""

import re
from typing import Literal

from codeplane.index.path_kinds import is_test

Category = Literal["prod", "test", "build", "config", "docs"]

_BUILD = re.compile(
    r"(?:^|/)(?:Makefile|GNUmakefile|CMakeLists\.txt|Dockerfile[^/]*|[^/]*\.dockerfile|Jenkinsfile|Rakefile|Gemfile"
    r"|Procfile|Justfile|justfile|Vagrantfile|BUILD|WORKSPACE|setup\.py|setup\.cfg|pyproject\.toml|package\.json|go\.mod"
    r"|Cargo\.toml|pom\.xml|mix\.exs|meson\.build|noxfile\.py|tox\.ini|build\.(?:gradle|sbt|rs|zig|xml)(?:\.kts)?"
    r"|settings\.gradle(?:\.kts)?|gradlew(?:\.bat)?|(?:docker-)?compose[^/]*\.ya?ml|requirements[^/]*\.(?:txt|in|lock)"
    r"|[^/]*\.(?:gradle|cmake|mk|csproj|fsproj|vbproj|sln|gemspec|bazel|bzl|nix|podspec)|[^/]*\.lock|go\.sum"
    r"|[^/]*-lock\.(?:json|ya?ml)|(?:webpack|rollup|vite|esbuild|babel|gulpfile|Gruntfile)[^/]*\.[cm]?[jt]s)$"
    r"|(?:^|/)(?:\.github/workflows|\.circleci|\.gitlab|ci|\.buildkite)/|(?:^|/)\.(?:gitlab-ci|travis|appveyor)\.ya?ml$"
)
_DOCS = re.compile(
    r"(?:^|/)(?:docs?|documentation|man)/|\.(?:md|mdx|rst|adoc|txt|tex|rdoc|pod|1)$"
    r"|(?:^|/)(?:README|CHANGELOG|CHANGES|LICENSE|LICENCE|NOTICE|AUTHORS|CONTRIBUTING|COPYING|HISTORY|SECURITY)[^/]*$"
)
_CONFIG = re.compile(
    r"\.(?:ya?ml|toml|ini|cfg|conf|json5?|jsonc|properties|env|editorconfig|plist|xml|hcl|tfvars)$"
    r"|(?:^|/)\.[^/]*(?:rc|ignore|attributes|config)$|(?:^|/)\.[^/]+$"
)


def category(path: str) -> Category:
    """The category of a path: tests first, then build, docs and config; the rest is production code."""
    if is_test(path):
        return "test"
    if _BUILD.search(path):
        return "build"
    if _DOCS.search(path):
        return "docs"
    return "config" if _CONFIG.search(path) else "prod"
