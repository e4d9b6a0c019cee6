"""What names in calls and bodies of the repository's macros mean, by what the macros write at every call."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from codeplane.code.entity import Bound, Entity, Meaning, Outside
from codeplane.code.languages.member_resolver import CodeView, MemberResolver
from codeplane.code.languages.rust.expanded_file import ExpandedFile, call_at
from codeplane.code.languages.rust.impls import RustImpls
from codeplane.code.languages.rust.macro_rules import Rule, rules_of
from codeplane.code.languages.rust.token_trees import Group, Leaf, Tree, end_of, leaves_of, start_of, token_trees

_MAX_TEXT = 2_000_000
_MAX_FILES = 60
_MAX_PLACES = 2_000
_ELSEWHERE = Meaning(entities=(Outside(""),), certain=True, how="member")


class MacroDefinition(Struct, frozen=True):
    """A `macro_rules!` and where it stands."""

    name: str
    name_at: int
    start: int
    end: int
    rules: Sequence[Rule]


class Expansions:
    """Resolves the names of tokens in the texts that macros write; `resolver` makes one for such a text."""

    def __init__(self, view: CodeView, impls: RustImpls, resolver: Callable[[CodeView], MemberResolver]) -> None:
        self._view = view
        self._impls = impls
        self._resolver = resolver
        self._trees: dict[str, tuple[Tree, ...]] = {}
        self._macros: dict[str, list[MacroDefinition]] = {}
        self._files: dict[str, ExpandedFile | None] = {}
        self._resolvers: dict[str, tuple[MemberResolver, CodeView]] = {}
        self._callers: dict[str, list[str] | None] = {}

    def meaning(self, path: str, offset: int) -> Meaning | None:
        """Return what the name at a place means in all that macros make of it; None if that is not known."""
        macro = next(
            (candidate for candidate in self._macro_definitions(path) if candidate.start <= offset < candidate.end),
            None,
        )
        files = [path] if macro is None else self._find_callers(macro.name)
        found: list[Meaning] = []
        words = False
        for file in files if files is not None else ():
            expanded = self._expand_file(file)
            if expanded is None:
                continue
            words = words or (path, offset) in expanded.words
            for at in expanded.places.get((path, offset), ()):
                if len(found) >= _MAX_PLACES:
                    return None
                if expanded.is_text(at):
                    words = True
                    continue
                found.append(self._at(file, expanded, at, (path, offset)))
        if not found:
            return _ELSEWHERE if words and macro is None else None
        entities = tuple(dict.fromkeys(entity for meaning in found for entity in meaning.entities))
        certain = all(meaning.certain for meaning in found)
        if not entities and certain:
            # The macro itself defines what is called so.
            return _ELSEWHERE
        return Meaning(entities=entities, certain=certain, how="member")

    def beside_calls(self, path: str, offset: int) -> Meaning | None:
        """Return what a name outside of calls means once macros have written their items; None if none has."""
        expanded = self._expand_file(path)
        at = expanded.copy_offset(offset) if expanded is not None else None
        if (
            expanded is None
            or at is None
            or any(macro.start <= offset < macro.end for macro in self._macro_definitions(path))
        ):
            return None
        return self._at(path, expanded, at, (path, offset))

    def _at(self, file: str, expanded: ExpandedFile, at: int, token: tuple[str, int]) -> Meaning:
        """Return what a name means at a place of an expanded file, in terms of the files as they are."""
        if file not in self._resolvers:
            view = self._view.with_text(file, expanded.text)
            self._resolvers[file] = (self._resolver(view), view)
        resolver, view = self._resolvers[file]
        node = view.node(file, at, at + 1)
        facts = view.facts(file)
        name = (node.text or b"").decode("utf-8", "replace") if node is not None else ""
        meaning = resolver.meaning(file, facts, at, name) if facts is not None and node is not None else None
        if meaning is None:
            return Meaning(entities=(), certain=False, how="member")
        entities = tuple(
            dict.fromkeys(self._as_it_is(entity, file, expanded, view, resolver, token) for entity in meaning.entities)
        )
        made = tuple(entity for entity in entities if entity is not None)
        return Meaning(entities=made, certain=meaning.certain, how=meaning.how)

    def _as_it_is(
        self,
        entity: Entity,
        file: str,
        expanded: ExpandedFile,
        view: CodeView,
        resolver: MemberResolver,
        token: tuple[str, int],
    ) -> Entity | None:
        """Return an entity of an expanded file as one of the file itself; None for what the token itself names."""
        if not isinstance(entity, Bound) or entity.file != file:
            return entity
        place = next(
            (expanded.source(file, definition.name_at) for _, definition in view.definitions(entity)),
            None,
        ) or self._bound_place(entity, expanded, view)
        if place is None:
            return Outside("")
        bound = self._impls.names.bound_at(*place, entity.name) or self._local_at(place, entity.name)
        if bound is not None:
            return bound
        family = resolver.relatives(entity)
        for other in family.members if family is not None else ():
            if other.file != file:
                return other
            source = next(
                (expanded.source(file, definition.name_at) for _, definition in view.definitions(other)), None
            )
            real = self._impls.names.bound_at(*source, entity.name) if source is not None else None
            if real is not None:
                return real
        return None if place == token else Outside("")

    def _bound_place(self, entity: Bound, expanded: ExpandedFile, view: CodeView) -> tuple[str, int] | None:
        facts = view.facts(entity.file)
        for row in facts.rows(entity.scope, entity.name) if facts is not None else ():
            assert facts is not None
            return expanded.source(entity.file, facts.bind_at(row))
        return None

    def _local_at(self, place: tuple[str, int], name: str) -> Bound | None:
        facts = self._view.facts(place[0])
        for scope, rows in facts.rows_by_scope(name).items() if facts is not None else ():
            assert facts is not None
            if any(facts.bind_at(row) == place[1] for row in rows):
                return Bound(place[0], scope, name)
        return None

    def _tokens(self, path: str) -> tuple[Tree, ...]:
        if path not in self._trees:
            text = self._view.text(path)
            self._trees[path] = (token_trees(path, text) if len(text) <= _MAX_TEXT else None) or ()
        return self._trees[path]

    def _macro_definitions(self, path: str) -> list[MacroDefinition]:
        if path not in self._macros:
            self._macros[path] = list(_definitions(self._tokens(path)))
        return self._macros[path]

    def _expand_file(self, path: str) -> ExpandedFile | None:
        if path not in self._files:
            trees = self._tokens(path)
            made = ExpandedFile(self._view.text(path), trees, self._rules) if trees else None
            self._files[path] = made if made is not None and made.is_changed else None
        return self._files[path]

    def _rules(self, name: Leaf) -> Sequence[Rule]:
        """Return the rules of the macro that a name at a call means: the last before it, or the only one there is."""
        here = [macro for macro in self._macro_definitions(name.path) if macro.name == name.text]
        before = [macro for macro in here if macro.end <= name.at]
        if here:
            return (before or here)[-1].rules
        listed, whole = self._view.find_definitions(name.text)
        files = {path for path, _ in listed if path.endswith(".rs")}
        found = [macro for path in files for macro in self._macro_definitions(path) if macro.name == name.text]
        return found[0].rules if whole and len(found) == 1 else ()

    def _find_callers(self, name: str) -> list[str] | None:
        """Return the files that may call a macro, also by way of others; None if these are too many."""
        if name not in self._callers:
            self._callers[name] = None
            names, files, waiting = {name}, dict[str, None](), [name]
            while waiting and len(files) <= _MAX_FILES:
                for path in self._view.files_with(waiting.pop()):
                    if not path.endswith(".rs"):
                        continue
                    files[path] = None
                    for macro in self._macro_definitions(path):
                        mentions = any(leaf.text in names for rule in macro.rules for leaf in leaves_of(rule.body))
                        if macro.name not in names and mentions:
                            names.add(macro.name)
                            waiting.append(macro.name)
            self._callers[name] = list(files) if len(files) <= _MAX_FILES else None
        return self._callers[name]


def _definitions(trees: Sequence[Tree]) -> Iterator[MacroDefinition]:
    for position, tree in enumerate(trees):
        call = call_at(trees, position)
        if call is not None and call.name.text == "macro_rules":
            name = trees[call.end - 2]
            rules = rules_of(call.given.inner)
            yield MacroDefinition(
                name.text, start_of(name), start_of(trees[call.start]), end_of(trees[call.end - 1]), rules
            )
        if isinstance(tree, Group):
            yield from _definitions(tree.inner)
