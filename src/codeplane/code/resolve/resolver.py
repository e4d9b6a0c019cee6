"""Resolves a name at a place to its meaning, without guessing; a result that is not certain is marked so."""

import re
from collections.abc import Mapping, Sequence

from codeplane.code.entity import Bound, Entity, Instance, Meaning, Module, Outside, Side
from codeplane.code.languages.expression import Step, is_reached, receiver
from codeplane.code.languages.javascript.exports import exported_places
from codeplane.code.languages.javascript.results import copied_function
from codeplane.code.languages.javascript.this_binding import class_of_this, in_static
from codeplane.code.languages.member_resolver import CodeView, MemberResolver, Relatives
from codeplane.code.languages.member_resolvers import MEMBER_RESOLVERS
from codeplane.code.languages.modules import Modules
from codeplane.code.languages.outside_packages import gives_its_own
from codeplane.code.languages.python.evidence import binding_before, decorators, module_before
from codeplane.code.languages.python.narrowing import narrowings
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import REASONS, Definition, Export, Facts, Import
from codeplane.code.resolve.assignments import Assignments
from codeplane.code.resolve.classes import VARIABLES
from codeplane.code.resolve.replaced_file import ReplacedFile
from codeplane.code.resolve.statement_values import StatementValues
from codeplane.code.resolve.syntax_trees import SyntaxTrees
from codeplane.code.resolve.world import World

_PARAM, _IMPORT = REASONS.index("PARAM"), REASONS.index("IMPORT_ALIAS")
_BEHIND = re.compile(rb"\s*\(\s*([\w\x80-\xff.]+(?:\([^)]*\))?)")

_UNKNOWN = Meaning(entities=(), certain=False, how="name")
_MAX_NAMED = 5_000

# The owner of a chain's last member depends on these: its scope, its names, and the binding that reaches it.
_Chain = tuple[int, bool, tuple[tuple[str, bool], ...], int]


class Resolver(StatementValues):
    """Resolves names and members within one world, and caches the results."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._defined: dict[str, Mapping[int, Definition]] = {}
        self._given: dict[str, Mapping[int, Export]] = {}
        self._owners: dict[str, dict[_Chain, tuple[Entity | None, bool]]] = {}
        self._assignments = Assignments(world, self)
        self.syntax = SyntaxTrees(world)
        self._member_resolvers: dict[str, MemberResolver] = {}

    def at(self, path: str, offset: int, name: str) -> Meaning:
        """Return the meaning of the name at a place in a file."""
        facts = self._world.facts(path)
        assert facts is not None
        typed = self._members_of(facts)
        if typed is not None and (found_by_type := typed.meaning(path, facts, offset, name)) is not None:
            return found_by_type
        index = facts.imported_at.get(offset)
        if index is not None:
            import_ = facts.imports[index]
            found = self.resolve_import(path, facts, import_)
            certain = bool(found) and not self.guesses(path, facts, import_)
            typed = self._members_of(facts) if not found else None
            if typed is not None and (found_by_type := typed.meaning(path, facts, offset, name)) is not None:
                return found_by_type
            return Meaning(entities=found, certain=certain, how="import")
        text = self._world.text(path)
        rules = LANGUAGES[facts.language].names
        if rules.dotted_modules and (before := module_before(text, offset)) is not None:
            modules = tuple(map(Module, self._world.python().find(f"{before}{name}", path)))
            return Meaning(entities=modules or (Outside(name),), certain=True, how="import")
        if facts.exports and not rules.lists_exports:
            given = self._given.get(path)
            if given is None:
                given = self._given[path] = exported_places(facts, text)
            if offset in given:
                return self._meaning_of_export(path, facts, given[offset])
        if facts.is_label(offset):
            return Meaning(entities=(), certain=False, how="label")
        steps = receiver(text, offset, facts.in_text)
        if steps == () and not is_reached(rules.unfollowed_operators, text, offset):
            return self.resolve_plain_name(path, facts, offset, name)
        if not steps:
            return Meaning(entities=(), certain=False, how="member")
        return self._member(path, facts, steps, offset, name)

    def resolve_import(self, path: str, facts: Facts, import_: Import) -> tuple[Entity, ...]:
        """Return what an import brings."""
        typed = self._members_of(facts)
        found = typed.resolve_import(path, facts, import_) if typed is not None else None
        return super().resolve_import(path, facts, import_) if found is None else found

    def guesses(self, path: str, facts: Facts, import_: Import) -> bool:
        """Whether an import may mean something else than what is found."""
        typed = self._members_of(facts)
        return (typed is not None and typed.is_guess(path, facts, import_)) or super().guesses(path, facts, import_)

    def _in_package(self, path: str, facts: Facts, name: str) -> tuple[Entity, ...]:
        typed = self._members_of(facts)
        found = typed.top_level(path, facts, name) if typed is not None else None
        return found if found is not None else super()._in_package(path, facts, name)

    def has_typed_members(self, facts: Facts) -> bool:
        """Whether members in a file are resolved by declared types."""
        return self._members_of(facts) is not None

    def relatives(self, member: Bound) -> Relatives | None:
        """Return the members that are renamed with one; None if the language does not resolve members by types."""
        facts = self._world.facts(member.file)
        typed = self._members_of(facts) if facts is not None else None
        return typed.relatives(member) if typed is not None else None

    def may_reach(self, path: str, facts: Facts, definition: Bound) -> bool:
        """Whether a file may use a definition, by the rules of its language."""
        typed = self._members_of(facts)
        return typed is None or typed.may_reach(path, definition)

    def module_files(self, path: str, facts: Facts, definition: Definition) -> tuple[str, ...]:
        """Return the files that hold the module which a definition only declares."""
        typed = self._members_of(facts)
        return typed.module_files(path, definition) if typed is not None else ()

    def pasting_macro(self, path: str, name: str, places: Sequence[tuple[str, int]]) -> tuple[str, int] | None:
        """Return where a macro of the language of a file makes a name from parts, or other names from it."""
        facts = self._world.facts(path)
        typed = self._members_of(facts) if facts is not None else None
        return typed.pasting_macro(name, places) if typed is not None else None

    def other_at(self, path: str, offset: int, name: str, new: str) -> Bound | None:
        """Return what a new name would mean already at the place of a member's name, in languages with types."""
        facts = self._world.facts(path)
        typed = self._members_of(facts) if facts is not None else None
        return typed.other_at(path, offset, name, new) if typed is not None else None

    def _visibility_start(self, path: str, facts: Facts, at: int, name: str) -> int:
        typed = self._members_of(facts)
        return typed.visibility_start(path, at, len(name.encode())) if typed is not None else 0

    def _members_of(self, facts: Facts) -> MemberResolver | None:
        group = LANGUAGES[facts.language].group
        make = MEMBER_RESOLVERS.get(group)
        if make is None:
            return None
        found = self._member_resolvers.get(group)
        if found is None:
            found = self._member_resolvers[group] = make(_View(self._world, self))
        return found

    def definition_at(self, path: str, facts: Facts, offset: int) -> Definition | None:
        """Return the definition whose name is at a place."""
        defined = self._defined.get(path)
        if defined is None:
            defined = self._defined[path] = {definition.name_at: definition for definition in facts.definitions}
        return defined.get(offset)

    def owner_at(self, path: str, facts: Facts, offset: int) -> Entity | None:
        """Return what the member at a place is a member of, if that is known."""
        steps = receiver(self._world.text(path), offset, facts.in_text)
        return self._owner(path, facts, steps, offset)[0] if steps else None

    def may_be_module(self, path: str, facts: Facts, offset: int) -> bool:
        """Whether the receiver of a member begins with an import of a module, or of something unknown."""
        steps = receiver(self._world.text(path), offset, facts.in_text)
        own = self.lexical(path, facts, steps[0].at, steps[0].name) if steps else None
        rows = facts.rows(own.scope, own.name) if own is not None else ()
        if own is None or not any(facts.bind_reason(row) == _IMPORT for row in rows):
            return False
        found = self.meaning(own)
        return not found or any(isinstance(entity, Module) for entity in found)

    def _member(self, path: str, facts: Facts, steps: tuple[Step, ...], offset: int, name: str) -> Meaning:
        owner, skip_own = self._owner(path, facts, steps, offset)
        if owner is None:
            return Meaning(entities=(), certain=False, how="member")
        if isinstance(owner, Outside):
            return Meaning(entities=(owner,), certain=True, how="member")
        if isinstance(owner, Module):
            found = self.export(owner.path, name)
            return Meaning(entities=found, certain=len(found) == 1, how="member")
        of = owner.of if isinstance(owner, Instance) else owner
        side: Side = ""
        if LANGUAGES[facts.language].classes.static_members:
            side = "instance" if isinstance(owner, Instance) else "static"
        member, whole = self.member(of, name, skip_own=skip_own, side=side)
        if member is None:
            return Meaning(entities=(), certain=whole, how="member")
        # A binding does not say which of the two it is: a caller that asks about one of them compares the sides.
        certain = whole and not (side and self.has_both(member))
        return Meaning(entities=(member,), certain=certain, how="member", side=side if whole else "")

    def _owner(self, path: str, facts: Facts, steps: tuple[Step, ...], offset: int) -> tuple[Entity | None, bool]:
        first = steps[0].at
        scope = facts.scope_at(first)
        reached = self._reaching_binding(path, facts, scope, steps[0])
        # In a class body, `this` is the class or an instance, depending on the field; `super` may be passed a class.
        own = facts.scopes[scope].kind == "class" and steps[0].name in ("this", "super")
        which = -2 - first if own or (steps[0].name == "super" and steps[0].called) else reached
        key = (scope, facts.in_outer(first), tuple((step.name, step.called) for step in steps), which)
        held = self._owners.setdefault(path, {})
        found = held.get(key)
        if found is None:
            found = self._find_owner(path, facts, steps, offset, reached)
            if not self._typing:
                held[key] = found
        flow_sensitive = LANGUAGES[facts.language].names.flow_sensitive
        if flow_sensitive and found[0] is not None and self._is_narrowed(path, facts, steps, found[0]):
            return None, False
        return found

    def _is_narrowed(self, path: str, facts: Facts, steps: tuple[Step, ...], owner: Entity) -> bool:
        """Whether code tests what a receiver is, so that it may be something else where it is used."""
        scope = facts.scopes[facts.scope_at(steps[0].at)]
        if scope.kind != "function" or any(step.called for step in steps):
            return False
        text, of = self._world.text(path), owner.of if isinstance(owner, Instance) else owner
        chain = ".".join(step.name for step in steps).encode()
        for narrowing in narrowings(text, scope.start, steps[0].at, chain):
            if narrowing.around and not narrowing.classes:
                return True
            named = [self._class_named(path, facts, found) for found in narrowing.classes]
            for found in named:
                near = isinstance(found, Instance) and isinstance(of, Bound) and self._are_kin(found.of, of)
                if not near and (narrowing.around or isinstance(found, Instance)):
                    return True
        return False

    def _reaching_binding(self, path: str, facts: Facts, scope: int, first: Step) -> int:
        """Return which of several bindings in a scope reaches a use, or -1 if that is not certain."""
        if not LANGUAGES[facts.language].names.flow_sensitive:
            return -1
        rows = facts.rows(scope, first.name)
        if len(rows) < 2 or self._set_elsewhere(Bound(path, scope, first.name), facts):
            return -1
        return binding_before(self._world.text(path), [facts.bind_at(row) for row in rows], first.at)

    def _find_owner(
        self, path: str, facts: Facts, steps: tuple[Step, ...], offset: int, reached: int = -1
    ) -> tuple[Entity | None, bool]:
        first = steps[0]
        rules = LANGUAGES[facts.language]
        own_this = rules.classes.function_this
        if first.name == "super" and (first.called or not rules.classes.calls_super):
            above = self._of_this(path, facts, offset) if own_this else self.enclosing_class(path, facts, offset)
            if first.called and above is not None and not self._begins_at(path, first, above):
                return None, False
            return (above, True) if above is not None and len(steps) == 1 else (None, False)
        current: Entity | None
        if first.name == "this" and rules.classes.has_this:
            around = self.enclosing_class(path, facts, offset) if not own_this else None
            current = self._of_this(path, facts, offset) if own_this else Instance(around) if around else None
        elif rules.names.commonjs and self._is_exports(path, facts, steps):
            steps = steps[1:] if first.name == "module" else steps
            current = Module(path)
        else:
            meant = self.resolve_plain_name(path, facts, first.at, first.name)
            current = self._only_entity(meant.entities) if meant.certain else None
        if reached >= 0 and not first.called and isinstance(current, Bound) and current.file == path:
            current = self._type_of(current, reached) if not self._is_class(current) else self.value(current)
        else:
            current = self._call_result(current, first.name) if first.called else self._value_of(current)
        for step in steps[1:]:
            on, current = current, self._only_entity(self._step(current, step.name))
            current = self._call_result(current, step.name, on) if step.called else self._value_of(current)
        return current, False

    def _begins_at(self, path: str, called: Step, of: Bound | Instance) -> bool:
        """Whether `super(…)` starts after the class that contains it, not after another class that it names."""
        named = _BEHIND.match(self._world.text(path), called.at + len(called.name))
        return named is None or not isinstance(of, Bound) or named[1].decode() in (of.name, "__class__")

    def _of_this(self, path: str, facts: Facts, offset: int) -> Bound | Instance | None:
        """Return what `this` is at a place: an instance of the enclosing class, or the class itself in static code."""
        text = self._world.text(path)
        scope = class_of_this(facts, text, offset)
        if scope < 0 or facts.scopes[scope].definition < 0:
            return None
        definition = facts.definitions[facts.scopes[scope].definition]
        of = Bound(path, definition.scope, definition.name)
        return of if in_static(facts, text, offset, scope) else Instance(of)

    def _is_exports(self, path: str, facts: Facts, steps: tuple[Step, ...]) -> bool:
        """Whether a chain begins with this module's own `exports` or `module.exports`."""
        names = [step.name for step in steps[:2]]
        if names[0] != "exports" and names != ["module", "exports"]:
            return False
        return self.lexical(path, facts, steps[0].at, names[0]) is None

    def _value_of(self, entity: Entity | None) -> Entity | None:
        return self.value(entity) if entity is not None else None

    def _call_result(self, entity: Entity | None, name: str, on: Entity | None = None) -> Entity | None:
        if isinstance(entity, Outside):
            return entity if gives_its_own(entity.source, name) else None
        if not isinstance(entity, Bound):
            return None
        if self._makes(entity):
            return None if self.is_replaced(entity) or self.makes_others(entity) else Instance(entity)
        if (copied := self._copied_function(entity)) is not None:
            return self._written_result(copied, None, called=True)
        written = self._written_result(entity, on, called=True)
        return written or self._class_method_result(entity) or self._returned_value(entity, called=True)

    def _copied_function(self, bound: Bound) -> Bound | None:
        """Return the function that a constant of TypeScript is another name of."""
        facts, definitions = self._world.facts(bound.file), self.definitions(bound)
        if facts is None or len(definitions) != 1 or not LANGUAGES[facts.language].names.written_results:
            return None
        definition = definitions[0][1]
        if definition.kind not in VARIABLES:
            return None
        end = definition.name_at + len(definition.name.encode())
        steps = copied_function(self._world.text(bound.file), definition.name_at, end)
        if not steps or len(facts.rows(bound.scope, bound.name)) > 1:
            return None
        found = self._callee(bound.file, facts, steps)
        return found if isinstance(found, Bound) and found != bound else None

    def _class_method_result(self, bound: Bound) -> Entity | None:
        """Return what calling the first parameter of a class method makes."""
        facts = self._world.facts(bound.file)
        rows = facts.rows(bound.scope, bound.name) if facts is not None else ()
        if facts is None or len(rows) != 1 or facts.bind_reason(rows[0]) != _PARAM:
            return None
        at, scope = facts.bind_at(rows[0]), facts.scopes[bound.scope]
        if not self._is_instance(facts, bound, at) or self._set_elsewhere(bound, facts):
            return None
        above = decorators(self._world.text(bound.file), facts.definitions[scope.definition])
        of = self.enclosing_class(bound.file, facts, at) if b"classmethod" in above else None
        return Instance(of) if of is not None and not self.makes_others(of) else None


class _View:
    """The repository as resolvers of members see it."""

    def __init__(self, world: World, resolver: Resolver) -> None:
        self._world = world
        self._resolver = resolver
        self.facts = world.facts
        self.text = world.text
        self.node = resolver.syntax.node
        self.find_export = resolver.export
        self.definitions = resolver.definitions
        self.files_with = world.files_with

    def resolve_plain_name(self, path: str, offset: int, name: str) -> Meaning:
        """Return what a plain name at a place means by scopes, imports and packages."""
        facts = self._world.facts(path)
        return self._resolver.resolve_plain_name(path, facts, offset, name) if facts is not None else _UNKNOWN

    def find_definitions(self, name: str) -> tuple[Sequence[tuple[str, int]], bool]:
        """Return every definition of a name (file and index), and whether these are all."""
        return self._world.find_definitions(name, limit=_MAX_NAMED)

    def modules(self, path: str) -> Modules | None:
        """Return the modules of the language of a file."""
        facts = self._world.facts(path)
        return self._world.modules(facts) if facts is not None else None

    def with_text(self, path: str, text: bytes) -> CodeView:
        """Return the repository as it would be if a file had another text."""
        facts = self._world.facts(path)
        assert facts is not None
        return ReplacedFile(self, path, text, self._world.language(facts), self._resolver.syntax)
