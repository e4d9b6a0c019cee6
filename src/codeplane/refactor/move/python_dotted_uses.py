"""Dotted names in a Python file that lead to a moved module."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.code.entity import Module
from codeplane.code.languages.expression import receiver
from codeplane.code.model import Facts, Import
from codeplane.code.resolve.occurrences import occurrences
from codeplane.refactor.move.module_names import absolute_name, module_parts, parent_package, root_of
from codeplane.refactor.move.python_file_draft import PythonFileDraft
from codeplane.refactor.move.python_statement import Statement
from codeplane.refactor.move.span import Span


@dataclass(slots=True)
class DottedUses:
    """Rewrites dotted names that lead to what moves: `a.b.c` in `a.b.c.x`."""

    draft: PythonFileDraft

    def rewrite(
        self,
        facts: Facts,
        text: bytes,
        statements: Sequence[tuple[Statement, list[Import]]],
    ) -> None:
        """Rewrite all of them; `statements` are the imports that may change."""
        stem = self.draft.moved.stem
        goal = Module(self.draft.moved.module)
        for at in occurrences(text, stem):
            if facts.in_text(at) or self.draft.in_import(at):
                continue
            steps = receiver(text, at, facts.in_text)
            meaning = self.draft.resolver.at(self.draft.path, at, stem)
            if steps == () and meaning.own is None and goal in meaning.entities and at not in facts.labels:
                self.draft.warn(
                    "unresolved_use", f"{stem} is what moves, and comes with everything of another module", at
                )
            if not steps:
                continue
            if goal not in meaning.entities:
                near = module_parts(self.draft.moved.module)[-2:-1] == [steps[-1].name]
                if not meaning.entities and (near or self._may_have(steps[-1].at, steps[-1].name)):
                    self.draft.warn("unresolved_use", f"{steps[-1].name}.{stem} may lead to what moves", at)
                continue
            sure = meaning.entities == (goal,) and not any(step.called for step in steps)
            end = at + len(stem.encode())
            own = self.draft.resolver.lexical(self.draft.path, facts, steps[0].at, steps[0].name)
            rows = [] if own is None else facts.rows(own.scope, own.name)
            targets = [facts.bind_target(row) for row in rows]
            bound_by = [facts.imports[target] for target in targets if target < len(facts.imports)]
            dotted = ".".join([*(step.name for step in steps), stem])
            whole = bool(bound_by) and all(not import_.imported and not import_.alias for import_ in bound_by)
            if whole and (found := self.draft.world.python().find(dotted, self.draft.path)) == (
                self.draft.moved.module,
            ):
                new = absolute_name(
                    self.draft.relocation, self.draft.moved.new_module, self.draft.new_path, root_of(dotted, found[0])
                )
                start = steps[0].at
            elif self._stays_below(steps[-1].at, steps[-1].name):
                new, start = self.draft.moved.new_stem, at
            else:
                new = absolute_name(self.draft.relocation, self.draft.moved.new_module, self.draft.new_path, None)
                start = steps[0].at
            if new is None:
                self.draft.warn("unresolved_import", f"nothing leads to {self.draft.moved.new_module}", at)
                continue
            if new == text[start:end].decode("utf-8", "replace"):
                continue
            if not sure:
                self.draft.put(Span(start=start, end=end, new=new), "UNKNOWN", "REFERENCE", "may lead to what moves")
                continue
            if start != at:
                if not self._ensure_imported(new, facts, text, dotted, statements, bound_by):
                    self.draft.put(
                        Span(start=start, end=end, new=new), "UNKNOWN", "REFERENCE", "its new name is taken here"
                    )
                    continue
                self.draft.rewritten.add(start)
            self.draft.put(Span(start=start, end=end, new=new), "STRONG", "REFERENCE", f"{dotted} is what moves")

    def _may_have(self, at: int, name: str) -> bool:
        """Whether a name may be a module that has what moves."""
        meant = self.draft.resolver.at(self.draft.path, at, name).entities
        modules = [entity.path for entity in meant if isinstance(entity, Module)]
        return any(
            Module(self.draft.moved.module) in self.draft.resolver.export(module, self.draft.moved.stem)
            for module in modules
        )

    def _stays_below(self, at: int, name: str) -> bool:
        """Whether the package before the moved module's name still contains it."""
        meant = self.draft.resolver.at(self.draft.path, at, name).entities
        parent = parent_package(self.draft.relocation, self.draft.moved.new_module)
        return len(meant) == 1 and isinstance(meant[0], Module) and self.draft.relocation.path(meant[0].path) == parent

    def _ensure_imported(
        self,
        new: str,
        facts: Facts,
        text: bytes,
        dotted: str,
        statements: Sequence[tuple[Statement, list[Import]]],
        bound_by: Sequence[Import],
    ) -> bool:
        """Ensure that a dotted name is imported, by a present statement or a new one; return whether it is."""
        for statement, _ in statements:
            for item in statement.items if not statement.is_from else ():
                if not item.alias and (item.name == dotted or item.name.startswith(f"{dotted}.")):
                    # Rewriting the statement has reported whether the name is taken.
                    return not any(
                        danger.kind == "name_taken" and danger.path == self.draft.path for danger in self.draft.dangers
                    )
        top = new.partition(".")[0]
        if top == dotted.partition(".")[0] and all(not import_.imported and not import_.alias for import_ in bound_by):
            return True
        if self.draft.is_taken(facts, text, top, self.draft.moved.new_module):
            self.draft.warn("name_taken", f"{top} is already something else where {new} is needed", bound_by[0].at)
            return False
        if not bound_by:
            return False
        first = next((statement for statement, _ in statements if statement.start == bound_by[0].at), None)
        if first is None:
            return False
        added = self.draft.added.setdefault((first.start, first.end), [])
        if f"import {new}" not in added:
            added.append(f"import {new}")
        return True
