"""What Rust's names and paths mean: modules, `use` trees, crates, and the items of blocks."""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from codeplane.code.entity import Bound, Module, Outside
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.languages.rust.locals import RustLocals
from codeplane.code.languages.rust.macro_scope import macros_above
from codeplane.code.languages.rust.modules import RustModules
from codeplane.code.languages.rust.prelude import PRELUDE
from codeplane.code.languages.rust.syntax import Node, around, field, is_module, module_node, root_of, text_of
from codeplane.code.languages.rust.uses import Contents, Mod, Use, contents_of

_MAX_HOPS = 24


Thing = Bound | Mod | Outside


class Found(Struct, frozen=True):
    """What a name means; `own` is the import in its own file that brings it, `doubt` that more may be unseen."""

    things: tuple[Thing, ...] = ()
    own: Bound | None = None
    doubt: bool = False


class RustNames:
    """Resolves names and paths; `member` gives what a type has under a name."""

    def __init__(self, view: CodeView, member: Callable[[Bound, str], tuple[Thing, ...]]) -> None:
        self._view = view
        self._member = member
        self.locals = RustLocals(view)
        self._contents: dict[tuple[str, int], Contents | None] = {}
        self._found: dict[tuple[Mod, str, str], tuple[Thing, ...]] = {}
        self._roots: dict[str, tuple[Mod, ...]] = {}

    def first(self, path: str, offset: int, name: str, space: str) -> Found:
        """Return what a name means that stands alone, or first in a path."""
        if space != "macro" and (local := self.locals.find(path, offset, name, space)) is not None:
            return Found((local[0],))
        node = self._view.node(path, offset, offset + len(name.encode()))
        if node is None:
            return Found(doubt=True)
        doubt = False
        starred: tuple[Thing, ...] = ()
        for ancestor in around(node):
            if ancestor.type != "block" and not is_module(ancestor):
                continue
            here = Mod(path, ancestor.start_byte if ancestor.type != "source_file" else 0)
            found = self._in(here, name, space, _MAX_HOPS)
            contents = self.contents(here)
            named = contents is not None and (name in contents.items or name in contents.uses)
            if found and not is_module(ancestor) and not named and all(isinstance(thing, Outside) for thing in found):
                # Everything of a crate that is not here, which may or may not have such a name.
                starred = found
            elif found:
                return Found((*found, *starred), self._use_binding(here, name, space), doubt)
            doubt = doubt or contents is None or contents.opaque
            if is_module(ancestor):
                break
        found = self._crate(path, name) if space in ("type", "") else ()
        found = found or starred
        if not found and space == "macro" and (module := self.module_at(path, offset)) is not None:
            found = macros_above(self, module, name)
        if not found and name in PRELUDE:
            found = (Outside(name),)
        return Found(found, None, doubt)

    def path(self, path: str, offset: int, parts: Sequence[str], space: str) -> Found:
        """Return what a path of several names means, read at a place."""
        here = self.module_at(path, offset)
        if here is None or not parts:
            return Found(doubt=True)
        if parts[0] in ("crate", "$crate", "self", "super", ""):
            return Found(self._walk(here, tuple(parts), space, _MAX_HOPS))
        start = self.first(path, offset, parts[0], space if len(parts) == 1 else "type")
        return Found(self._steps(start.things, parts[1:], space, _MAX_HOPS), None, start.doubt)

    def resolve_use(self, path: str, node: Node, parts: Sequence[str], space: str = "") -> tuple[Thing, ...]:
        """Return what a `use` at a place brings."""
        above = next((ancestor for ancestor in around(node) if ancestor.type == "block" or is_module(ancestor)), None)
        if above is None:
            return ()
        here = Mod(path, above.start_byte if above.type != "source_file" else 0)
        return self._walk(here, tuple(parts), space, _MAX_HOPS)

    def module_at(self, path: str, offset: int) -> Mod | None:
        """Return the module that a place is in."""
        node = self._view.node(path, offset, offset)
        if node is None:
            return None
        above = node if node.type == "source_file" else module_node(node)
        return Mod(path, above.start_byte if above.type != "source_file" else 0)

    def in_module(self, module: Mod, name: str, space: str = "") -> tuple[Thing, ...]:
        """Return what a module gives under a name."""
        return self._in(module, name, space, _MAX_HOPS)

    def as_module(self, thing: Thing) -> tuple[Mod, ...]:
        """Return the module that a thing is: a file, or the body behind `mod name`."""
        if isinstance(thing, Mod):
            return (thing,)
        if not isinstance(thing, Bound):
            return ()
        found: list[Mod] = []
        for _, definition in self._view.definitions(thing):
            if definition.kind == "module":
                found += self.declared_modules(thing.file, definition.name_at, definition.name)
        return tuple(dict.fromkeys(found))

    def roots(self, path: str) -> tuple[Mod, ...]:
        """Return the roots of the crates that a file belongs to."""
        held = self._roots.get(path)
        if held is None:
            self._roots[path] = ()
            above = self.parents(Mod(path))
            found = [root for module in above for root in self.roots(module.path)] if above else [Mod(path)]
            held = self._roots[path] = tuple(dict.fromkeys(found))
        return held

    def bound_at(self, path: str, at: int, name: str) -> Bound | None:
        """Return the binding of the definition whose name is at a place."""
        facts = self._view.facts(path)
        for definition in facts.definitions if facts is not None else ():
            if definition.name_at == at and definition.name == name:
                return Bound(path, definition.scope, name)
        return None

    def _modules(self, path: str) -> RustModules | None:
        found = self._view.modules(path)
        return found if isinstance(found, RustModules) else None

    def contents(self, module: Mod) -> Contents | None:
        """Return what a module defines and imports."""
        key = (module.path, module.at)
        if key not in self._contents:
            node = self._view.node(module.path, module.at, module.at)
            if node is not None and module.at == 0:
                node = root_of(node)
            elif node is not None:
                opened = (ancestor for ancestor in (node, *around(node)) if ancestor.start_byte == module.at)
                node = next((ancestor for ancestor in opened if ancestor.type == "block" or is_module(ancestor)), None)
            self._contents[key] = contents_of(node) if node is not None else None
        return self._contents[key]

    def _in(self, module: Mod, name: str, space: str, hops: int) -> tuple[Thing, ...]:
        key = (module, name, space)
        held = self._found.get(key)
        if held is None:
            self._found[key] = ()
            held = self._look(module, name, space, hops) if hops else ()
            self._found[key] = held
        return held

    def _look(self, module: Mod, name: str, space: str, hops: int) -> tuple[Thing, ...]:
        contents = self.contents(module)
        if contents is None:
            return ()
        found: list[Thing] = []
        for item in contents.items.get(name, ()):
            if space in ("", *item.spaces) and (bound := self.bound_at(module.path, item.at, name)) is not None:
                found.append(bound)
        for use in contents.uses.get(name, ()):
            found += self._resolve_use(module, use, space, hops)
        if not found:
            for use in contents.globs:
                for source in self._walk(module, use.parts, "type", hops - 1):
                    found += self._steps((source,), (name,), space, hops - 1) if source != module else ()
            # Two of one name would be ambiguous.
            found = [thing for thing in found if not isinstance(thing, Outside)] or found
        return tuple(dict.fromkeys(found))

    def _resolve_use(self, module: Mod, use: Use, space: str, hops: int) -> tuple[Thing, ...]:
        return self._walk(module, use.parts, space, hops - 1, leaving=use.local if len(use.parts) == 1 else "")

    def _use_binding(self, module: Mod, name: str, space: str) -> Bound | None:
        contents = self.contents(module)
        facts = self._view.facts(module.path)
        uses = contents.uses.get(name, ()) if contents is not None else ()
        if facts is None or not uses:
            return None
        for scope, rows in facts.rows_by_scope(name).items():
            if any(facts.bind_at(row) == use.local_at for row in rows for use in uses):
                return Bound(module.path, scope, name)
        return None

    def _walk(self, here: Mod, parts: tuple[str, ...], space: str, hops: int, leaving: str = "") -> tuple[Thing, ...]:
        """Return what a path means in a module; `leaving` is the name that a `use` of one part binds itself."""
        if not parts or hops <= 0:
            return ()
        module = self._enclosing_module(here)
        first, rest = parts[0], parts[1:]
        current: tuple[Thing, ...]
        if first in ("crate", "$crate"):
            current = self.roots(here.path)
        elif first == "self":
            current = (module,)
        elif first == "super":
            current = (module,)
            depth = 0
            while depth < len(parts) and parts[depth] == "super":
                current = tuple(above for thing in current if isinstance(thing, Mod) for above in self.parents(thing))
                depth += 1
            rest = parts[depth:]
        elif first == "":
            current, rest = self._crate(here.path, rest[0]) if rest else (), rest[1:]
        else:
            inner = space if not rest else "type"
            current = self._in(here, first, inner, hops - 1) if first != leaving else ()
            if not current and here != module:
                current = self._in(module, first, inner, hops - 1)
            current = current or self._crate(here.path, first)
        return self._steps(current, rest, space, hops - 1)

    def _steps(self, things: Iterable[Thing], names: Sequence[str], space: str, hops: int) -> tuple[Thing, ...]:
        current = tuple(things)
        for position, name in enumerate(names):
            inner = space if position == len(names) - 1 else "type"
            current = tuple(dict.fromkeys(found for thing in current for found in self._step(thing, name, inner, hops)))
        return current

    def _step(self, thing: Thing, name: str, space: str, hops: int) -> tuple[Thing, ...]:
        if isinstance(thing, Outside):
            return (thing if thing.source else Outside(name),)
        modules = self.as_module(thing)
        if modules:
            return tuple(found for module in modules for found in self._in(module, name, space, hops - 1))
        return self._member(thing, name) if isinstance(thing, Bound) else ()

    def _enclosing_module(self, here: Mod) -> Mod:
        """Return the module around a block, or the module itself."""
        if here.at == 0:
            return here
        node = self._view.node(here.path, here.at, here.at)
        for ancestor in (node, *around(node)) if node is not None else ():
            if is_module(ancestor) and ancestor.start_byte <= here.at:
                return Mod(here.path, ancestor.start_byte if ancestor.type != "source_file" else 0)
        return Mod(here.path)

    def parents(self, module: Mod) -> tuple[Mod, ...]:
        """Return the modules that declare a module."""
        if module.at:
            node = self._view.node(module.path, module.at, module.at)
            item = (
                next((ancestor for ancestor in around(node) if ancestor.type == "mod_item"), None)
                if node is not None
                else None
            )
            above = module_node(item) if item is not None else None
            return (Mod(module.path, above.start_byte if above.type != "source_file" else 0),) if above else ()
        modules = self._modules(module.path)
        return tuple(dict.fromkeys(self._declaring_modules(module.path, modules))) if modules is not None else ()

    def _declaring_modules(self, path: str, modules: RustModules) -> Iterable[Mod]:
        """Yield the modules that declare a file as theirs; of several candidates those that say so."""
        name = modules.name_of(path)
        candidates = [Mod(parent) for parent in modules.parents(path)]
        saying = [candidate for candidate in candidates if self._declares(candidate, name)]
        return saying or [Mod(file) for file in modules.declared_by_path(path)] or candidates

    def _declares(self, module: Mod, name: str) -> bool:
        contents = self.contents(module)
        return contents is not None and any(item.kind == "mod_item" for item in contents.items.get(name, ()))

    def declared_modules(self, path: str, at: int, name: str) -> Iterable[Mod]:
        """Yield the modules that `mod name;` or `mod name { … }` at a place may stand for."""
        node = self._view.node(path, at, at + len(name.encode()))
        item = node.parent if node is not None else None
        if item is None or item.type != "mod_item":
            return
        body = field(item, "body")
        if body is not None:
            yield Mod(path, body.start_byte)
            return
        modules = self._modules(path)
        if modules is None:
            return
        above = [
            text_of(inner)
            for ancestor in around(item)
            if ancestor.type == "mod_item" and (inner := field(ancestor, "name"))
        ]
        for found in modules.declared_file(path, at, list(reversed(above)), name):
            yield Mod(found)

    def _crate(self, path: str, name: str) -> tuple[Thing, ...]:
        modules = self._modules(path)
        if modules is None:
            return ()
        if (root := modules.crate(name)) is not None:
            return (Mod(root),)
        return (Outside(name),) if modules.outside(name) else ()


def as_entity(thing: Thing) -> Bound | Outside | Module:
    """Return a thing as the rest of the resolver names it."""
    return Module(thing.path) if isinstance(thing, Mod) else thing
