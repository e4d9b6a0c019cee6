"""How soon a search says something: `python -m bench.search_partials FOLDER…`.

A folder is copied and served, and names and sentences of it are searched for: over `search.stream` as the Python client
calls it, until the first page, and in the dialect 0.2.1 of ACP, until the first update with hits. `just written` are
searches right after a file was changed, `while indexing` those that are made until the index is complete for the first
time.
"""

import argparse
import itertools
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from websockets.sync.client import ClientConnection, connect

from bench.lsp import percentile
from bench.measure import machine, table
from bench.search import Questions, questions
from bench.subjects.served import serving
from codeplane.client import Client

AIM_MS = 300.0
_MOST = 200
_LEFT_OUT = shutil.ignore_patterns(".codeplane", "target", "node_modules")
_ACP = {"lexical": "search.lexical", "semantic": "search.semantic", "hybrid": "search.hybrid"}
MODES = ("auto", "literal", "regex", "ranked", "symbol", "definitions", "references", *tuple(_ACP)[1:])


class Dialect:
    """A session in the dialect 0.2.1."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count()
        self._call("initialize", {"protocol_version": "0.2.1", "client_info": {"name": "bench"}})
        self._session = str(self._call("session/new", {})["session_id"])

    def search(self, mode: str, query: str) -> tuple[float, float]:
        """Return the seconds until the first update with hits, and until the end."""
        begun, first = time.perf_counter(), 0.0
        asked: dict[str, object] = {"session_id": self._session, "query": query, "k": _MOST}
        for message in self._messages(_ACP[mode], asked):
            update = message.get("params", {}).get("update", {})
            ended = update.get("tool_call_update")
            if not first and isinstance(ended, dict) and "output" in ended:
                first = time.perf_counter() - begun
        return first, time.perf_counter() - begun

    def _call(self, method: str, params: dict[str, object]) -> dict[str, object]:
        *_, answer = self._messages(method, params)
        return dict(answer["result"])

    def _messages(self, method: str, params: dict[str, object]) -> Iterator[dict[str, dict[str, dict[str, object]]]]:
        number = next(self._ids)
        self._socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv())
            if "method" in message:
                yield message
            elif message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(str(message["error"]))
                yield message
                return


def stream(client: Client, mode: str, query: str) -> tuple[float, float]:
    """Return the seconds until the first page of a stream, and until its end."""
    begun, first = time.perf_counter(), 0.0
    with client.search(query, mode=mode, most=_MOST) as pages:
        for _ in pages:
            first = first or time.perf_counter() - begun
    return first, time.perf_counter() - begun


def rows_of(
    label: str, client: Client, dialect: Dialect, asked: Questions, prepare: Callable[[], None]
) -> list[list[str]]:
    """Return the figures of every mode."""
    found = []
    for way, modes in (("search.stream", MODES), ("ACP 0.2.1", tuple(_ACP))):
        for mode in modes:
            times = []
            for query in asked.of("ranked" if mode in (*_ACP, "auto") else mode):
                prepare()
                times.append(stream(client, mode, query) if way == "search.stream" else dialect.search(mode, query))
            found.append([label, way, mode, str(len(times)), *figures(times)])
    return found


def figures(times: list[tuple[float, float]]) -> list[str]:
    """Return p50, p95 and the worst of the first page, and p95 of the end, in milliseconds."""
    firsts, ends = [first for first, _ in times], [end for _, end in times]
    shown = [*(f"{percentile(firsts, share):.0f}" for share in (0.5, 0.95)), f"{max(firsts) * 1000:.0f}"]
    return [*shown, f"{percentile(ends, 0.95):.0f}"]


def measure(root: Path, count: int) -> list[list[str]]:
    """Return the figures of one repository."""
    asked = questions(root, count)
    with serving(root) as served:
        client = Client.of_repository(root)
        early = indexing(client, asked)
        served.wait(query=asked.names[0], mode="references")
        served.wait(query=asked.sentences[0], mode="semantic")
        token = (root / ".codeplane/owner.token").read_text().strip()
        with connect(
            f"ws://127.0.0.1:{served.port}/acp", additional_headers={"Authorization": f"Bearer {token}"}, max_size=None
        ) as socket:
            dialect = Dialect(socket)
            rows = [early, *rows_of("standing", client, dialect, asked, lambda: None)]
            versions = itertools.count()
            edited = next(
                path for path in sorted(root.rglob("*.py")) + sorted(root.rglob("*.ts")) if path.stat().st_size
            )
            text = edited.read_text()

            def edit() -> None:
                edited.write_text(f"{text}\n# version {next(versions)}\n")

            return [*rows, *rows_of("just written", client, dialect, asked, edit)]


def indexing(client: Client, asked: Questions) -> list[str]:
    """Return the figures of searches that are made until one misses nothing."""
    times: list[tuple[float, float]] = []
    for name, sentence in itertools.cycle(zip(asked.names, asked.sentences, strict=False)):
        is_partial = False
        for mode, query in (("definitions", name), ("ranked", sentence)):
            begun = time.perf_counter()
            with client.search(query, mode=mode, most=_MOST) as pages:
                page = next(iter(pages))
                first = time.perf_counter() - begun
                times.append((first, first))
            is_partial = is_partial or bool(page.partial)
        if not is_partial:
            break
    return ["while indexing", "search.stream", "definitions, ranked", str(len(times)), *figures(times)[:-1], "–"]


def main() -> None:
    """Measure the folders that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=100)
    given = parser.parse_args()
    print(machine(Path(tempfile.gettempdir())))
    for folder in given.folders:
        with tempfile.TemporaryDirectory() as place:
            copy = Path(shutil.copytree(folder, Path(place) / folder.name, symlinks=True, ignore=_LEFT_OUT))
            rows = measure(copy, given.questions)
        print(f"\n{folder.name}: first page, ms (aim: p95 below {AIM_MS:.0f})")
        print(table(["index", "over", "mode", "searches", "p50", "p95", "worst", "end p95"], rows))


if __name__ == "__main__":
    main()
