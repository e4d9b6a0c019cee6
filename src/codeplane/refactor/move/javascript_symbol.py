"""Planning of moves of a function, class, constant or type to another JavaScript or TypeScript module."""

import posixpath
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codeplane.code.entity import Bound
from codeplane.code.languages.expression import receiver
from codeplane.code.languages.javascript.config import join_path
from codeplane.code.languages.javascript.modules import JavaScriptModules
from codeplane.code.languages.registry import languages
from codeplane.code.model import REASONS, Facts
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import InvalidArgument, NameTaken, NotRefactorable
from codeplane.refactor.draft import Coverage, Danger, Draft, Edit, NewFile, Role
from codeplane.refactor.move.javascript_cut import ScriptCut, cut_script_symbol
from codeplane.refactor.move.javascript_importers import ScriptImporters
from codeplane.refactor.move.javascript_statement import (
    ModuleStatement,
    Specifier,
    end_statement,
    module_statements,
    quote_source,
    remove_names,
)
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.span import Span, line_end, line_start, past_newline
from codeplane.refactor.move.specifiers import is_relative, make_specifier, rewrite_specifier
from codeplane.refactor.move.top_statements import with_blank_lines

_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_IMPORTED = REASONS.index("IMPORT_ALIAS")
_IMPLICIT = frozenset({"React", "h", "jsx"})


def plan_javascript_symbol(world: World, store: FactStore, bound: Bound, to_path: str, *, deadline: float) -> Draft:
    """Plan the move: the text, its dependencies, what stays in the old module, and every importer."""
    facts, text = world.facts(bound.file), world.text(bound.file)
    assert facts is not None
    language = languages().of(to_path)
    if language is None or not language.names.aliases_exports:
        raise InvalidArgument(
            f"{path_text(to_path)} is no JavaScript or TypeScript file", hint="name a file such as a.ts"
        )
    if world.language(facts).contract.typed and not language.contract.typed:
        raise InvalidArgument(f"{path_text(to_path)} cannot hold TypeScript", hint="name a file that ends in .ts")
    modules = world.modules(facts)
    assert isinstance(modules, JavaScriptModules)
    made = _Symbol(
        world, store, bound, to_path, modules, cut_script_symbol(bound, facts, text, world.language(facts).grammar)
    )
    made.plan(facts, text, deadline)
    return Draft(
        title=f"move {bound.name} to {to_path}",
        word=bound.name,
        edits=tuple(sorted(made.edits, key=lambda edit: (edit.path, edit.start, edit.end))),
        creates=tuple(made.creates),
        dangers=tuple(made.dangers),
        coverage=Coverage(files_scanned=made.scanned, truncated=made.late, families=("javascript",)),
    )


@dataclass(slots=True)
class _Symbol:
    world: World
    store: FactStore
    bound: Bound
    to_path: str
    modules: JavaScriptModules
    cut: ScriptCut
    edits: list[Edit] = field(default_factory=list)
    creates: list[NewFile] = field(default_factory=list)
    dangers: list[Danger] = field(default_factory=list)
    scanned: int = 0
    late: str = ""
    _as_moved: Relocation = field(init=False)
    _beside: Relocation = field(init=False)
    _resolver: Resolver = field(init=False)

    def __post_init__(self) -> None:
        self._resolver = Resolver(self.world)
        # Sources of the old module are rewritten as if it had moved; paths between the two need both to exist.
        self._as_moved = Relocation(
            self.world, {self.bound.file: self.to_path}, root=self.bound.file, new_root=self.to_path
        )
        self._beside = Relocation(self.world, {}, root=self.to_path, new_root=self.to_path)
        self._beside.created = (self.to_path,)

    def plan(self, facts: Facts, text: bytes, deadline: float) -> None:
        """Find all edits."""
        there = self.world.facts(self.to_path)
        if self.to_path in self.world.snapshot.files and (there is None or there.errors):
            raise NotRefactorable(f"{path_text(self.to_path)} does not parse", hint="fix its syntax first")
        self._refuse_destination(there)
        old = module_statements(text, self.world.language(facts).grammar)
        needed, from_old, brought = self._needs(facts, text, old, there)
        stays = self._stays(facts, text)
        self._edit_old_module(facts, text, old, stays, from_old, brought)
        self._edit_new_module(text, needed, from_old, exported=bool(self.cut.exported) or bool(stays))
        if stays and from_old:
            what = f"{self.bound.file} and {self.to_path} import each other"
            self.dangers.append(Danger(kind="import_cycle", what=what, path=self.bound.file, offset=stays[0]))
        importers = ScriptImporters(self.world, self.bound, self.to_path, self.modules, self.cut, self._resolver)
        for path in importers.candidates(self.store):
            if time.monotonic() > deadline:
                self.late = f"time ran out before {path}"
                return
            self.scanned += 1
            edits, dangers = importers.plan(path)
            self.edits += edits
            self.dangers += dangers

    def _add_edit(self, path: str, span: Span, role: Role, why: str, tier: Tier = "STRONG") -> None:
        self.edits.append(Edit(path=path, start=span.start, end=span.end, new=span.new, tier=tier, role=role, why=why))

    def _refuse_destination(self, there: Facts | None) -> None:
        if there is None:
            return
        text = self.world.text(self.to_path)
        for row in there.rows_by_binding.get((0, self.bound.name), []):
            target = there.bind_target(row)
            if there.bind_reason(row) == _IMPORTED and self.modules.find(
                there.imports[target].source, self.to_path
            ) == (self.bound.file,):
                continue
            self._refuse_taken(text, there.bind_at(row), f"has a {self.bound.name} already")
        if "default" in self.cut.exported:
            for export in there.exports:
                if export.name == "default":
                    self._refuse_taken(text, export.at, "has a default export already")

    def _refuse_taken(self, text: bytes, at: int, why: str) -> None:
        line, column = text.count(b"\n", 0, at) + 1, at - line_start(text, at) + 1
        raise NameTaken(
            f"{path_text(self.to_path)}:{line} {why}",
            details={"places": [{"path": self.to_path, "line": line, "column": column, "why": why}]},
        )

    def _needs(
        self, facts: Facts, text: bytes, old: Sequence[ModuleStatement], there: Facts | None
    ) -> tuple[list[str], list[str], list[tuple[ModuleStatement, Specifier | None]]]:
        """Return imports for the new module, names it imports from the old one, and the old imports that were used."""
        used: dict[str, None] = {}
        for piece in self.cut.pieces:
            for match in _NAME.finditer(text, piece.start, piece.end):
                at, name = match.start(), match[0].decode("utf-8", "replace")
                if name == self.bound.name or facts.in_text(at) or at in facts.labels:
                    continue
                if receiver(text, at, facts.in_text) != ():
                    continue
                if self._resolver.lexical(self.bound.file, facts, at, name) == Bound(self.bound.file, 0, name):
                    used[name] = None
        needed: list[str] = []
        from_old: list[str] = []
        brought: list[tuple[ModuleStatement, Specifier | None]] = []
        for name in used:
            rows = facts.rows_by_binding.get((0, name), [])
            if not any(facts.bind_reason(row) == _IMPORTED for row in rows):
                self._is_free(there, name)
                from_old.append(name)
                continue
            found = _brings(old, name)
            if found is None:
                raise NotRefactorable(
                    f"{self.bound.name} uses {name}, which {path_text(self.bound.file)} gets by require",
                    hint="import it with an import statement first",
                )
            given, specifier = found
            brought.append(found)
            module = self.modules.find(given.source, self.bound.file)
            if module == (self.to_path,):
                continue
            source = self._new_source(given.source, module)
            if self._has(there, given, specifier, name, module) or not self._is_free(there, name):
                continue
            word = "import type" if given.is_type else "import"
            inner = f"{{ {specifier.text} }}" if specifier else name if name == given.default else f"* as {name}"
            needed.append(f"{word} {inner} from {quote_source(text, source)}")
        return needed, from_old, brought

    def _new_source(self, source: str, module: Sequence[str]) -> str:
        if len(module) == 1:
            return rewrite_specifier(self._as_moved, source, self.bound.file, module[0]) or source
        if not is_relative(source):
            return source
        # Styles, images and files that do not exist are also imported by their paths.
        path = join_path(posixpath.dirname(self.bound.file), source)
        found = posixpath.relpath(path or ".", posixpath.dirname(self.to_path) or ".")
        return found if found.startswith(".") else f"./{found}"

    def _has(
        self, there: Facts | None, given: ModuleStatement, specifier: Specifier | None, name: str, module: Sequence[str]
    ) -> bool:
        """Whether the destination already imports the same."""
        imported = specifier.name if specifier else "default" if name == given.default else ""
        for import_ in there.imports if there is not None else ():
            same = (
                import_.source == given.source
                if not module
                else self.modules.find(import_.source, self.to_path) == module
            )
            if same and import_.local == name and (import_.imported == imported or not imported):
                return True
        return False

    def _is_free(self, there: Facts | None, name: str) -> bool:
        rows = there.rows_by_binding.get((0, name), []) if there is not None else []
        if there is None or not rows:
            return True
        known = self._resolver.meaning(Bound(self.to_path, 0, name))
        if known == self._resolver.meaning(Bound(self.bound.file, 0, name)) and known:
            return False
        self._refuse_taken(self.world.text(self.to_path), there.bind_at(rows[0]), f"has another {name}")
        return False

    def _stays(self, facts: Facts, text: bytes) -> list[int]:
        listed = [
            (statement.start, statement.end)
            for statement in module_statements(text, self.world.language(facts).grammar)
        ]
        return [
            at
            for at in occurrences(text, self.bound.name)
            if not any(piece.begin <= at < piece.until for piece in self.cut.pieces)
            and not any(start <= at < end for start, end in listed)
            and not facts.in_text(at)
            and at not in facts.labels
            and receiver(text, at, facts.in_text) == ()
            and self._resolver.lexical(self.bound.file, facts, at, self.bound.name) == self.bound
        ]

    def _edit_old_module(
        self,
        facts: Facts,
        text: bytes,
        old: Sequence[ModuleStatement],
        stays: Sequence[int],
        from_old: Sequence[str],
        brought: Sequence[tuple[ModuleStatement, Specifier | None]],
    ) -> None:
        path, name = self.bound.file, self.bound.name
        for piece in self.cut.pieces:
            start, end = with_blank_lines(text, piece.begin, piece.until)
            self._add_edit(path, Span(start=start, end=end), "DEFINITION", "it goes", "PROVEN")
        for given in old:
            gone = [
                specifier
                for specifier in given.specifiers
                if given.is_export and not given.source and specifier.name == name
            ]
            if gone:
                for span in remove_names(text, given, gone):
                    self._add_edit(path, span, "EXPORT", "no longer of this module")
        if stays:
            self._add_edit(
                path, self._add_imports(path, [self._statement(path, name, name)]), "IMPORT", "still used here"
            )
        for old_name in from_old:
            self._export(facts, text, old_name)
        going: dict[ModuleStatement, list[Specifier]] = {}
        for given, specifier in brought:
            local = specifier.local if specifier else given.default or given.namespace
            spans = [(statement.start, statement.end) for statement in old]
            left = [
                at
                for at in occurrences(text, local)
                if not any(piece.begin <= at < piece.until for piece in self.cut.pieces)
                and not any(start <= at < end for start, end in spans)
            ]
            if any(not facts.in_text(at) for at in left):
                continue
            if left or local in _IMPLICIT or specifier is None:
                what = f"{local} may not be needed in {path} any more"
                self.dangers.append(Danger(kind="unused_import", what=what, path=path, offset=given.start))
            else:
                going.setdefault(given, []).append(specifier)
        for given, gone in going.items():
            for span in remove_names(text, given, gone):
                self._add_edit(path, span, "IMPORT", "only what went used it")

    def _export(self, facts: Facts, text: bytes, name: str) -> None:
        """Export from the old module what the moved text still uses."""
        if any(not export.source and export.local == name and export.name == name for export in facts.exports):
            return
        for index in facts.definitions_by_binding.get((0, name), []):
            start = line_start(text, facts.definitions[index].name_at)
            if _DECLARATION.match(text, start):
                self._add_edit(
                    self.bound.file, Span(start=start, end=start, new="export "), "EXPORT", "used by what went"
                )
                return
        what = f"{name} is used by what goes, and {self.bound.file} does not export it"
        self.dangers.append(Danger(kind="not_exported", what=what, path=self.bound.file))

    def _edit_new_module(self, text: bytes, needed: list[str], from_old: Sequence[str], *, exported: bool) -> None:
        body = "".join(self._moved_code(text, exported=exported))
        aliases = [name for name in self.cut.exported if not self.cut.declared and name != self.bound.name]
        if aliases:
            body += "".join(f"export {{ {self.bound.name} as {alias} }};\n" for alias in aliases)
        if from_old:
            facts = self.world.facts(self.bound.file)
            like = (
                next((import_.source for import_ in facts.imports if is_relative(import_.source)), "") if facts else ""
            )
            source = make_specifier(self._beside, self.to_path, self.bound.file, like)
            needed = [
                *needed,
                f"import {{ {', '.join(from_old)} }} from {quote_source(text, source or self.bound.file)}",
            ]
        needed = [end_statement(text, statement) for statement in needed]
        if self.to_path not in self.world.snapshot.files:
            head = "".join(f"{statement}\n" for statement in needed) + ("\n" if needed else "")
            self.creates.append(NewFile(path=self.to_path, content=head + body))
            return
        there = self.world.text(self.to_path)
        gap = ("" if not there or there.endswith(b"\n") else "\n") + ("\n" if there.strip() else "")
        end = Span(start=len(there), end=len(there), new=gap + body)
        if needed:
            span = self._add_imports(self.to_path, needed)
            if span.start == len(there):
                end = Span(start=len(there), end=len(there), new=span.new + "\n" + body)
            else:
                self._add_edit(self.to_path, span, "IMPORT", "what came along needs it")
        self._add_edit(self.to_path, end, "DEFINITION", "it comes", "PROVEN")

    def _moved_code(self, text: bytes, *, exported: bool) -> Iterator[str]:
        for piece in self.cut.pieces:
            code = text[piece.begin : piece.until].decode("utf-8", "replace").replace("\r\n", "\n")
            if exported and not self.cut.declared:
                head = len(text[piece.begin : piece.start].decode("utf-8", "replace").replace("\r\n", "\n"))
                code = f"{code[:head]}export {code[head:]}"
            yield code if code.endswith("\n") else f"{code}\n"

    def _statement(self, path: str, name: str, local: str) -> str:
        """Return the import of the symbol for a file that had none."""
        facts, text, style = self.world.facts(path), self.world.text(path), self.world.text(self.bound.file)
        like = next((import_.source for import_ in facts.imports if is_relative(import_.source)), "") if facts else ""
        source = make_specifier(self._beside, path, self.to_path, like) or self.to_path
        if "default" in self.cut.exported:
            return end_statement(style, f"import {local} from {quote_source(text, source)}")
        named = name if name == local else f"{name} as {local}"
        word = "import type" if self.cut.is_type and facts and self.world.language(facts).contract.typed else "import"
        return end_statement(style, f"{word} {{ {named} }} from {quote_source(text, source)}")

    def _add_imports(self, path: str, statements: Sequence[str]) -> Span:
        """Return the span that adds imports after those of a file."""
        text, facts = self.world.text(path), self.world.facts(path)
        assert facts is not None
        last = [
            statement
            for statement in module_statements(text, self.world.language(facts).grammar)
            if not statement.is_export
        ]
        code = "".join(f"{statement}\n" for statement in statements)
        if last:
            at = past_newline(text, line_end(text, last[-1].end))
            if at == len(text) and not text.endswith(b"\n"):
                return Span(start=at, end=at, new="\n" + code)
            return Span(start=at, end=at, new=code)
        head = _HEAD.match(text)
        at = head.end() if head else 0
        return Span(start=at, end=at, new=f"{code}\n" if text[at:].strip() else code)


_HEAD = re.compile(rb"(?:#![^\n]*\n)?(?:\s*(?:['\"]use [a-z]+['\"];?[ \t]*\r?\n))*")
_DECLARATION = re.compile(
    rb"(?:async\s+)?(?:function|class|const|let|var|type|interface|enum|abstract\s+class|declare)\b"
)


def _brings(old: Sequence[ModuleStatement], name: str) -> tuple[ModuleStatement, Specifier | None] | None:
    """Return the import of a name."""
    for given in old:
        if given.is_export:
            continue
        for specifier in given.specifiers:
            if specifier.local == name:
                return given, specifier
        if name in (given.default, given.namespace):
            return given, None
    return None
