"""Repositories for navigation: the same small program in several languages, with marks at the places asked about."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_MARK = re.compile(r"«(\w+)»")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A marked place: `«use»name` marks the name behind it."""

    path: str
    line: int
    column: int


def marked(files: Mapping[str, str]) -> tuple[dict[str, str], dict[str, Mark]]:
    """The files without their marks, and where those were."""
    plain: dict[str, str] = {}
    marks: dict[str, Mark] = {}
    for path, text in files.items():
        lines = []
        for number, line in enumerate(text.split("\n"), 1):
            while found := _MARK.search(line):
                marks[found[1]] = Mark(path=path, line=number, column=found.start() + 1)
                line = line[: found.start()] + line[found.end() :]
            lines.append(line)
        plain[path] = "\n".join(lines)
    return plain, marks


PROGRAMS: dict[str, dict[str, str]] = {
    "python": {
        "shop/__init__.py": "",
        "shop/cart.py": (
            "class «cart»Cart:\n"
            "    def «add»add(self, «item»item):\n        return self.«selfuse»total(«itemuse»item)\n\n"
            "    def «total»total(self, item):\n        return item\n"
        ),
        "shop/main.py": (
            "from shop.cart import «imported»Cart\n\n\ndef main():\n    «local»cart = «cartuse»Cart()\n"
            "    return «localuse»cart.«adduse»add(1)\n"
        ),
    },
    "typescript": {
        "src/cart.ts": (
            "export class «cart»Cart {\n"
            "  «add»add(«item»item: number): number {\n    return this.«selfuse»total(«itemuse»item);\n"
            "  }\n  «total»total(item: number): number {\n    return item;\n  }\n}\n"
        ),
        "src/main.ts": (
            'import { «imported»Cart } from "./cart";\n\nexport function main(): number {\n'
            "  const «local»cart = new «cartuse»Cart();\n  return «localuse»cart.«adduse»add(1);\n}\n"
        ),
    },
    "go": {
        "go.mod": "module example.com/shop\n\ngo 1.22\n",
        "cart/cart.go": (
            "package cart\n\ntype «cart»Cart struct{}\n\nfunc (c *Cart) «add»Add(«item»item int) int {\n"
            "\treturn c.«selfuse»Total(«itemuse»item)\n}\n\n"
            "func (c *Cart) «total»Total(item int) int {\n\treturn item\n}\n"
        ),
        "main.go": (
            'package main\n\nimport "example.com/shop/cart"\n\nfunc main() {\n\t«local»own := &cart.«cartuse»Cart{}\n'
            "\t«localuse»own.«adduse»Add(1)\n}\n"
        ),
    },
    "rust": {
        "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/cart.rs": (
            "pub struct «cart»Cart {}\n\nimpl Cart {\n    pub fn «add»add(&self, «item»item: i32) -> i32 {\n"
            "        self.«selfuse»total(«itemuse»item)\n    }\n\n    pub fn «total»total(&self, item: i32) -> i32 {\n"
            "        item\n    }\n}\n"
        ),
        "src/main.rs": (
            "mod cart;\nuse cart::«imported»Cart;\n\nfn main() {\n    let «local»own = «cartuse»Cart {};\n"
            "    «localuse»own.«adduse»add(1);\n}\n"
        ),
    },
    "java": {
        "src/main/java/shop/Cart.java": (
            "package shop;\n\npublic class «cart»Cart {\n    public int «add»add(int «item»item) {\n"
            "        return this.«selfuse»total(«itemuse»item);\n    }\n\n    public int «total»total(int item) {\n"
            "        return item;\n    }\n}\n"
        ),
        "src/main/java/shop/Main.java": (
            "package shop;\n\npublic class Main {\n    public static int main() {\n"
            "        Cart «local»own = new «cartuse»Cart();\n        return «localuse»own.«adduse»add(1);\n    }\n}\n"
        ),
    },
}
# What is defined where each of them is used.
USES = {
    "cartuse": "cart",
    "imported": "cart",
    "adduse": "add",
    "selfuse": "total",
    "itemuse": "item",
    "localuse": "local",
}
