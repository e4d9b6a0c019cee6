"""How the answers of operations become typed payloads: named as the specification names things, and bounded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.work.explore import agent_op
from codeplane.work.explore.agent_op import AgentOp
from codeplane.work.explore.readme import opening
from codeplane.work.explore.target import Target
from codeplane.work.explore.typed_result import bound_items, bound_text

_MAX_ENTRIES, _MAX_HITS, _MAX_DELTAS, _MAX_SYMBOLS = 200, 200, 100, 50
_LARGE_BYTES = 5 * 1024 * 1024
_UTF8 = "utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A payload with its type."""

    type: str
    value: JsonValue
    truncated: bool = False


def answer(op: AgentOp, target: Target, found: JsonObject) -> Answer:
    """The payload of an operation, from what the called one answered."""
    return _ANSWERS[op.kind](target, found)


def _listing(target: Target, found: JsonObject) -> Answer:
    entries, cut = bound_items(
        [_camel(entry, "path", "is_dir", "depth", "file_count", "size_bytes") for entry in _objects(found, "entries")],
        _MAX_ENTRIES,
    )
    value: JsonObject = {
        "path": found["path"],
        "entries": entries,
        "total": found["total"],
        "fileCount": found["file_count"],
        "sizeBytes": found["size_bytes"],
    }
    return Answer(type="DirListing", value=value, truncated=cut or _number(found, "total") > len(entries))


def _hits(target: Target, found: JsonObject) -> Answer:
    hits: list[JsonValue] = []
    cut = False
    for hit in _objects(found, "results"):
        before, after, line = _texts(hit, "before"), _texts(hit, "after"), _number(hit, "line")
        text, is_cut = bound_text("\n".join([*before, str(hit["snippet"]), *after]))
        cut = cut or is_cut
        hits.append(
            {
                "path": hit["path"],
                "line": line,
                "startLine": line - len(before),
                "endLine": line + len(after),
                "text": text,
                "score": hit["score"],
            }
        )
    taken, left_out = bound_items(hits, _MAX_HITS)
    return Answer(type="SearchResult[]", value=taken, truncated=cut or left_out or _number(found, "total") > len(taken))


def _span(target: Target, found: JsonObject) -> Answer:
    (file, *_) = _objects(found, "files")
    text, cut = bound_text(str(file["content"]))
    value: JsonObject = {
        "path": file["path"],
        "startLine": file["start"],
        # The last line that is there, perhaps not whole.
        "endLine": _number(file, "start") + text.count("\n") if cut else file["end"],
        "lineCount": file["line_count"],
        "text": text,
        "encoding": _UTF8 if str(file["encoding"]) == _UTF8 else "unknown-lossy",
    }
    if file.get("error"):
        value["error"] = file["error"]
    metadata = file.get("metadata")
    if isinstance(metadata, dict) and _number(metadata, "size_bytes") > _LARGE_BYTES:
        value["warning"] = "the file has more than 5 MB: only this span is read"
    return Answer(type="SpanText", value=value, truncated=cut or bool(file.get("truncated")))


def _summaries(target: Target, found: JsonObject) -> Answer:
    summaries: list[JsonValue] = []
    for file in _objects(found, "files"):
        title, text = opening(str(file["content"]))
        summaries.append({"path": file["path"], "title": title, "text": text})
    return Answer(type="Summary[]", value=summaries)


def _git(target: Target, found: JsonObject) -> Answer:
    deltas: list[JsonValue] = []
    for name in ("staged", "modified"):
        deltas += [
            {"path": entry["path"], "status": entry["status"], "staged": name == "staged"}
            for entry in _objects(found, name)
        ]
    deltas += [{"path": entry["path"], "status": "conflict", "staged": False} for entry in _objects(found, "conflicts")]
    deltas += [{"path": path, "status": "untracked", "staged": False} for path in _texts(found, "untracked")]
    inside = [delta for delta in deltas if isinstance(delta, dict) and target.holds(str(delta["path"]))]
    taken, cut = bound_items([*inside], _MAX_DELTAS)
    value: JsonObject = {
        "git": True,
        "branch": found["branch"],
        "headCommit": found["head_commit"],
        "clean": found["is_clean"],
        "deltas": taken,
        "total": found["total"],
    }
    return Answer(type="GitStatus", value=value, truncated=cut or _number(found, "total") > len(deltas))


def _lines(target: Target, found: JsonObject) -> Answer:
    value: JsonObject = {
        "languages": found["lines"],
        "files": found["files"],
        "sizeBytes": found["size_bytes"],
        "parts": [
            _camel(part, "path", "is_dir", "files", "size_bytes", "languages") for part in _objects(found, "parts")
        ],
        "leftOut": found["left_out"],
    }
    return Answer(type="LineCount", value=value)


def _map(target: Target, found: JsonObject) -> Answer:
    files: list[JsonValue] = []
    for file in _objects(found, "map"):
        names = [f"{line['line']} {line['signature']}" for line in _objects(file, "definitions")[:3]]
        if target.holds(str(file["path"])):
            files.append({"path": file["path"], "definitions": names})
    tests, structure, needs = found.get("test_layout"), found.get("structure"), found.get("dependencies")
    value: JsonObject = {
        "files": files,
        "codeFiles": found["code_files"],
        "contexts": structure.get("contexts", []) if isinstance(structure, dict) else [],
        "tests": {"count": tests["test_count"], "folders": tests["folders"]} if isinstance(tests, dict) else None,
        "dependencies": needs if isinstance(needs, dict) else None,
    }
    return Answer(type="RepoMap", value=value, truncated=bool(found.get("cut")))


def _entry_points(target: Target, found: JsonObject) -> Answer:
    fields = ("path", "kind", "name", "qualified_name", "line", "defined_in", "defined_line")
    points = [
        _camel(point, *fields)
        for point in _objects(found, "entry_points")
        if target.holds(str(point.get("defined_in") or point["path"]))
    ]
    return Answer(
        type="EntryPoint[]", value=points, truncated=_number(found, "count") > len(_objects(found, "entry_points"))
    )


def _symbols(target: Target, found: JsonObject) -> Answer:
    fields = ("name", "kind", "path", "line", "signature", "files")
    symbols = [_camel(symbol, *fields) for symbol in _objects(found, "symbols") if target.holds(str(symbol["path"]))]
    return Answer(type="SymbolUse[]", value=symbols[:_MAX_SYMBOLS], truncated=bool(found.get("cut")))


def _camel(found: Mapping[str, JsonValue], *fields: str) -> JsonObject:
    """Some fields, named as the specification would; what is not there is left out."""
    return {_to_camel(name): found[name] for name in fields if found.get(name) is not None}


def _to_camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _objects(found: Mapping[str, JsonValue], name: str) -> list[JsonObject]:
    items = found.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, (list, tuple)) else []


def _texts(found: Mapping[str, JsonValue], name: str) -> list[str]:
    items = found.get(name)
    return list(map(str, items)) if isinstance(items, (list, tuple)) else []


def _number(found: Mapping[str, JsonValue], name: str) -> int:
    value = found.get(name)
    return value if isinstance(value, int) else 0


_ANSWERS: Mapping[str, Callable[[Target, JsonObject], Answer]] = {
    agent_op.LIST_DIR: _listing,
    agent_op.GREP: _hits,
    agent_op.SEMANTIC: _hits,
    agent_op.READ_SPAN: _span,
    agent_op.SUMMARIZE: _summaries,
    agent_op.GIT_STATUS: _git,
    agent_op.COUNT_LINES: _lines,
    agent_op.MAP_REPO: _map,
    agent_op.ENTRY_POINTS: _entry_points,
    agent_op.MOST_USED: _symbols,
}
