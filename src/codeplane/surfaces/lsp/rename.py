"""Renames that the editor applies; what is not certain needs its person's confirmation."""

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import INVALID_PARAMS, RpcError
from codeplane.surfaces.lsp.editor import REQUEST_FAILED, Editor, position_of, range_of
from codeplane.surfaces.lsp.folders import FilePlace

_MAX_EDITS = 20_000
_PAGE = 5000
_INFO = 3
_SURE, _UNSURE = "codeplane.certain", "codeplane.possible"


class Rename:
    """Plans a rename and hands its edits to the editor; the plan is dropped, so that nobody else applies it."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    async def prepare(self, params: JsonObject) -> JsonValue:
        """Return the name that would be changed; None where there is none that is known."""
        place = self._editor.place(params)
        if place is None:
            return None
        answer = await self._editor.ask("symbol.at", place, position_of(params), of="prepareRename")
        span = answer.get("name_span")
        if not isinstance(span, dict) or not answer.get("definitions"):
            return None
        return {"range": range_of(span), "placeholder": answer["name"]}

    async def rename(self, params: JsonObject) -> JsonValue:
        """Return the edits of a rename; uncertain places are annotated as such."""
        place, new_name = self._editor.place(params), params.get("newName")
        if not isinstance(new_name, str) or not new_name:
            raise RpcError(INVALID_PARAMS, "`newName` has to be a name")
        if place is None:
            raise RpcError(REQUEST_FAILED, "this document belongs to no workspace")
        if place.workspace:
            raise RpcError(REQUEST_FAILED, f"{place.workspace} is attached, and only read")
        at = await self._editor.ask("symbol.at", place, {**position_of(params), "columns": "characters"}, of="rename")
        self._refuse_unsaved(at, {place.path})
        span = at.get("name_span")
        if not isinstance(span, dict):
            raise RpcError(REQUEST_FAILED, str(at.get("unknown") or "there is no name at this place"))
        symbol = f"{place.path}:{span['line']}:{span['column']}"
        plan = await self._plan({"symbol": symbol, "new_name": new_name})
        try:
            edits = await self._edits(plan)
            self._refuse_unsaved(at, {str(edit["path"]) for edit in edits})
            return await self._workspace_edit(place, plan, edits)
        finally:
            await self._drop(str(plan["refactor_id"]))

    async def _plan(self, arguments: JsonObject) -> JsonObject:
        """Plan a rename; where several families are meant, the person at the editor chooses one."""
        plan = await self._editor.plane.call("refactor.rename", {**arguments, "limit": _PAGE})
        if plan["status"] not in ("previewed", "needs_decision"):
            await self._drop(str(plan["refactor_id"]))
            raise RpcError(REQUEST_FAILED, f"{plan['title']}: {plan['status']}")
        candidates = plan.get("candidates")
        if isinstance(candidates, list) and candidates and not plan.get("candidate"):
            return await self._choose(plan, [each for each in candidates if isinstance(each, dict)])
        return plan

    async def _choose(self, plan: JsonObject, candidates: list[JsonObject]) -> JsonObject:
        titles = {str(each["description"])[:100]: str(each["id"]) for each in candidates}
        question: JsonObject = {
            "type": _INFO,
            "message": f"{plan['title']}: which is meant?",
            "actions": [{"title": title} for title in titles],
        }
        chosen = await self._editor.peer.request("window/showMessageRequest", question)
        title = chosen.get("title") if isinstance(chosen, dict) else None
        if title not in titles:
            await self._drop(str(plan["refactor_id"]))
            raise RpcError(REQUEST_FAILED, f"{plan['title']}: it was not said which is meant")
        arguments = {"refactor_id": plan["refactor_id"], "candidate": titles[str(title)], "limit": _PAGE}
        return await self._editor.plane.call("refactor.preview", arguments)

    async def _edits(self, plan: JsonObject) -> list[JsonObject]:
        """Return the certain edits and those that may be; more than an editor can take is refused."""
        found: list[JsonObject] = []
        page = plan
        while True:
            preview = page.get("preview")
            listed = preview.get("edits") if isinstance(preview, dict) else None
            found += [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
            pagination = page.get("pagination")
            cursor = pagination.get("next_cursor") if isinstance(pagination, dict) else None
            if len(found) > _MAX_EDITS:
                raise RpcError(REQUEST_FAILED, f"more than {_MAX_EDITS} places: rename it with refactor_rename")
            if not cursor:
                return [edit for edit in found if edit["applies"] or edit["waits"]]
            arguments = {"refactor_id": plan["refactor_id"], "cursor": cursor, "limit": _PAGE}
            page = await self._editor.plane.call("refactor.preview", arguments)

    async def _workspace_edit(self, place: FilePlace, plan: JsonObject, edits: list[JsonObject]) -> JsonObject:
        features = self._editor.features
        open_edits = [edit for edit in edits if not edit["applies"]]
        annotates = features.applies_annotations and features.takes_document_changes
        if open_edits and not annotates:
            first = ", ".join(f"{edit['path']}:{edit['line']}" for edit in open_edits[:5])
            raise RpcError(
                REQUEST_FAILED,
                f"{len(open_edits)} places may be uses of it ({first}), and this editor cannot ask about them;"
                " refactor_rename decides them",
            )
        columns = await self._columns(edits)
        by_file: dict[str, list[JsonValue]] = {}
        for edit, (start, end) in zip(edits, columns, strict=True):
            line = edit["line"]
            assert isinstance(line, int), "edits have lines"
            change: JsonObject = {
                "range": {
                    "start": {"line": line - 1, "character": start - 1},
                    "end": {"line": line - 1, "character": end - 1},
                },
                "newText": edit["new"],
            }
            if annotates:
                change["annotationId"] = _SURE if edit["applies"] else _UNSURE
            by_file.setdefault(str(edit["path"]), []).append(change)
        uris = {path: self._editor.folders.uri(place.workspace, path) for path in by_file}
        if not features.takes_document_changes:
            return {"changes": {uris[path]: changes for path, changes in by_file.items()}}
        workspace_edit: JsonObject = {
            "documentChanges": [
                {"textDocument": {"uri": uris[path], "version": self._version(uris[path])}, "edits": changes}
                for path, changes in by_file.items()
            ]
        }
        if annotates:
            workspace_edit["changeAnnotations"] = {
                _SURE: {"label": f"{plan['title']}: certain", "needsConfirmation": False},
                _UNSURE: {
                    "label": f"{plan['title']}: may be a use",
                    "needsConfirmation": True,
                    "description": "the receiver is not known; confirm what is meant",
                },
            }
        return workspace_edit

    async def _columns(self, edits: list[JsonObject]) -> list[tuple[int, int]]:
        """Return the start and end of each edit in the client's encoding."""
        if not edits:
            return []
        places = [
            {"path": edit["path"], "line": edit["line"], "column": column}
            for edit in edits
            for column in (edit["column"], _end_column(edit))
        ]
        arguments = {"places": places, "columns": self._editor.features.encoding}
        answer = await self._editor.plane.call("text.columns", arguments)
        listed = answer["columns"]
        assert isinstance(listed, list), "an answer has columns"
        numbers = [number for number in listed if isinstance(number, int)]
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    def _refuse_unsaved(self, at: JsonObject, paths: set[str]) -> None:
        """Refuse what would change unsaved text: plans are about the files."""
        unsaved = at.get("open_documents")
        changed = sorted(paths & set(map(str, unsaved)) if isinstance(unsaved, list) else ())
        if changed:
            raise RpcError(REQUEST_FAILED, f"save {', '.join(changed[:5])} first: a rename is planned for the files")

    def _version(self, uri: str) -> int | None:
        document = self._editor.documents.get(uri)
        return document.version if document is not None else None

    async def _drop(self, refactor_id: str) -> None:
        try:
            await self._editor.plane.call("refactor.cancel", {"refactor_id": refactor_id})
        except CodePlaneError:
            # It expires on its own.
            return


def _end_column(edit: JsonObject) -> int:
    column = edit["column"]
    assert isinstance(column, int), "edits have columns"
    return column + len(str(edit["old"]))
