"""What a Rust crate gives its users: what `pub mod` and `pub use` reach from its root."""

import re
from collections.abc import Callable, Iterator

from codeplane.code.languages.modules import Read
from codeplane.code.languages.rust.crate_modules import (
    CrateItem,
    CrateModule,
    CrateModules,
    CrateUse,
    Parse,
    derive_name,
    words_of,
)
from codeplane.code.languages.rust.modules import RustModules
from codeplane.code.languages.rust.syntax import FUNCTIONS, Node, field, text_of
from codeplane.code.model import Facts
from codeplane.query.compare.public_surface import Named, PublicSurface

_DEEPEST = 20
_MOST_NAMES = 200_000
_STARTS = frozenset({"crate", "self", "super"})


class CrateSurface(PublicSurface):
    """Tells by which paths users of a crate reach what its files define; what cannot be decided is seen."""

    def __init__(self, modules: RustModules, facts: Callable[[str], Facts | None], text: Read, parse: Parse) -> None:
        super().__init__(modules, facts, text)
        self._crates = modules
        self._reader = CrateModules(modules, text, parse)
        self._items: dict[Named, list[CrateItem]] = {}
        self._owners: dict[Named, list[CrateItem] | None] = {}
        self._files: dict[str, CrateModule] = {}
        self._names: dict[Named, set[str]] = {}
        self._uses: set[Named] = set()
        self._signed: dict[Named, set[str]] = {}
        self._undecided: set[str] = set()
        self._decided: dict[str, bool] = {}
        self._steps = 0

    def governs(self, path: str) -> bool:
        """Whether it is decided what users reach of a file: its crate is a library, and declares it."""
        root = self._crates.library_of(path)
        if root is None:
            return False
        if root not in self._decided:
            self._decided[root] = True
            self._read(root)
        return self._decided[root] and path in self._files

    def names(self, path: str, name: str) -> set[str]:
        """The paths that users have for a definition, a member of an `impl` block, or a `pub use`."""
        known = self._names.get((path, name), set())
        above, _, member = name.rpartition(".")
        for item in self._owners.get((path, above)) or ():
            known = known | {f"{each}.{member}" for each in self._names.get(item.key, ())}
        return known

    def exact_names(self, path: str, name: str) -> set[str]:
        """The paths that users have for a definition, with its signature where it is a method."""
        return self._signed.get((path, name)) or self.names(path, name)

    def lost_macros(self, path: str, name: str, now: PublicSurface) -> list[str]:
        """The macros that a definition was and is no longer."""
        return sorted(each for each in self.names(path, name) if each.endswith("!") and not now.has({each}))

    def is_sealed(self, path: str, name: str) -> bool:
        """Whether a trait builds on one that users cannot name, so that only its crate implements it."""
        for item in self._items.get((path, name), ()):
            bounds = field(item.node, "bounds")
            for bound in bounds.named_children if bounds is not None else ():
                targets = self._resolve_path(item.module, _type_path(bound), 0)
                if any(isinstance(each, CrateItem) and not self._can_be_named(each) for each in targets):
                    return True
        return False

    def known_as(self, path: str, parts: tuple[str, ...]) -> set[str]:
        """The names that users have for what a path leads to in a file, with the place where it is defined."""
        module = self._files.get(path)
        items = self._resolve_path(module, parts, 0) if module is not None else ()
        found = [item for item in items if isinstance(item, CrateItem)]
        for item in list(found):
            # What an alias stands for is the same type.
            found += [
                each
                for each in self._resolve_path(item.module, _type_path(field(item.node, "type")), 0)
                if item.node.type == "type_item" and isinstance(each, CrateItem)
            ]
        return set[str]().union(*({":".join(item.key), *self._names.get(item.key, ())} for item in found))

    def is_nameable(self, path: str, written: str) -> bool:
        """Whether users have a name for the trait that a file writes so."""
        module, parts = self._files.get(path), tuple(re.sub(r"<.*| ", "", written).split("::"))
        found = list(self._resolve_path(module, parts, 0)) if module is not None else []
        return not found or any(isinstance(each, CrateModule) or self._can_be_named(each) for each in found)

    def _can_be_named(self, item: CrateItem) -> bool:
        return item.name in self._undecided or bool(self._names.get(item.key))

    def names_of_file(self, path: str) -> set[str]:
        """The paths that users have for anything of a file."""
        return set[str]().union(*(names for (file, _), names in self._names.items() if file == path))

    def lost_names(self, path: str, name: str, now: PublicSurface) -> set[str]:
        """The paths that users had by way of a file and have no longer, though what they stand for is still there."""
        gone = {each for each in self.names(path, name) if not now.has({each})}
        still = {
            known_as
            for key, names in self._names.items()
            if key in self._items and not names.isdisjoint(gone) and isinstance(now, CrateSurface) and key in now._items
            for known_as in names
        }
        return gone & still

    def is_seen(self, path: str, name: str) -> bool:
        """Whether users reach a definition, or something that speaks of it, or that is not decided."""
        items = self._items.get((path, name))
        if (path, name) in self._uses and items is None:
            return bool(self._names.get((path, name)))
        if items is None:
            above = name.rpartition(".")[0]
            if (path, above) in self._items:
                return self.is_seen(path, above)
            owners = self._owners.get((path, above))
            return owners is None or any(self.is_seen(*owner.key) for owner in owners)
        # Nobody calls the methods of a trait that cannot be imported.
        is_mentioned = (path, name) in self._mentioned and items[0].node.type != "trait_item"
        return bool(self.names(path, name)) or is_mentioned or items[0].name in self._undecided

    def is_trait_seen(self, path: str, name: str) -> bool:
        """Whether users may know the trait that a file calls by a name."""
        module = self._files.get(path)
        if module is None:
            return True
        written = {_type_path(field(block, "trait")) for block in module.impls}
        paths = {(name,), *(each for each in written if each[-1:] == (name,))}
        found = [target for each in paths for target in self._resolve_path(module, each, 0)]
        items = [target for target in found if isinstance(target, CrateItem)]
        return not items or any(self.is_seen(*item.key) for item in items)

    def _read(self, root: str) -> None:
        top = self._reader.read(root)
        every = list(_modules_below(top))
        for module in every:
            self._files.setdefault(module.path, module)
            self._uses |= {module.key(_local_name(use)) for use in module.uses}
            for items in module.items.values():
                for item in items:
                    self._items.setdefault(item.key, []).append(item)
        crate = self._crates.library_name(root)
        if root in self._crates.macro_crates():
            self._give_macros(top, crate)
            return
        self._give(top, crate, ())
        for module in every:
            for item in (each for items in module.items.values() for each in items):
                if "macro_export" in item.attributes and not item.is_hidden:
                    self._name(item, f"{crate}::{item.name}!")
        self._own(every)
        self._mention(every)
        self._decided[root] = self._decided[root] and self._steps < _MOST_NAMES
        self._steps = 0

    def _give_macros(self, top: CrateModule, crate: str) -> None:
        for item in (each for items in top.items.values() for each in items):
            if "proc_macro" in item.attributes and not item.is_hidden:
                self._name(item, f"{crate}::{derive_name(item.attributes) or item.name}!")

    def _give(self, module: CrateModule, known_as: str, above: tuple[CrateModule, ...]) -> None:
        """Note that users reach a module by a path."""
        if module in above or len(above) > _DEEPEST or self._steps > _MOST_NAMES:
            return
        above = (*above, module)
        for items in module.items.values():
            for item in items:
                if item.is_public and not item.is_hidden:
                    self._give_item(item, f"{known_as}::{item.name}", above)
        for use in module.uses:
            if use.is_public and not use.is_hidden:
                self._give_use(module, use, known_as, above)

    def _give_item(self, item: CrateItem, known_as: str, above: tuple[CrateModule, ...]) -> None:
        self._name(item, known_as)
        for child in item.child:
            self._give(child, known_as, above)

    def _give_use(self, module: CrateModule, use: CrateUse, known_as: str, above: tuple[CrateModule, ...]) -> None:
        targets = list(self._resolve_path(module, use.parts, 0))
        source, local = "::".join(use.parts), _local_name(use)
        key = module.key(local)
        before = set(self._given) if use.local == "*" else set[str]()
        if not targets:
            if not self._is_own(module, use.parts[0]):
                self._given.add(f"{known_as}::{local}")
            self._names.setdefault(key, set()).add(f"{known_as}::{local}")
            if use.local != "*":
                self._undecided.add(use.parts[-1])
            elif not self._crates.outside(source) and self._crates.crate(use.parts[0]) is None:
                # All that a module declares by a macro may be meant.
                self._decided[_root(module).path] = False
            return
        for target in targets:
            if use.local != "*" and isinstance(target, CrateItem) and target.is_hidden:
                continue
            if use.local != "*" and isinstance(target, CrateItem):
                self._give_item(target, f"{known_as}::{use.local}", above)
                self._names.setdefault(key, set()).add(f"{known_as}::{use.local}")
            elif use.local == "*" and isinstance(target, CrateItem) and not target.child:
                # The variants of an enum.
                self._mentioned.add(target.key)
            else:
                for inner in target.child if isinstance(target, CrateItem) else [target]:
                    self._give(inner, known_as if use.local == "*" else f"{known_as}::{use.local}", above)
        if use.local == "*":
            self._names.setdefault(key, set()).update(self._given - before)

    def _is_own(self, module: CrateModule, first: str) -> bool:
        """Whether a path that begins so leads into the crate."""
        return first in _STARTS or next(self._named_in(module, first, 0), None) is not None

    def _name(self, item: CrateItem, known_as: str) -> None:
        self._steps += 1
        self._given.add(known_as)
        self._names.setdefault(item.key, set()).add(known_as)

    def _resolve_path(
        self, module: CrateModule, parts: tuple[str, ...], depth: int
    ) -> Iterator[CrateItem | CrateModule]:
        """What a path means in a module."""
        self._steps += 1
        if depth > _DEEPEST or not parts or self._steps > _MOST_NAMES:
            return
        first, rest = parts[0], parts[1:]
        starts: list[CrateItem | CrateModule] = []
        if first == "crate":
            starts = [_root(module)]
        elif first == "self":
            starts = [module]
        elif first == "super":
            starts = [module.parent] if module.parent is not None else []
        elif first:
            starts = list(self._named_in(module, first, depth))
            if not starts and depth == 0 and module.parent is not None:
                # Before 2018, paths began at the root.
                starts = list(self._named_in(_root(module), first, depth + 1)) if rest else []
        for part in rest:
            starts = list(self._step(starts, part, depth))
        yield from starts

    def _step(self, starts: list[CrateItem | CrateModule], part: str, depth: int) -> Iterator[CrateItem | CrateModule]:
        """What the next part of a path means after those before it."""
        for start in starts:
            if isinstance(start, CrateItem) and not start.child:
                # A variant of an enum, or what a type has.
                yield start
            for inner in start.child if isinstance(start, CrateItem) else [start]:
                if part == "self":
                    yield inner
                elif part == "super":
                    yield inner.parent or inner
                else:
                    yield from self._named_in(inner, part, depth + 1)

    def _named_in(self, module: CrateModule, name: str, depth: int) -> Iterator[CrateItem | CrateModule]:
        """What a module defines or imports under a name."""
        found = False
        for item in module.items.get(name, ()):
            found = True
            yield item
        for use in module.uses:
            if use.local == name and use.parts != (name,):
                for target in self._resolve_path(module, use.parts, depth + 1):
                    found = True
                    yield target
        for use in module.uses if not found else ():
            if use.local == "*" and use.parts:
                for target in self._resolve_path(module, use.parts, depth + 4):
                    for inner in target.child if isinstance(target, CrateItem) else [target]:
                        if inner is not module:
                            yield from self._named_in(inner, name, depth + 4)

    def _own(self, every: list[CrateModule]) -> None:
        """Find the types of `impl` blocks, and note what users call on those."""
        for module in every:
            for block in module.impls:
                parts = _type_path(field(block, "type"))
                if not parts:
                    continue
                found = [each for each in self._resolve_path(module, parts, 0) if isinstance(each, CrateItem)]
                key = module.key(parts[-1])
                if key not in self._items:
                    self._owners[key] = [*(self._owners.get(key) or []), *found] or None
                for name, signature in _methods(block):
                    for known_as in [each for item in found for each in self._names.get(item.key, ())]:
                        self._given.add(f"{known_as}.{name}")
                        self._given.add(f"{known_as}.{name} {signature}")
                        method = module.key(f"{parts[-1]}.{name}")
                        self._signed.setdefault(method, set()).add(f"{known_as}.{name} {signature}")

    def _mention(self, every: list[CrateModule]) -> None:
        """Note the types that users meet in signatures though they have no name for them."""
        spoken: dict[Named, list[tuple[CrateModule, set[str]]]] = {}
        for module in every:
            for item in (each for items in module.items.values() for each in items):
                spoken.setdefault(item.key, []).append((module, words_of(_interface(item.node))))
            for block in module.impls:
                for target in self._resolve_path(module, _type_path(field(block, "type")), 0):
                    if isinstance(target, CrateItem):
                        spoken.setdefault(target.key, []).append((module, words_of(_interface(block))))
        waiting = [key for key in self._items if self.is_seen(*key)]
        while waiting:
            for module, words in spoken.get(waiting.pop(), ()):
                for word in words:
                    for target in self._named_in(module, word, 1):
                        if not isinstance(target, CrateItem) or target.key in self._mentioned:
                            continue
                        if target.is_public and not self.is_seen(*target.key):
                            self._mentioned.add(target.key)
                            waiting.append(target.key)


def crate_surface(paths: set[str], facts: Callable[[str], Facts | None], text: Read, parse: Parse) -> CrateSurface:
    """The surface of the crates of one state."""
    return CrateSurface(RustModules(paths, text), facts, text, parse)


def _modules_below(module: CrateModule) -> Iterator[CrateModule]:
    yield module
    for items in module.items.values():
        for item in items:
            for child in item.child:
                yield from _modules_below(child)


def _local_name(use: CrateUse) -> str:
    """What an outline calls a `use`."""
    return f"* from {'::'.join(use.parts)}" if use.local == "*" else use.local


def _root(module: CrateModule) -> CrateModule:
    while module.parent is not None:
        module = module.parent
    return module


def _type_path(node: Node | None) -> tuple[str, ...]:
    """The path of the type that an `impl` block is for; empty for what is no plain type."""
    if node is None or node.type not in ("type_identifier", "scoped_type_identifier", "generic_type"):
        return ()
    return tuple(re.sub(r"<.*", "", text_of(node), flags=re.DOTALL).replace(" ", "").removesuffix("::").split("::"))


def _is_pub(node: Node) -> bool:
    return any(child.type == "visibility_modifier" and text_of(child) == "pub" for child in node.named_children)


def _header(node: Node) -> str:
    body = field(node, "body")
    end = body.start_byte - node.start_byte if body is not None else None
    header = " ".join((node.text or b"")[:end].decode("utf-8", "replace").split())
    # Whether a function changes the `self` it owns is no concern of callers.
    return header.replace("(mut self", "(self").removesuffix(",")


def _methods(block: Node) -> Iterator[tuple[str, str]]:
    body = field(block, "body")
    for member in body.named_children if body is not None else ():
        name = field(member, "name")
        if member.type in FUNCTIONS and name is not None and _is_pub(member):
            yield text_of(name), _header(member)


def _interface(node: Node) -> str:
    """The part of an item or `impl` block that its users see."""
    body = field(node, "body")
    if node.type in FUNCTIONS or body is None:
        value = field(node, "value")
        if value is not None:
            return (node.text or b"")[: value.start_byte - node.start_byte].decode("utf-8", "replace")
        return _header(node)
    if node.type == "enum_item":
        return text_of(node)
    shown = [_header(node)]
    is_open = node.type == "trait_item" or (node.type == "impl_item" and field(node, "trait") is not None)
    for member in body.named_children if node.type != "mod_item" else ():
        if is_open or _is_pub(member):
            shown.append(_header(member))
    return " ".join(shown)
