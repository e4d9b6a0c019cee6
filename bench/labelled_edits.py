"""Edits labelled from what each language says of its own, not from our rules: `bench/edits/*.txt`.

A file begins with the path its edits are of; an edit is `## breaking: what` or `## harmless: what`, the text before, a
line `~~~~`, and the text after. An edit may name a path of its own in its first line.
"""

from collections.abc import Iterator
from pathlib import Path

from bench.mutations import Mutation

FOLDER = Path(__file__).parent / "edits"


def labelled_edits() -> Iterator[Mutation]:
    """Every edit of every language."""
    for file in sorted(FOLDER.glob("*.txt")):
        head, *edits = file.read_text().split("\n## ")
        usual = head.removeprefix("path: ").strip()
        for edit in edits:
            title, _, text = edit.partition("\n")
            label, _, what = title.partition(": ")
            assert label in ("breaking", "harmless"), title
            path = usual
            if text.startswith("path: "):
                path, _, text = text.removeprefix("path: ").partition("\n")
            before, sign, after = text.partition("\n~~~~\n")
            assert sign, title
            yield Mutation(
                language=file.stem,
                what=what,
                path=path,
                before=f"{before}\n",
                after=f"{after}\n",
                breaking=label == "breaking",
            )
