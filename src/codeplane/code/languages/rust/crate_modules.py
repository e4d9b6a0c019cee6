"""The modules of a Rust crate, with what each declares and who may see it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import tree_sitter

from codeplane.code.languages.modules import Read
from codeplane.code.languages.reserved_words import words
from codeplane.code.languages.rust.modules import RustModules
from codeplane.code.languages.rust.promises import is_unpromised
from codeplane.code.languages.rust.syntax import Node, text_of
from codeplane.code.languages.rust.syntax import field as child_field
from codeplane.code.languages.rust.uses import use_tree

Parse = Callable[[bytes], tree_sitter.Tree]
_ITEMS = words(
    "function_item function_signature_item const_item static_item struct_item enum_item union_item trait_item type_item"
    " mod_item macro_definition"
)
_OTHER_FILE = re.compile(r'\bpath\s*=\s*"([^"]+)"')
_DERIVE = re.compile(r"\bproc_macro_derive\s*\(\s*(\w+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEEPEST = 30


@dataclass(slots=True, kw_only=True, eq=False)
class CrateItem:
    """A definition of a module; `key` is its file and the dotted path there."""

    key: tuple[str, str]
    name: str
    is_public: bool
    is_hidden: bool
    attributes: str
    node: Node
    module: "CrateModule"
    child: "list[CrateModule]" = field(default_factory=list)
    """What a `mod` declares; more than one where attributes choose."""


@dataclass(slots=True, kw_only=True, eq=False)
class CrateUse:
    """A name that a `use` brings into a module; `local` is `*` for all names."""

    parts: tuple[str, ...]
    local: str
    is_public: bool
    is_hidden: bool


@dataclass(slots=True, kw_only=True, eq=False)
class CrateModule:
    """A module: a file or a part of one."""

    path: str
    inside: tuple[str, ...]
    parent: "CrateModule | None"
    items: dict[str, list[CrateItem]] = field(default_factory=dict)
    uses: list[CrateUse] = field(default_factory=list)
    impls: list[Node] = field(default_factory=list)

    def key(self, name: str) -> tuple[str, str]:
        """The file and the dotted path there of a name."""
        return self.path, ".".join((*self.inside, name))


class CrateModules:
    """Reads the modules of crates, each from its root."""

    def __init__(self, modules: RustModules, text: Read, parse: Parse) -> None:
        self._modules = modules
        self._text = text
        self._parse = parse

    def read(self, root: str) -> CrateModule:
        """Return the module that the root of a crate is, with all below it."""
        return self._file(root, None, 0)

    def _file(self, path: str, parent: CrateModule | None, depth: int) -> CrateModule:
        module = CrateModule(path=path, inside=(), parent=parent)
        tree = self._parse(self._text(path) or b"")
        self._add(module, tree.root_node, depth)
        return module

    def _add(self, module: CrateModule, body: Node, depth: int) -> None:
        for node, attributes in _declarations(body):
            is_public = any(
                child.type == "visibility_modifier" and text_of(child) == "pub" for child in node.named_children
            )
            is_hidden = is_unpromised(attributes)
            name = child_field(node, "name")
            if node.type in _ITEMS and name is not None:
                item = CrateItem(
                    key=module.key(text_of(name)),
                    name=text_of(name),
                    is_public=is_public,
                    is_hidden=is_hidden,
                    attributes=attributes,
                    node=node,
                    module=module,
                )
                module.items.setdefault(item.name, []).append(item)
                if node.type == "mod_item" and depth < _DEEPEST:
                    item.child = list(self._children(item, depth))
            elif node.type == "use_declaration" and (argument := child_field(node, "argument")) is not None:
                module.uses += [
                    CrateUse(parts=use.parts, local=use.local, is_public=is_public, is_hidden=is_hidden)
                    for use in use_tree(argument, ())
                ]
            elif node.type == "extern_crate_declaration" and name is not None:
                local = text_of(child_field(node, "alias") or name)
                module.uses.append(
                    CrateUse(parts=("", text_of(name)), local=local, is_public=is_public, is_hidden=is_hidden)
                )
            elif node.type == "impl_item":
                module.impls.append(node)
            elif node.type == "foreign_mod_item" and (inner := child_field(node, "body")) is not None:
                self._add(module, inner, depth)
            elif node.type == "macro_invocation" and depth < _DEEPEST:
                # Macros such as `cfg_rt! { … }` pass on the items that they are given.
                trees = [child for child in node.named_children if child.type == "token_tree"]
                inner_text = (trees[0].text or b"")[1:-1] if trees else b""
                if re.search(rb"\b(?:mod|use|pub)\b", inner_text):
                    self._add(module, self._parse(inner_text).root_node, depth + 1)

    def _children(self, item: CrateItem, depth: int) -> Iterator[CrateModule]:
        module, body = item.module, child_field(item.node, "body")
        if body is not None:
            inner = CrateModule(path=module.path, inside=(*module.inside, item.name), parent=module)
            self._add(inner, body, depth + 1)
            yield inner
            return
        folder = module.path.rpartition("/")[0]
        named = [_joined(folder, path) for path in _OTHER_FILE.findall(item.attributes)]
        found = [path for path in named if self._modules.has(path)]
        if not named or "cfg_attr" in item.attributes:
            found += self._modules.child_files(module.path, module.inside, item.name, is_root=module.parent is None)
        for path in dict.fromkeys(found):
            if not _is_above(path, module):
                yield self._file(path, module, depth + 1)


def derive_name(attributes: str) -> str | None:
    """The name of the macro that a function of a macro crate derives, if it does."""
    found = _DERIVE.search(attributes)
    return found[1] if found is not None else None


def words_of(text: str) -> set[str]:
    """The names that stand in a text."""
    return set(_WORD.findall(text))


def _declarations(body: Node) -> Iterator[tuple[Node, str]]:
    """The declarations in a module, each with the attributes before it."""
    attributes = ""
    for child in body.named_children:
        if child.type == "attribute_item":
            attributes += text_of(child)
        elif "comment" not in child.type:
            node = child.named_child(0) if child.type == "expression_statement" and child.named_child_count else child
            if node is not None:
                yield node, attributes
            attributes = ""


def _joined(folder: str, path: str) -> str:
    parts: list[str] = []
    for part in (*folder.split("/"), *path.split("/")):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _is_above(path: str, module: CrateModule | None) -> bool:
    while module is not None:
        if module.path == path:
            return True
        module = module.parent
    return False
