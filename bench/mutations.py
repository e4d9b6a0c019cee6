"""Changes with known labels: a file of each language, and edits of which it is known whether they break users."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One edit: what it does, the file before and after, and whether it breaks who uses the file."""

    language: str
    what: str
    path: str
    before: str
    after: str
    breaking: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A file, and edits of it: what, the text that is replaced, what it becomes, and whether that breaks."""

    language: str
    path: str
    text: str
    breaking: tuple[tuple[str, str, str], ...]
    harmless: tuple[tuple[str, str, str], ...]


PYTHON = Template(
    language="python",
    path="shop/orders.py",
    text='''"""Orders."""
from dataclasses import dataclass
from abc import ABC, abstractmethod

LIMIT = 100
_CACHE = {}


def total(items, tax=0.2, *extra, rounding="half", **options):
    """Sum it up."""
    result = sum(items)
    if tax:
        result = result * (1 + tax)
    return result


def find(key, default=None):
    # look it up
    return _CACHE.get(key, default)


def at(place, /, other):
    return place + other


async def fetch(url, *, retries: int = 3) -> bytes:
    return await _get(url, retries)


def _get(url, retries):
    return url


class Base:
    def describe(self):
        return "base"


class Mixin:
    pass


class Order(Base, Mixin):
    """An order."""

    kind = "order"

    def __init__(self, number, lines=()):
        self.number = number
        self.lines = list(lines)

    @property
    def size(self):
        return len(self.lines)

    @staticmethod
    def parse(text):
        return Order(text)

    @classmethod
    def empty(cls, number):
        return cls(number)

    def add(self, line, count=1):
        for _ in range(count):
            self.lines.append(line)
        return self

    def _check(self, line):
        return bool(line)


@dataclass
class Point:
    x: int
    y: int = 0


class Shape(ABC):
    @abstractmethod
    def area(self): ...

    def name(self):
        return "shape"


class Book(TypedDict):
    title: str


class Missing(LookupError):
    pass


class Special(Order):
    pass


class Plain(Base):
    pass


def listed(lines):
    return [one for one in lines]


def backwards(lines):
    yield from lines[::-1]


def walked(lines) -> Iterator[str]:
    return iter(lines)


@overload
def shown(value: int) -> str: ...
@overload
def shown(value: str) -> str: ...
def shown(value):
    return str(value)
''',
    breaking=(
        ("required parameter added", "def find(key, default=None):", "def find(key, kind, default=None):"),
        (
            "required keyword added",
            "def fetch(url, *, retries: int = 3)",
            "def fetch(url, *, timeout, retries: int = 3)",
        ),
        ("parameter removed", "def find(key, default=None):", "def find(key):"),
        ("parameter renamed", "def find(key, default=None):", "def find(name, default=None):"),
        ("parameters in another order", "def add(self, line, count=1):", "def add(self, count=1, line=None):"),
        (
            "optional parameter put first",
            "def find(key, default=None):",
            "def find(strict=False, key=None, default=None):",
        ),
        ("default removed", "def find(key, default=None):", "def find(key, default):"),
        ("made keyword-only", "def find(key, default=None):", "def find(key, *, default=None):"),
        ("made positional-only", "def find(key, default=None):", "def find(key, default=None, /):"),
        ("*args removed", "tax=0.2, *extra, rounding", "tax=0.2, *, rounding"),
        ("**kwargs removed", ', rounding="half", **options):', ', rounding="half"):'),
        ("keyword parameter removed with nothing to take it", ', rounding="half", **options):', "):"),
        ("function removed", "def at(place, /, other):\n    return place + other\n\n\n", ""),
        ("function renamed", "def at(place, /, other):", "def located(place, /, other):"),
        ("constant removed", "LIMIT = 100\n", ""),
        (
            "class removed",
            "class Mixin:\n    pass\n\n\n",
            "",
        ),
        ("class renamed", "class Point:", "class Pair:"),
        ("base class removed", "class Order(Base, Mixin):", "class Order(Base):"),
        ("method removed", '    def name(self):\n        return "shape"\n', "    pass\n"),
        ("method renamed", "    def add(self, line, count=1):", "    def append(self, line, count=1):"),
        (
            "constructor asks for more",
            "def __init__(self, number, lines=()):",
            "def __init__(self, number, customer, lines=()):",
        ),
        ("property made a method", "    @property\n    def size(self):", "    def size(self):"),
        ("method made a property", "    def describe(self):", "    @property\n    def describe(self):"),
        ("async made sync", "async def fetch(", "def fetch("),
        ("sync made async", "def find(key", "async def find(key"),
        ("static made a method", "    @staticmethod\n    def parse(text):", "    def parse(self, text):"),
        ("class method made a method", "    @classmethod\n    def empty(cls, number):", "    def empty(self, number):"),
        ("class attribute removed", '    kind = "order"\n\n', ""),
        ("instance attribute removed", "        self.number = number\n", ""),
        ("required field added to a dataclass", "    x: int\n", "    x: int\n    z: int\n"),
        ("default of a field removed", "    y: int = 0\n", "    y: int\n"),
        ("field put before others", "    y: int = 0\n", "    w: int = 0\n    y: int = 0\n"),
        ("key of a typed dictionary added", "    title: str\n", "    title: str\n    author: str\n"),
        ("base class is a wider one", "class Missing(LookupError):", "class Missing(Exception):"),
        ("base class is one above", "class Special(Order):", "class Special(Base):"),
        ("list made a generator", "    return [one for one in lines]\n", "    yield from lines\n"),
        ("generator made a list", "    yield from lines[::-1]\n", "    return lines[::-1]\n"),
        ("implementation behind overloads asks for more", "def shown(value):", "def shown(value, how):"),
        (
            "abstract method added",
            "    def name(self):\n",
            "    @abstractmethod\n    def edges(self): ...\n\n    def name(self):\n",
        ),
        ("method made abstract", "    def name(self):\n", "    @abstractmethod\n    def name(self):\n"),
        ("name made private", "def find(key", "def _find(key"),
    ),
    harmless=(
        ("optional parameter added last", "def find(key, default=None):", "def find(key, default=None, strict=False):"),
        (
            "optional keyword added",
            "def fetch(url, *, retries: int = 3)",
            "def fetch(url, *, retries: int = 3, timeout=None)",
        ),
        ("*args added", "def find(key, default=None):", "def find(key, default=None, *more):"),
        ("default added", "def at(place, /, other):", "def at(place, /, other=1):"),
        ("default changed", "tax=0.2", "tax=0.25"),
        (
            "keyword-only made positional, too",
            "def fetch(url, *, retries: int = 3)",
            "def fetch(url, retries: int = 3)",
        ),
        ("positional-only may be named", "def at(place, /, other):", "def at(place, other):"),
        (
            "positional-only renamed",
            "def at(place, /, other):\n    return place",
            "def at(spot, /, other):\n    return spot",
        ),
        ("*args renamed", "*extra,", "*others,"),
        ("annotation added", "def find(key, default=None):", "def find(key: str, default=None):"),
        ("return annotation changed", "-> bytes:", "-> bytearray:"),
        ("private function removed", "def _get(url, retries):\n    return url\n\n\n", ""),
        ("private function asks for more", "def _get(url, retries):", "def _get(url, retries, more):"),
        ("private method removed", "    def _check(self, line):\n        return bool(line)\n", "    pass\n"),
        ("private constant removed", "_CACHE = {}\n", ""),
        ("body changed", "    result = sum(items)\n", "    result = 0\n    for one in items:\n        result += one\n"),
        (
            "indentation decides otherwise",
            "            self.lines.append(line)\n        return self",
            "            self.lines.append(line)\n            return self",
        ),
        ("constant has another value", "LIMIT = 100", "LIMIT = 200"),
        ("function added", "def at(place", "def more():\n    return 1\n\n\ndef at(place"),
        (
            "method added",
            "    def _check(self",
            "    def clear(self):\n        self.lines.clear()\n\n    def _check(self",
        ),
        ("base class added", "class Mixin:", "class Mixin(Base):"),
        ("decorator added", "def at(place", "@cached\ndef at(place"),
        ("optional field added to a dataclass", "    y: int = 0\n", "    y: int = 0\n    z: int = 0\n"),
        ("field got a default", "    x: int\n", "    x: int = 0\n"),
        ("constant of a class added to a dataclass", "    y: int = 0\n", "    y: int = 0\n    kinds: ClassVar[int]\n"),
        (
            "optional key of a typed dictionary added",
            "    title: str\n",
            "    title: str\n    author: NotRequired[str]\n",
        ),
        ("base class is a narrower one", "class Missing(LookupError):", "class Missing(KeyError):"),
        ("base class is reached through another", "class Plain(Base):", "class Plain(Order):"),
        ("a generator inside", "    return [one for one in lines]\n", "    return list(one for one in lines)\n"),
        ("an overload less", "@overload\ndef shown(value: int) -> str: ...\n", ""),
        ("still an iterator", "    return iter(lines)\n", "    yield from lines\n"),
        ("docstring changed", '"""Sum it up."""', '"""All of it."""'),
        ("comment changed", "# look it up", "# find it"),
        ("laid out again", "def find(key, default=None):", "def find(\n    key,\n    default=None,\n):"),
    ),
)

TYPESCRIPT = Template(
    language="typescript",
    path="src/cart.ts",
    text="""import { log } from "./log";

export const LIMIT: number = 10;
const hidden = 1;

/** Adds. */
export function add(a: number, b: number, label?: string, step = 1): number {
  return a + b * step;
}

export function pick(value: string | number): string | undefined {
  return String(value);
}

export function rest(first: string, ...others: string[]): void {
  log(first, others);
}

function inner(a: number): number {
  return a;
}

export const twice = (x: number): number => x * 2;

export async function load(url: string): Promise<string> {
  return url;
}

export interface Options {
  name: string;
  size?: number;
  run(times: number): void;
}

export type Shape = { kind: string; side?: number };
export type Mode = "fast" | "slow";

export enum Level {
  Low,
  High = 5,
}

export class Base {
  hello(): void {}
}

export class Cart extends Base {
  private secret = 1;
  total: number = 0;
  constructor(readonly owner: string) {
    super();
  }
  static make(owner: string): Cart {
    return new Cart(owner);
  }
  get size(): number {
    return this.total;
  }
  push(item: string, count: number = 1): this {
    this.total += count;
    return this;
  }
  protected check(item: string): boolean {
    return item !== "";
  }
  private reset(): void {
    this.total = 0;
  }
}

export abstract class Job {
  abstract go(): void;
  stop(): void {}
}

export { inner as helper };
""",
    breaking=(
        ("required parameter added", "b: number, label?: string", "b: number, c: number, label?: string"),
        (
            "required parameter added last",
            "rest(first: string, ...others",
            "rest(first: string, second: string, ...others",
        ),
        ("parameter removed", "push(item: string, count: number = 1)", "push(item: string)"),
        ("optional made required", "label?: string, step = 1", "label: string, step = 1"),
        ("default removed", "count: number = 1", "count: number"),
        ("parameter type narrowed", "value: string | number)", "value: string)"),
        ("parameter type is another", "add(a: number, b", "add(a: string, b"),
        ("parameters in another order", "load(url: string)", "load(base: URL, url: string)"),
        ("rest removed", "rest(first: string, ...others: string[])", "rest(first: string)"),
        (
            "function removed",
            "export function pick(value: string | number): string | undefined {\n  return String(value);\n}\n",
            "",
        ),
        ("no longer exported", "export function pick", "function pick"),
        (
            "imported where it was defined",
            "export function pick(value: string | number): string | undefined {\n  return String(value);\n}\n",
            'import { pick } from "./pick";\n',
        ),
        ("function renamed", "export function pick(", "export function choose("),
        ("constant removed", "export const LIMIT: number = 10;\n", ""),
        ("arrow function asks for more", "twice = (x: number)", "twice = (x: number, y: number)"),
        (
            "async made sync",
            "export async function load(url: string): Promise<string>",
            "export function load(url: string): string",
        ),
        (
            "return type is another",
            "export const twice = (x: number): number",
            "export const twice = (x: number): string",
        ),
        ("return type widened", "load(url: string): Promise<string>", "load(url: string): Promise<string | null>"),
        ("required member added to an interface", "  size?: number;", "  size?: number;\n  color: string;"),
        (
            "required method added to an interface",
            "  run(times: number): void;",
            "  run(times: number): void;\n  halt(): void;",
        ),
        ("member removed from an interface", "  name: string;\n", ""),
        ("optional member made required", "  size?: number;\n", "  size: number;\n"),
        ("member of another type", "  name: string;\n", "  name: number;\n"),
        ("member removed from a type", "{ kind: string; side?: number }", "{ side?: number }"),
        ("required member added to a type", "side?: number }", "side?: number; top: number }"),
        ("alternative removed from a type", '"fast" | "slow"', '"fast"'),
        ("enum member removed", "  Low,\n", ""),
        ("class no longer extends", "class Cart extends Base {", "class Cart {"),
        (
            "constructor asks for more",
            "constructor(readonly owner: string)",
            "constructor(readonly owner: string, size: number)",
        ),
        ("static made a method", "static make(", "make("),
        ("getter made a method", "get size()", "size()"),
        ("method made private", "  push(item", "  private push(item"),
        ("field removed", "  total: number = 0;\n", ""),
        ("field made read-only", "  total: number = 0;", "  readonly total: number = 0;"),
        ("abstract method added", "  abstract go(): void;", "  abstract go(): void;\n  abstract pause(): void;"),
        ("class made abstract", "export class Base {", "export abstract class Base {"),
        ("alias given away no longer", "export { inner as helper };\n", ""),
        ("protected method removed", '  protected check(item: string): boolean {\n    return item !== "";\n  }\n', ""),
    ),
    harmless=(
        ("optional parameter added", "load(url: string)", "load(url: string, retry?: boolean)"),
        ("parameter with default added", "load(url: string)", "load(url: string, retry = 3)"),
        (
            "parameter renamed",
            "load(url: string): Promise<string> {\n  return url;",
            "load(place: string): Promise<string> {\n  return place;",
        ),
        ("required made optional", "push(item: string, count", 'push(item: string = "", count'),
        ("rest added", "twice = (x: number)", "twice = (x: number, ...more: number[])"),
        ("parameter type widened", "value: string | number)", "value: string | number | boolean)"),
        ("return type narrowed", "): string | undefined {", "): string {"),
        ("default changed", "step = 1", "step = 2"),
        ("optional member added to an interface", "  size?: number;", "  size?: number;\n  color?: string;"),
        ("optional member added to a type", "side?: number }", "side?: number; top?: number }"),
        ("alternative added to a type", '"fast" | "slow"', '"fast" | "slow" | "idle"'),
        ("enum member added", "  High = 5,", "  High = 5,\n  Top = 9,"),
        ("private method removed", "  private reset(): void {\n    this.total = 0;\n  }\n", ""),
        ("private field removed", "  private secret = 1;\n", ""),
        ("inner function asks for less", "const hidden = 1;\n", ""),
        ("body changed", "return a + b * step;", "const sum = a + b;\n  return sum * step;"),
        ("method added", "  stop(): void {}", "  stop(): void {}\n  start(): void {}"),
        (
            "function added",
            "export const twice",
            "export function half(x: number): number { return x / 2; }\n\nexport const twice",
        ),
        ("value changed", "LIMIT: number = 10", "LIMIT: number = 20"),
        ("comment changed", "/** Adds. */", "/** Adds two. */"),
        (
            "laid out again",
            "export function add(a: number, b: number, label?: string, step = 1): number {",
            "export function add(\n  a: number,\n  b: number,\n  label?: string,\n  step = 1,\n): number {",
        ),
        ("exported besides", "function inner(", "export function inner("),
        ("import removed", 'import { log } from "./log";\n', ""),
        (
            "passed on from elsewhere",
            "export function pick(value: string | number): string | undefined {\n  return String(value);\n}\n",
            'export { pick } from "./pick";\n',
        ),
    ),
)

JAVASCRIPT = Template(
    language="javascript",
    path="src/tools.js",
    text="""export function join(a, b, sep = ",") {
  return a + sep + b;
}

export function open({ path, mode }, done) {
  return done(path, mode);
}

export const wrap = (text) => `<${text}>`;

function own(a) {
  return a;
}

export function all(first, ...rest) {
  return [first, rest];
}

export class Box {
  #inner = 1;
  constructor(size) {
    this.size = size;
  }
  static of(size) {
    return new Box(size);
  }
  get area() {
    return this.size ** 2;
  }
  grow(by, times = 1) {
    this.size += by * times;
    return this;
  }
}

export async function read(path) {
  return path;
}

export { own as mine };
""",
    breaking=(
        ("required parameter added", 'join(a, b, sep = ",")', 'join(a, b, c, sep = ",")'),
        ("required parameter added last", "wrap = (text)", "wrap = (text, tag)"),
        ("parameter removed", "grow(by, times = 1)", "grow(by)"),
        ("default removed", "times = 1", "times"),
        ("parameters in another order", "join(a, b,", "join(b, a,"),
        ("rest removed", "all(first, ...rest) {\n  return [first, rest]", "all(first) {\n  return [first]"),
        (
            "member no longer taken",
            "{ path, mode }, done) {\n  return done(path, mode)",
            "{ path }, done) {\n  return done(path)",
        ),
        ("no longer exported", "export function join", "function join"),
        ("function removed", "export async function read(path) {\n  return path;\n}\n", ""),
        ("function renamed", "export function join(", "export function concat("),
        ("method removed", "  static of(size) {\n    return new Box(size);\n  }\n", ""),
        ("static made a method", "static of(", "of("),
        ("getter made a method", "get area()", "area()"),
        ("async made sync", "export async function read", "export function read"),
        ("constructor asks for more", "constructor(size)", "constructor(size, color)"),
        ("alias no longer given", "export { own as mine };\n", ""),
        ("class renamed", "export class Box {", "export class Crate {"),
    ),
    harmless=(
        ("optional parameter added", "read(path)", "read(path, encoding = 'utf8')"),
        ("rest added", "wrap = (text)", "wrap = (text, ...more)"),
        ("parameter renamed", "read(path) {\n  return path", "read(place) {\n  return place"),
        ("default changed", 'sep = ","', 'sep = ";"'),
        ("default added", "join(a, b, sep", "join(a, b = 1, sep"),
        ("one more member taken", "{ path, mode }", "{ path, mode, flags }"),
        ("private field removed", "  #inner = 1;\n", ""),
        ("body changed", "return a + sep + b;", "return [a, b].join(sep);"),
        ("inner function changed", "function own(a) {\n  return a;", "function own(a) {\n  return a + 1;"),
        ("method added", "  get area()", "  shrink(by) {\n    this.size -= by;\n  }\n  get area()"),
        ("function added", "export class Box", "export function none() {}\n\nexport class Box"),
        ("comment added", "export function join", "// joins\nexport function join"),
    ),
)

GO = Template(
    language="go",
    path="store/store.go",
    text="""package store

import "errors"

// Limit is how many.
const Limit = 10

var ErrNone = errors.New("none")

func Open(path string, flags int) (*Store, error) {
	return &Store{Path: path}, nil
}

func Join(parts ...string) string {
	out := ""
	for _, part := range parts {
		out += part
	}
	return out
}

func helper(a int) int { return a }

type Store struct {
	Path  string
	Size  int
	cache map[string]int
}

func (s *Store) Get(key string) (int, bool) {
	value, ok := s.cache[key]
	return value, ok
}

func (s Store) Len() int { return s.Size }

func (s *Store) reset() { s.cache = nil }

type Reader interface {
	Read(p []byte) (int, error)
	Close() error
}

type ID int
type Handler func(key string) error

func Map[T any](in []T, f func(T) T) []T { return in }
""",
    breaking=(
        ("parameter added", "Open(path string, flags int)", "Open(path string, flags int, mode int)"),
        ("variadic parameter added", "Open(path string, flags int)", "Open(path string, flags int, opts ...int)"),
        ("parameter removed", "Open(path string, flags int)", "Open(path string)"),
        ("parameter type changed", "Get(key string)", "Get(key []byte)"),
        ("parameters in another order", "Open(path string, flags int)", "Open(flags int, path string)"),
        ("result added", "func Join(parts ...string) string", "func Join(parts ...string) (string, error)"),
        ("result type changed", "func (s Store) Len() int", "func (s Store) Len() int64"),
        (
            "function removed",
            'func Join(parts ...string) string {\n\tout := ""\n\tfor _, part := range parts {\n'
            "\t\tout += part\n\t}\n\treturn out\n}\n",
            "",
        ),
        ("function renamed", "func Join(", "func Concat("),
        ("function no longer exported", "func Open(", "func open("),
        ("method removed", "func (s Store) Len() int { return s.Size }\n", ""),
        ("field removed", "\tPath  string\n", ""),
        ("field of another type", "\tSize  int\n", "\tSize  int64\n"),
        ("field renamed", "\tPath  string\n", "\tName  string\n"),
        ("method added to an interface", "\tClose() error\n", "\tClose() error\n\tSync() error\n"),
        ("method removed from an interface", "\tClose() error\n", ""),
        ("interface method changed", "Read(p []byte) (int, error)", "Read(p []byte, n int) (int, error)"),
        ("type is another", "type ID int", "type ID string"),
        ("function type changed", "type Handler func(key string) error", "type Handler func(key string)"),
        ("method of a pointer now", "func (s Store) Len()", "func (s *Store) Len()"),
        (
            "type parameter added",
            "func Map[T any](in []T, f func(T) T) []T",
            "func Map[T, U any](in []T, f func(T) U) []U",
        ),
        ("constant removed", "const Limit = 10\n", ""),
        ("variable removed", 'var ErrNone = errors.New("none")\n', ""),
        ("variadic made a slice", "func Join(parts ...string)", "func Join(parts []string)"),
    ),
    harmless=(
        ("parameter renamed", "func Open(path string, flags int)", "func Open(path string, mode int)"),
        ("parameters declared together", "in []T, f func(T) T)", "in []T, fn func(T) T)"),
        (
            "receiver renamed",
            "func (s Store) Len() int { return s.Size }",
            "func (st Store) Len() int { return st.Size }",
        ),
        ("private function changed", "func helper(a int) int", "func helper(a, b int) int"),
        ("private function removed", "func helper(a int) int { return a }\n", ""),
        ("private method removed", "func (s *Store) reset() { s.cache = nil }\n", ""),
        ("private field removed", "\tcache map[string]int\n", ""),
        ("field added", "\tSize  int\n", "\tSize  int\n\tMode  int\n"),
        ("function added", "func helper(", "func Close() {}\n\nfunc helper("),
        ("method added", "func (s *Store) reset()", "func (s *Store) Set(key string) {}\n\nfunc (s *Store) reset()"),
        ("body changed", "out += part", "out = out + part"),
        ("constant has another value", "const Limit = 10", "const Limit = 20"),
        ("comment changed", "// Limit is how many.", "// Limit is the most."),
        ("aligned again", "\tPath  string\n\tSize  int\n", "\tPath string\n\tSize int\n"),
        ("method of a value now", "func (s *Store) Get(", "func (s Store) Get("),
    ),
)

RUST = Template(
    language="rust",
    path="src/lib.rs",
    text="""use std::fmt;

pub const LIMIT: usize = 10;

/// Opens.
pub fn open(path: &str, flags: u32) -> Result<Store, Error> {
    Ok(Store { path: path.to_string(), size: flags })
}

pub fn map<T: Clone>(items: Vec<T>) -> Vec<T> {
    items
}

pub(crate) fn near(a: i32) -> i32 {
    a
}

fn helper(a: i32) -> i32 {
    a + 1
}

#[derive(Debug, Clone)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

pub struct Store {
    pub path: String,
    size: u32,
}

impl Store {
    pub fn get(&self, key: &str) -> Option<u32> {
        Some(self.size)
    }

    pub fn clear(&mut self) {
        self.size = 0;
    }

    fn check(&self) -> bool {
        true
    }
}

pub enum Error {
    Missing,
    Denied(String),
}

#[non_exhaustive]
pub enum Mode {
    Fast,
    Slow,
}

pub trait Source {
    fn read(&mut self) -> u8;
    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.read();
        }
    }
}

pub type Id = u64;
pub struct Pair(pub i32, pub i32);
""",
    breaking=(
        ("parameter added", "open(path: &str, flags: u32)", "open(path: &str, flags: u32, mode: u32)"),
        ("parameter removed", "open(path: &str, flags: u32)", "open(path: &str)"),
        ("parameter type changed", "key: &str)", "key: String)"),
        ("parameters in another order", "open(path: &str, flags: u32)", "open(flags: u32, path: &str)"),
        ("return type changed", "-> Option<u32>", "-> u32"),
        ("function removed", "pub fn map<T: Clone>(items: Vec<T>) -> Vec<T> {\n    items\n}\n", ""),
        ("function renamed", "pub fn open(", "pub fn connect("),
        ("made private", "pub fn map<", "fn map<"),
        ("made crate-private", "pub fn open(", "pub(crate) fn open("),
        ("bound added", "map<T: Clone>", "map<T: Clone + Send>"),
        ("made async", "pub fn open(", "pub async fn open("),
        ("made unsafe", "pub fn open(", "pub unsafe fn open("),
        ("receiver is mutable now", "pub fn get(&self", "pub fn get(&mut self"),
        ("method removed", "    pub fn clear(&mut self) {\n        self.size = 0;\n    }\n", ""),
        ("method made private", "pub fn clear(", "fn clear("),
        ("field removed", "    pub y: i32,\n", ""),
        ("field of another type", "    pub y: i32,", "    pub y: i64,"),
        ("field made private", "    pub path: String", "    path: String"),
        ("field added to a struct of public fields", "    pub y: i32,\n", "    pub y: i32,\n    pub z: i32,\n"),
        ("variant added", "    Missing,\n", "    Missing,\n    Late,\n"),
        ("variant removed", "    Missing,\n", ""),
        ("variant holds another thing", "Denied(String)", "Denied(u32)"),
        (
            "required method added to a trait",
            "    fn read(&mut self) -> u8;",
            "    fn read(&mut self) -> u8;\n    fn close(&mut self);",
        ),
        (
            "default of a trait method removed",
            "    fn skip(&mut self, count: usize) {\n        for _ in 0..count {\n"
            "            self.read();\n        }\n    }",
            "    fn skip(&mut self, count: usize);",
        ),
        ("no longer derives", "#[derive(Debug, Clone)]", "#[derive(Debug)]"),
        ("type is another", "pub type Id = u64;", "pub type Id = u32;"),
        ("tuple struct holds more", "Pair(pub i32, pub i32)", "Pair(pub i32, pub i32, pub i32)"),
        ("constant removed", "pub const LIMIT: usize = 10;\n", ""),
        ("constant of another type", "LIMIT: usize", "LIMIT: u32"),
    ),
    harmless=(
        ("parameter renamed", "open(path: &str, flags: u32)", "open(path: &str, mode: u32)"),
        ("crate-private function changed", "near(a: i32)", "near(a: i64)"),
        ("private function removed", "fn helper(a: i32) -> i32 {\n    a + 1\n}\n", ""),
        ("private method removed", "    fn check(&self) -> bool {\n        true\n    }\n", ""),
        ("private field added beside a private one", "    size: u32,\n}", "    size: u32,\n    mode: u32,\n}"),
        ("variant added where that is expected", "    Fast,\n", "    Fast,\n    Idle,\n"),
        (
            "provided method added to a trait",
            "    fn read(&mut self) -> u8;",
            "    fn read(&mut self) -> u8;\n    fn ready(&self) -> bool { true }",
        ),
        ("function added", "fn helper(", "pub fn more() {}\n\nfn helper("),
        ("method added", "    fn check(&self)", "    pub fn len(&self) -> u32 { self.size }\n\n    fn check(&self)"),
        ("made public", "fn helper(", "pub fn helper("),
        ("body changed", "        self.size = 0;", "        self.size = 1 - 1;"),
        ("derives more", "#[derive(Debug, Clone)]", "#[derive(Debug, Clone, PartialEq)]"),
        ("made const", "pub fn open(", "pub const fn open("),
        ("comment changed", "/// Opens.", "/// Opens it."),
        ("value changed", "LIMIT: usize = 10", "LIMIT: usize = 20"),
    ),
)

JAVA = Template(
    language="java",
    path="src/main/java/shop/Cart.java",
    text="""package shop;

import java.util.List;

/** A cart. */
public class Cart extends Base implements Basket {
    public static final int LIMIT = 10;
    protected String owner;
    private int count;

    public Cart(String owner) {
        this.owner = owner;
    }

    public int add(String item, int times) {
        count += times;
        return count;
    }

    public int add(String item) {
        return add(item, 1);
    }

    public static Cart of(String owner) {
        return new Cart(owner);
    }

    protected void check(String item) {
    }

    void inside() {
    }

    private void reset() {
        count = 0;
    }

    public <T> List<T> all(List<? extends T> items) {
        return null;
    }

    public interface Listener {
        void added(String item);

        default void removed(String item) {
        }
    }

    public enum State {
        OPEN, CLOSED
    }
}
""",
    breaking=(
        ("parameter added", "add(String item, int times)", "add(String item, int times, boolean now)"),
        ("parameter type changed", "of(String owner)", "of(CharSequence owner)"),
        ("parameters in another order", "add(String item, int times)", "add(int times, String item)"),
        ("return type changed", "public int add(String item) {", "public long add(String item) {"),
        ("overload removed", "    public int add(String item) {\n        return add(item, 1);\n    }\n", ""),
        ("method renamed", "public static Cart of(", "public static Cart make("),
        ("method removed", "    public static Cart of(String owner) {\n        return new Cart(owner);\n    }\n", ""),
        ("made private", "public static Cart of(", "private static Cart of("),
        ("made package-private", "public static Cart of(", "static Cart of("),
        ("public made protected", "public int add(String item) {", "protected int add(String item) {"),
        ("static no longer", "public static Cart of(", "public Cart of("),
        ("method made final", "protected void check(", "protected final void check("),
        ("class made final", "public class Cart", "public final class Cart"),
        ("class made abstract", "public class Cart", "public abstract class Cart"),
        ("interface no longer implemented", " implements Basket", ""),
        ("another base class", "extends Base ", "extends Other "),
        ("constructor asks for more", "public Cart(String owner)", "public Cart(String owner, int size)"),
        ("field removed", "    public static final int LIMIT = 10;\n", ""),
        ("field of another type", "protected String owner;", "protected CharSequence owner;"),
        ("protected method removed", "    protected void check(String item) {\n    }\n", ""),
        (
            "abstract method added to an interface",
            "        void added(String item);",
            "        void added(String item);\n\n        void cleared();",
        ),
        ("method removed from an interface", "        void added(String item);\n", ""),
        ("enum constant removed", "OPEN, CLOSED", "OPEN"),
        ("throws more", "protected void check(String item) {", "protected void check(String item) throws Exception {"),
        ("type parameters changed", "public <T> List<T> all", "public <T extends Number> List<T> all"),
    ),
    harmless=(
        (
            "overload added",
            "    void inside() {",
            "    public int add(int number) {\n        return number;\n    }\n\n    void inside() {",
        ),
        (
            "parameter renamed",
            "of(String owner) {\n        return new Cart(owner)",
            "of(String name) {\n        return new Cart(name)",
        ),
        ("parameter made final", "of(String owner)", "of(final String owner)"),
        ("private method removed", "    private void reset() {\n        count = 0;\n    }\n", ""),
        ("package-private method changed", "void inside() {", "void inside(int a) {"),
        ("private field removed", "    private int count;\n", ""),
        (
            "default method added to an interface",
            "        void added(String item);",
            "        void added(String item);\n\n        default void cleared() {\n        }",
        ),
        ("enum constant added", "OPEN, CLOSED", "OPEN, CLOSED, LOST"),
        ("method added", "    void inside() {", "    public void clear() {\n    }\n\n    void inside() {"),
        ("interface added", "implements Basket", "implements Basket, Comparable<Cart>"),
        ("body changed", "count += times;", "count = count + times;"),
        ("annotation added", "    protected void check(", "    @Deprecated\n    protected void check("),
        ("made synchronized", "public int add(String item) {", "public synchronized int add(String item) {"),
        ("made public", "    void inside() {", "    public void inside() {"),
        ("comment changed", "/** A cart. */", "/** The cart. */"),
        (
            "laid out again",
            "public int add(String item, int times) {",
            "public int add(\n            String item,\n            int times) {",
        ),
    ),
)

CSHARP = Template(
    language="csharp",
    path="src/Cart.cs",
    text="""using System;

namespace Shop
{
    public class Cart : Base, IBasket
    {
        public const int Limit = 10;
        private int count;
        public string Owner { get; set; }

        public Cart(string owner)
        {
            Owner = owner;
        }

        public virtual int Add(string item, int times = 1)
        {
            count += times;
            return count;
        }

        public static Cart Of(string owner) => new Cart(owner);

        protected void Check(string item)
        {
        }

        internal void Inside()
        {
        }

        private void Reset()
        {
            count = 0;
        }
    }

    public interface IListener
    {
        void Added(string item);
    }

    public enum State
    {
        Open,
        Closed,
    }
}
""",
    breaking=(
        ("parameter added", "Add(string item, int times = 1)", "Add(string item, bool now, int times = 1)"),
        ("parameter type changed", "Of(string owner)", "Of(object owner)"),
        ("parameter renamed", "Of(string owner) => new Cart(owner)", "Of(string name) => new Cart(name)"),
        ("default removed", "int times = 1", "int times"),
        ("return type changed", "public virtual int Add", "public virtual long Add"),
        ("method removed", "        public static Cart Of(string owner) => new Cart(owner);\n", ""),
        ("method renamed", "public static Cart Of(", "public static Cart Make("),
        ("made internal", "public static Cart Of(", "internal static Cart Of("),
        ("virtual no longer", "public virtual int Add", "public int Add"),
        ("class sealed", "public class Cart", "public sealed class Cart"),
        ("interface no longer implemented", ": Base, IBasket", ": Base"),
        ("property can no longer be set", "{ get; set; }", "{ get; }"),
        ("property of another type", "public string Owner", "public object Owner"),
        ("constructor asks for more", "public Cart(string owner)", "public Cart(string owner, int size)"),
        ("protected method removed", "        protected void Check(string item)\n        {\n        }\n", ""),
        (
            "method added to an interface",
            "        void Added(string item);",
            "        void Added(string item);\n        void Cleared();",
        ),
        ("enum member removed", "        Open,\n", ""),
        ("constant removed", "        public const int Limit = 10;\n", ""),
    ),
    harmless=(
        (
            "overload added",
            "        internal void Inside()",
            "        public int Add(int number) => number;\n\n        internal void Inside()",
        ),
        ("default changed", "int times = 1", "int times = 2"),
        ("private method removed", "        private void Reset()\n        {\n            count = 0;\n        }\n", ""),
        ("internal method changed", "internal void Inside()", "internal void Inside(int a)"),
        ("private field removed", "        private int count;\n", ""),
        (
            "property added",
            "        public string Owner",
            "        public int Size { get; }\n        public string Owner",
        ),
        ("enum member added", "        Closed,\n", "        Closed,\n        Lost,\n"),
        ("body changed", "count += times;", "count = count + times;"),
        ("attribute added", "        protected void Check", "        [Obsolete]\n        protected void Check"),
        ("interface added", ": Base, IBasket", ": Base, IBasket, IDisposable"),
        ("comment added", "        private int count;", "        // how many\n        private int count;"),
    ),
)

KOTLIN = Template(
    language="kotlin",
    path="src/Cart.kt",
    text="""package shop

const val LIMIT = 10

fun total(items: List<Int>, tax: Int = 0): Int {
    return items.sum() + tax
}

internal fun near(a: Int): Int = a

private fun own(a: Int): Int {
    return a
}

open class Cart(val owner: String, private var count: Int = 0) : Base(), Basket {
    fun add(item: String, times: Int): Int {
        count += times
        return count
    }

    open fun check(item: String): Boolean {
        return item.isNotEmpty()
    }

    protected fun inside() {
    }

    private fun reset() {
        count = 0
    }
}

interface Listener {
    fun added(item: String)
    fun removed(item: String) {
    }
}

data class Point(val x: Int, val y: Int)

enum class State {
    OPEN, CLOSED
}
""",
    breaking=(
        ("parameter added", "fun add(item: String, times: Int)", "fun add(item: String, times: Int, now: Boolean)"),
        ("parameter removed", "fun add(item: String, times: Int)", "fun add(item: String)"),
        ("parameter renamed", "fun add(item: String,", "fun add(thing: String,"),
        ("parameter type changed", "fun check(item: String)", "fun check(item: Any)"),
        ("default removed", "tax: Int = 0", "tax: Int"),
        ("return type changed", "times: Int): Int {", "times: Int): Long {"),
        ("made suspend", "fun total(", "suspend fun total("),
        ("made private", "fun total(", "private fun total("),
        ("made internal", "    fun add(", "    internal fun add("),
        ("open no longer", "    open fun check(", "    fun check("),
        ("function renamed", "fun total(", "fun sum("),
        ("method removed", "    protected fun inside() {\n    }\n", ""),
        (
            "method added to an interface",
            "    fun added(item: String)\n",
            "    fun added(item: String)\n    fun cleared()\n",
        ),
        ("data class asks for more", "val y: Int)", "val y: Int, val z: Int)"),
        ("interface no longer implemented", ": Base(), Basket", ": Base()"),
        ("enum member removed", "OPEN, CLOSED", "OPEN"),
        ("constant removed", "const val LIMIT = 10\n", ""),
        ("constructor parameter of another type", "val owner: String", "val owner: Any"),
    ),
    harmless=(
        (
            "overload added",
            "    private fun reset()",
            "    fun add(number: Int): Int = number\n\n    private fun reset()",
        ),
        ("default changed", "tax: Int = 0", "tax: Int = 1"),
        ("internal function changed", "near(a: Int)", "near(a: Long)"),
        ("private function removed", "private fun own(a: Int): Int {\n    return a\n}\n", ""),
        ("private method removed", "    private fun reset() {\n        count = 0\n    }\n", ""),
        ("provided method added to an interface", "    fun removed(", "    fun cleared() {\n    }\n\n    fun removed("),
        ("enum member added", "OPEN, CLOSED", "OPEN, CLOSED, LOST"),
        ("body changed", "count += times", "count = count + times"),
        ("value changed", "LIMIT = 10", "LIMIT = 20"),
        ("comment added", "fun total(", "// sums\nfun total("),
        ("interface added", ": Base(), Basket", ": Base(), Basket, Closeable"),
        ("made public", "internal fun near(", "fun near("),
    ),
)

TEMPLATES = (PYTHON, TYPESCRIPT, JAVASCRIPT, GO, RUST, JAVA, CSHARP, KOTLIN)


def mutations() -> Iterator[Mutation]:
    """Every edit of every template."""
    for template in TEMPLATES:
        for edits, breaking in ((template.breaking, True), (template.harmless, False)):
            for what, old, new in edits:
                if template.text.count(old) < 1:
                    raise ValueError(f"{template.language}: {what}: the text is not there")
                yield Mutation(
                    language=template.language,
                    what=what,
                    path=template.path,
                    before=template.text,
                    after=template.text.replace(old, new, 1),
                    breaking=breaking,
                )
