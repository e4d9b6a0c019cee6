"""OPA's own conformance cases, run in this process: `python -m tests.soak.rego_cases FOLDER FIRST`."""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from codeplane.adapters.rego_answer import RegoFailed, RegoUndefined
from codeplane.adapters.rego_bundle import RegoBundle, RegoRefused

_QUERY = re.compile(r"data\.([a-zA-Z_][\w.]*) = x")
_PACKAGE = re.compile(r"^package\s+(\S+)", re.MULTILINE)


def cases(folder: Path) -> Iterator[dict[str, object]]:
    """Every case below a folder, in a stable order."""
    for file in sorted(folder.rglob("*.yaml")):
        document = yaml.load(file.read_text("utf-8"), Loader=yaml.CSafeLoader)
        yield from document.get("cases", [])


def outcome(case: dict[str, object]) -> str:
    """One of passed, wrong, refused, failed (no answer where one was wanted), skipped."""
    query = _QUERY.fullmatch(str(case["query"]).strip())
    modules = case.get("modules")
    if query is None or not isinstance(modules, list) or "input_term" in case:
        return "skipped"
    if "input" not in case and any(re.search(r"\binput\b", str(text)) for text in modules):
        # It is about an input that is not there; here there always is one.
        return "skipped"
    errs = "want_error" in case or "want_error_code" in case
    texts = {f"{number}.rego": str(text) for number, text in enumerate(modules)}
    packages = {name: found[1] if (found := _PACKAGE.search(text)) else "" for name, text in texts.items()}
    try:
        with tempfile.TemporaryDirectory() as scratch:
            entry = query[1].replace(".", "/")
            bundle = RegoBundle(texts, packages=packages, entry=entry, scratch=scratch, data=case.get("data"))
        value = bundle.evaluate(case.get("input", {}))
    except RegoRefused:
        return "passed" if errs else "refused"
    except RegoUndefined:
        return "passed" if case.get("want_result") == [] else "failed"
    except RegoFailed:
        return "passed" if errs else "failed"
    wanted = case.get("want_result")
    if errs or not isinstance(wanted, list) or len(wanted) != 1:
        return "wrong"
    return "passed" if _same(value) == _same(wanted[0].get("x")) else "wrong"


def _same(value: object) -> str:
    """Written so that sets, which come as lists, are the same in any order."""
    return json.dumps(_ordered(value), sort_keys=True)


def _ordered(value: object) -> object:
    if isinstance(value, dict):
        return {name: _ordered(one) for name, one in value.items()}
    if isinstance(value, list):
        return sorted((_ordered(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True))
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def main() -> None:
    """Print what became of each case, as JSON lines, and null at the end."""
    folder, first = Path(sys.argv[1]), int(sys.argv[2])
    for number, case in enumerate(cases(folder)):
        if number < first:
            continue
        try:
            output = outcome(case)
        except Exception as error:
            output = f"failed with {type(error).__name__}"
        print(json.dumps([number, str(case["note"]), output]), flush=True)
    print(json.dumps(None), flush=True)


if __name__ == "__main__":
    main()
