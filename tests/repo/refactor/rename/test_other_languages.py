"""Other languages: what a file binds is applied, the rest is proposed."""

from pathlib import Path

from tests.repo.refactor.rename.renamed import repo


def test_methods_of_other_receivers_are_left_alone(tmp_path: Path) -> None:
    files = {
        "a.go": (
            "package a\ntype A struct{}\ntype B struct{}\n"
            "func (a A) Run() {}\nfunc (b B) Run() {}\nfunc help() { help() }\n"
        )
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.go:4:12", "Go") == {"a.go": files["a.go"].replace("(a A) Run", "(a A) Go")}
        assert found.after("a.go:6:6", "aid")["a.go"].endswith("func aid() { aid() }\n")


def test_locals_of_rust_and_java_are_proven(tmp_path: Path) -> None:
    files = {
        "a.rs": "fn f(count: i32) -> i32 { let total = count + 1; total }\n",
        "A.java": "class A { int f(int count) { int total = count; return total; } }\n",
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.rs:1:6", "n")["a.rs"] == "fn f(n: i32) -> i32 { let total = n + 1; total }\n"
        assert found.after("A.java:1:34", "sum")["A.java"] == (
            "class A { int f(int count) { int sum = count; return sum; } }\n"
        )
