"""Links between the documents lead somewhere, and every guide and concept can be found from the README."""

from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Document, documents
from tests.interaction.requirements import requirement

pytestmark = requirement("DOCS-03")

DOCUMENTS = {document.name: document for document in documents()}
ALL = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}


def led_to(document: Document) -> list[tuple[str, Path, str]]:
    """What a document's links lead to inside the repository: as written, the path, the anchor."""
    found = []
    for link in document.links():
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        here = ROOT / document.name
        found.append((link, (here.parent / path).resolve() if path else here, anchor))
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_link_is_dead(name: str) -> None:
    dead = []
    for link, path, anchor in led_to(DOCUMENTS[name]):
        there = path.exists() and path.is_relative_to(ROOT)
        if not there or (anchor and path.suffix == ".md" and anchor not in Document.at(path).anchors()):
            dead.append(link)
    assert dead == []


def test_a_dead_link_would_be_seen() -> None:
    broken = Document(name="docs/guides/x.md", text="# X\n\n[a](nowhere.md) [b](git.md#undo) `[c](code.md)` [d](#x)\n")
    assert [link for link, path, _ in led_to(broken) if not path.exists()] == ["nowhere.md", "#x"]
    assert "undo" in DOCUMENTS["docs/guides/git.md"].anchors()


def test_everything_can_be_reached_from_the_readme() -> None:
    seen: set[str] = set()
    waiting = ["README.md"]
    while waiting:
        name = waiting.pop()
        if name in seen or not name.endswith(".md"):
            continue
        seen.add(name)
        waiting += [
            path.relative_to(ROOT).as_posix() for _, path, _ in led_to(Document.at(ROOT / name)) if path.is_file()
        ]
    # Decisions are linked to as a folder.
    assert {name for name in ALL - seen if not name.startswith("docs/decisions/")} == set()
