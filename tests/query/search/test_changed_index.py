"""An index that followed random edits answers as one that was made of the same files at once."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane

NAMES = (
    "zoo/keeper.py",
    "zoo/food.py",
    "zoo/deep/cage.py",
    "gate.ts",
    "ticket.ts",
    "walk/path.go",
    "notes.md",
    "Food.java",
)
WORDS = ("zebra", "walrus", "heron")
QUERIES = {
    "literal": ("feed_zebra", "walrus", "return"),
    "regex": (r"\bfeed_\w+\(", r"^func ", r"(?i)HERON\b"),
    "symbol": ("feed", "Zebra", "keeper"),
    "definitions": ("feed_zebra", "feedWalrus", "Heron"),
    "references": ("feed_zebra", "feedWalrus", "feed_heron"),
    "ranked": ("who feeds the zebra", "walrus and heron at the gate"),
}
RANKED = ("ranked",)


def _text(name: str, words: tuple[str, ...]) -> str:
    """A file in the language of its name about some animals; what it uses is defined in another file."""
    if name.endswith(".py"):
        head = "from zoo.food import feed_zebra, feed_walrus\n\n\n"
        return head + "".join(f"def feed_{word}():\n    return feed_{word}()\n\n\n" for word in words)
    if name.endswith(".ts"):
        head = 'import { feedWalrus } from "./gate";\n'
        return head + "".join(f"export function feed{word.title()}() {{ return feedWalrus(); }}\n" for word in words)
    if name.endswith(".go"):
        return "package walk\n" + "".join(f"\nfunc Feed{word.title()}() {{ Feed{word.title()}() }}\n" for word in words)
    if name.endswith(".java"):
        return "class Food {\n" + "".join(f"  void feed{word.title()}() {{}}\n" for word in words) + "}\n"
    return "# Animals\n" + "".join(f"The {word} is fed by feed_{word} at the gate.\n" for word in words)


contents = st.lists(st.sampled_from(WORDS), max_size=3).map(tuple)
edits = st.tuples(st.sampled_from(NAMES), st.one_of(st.none(), contents, st.sampled_from(NAMES)))


def _edit(root: Path, name: str, change: tuple[str, ...] | str | None) -> None:
    """Write a file, delete it, or put it in the place of another."""
    path = root / name
    if change is None:
        path.unlink(missing_ok=True)
    elif isinstance(change, str):
        (root / change).parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.replace(root / change)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_text(name, change))


async def _answers(ask: Ask, *modes: str) -> dict[tuple[str, str], object]:
    found: dict[tuple[str, str], object] = {}
    for mode in modes:
        for query in QUERIES[mode]:
            answer = result(await ask("search", query=query, mode=mode, limit=50, fresh="strict"))
            assert not answer.get("partial"), (mode, query)
            found[mode, query] = answer["results"]
    return found


@requirement("TXT-03")
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.lists(edits, min_size=1, max_size=4), min_size=1, max_size=3))
def test_an_index_that_followed_edits_answers_as_a_fresh_one(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[str, tuple[str, ...] | str | None]]]
) -> None:
    folder = tmp_path_factory.mktemp("changed")
    root = make_repo(folder / "zoo", {name: _text(name, WORDS[: at % 4]) for at, name in enumerate(NAMES)})
    exact = tuple(mode for mode in QUERIES if mode not in RANKED)
    followed: list[object] = []

    async def follow(ask: Ask) -> None:
        for step in steps:
            for name, change in step:
                _edit(root, name, change)
            await _answers(ask, "literal", "definitions")
        shutil.copytree(root, folder / "fresh", ignore=shutil.ignore_patterns(".codeplane"))
        followed.append(await _answers(ask, *exact))
        # Scores are those of a fresh index once a quarter of the files was replaced and all were fed again.
        for name in NAMES:
            _edit(root, name, ("heron",))
        await _answers(ask, "literal", "definitions")
        for name in NAMES:
            _edit(root, name, WORDS[: len(name) % 4])
        shutil.copytree(root, folder / "fed", ignore=shutil.ignore_patterns(".codeplane"))
        followed.append(await _answers(ask, *RANKED))

    async def ask_fresh(ask: Ask) -> None:
        fresh.append(await _answers(ask, *exact))

    async def ask_fed(ask: Ask) -> None:
        fresh.append(await _answers(ask, *RANKED))

    fresh: list[object] = []
    with_plane(root, follow, "index.watch=false")
    with_plane(folder / "fresh", ask_fresh)
    with_plane(folder / "fed", ask_fed)
    assert followed == fresh
