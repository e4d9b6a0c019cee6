"""Reads from the text of tests which promises they are marked with."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeGuard

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A promise's id on a test, a class of tests, or a file of tests."""

    id: str
    test: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedFile:
    """The marks of one test file, and the lines of those that mark no test."""

    path: str
    marks: tuple[Mark, ...]
    misplaced: tuple[int, ...] = ()


@cache
def read_tests() -> tuple[MarkedFile, ...]:
    """All test files, by path."""
    paths = sorted(path for path in TESTS.rglob("test_*.py") if "node_modules" not in path.parts)
    return tuple(read_marks(path.relative_to(TESTS).as_posix(), path.read_text(encoding="utf-8")) for path in paths)


def read_marks(path: str, text: str) -> MarkedFile:
    """The marks in the text of a test file, from the top down."""
    tree = ast.parse(text)
    marks: list[Mark] = []
    placed: set[ast.Call] = set()
    for name, calls in _marked(path, tree):
        for call in calls:
            ids = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
            if ids and len(ids) == len(call.args) and not call.keywords:
                placed.add(call)
                marks += [Mark(id=str(id), test=name) for id in ids]
    misplaced = sorted(node.lineno for node in ast.walk(tree) if _is_mark(node) and node not in placed)
    return MarkedFile(path=path, marks=tuple(marks), misplaced=tuple(misplaced))


def _marked(path: str, tree: ast.Module) -> Iterator[tuple[str, list[ast.Call]]]:
    """What can be marked and is collected as a test, with its marks."""
    if any(_tests(tree)):
        for node in tree.body:
            if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["pytestmark"]:
                values = node.value.elts if isinstance(node.value, ast.List) else [node.value]
                yield path, [value for value in values if _is_mark(value)]
    for name, node in _tests(tree):
        yield f"{path}::{name}", [mark for mark in node.decorator_list if _is_mark(mark)]


def _tests(tree: ast.Module) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The test functions of a module, and its classes that have some, with their methods."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            methods = [member for member in node.body if _is_test(member)]
            if methods:
                yield node.name, node
            yield from ((f"{node.name}::{method.name}", method) for method in methods)
        elif _is_test(node):
            yield node.name, node


def _is_test(node: ast.AST) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")


def _is_mark(node: ast.AST) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name == "requirement"
