"""The graph behind the map: what a rank is, whom it favours, and that its bounds are said."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from codeplane.index.fact_store import FactStore
from codeplane.index.files.file import digest_of
from codeplane.index.parse_worker import Source, parse_source
from codeplane.index.parsed_table import ParsedFile
from codeplane.query.overview.focus import Words, find_focus
from codeplane.query.overview.graph import Graph, graph_of
from tests.interaction.requirements import requirement


@contextmanager
def stored(folder: Path, files: Mapping[str, str]) -> Iterator[FactStore]:
    store = FactStore(folder / "facts.db")
    parsed = [
        ParsedFile(
            path=path,
            digest=digest_of(text.encode()),
            language=_language(path),
            parsed=parse_source(_source(key, path, text), text.encode()),
        )
        for key, (path, text) in enumerate(files.items())
    ]
    store.put(parsed, epoch=1)
    yield store
    store.close()


def _source(key: int, path: str, text: str) -> Source:
    return Source(key=key, name=path, language=_language(path), offset=0, length=len(text))


def _language(path: str) -> str:
    return "go" if path.endswith(".go") else "python"


def best(graph: Graph, scores: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> str:
    return graph.names[int(graph.def_name[int(np.argmax(scores))])]


FILES = {
    "core.py": "class WidelyUsed:\n    pass\n\n\nclass SeldomUsed:\n    pass\n",
    "one.py": "from core import WidelyUsed\nWidelyUsed()\n",
    "two.py": "from core import WidelyUsed\nWidelyUsed()\n",
    "three.py": "from core import WidelyUsed, SeldomUsed\n",
    "tests/test_one.py": "class WidelyUsed:\n    pass\n\n\nclass OnlyInTests:\n    pass\n",
    "tests/test_two.py": "from tests.test_one import OnlyInTests\n",
}


def test_what_many_files_use_is_first_and_definitions_of_tests_do_not_count_as_meant(tmp_path: Path) -> None:
    with stored(tmp_path, FILES) as store:
        graph = graph_of(store)
        assert best(graph, graph.plain.definitions) == "WidelyUsed"
        assert graph.paths[int(np.argmax(graph.plain.files))] == "core.py"
        assert not graph.is_test[graph.def_file[graph.edge_to]].any()
        assert (graph.def_file[graph.edge_to] != graph.edge_from).all()


def test_a_focus_moves_the_rank(tmp_path: Path) -> None:
    with stored(tmp_path, FILES) as store:
        graph = graph_of(store)
        words = Words.of(graph)
        for text in ("SeldomUsed", "what is seldom used"):
            focus = find_focus(graph, words, [text])
            assert best(graph, graph.rank(focus.files, focus.names).definitions) == "SeldomUsed", text
        nothing = find_focus(graph, words, ["zzyzx"])
        assert not nothing.files and not nothing.names
        assert graph.rank(nothing.files, nothing.names) is graph.plain


def test_a_name_counts_for_the_definition_whose_module_is_spoken_of(tmp_path: Path) -> None:
    uses = "from lib.parse import read_all\nread_all()\n"
    files = {
        "lib/parse.py": "def read_all():\n    pass\n",
        "lib/other.py": "def read_line():\n    pass\n",
        "app/one.py": uses,
        "app/two.py": uses,
        # These have the other name as one of their own.
        "web/three.py": "read_line = 1\nprint(read_line)\n",
        "web/four.py": "read_line = 1\nprint(read_line)\n",
        "web/five.py": "read_line = 1\nprint(read_line)\n",
    }
    with stored(tmp_path, files) as store:
        graph = graph_of(store)
        assert best(graph, graph.plain.definitions) == "read_all"


@requirement("MAP-01")
def test_bounds_are_said_and_tests_go_first(tmp_path: Path) -> None:
    with stored(tmp_path, FILES) as store:
        graph = graph_of(store, max_files=4)
        assert graph.paths == ("core.py", "one.py", "three.py", "two.py")
        assert graph.cut == "4 of 6 code files ranked"
        assert graph_of(store).cut == ""
        assert "the first 2 definitions ranked" in graph_of(store, max_definitions=2).cut


def test_nothing_parsed_is_a_graph_too(tmp_path: Path) -> None:
    with stored(tmp_path, {}) as store:
        graph = graph_of(store)
        assert len(graph.plain.files) == len(graph.plain.definitions) == 0
        assert len(graph.rank({}, {}).definitions) == 0


@given(st.data())
def test_ranks_are_shares_of_one_whatever_uses_what(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 8))
    edges = data.draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=20))
    seeds = data.draw(st.dictionaries(st.integers(0, count - 1), st.floats(0.01, 10), max_size=3))
    graph = Graph(
        paths=tuple(f"file{n}.py" for n in range(count)),
        digests=("",) * count,
        names=tuple(f"name{n}" for n in range(count)),
        def_file=np.arange(count),
        def_position=np.zeros(count, dtype=np.int64),
        def_name=np.arange(count),
        def_weight=np.ones(count),
        edge_from=np.array([one for one, _ in edges], dtype=np.int64),
        edge_to=np.array([other for _, other in edges], dtype=np.int64),
        edge_weight=np.ones(len(edges)),
        edge_near=np.ones(len(edges), dtype=np.bool_),
        parsed=count,
    )
    ranking = graph.rank(seeds, {})
    assert abs(ranking.files.sum() - 1) < 1e-6
    assert (ranking.files >= 0).all() and (ranking.definitions >= 0).all()
    assert np.isfinite(ranking.definitions).all()


def test_what_go_does_not_export_is_used_in_its_own_package_alone(tmp_path: Path) -> None:
    files = {
        "store/errors.go": "package store\n\nvar errorTexts = map[int]string{}\n\nfunc OpenStore() {}\n",
        "store/write.go": "package store\n\nfunc write() string { return errorTexts[1] }\n",
        # This one speaks of the package and has a name of its own.
        "cmd/main.go": 'package main\n\nimport "x/store"\n\nfunc run(errorTexts []int) { store.OpenStore() }\n',
    }
    with stored(tmp_path, files) as store:
        graph = graph_of(store)
        edges = {
            (graph.paths[source], graph.names[int(graph.def_name[target])])
            for source, target in zip(graph.edge_from.tolist(), graph.edge_to.tolist(), strict=True)
        }
        assert edges == {("store/write.go", "errorTexts"), ("cmd/main.go", "OpenStore")}
