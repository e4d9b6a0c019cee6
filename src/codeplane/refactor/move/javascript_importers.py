"""JavaScript and TypeScript files that import a moved symbol."""

import re

from codeplane.code.entity import Bound
from codeplane.code.languages.expression import receiver
from codeplane.code.languages.javascript.modules import JavaScriptModules
from codeplane.code.languages.registry import languages
from codeplane.code.model import Facts
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import NotRefactorable
from codeplane.refactor.draft import Danger, Edit, Role
from codeplane.refactor.move.javascript_cut import ScriptCut
from codeplane.refactor.move.javascript_statement import (
    ModuleStatement,
    end_statement,
    module_statements,
    quote_source,
    remove_names,
)
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.span import Span, line_end, line_start, past_newline
from codeplane.refactor.move.specifiers import rewrite_specifier

_WORD = re.compile(r"[\w$]+")


class ScriptImporters:
    """Makes the edits of importing files."""

    def __init__(
        self, world: World, bound: Bound, to_path: str, modules: JavaScriptModules, cut: ScriptCut, resolver: Resolver
    ) -> None:
        self._world = world
        self._bound = bound
        self._to_path = to_path
        self._modules = modules
        self._cut = cut
        self._resolver = resolver
        # Sources of the old module are rewritten as if the whole module had moved.
        self._as_moved = Relocation(world, {bound.file: to_path}, root=bound.file, new_root=to_path)
        self._edits: list[Edit] = []
        self._dangers: list[Danger] = []

    def _add_edit(self, path: str, span: Span, role: Role, why: str) -> None:
        self._edits.append(
            Edit(path=path, start=span.start, end=span.end, new=span.new, tier="STRONG", role=role, why=why)
        )

    def _end_statement(self, statement: str) -> str:
        return end_statement(self._world.text(self._bound.file), statement)

    def candidates(self, store: FactStore) -> list[str]:
        """Return the files that may import from the old module."""
        steps = self._bound.file.split("/")
        stem = steps[-1].partition(".")[0]
        names = [stem] if stem != "index" else [stem, *steps[-2:-1]]
        found: set[str] = set()
        for name in names:
            words = _WORD.findall(name)
            found |= {path for path, _ in store.files_with(max(words, key=len))} if words else set()
        if stem == "index":
            home = "/".join(steps[:-1])
            found |= {path for path in self._world.snapshot.files if not home or path.startswith(f"{home}/")}
        known = languages()
        return sorted(
            path
            for path in found
            if path in self._world.snapshot.files
            and path != self._bound.file
            and (language := known.of(path)) is not None
            and language.names.aliases_exports
        )

    def plan(self, path: str) -> tuple[list[Edit], list[Danger]]:
        """Return the edits and dangers of one file."""
        self._edits, self._dangers = [], []
        facts = self._world.facts(path)
        if facts is not None:
            self._importer(path, facts)
        return self._edits, self._dangers

    def _importer(self, path: str, facts: Facts) -> None:
        sources = {import_.source for import_ in facts.imports} | {export.source for export in facts.exports}
        if not any(source and self._modules.find(source, path) == (self._bound.file,) for source in sources):
            return
        text = self._world.text(path)
        wanted = set(self._cut.exported)
        for given in module_statements(text, self._world.language(facts).grammar):
            if not given.source or self._modules.find(given.source, path) != (self._bound.file,):
                continue
            source = rewrite_specifier(self._as_moved, given.source, path, self._bound.file)
            if source is None:
                what = f"{given.source} cannot be written so that it leads to {self._to_path}"
                self._dangers.append(Danger(kind="unresolved_import", what=what, path=path, offset=given.start))
                continue
            self._redirect_specifiers(path, facts, text, given, source, wanted)
        for import_ in facts.imports:
            if import_.kind in ("js_require", "js_dynamic_import") and self._modules.find(import_.source, path) == (
                self._bound.file,
            ):
                what = f"{path} takes {self._bound.file} by {import_.kind.removeprefix('js_')}"
                self._dangers.append(Danger(kind="commonjs_import", what=what, path=path, offset=import_.at))

    def _redirect_specifiers(
        self, path: str, facts: Facts, text: bytes, given: ModuleStatement, source: str, wanted: set[str]
    ) -> None:
        moving = [specifier for specifier in given.specifiers if specifier.name in wanted]
        takes_default = bool(given.default) and "default" in wanted
        if given.star and not given.namespace:
            names = sorted(wanted - {"default"})
            if names:
                word = "export type" if self._cut.is_type else "export"
                code = self._end_statement(f"{word} {{ {', '.join(names)} }} from {quote_source(text, source)}")
                at = past_newline(text, line_end(text, given.end))
                self._add_edit(
                    path, Span(start=at, end=at, new=f"{code}\n"), "EXPORT", "the module it passes on lost it"
                )
        if given.namespace and not given.is_export:
            self._replace_namespace_uses(path, facts, text, given, source)
        if not moving and not takes_default:
            return
        if path == self._to_path:
            if any(specifier.local != self._bound.name for specifier in moving) or (
                takes_default and given.default != self._bound.name
            ):
                raise NotRefactorable(
                    f"{path_text(path)} knows {self._bound.name} by another name",
                    hint="let it use the name itself first",
                )
            if takes_default and not given.specifiers:
                end = past_newline(text, line_end(text, given.end))
                self._add_edit(path, Span(start=line_start(text, given.start), end=end), "IMPORT", "declared here now")
            for span in remove_names(text, given, moving) if moving else ():
                self._add_edit(path, span, "IMPORT", "declared here now")
            return
        rest = [specifier for specifier in given.specifiers if specifier not in moving]
        if not rest and bool(given.default) == takes_default and not given.namespace:
            span = Span(start=given.source_start, end=given.source_end, new=source)
            self._add_edit(path, span, "IMPORT", f"{self._bound.name} is in {source} now")
            return
        word = ("export" if given.is_export else "import") + (" type" if given.is_type else "")
        inner = [given.default] if takes_default else []
        inner += [f"{{ {', '.join(specifier.text for specifier in moving)} }}"] if moving else []
        code = self._end_statement(f"{word} {', '.join(inner)} from {quote_source(text, source)}")
        if takes_default:
            start = text.index(given.default.encode(), given.start)
            opened = text.find(b"{", start, given.source_start)
            self._add_edit(
                path, Span(start=start, end=opened if opened > 0 else start), "IMPORT", "in another module now"
            )
        for span in remove_names(text, given, moving) if moving else ():
            self._add_edit(path, span, "IMPORT", "in another module now")
        at = past_newline(text, line_end(text, given.end))
        new = f"\n{code}" if at == len(text) and not text.endswith(b"\n") else f"{code}\n"
        self._add_edit(path, Span(start=at, end=at, new=new), "IMPORT", "imported from its new place")

    def _replace_namespace_uses(
        self, path: str, facts: Facts, text: bytes, given: ModuleStatement, source: str
    ) -> None:
        """Replace `old.X` of `import * as old` by an import of X."""
        name = self._bound.name
        if name not in self._cut.exported:
            return
        places = []
        for at in occurrences(text, name):
            steps = receiver(text, at, facts.in_text)
            if steps and len(steps) == 1 and steps[0].name == given.namespace and not facts.in_text(at):
                own = self._resolver.lexical(path, facts, steps[0].at, given.namespace)
                if own == Bound(path, 0, given.namespace):
                    places.append((steps[0].at, at))
        if not places:
            return
        if name in facts.bind_names:
            what = f"{given.namespace}.{name} needs an import of {name}, which is taken here"
            self._dangers.append(Danger(kind="name_taken", what=what, path=path, offset=places[0][0]))
            return
        for start, at in places:
            self._add_edit(path, Span(start=start, end=at), "REFERENCE", f"{name} is in {source} now")
        if path != self._to_path:
            code = self._end_statement(f"import {{ {name} }} from {quote_source(text, source)}")
            at = past_newline(text, line_end(text, given.end))
            self._add_edit(path, Span(start=at, end=at, new=f"{code}\n"), "IMPORT", "imported from its new place")
