"""The public cases of Agent Retrieval Bench, read from a clone of its repository."""

import hashlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Kind = Literal["change to tests", "comment to context", "trace to cause", "edit to ripple", "no answer"]
FILES: dict[Kind, str] = {
    "change to tests": "data/benchmark/v0_1/code2test.jsonl",
    "comment to context": "data/benchmark/v0_1/comment2context.jsonl",
    "trace to cause": "data/benchmark/v0_1/trace2code.jsonl",
    "edit to ripple": "data/provenance/edit2ripple_expansion_candidates_v1/candidates.jsonl",
    "no answer": "data/benchmark/v2_abstention_pilot/abstention.jsonl",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What an agent has in hand at a commit, and the files that it needs next; none where nothing here helps."""

    case_id: str
    kind: Kind
    repo: str
    commit: str
    text: str
    given: tuple[str, ...]
    right: frozenset[str]
    is_natural: bool = True

    @property
    def half(self) -> str:
        """One of two halves by the id: A is looked at, B is published."""
        return "AB"[int(hashlib.sha256(self.case_id.encode()).hexdigest(), 16) % 2]

    def arguments(self) -> dict[str, object]:
        """The arguments of `context_for`."""
        found: dict[str, object] = {"text": self.text, "paths": list(self.given)}
        return found | ({"want": "tests"} if self.kind == "change to tests" else {})


def read_cases(bench: Path) -> Iterator[Case]:
    """Every case that asks for something: without the files that it was given, some ask for nothing else."""
    for kind, path in FILES.items():
        shown = subprocess.run(["git", "-C", str(bench), "show", f"HEAD:{path}"], capture_output=True, check=True)
        for line in shown.stdout.splitlines():
            case = _case(kind, json.loads(line))
            if case.right or kind == "no answer":
                yield case


def _case(kind: Kind, row: dict[str, Any]) -> Case:
    query, gold = row["query"], row["gold"]
    given: list[str] = []
    right: list[str] = gold.get("files") or []
    match kind:
        case "change to tests":
            text, given, right = (
                f"{query['pr_title']}\n\n{query['pr_body'] or ''}",
                [query["changed_file"]],
                gold["related_tests"],
            )
        case "comment to context":
            text = f"{query['review_comment']}\n\n{query['pr_title']}\n\n{query.get('diff_hunk_context') or ''}"
            given = [f"{query['path']}:{query['line']}" if query.get("line") else query["path"]]
            right = [*(gold.get("supporting_files") or ()), *(gold.get("related_tests") or ())]
        case "trace to cause":
            text, right = f"{query['pr_title']}\n\n{query['raw_signal']}", gold["root_cause_files"]
        case "edit to ripple":
            text, given = f"{query['intent']}\n\n{query['anchor_diff']}", [query["anchor_file"]]
        case "no answer":
            text = query["text"]
    known = {path.partition(":")[0] for path in given}
    return Case(
        case_id=row["id"],
        kind=kind,
        repo=row["repo"],
        commit=row["base_commit"],
        text=text[:60_000],
        given=tuple(given),
        right=frozenset(right) - known,
        is_natural=bool(row.get("metadata", {}).get("organic", True)),
    )
