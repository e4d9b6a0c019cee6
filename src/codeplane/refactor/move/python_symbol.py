"""Planning of moves of a function, class or constant to another Python module."""

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from codeplane.code.entity import Bound, Module
from codeplane.code.languages.expression import receiver
from codeplane.code.model import REASONS, Facts
from codeplane.code.resolve.names import gives_by_star
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.references import Reference, references
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import SURE
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import InvalidArgument, NameTaken, NotRefactorable
from codeplane.refactor.draft import Coverage, Danger, Draft, Edit, NewFile
from codeplane.refactor.move.all_list import add_to_all, remove_from_all
from codeplane.refactor.move.dependencies import SymbolDependencies
from codeplane.refactor.move.import_block import add_imports, import_end
from codeplane.refactor.move.importers import Importer
from codeplane.refactor.move.load_dangers import cycle_dangers, loading_dangers
from codeplane.refactor.move.load_simulation import is_loaded
from codeplane.refactor.move.module_names import absolute_name, module_parts, modules_of, relative_name
from codeplane.refactor.move.packages import missing_inits
from codeplane.refactor.move.private_companions import private_companions
from codeplane.refactor.move.python_cut import Piece, cut_symbol
from codeplane.refactor.move.python_statement import import_spans
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.span import Span, line_end, line_start, past_newline
from codeplane.refactor.move.text_references import dotted_strings
from codeplane.refactor.move.top_statements import top_statements, with_blank_lines
from codeplane.refactor.move.unused_imports import find_unused_imports

_FUTURE = re.compile(rb"^from __future__ import [^\n]*\bannotations\b", re.MULTILINE)
_MOST_STARS = 500
_IMPORTED = REASONS.index("IMPORT_ALIAS")


def plan_python_symbol(world: World, store: FactStore, bound: Bound, to_path: str, *, deadline: float) -> Draft:
    """Plan the move: the text, its dependencies, what stays in the old module, and every importer."""
    facts, text = world.facts(bound.file), world.text(bound.file)
    assert facts is not None
    own = cut_symbol(bound, facts, text)
    _refuse_destination(world, bound, to_path)
    resolver = Resolver(world)
    companions = private_companions(world, store, resolver, bound, to_path, own)
    parts = sorted([own, *companions.values()], key=lambda part: part[0].begin)
    pieces = [piece for part in parts for piece in part]
    relocation = Relocation(world, {}, root=to_path, new_root=to_path)
    is_new = to_path not in world.snapshot.files
    inits = missing_inits(world.snapshot.files, {bound.file: to_path}) if is_new else []
    relocation.created = (to_path, *inits) if is_new else ()
    there = world.facts(to_path)
    close = any(import_.source.startswith(".") for import_ in (there or facts).imports)
    dependencies = SymbolDependencies(
        world, resolver, relocation, bound, to_path, pieces, close, going=frozenset((bound.name, *companions))
    )
    dependencies.collect()
    dangers = list(dependencies.dangers)
    by_file: dict[str, list[Reference]] = {}
    late = ""
    for reference in references(world, store, [bound], receivers=False):
        by_file.setdefault(reference.path, []).append(reference)
        if time.monotonic() > deadline:
            late = f"time ran out after {reference.path}"
            break
    _stars(world, store, bound, by_file)
    edits: list[Edit] = []
    aliases: list[str] = []
    for path, found in by_file.items():
        if path == bound.file:
            continue
        sure = [reference for reference in found if reference.tier in SURE]
        if len(sure) < len(found):
            what = f"{path} may use {bound.name}"
            dangers.append(Danger(kind="unresolved_use", what=what, path=path, count=len(found) - len(sure)))
        importer = Importer(world, resolver, relocation, bound, to_path, path)
        importer.plan(sure)
        edits += importer.edits
        dangers += importer.dangers
        aliases += importer.aliases
    stays = _remaining_uses(resolver, facts, text, bound, pieces)
    old_source = relative_name(relocation, to_path, bound.file) if _is_close(facts) else None
    old_source = old_source or absolute_name(relocation, to_path, bound.file, None)
    edits += _old_module_edits(world, store, resolver, bound, pieces, dependencies, stays, old_source, dangers)
    made, created = _new_module_edits(world, resolver, bound, to_path, parts, dependencies, edits, aliases, dangers)
    edits = made
    dangers += cycle_dangers(world, bound.file, to_path, dependencies, stays=bool(stays))
    edits += _strings(world, store, relocation, bound, to_path)
    draft = Draft(
        title=f"move {bound.name} to {to_path}",
        word=bound.name,
        edits=tuple(sorted(edits, key=lambda edit: (edit.path, edit.start, edit.end))),
        creates=(*created, *(NewFile(path=path, content="") for path in inits)),
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


def _refuse_destination(world: World, bound: Bound, to_path: str) -> None:
    """Refuse a destination that cannot have the symbol."""
    if bound.name.startswith("__") and bound.name.endswith("__"):
        raise NotRefactorable(f"{bound.name} is what Python looks for in this module", hint="edit both files instead")
    if not to_path.endswith(".py"):
        raise InvalidArgument(f"{path_text(to_path)} is no Python file", hint="name the module's file, new or not")
    if to_path not in world.snapshot.files:
        if not module_parts(to_path) or not module_parts(to_path)[-1].isidentifier():
            raise InvalidArgument(f"{path_text(to_path)} cannot be imported", hint="choose letters, digits and _")
        return
    facts = world.facts(to_path)
    if facts is None or facts.errors:
        raise NotRefactorable(f"{path_text(to_path)} does not parse", hint="fix its syntax first")
    for row in facts.rows_by_binding.get((0, bound.name), []):
        at, reason, target = facts.bind_at(row), facts.bind_reason(row), facts.bind_target(row)
        if reason == _IMPORTED:
            found = Resolver(world).resolve_import(to_path, facts, facts.imports[target])
            if found == (bound,):
                continue
        text = world.text(to_path)
        line, column = text.count(b"\n", 0, at) + 1, at - line_start(text, at) + 1
        raise NameTaken(
            f"{path_text(to_path)}:{line} has a {bound.name} already",
            details={"places": [{"path": to_path, "line": line, "column": column, "why": "bound there"}]},
        )
    brought = [entity for entity in Resolver(world).export(to_path, bound.name) if entity != bound]
    if brought and (0, bound.name) not in facts.rows_by_binding:
        why = "is a module of it" if isinstance(brought[0], Module) else "comes by `import *`"
        raise NameTaken(f"{path_text(to_path)} has another {bound.name}, which {why}")


def _stars(world: World, store: FactStore, bound: Bound, by_file: dict[str, list[Reference]]) -> None:
    """Add the files that import everything from the old module: they re-export the symbol."""
    steps, old = module_parts(bound.file), world.facts(bound.file)
    is_given = old is not None and gives_by_star(old, bound.name)
    for path, _ in store.files_with(steps[-1]) if steps else ():
        facts = world.facts(path) if path.endswith((".py", ".pyi")) and path in world.snapshot.files else None
        for import_ in facts.imports if facts is not None and facts.star and is_given else ():
            if import_.imported == "*" and modules_of(world, import_.source, path) == (bound.file,):
                by_file.setdefault(path, [])


def _brought_by_star(world: World, store: FactStore, bound: Bound, to_path: str) -> list[Danger]:
    """Return a danger for files that import everything from the destination and have another symbol of that name."""
    found, resolver = [], Resolver(world)
    reached, waiting = {to_path}, [to_path]
    while waiting and len(reached) < _MOST_STARS:
        module = waiting.pop()
        stem = module_parts(module)[-1:]
        for path, _ in store.files_with(stem[0]) if stem else ():
            near = path not in reached and path.endswith((".py", ".pyi")) and path in world.snapshot.files
            if near and module in _star_imports(world, path):
                reached.add(path)
                waiting.append(path)
    for path in sorted(reached - {to_path, bound.file}):
        if any(entity != bound for entity in resolver.export(path, bound.name)):
            what = f"{path} takes everything from {to_path}, and has another {bound.name}"
            found.append(Danger(kind="name_taken", what=what, path=path))
    return found


def _star_imports(world: World, path: str) -> set[str]:
    """Return the modules that a file imports everything from."""
    facts = world.facts(path)
    stars = (
        [import_ for import_ in facts.imports if import_.imported == "*"] if facts is not None and facts.star else []
    )
    return {module for star in stars for module in modules_of(world, star.source, path)}


def _remaining_uses(resolver: Resolver, facts: Facts, text: bytes, bound: Bound, pieces: Sequence[Piece]) -> list[int]:
    """Return where the old module still uses the symbol."""
    spans = import_spans(facts, text)
    return [
        at
        for at in occurrences(text, bound.name)
        if not any(piece.begin <= at < piece.until for piece in pieces)
        and not any(start <= at < end for start, end in spans)
        and not facts.in_text(at)
        and at not in facts.labels
        and receiver(text, at, facts.in_text) == ()
        and resolver.lexical(bound.file, facts, at, bound.name) == bound
    ]


def _old_module_edits(
    world: World,
    store: FactStore,
    resolver: Resolver,
    bound: Bound,
    pieces: Sequence[Piece],
    dependencies: SymbolDependencies,
    stays: Sequence[int],
    source: str | None,
    dangers: list[Danger],
) -> list[Edit]:
    text = world.text(bound.file)
    facts = world.facts(bound.file)
    assert facts is not None
    spans = [with_blank_lines(text, piece.begin, piece.until) for piece in pieces]
    edits = [
        Edit(path=bound.file, start=start, end=end, new="", tier="PROVEN", role="DEFINITION", why="it goes")
        for start, end in _merge_spans(spans)
    ]
    if stays and source is not None:
        for span in add_imports(text, [f"from {source} import {bound.name}"], []):
            edits.append(_edit(bound.file, span, "STRONG", "IMPORT", "still used here"))
    elif stays:
        what = f"no import leads from {bound.file} to the new module"
        dangers.append(Danger(kind="unresolved_import", what=what, path=bound.file, offset=stays[0]))
    edits += [
        _edit(bound.file, span, "STRONG", "EXPORT", "no longer of this module")
        for span in remove_from_all(facts, text, bound.name)
    ]
    spans_left, fears = find_unused_imports(world, resolver, bound, pieces, dependencies.brought)
    dangers += fears
    edits += [_edit(bound.file, span, "STRONG", "IMPORT", "only what went used it") for span in spans_left]
    return _without_leading_blanks(text, edits)


def _new_module_edits(
    world: World,
    resolver: Resolver,
    bound: Bound,
    to_path: str,
    parts: Sequence[Sequence[Piece]],
    dependencies: SymbolDependencies,
    edits: list[Edit],
    aliases: Sequence[str],
    dangers: list[Danger],
) -> tuple[list[Edit], list[NewFile]]:
    text = world.text(bound.file)
    old = world.facts(bound.file)
    assert old is not None
    body, was_large = "", False
    for part in parts:
        is_block = text[part[0].start :].startswith((b"def", b"class", b"@", b"async"))
        gap = "\n\n" if body and (is_block or was_large) else ""
        body += gap + "".join(_moved_code(text, piece, dependencies.changed) for piece in part)
        was_large = is_block
    future = _FUTURE.search(text) is not None
    is_large = any(text[part[0].start :].startswith((b"def", b"class", b"@", b"async")) for part in parts)
    if aliases:
        body += ("\n\n" if is_large else "") + "".join(f"{alias} = {bound.name}\n" for alias in aliases)
    if to_path not in world.snapshot.files:
        heads = ["from __future__ import annotations\n\n"] if future else []
        blank = b""
        imported = (
            "".join(span.new for span in add_imports(blank, dependencies.plain, dependencies.typed))
            if dependencies.plain or dependencies.typed
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
    at = _behind(facts, there, dependencies.from_new, import_end(there)) if used_there else len(there)
    if _is_needed_before(resolver, facts, there, bound, to_path, at):
        what = f"{bound.name} is used where it goes before names that it uses itself; check what is defined first"
        dangers.append(Danger(kind="definition_order", what=what, path=to_path))
    spans = (
        add_imports(there, dependencies.plain, dependencies.typed) if dependencies.plain or dependencies.typed else []
    )
    same = "".join(span.new for span in spans if span.start == at)
    spans = [span for span in spans if span.start != at]
    left = _text_before(there, at, [edit for edit in edits if edit.path == to_path])
    gap = "\n\n" if is_large and (left.strip() or same) else "\n" if same else ""
    if at == len(there) and there and not there.endswith(b"\n") and not same:
        gap = "\n" + gap
    after = "" if at == len(there) or not left.strip() else "\n" if _is_blank(there, at) else "\n\n"
    whole = same + gap + body + (after if is_large else "")
    made = [*edits, *(_edit(to_path, span, "STRONG", "IMPORT", "what came along needs it") for span in spans)]
    made.append(_edit(to_path, Span(start=at, end=at, new=whole), "PROVEN", "DEFINITION", "it comes"))
    if any(export.evidence == "all" and export.name == bound.name for export in old.exports):
        made += [
            _edit(to_path, span, "STRONG", "EXPORT", "given away as before")
            for span in add_to_all(facts, there, bound.name)
        ]
    return made, []


def _behind(facts: Facts, text: bytes, names: Iterable[str], at: int) -> int:
    """Return the first place from `at` on behind the statements that define the names."""
    bound = [facts.bind_at(row) for name in names for row in facts.rows_by_binding.get((0, name), [])]
    for top in top_statements(text, "python"):
        if top.end > at and any(top.start <= place < top.end for place in bound):
            at = past_newline(text, line_end(text, top.end))
    return at


def _is_needed_before(resolver: Resolver, facts: Facts, text: bytes, bound: Bound, to_path: str, at: int) -> bool:
    """Whether a module uses the symbol before a place while it is loaded."""
    return any(
        place < at
        and not facts.in_text(place)
        and place not in facts.imported_at
        and bound in resolver.at(to_path, place, bound.name).entities
        and is_loaded(facts, text, place)
        for place in occurrences(text, bound.name)
    )


def _text_before(text: bytes, at: int, edits: Sequence[Edit]) -> bytes:
    """Return the text before a place after some edits."""
    parts, done = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        if edit.start >= done and edit.end <= at:
            parts += [text[done : edit.start], edit.new.encode()]
            done = edit.end
    return b"".join([*parts, text[done:at]])


def _is_blank(text: bytes, at: int) -> bool:
    return not text[at : line_end(text, at)].strip()


def _without_leading_blanks(text: bytes, edits: Sequence[Edit]) -> list[Edit]:
    """Extend edits that remove the start of a file by the blank lines that would be left there."""
    starts = {edit.start: edit for edit in edits if not edit.new and edit.end > edit.start}
    at, gone = 0, list[Edit]()
    while at < len(text):
        removal = starts.get(at)
        if removal is not None:
            gone.append(removal)
            at = removal.end
        elif gone and _is_blank(text, at) and not any(other.start == at for other in edits):
            at = max(past_newline(text, line_end(text, at)), at + 1)
        else:
            break
    if not gone:
        return list(edits)
    whole = replace(gone[0], start=0, end=at)
    return [whole, *(edit for edit in edits if edit not in gone)]


def _moved_code(text: bytes, piece: Piece, changed: Sequence[Span]) -> str:
    """Return the text of a piece with its changes."""
    parts, at = [], piece.begin
    for span in sorted(
        (span for span in changed if piece.begin <= span.start < piece.until), key=lambda change: change.start
    ):
        parts += [text[at : span.start], span.new.encode()]
        at = span.end
    code = b"".join([*parts, text[at : piece.until]]).decode("utf-8", "replace").replace("\r\n", "\n")
    return code if code.endswith("\n") else f"{code}\n"


def _strings(world: World, store: FactStore, relocation: Relocation, bound: Bound, to_path: str) -> list[Edit]:
    old = absolute_name(relocation, bound.file, bound.file, None)
    new = absolute_name(relocation, to_path, to_path, None)
    if old is None or new is None:
        return []
    return list(dotted_strings(world, store, {f"{old}.{bound.name}": f"{new}.{bound.name}"}))


def _is_close(facts: Facts) -> bool:
    return any(import_.source.startswith(".") for import_ in facts.imports)


def _merge_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _edit(path: str, span: Span, tier: str, role: str, why: str) -> Edit:
    return Edit(path=path, start=span.start, end=span.end, new=span.new, tier=tier, role=role, why=why)  # type: ignore[arg-type]  # literals at every call
