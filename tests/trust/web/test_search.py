"""`web.search`: the owner's engine is asked, its hits are judged like any other address."""

import json
from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.trust.web.models import SearchResult
from tests.interaction.requirements import requirement
from tests.trust.web.pages import Site, answer, moved, web

pytestmark = requirement("TRUST-34")

HITS = {
    "results": [
        {"title": "First  hit", "url": "https://docs.example.org/a", "content": "words\nof others" + "x" * 1000},
        {"title": "At home", "url": "http://192.168.0.1/admin", "content": "x"},
        {"title": "Odd", "url": "javascript:alert(1)", "content": "x"},
        "nonsense",
        {"title": None, "url": "https://example.org/", "content": 5},
    ]
}
URL = "http://search.test:PORT/search?language=en"


async def test_hits_are_bounded_judged_and_marked(tmp_path: Path) -> None:
    site = Site(answers={"/search": answer(json.dumps(HITS), kind="application/json")})
    # The engine itself is where the owner says, also at home; what it names is not exempt.
    check = lambda address, port: "at home" if address.startswith("192.168.") else ""  # noqa: E731
    async with web(tmp_path, site, search_url=URL, check=check) as opened:
        outcome = await opened.door.call("web.search", query="a b&c=ü")
        assert isinstance(outcome.result, SearchResult)
        found = outcome.result
        assert [one.url for one in found.results] == ["https://docs.example.org/a", "https://example.org/"]
        assert (found.results[0].title, len(found.results[0].snippet), found.dropped) == ("First hit", 400, 3)
        assert found.text().startswith("<untrusted ")
        assert b"GET /search?language=en&q=a+b%26c%3D%C3%BC&format=json HTTP/1.1" in site.asked[0]
        (question,) = opened.door.person.asked
        assert question.preview.summary == "search search.test for 'a b&c=ü'"
        (ingested,) = await opened.door.events("content.ingested")
        assert ingested.payload["source"] == "search"
        few = await opened.door.call("web.search", query="x", limit=1)
        assert isinstance(few.result, SearchResult)
        assert len(few.result.results) == 1


async def test_an_engine_that_is_not_there_or_answers_otherwise_is_told_of(tmp_path: Path) -> None:
    async with web(tmp_path / "none", Site()) as opened:
        outcome = await opened.door.call("web.search", query="x")
        assert outcome.error is not None
        assert (outcome.error.name, outcome.error.hint) == ("NOT_FOUND", "the owner names one: web.search_url")
        assert opened.door.person.asked == []
    site = Site()
    async with web(tmp_path / "odd", site, search_url=URL) as opened:
        for output in (
            answer("<html>", kind="text/html"),
            answer("[]", kind="application/json"),
            answer('{"results": 1}', kind="application/json"),
            answer("[" * 100_000, kind="application/json"),
            answer("busy", status="429 Too Many Requests"),
            moved("http://169.254.169.254/"),
        ):
            site.answers["/search"] = output
            caller = Caller(surface="mcp", client="agent", connection_id="c1")
            outcome = await opened.door.call("web.search", caller=caller, query="x")
            assert outcome.error is not None
            assert outcome.error.name == "FETCH_FAILED"
