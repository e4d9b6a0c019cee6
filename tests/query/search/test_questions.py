"""Questions in plain English: which files are listed, in which order, and by which line."""

from pathlib import Path

import pytest

from codeplane.query.search.file_kinds import files_under_test, kind_of
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.search.hits import paths
from tests.surfaces.http.wire import get_field

_LICENSE = (
    "Permission is granted to decide whether the colors of this work are on or off, as the holder decides.\n" * 40
)
_WORDS = ["entry", "walk", "depth", "filter", "owner", "size", "time", "format", "thread", "batch", "regex", "sort"]
FILES = {
    "src/main.rs": (
        "use std::env;\n"
        "use crate::output::colors;\n"
        "\n"
        "/// Whether output is colored.\n"
        "fn wants_color(opts: &Opts) -> bool {\n"
        '    match opts.color { ColorWhen::Auto => env::var_os("NO_COLOR").is_none(), _ => decide(opts) }\n'
        "}\n"
    ),
    "src/output.rs": "use crate::config;\npub fn colors(entry: &Entry) -> Colors {\n    entry.colors()\n}\n",
    **{f"src/{name}.rs": f"pub fn {name}_of(path: &Path) -> u32 {{ on(path) }}\n" for name in _WORDS},
    "LICENSE-MIT": _LICENSE,
    "doc/logo.svg": "<svg><!-- colors on --><path decide='colors'/></svg>\n",
    "Cargo.lock": '[[package]]\nname = "colors"\ndecide = "on"\n',
    "web/etag/digest.ts": (
        "import { merge } from '../buffer'\n"
        "const SIZE = 16\n"
        "export const generateDigest = async (body: Stream) => {\n  return merge(body, SIZE)\n}\n"
    ),
    "web/etag/index.ts": (
        "import { generateDigest } from './digest'\n"
        "export const etag = (weak: boolean) => async (c, next) => {\n"
        "  c.header('ETag', await generateDigest(c.body))\n}\n"
    ),
    "web/dom/render.ts": "// a tag is rendered; e is the tag's element\n"
    + "export const tag = (e) => e.tag + tag(e)\n" * 30,
    "web/cors/index.ts": "export const cors = (c) => {\n  if (c.method === 'OPTIONS') c.header('Allow')\n}\n",
    "web/cors/index.test.ts": "it('answers preflight requests', () => {\n  expect(preflight('/')).toBe(204)\n})\n" * 5,
    "web/csrf/index.ts": "// a request may come without a preflight\nexport const csrf = (request) => request.origin\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


@requirement("RNK-02")
def test_prose_and_data_do_not_answer_a_question_about_code(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("search", query="how does it decide whether colors are on?")
        found = result(envelope)
        assert (found["mode"], paths(found)[0]) == ("ranked", "src/main.rs")
        assert not {"LICENSE-MIT", "doc/logo.svg", "Cargo.lock"} & set(map(str, paths(found)))
        assert len(paths(found)) < 8 and "weaker files left out" in str(found["weaker"])
        assert str(found["weaker"]) in str(envelope["text"])
        asked_for = result(await ask("search", query="what does the license say about colors", mode="ranked"))
        assert paths(asked_for)[0] == "LICENSE-MIT"

    with_plane(root, body)


@requirement("RNK-02")
def test_the_line_shown_is_a_definition_or_a_passage_and_no_import(root: Path) -> None:
    async def body(ask: Ask) -> None:
        found = result(await ask("search", query="how does it decide whether colors are on", mode="ranked"))
        hits = found["results"]
        assert isinstance(hits, list)
        shown = {str(get_field(hit, "path")): get_field(hit, "line") for hit in hits}
        assert shown["src/main.rs"] in (5, 6)
        assert shown["src/output.rs"] == 2
        etag = result(await ask("search", query="where is the ETag computed", mode="ranked"))
        lines = {str(get_field(hit, "path")): get_field(hit, "line") for hit in etag["results"]}  # type: ignore[union-attr]
        # No word of the question is in it: its first definition stands for it.
        assert lines["web/etag/digest.ts"] == 3

    with_plane(root, body)


@requirement("RNK-02")
def test_names_of_files_and_folders_are_evidence(root: Path) -> None:
    async def body(ask: Ask) -> None:
        found = paths(result(await ask("search", query="where is the ETag computed")))
        assert found[0] == "web/etag/index.ts" and "web/etag/digest.ts" in found[:3]

    with_plane(root, body)


@requirement("RNK-02")
def test_a_test_speaks_for_the_file_it_is_about(root: Path) -> None:
    async def body(ask: Ask) -> None:
        found = paths(result(await ask("search", query="how are preflight requests answered", tests="exclude")))
        assert "web/cors/index.ts" in found[:2]

    with_plane(root, body)


@requirement("RNK-02")
@pytest.mark.parametrize(
    "query",
    [
        "how are sizes like +10k parsed by the filter?",
        "Wrong size\n\nThe filter of sizes [see docs] fails for `size` (always).\nExpected: a size",
        "why does the filter of a size fail (.*)?",
    ],
)
def test_auto_ranks_whatever_reads_like_a_sentence(root: Path, query: str) -> None:
    async def body(ask: Ask) -> None:
        found = result(await ask("search", query=query))
        assert found["mode"] == "ranked" and "src/size.rs" in paths(found)[:3]

    with_plane(root, body)


@requirement("RNK-02")
def test_auto_leaves_code_that_is_nowhere_unanswered(root: Path) -> None:
    async def body(ask: Ask) -> None:
        for query in (r"zyx\w+\(abc\)", "zyx|wvu", "zyx = {abc: 1}"):
            found = result(await ask("search", query=query))
            assert found["results"] == [] and found["mode"] != "ranked", query

    with_plane(root, body)


@requirement("RNK-02")
def test_a_page_of_ranked_files_is_short_unless_more_is_asked_for(tmp_path: Path) -> None:
    files = {f"src/size_{number}.py": f"def parse_size(text):\n    return {number}\n" for number in range(30)}

    async def body(ask: Ask) -> None:
        first = result(await ask("search", query="how is the size parsed?"))
        assert len(paths(first)) == 10 and first["total"] == 30
        cursor = get_field(first, "pagination", "next_cursor")
        second = result(await ask("search", query="how is the size parsed?", cursor=cursor))
        assert len(paths(second)) == 10 and not set(map(str, paths(second))) & set(map(str, paths(first)))
        assert len(paths(result(await ask("search", query="how is the size parsed?", limit=20)))) == 20
        assert len(paths(result(await ask("search", query="parse_size(text)")))) == 20

    with_plane(make_repo(tmp_path / "sizes", files), body)


@requirement("RNK-02")
def test_kinds_of_files() -> None:
    kinds = {
        "source": ("src/main.rs", "src/builtin.jq", "bin/run.sh", "lib/license_check.py"),
        "tests": ("tests/test_a.py", "src/a.test.ts", "a_test.go"),
        "declarations": ("index.d.ts", "src/use.d.mts", "stubs/yaml.pyi"),
        "prose": ("README.md", "docs/use.rst", "Makefile2", "doc/fd.1", "CHANGELOG", "demo/list.js", "benches/walk.rs"),
        "settings": (".github/workflows/ci.yml", "Cargo.toml", "pom.xml", "karma.conf.js", "vite.config.ts"),
        "data": (
            "LICENSE-APACHE",
            "COPYING",
            "doc/logo.svg",
            "Cargo.lock",
            "package-lock.json",
            "vendor/a.c",
            "a.min.js",
            "static/jquery-3.5.1.js",
        ),
    }
    assert {path: kind_of(path) for some in kinds.values() for path in some} == {
        path: kind for kind, some in kinds.items() for path in some
    }


@requirement("RNK-02")
def test_which_file_a_test_is_about() -> None:
    files = [
        "pkg/_auth.py",
        "pkg/main/java/a/Reader.java",
        "web/cors/index.ts",
        "web/etag/index.ts",
        "tree.go",
        "x/tree.c",
    ]
    about = {
        "tests/client/test_auth.py": "pkg/_auth.py",
        "pkg/test/java/a/ReaderTest.java": "pkg/main/java/a/Reader.java",
        "web/cors/index.test.ts": "web/cors/index.ts",
        "tree_test.go": "tree.go",
        # Two files have that name, and none of them is beside it.
        "elsewhere/tree_test.go": None,
        "other/index.test.ts": None,
        "tests/tests.py": None,
    }
    assert files_under_test(about, files, exists=files.__contains__) == {
        test: file for test, file in about.items() if file
    }


_TRACE = """Traceback (most recent call last):
  File "src/size.rs", line 1, in size_of
    on(path)
ValueError: wrong size for the filter
"""
_DIFF = """diff --git a/src/size.rs b/src/size.rs
@@ -1 +1 @@
-pub fn size_of(path: &Path) -> u32
+pub fn size_of(path: &Path, filter: bool) -> u64
"""


@requirement("RNK-02")
@pytest.mark.parametrize(
    "query",
    [
        "wrong size",
        "size_of() fails on paths[0] (a regression)",
        "[Bug]: `size_of()` is wrong for the filter (see docs).",
        _TRACE,
        _DIFF,
        f"The size is wrong\n\n{'It is not what it should be. ' * 400}\nThe filter of sizes fails.",
    ],
)
def test_auto_ranks_titles_issues_traces_and_diffs_of_any_length(root: Path, query: str) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("search", query=query)
        found = result(envelope)
        assert found["mode"] == "ranked" and "src/size.rs" in paths(found)[:3]
        assert "ranked" in str(envelope["text"])

    with_plane(root, body)


@requirement("RNK-02")
def test_an_expression_without_matches_says_what_was_taken_instead(root: Path) -> None:
    async def body(ask: Ask) -> None:
        as_text = await ask("search", query="opts.color { ColorWhen::Auto => env::var_os(")
        assert result(as_text)["mode"] == "literal"
        envelope = await ask("search", query="match opts[.]colour", mode="regex")
        assert result(envelope)["results"] == [] and result(envelope)["mode"] == "regex"
        ranked = await ask("search", query="the filter of a size|time fails [always]")
        assert result(ranked)["mode"] == "ranked"
        assert "as a regular expression" in str(ranked)

    with_plane(root, body)


@requirement("RNK-02")
@pytest.mark.parametrize("named", ["src/batch.rs", "./src/batch.rs", "src\\batch.rs"])
def test_a_file_that_is_named_in_full_comes_first(root: Path, named: str) -> None:
    query = f"how does it decide whether colors are on, and what has {named} to do with output colors?"

    async def body(ask: Ask) -> None:
        for mode in ("ranked", "auto"):
            assert paths(result(await ask("search", query=query, mode=mode)))[0] == "src/batch.rs"
        # Neither a trace nor a test that is run names what is looked for.
        trace = f'{query.replace(named, "it")}\n  File "src/batch.rs", line 3, in x'
        assert paths(result(await ask("search", query=trace, mode="ranked")))[0] == "src/main.rs"
        run = f"{query.replace(named, 'it')}\n\nSeen with web/cors/index.test.ts."
        assert paths(result(await ask("search", query=run, mode="ranked")))[0] == "src/main.rs"

    with_plane(root, body)
