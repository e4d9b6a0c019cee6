"""What tests read off the answers of `search`."""

from codeplane.kernel.json import JsonObject
from tests.surfaces.http.wire import at


def paths(found: JsonObject) -> list[object]:
    """The files of the hits, in their order."""
    hits = found["results"]
    assert isinstance(hits, list)
    return [at(hit, "path") for hit in hits]
