"""Words that are keywords at some places: only where they are names do they refer to anything."""

from pathlib import Path

import pytest

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("REF-36")

# A definition's word as `«word»`, each of its uses as `<word>`; everywhere else it is a keyword.
PROGRAMS = {
    "match.py": "def «match»(x):\n    return x\n\n\nmatch 1:\n    case 1:\n        <match>(2)\n",
    "case.py": "def «case»(x):\n    return x\n\n\nmatch 1:\n    case 1:\n        <case>(2)\n",
    "type.py": "def «type»(x):\n    return x\n\n\ntype X = int\ny = <type>(3)\n",
    "of.js": "function «of»(x) { return [x]; }\nfor (const x of <of>(1)) { x; }\nfor (const y of [1]) { <of>(y); }\n",
    "of_again.js": "function «of»(x) { return [x]; }\n<of>(1);\nfor /* each */ (const x of <of>(2)) { x; }\n",
    "of_rows.js": (
        "function «of»(x) { return <of>(x); }\nconst xs = [\n  <of>(1),\n];\n"
        "for (const { a, b } of <of>(2)) { a; }\nfor (const x // of, (\n  of xs) { x; }\n"
    ),
    "of_only.js": "function «of»(x) { return [x]; }\n<of>(1);\n",
    "from.js": "import { x } from './x.js';\nfunction «from»(y) { return y; }\n<from>(x);\n",
    "get.js": "function «get»(x) { return x; }\nclass A { get b() { return <get>(1); } }\n",
    "set.js": "function «set»(x) { return x; }\nclass A { set b(v) { <set>(v); } }\n",
    "async.js": "function «async»(x) { return x; }\nconst f = async () => <async>(1);\nasync function g() {}\n",
    "as.ts": "function «as»(x: number) { return x; }\nconst y = 1 as number;\n<as>(y);\n",
    "type.ts": "function «type»(x: number) { return x; }\ntype A = number;\n<type>(1);\n",
    "string.ts": "function «string»(x: string): string { return x; }\nconst y: string = <string>('1');\n",
    "is.ts": "function «is»(x: unknown): x is number { return <is>(x); }\n",
    "A.java": "class A { int «record»() { return 1; } int b() { return <record>(); } record P(int x) {} }\n",
    "a.cs": "class A { int P { get { return 1; } } static int «get»() { return 1; } int b() { return <get>(); } }\n",
    "b.cs": "class A { int «from»() { return 1; } int b() { return <from>(); } }\n",
    "b.kt": "fun «data»(): Int = 1\ndata class B(val c: Int = <data>())\n",
    "a.kt": "fun «open»(): Int = 1\nopen class B { fun c() = <open>() }\n",
    "a.swift": "func «left»() -> Int { return 1 }\nlet b = <left>()\n",
    "a.rs": "fn «union»() -> i32 { 1 }\nunion U { a: i32 }\nfn b() -> i32 { <union>() }\n",
    "A.scala": "object A { def «end»(x: Int): Int = x\n  def b = <end>(1)\n  end b }\n",
    "B.scala": "object A {\n  def «using»(x: Int): Int = x\n  def b(using c: Int) = <using>(c)\n}\n",
    "C.scala": "object A {\n  def «open»(x: Int): Int = x\n  val c = <open>(1)\n}\nopen class B\n",
    "E.scala": "object A {\n  def «extension»(x: Int): Int = x\n  extension (s: String) def b = <extension>(1)\n}\n",
    "b.php": "<?php\nfunction «from»($x) { return $x; }\nfunction g() { yield from <from>([1]); }\n",
    "A.hs": "module A where\nimport qualified Data.Map as Map\n\n«as» :: Int -> Int\n<as> x = x\n\ny = <as> 1\n",
    "B.hs": "module B where\nimport Data.List hiding (sort)\n\n«hiding» x = x\n\ny = <hiding> 1\n",
    "C.hs": "module C where\nimport qualified Data.Map\n\n«qualified» x = x\n\ny = <qualified> 1\n",
    "a.rb": "class A\n  def «then»(x)\n    x\n  end\n\n  def b\n    if true then 1 end\n    self.<then>(2)\n"
    "  end\nend\n",
    "b.swift": "func «some»() -> Int { return 1 }\nfunc b() -> some Equatable { return <some>() }\n",
    "c.swift": "class A { func «set»() -> Int { return 1 }\n  var b: Int { get { return <set>() } set { } } }\n",
    "c.kt": "fun «value»(): Int = 1\n@JvmInline value class B(val c: Int)\nval d = <value>()\n",
    "d.kt": "fun «by»(): Int = 1\nval d by lazy { <by>() }\n",
    "c.cs": "using System.Linq;\nclass A { static int «where»(int x) { return x; } object b() { return from x in "
    "new int[1] where x > <where>(1) select x; } }\n",
    "d.cs": "class A<T> where T : class { int «async»() { return 1; } async void b() { int c = <async>(); } }\n",
    "b.cpp": "int «override»() { return 1; }\nstruct A { virtual int b(); };\n"
    "struct B : A { int b() override { return <override>(); } };\n",
    "b.rs": "fn «default»() -> i32 { 1 }\nimpl A { default fn b() -> i32 { <default>() } }\n",
    "d.rs": "fn «raw»() -> i32 { 1 }\nfn c(x: &mut i32) { let y = &raw mut *x; <raw>(); }\n",
    "a.cpp": "int «final»() { return 1; }\nstruct B final { };\nint c() { return <final>(); }\n",
}


@pytest.mark.parametrize("path", PROGRAMS)
def test_only_names_refer(path: str, tmp_path: Path) -> None:
    marked = PROGRAMS[path]
    plain = marked.translate(dict.fromkeys(map(ord, "«»"), ""))
    word = marked.partition("«")[2].partition("»")[0]
    expected, text = set(), marked.replace("«", "<").replace("»", ">")
    for line, output in enumerate(text.split("\n"), start=1):
        while (at := output.find(f"<{word}>")) >= 0:
            expected.add(f"{path}:{line}:{at + 1}")
            output = output[:at] + word + output[at + len(word) + 2 :]
        plain = plain.replace(f"<{word}>", word)
    with written(tmp_path / "repo", {path: plain, "x.js": "export const x = 1;\n"}) as repo:
        assert set(repo.uses(word)) == expected
