"""The variable of a loop or a branch does not take its body along, even if nobody uses it."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import NotRefactorable
from codeplane.refactor.delete.planner import plan_delete
from tests.interaction.requirements import requirement
from tests.refactor.repository import repository

pytestmark = requirement("REF-14")

# `label` is used nowhere, and another statement stands behind the one that binds it.
HEADS = {
    "a.ts": "export function f(xs: number[]) {\n  out: for (const label of xs) {\n    g();\n  }\n  g();\n}\n",
    "A.java": "class A {\n  void f(int[] xs) {\n    for (int label : xs) {\n      g();\n    }\n    g();\n  }\n}\n",
    "C.java": "class C {\n  void f() {\n    try (AutoCloseable label = null) {\n      g();\n    }\n    g();\n  }\n}\n",
    "a.cs": "class A {\n  void F(int[] xs) {\n    foreach (var label in xs) {\n      G();\n    }\n    G();\n  }\n}\n",
    "b.cs": "class B {\n  void F() {\n    using (var label = new A()) {\n      G();\n    }\n    G();\n  }\n}\n",
    "a.cpp": "void g();\nvoid f(int* xs) {\n  for (int label : *xs) {\n    g();\n  }\n  g();\n}\n",
    "a.rs": "fn f(xs: Vec<i32>) {\n    for label in xs {\n        g();\n    }\n    g();\n}\n",
    "b.rs": "fn f(x: Option<i32>) {\n    if let Some(label) = x {\n        g();\n    }\n    g();\n}\n",
    "c.rs": "fn f(x: i32) {\n    match x {\n        label => g(),\n    }\n    g();\n}\n",
    "a.kt": "fun f(xs: List<Int>) {\n    for (label in xs) {\n        g()\n    }\n    g()\n}\n",
    "a.go": "package a\n\nfunc f(xs []int) {\n\tfor label := range xs {\n\t\tg()\n\t}\n\tg()\n}\n",
    "a.py": "async def f(xs):\n    async for label in xs:\n        g()\n\n",
    "c.py": "def f(xs):\n    match xs:\n        case [label]:\n            g()\n\n",
    "a.rb": "def f(xs)\n  for label in xs\n    g\n  end\n  g\nend\n",
    "a.php": "<?php\nfunction f($xs) {\n  foreach ($xs as $label) {\n    g();\n  }\n  g();\n}\n",
    "a.swift": "func f(xs: [Int]) {\n    for label in xs {\n        g()\n    }\n    g()\n}\n",
    "a.scala": "object A {\n  def f(xs: List[Int]) = {\n    for (label <- xs) {\n      g()\n    }\n    g()\n  }\n}\n",
}
PLAIN = {
    "a.ts": "export function f() {\n  const label = 1;\n  g();\n}\nfunction g() {}\n",
    "A.java": "class A {\n  void f() {\n    int label = 1;\n    g();\n  }\n  void g() {}\n}\n",
    "a.cs": "class A {\n  void F() {\n    var label = 1;\n    G();\n  }\n  void G() {}\n}\n",
    "a.rs": "fn f() {\n    let label = if true { 1 } else { 2 };\n    g();\n}\nfn g() {}\n",
    "a.py": "def f():\n    label = 1\n    g()\n\n\ndef g():\n    pass\n",
    "a.rb": "def f\n  label = 1\n  g\nend\n",
    "a.scala": "object A {\n  def f() = {\n    val label = 1\n    g()\n  }\n}\n",
}


def _place(name: str, text: str) -> str:
    line, found = next((number, line) for number, line in enumerate(text.splitlines(), 1) if "label" in line)
    return f"{name}:{line}:{found.index('label') + 1}"


@pytest.mark.parametrize("name", HEADS)
def test_a_variable_of_a_head_is_not_taken_out(name: str, tmp_path: Path) -> None:
    with (
        repository(tmp_path, {name: HEADS[name]}) as repo,
        pytest.raises(NotRefactorable, match="the statement does more than define it"),
    ):
        repo.plan(plan_delete, repo.target(_place(name, HEADS[name])), force=False)


@pytest.mark.parametrize("name", PLAIN)
def test_a_variable_of_its_own_statement_is(name: str, tmp_path: Path) -> None:
    with repository(tmp_path, {name: PLAIN[name]}) as repo:
        after = repo.after(repo.plan(plan_delete, repo.target(_place(name, PLAIN[name])), force=False))
    kept = [line for line in PLAIN[name].splitlines() if "label" not in line]
    assert after[name].splitlines() == kept
