"""Tantivy by itself: `python -m bench.subjects.tantivy_peer ROOT FOLDER` indexes the words of every text file."""

import sys
from pathlib import Path

import tantivy

from bench.subjects.corpora import texts

_HEAP = 128 * 1024 * 1024


def main(root: str, folder: str) -> None:
    """Index a tree, and print how many bytes it held."""
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("path", stored=True, tokenizer_name="raw")
    schema.add_text_field("body", stored=False)
    Path(folder).mkdir(parents=True)
    index = tantivy.Index(schema.build(), folder)
    writer = index.writer(_HEAP)
    size = 0
    for path, content in texts(Path(root)):
        document = tantivy.Document()
        document.add_text("path", path)
        document.add_text("body", content.decode(errors="replace"))
        writer.add_document(document)
        size += len(content)
    writer.commit()
    print(size)


if __name__ == "__main__":
    main(*sys.argv[1:])
