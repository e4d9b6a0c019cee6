"""Semble as a peer: found in this Python or another, with its own model or one of the same size."""

import json
import os
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from bench.subjects.processes import Spent, on_disk, ran

_SCRIPT = Path(__file__).with_name("semble_peer.py")
_OWN_MODEL = "minishlab/potion-code-16M-v2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Semble:
    """An installed Semble; an empty `model` is its own."""

    python: str
    model: str
    folder: Path

    @property
    def says(self) -> str:
        """Which vectors it embeds with."""
        return "semble" if not self.model else "semble (WordLlama's vectors, for want of its own)"

    def index(self, root: Path) -> tuple[Spent, int, int]:
        """Index a tree: what that took, the bytes of the files it took, and those of its index."""
        kept = self.folder / "index"
        spent, output = self._run("index", {"root": str(root), "folder": str(kept), "model": self.model})
        return spent, int(str(output["bytes"])), on_disk(kept)

    def search(self, queries: list[str]) -> list[float]:
        """Milliseconds of each query, the index being loaded."""
        _, output = self._run("search", {"folder": str(self.folder / "index"), "queries": queries})
        taken = output["ms"]
        assert isinstance(taken, list)
        return [float(one) for one in taken]

    def edit(self, root: Path, file: Path, text: str, word: str) -> float:
        """Milliseconds from an edit of a file until a word in it is found; NaN when it is not."""
        request = {"root": str(root), "file": str(file), "text": text, "word": word, "model": self.model}
        _, output = self._run("edit", {**request, "folder": str(self.folder / "index")})
        return float(str(output["ms"])) if output["found"] else float("nan")

    def _run(self, what: str, request: dict[str, object]) -> tuple[Spent, dict[str, object]]:
        models = os.environ.get("HF_HOME") or str(Path.home() / ".cache/huggingface")
        home = {"XDG_CACHE_HOME": str(self.folder / "cache"), "HF_HOME": models, "HF_HUB_OFFLINE": "1"}
        command = [self.python, "-I", str(_SCRIPT), what, json.dumps(request)]
        spent = ran(command, self.folder, {**os.environ, **home})
        line = next((line for line in spent.said.splitlines() if line.startswith("answer:")), "answer:null")
        output = json.loads(line.removeprefix("answer:"))
        if not isinstance(output, dict):
            raise RuntimeError(f"semble did not {what}")
        return spent, output


def semble(python: str, folder: Path) -> Semble | str:
    """Semble, or why it is not there."""
    probe = [python, "-I", "-c", "import semble"]
    if subprocess.run(probe, capture_output=True).returncode:
        return "semble is not installed (pip install semble, or --semble PYTHON of an environment that has it)"
    folder.mkdir(parents=True)
    own = [python, "-I", "-c", f"from huggingface_hub import snapshot_download as s; s('{_OWN_MODEL}')"]
    if not subprocess.run(own, capture_output=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}).returncode:
        return Semble(python=python, model="", folder=folder)
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        return "semble has no model at hand"
    words = Path(next(iter(spec.submodule_search_locations)))
    found = Semble(python=python, model=str(folder / "model"), folder=folder)
    request = {
        "weights": str(words / "weights/l2_supercat_256.safetensors"),
        "tokenizer": str(words / "tokenizers/l2_supercat_tokenizer_config.json"),
        "folder": found.model,
    }
    found._run("model", {**request})
    return found
