"""Two versions of files, compared without a repository around them."""

from collections.abc import Iterator, Mapping

from codeplane.code.facts.extract import extractor
from codeplane.code.languages.registry import languages
from codeplane.query.compare.change import Change, FileOutlines
from codeplane.query.compare.comparison import Comparison
from codeplane.query.compare.outline import Outline


def outline(path: str, text: str) -> Outline:
    """A version of a file."""
    language = languages().of(path)
    assert language is not None
    raw = text.encode()
    return Outline(path, raw, extractor(language).facts(raw))


def compared(path: str, before: str, after: str) -> list[Change]:
    """What changed in one file."""
    return Comparison([FileOutlines(old=outline(path, before), new=outline(path, after))]).changes


def compared_files(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """What changed in several."""
    return Comparison(
        [
            FileOutlines(
                old=outline(path, before[path]) if path in before else None,
                new=outline(path, after[path]) if path in after else None,
            )
            for path in sorted(before.keys() | after.keys())
        ]
    ).changes


def every(changes: list[Change]) -> Iterator[Change]:
    """Each definition that changed itself."""
    for one in changes:
        yield from one.every()


def changes_by_path(changes: list[Change]) -> dict[str, tuple[str, bool]]:
    """By path what happened to a definition, and whether it breaks users."""
    return {one.pair.now.path: (one.change, one.breaking) for one in every(changes)}
