"""Puts the captures of a query into scopes and makes facts of them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter

import numpy as np
import tree_sitter
import xxhash

from codeplane.code.facts.captures import Captures, FileMatches
from codeplane.code.facts.definition_draft import Draft, Homes, PlacedScope
from codeplane.code.languages.language import Language
from codeplane.code.model import (
    NO_TARGET,
    REASONS,
    Definition,
    DynamicAccess,
    Export,
    Facts,
    Import,
    Scope,
)
from codeplane.code.packed_columns import pack_columns, pack_spans, pack_steps

MAX_DEFINITIONS = 20_000
_MAX_NAME = 200
_BEYOND = 1 << 62
_PARAM, _LOCAL, _DEFINED, _IMPORTED, _GLOBAL, _NONLOCAL = range(len(REASONS))
_BINDS = {"param": _PARAM, "local": _LOCAL, "hoisted": _LOCAL, "walrus": _LOCAL}
_BINDS |= {"assigned": _LOCAL, "toplevel": _LOCAL, "global": _GLOBAL, "nonlocal": _NONLOCAL}
_UNDECLARED = frozenset({"assigned", "toplevel"})
_PASSED_BY = {"walrus": frozenset({"comprehension"}), "hoisted": frozenset({"block"})}
_VERSION = re.compile(r"[./]v\d+$")
_INSIDE = frozenset({"lambda", "block"})
_AROUND_NAMES = frozenset({b" ", b"\t", b"\r", b"\n", b'"', b"'", b":"})
_place, _start = itemgetter(2), itemgetter(0)
_NONE: tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]] = ((), (), (), (), ())
_JOINTS = ".:\\ \t"
_QUOTES = "'\"`<>"


class Assembly:
    """The making of one file's facts."""

    def __init__(self, language: Language, text: bytes, found: FileMatches) -> None:
        self._language = language
        self._text = text
        self._found = found
        self._drafts: list[Draft] = []
        self._scopes: list[PlacedScope] = []
        self._starts: list[int] = []
        self._binds: list[tuple[str, int, int, int, int]] = []
        self._moved: dict[int, int] = {}
        self._clipped = False

    def facts(self, *, errors: int) -> Facts:
        """All of it, once."""
        found = self._found
        self._draft()
        self._place_scopes()
        self._place_definitions()
        imports = self._imports()
        self._place_binds({import_.local_at for import_ in imports})
        exports = self._exports()
        definitions = self._definitions()
        moved = self._moved
        names, inside, places, reasons, targets = (
            zip(*sorted(self._binds, key=_place), strict=True) if self._binds else _NONE
        )
        return Facts(
            language=self._language.name,
            definitions=tuple(definitions),
            scopes=tuple(
                Scope(kind=kind, parent=parent, start=start, size=end - start, definition=moved.get(definition, -1))
                for start, end, kind, definition, parent in self._scopes
            ),
            imports=tuple(imports),
            exports=tuple(exports),
            dynamic=tuple(
                DynamicAccess(
                    pattern=what, at=node.start_byte, literal=self._text_of(captures, "key").strip(_QUOTES) or None
                )
                for what, captures, node in sorted(found.dynamic, key=lambda match: match[2].start_byte)
            ),
            bind_names=names,
            bind_packed=pack_columns(
                inside,
                pack_steps(places),
                reasons,
                [
                    target + 1 if reason == _IMPORTED else moved.get(target, -1) + 1
                    for reason, target in zip(reasons, targets, strict=True)
                ],
            ),
            text_packed=_spans(found.text_spans()),
            label_packed=pack_columns(pack_steps(sorted(found.labels))),
            outer_packed=_spans(found.outers),
            star=any(import_.imported == "*" for import_ in imports),
            errors=errors,
            clipped=self._clipped,
        )

    def _draft(self) -> None:
        """The definitions in the order of their text, and the scopes they open."""
        drafts: dict[int, Draft] = {}
        for kind, captures, node in self._found.definitions:
            for name in captures.get("name", ()):
                at, name_end = self._name_span(name.start_byte, name.end_byte)
                if at not in drafts:
                    label = self._decode(at, name_end)
                    drafts[at] = Draft(kind, label, node.start_byte, node.end_byte, at, name_end, captures, node)
        self._drafts = sorted(
            (draft for draft in drafts.values() if draft.name),
            key=lambda draft: (draft.start, -draft.end, draft.name_at),
        )
        if len(self._drafts) > MAX_DEFINITIONS:
            self._clipped = True
            del self._drafts[MAX_DEFINITIONS:]
        scopes = self._found.scopes
        for index, draft in enumerate(self._drafts):
            for kind, nodes in draft.captures.items():
                if kind.startswith("scope."):
                    for scope in nodes:
                        start, end = scope.start_byte, scope.end_byte
                        # What stands before the name of a method with a receiver is that receiver, bound inside.
                        if start <= draft.name_at < end:
                            if "receiver" not in draft.captures:
                                start = draft.name_end
                            elif self._language.receiver_scopes:
                                scopes.append((start, end, "class", -1))
                                # Of two scopes with the same bounds only one is kept.
                                start += 1
                        scopes.append((start, end, kind[6:], index))

    def _name_span(self, start: int, end: int) -> tuple[int, int]:
        """Where a name is in what was captured for it: one line, without quotes, or the colon of a symbol."""
        text = self._text[start:end]
        if text[:1] not in _AROUND_NAMES and text[-1:] not in _AROUND_NAMES:
            return start, end
        bare = text.lstrip(b" \t\r\n\"'" if text[:1] != b":" or len(text) == 1 else b":\"'")
        start = end - len(bare)
        return start, start + len(bare.split(b"\n", 1)[0].rstrip(b" \t\r\"'"))

    def _place_scopes(self) -> None:
        placed = [(0, len(self._text) + 1, "file", -1, -1)]
        open_ones = [0]
        last: tuple[int, int] | None = None
        for start, end, kind, definition in sorted(
            self._found.scopes, key=lambda scope: (scope[0], -scope[1], -scope[3])
        ):
            if (start, end) == last:
                continue
            last = (start, end)
            while placed[open_ones[-1]][1] < end:
                open_ones.pop()
            placed.append((start, end, kind, definition, open_ones[-1]))
            open_ones.append(len(placed) - 1)
        self._scopes = placed
        self._starts = [scope[0] for scope in placed]

    def _scope_at(self, offset: int) -> int:
        # The file's own scope begins at 0.
        index = bisect_right(self._starts, offset) - 1
        scopes = self._scopes
        while index and scopes[index][1] <= offset:
            index = scopes[index][4]
        return index

    def _climb(self, scope: int, kinds: frozenset[str], *, until: bool) -> int:
        """The nearest scope around whose kind is one of those (or, not `until`, is none of them)."""
        while scope and (self._scopes[scope][2] in kinds) is not until:
            scope = self._scopes[scope][4]
        return scope

    def _place_definitions(self) -> None:
        methods_in, members_in = self._language.methods_in, self._language.members_in
        for index, draft in enumerate(self._drafts):
            scope = self._scope_at(draft.name_at)
            while self._scopes[scope][3] == index or self._scopes[scope][2] == "template":
                scope = self._scopes[scope][4]
            if draft.kind == "field":
                scope = self._climb(scope, methods_in, until=True)
            draft.scope = scope
            around = self._scopes[scope][2]
            if draft.kind == "function" and around in methods_in:
                draft.kind = "method"
            captures = draft.captures
            if draft.kind == "field" and not self._language.bare_members:
                continue
            if around in members_in or "receiver" in captures or "unbound" in captures:
                continue
            self._binds.append((draft.name, scope, draft.name_at, _DEFINED, index))

    def _imports(self) -> list[Import]:
        made: list[Import] = []
        seen: set[int] = set()
        for kind, captures, statement in self._found.imports:
            sources = captures.get("source", [])
            source_node = sources[0] if sources else statement
            source = self._language.joint.join(self._node_text(node).strip(_QUOTES) for node in sources)
            if until := captures.get("until"):
                source = self._decode(source_node.start_byte, until[0].start_byte).rstrip(_JOINTS)
            given = captures.get("default")
            everything = captures.get("everything")
            imported_node = (given or everything or captures.get("imported") or [source_node])[0]
            imported = "default" if given else "*" if everything else self._text_of(captures, "imported")
            alias_node = (given or captures.get("alias") or [imported_node])[0]
            alias = self._node_text(alias_node) if given or "alias" in captures else ""
            # The same name, or the source of names that were found, may be matched again by a plainer pattern.
            if alias_node.start_byte in seen:
                continue
            seen |= {alias_node.start_byte, source_node.start_byte}
            if kind == "none":
                continue
            bound = "" if alias or imported else self._import_binding(source)
            scope = self._scope_at(alias_node.start_byte)
            made.append(
                Import(
                    kind=kind,
                    scope=scope,
                    source=source,
                    imported=imported,
                    alias=alias,
                    bound=bound,
                    at=statement.start_byte,
                    imported_after=imported_node.start_byte - statement.start_byte,
                    local_after=alias_node.start_byte - statement.start_byte,
                )
            )
        made.sort(key=lambda import_: (import_.at, import_.local_at))
        for index, import_ in enumerate(made):
            if import_.local not in ("", "*", "_", "."):
                self._binds.append((import_.local, import_.scope, import_.local_at, _IMPORTED, index))
        return made

    def _import_binding(self, source: str) -> str:
        """The name that importing a whole module binds."""
        if self._language.import_binds == "first":
            return source.partition(".")[0]
        source = _VERSION.sub("", source)
        return re.split(r"[./:\\]+", source)[-1] if self._language.import_binds == "last" else ""

    def _place_binds(self, imported: set[int]) -> None:
        """Give each binding its scope; an assignment where variables are definitions makes one."""
        known = {(draft.scope, draft.name): index for index, draft in enumerate(self._drafts) if draft.kind != "field"}
        variables_in = self._language.variables_in
        text, scopes, drafts, binds = self._text, self._scopes, self._drafts, self._binds
        starts, add = [*self._starts, _BEYOND], binds.append
        upcoming = 0
        bound = self._found.ordered_binds()
        # Only where assignments declare nothing does it matter which names a scope has.
        taken: set[tuple[int, str]] | None = set() if any(bind[3] in _UNDECLARED for bind in bound) else None
        placed = imported | {bind[2] for bind in binds}
        last = -1
        for at, _, _, how, node in bound:
            if at == last or at in placed:
                continue
            end = node.end_byte
            # The parser puts a name without letters where one is missing.
            if end == at:
                continue
            last = at
            name = text[at : min(end, at + _MAX_NAME)].decode("utf-8", "replace")
            # Names come in their order, and so do the scopes.
            while starts[upcoming] <= at:
                upcoming += 1
            scope = upcoming - 1
            while scope and scopes[scope][1] <= at:
                scope = scopes[scope][4]
            if how in _PASSED_BY:
                scope = self._climb(scope, _PASSED_BY[how], until=False)
            elif taken is not None and how in _UNDECLARED:
                scope = self._binding_scope(scope, name, taken, inside=how == "assigned")
            if taken is not None:
                taken.add((scope, name))
            reason = _BINDS[how]
            target = NO_TARGET
            if reason == _LOCAL:
                target = known.get((scope, name), NO_TARGET)
                if target == NO_TARGET and scopes[scope][2] in variables_in:
                    if len(drafts) >= MAX_DEFINITIONS:
                        self._clipped = True
                    else:
                        target = known[scope, name] = len(drafts)
                        drafts.append(Draft.variable(node, name, scope))
            add((name, scope, at, reason, target))

    def _binding_scope(self, scope: int, name: str, taken: set[tuple[int, str]], *, inside: bool) -> int:
        """Where an assignment goes that declares nothing: to a variable seen before, else here or to the file."""
        at = scope
        while at and (at, name) not in taken:
            if inside and self._scopes[at][2] not in _INSIDE:
                return scope
            at = self._scopes[at][4]
        return at if not inside or (at, name) in taken else scope

    def _is_static(self, draft: Draft) -> bool:
        """Whether a member is a class's own, beside which instances may have another of its name."""
        return self._language.classes.static_members and b"static" in self._text[draft.start : draft.name_at].split()

    def _definitions(self) -> list[Definition]:
        """Each with its container, its path and its place among equals; repeated ones of a class are taken once."""
        drafts = self._drafts
        by_kind = self._language.classes.members_by_kind
        hiding = [draft for draft in drafts if draft.kind != "field"] if not by_kind else []
        declared = {(draft.scope, draft.name, self._is_static(draft)) for draft in hiding}
        order: list[int] = []
        starts = [draft.start for draft in drafts]
        for index in sorted(range(len(drafts)), key=starts.__getitem__):
            draft = drafts[index]
            if draft.kind == "field":
                static, inside = self._is_static(draft), self._scopes[draft.scope][2] in self._language.methods_in
                # What is only assigned to `this` is declared by either side.
                sides = (static, not static) if self._text[draft.name_at - 1 : draft.name_at] == b"." else (static,)
                if not inside or any((draft.scope, draft.name, side) in declared for side in sides):
                    continue
                declared.add((draft.scope, draft.name, static))
            self._moved[index] = len(order)
            order.append(index)
        homes = Homes(
            drafts,
            self._scopes,
            {place: self._node_text(node) for place, node in self._found.scope_names.items()},
            {
                index: self._text_of(draft.captures, "receiver")
                for index, draft in enumerate(drafts)
                if "receiver" in draft.captures
            },
        )
        lines, columns, ends = _lines(
            self._text, [drafts[index].name_at for index in order], [drafts[index].end for index in order]
        )
        counts: dict[tuple[str, str, str], int] = {}
        made = []
        for place, index in enumerate(order):
            draft = drafts[index]
            container, within, path = homes.of(index)
            body, signature = self._body(draft)
            same = (path, draft.kind, signature)
            ordinal = counts[same] = counts.get(same, -1) + 1
            bases = draft.captures.get("bases")
            made.append(
                Definition(
                    kind=draft.kind,
                    name=draft.name,
                    inside=within,
                    signature=signature,
                    scope=draft.scope,
                    container=self._moved.get(container, -1),
                    ordinal=ordinal,
                    column=columns[place],
                    start=draft.start,
                    name_after=draft.name_at - draft.start,
                    line=lines[place],
                    lines_after=ends[place] - lines[place],
                    size=draft.end - draft.start,
                    body_after=body - draft.name_at if body < draft.end else -1,
                    bases=(bases[0].start_byte, bases[-1].end_byte) if bases else None,
                )
            )
        return made

    def _body(self, draft: Draft) -> tuple[int, str]:
        """Where a definition's body begins, and the hash of what stands between its name and there."""
        if draft.node is None:
            return draft.end, ""
        body = draft.node.child_by_field_name("body")
        if body is None:
            for kind, nodes in draft.captures.items():
                if kind.startswith("scope."):
                    body = nodes[0].child_by_field_name("body") or (nodes[0] if nodes[0] != draft.node else None)
        if body is None or body.start_byte < draft.name_end:
            # Overloads and promises of a function have no body, and differ in all that follows their name.
            signature = self._text[draft.name_end : draft.end] if draft.kind in ("function", "method") else b""
            return draft.end, _hash(signature) if signature else ""
        return body.start_byte, _hash(self._text[draft.name_end : body.start_byte])

    def _exports(self) -> list[Export]:
        made: list[Export] = []
        bound = (
            sorted({(at, name) for name, scope, at, _, _ in self._binds if not scope}) if self._found.exports else []
        )
        whole: set[int] = set()
        for how, captures, node in self._found.exports:
            # What a namespace gives away is not the file's; an assignment to `exports` is, wherever it stands.
            if how in ("named", "declared", "default", "star") and self._scope_at(node.start_byte):
                continue
            if node.start_byte in whole and how in ("default", "declared", "module_exports"):
                continue
            if how == "declared":
                made += self._declared_exports(node, bound)
                continue
            if how in ("default", "module_exports"):
                whole.add(node.start_byte)
            names = captures.get("alias") or captures.get("exported") or [node]
            local = self._text_of(captures, "exported").strip(_QUOTES)
            source = self._text_of(captures, "source").strip(_QUOTES)
            name = self._node_text(names[0]).strip(_QUOTES)
            if how in ("default", "module_exports"):
                name = "default"
            elif how == "star":
                local, name = "*", name if "alias" in captures else "*"
            elif how == "all":
                local = name
            known_as = None if local == name else local
            made.append(Export(name=name, known_as=known_as, source=source, evidence=how, at=names[0].start_byte))
        made.sort(key=lambda export: export.at)
        return made

    def _declared_exports(self, node: tree_sitter.Node, bound: Sequence[tuple[int, str]]) -> list[Export]:
        """What a declaration binds in the file."""
        among = bound[bisect_left(bound, (node.start_byte, "")) : bisect_left(bound, (node.end_byte, ""))]
        return [Export(name=name, known_as=None, source="", evidence="declared", at=at) for at, name in among]

    def _text_of(self, captures: Captures, name: str) -> str:
        nodes = captures.get(name)
        return self._node_text(nodes[0]) if nodes else ""

    def _node_text(self, node: tree_sitter.Node) -> str:
        return self._decode(node.start_byte, node.end_byte)

    def _decode(self, start: int, end: int) -> str:
        text = self._text[start:end]
        return text[:_MAX_NAME].decode("utf-8", "replace")


def _hash(text: bytes) -> str:
    return xxhash.xxh3_64_hexdigest(b" ".join(text.split()))[:8]


def _lines(text: bytes, names: list[int], ends: list[int]) -> tuple[list[int], list[int], list[int]]:
    """The lines of names, from 1, their columns in bytes, from 0, and the lines of ends."""
    if not names:
        return [], [], []
    # Lines are counted here: in tree-sitter 0.26 the numbers of a Point are freed under their reader.
    breaks = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == 10)
    places = np.array(names + ends)
    above, count = breaks.searchsorted(places), len(names)
    # Of the first line the one above is the last entry: -1, before the text.
    columns = places[:count] - np.append(breaks, -1)[above[:count] - 1] - 1
    lines = (above + 1).tolist()
    return lines[:count], columns.tolist(), lines[count:]


def _spans(found: list[tuple[int, int]]) -> bytes:
    return pack_spans(sorted(found, key=_start))
