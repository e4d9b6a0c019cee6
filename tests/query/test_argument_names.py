"""Names of arguments as other tools and agents have them, over the core operations: meant, or answered with advice."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.surfaces.http.wire import get_field

FILES = {
    "src/app.py": "def greet(name):\n    return name\n",
    "src/app.ts": "export function greet(name) {\n  return name\n}\n",
    "lib/other.py": "def Greet():\n    pass\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repo(tmp_path_factory.mktemp("names") / "repo", FILES)


def places(envelope: JsonObject) -> list[tuple[object, object]]:
    hits = result(envelope)["results"]
    assert isinstance(hits, list)
    return [(get_field(hit, "path"), get_field(hit, "line")) for hit in hits]


@requirement("REPO-13")
def test_what_other_tools_call_it_is_understood(root: Path) -> None:
    greet = ("src/app.py", 1)
    asked: list[tuple[JsonObject, list[tuple[object, object]]]] = [
        ({"query": "greet", "scope": {"paths": ["src"], "languages": ["python"], "kinds": ["function"]}}, [greet]),
        ({"query": "greet", "scope": {"path": "src", "language": "python"}}, [greet]),
        ({"query": "greet", "scope": '{"paths": ["src/*.py"]}'}, [greet]),
        ({"query": "greet", "scope": "src/app.py"}, [greet]),
        ({"query": "greet", "filters": {"glob": "*.py"}}, [greet]),
        ({"query": "GREET", "case_sensitive": False, "lang": "python"}, [("lib/other.py", 1), greet]),
        ({"query": "GREET", "case_insensitive": True, "file": "src/app.py"}, [greet]),
        ({"query": "greet", "case_sensitive": "true", "mode": "literal", "paths": "lib"}, []),
    ]

    for name in ("q", "pattern", "text", "regex", "keyword"):
        asked.append(({name: "greet", "paths": "src/app.py"}, [greet]))
    for name in ("file", "files", "glob", "directory", "path"):
        asked.append(({"query": "greet", name: "src/app.py"}, [greet]))
    for name in ("max_results", "limit", "top_k", "maxResults"):
        asked.append(({"query": "greet", name: 1}, [greet]))

    async def body(ask: Ask) -> None:
        for arguments, expected in asked:
            assert places(await ask("search", **arguments)) == expected, arguments
        around = await ask("search", query="greet", paths="src/app.py", context_lines=1)
        assert get_field(result(around), "results", 0, "after") == ["    return name"]
        assert "greet" in str(result(await ask("explain_symbol", name="src/app.py:1")))
        assert "result" in await ask("map_repo", scope="src")

    with_plane(root, body)


@requirement("REPO-13")
def test_advice_leads_to_what_means_the_same(root: Path) -> None:
    wrong: list[tuple[str, JsonObject, str]] = [
        ("search", {"query": "x", "regex": True}, "send mode=regex"),
        ("search", {"query": "x", "is_regex": True}, "send mode=regex"),
        ("search", {"query": "x", "output_mode": "files_with_matches"}, "send include_snippets=false"),
        ("search", {"query": "x", "include_tests": True}, "send tests=include"),
        ("search", {"query": "x", "pattern": "y"}, "did you mean 'query'? That is sent too"),
        ("search", {"query": "x", "paths": "a", "scope": {"paths": "b"}}, "did you mean 'paths'? That is sent too"),
        ("search", {"query": "x", "scope": {"zyx": 1}}, "unknown argument 'zyx'; it takes"),
        ("search", {"query": "x", "ignorecase": True}, "did you mean 'ignore_case'?"),
        ("read_files", {"paths": ["a", "b"], "limit": 5}, "limit go with one path"),
        ("read_files", {"path": "a", "lines": "1-5"}, "send path:10-40"),
        ("git_status", {"scope": {"zyx": 1}}, "unknown argument 'zyx'; it takes"),
        ("undo", {"scope": "src"}, "it takes mutation_id"),
        ("write_files", {"edits": [], "scope": "src"}, "it takes edits"),
    ]

    async def body(ask: Ask) -> None:
        for operation, arguments, output in wrong:
            refused = await ask(operation, **arguments)
            assert get_field(refused, "error", "error") == "INVALID_ARGUMENT", arguments
            message = str(get_field(refused, "error", "message"))
            assert output in message and "did you mean 'context'" not in message, (arguments, message)

    with_plane(root, body)


@requirement("REPO-13")
def test_hits_without_their_text(root: Path) -> None:
    async def body(ask: Ask) -> None:
        found = await ask("search", query="name", include_snippets=False, paths="src/app.py", context=1)
        assert places(found) == [("src/app.py", 1), ("src/app.py", 2)]
        assert {str(get_field(result(found), "results", number, "snippet")) for number in (0, 1)} == {""}
        assert str(found["text"]).startswith("src/app.py:1,2\n[2 of 2 lines")
        cut = await ask("search", query="name", include_snippets=False, limit=1)
        cursor = get_field(result(cut), "pagination", "next_cursor")
        second = await ask("search", query="name", limit=1, cursor=cursor)
        assert str(get_field(result(second), "results", 0, "snippet")) != ""

    with_plane(root, body)
