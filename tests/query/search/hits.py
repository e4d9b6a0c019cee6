"""What tests read off the answers of `search`."""

from codeplane.kernel.json import JsonObject
from tests.surfaces.http.wire import get_field


def paths(found: JsonObject) -> list[object]:
    """The files of the hits, in their order."""
    hits = found["results"]
    assert isinstance(hits, list)
    return [get_field(hit, "path") for hit in hits]
