"""Vectors: embedding a source tree, what they take on disk, and searching 100,000. `python -m bench.vectors`."""

import argparse
import ast
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.measure import Sample, Stopwatch, machine, table
from codeplane.vectors.chunks import Chunk, chunk
from codeplane.vectors.embedder import normalise
from codeplane.vectors.static_vectors import StaticVectors, load_wordllama
from codeplane.vectors.store import VectorStore
from codeplane.vectors.tensors import tensors


def definitions(content: bytes) -> list[tuple[int, int]]:
    """The byte ranges of a Python file's functions and classes; not part of what is measured."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return []
    lines = [0]
    for line in content.split(b"\n"):
        lines.append(lines[-1] + len(line) + 1)
    return [
        (lines[node.lineno - 1], min(lines[node.end_lineno or node.lineno], len(content)))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]


def decoded(content: bytes, chunks: list[Chunk]) -> list[str]:
    """The text of each chunk."""
    return [content[part.start : part.end].decode(errors="replace") for part in chunks]


def plain(texts: list[str]) -> NDArray[np.float32]:
    """The peer: every text through the tokenizer whole, and the mean of its tokens."""
    import importlib.util

    from tokenizers import Tokenizer

    spec = importlib.util.find_spec("wordllama")
    assert spec is not None and spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    matrix = tensors(folder / "weights/l2_supercat_256.safetensors")["embedding.weight"].astype(np.float32)
    rows = np.zeros((len(texts), 256), np.float32)
    for row, text in zip(rows, texts, strict=True):
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        if tokens:
            row[:] = matrix[tokens].mean(axis=0)
    return normalise(rows)


def embedding(model: StaticVectors, files: list[bytes], store: VectorStore) -> NDArray[np.float32]:
    """Chunk, embed and keep every file, and print what that took."""
    size = sum(map(len, files)) / 1e6
    ranges = [definitions(content) for content in files]
    matrices, texts = [], []
    with Stopwatch() as ours:
        for number, (content, boundaries) in enumerate(zip(files, ranges, strict=True)):
            chunks = chunk(content, boundaries)
            matrices.append(model.embed(decoded(content, chunks)))
            store.add(f"{number:064}", chunks, matrices[-1])
        store.commit()
    for content, boundaries in zip(files, ranges, strict=True):
        texts.extend(decoded(content, chunk(content, boundaries)))
    part = texts[::10]
    with Stopwatch() as peer:
        plain(part)
    rate, peer_rate = size / ours.cpu, sum(map(len, part)) / 1e6 / peer.cpu
    rows = [
        ["chunked, embedded, kept", f"{size:.1f}", f"{ours.cpu:.2f}", f"{rate:.1f}", f"{rate / peer_rate:.1f}x"],
        ["whole texts tokenised (a tenth)", f"{size / 10:.1f}", f"{peer.cpu:.2f}", f"{peer_rate:.1f}", "1.0x"],
    ]
    print(table([f"{len(files)} files, {len(texts)} chunks", "MB", "CPU s", "MB a CPU s", "ratio"], rows))
    return np.concatenate(matrices)


def recall(store: VectorStore, matrix: NDArray[np.float32], digests: list[str], counts: list[int]) -> float:
    """How many of the ten nearest by float32 are found by the store, over 500 chunks asked as queries."""
    begins = dict(zip(digests, np.cumsum(counts) - np.array(counts), strict=True))
    found = 0
    queries = matrix[:: max(1, len(matrix) // 500)]
    for query in queries:
        nearest = set(np.argsort(-(matrix @ query), kind="stable")[:10].tolist())
        found += len(nearest & {begins[hit.digest] + hit.chunk for hit in store.search(query, digests, 10)})
    return found / 10 / len(queries)


def anonymous() -> float:
    """MB of memory of this process that no file is behind, where the system tells."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon")), float("nan"))


def searching(matrix: NDArray[np.float32], folder: Path, *, rows: int, queries: int) -> None:
    """Search among many rows, and the same with all of them in memory as float32."""
    random = np.random.default_rng(0)
    store = VectorStore(folder, model="bench", dimensions=matrix.shape[1])
    per_file = 20
    digests = tuple(f"{number:064}" for number in range(rows // per_file))
    spans = [Chunk(start=0, end=1, start_line=1, end_line=1)] * per_file
    for digest in digests:
        some = matrix[random.integers(0, len(matrix), per_file)]
        noise = random.standard_normal(some.shape, np.float32) * np.float32(0.02)
        store.add(digest, spans, normalise(some + noise))
    store.commit()
    asked = matrix[random.integers(0, len(matrix), queries)]
    before = anonymous()
    store.search(asked[0], digests, 10)
    latencies = []
    with Stopwatch() as watch:
        for query in asked:
            began = time.perf_counter_ns()
            store.search(query, digests, 10)
            latencies.append(time.perf_counter_ns() - began)
    ours = Sample.of(watch, latencies)
    grown = anonymous() - before
    whole = normalise(random.standard_normal((rows, matrix.shape[1]), np.float32))
    latencies = []
    with Stopwatch() as watch:
        for query in asked:
            began = time.perf_counter_ns()
            np.argpartition(whole @ query, -10)
            latencies.append(time.perf_counter_ns() - began)
    peer = Sample.of(watch, latencies)
    kept = rows * (matrix.shape[1] + 4) / 1e6
    print(
        table(
            [f"search among {rows}", "p50 ms", "p95 ms", "CPU ms", "MB mapped or held", "p95 ratio"],
            [
                _row("int8, mapped", ours, kept, peer),
                _row("float32 in memory (numpy)", peer, whole.nbytes / 1e6, peer),
            ],
        )
    )
    print(f"memory that is not mapped from the file grew by {grown:.1f} MB over {queries} searches")


def _row(what: str, sample: Sample, held: float, peer: Sample) -> list[str]:
    ratio = sample.p95_ms / peer.p95_ms
    return [
        what,
        f"{sample.p50_ms:.1f}",
        f"{sample.p95_ms:.1f}",
        f"{sample.cpu_us / 1e3:.1f}",
        f"{held:.0f}",
        f"{ratio:.2f}x",
    ]


def main() -> None:
    """Embed a tree, then search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=Path(os.__file__).parent, help="a folder of Python files")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    options = parser.parse_args()
    files = [path.read_bytes() for path in sorted(options.source.rglob("*.py")) if path.is_file()]
    if not files:
        sys.exit(f"no Python files in {options.source}")
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        folder = Path(name)
        print(machine(folder))
        with Stopwatch() as loading:
            model = load_wordllama()
        print(f"{model.name} loaded in {loading.cpu:.2f} CPU s")
        store = VectorStore(folder / "source", model=model.name, dimensions=model.dimensions)
        matrix = embedding(model, files, store)
        digests = [f"{number:064}" for number in range(len(files))]
        found = recall(store, matrix, digests, [len(store.spans(digest)) for digest in digests])
        store.close()
        disk = sum(path.stat().st_size for path in (folder / "source").iterdir())
        print(f"on disk {disk / sum(map(len, files)):.2f}x the source; recall@10 against float32 {found:.4f}")
        searching(matrix, folder / "many", rows=options.rows, queries=options.queries)


if __name__ == "__main__":
    main()
