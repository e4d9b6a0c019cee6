"""The search service, in a package of its own: routed, reflected and typed as those of codeplane.v1."""

import json
import sys
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf.json_format import Parse
from grpc_reflection.v1alpha import reflection_pb2

from codeplane._gen.search import search_pb2
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.connect.wire import error_of, owner
from tests.surfaces.grpc.channel import channel, refusal
from tests.surfaces.grpc.channel import owner as grpc_owner
from tests.surfaces.services.wires import WIRES, opened

pytestmark = requirement("RPC-10")

SEARCH = "/codeplane.search.v1.SearchService/Search"
STREAM = "SearchService/StreamSearch"
_LINES = "".join(f"def needle_{number}(): return thread\n" for number in range(45))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    repo = make_repo(tmp_path_factory.mktemp("searched") / "repo", {"shop/cart.py": _LINES})
    running = start(repo, program=(sys.executable, "-m", "tests.clients.fixture_server"))
    yield running
    running.stop()


def test_numbers_words_maps_and_nested_messages_arrive(server: Server) -> None:
    request = search_pb2.SearchRequest(
        query="needle_7", mode=search_pb2.SEARCH_MODE_REFERENCES, tests=search_pb2.TEST_FILES_INCLUDE, page_size=3
    )
    with channel(server) as found:
        run = found.unary_unary(
            SEARCH, search_pb2.SearchRequest.SerializeToString, search_pb2.SearchResponse.FromString
        )
        answer = run(request, metadata=grpc_owner(server), timeout=60)
        request.mode = search_pb2.SEARCH_MODE_DEFINITIONS
        defined = run(request, metadata=grpc_owner(server), timeout=60).hits[0]
    assert answer.mode == search_pb2.SEARCH_MODE_REFERENCES and answer.query_time_ms > 0 and answer.epoch >= 1
    assert sum(answer.tiers.values()) == answer.total > 0
    hit = answer.hits[0]
    assert (hit.path, hit.line, hit.score) == ("shop/cart.py", 8, 1.0)
    assert hit.match_type == search_pb2.MATCH_TYPE_EXACT and defined.symbol.name == "needle_7"


def test_the_same_in_json_over_connect(server: Server) -> None:
    headers = {**owner(server), "content-type": "application/json"}
    body = b'{"query": "needle_", "mode": "SEARCH_MODE_LITERAL", "pageSize": 2}'
    response, data = server.request("POST", SEARCH, body=body, headers=headers)
    assert response.status == 200
    answer = Parse(data, search_pb2.SearchResponse())
    assert len(answer.hits) == 2 and answer.total == 45 and answer.next_page_token
    response, data = server.request("POST", SEARCH, body=b'{"query": ""}', headers=headers)
    assert (response.status, response.headers["content-type"]) == (400, "application/json")
    response, data = server.request(
        "POST", SEARCH, body=b'{"query": "x"}', headers={"content-type": headers["content-type"]}
    )
    assert response.status == 401 and error_of(json.loads(data))["error"] == "UNAUTHORIZED"


@pytest.mark.parametrize("wire", WIRES)
def test_pages_are_streamed(server: Server, wire: str) -> None:
    request = search_pb2.StreamSearchRequest(
        query="needle_", mode=search_pb2.SEARCH_MODE_LITERAL, page_size=20, most=30
    )
    kind = search_pb2.SearchResponse
    with opened(wire, server, STREAM, request, kind, package="codeplane.search.v1") as stream:
        pages = list(stream.messages)
    assert [len(page.hits) for page in pages] == [20, 10] and stream.error == ""
    with opened(wire, server, STREAM, search_pb2.StreamSearchRequest(), kind, package="codeplane.search.v1") as stream:
        assert (list(stream.messages), stream.error) == ([], "INVALID_ARGUMENT")


def test_reflection_and_errors_are_the_same(server: Server) -> None:
    requests = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="codeplane.search.v1.SearchService"),
    ]
    with channel(server) as found:
        run = found.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            reflection_pb2.ServerReflectionRequest.SerializeToString,
            reflection_pb2.ServerReflectionResponse.FromString,
        )
        listed, file = run(iter(requests), timeout=30)
        assert "codeplane.search.v1.SearchService" in {s.name for s in listed.list_services_response.service}
        assert b"codeplane/search/v1/search.proto" in file.file_descriptor_response.file_descriptor_proto[0]
        search = found.unary_unary(
            SEARCH, search_pb2.SearchRequest.SerializeToString, search_pb2.SearchResponse.FromString
        )
        with pytest.raises(grpc.RpcError) as failed:
            search(search_pb2.SearchRequest(query="x"), timeout=30)
    assert refusal(failed.value)[1].error == "UNAUTHORIZED"
