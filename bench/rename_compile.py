"""Random renames of a real checkout, each applied, compiled and undone. `python -m bench.rename_compile FOLDER`.

Symbols are drawn by a seed from the files that compile, tests left out, and renamed through the same operation that
agents call, on a copy. `green` was applied at once and compiles; `asked` was answered with a question; `refused` with
an error; `broken` reported success and no longer compiles. `fixed` cannot be renamed by anybody and was refused with
that reason: it implements a trait of another crate, and the compiler does not take it under another name; such symbols
are left out of the share. Of an answer that asks back, the second calls that its text
suggests are made, too: where it leaves places to the reader (`include=[#NUMBER, …]`) with all of them. `advice` counts
the questions of which a suggested call breaks the build as it stands in the text, `choice` those of which some answer
is applied and compiles. How a checkout is compiled stands in `FOLDER.json` (`bench.compilers`).
"""

import argparse
import asyncio
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.compilers import Compiler, Project, compiling
from bench.measure import machine, table
from bench.rust_traits import NOT_OF_TRAIT, own_traits, trait_of
from bench.scratch import Ask, Envelope, asking, changed_files, scratch_copy, undo
from bench.symbol_sample import KINDS, Symbol, all_symbols, drawn, listed

_LIMIT = 5000
_RENAMED = "Renamed"
_CALL = re.compile(r"refactor_(?:rename|apply) refactor_id=\S+((?: (?:or )?\w+=(?:\[[^\]]*\]|[^\s)]+))*)")
_ARGUMENT = re.compile(r"(\w+)=(\[[^\]]*\]|[^\s)]+)")


@dataclass(slots=True, kw_only=True)
class Followed:
    """A second call that an answer suggests, and what became of it; `exact`: the text leaves nothing to fill in."""

    call: str
    exact: bool
    outcome: str
    error: str = ""


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What became of one rename."""

    symbol: Symbol
    outcome: str
    reason: str = ""
    error: str = ""
    undo: str = ""
    cpu: float = 0.0
    followed: list[Followed] = field(default_factory=list)

    @property
    def advice_broken(self) -> bool:
        """Whether a suggested call, made as it stands, reported success over code that does not compile."""
        return any(one.exact and one.outcome == "broken" for one in self.followed)

    @property
    def choice_green(self) -> bool:
        """Whether some answer to the question is applied and compiles."""
        return any(one.outcome == "green" for one in self.followed)


class Renames:
    """Renames symbols of a scratch copy one after the other."""

    def __init__(self, ask: Ask, compiler: Compiler, root: Path, *, follow: bool) -> None:
        self._ask = ask
        self._compiler = compiler
        self._root = root
        self._follow = follow

    async def judge(self, symbol: Symbol) -> Verdict:
        """Rename a symbol at once, compile, undo; then follow what an answer that asks back suggests."""
        cpu = time.process_time()
        envelope = await self._rename(symbol)
        verdict = Verdict(symbol=symbol, outcome="refused", cpu=time.process_time() - cpu)
        result = envelope.get("result")
        if not isinstance(result, dict):
            verdict.reason = _error(envelope)
            if "belongs to the trait" in verdict.reason and await asyncio.to_thread(self._is_fixed, symbol):
                verdict.outcome = "fixed"
            if verdict.reason.startswith("POLICY_DENIED"):
                # On a machine under load the policy may not be there in time, and then refuses everything.
                sys.exit(f"nothing can be measured: {verdict.reason}")
        elif result["status"] == "applied":
            verdict.outcome, verdict.error, verdict.undo = await self._compile()
        elif result["status"] in ("needs_decision", "previewed"):
            verdict.outcome = "asked"
            verdict.reason = _question(envelope, result)
            if self._follow:
                for number in range(len(list(suggestions(envelope)))):
                    verdict.followed += await self._followed(symbol, number)
        else:
            verdict.reason = str(result["status"])
        return verdict

    def _is_fixed(self, symbol: Symbol) -> bool:
        """Whether no trait of the checkout has the name of the member's, and the compiler misses it under another."""
        trait = trait_of(self._root, symbol)
        if not trait or trait in own_traits(self._root):
            return False
        file = self._root / symbol.path
        text = file.read_bytes()
        rows = text.decode("utf-8", "surrogateescape").split("\n")
        end = symbol.column - 1 + len(symbol.name)
        rows[symbol.line - 1] = f"{rows[symbol.line - 1][:end]}{_RENAMED}{rows[symbol.line - 1][end:]}"
        file.write_bytes("\n".join(rows).encode("utf-8", "surrogateescape"))
        error = self._compiler.check([symbol.path])
        file.write_bytes(text)
        return any(code in error for code in NOT_OF_TRAIT)

    async def _rename(self, symbol: Symbol) -> Envelope:
        new_name = f"{symbol.name}{'_RENAMED' if symbol.name.isupper() else _RENAMED}"
        return await self._ask("refactor.rename", symbol=symbol.place, new_name=new_name, apply=True, limit=_LIMIT)

    async def _compile(self) -> tuple[str, str, str]:
        error = await asyncio.to_thread(self._compiler.check, changed_files(self._root))
        error = error.replace(f"{self._root}/", "")
        left = await undo(self._ask, self._root)
        return ("broken" if error else "green"), error, left

    async def _followed(self, symbol: Symbol, number: int) -> list[Followed]:
        """Plan again, since a plan is gone once it is applied, and make one of the suggested calls."""
        calls = list(suggestions(await self._rename(symbol)))
        if number >= len(calls):
            return []
        arguments, exact = calls[number]
        done = await self._ask("refactor.rename", **arguments)
        followed = Followed(call=_call(arguments), exact=exact, outcome="refused")
        result = done.get("result")
        if not isinstance(result, dict):
            followed.error = _error(done)
        elif result["status"] != "applied":
            followed.outcome = "asked"
        else:
            followed.outcome, followed.error, _ = await self._compile()
        return [followed]


def suggestions(envelope: Envelope) -> Iterator[tuple[dict[str, object], bool]]:
    """The calls that the text of an answer suggests, and whether they stand there as they are made."""
    result, text = envelope.get("result"), envelope.get("text")
    if not isinstance(result, dict) or not isinstance(text, str):
        return
    seen: set[str] = set()
    for call in _CALL.finditer(text):
        given = dict(_ARGUMENT.findall(call[1]))
        for candidate in _candidates(given.get("candidate", ""), result):
            for arguments, exact in _choices(given, candidate, result):
                whole = {"refactor_id": result["refactor_id"], **arguments}
                key = json.dumps(whole, sort_keys=True)
                if key not in seen:
                    seen.add(key)
                    yield whole, exact


def _candidates(named: str, result: dict[str, object]) -> list[str]:
    known = result["candidates"]
    assert isinstance(known, list)
    return [one["id"] for one in known] if named == "ID" else [named]


def _choices(
    given: dict[str, str], candidate: str, result: dict[str, object]
) -> Iterator[tuple[dict[str, object], bool]]:
    chosen: dict[str, object] = {"candidate": candidate} if candidate else {}
    options = [name for name in ("include", "exclude") if name in given]
    for name in options:
        words = [word.strip() for word in given[name].strip("[]").split(",")]
        exact = not any("NUMBER" in word or "…" in word for word in words)
        places = words if exact else [f"#{number}" for number in _waiting(result, candidate)]
        if places:
            yield {**chosen, name: places}, exact
    if not options:
        yield chosen, True


def _waiting(result: dict[str, object], candidate: str) -> list[int]:
    """The numbers of all places that an answer leaves to its reader."""
    preview, candidates = result["preview"], result["candidates"]
    edits: list[dict[str, object]] = preview["edits"] if isinstance(preview, dict) else []
    assert isinstance(candidates, list)
    for one in candidates:
        if one["id"] == candidate:
            edits = one["apply_plan"]
    return [int(str(edit["id"])) for edit in edits if edit["waits"]][:1000]


def _question(envelope: Envelope, result: dict[str, object]) -> str:
    meta = envelope.get("meta")
    warnings = meta.get("warnings") if isinstance(meta, dict) else None
    if result["open_places"]:
        return f"{result['open_places']} open"
    return str(warnings[0] if warnings else "which is meant")[:160]


def _error(envelope: Envelope) -> str:
    error = envelope["error"]
    assert isinstance(error, dict)
    return f"{error['error']}: {error['message']}"[:200]


def _call(arguments: dict[str, object]) -> str:
    """A call without the plan's id, with at most three of the places it names."""
    parts = []
    for name, value in arguments.items():
        some = ", ".join(value[:3]) + (f", … {len(value)}" if len(value) > 3 else "") if isinstance(value, list) else ""
        parts += [f"{name}=[{some}]" if some else f"{name}={value}"] if name != "refactor_id" else []
    return " ".join(parts) or "the plan by its id"


async def measured(
    root: Path, compiler: Compiler, symbols: Sequence[Symbol], *, follow: bool, verbose: bool
) -> list[Verdict]:
    """Rename every symbol; what breaks is printed at once."""
    verdicts = []
    async with asking(root) as ask:
        renames = Renames(ask, compiler, root, follow=follow)
        for symbol in symbols:
            verdict = await renames.judge(symbol)
            verdicts.append(verdict)
            if verbose or verdict.outcome == "broken" or verdict.undo:
                print(line_of(verdict), file=sys.stderr, flush=True)
    return verdicts


def line_of(verdict: Verdict) -> str:
    """One verdict with everything to look at."""
    symbol = verdict.symbol
    parts = [f"{verdict.outcome:8}{symbol.kind:9} {symbol.place} {symbol.name}"]
    parts += [f"    {text}" for text in (verdict.error, verdict.reason) if text]
    parts += [f"    undo left: {verdict.undo}"] if verdict.undo else []
    parts += [
        f"    {'advice' if one.exact else 'choice'} {one.call}: {one.outcome} {one.error}".rstrip()
        for one in verdict.followed
    ]
    return "\n".join(parts)


_OUTCOMES = ("fixed", "green", "asked", "refused", "broken")
HEADS = ["kind", "symbols", *_OUTCOMES, "green%", "choice", "advice broken", "cpu_ms"]


def rows(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """The figures by kind, and of all."""
    found = []
    for kind in (*KINDS, "all"):
        some = [verdict for verdict in verdicts if kind in (verdict.symbol.kind, "all")]
        if not some:
            continue
        counts = Counter(verdict.outcome for verdict in some)
        found.append(
            [
                kind,
                str(len(some)),
                *(str(counts[outcome]) for outcome in _OUTCOMES),
                f"{counts['green'] / (len(some) - counts['fixed']):.2f}" if counts["fixed"] < len(some) else "-",
                str(sum(verdict.choice_green for verdict in some)),
                str(sum(verdict.advice_broken for verdict in some)),
                f"{sum(verdict.cpu for verdict in some) / len(some) * 1000:.0f}",
            ]
        )
    return found


def described(folder: Path, language: str) -> dict[str, object]:
    """What stands beside a checkout about how it compiles."""
    beside = folder.parent / f"{folder.name}.json"
    known: dict[str, object] = json.loads(beside.read_text()) if beside.exists() else {}
    known |= {"language": language} if language else {}
    if "language" not in known:
        sys.exit(f"--language, or {beside} with a language")
    return known


def main() -> None:
    """Measure one checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", default="", help="unless FOLDER.json names it")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="", help="these alone, with commas")
    parser.add_argument(
        "--symbols", type=Path, help="rename what the lines of this file name instead (path:line:column)"
    )
    parser.add_argument("--no-follow", action="store_true", help="do not make the calls that answers suggest")
    parser.add_argument("--json", type=Path, help="write every verdict here")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    folder = options.folder.resolve()
    known = described(folder, options.language)
    print(f"{folder.name} ({known['language']}), seed {options.seed}: {machine(folder)}", flush=True)
    with scratch_copy(folder) as root, compiling(Project.at(root, known)) as compiler:
        if options.symbols:
            symbols = listed(options.symbols.read_text().splitlines(), root)
        else:
            kinds = options.kinds.split(",") if options.kinds else KINDS
            everything = [symbol for symbol in all_symbols(root, compiler.covers) if symbol.kind in kinds]
            symbols = drawn(everything, options.count, options.seed)
        before = compiler.cpu
        verdicts = asyncio.run(measured(root, compiler, symbols, follow=not options.no_follow, verbose=options.verbose))
        print(table(HEADS, rows(verdicts)))
        print(f"compiler: {compiler.cpu - before:.0f} CPU seconds")
    failing = [one for one in verdicts if one.outcome == "broken" or one.advice_broken or one.undo]
    for verdict in failing:
        print(line_of(verdict))
    if options.json:
        options.json.write_text(json.dumps([asdict(verdict) for verdict in verdicts], indent=1))


if __name__ == "__main__":
    main()
