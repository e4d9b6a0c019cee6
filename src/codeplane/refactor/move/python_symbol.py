"""A function, class or constant of a Python module that goes to another one."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace

from codeplane.code.facts.model import REASONS, Facts
from codeplane.code.resolve.entity import Bound, Module
from codeplane.code.resolve.expression import receiver
from codeplane.code.resolve.names import gives_by_star
from codeplane.code.resolve.references import Reference, occurrences, references
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import SURE
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import shown
from codeplane.kernel.errors import InvalidArgument, NameTaken, NotRefactorable
from codeplane.refactor.draft import Coverage, Danger, Draft, Edit, NewFile
from codeplane.refactor.move.cut import Piece, cut
from codeplane.refactor.move.cycles import cycles
from codeplane.refactor.move.import_block import added_imports, import_end
from codeplane.refactor.move.importers import Importer
from codeplane.refactor.move.listed import listed_in, unlisted
from codeplane.refactor.move.loaded import loading_dangers
from codeplane.refactor.move.mentions import dotted_strings
from codeplane.refactor.move.module_names import absolute, modules_of, relative, steps_of
from codeplane.refactor.move.needs import Needs
from codeplane.refactor.move.packages import missing_inits
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.statement import Span, import_spans, line_end, line_start, past_newline
from codeplane.refactor.move.tops import without_gap
from codeplane.refactor.move.unused import left_unused

_FUTURE = re.compile(rb"^from __future__ import [^\n]*\bannotations\b", re.MULTILINE)
_MOST_STARS = 500
_IMPORTED = REASONS.index("IMPORT_ALIAS")


def python_symbol(world: World, store: FactStore, bound: Bound, to_path: str, *, deadline: float) -> Draft:
    """Plan it: the text, what it needs, what the old module keeps, and every file that took it from there."""
    facts, text = world.facts(bound.file), world.text(bound.file)
    assert facts is not None
    pieces = cut(bound, facts, text)
    _must_take(world, bound, to_path)
    resolver = Resolver(world)
    relocation = Relocation(world, {}, root=to_path, new_root=to_path)
    is_new = to_path not in world.snapshot.files
    inits = missing_inits(world.snapshot.files, {bound.file: to_path}) if is_new else []
    relocation.created = (to_path, *inits) if is_new else ()
    there = world.facts(to_path)
    close = any(one.source.startswith(".") for one in (there or facts).imports)
    needs = Needs(world, resolver, relocation, bound, to_path, pieces, close)
    needs.found()
    dangers = list(needs.dangers)
    by_file: dict[str, list[Reference]] = {}
    late = ""
    for one in references(world, store, [bound], receivers=False):
        by_file.setdefault(one.path, []).append(one)
        if time.monotonic() > deadline:
            late = f"time ran out after {one.path}"
            break
    _stars(world, store, bound, by_file)
    edits: list[Edit] = []
    aliases: list[str] = []
    for path, found in by_file.items():
        if path == bound.file:
            continue
        sure = [one for one in found if one.tier in SURE]
        if len(sure) < len(found):
            what = f"{path} may use {bound.name}"
            dangers.append(Danger(kind="unresolved_use", what=what, path=path, count=len(found) - len(sure)))
        importer = Importer(world, resolver, relocation, bound, to_path, path)
        importer.planned(sure)
        edits += importer.edits
        dangers += importer.dangers
        aliases += importer.aliases
    stays = _still_used(resolver, facts, text, bound, pieces)
    old_source = relative(relocation, to_path, bound.file) if _is_close(facts) else None
    old_source = old_source or absolute(relocation, to_path, bound.file, None)
    edits += _of_old(world, store, resolver, bound, pieces, needs, stays, old_source, dangers)
    made, created = _of_new(world, resolver, bound, to_path, pieces, needs, edits, aliases, dangers)
    edits = made
    dangers += cycles(world, bound.file, to_path, needs, stays=bool(stays))
    edits += _strings(world, store, relocation, bound, to_path)
    draft = Draft(
        title=f"move {bound.name} to {to_path}",
        word=bound.name,
        edits=tuple(sorted(edits, key=lambda one: (one.path, one.start, one.end))),
        creates=(*created, *(NewFile(path=one, content="") for one in inits)),
        dangers=tuple(dangers),
        coverage=Coverage(
            files_scanned=len(by_file),
            unparsed=tuple(path for path in by_file if (known := world.facts(path)) is None or known.errors),
            truncated=late,
            families=("python",),
        ),
    )
    dangers += _brought_by_star(world, store, bound, to_path)
    around = [to_path, bound.file] if stays else [to_path]
    return replace(draft, dangers=(*dangers, *loading_dangers(world, store, draft, around, deadline=deadline)))


def _must_take(world: World, bound: Bound, to_path: str) -> None:
    """Refuse a destination that cannot have the symbol."""
    if bound.name.startswith("__") and bound.name.endswith("__"):
        raise NotRefactorable(f"{bound.name} is what Python looks for in this module", hint="edit both files instead")
    if not to_path.endswith(".py"):
        raise InvalidArgument(f"{shown(to_path)} is no Python file", hint="name the module's file, new or not")
    if to_path not in world.snapshot.files:
        if not steps_of(to_path) or not steps_of(to_path)[-1].isidentifier():
            raise InvalidArgument(f"{shown(to_path)} cannot be imported", hint="choose letters, digits and _")
        return
    facts = world.facts(to_path)
    if facts is None or facts.errors:
        raise NotRefactorable(f"{shown(to_path)} does not parse", hint="mend its syntax first")
    for row in facts.bound.get((0, bound.name), []):
        at, reason, target = facts.bind_at(row), facts.bind_reason(row), facts.bind_target(row)
        if reason == _IMPORTED:
            found = Resolver(world).imported(to_path, facts, facts.imports[target])
            if found == (bound,):
                continue
        text = world.text(to_path)
        line, column = text.count(b"\n", 0, at) + 1, at - line_start(text, at) + 1
        raise NameTaken(
            f"{shown(to_path)}:{line} has a {bound.name} already",
            details={"places": [{"path": to_path, "line": line, "column": column, "why": "bound there"}]},
        )
    brought = [one for one in Resolver(world).export(to_path, bound.name) if one != bound]
    if brought and (0, bound.name) not in facts.bound:
        why = "is a module of it" if isinstance(brought[0], Module) else "comes by `import *`"
        raise NameTaken(f"{shown(to_path)} has another {bound.name}, which {why}")


def _stars(world: World, store: FactStore, bound: Bound, by_file: dict[str, list[Reference]]) -> None:
    """Files that take everything from the old module pass the symbol on, whether or not they use it."""
    steps, old = steps_of(bound.file), world.facts(bound.file)
    is_given = old is not None and gives_by_star(old, bound.name)
    for path, _ in store.files_with(steps[-1]) if steps else ():
        facts = world.facts(path) if path.endswith((".py", ".pyi")) and path in world.snapshot.files else None
        for one in facts.imports if facts is not None and facts.star and is_given else ():
            if one.imported == "*" and modules_of(world, one.source, path) == (bound.file,):
                by_file.setdefault(path, [])


def _brought_by_star(world: World, store: FactStore, bound: Bound, to_path: str) -> list[Danger]:
    """Files that take everything from where the symbol goes, and have another one of its name."""
    found, resolver = [], Resolver(world)
    reached, waiting = {to_path}, [to_path]
    while waiting and len(reached) < _MOST_STARS:
        module = waiting.pop()
        stem = steps_of(module)[-1:]
        for path, _ in store.files_with(stem[0]) if stem else ():
            near = path not in reached and path.endswith((".py", ".pyi")) and path in world.snapshot.files
            if near and module in _taken_whole(world, path):
                reached.add(path)
                waiting.append(path)
    for path in sorted(reached - {to_path, bound.file}):
        if any(one != bound for one in resolver.export(path, bound.name)):
            what = f"{path} takes everything from {to_path}, and has another {bound.name}"
            found.append(Danger(kind="name_taken", what=what, path=path))
    return found


def _taken_whole(world: World, path: str) -> set[str]:
    """The modules a file takes everything from."""
    facts = world.facts(path)
    stars = [one for one in facts.imports if one.imported == "*"] if facts is not None and facts.star else []
    return {module for one in stars for module in modules_of(world, one.source, path)}


def _still_used(resolver: Resolver, facts: Facts, text: bytes, bound: Bound, pieces: Sequence[Piece]) -> list[int]:
    """Where the old module goes on using the symbol."""
    spans = import_spans(facts, text)
    return [
        at
        for at in occurrences(text, bound.name)
        if not any(one.begin <= at < one.until for one in pieces)
        and not any(start <= at < end for start, end in spans)
        and not facts.in_text(at)
        and at not in facts.labels
        and receiver(text, at, facts.in_text) == ()
        and resolver.lexical(bound.file, facts, at, bound.name) == bound
    ]


def _of_old(
    world: World,
    store: FactStore,
    resolver: Resolver,
    bound: Bound,
    pieces: Sequence[Piece],
    needs: Needs,
    stays: Sequence[int],
    source: str | None,
    dangers: list[Danger],
) -> list[Edit]:
    text = world.text(bound.file)
    facts = world.facts(bound.file)
    assert facts is not None
    spans = [without_gap(text, one.begin, one.until) for one in pieces]
    edits = [
        Edit(path=bound.file, start=start, end=end, new="", tier="PROVEN", role="DEFINITION", why="it goes")
        for start, end in _merged(spans)
    ]
    if stays and source is not None:
        for span in added_imports(text, [f"from {source} import {bound.name}"], []):
            edits.append(_edit(bound.file, span, "STRONG", "IMPORT", "still used here"))
    elif stays:
        what = f"no import leads from {bound.file} to the new module"
        dangers.append(Danger(kind="unresolved_import", what=what, path=bound.file, offset=stays[0]))
    edits += [
        _edit(bound.file, span, "STRONG", "EXPORT", "no longer of this module")
        for span in unlisted(facts, text, bound.name)
    ]
    spans_left, fears = left_unused(world, resolver, bound, pieces, needs.brought)
    dangers += fears
    edits += [_edit(bound.file, one, "STRONG", "IMPORT", "only what went used it") for one in spans_left]
    return _tidied(text, edits)


def _of_new(
    world: World,
    resolver: Resolver,
    bound: Bound,
    to_path: str,
    pieces: Sequence[Piece],
    needs: Needs,
    edits: list[Edit],
    aliases: Sequence[str],
    dangers: list[Danger],
) -> tuple[list[Edit], list[NewFile]]:
    text = world.text(bound.file)
    old = world.facts(bound.file)
    assert old is not None
    body = "".join(_moved(text, one, needs.changed) for one in pieces)
    future = _FUTURE.search(text) is not None
    is_large = text[pieces[0].start :].startswith((b"def", b"class", b"@", b"async"))
    if aliases:
        body += ("\n\n" if is_large else "") + "".join(f"{alias} = {bound.name}\n" for alias in aliases)
    if to_path not in world.snapshot.files:
        heads = ["from __future__ import annotations\n\n"] if future else []
        blank = b""
        imported = (
            "".join(span.new for span in added_imports(blank, needs.plain, needs.typed))
            if needs.plain or needs.typed
            else ""
        )
        gap = ("\n\n" if is_large else "\n") if heads or imported else ""
        return edits, [
            NewFile(
                path=to_path, content="".join(heads) + imported.rstrip("\n") + ("\n" if imported else "") + gap + body
            )
        ]
    facts, there = world.facts(to_path), world.text(to_path)
    assert facts is not None
    if future and _FUTURE.search(there) is None:
        what = f"{bound.file} has `from __future__ import annotations`, {to_path} has not"
        dangers.append(Danger(kind="future_annotations", what=what, path=to_path))
    used_there = any(
        bound in resolver.at(to_path, at, bound.name).entities
        for at in occurrences(there, bound.name)
        if not facts.in_text(at)
    )
    if used_there and needs.from_new:
        what = f"{bound.name} is used and uses names where it goes; what is defined first may have to be looked at"
        dangers.append(Danger(kind="definition_order", what=what, path=to_path))
    spans = added_imports(there, needs.plain, needs.typed) if needs.plain or needs.typed else []
    at = import_end(there) if used_there else len(there)
    same = "".join(one.new for one in spans if one.start == at)
    spans = [one for one in spans if one.start != at]
    left = _left_before(there, at, [one for one in edits if one.path == to_path])
    gap = "\n\n" if is_large and (left.strip() or same) else "\n" if same else ""
    if at == len(there) and there and not there.endswith(b"\n") and not same:
        gap = "\n" + gap
    after = "" if at == len(there) or not left.strip() else "\n" if _is_blank(there, at) else "\n\n"
    whole = same + gap + body + (after if is_large else "")
    made = [*edits, *(_edit(to_path, span, "STRONG", "IMPORT", "what came along needs it") for span in spans)]
    made.append(_edit(to_path, Span(start=at, end=at, new=whole), "PROVEN", "DEFINITION", "it comes"))
    if any(one.evidence == "all" and one.name == bound.name for one in old.exports):
        made += [
            _edit(to_path, span, "STRONG", "EXPORT", "given away as before")
            for span in listed_in(facts, there, bound.name)
        ]
    return made, []


def _left_before(text: bytes, at: int, edits: Sequence[Edit]) -> bytes:
    """What is left before a place once some edits are made."""
    parts, done = [], 0
    for one in sorted(edits, key=lambda one: one.start):
        if one.start >= done and one.end <= at:
            parts += [text[done : one.start], one.new.encode()]
            done = one.end
    return b"".join([*parts, text[done:at]])


def _is_blank(text: bytes, at: int) -> bool:
    return not text[at : line_end(text, at)].strip()


def _tidied(text: bytes, edits: Sequence[Edit]) -> list[Edit]:
    """Edits with the blank lines that would begin the file; nothing else comes of taking all that was before them."""
    starts = {one.start: one for one in edits if not one.new and one.end > one.start}
    at, gone = 0, list[Edit]()
    while at < len(text):
        one = starts.get(at)
        if one is not None:
            gone.append(one)
            at = one.end
        elif gone and _is_blank(text, at) and not any(other.start == at for other in edits):
            at = max(past_newline(text, line_end(text, at)), at + 1)
        else:
            break
    if not gone:
        return list(edits)
    whole = replace(gone[0], start=0, end=at)
    return [whole, *(one for one in edits if one not in gone)]


def _moved(text: bytes, piece: Piece, changed: Sequence[Span]) -> str:
    """The text of a piece with what changes on its way."""
    parts, at = [], piece.begin
    for span in sorted((one for one in changed if piece.begin <= one.start < piece.until), key=lambda one: one.start):
        parts += [text[at : span.start], span.new.encode()]
        at = span.end
    said = b"".join([*parts, text[at : piece.until]]).decode("utf-8", "replace").replace("\r\n", "\n")
    return said if said.endswith("\n") else f"{said}\n"


def _strings(world: World, store: FactStore, relocation: Relocation, bound: Bound, to_path: str) -> list[Edit]:
    old = absolute(relocation, bound.file, bound.file, None)
    new = absolute(relocation, to_path, to_path, None)
    if old is None or new is None:
        return []
    return list(dotted_strings(world, store, {f"{old}.{bound.name}": f"{new}.{bound.name}"}))


def _is_close(facts: Facts) -> bool:
    return any(one.source.startswith(".") for one in facts.imports)


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _edit(path: str, span: Span, tier: str, role: str, why: str) -> Edit:
    return Edit(path=path, start=span.start, end=span.end, new=span.new, tier=tier, role=role, why=why)  # type: ignore[arg-type]  # literals at every call
