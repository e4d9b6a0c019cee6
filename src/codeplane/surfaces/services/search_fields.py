"""The fields of the search service where they differ from those of the operations."""

from types import MappingProxyType

from codeplane._gen.search import search_pb2
from codeplane.surfaces.services.field_mapping import words_without_prefix

SEARCH_PACKAGE = "codeplane.search.v1"
SEARCH_WORDS = MappingProxyType(
    {
        "mode": words_without_prefix(search_pb2.SearchMode.DESCRIPTOR, "SEARCH_MODE_", lower=True),
        "tests": words_without_prefix(search_pb2.TestFiles.DESCRIPTOR, "TEST_FILES_", lower=True),
        "fresh": words_without_prefix(search_pb2.Freshness.DESCRIPTOR, "FRESHNESS_", lower=True),
    }
)
PAGE_FIELDS = MappingProxyType({"hits": "results", "next_page_token": "pagination.next_cursor"})
