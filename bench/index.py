"""Indexing until text and symbols answer, and until vectors are there. `python -m bench.index --corpus FOLDER`.

A real server on a copy of each tree, next to Semble, Universal Ctags and Tantivy by itself on the same copy.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.measure import machine, table
from bench.subjects.corpora import Corpus, committed, generated, repository, typescript
from bench.subjects.processes import Memory, on_disk, ran
from bench.subjects.semble import Semble, semble
from bench.subjects.served import Served, serving

RATE_AIM, CODE_RATE_AIM, SEMBLE_AIM, DISK_AIM, MEMORY_AIM_MB = 8.0, 5.0, 4.0, 2.0, 400.0
_HEADINGS = ("", "MB", "wall s", "CPU s", "MB/s", "MB/CPU s", "peak MB", "disk / source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What one subject had taken when it came to some point."""

    what: str
    size: int
    wall: float
    cpu: float
    peak_mb: float
    disk: int

    @property
    def rate(self) -> float:
        """MB a second."""
        return self.size / 1e6 / self.wall

    @property
    def cpu_rate(self) -> float:
        """MB a CPU second."""
        return self.size / 1e6 / self.cpu

    def row(self) -> list[str]:
        """The figures of one line."""
        disk = f"{self.disk / self.size:.2f}" if self.disk else ""
        rates = [f"{self.rate:.2f}", f"{self.cpu_rate:.2f}"]
        return [
            self.what,
            f"{self.size / 1e6:.1f}",
            f"{self.wall:.1f}",
            f"{self.cpu:.1f}",
            *rates,
            f"{self.peak_mb:.0f}",
            disk,
        ]


def ours(corpus: Corpus) -> list[Reached]:
    """A server from its start to its last vector."""
    found: list[Reached] = []
    began = time.perf_counter()
    with serving(corpus.root) as served, Memory(served.process) as memory:

        def reached(what: str) -> None:
            found.append(
                Reached(
                    what=f"codeplane: {what}",
                    size=corpus.text,
                    wall=time.perf_counter() - began,
                    cpu=served.cpu(),
                    peak_mb=memory.peak_mb,
                    disk=on_disk(corpus.root / ".codeplane") if found else 0,
                )
            )

        reached("server ready")
        served.wait(query="the", mode="literal")
        reached("text answers")
        served.wait(query="main", mode="definitions")
        reached("text and symbols answer")
        _wait_for_vectors(served)
        reached("vectors complete")
    # A server that has ended leaves no write-ahead logs, which count until then.
    return [*found[:-1], replace(found[-1], disk=on_disk(corpus.root / ".codeplane"))]


def _wait_for_vectors(served: Served) -> None:
    """Wait for the model to be loaded and to have nothing waiting; the server says both in its status."""
    while True:
        index = served.result("status", include=["index"])["index"]
        assert isinstance(index, dict)
        symbols = index["symbols"]
        assert isinstance(symbols, dict)
        vectors = symbols.get("vectors")
        if not isinstance(vectors, dict) or vectors.get("failure"):
            raise RuntimeError(f"no vectors: {vectors}")
        if vectors.get("model") and not vectors["waiting"]:
            return served.wait(query="where is it read", mode="semantic")
        time.sleep(0.1)


def peers(corpus: Corpus, folder: Path, found: Semble | None) -> Iterator[Reached | str]:
    """The others on the same tree; a line of text for one that is missing."""
    if found is not None:
        shutil.rmtree(found.folder / "index", ignore_errors=True)
        shutil.rmtree(found.folder / "cache", ignore_errors=True)
        spent, size, disk = found.index(corpus.root)
        peak = spent.peak_mb
        yield Reached(what=found.says, size=size, wall=spent.wall, cpu=spent.cpu, peak_mb=peak, disk=disk)
    if shutil.which("ctags") is None:
        yield "ctags is not installed (Debian: universal-ctags)"
    else:
        tags = folder / "tags"
        excluded = ["--exclude=.git", "--exclude=.codeplane"]
        spent = ran(["ctags", "-R", "--fields=+n", *excluded, "-f", str(tags), "."], corpus.root)
        disk, size = tags.stat().st_size, corpus.code
        yield Reached(what="ctags (code)", size=size, wall=spent.wall, cpu=spent.cpu, peak_mb=spent.peak_mb, disk=disk)
        tags.unlink()
    kept = folder / "tantivy"
    command = [sys.executable, "-m", "bench.subjects.tantivy_peer", str(corpus.root), str(kept)]
    spent = ran(command, Path(__file__).parents[1])
    disk, size = on_disk(kept), int(spent.said)
    yield Reached(what="tantivy alone", size=size, wall=spent.wall, cpu=spent.cpu, peak_mb=spent.peak_mb, disk=disk)
    shutil.rmtree(kept)


def measure(name: str, corpus: Corpus, folder: Path, found: Semble | None, *, aim: float) -> None:
    """Everything on one tree, and how it stands to the aims."""
    print(f"\n{corpus.says(name)}\n", flush=True)
    reached = ours(corpus)
    shutil.rmtree(corpus.root / ".codeplane", ignore_errors=True)
    rows, missing = [one.row() for one in reached], []
    others: list[Reached] = []
    for one in peers(corpus, folder, found):
        if isinstance(one, str):
            missing.append(one)
        else:
            others.append(one)
            rows.append(one.row())
    print(table(_HEADINGS, rows))
    for line in missing:
        print(line)
    ready, _, answering, whole = reached
    without = corpus.text / 1e6 / (answering.wall - ready.wall)
    print(f"aims: {answering.rate:.1f} MB/s, {without:.1f} from when the server was ready (aim >= {aim})")
    for peer in others:
        if found is not None and peer.what == found.says:
            output = f"{answering.rate / peer.rate:.1f} x by wall, {answering.cpu_rate / peer.cpu_rate:.1f} x by CPU"
            vectors = f"{whole.rate / peer.rate:.1f} x and {whole.cpu_rate / peer.cpu_rate:.1f} x with all vectors"
            print(f"      against semble {output} (aim >= {SEMBLE_AIM}); {vectors}")
    print(f"      on disk {whole.disk / whole.size:.2f} x the source (aim <= {DISK_AIM})")
    print(
        f"      peak {answering.peak_mb:.0f} MB, with vectors {whole.peak_mb:.0f} (aim <= {MEMORY_AIM_MB:.0f})",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and measure on each tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a tree to index, as the unpacked Django 5.2 sdist")
    parser.add_argument("--typescript", help="a TypeScript tree, or 'npm' to fetch packages that ship their sources")
    parser.add_argument("--files", type=int, default=100_000, help="size of the generated tree; 0 leaves it out")
    parser.add_argument(
        "--semble", default=sys.executable, metavar="PYTHON", help="a Python that has semble; '' leaves it out"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        folder = Path(name)
        print(machine(folder))
        found = semble(options.semble, folder / "semble") if options.semble else "semble is left out"
        if isinstance(found, str):
            print(found)
        peer = found if isinstance(found, Semble) else None
        if options.corpus is not None:
            corpus = repository(options.corpus, folder / "corpus")
            measure(options.corpus.name, corpus, folder, peer, aim=RATE_AIM)
        if options.typescript == "npm":
            sources = typescript(folder / "npm")
            if sources is None:
                print("\nno TypeScript: npm packages cannot be had")
        else:
            sources = Path(options.typescript) if options.typescript else None
        if sources is not None:
            corpus = repository(sources, folder / "typescript")
            measure("TypeScript", corpus, folder, peer, aim=CODE_RATE_AIM)
        if options.files:
            corpus = committed(generated(folder / "generated", files=options.files))
            measure(f"{options.files:,} generated files", corpus, folder, peer, aim=CODE_RATE_AIM)


if __name__ == "__main__":
    main()
