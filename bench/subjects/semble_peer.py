"""Semble by itself, run by a Python that has it: `python -I semble_peer.py WHAT REQUEST`, answering one line of JSON.

`model` keeps WordLlama's vectors in the form Semble takes, for machines without its own; `index` makes an index and
saves it; `search` loads one and asks it; `edit` looks at a tree again after an edit. It imports nothing of CodePlane.
"""

import json
import shutil
import sys
import time
from importlib import import_module
from pathlib import Path


def model(request: dict[str, str]) -> dict[str, object]:
    """A static model of the size of Semble's own, from files that are at hand."""
    tensors = import_module("safetensors.numpy").load_file(request["weights"])
    tokenizer = import_module("tokenizers").Tokenizer.from_file(request["tokenizer"])
    vectors = tensors["embedding.weight"].astype("float32")[:, :256]
    kept = import_module("model2vec").StaticModel(vectors=vectors, tokenizer=tokenizer)
    kept.save_pretrained(request["folder"])
    return {}


def index(request: dict[str, str]) -> dict[str, object]:
    """Index a tree whole (code, documents and settings) and keep the index on disk."""
    semble = import_module("semble")
    kinds = tuple(import_module("semble.types").ContentType)
    made = semble.SembleIndex.from_path(request["root"], content=kinds, model_path=request["model"] or None)
    made.save(request["folder"])
    root = Path(request["root"])
    files = {chunk.file_path for chunk in made.chunks}
    return {
        "files": len(files),
        "bytes": sum((root / name).stat().st_size for name in files),
        "chunks": len(made.chunks),
    }


def search(request: dict[str, object]) -> dict[str, object]:
    """Milliseconds of each query on a loaded index."""
    made = import_module("semble").SembleIndex.load_from_disk(str(request["folder"]))
    queries = request["queries"]
    assert isinstance(queries, list)
    for query in queries[:3]:
        made.search(query)
    taken = []
    for query in queries:
        began = time.perf_counter()
        made.search(query)
        taken.append((time.perf_counter() - began) * 1000)
    return {"ms": taken}


def edit(request: dict[str, str]) -> dict[str, object]:
    """Milliseconds from an edit of a file until it is found, beginning from an index of the tree on disk."""
    semble, kinds = import_module("semble"), tuple(import_module("semble.types").ContentType)
    kept = import_module("semble.cache").find_index_from_cache_folder(request["root"], kinds)
    shutil.copytree(request["folder"], kept, dirs_exist_ok=True)
    with Path(request["file"]).open("a") as file:
        file.write(request["text"])
    began = time.perf_counter()
    made = semble.SembleIndex.from_path(request["root"], content=kinds, model_path=request["model"] or None)
    found = any(request["word"] in one.chunk.content for one in made.search(request["word"]))
    return {"ms": (time.perf_counter() - began) * 1000, "found": found}


def main(what: str, request: str) -> None:
    """Do what is asked, and print the answer behind a marker, because libraries print what they like."""
    asked = json.loads(request)
    output = model(asked) if what == "model" else index(asked) if what == "index" else _asked(what, asked)
    print("answer:" + json.dumps(output), flush=True)


def _asked(what: str, request: dict[str, str]) -> dict[str, object]:
    return edit(request) if what == "edit" else search({**request})


if __name__ == "__main__":
    main(*sys.argv[1:])
