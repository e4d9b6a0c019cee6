"""Renames, actions, lenses, diagnostics, folds and tokens over `/lsp`."""

import json
from collections.abc import Iterator
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject, JsonValue
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.lsp.raw_client import RawClient, talking

FILES = {
    "shop.py": (
        'class Cart:\n    def add(self, item):\n        return "😀", self.total(item)\n\n'
        "    def total(self, item):\n        return item\n"
    ),
    "main.py": 'from shop import Cart\n\ncart = Cart()\nprint("😀", cart.add(1))\n',
    "maybe.py": "def run(thing):\n    return thing.total(2)\n",
    "unused.py": "def alone():\n    pass\n",
    "broken.py": "def run(:\n    pass\n",
    "test_shop.py": "import shop\n\n\ndef test_nothing():\n    assert shop\n",
}
ANNOTATING: JsonObject = {
    "workspace": {"workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {}}},
    "window": {"workDoneProgress": True},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("lsp") / "repo", FILES).resolve())
    yield running
    running.stop()


def place(server: Server, path: str, line: int, character: int) -> JsonObject:
    uri = (server.repo / path).as_uri()
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def spots(server: Server, edit: JsonValue) -> list[tuple[str, int, int, int, str]]:
    changes = cast(list[JsonObject], cast(JsonObject, edit)["documentChanges"])
    found = []
    for document in changes:
        path = str(cast(JsonObject, document["textDocument"])["uri"]).rpartition("/")[2]
        for each in cast(list[JsonObject], document["edits"]):
            span = cast(dict[str, dict[str, int]], each["range"])
            found.append(
                (
                    path,
                    span["start"]["line"],
                    span["start"]["character"],
                    span["end"]["character"],
                    str(each["annotationId"]).rpartition(".")[2],
                )
            )
    return sorted(found)


@requirement("LSP-07")
async def test_a_rename_is_annotated_and_nobody_else_applies_it(server: Server) -> None:
    async with talking(server, capabilities=ANNOTATING) as client:
        asked = place(server, "shop.py", 4, 9)
        prepared = cast(JsonObject, await client.ask("textDocument/prepareRename", asked))
        assert prepared["placeholder"] == "total"
        edit = await client.ask("textDocument/rename", {**asked, "newName": "sum_up"})
        assert spots(server, edit) == [
            ("maybe.py", 1, 17, 22, "possible"),
            ("shop.py", 2, 26, 31, "certain"),
            ("shop.py", 4, 8, 13, "certain"),
        ]
        notes = cast(dict[str, JsonObject], cast(JsonObject, edit)["changeAnnotations"])
        assert [notes[f"codeplane.{name}"]["needsConfirmation"] for name in ("certain", "possible")] == [False, True]
        assert (server.repo / "shop.py").read_text() == FILES["shop.py"], "the editor applies it"
        calls = json.dumps(server.call("call.list", limit=20))
        assert "refactor.rename" in calls and "refactor.cancel" in calls
        mutations = server.call("mutation.list")
        assert "sum_up" not in json.dumps(mutations)


@requirement("LSP-07")
async def test_a_rename_without_annotations_leaves_nothing_uncertain(server: Server) -> None:
    async with talking(server) as client:
        unsure = await client.answer(
            await client.send("textDocument/rename", {**place(server, "shop.py", 4, 9), "newName": "sum_up"})
        )
        assert "cannot ask" in json.dumps(unsure["error"])
        edit = cast(
            JsonObject, await client.ask("textDocument/rename", {**place(server, "main.py", 2, 1), "newName": "basket"})
        )
        (changes,) = cast(dict[str, list[JsonObject]], edit["changes"]).values()
        assert [cast(JsonObject, change["range"])["start"] for change in changes] == [
            {"line": 2, "character": 0},
            {"line": 3, "character": 12},
        ]
        nothing = await client.ask("textDocument/prepareRename", place(server, "main.py", 1, 0))
        assert nothing is None


@requirement("LSP-07")
async def test_unsaved_text_is_not_renamed(server: Server) -> None:
    async with talking(server, capabilities=ANNOTATING) as client:
        uri = (server.repo / "main.py").as_uri()
        item: JsonObject = {"uri": uri, "languageId": "python", "version": 1, "text": "# new\n" + FILES["main.py"]}
        await client.notify("textDocument/didOpen", {"textDocument": item})
        refused = await client.answer(
            await client.send("textDocument/rename", {**place(server, "main.py", 3, 1), "newName": "basket"})
        )
        assert "save main.py first" in json.dumps(refused["error"])


@requirement("LSP-07")
async def test_actions_go_through_the_journal(server: Server) -> None:
    async with talking(server, capabilities=ANNOTATING) as client:
        uri = (server.repo / "unused.py").as_uri()
        here = {"line": 0, "character": 5}
        asked: JsonObject = {
            "textDocument": {"uri": uri},
            "range": {"start": here, "end": here},
            "context": {"diagnostics": []},
        }
        actions = cast(list[JsonObject], await client.ask("textDocument/codeAction", asked))
        commands = {str(cast(JsonObject, action["command"])["command"]): action["command"] for action in actions}
        assert set(commands) == {
            "codeplane.undo",
            "codeplane.runImpactedTests",
            "codeplane.delete",
            "codeplane.move",
            "codeplane.rename",
        }
        delete = cast(JsonObject, commands["codeplane.delete"])
        done = cast(JsonObject, await client.ask("workspace/executeCommand", delete))
        assert done["status"] == "applied" and "alone" not in (server.repo / "unused.py").read_text()
        undone = cast(JsonObject, await client.ask("workspace/executeCommand", {"command": "codeplane.undo"}))
        assert undone["state"] == "undone" and (server.repo / "unused.py").read_text() == FILES["unused.py"]
        for wrong in ({"command": "codeplane.move", "arguments": ["x"]}, {"command": "rm -rf"}):
            refused = await client.answer(await client.send("workspace/executeCommand", cast(JsonObject, wrong)))
            assert cast(JsonObject, refused["error"])["code"] == -32602


@requirement("LSP-06")
async def test_lenses_count_by_certainty(server: Server) -> None:
    async with talking(server) as client:
        document: JsonObject = {"textDocument": {"uri": (server.repo / "shop.py").as_uri()}}
        lenses = cast(list[JsonObject], await client.ask("textDocument/codeLens", document))
        titles = [
            cast(JsonObject, cast(JsonObject, await client.ask("codeLens/resolve", lens))["command"])["title"]
            for lens in lenses
        ]
        assert titles[::2] == ["2 references", "1 reference", "1 reference, 1 possible"]
        assert titles[1::2] == ["1 test target reaches it"] * 3
        reaching = cast(JsonObject, cast(JsonObject, await client.ask("codeLens/resolve", lenses[1]))["command"])
        assert (reaching["command"], reaching["arguments"]) == ("codeplane.runTests", ["shop.py", 1, 6])
        alone: JsonObject = {"textDocument": {"uri": (server.repo / "unused.py").as_uri()}}
        _, lens = cast(list[JsonObject], await client.ask("textDocument/codeLens", alone))
        nothing = cast(JsonObject, cast(JsonObject, await client.ask("codeLens/resolve", lens))["command"])
        assert nothing == {"title": "no test reaches it", "command": ""}


@requirement("LSP-06")
async def test_diagnostics_come_and_go(server: Server) -> None:
    async with talking(server) as client:
        uri = (server.repo / "broken.py").as_uri()
        item: JsonObject = {"uri": uri, "languageId": "python", "version": 1, "text": FILES["broken.py"]}
        await client.notify("textDocument/didOpen", {"textDocument": item})
        said = cast(JsonObject, (await client.until_told("textDocument/publishDiagnostics"))["params"])
        (problem, *_) = cast(list[JsonObject], said["diagnostics"])
        assert (problem["severity"] == 1 and "syntax error" in str(problem["message"])) or "missing" in str(problem)
        change: JsonObject = {"text": "def run():\n    pass\n"}
        await client.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]}
        )
        fixed = cast(JsonObject, (await client.until_told("textDocument/publishDiagnostics"))["params"])
        assert fixed["diagnostics"] == [] and fixed["version"] == 2


@requirement("LSP-06")
async def test_folds_selections_and_tokens(server: Server) -> None:
    async with talking(server) as client:
        document: JsonObject = {"textDocument": {"uri": (server.repo / "shop.py").as_uri()}}
        folds = cast(list[JsonObject], await client.ask("textDocument/foldingRange", document))
        assert [(fold["startLine"], fold["endLine"]) for fold in folds] == [(0, 5), (1, 2), (4, 5)]
        positions: JsonValue = [{"line": 5, "character": 17}]
        (selection,) = cast(
            list[JsonObject], await client.ask("textDocument/selectionRange", {**document, "positions": positions})
        )
        assert selection["range"] == {"start": {"line": 5, "character": 15}, "end": {"line": 5, "character": 19}}
        assert "parent" in selection
        tokens = cast(JsonObject, await client.ask("textDocument/semanticTokens/full", document))
        data = cast(list[int], tokens["data"])
        assert len(data) % 5 == 0 and data[:5] == [0, 6, 4, 0, 1]


async def told(client: RawClient, status: str) -> list[JsonObject]:
    """What is said of a task until it has a status."""
    said: list[JsonObject] = []
    while not said or said[-1]["status"] != status:
        message = await client.until_told("$/codeplane/taskProgress")
        said.append(cast(JsonObject, message["params"]))
    return said


@requirement("LSP-08")
async def test_a_question_is_answered_from_the_index(server: Server) -> None:
    async with talking(server, is_owner=False) as client:
        context: JsonObject = {
            "activeFile": (server.repo / "shop.py").as_uri(),
            "selection": {"start": {"line": 5, "character": 0}, "end": {"line": 5, "character": 0}},
            "openFiles": [],
        }
        answer = cast(JsonObject, await client.ask("codeplane/ask", {"question": "where is Cart?", "context": context}))
        places = [(place["path"], place["line"]) for place in cast(list[JsonObject], answer["references"])]
        assert places[0] == ("shop.py", 5) and ("shop.py", 1) in places
        assert "shop.py:1" in str(answer["answer"]) and "assistant was not asked" in str(answer["answer"])
        wrong = await client.answer(await client.send("codeplane/ask", {"question": " "}))
        assert cast(JsonObject, wrong["error"])["code"] == -32602


@requirement("LSP-08")
async def test_tasks_need_the_right_to_start_them(server: Server) -> None:
    async with talking(server, is_owner=False) as client:
        refused = await client.answer(await client.send("codeplane/executeTask", {"task": "say hello"}))
        assert "CAPABILITY_DENIED" in json.dumps(refused["error"])
        planned = await client.answer(await client.send("codeplane/executeTask", {"task": "x", "planId": "p1"}))
        assert "no plans yet" in json.dumps(planned["error"])


@requirement("LSP-08")
async def test_a_task_tells_its_progress(tmp_path_factory: pytest.TempPathFactory) -> None:
    running = start(make_repo(tmp_path_factory.mktemp("task") / "repo", FILES).resolve())
    try:
        async with talking(running) as client:
            begun = cast(JsonObject, await client.ask("codeplane/executeTask", {"task": "where is Cart?"}))
            said = await told(client, "completed")
            assert {each["taskId"] for each in said} == {begun["taskId"]} and said[-1]["progress"] == 1.0
            cancelled = cast(JsonObject, await client.ask("codeplane/cancelTask", {"taskId": begun["taskId"]}))
            assert cancelled["status"] == "completed"
            answer = cast(JsonObject, await client.ask("codeplane/ask", {"question": "where is Cart?"}))
            assert "shop.py" in str(answer["answer"]) and "was not asked" not in str(answer["answer"])
    finally:
        running.stop()


@requirement("LSP-08")
async def test_who_speaks_lsp_is_an_agent(server: Server) -> None:
    async with talking(server) as client:
        await client.ask("workspace/symbol", {"query": "Cart"})
        calls = cast(JsonObject, server.call("call.list", limit=50)["result"])
        asked = [call for call in cast(list[JsonObject], calls["results"]) if call["operation"] == "symbol.find"]
        assert asked and {(call["actor"], call["surface"]) for call in asked} == {("agent:raw", "lsp")}
