"""Finds what the statements `with` and `for` bind to names."""

from abc import ABC
from collections.abc import Iterator

from codeplane.code.entity import Bound, Entity, Instance, Outside
from codeplane.code.languages.expression import says_type
from codeplane.code.languages.python.context_managers import Entered, entered_context, returns_self, yielded_class
from codeplane.code.languages.python.evidence import is_property
from codeplane.code.languages.python.iteration import ItemType, Loop, declared_items, loop_of, returned_items
from codeplane.code.model import Facts
from codeplane.code.resolve.assignment_places import says_nothing
from codeplane.code.resolve.values import FIELDS, FUNCTIONS, Values


class StatementValues(Values, ABC):
    """Resolves values of names that statements bind: by what entering and iterating are declared to give."""

    def _given_by_statement(self, path: str, facts: Facts, text: bytes, end: int) -> tuple[Entity | None] | None:
        context = entered_context(text, end, facts.in_text)
        if context is not None:
            return (self._entered_value(path, facts, context),)
        loop = loop_of(text, end)
        return (self._item(path, facts, loop),) if loop is not None else None

    def _entered_value(self, path: str, facts: Facts, context: Entered) -> Entity | None:
        """Return what a `with` statement binds to a name: what entering the context manager gives."""
        manager, passed_over = self._owner(path, facts, context.steps, context.end)
        if isinstance(manager, Instance) and not passed_over:
            enter, certain = self.member(manager.of, "__aenter__" if context.is_async else "__enter__")
            if enter is None or not certain:
                return None
            if self._returns_self(enter, is_async=context.is_async):
                return manager
            return self._returned_value(enter, called=True, awaited=context.is_async)
        called = self._callee(path, facts, context.steps) if manager is None and context.steps[-1].called else None
        there = self._world.facts(called.file) if isinstance(called, Bound) else None
        if not isinstance(called, Bound) or there is None or self.is_rebound(called, there):
            return None
        own = [(called.file, there, index) for index, _ in self.definitions(called)]
        found: set[Entity | None] = set()
        for file, known, index in (*own, *self._overriding_methods(called, there)):
            chain = yielded_class(self._world.text(file), known.definitions[index], is_async=context.is_async)
            found.add(self._class_named(file, known, chain) if chain else None)
        return found.pop() if len(found) == 1 else None

    def _item(self, path: str, facts: Facts, loop: Loop) -> Entity | None:
        """Return what a loop binds to a name: the items that an annotation declares for what it goes through."""
        through = self._callee(path, facts, loop.steps)
        there = self._world.facts(through.file) if isinstance(through, Bound) else None
        if not isinstance(through, Bound) or there is None or self._is_class(through):
            return None
        found: set[Entity | None] = set()
        for file, known, items in self._item_types(through, there, loop):
            is_known = items is not None and not self._is_own_container(file, known, items)
            found.add(self._class_named(file, known, items.item) if items is not None and is_known else None)
        return found.pop() if len(found) == 1 else None

    def _is_own_container(self, path: str, facts: Facts, items: ItemType) -> bool:
        """Whether a container is a class of this repository that is merely called like one of Python's."""
        written, at = items.container
        first = written.partition(b".")[0].decode("utf-8", "replace")
        return any(
            not isinstance(entity, Outside) for entity in self.resolve_plain_name(path, facts, at, first).entities
        )

    def _item_types(self, of: Bound, facts: Facts, loop: Loop) -> Iterator[tuple[str, Facts, ItemType | None]]:
        """Yield what each declaration of a variable, member or function says of its items; None where it does not."""
        text, length = self._world.text(of.file), len(of.name.encode())
        definitions = self.definitions(of)
        called, of_values = loop.steps[-1].called, loop.of_values
        if any(definition.kind in FUNCTIONS for _, definition in definitions):
            reads = not self.is_rebound(of, facts)
            own = [(of.file, facts, index) for index, _ in definitions]
            for file, known, index in (*own, *self._overriding_methods(of, facts)) if reads else ():
                there, definition = self._world.text(file), known.definitions[index]
                plain = definition.kind in FUNCTIONS and is_property(there, definition) is not called
                yield file, known, returned_items(there, definition, of_values=of_values) if plain else None
            return
        if called:
            return
        places = [facts.bind_at(row) for row in facts.rows(of.scope, of.name)]
        places += [definition.name_at for _, definition in definitions if definition.kind in FIELDS]
        types = [(at, says_type(text, at + length)) for at in dict.fromkeys(places)]
        # The declared type of a member holds for all of its assignments.
        is_member = facts.scopes[of.scope].kind == "class"
        if not is_member and (self._set_elsewhere(of, facts) or any(True for _ in self._assignments.to_module(of))):
            return
        for at, is_declared in types:
            if text[at - 1 : at] == b"*":
                yield of.file, facts, None
            elif is_declared or not (is_member or says_nothing(text, at + length)):
                yield of.file, facts, declared_items(text, at + length, of_values=of_values)

    def _returns_self(self, method: Bound, *, is_async: bool) -> bool:
        """Whether a method and all that override it return the instance they are called on."""
        facts = self._world.facts(method.file)
        if facts is None or self.is_rebound(method, facts):
            return False
        own = [(method.file, facts, index) for index, _ in self.definitions(method)]
        return bool(own) and all(
            returns_self(there, self._world.text(path), index, is_async=is_async)
            for path, there, index in (*own, *self._overriding_methods(method, facts))
        )
