"""Artifacts on the dashboard: shown as what they are, and never run."""

import base64
from collections.abc import Iterator

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession

pytestmark = requirement("ARTIFACT-02")

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("artifacts") / "repo", {"a.txt": "a"}))
    yield running
    running.stop()


@pytest.fixture
def person(server: Server) -> BrowserSession:
    return BrowserSession(server).sign_in()


def _put(server: Server, **arguments: str) -> str:
    made = server.call("artifact.put", **arguments)["result"]
    assert isinstance(made, dict)
    return str(made["artifact_id"])


def test_an_empty_page_names_the_command_that_fills_it(person: BrowserSession) -> None:
    assert "cpl artifacts put" in person.get("/dashboard/artifacts").words


def test_markdown_is_rendered_and_its_html_is_text(server: Server, person: BrowserSession) -> None:
    source = "# Found\n\n<script>alert(1)</script> [x](javascript:alert(1))\n"
    page = person.get(f"/dashboard/artifacts/{_put(server, name='report.md', text=source)}")
    assert "<h1>Found</h1>" in page.text and "&lt;script&gt;" in page.text
    assert "<script>alert" not in page.text and 'href="javascript:' not in page.text
    assert "report.md" in person.get("/dashboard/artifacts").words


def test_a_diff_has_its_lines_marked(server: Server, person: BrowserSession) -> None:
    source = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"
    page = person.get(f"/dashboard/artifacts/{_put(server, name='change.diff', text=source)}")
    assert 'class="line added">+new' in page.text and 'class="line removed">-old' in page.text


@pytest.mark.parametrize(
    ("name", "body", "disposition", "media_type"),
    [
        ("dot.png", base64.b64decode(_PIXEL), "inline", "image/png"),
        ("page.html", b"<script>alert(1)</script>", "attachment", "application/octet-stream"),
        ("drawing.svg", b"<svg onload='alert(1)'/>", "attachment", "application/octet-stream"),
        ("odd name\u00fc.bin", b"\x00\xff", "attachment", "application/octet-stream"),
    ],
    ids=["picture", "page", "drawing", "bytes"],
)
def test_only_pictures_are_shown_and_bodies_are_exact(
    server: Server, person: BrowserSession, name: str, body: bytes, disposition: str, media_type: str
) -> None:
    artifact_id = _put(server, name=name, content_base64=base64.b64encode(body).decode())
    answer = person.get(f"/dashboard/artifacts/{artifact_id}/body")
    assert answer.body == body and answer.headers["content-type"].split(";")[0] == media_type
    assert answer.headers["content-disposition"].startswith(disposition)
    assert "sandbox" in answer.headers["content-security-policy"]
    assert person.get(f"/dashboard/artifacts/{artifact_id}").status == 200


def test_an_artifact_is_deleted_by_a_button(server: Server, person: BrowserSession) -> None:
    artifact_id = _put(server, name="x.txt", text="x")
    assert person.post(f"/dashboard/artifacts/{artifact_id}", {}).status == 400
    assert person.post(f"/dashboard/artifacts/{artifact_id}", {"verb": "delete"}).status == 303
    assert person.get(f"/dashboard/artifacts/{artifact_id}").status == 404


def test_memory_is_written_on_the_page_of_its_thread(server: Server, person: BrowserSession) -> None:
    created = server.call("thread.create", title="bounds")["result"]
    assert isinstance(created, dict)
    here = f"/dashboard/threads/{created['thread_id']}"
    assert person.post(here, {"verb": "remember", "memory": "Mind the bounds."}).status == 303
    assert "Mind the bounds." in person.get(here).text
    shown: JsonObject = server.call("memory.show", thread_id=str(created["thread_id"]))
    assert "Mind the bounds." in str(shown["result"])
