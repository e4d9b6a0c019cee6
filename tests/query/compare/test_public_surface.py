"""What a package.json exports is public; what it does not reach is not."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from codeplane.code.languages.javascript.modules import JavaScriptModules
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane

pytestmark = requirement("CMP-12")
MANIFEST = """{
  "name": "web",
  "exports": {
    ".": {"types": "./dist/types/index.d.ts", "import": "./dist/index.js"},
    "./utils/*": "./dist/utils/*.js",
    "./package.json": "./package.json"
  }
}
"""
FILES = {
    "package.json": MANIFEST,
    "src/index.ts": "export { App } from './app'\nexport * as shapes from './shapes'\nexport * from './draw'\n",
    "src/app.ts": (
        "import type { Options, Page } from './types'\n\n"
        "export class App {\n  open(options: Options): Page {\n    return { title: '' }\n  }\n}\n\n"
        "export const reset = (all: boolean): void => {}\n"
    ),
    "src/types.ts": (
        "export type Options = { name: string }\n\nexport type Page = { title: string }\n\n"
        "export type Unused = { name: string }\n"
    ),
    "src/shapes.ts": "export const round = (size: number): number => size\n",
    "src/draw.ts": "export const draw = (size: number): number => size\n",
    "src/inner/trie.ts": "export class Trie {\n  insert(path: string): void {}\n}\n",
    "src/utils/text.ts": "export const clip = (text: string): string => text\n",
}


def broken(root: Path) -> set[str]:
    found: set[str] = set()

    async def body(ask: Ask) -> None:
        changes = result(await ask("semantic_diff"))["structural_changes"]
        assert isinstance(changes, list)
        waiting: list[object] = [*changes]
        while waiting:
            change = waiting.pop()
            assert isinstance(change, dict)
            if change["structural_severity"] == "breaking":
                found.add(str(change["qualified_name"]))
            waiting += change.get("nested_changes") or []

    run: Callable[[Ask], Awaitable[None]] = body
    with_plane(root, run, "index.watch=false")
    return found


@pytest.mark.parametrize(
    ("path", "old", "new", "breaks"),
    [
        ("src/inner/trie.ts", "path: string", "path: string, at: number", set()),
        ("src/inner/trie.ts", "class Trie", "class Tree", set()),
        ("src/app.ts", "all: boolean", "all: boolean, deep: boolean", set()),
        ("src/app.ts", "options: Options", "options: Options, deep: boolean", {"App", "App.open"}),
        ("src/shapes.ts", "size: number", "size: number, deep: boolean", {"round"}),
        ("src/draw.ts", "size: number", "size: number, deep: boolean", {"draw"}),
        ("src/utils/text.ts", "text: string)", "text: string, most: number)", {"clip"}),
        ("src/types.ts", "type Unused = { name", "type Unused = { title", set()),
        ("src/types.ts", "{ title: string }", "{ title: number }", {"Page"}),
        # Users give options, and get pages.
        ("src/types.ts", "Options = { name: string }", "Options = { name?: string | number }", set()),
        ("src/types.ts", "Page = { title: string }", "Page = { title?: string | number }", {"Page"}),
        ("src/types.ts", "Options = { name: string }", "Options = { name: string; at: number }", {"Options"}),
        ("src/index.ts", "export * from './draw'\n", "", {"draw", "* from ./draw"}),
        ("src/index.ts", "export * from './draw'", "export { draw } from './draw'", set()),
    ],
)
def test_only_what_the_entry_files_reach_can_break(
    tmp_path: Path, path: str, old: str, new: str, breaks: set[str]
) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new))
    assert broken(root) <= breaks and bool(broken(root)) == bool(breaks)


def test_a_definition_may_move_as_long_as_its_package_gives_it_away(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    (root / "src/paint").mkdir()
    (root / "src/draw.ts").rename(root / "src/paint/line.ts")
    index = root / "src/index.ts"
    index.write_text(index.read_text().replace("./draw", "./paint/line"))
    assert broken(root) == set()
    index.write_text(index.read_text().replace("export * from './paint/line'\n", ""))
    assert broken(root) != set()


def test_an_entry_that_is_no_longer_exported_breaks_what_it_gave(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    (root / "package.json").write_text(MANIFEST.replace("utils/*", "tools/*"))
    (root / "src/utils").rename(root / "src/tools")
    assert broken(root) != set()


@pytest.mark.parametrize("manifest", ["{}", '{"name": "web", "main": "index.js"}', '{"exports": "./gone/a.js"}'])
def test_without_a_list_of_exports_any_file_may_be_imported(tmp_path: Path, manifest: str) -> None:
    root = make_repo(tmp_path / "repo", {**FILES, "package.json": manifest})
    text = (root / "src/inner/trie.ts").read_text()
    (root / "src/inner/trie.ts").write_text(text.replace("path: string", "path: string, at: number"))
    assert "Trie.insert" in broken(root)


def test_entries_are_found_by_what_is_made_of_them() -> None:
    files = {**FILES, "packages/a/package.json": '{"name": "a", "exports": "./index.ts"}', "packages/a/index.ts": ""}
    modules = JavaScriptModules(files, lambda path: files[path].encode())
    assert modules.entry_files("src/inner/trie.ts") == {".": ("src/index.ts",), "./utils/text": ("src/utils/text.ts",)}
    assert modules.entry_files("packages/a/b.ts") == {".": ("packages/a/index.ts",)}


@pytest.mark.parametrize(
    ("manifest", "breaks"),
    [
        ('{"name": "site", "private": true}', False),
        ('{"name": "site", "private": true, "main": "gone.js"}', False),
        ('{"name": "site", "private": true, "main": "page.js"}', True),
        ('{"name": "site"}', True),
    ],
)
def test_nothing_outside_uses_a_package_that_is_never_published(tmp_path: Path, manifest: str, breaks: bool) -> None:
    page = "export function draw(title) {\n  return title\n}\n"
    root = make_repo(tmp_path / "repo", {**FILES, "site/package.json": manifest, "site/page.js": page})
    (root / "site/page.js").write_text(
        page.replace("draw(title)", "draw(title, size, colour)").replace("draw", "paint")
    )
    assert bool(broken(root)) == breaks


def test_a_type_that_is_out_of_reach_with_what_spoke_of_it_breaks_once(tmp_path: Path) -> None:
    node = "export class Node {\n  left: string = ''\n  insert(path: string): void {}\n}\n"
    app = "import { Node } from './node'\n\nexport class App {\n  node: Node = new Node()\n}\n"
    root = make_repo(tmp_path / "repo", {**FILES, "src/app.ts": app, "src/node.ts": node})
    (root / "src/app.ts").write_text(app.replace("node: Node", "#node: Node"))
    (root / "src/node.ts").write_text(node.replace("  left: string = ''\n", "").replace("path: string", "at: number"))
    assert broken(root) == {"App", "App.#node"}


def test_who_gets_values_from_a_package_does_not_write_their_members(tmp_path: Path) -> None:
    app = (
        "export interface Base { id: string }\nexport interface Made extends Base { title: string }\n"
        "export interface Options { deep: boolean }\n\n"
        "export function make(options: Options): Made {\n  return { id: '', title: '' }\n}\n"
        "export function keep(made: Made): void {}\n"
    )
    files = {**FILES, "src/index.ts": "export * from './made'\n", "src/made.ts": app}
    root = make_repo(tmp_path / "repo", files)
    (root / "src/made.ts").write_text(app.replace("id: string }", "id: string; at: number }"))
    assert broken(root) == set()
    (root / "src/made.ts").write_text(app.replace("deep: boolean }", "deep: boolean; most: number }"))
    assert broken(root) == {"Options", "Options.most"}


def test_a_function_without_a_result_gives_nothing_away(tmp_path: Path) -> None:
    text = (
        "export interface Message { data: string }\n\nexport class Stream {\n"
        "  async write(message: Message) {\n    [message].map((each) => {\n      return each.data\n    })\n  }\n}\n"
    )
    root = make_repo(tmp_path / "repo", {**FILES, "src/index.ts": "export * from './stream'\n", "src/stream.ts": text})
    (root / "src/stream.ts").write_text(text.replace("data: string }", "data: string | Promise<string> }"))
    assert broken(root) == set()


def test_scripts_of_the_repository_and_other_files_of_a_package(tmp_path: Path) -> None:
    files = {"setup.py": "def version():\n    return 1\n", "a/one.go": "package a\n\nconst Most = 1\n"}
    root = make_repo(tmp_path / "repo", {**files, "a/two.go": "package a\n\nfunc Go() {}\n"})
    (root / "setup.py").write_text("x = 1\n")
    (root / "a/one.go").write_text("package a\n\nfunc Rest() int { return 2 }\n")
    (root / "a/two.go").write_text("package a\n\nfunc Go() {}\n\nconst (\n\tLeast = 0\n\tMost = 1 << iota\n)\n")
    assert broken(root) == set()


MAKERS = {
    "package.json": '{"name": "web", "exports": "./dist/index.js"}\n',
    "src/index.ts": "export { build, create } from './make'\nexport type { Plan, Tool, Unit } from './types'\n",
    "src/make.ts": (
        "import type { Create, Plan, Tool } from './types'\n\n"
        "export function build(plan: Plan, use: (tool: Tool) => void): void {\n  use(tool)\n}\n\n"
        "export const create = ((all) => all) as Create\n"
    ),
    "src/types.ts": (
        "export interface Plan {\n  name: string\n}\n\nexport interface Tool {\n  name: string\n}\n\n"
        "export interface Unit {\n  name: string\n}\n\nexport type Create = {\n  (name: string): Unit\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("old", "new", "breaks"),
    [
        # What users write themselves, and what they get: as the result of a call, or in a function that they pass.
        ("interface Plan {\n", "interface Plan {\n  size: number\n", {"Plan", "Plan.size"}),
        ("interface Tool {\n", "interface Tool {\n  size: number\n", set[str]()),
        ("interface Unit {\n", "interface Unit {\n  size: number\n", set[str]()),
        # Nobody had a name for it.
        ("export type Create = {", "type Create = {", set[str]()),
        ("export interface Unit {", "interface Unit {", {"Unit"}),
    ],
)
def test_who_makes_the_values_of_a_type(tmp_path: Path, old: str, new: str, breaks: set[str]) -> None:
    root = make_repo(tmp_path / "repo", MAKERS)
    types = root / "src/types.ts"
    assert old in types.read_text()
    types.write_text(types.read_text().replace(old, new))
    assert broken(root) == breaks


def test_sources_may_be_in_a_folder_of_another_name(tmp_path: Path) -> None:
    files = {
        "package.json": '{"name": "web", "exports": {"types": "./distribution/index.d.ts"}}\n',
        "source/index.ts": "export { open } from './open.js'\n",
        "source/open.ts": "export const open = (name: string): void => {}\n",
        "source/inner.ts": "export const inner = (name: string): void => {}\n",
    }
    root = make_repo(tmp_path / "repo", files)
    for name in ("open", "inner"):
        path = root / f"source/{name}.ts"
        path.write_text(path.read_text().replace("string", "number"))
    assert broken(root) == {"open"}


@pytest.mark.parametrize(
    ("folder", "also", "breaks"),
    [
        ("till", {}, False),
        ("till", {"pyproject.toml": ""}, True),
        ("till", {"till/__init__.py": ""}, True),
        ("till", {"setup.cfg": ""}, True),
        ("tools", {"setup.cfg": ""}, False),
        ("tools", {"tools/__init__.py": ""}, True),
    ],
)
def test_scripts_of_a_repository_without_packages_are_used_by_nobody(
    tmp_path: Path, folder: str, also: dict[str, str], breaks: bool
) -> None:
    files = {f"{folder}/table.py": "def fill(name):\n    return name\n", "src/lib.rs": "pub fn open() {}\n", **also}
    root = make_repo(tmp_path / "repo", files)
    (root / folder / "table.py").write_text("def fill(name, size):\n    return name\n")
    assert broken(root) == ({"fill"} if breaks else set())


def test_what_a_class_holds_is_read_by_users(tmp_path: Path) -> None:
    text = "export class Failure {\n  public request: Request\n  constructor(request: Own) {}\n}\n"
    files = {
        "package.json": MANIFEST,
        "src/index.ts": "export { Failure } from './failure'\n",
        "src/failure.ts": "import type { Own } from './own'\n\n" + text,
        "src/own.ts": "export type Own = { json(): string } & Request\n",
    }
    root = make_repo(tmp_path / "repo", files)
    failure = root / "src/failure.ts"
    failure.write_text(failure.read_text().replace("public request: Request", "public request: Own"))
    assert broken(root) == set()
    failure.write_text(failure.read_text().replace("public request: Own", "public request: string"))
    assert broken(root) == {"Failure", "Failure.request"}


HOOKS = {
    "package.json": '{"name": "web", "exports": "./dist/index.js"}\n',
    "src/index.ts": "export { create } from './make'\nexport type { Client, Hook, Options, State } from './types'\n",
    "src/make.ts": "import type { Client } from './types'\n\nexport const create = (): Client => client\n",
    "src/types.ts": (
        "export type Hook = (request: Request) => void\n\nexport interface Options {\n  hooks: Hook[]\n}\n\n"
        "export interface State {\n  size: number\n}\n\n"
        "export interface Client {\n  (options: Options, done: (state: State) => void): void\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("old", "new", "breaks"),
    [
        # Users write these functions, and may ignore what they get in addition.
        ("(request: Request) => void", "(request: Request & { id: string }, size: number) => void", False),
        ("(request: Request) => void", "(size: number) => void", True),
        ("hooks: Hook[]\n", "hooks: Hook[]\n  name: string\n", True),
        ("size: number\n", "size: number\n  name: string\n", False),
    ],
)
def test_what_users_give_to_a_function_that_they_get(tmp_path: Path, old: str, new: str, breaks: bool) -> None:
    root = make_repo(tmp_path / "repo", HOOKS)
    types = root / "src/types.ts"
    assert old in types.read_text()
    types.write_text(types.read_text().replace(old, new))
    assert bool(broken(root)) == breaks


def test_a_pattern_for_every_file_is_no_promise_beside_others(tmp_path: Path) -> None:
    paths = {"package.json", "src/index.ts", "src/inner.ts", "jest.config.js"}
    text = b'{"name": "a", "exports": {".": "./dist/index.js", "./*": "./*"}}'
    modules = JavaScriptModules(paths, lambda path: text if path == "package.json" else None)
    assert modules.entry_files("src/inner.ts") == {".": ("src/index.ts",)}
