"""Which language a SCIP indexer speaks of, for those who watch over them."""

from collections.abc import Iterable

OTHER = "other"
_LANGUAGES = {
    "scip-python": "python",
    "scip-typescript": "typescript",
    "scip-java": "java",
    "scip-go": "go",
    "rust-analyzer": "rust",
    "scip-clang": "c++",
    "scip-ruby": "ruby",
    "scip-dotnet": "csharp",
    "scip-php": "php",
    "scip-dart": "dart",
}


def newest_by_language(taken_in: Iterable[tuple[str, int]]) -> dict[str, int | None]:
    """When an index of each language was last taken in, by the tools that wrote them; None where there is none."""
    newest: dict[str, int | None] = dict.fromkeys((*_LANGUAGES.values(), OTHER))
    for tool, at_ns in taken_in:
        language = _LANGUAGES.get(tool.lower(), OTHER)
        newest[language] = max(newest[language] or 0, at_ns)
    return newest
