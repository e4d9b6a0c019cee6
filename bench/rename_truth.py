"""Which places two type checkers say refer to a symbol: a data file for `bench.references` and `bench.rename`.

`python -m bench.rename_truth --root FOLDER --out FILE --pyright COMMAND --ty COMMAND [--count 150] [--seed 7]` samples
methods, attributes, parameters and a few of everything else, asks both servers for `textDocument/references`, and
writes what they agree on as certain and what only one of them says as disputed.
"""

import argparse
import json
import random
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import IO
from urllib.parse import unquote, urlparse

from bench.references import Lines, Place, parsed
from codeplane.code.model import REASONS, Facts
from codeplane.index.fact_store import FactStore
from codeplane.index.path_kinds import is_test
from codeplane.index.snapshot import Snapshot

_PARAM = REASONS.index("PARAM")
_SHARES = {"method": 8, "attr": 6, "parameter": 8, "function": 2, "class": 2, "constant": 1, "local": 2}
_ANSWER_SEC = 120.0
Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A symbol that is asked about."""

    kind: str
    name: str
    qualname: str
    path: str
    at: int


class Server:
    """A language server on pipes, asked one thing at a time."""

    def __init__(self, command: Sequence[str], root: Path, *, language: str = "python") -> None:
        self._root = root
        self._language = language
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input: IO[bytes] = self._process.stdin
        self._answers: Queue[Json] = Queue()
        self._last = 0
        self._opened: set[str] = set()
        threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()
        folder = {"uri": root.as_uri(), "name": root.name}
        self._ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": [folder],
                "capabilities": {
                    "workspace": {"workspaceFolders": True, "configuration": True},
                    "textDocument": {"references": {}},
                },
            },
        )
        self._send({"method": "initialized", "params": {}})

    def references(self, path: str, text: str, line: int, column: int) -> set[Place]:
        """Where a server says that what is at a place is referred to; columns are in characters."""
        uri = (self._root / path).as_uri()
        if path not in self._opened:
            self._opened.add(path)
            document = {"uri": uri, "languageId": self._language, "version": 1, "text": text}
            self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        found = self._ask(
            "textDocument/references",
            {
                "textDocument": {"uri": uri},
                "position": {"line": line, "character": column},
                "context": {"includeDeclaration": True},
            },
        )
        places: set[Place] = set()
        for one in found if isinstance(found, list) else []:
            where = Path(unquote(urlparse(one["uri"]).path))
            if where.is_relative_to(self._root):
                start = one["range"]["start"]
                places.add((str(where.relative_to(self._root)), start["line"], start["character"]))
        return places

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(10)

    def _ask(self, method: str, params: Json) -> object:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        ends = time.monotonic() + _ANSWER_SEC
        while True:
            try:
                answer = self._answers.get(timeout=max(0.1, ends - time.monotonic()))
            except Empty:
                raise TimeoutError(method) from None
            if answer.get("id") == self._last and "method" not in answer:
                if "error" in answer:
                    raise RuntimeError(str(answer["error"]))
                return answer.get("result")
            if "method" in answer and "id" in answer:
                asked = answer.get("params")
                items = asked.get("items", []) if isinstance(asked, dict) else []
                self._send({"id": answer["id"], "result": [_settings(one) for one in items] if items else None})

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._input.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._input.flush()

    def _listen(self, output: IO[bytes]) -> None:
        while True:
            length = 0
            while (line := output.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            if not length:
                return
            self._answers.put(json.loads(output.read(length)))


def _settings(item: object) -> Json | None:
    section = item.get("section") if isinstance(item, dict) else None
    if section == "python.analysis":
        return {"diagnosticMode": "openFilesOnly", "indexing": False}
    return {} if section else None


def candidates(path: str, facts: Facts) -> Iterator[Symbol]:
    """What a file has that can be asked about."""
    for one in facts.definitions:
        if one.name.startswith("__") and one.name.endswith("__"):
            continue
        around = facts.scopes[one.scope].kind
        kind = {"method": "method", "class": "class", "function": "function" if around == "file" else ""}.get(one.kind)
        if one.kind in ("field", "variable", "constant"):
            kind = "attr" if around == "class" else "constant" if around == "file" else ""
        if kind:
            yield Symbol(kind=kind, name=one.name, qualname=one.path, path=path, at=one.name_at)
    for row, name in enumerate(facts.bind_names):
        scope, at, reason = facts.bind_scope(row), facts.bind_at(row), facts.bind_reason(row)
        of = facts.scopes[scope].definition
        if name in ("self", "cls", "_") or facts.scopes[scope].kind != "function" or of < 0:
            continue
        if reason in (_PARAM, REASONS.index("LOCAL_ASSIGN")):
            kind = "parameter" if reason == _PARAM else "local"
            yield Symbol(kind=kind, name=name, qualname=f"{facts.definitions[of].path}.{name}", path=path, at=at)


def sampled(snapshot: Snapshot, store: FactStore, count: int, seed: int) -> list[Symbol]:
    """Symbols of each kind by their shares, the same ones for the same seed."""
    by_kind: dict[str, list[Symbol]] = {kind: [] for kind in _SHARES}
    for path in sorted(snapshot.files):
        facts = store.facts(path, snapshot.files[path].digest) if path.endswith(".py") else None
        if facts is None or facts.errors or is_test(path) or "/migrations/" in path:
            continue
        for one in candidates(path, facts):
            by_kind[one.kind].append(one)
    chance, whole = random.Random(seed), sum(_SHARES.values())
    found: list[Symbol] = []
    for kind, share in _SHARES.items():
        wanted = max(1, round(count * share / whole))
        found += chance.sample(by_kind[kind], min(wanted, len(by_kind[kind])))
    return found


def main() -> None:
    """Sample, ask and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pyright", default="pyright-langserver --stdio")
    parser.add_argument("--ty", default="ty server")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--home", type=Path, help="where facts are kept for the next run")
    options = parser.parse_args()
    root = options.root.resolve()
    servers = [Server(shlex.split(command), root) for command in (options.pyright, options.ty)]
    written: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory(prefix="codeplane-bench-") as folder,
        options.out.open("w") as out,
        parsed(root, options.home or Path(folder)) as (snapshot, store),
    ):
        for number, one in enumerate(sampled(snapshot, store, options.count, options.seed)):
            reported = _told(snapshot, store, servers, one)
            if reported is None:
                written["without an answer"] += 1
                continue
            certain, disputed, line, column = reported
            row = {
                "id": number,
                "kind": one.kind,
                "name": one.name,
                "qualname": one.qualname,
                "file": one.path,
                "line": line,
                "col": column,
                "certain": sorted(certain),
                "disputed": sorted(disputed),
            }
            out.write(json.dumps(row) + "\n")
            out.flush()
            written[one.kind] += 1
            print(f"{number} {one.kind} {one.qualname}: {len(certain)} + {len(disputed)}", file=sys.stderr)
    for server in servers:
        server.close()
    print(", ".join(f"{kind} {count}" for kind, count in sorted(written.items())))


def _told(
    snapshot: Snapshot, store: FactStore, servers: Sequence[Server], one: Symbol
) -> tuple[set[Place], set[Place], int, int] | None:
    text = snapshot.text(snapshot.files[one.path])
    _, line, column = Lines(text).place(one.path, one.at)
    answers = []
    for server in servers:
        try:
            found = server.references(one.path, text.decode("utf-8", "replace"), line, column)
        except (TimeoutError, RuntimeError) as error:
            print(f"{one.qualname}: {error}", file=sys.stderr)
            return None
        answers.append({place for place in found if _in_code(snapshot, store, place, one.name)})
    if not all((one.path, line, column) in answer for answer in answers):
        return None
    return answers[0] & answers[1], answers[0] ^ answers[1], line, column


def _in_code(snapshot: Snapshot, store: FactStore, place: Place, name: str) -> bool:
    """Whether a place spells the name outside of strings and comments."""
    path, line, column = place
    known = snapshot.files.get(path)
    facts = store.facts(path, known.digest) if known is not None else None
    if known is None or facts is None:
        return False
    text = snapshot.text(known)
    at = Lines(text).offset(line, column)
    return text[at : at + len(name.encode())] == name.encode() and not facts.in_text(at)


if __name__ == "__main__":
    main()
