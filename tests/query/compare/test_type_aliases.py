"""Aliases of types: another name of the same type breaks nobody."""

import pytest

from tests.interaction.requirements import requirement
from tests.query.compare.versions import changes_by_path, compared, compared_files, every

pytestmark = requirement("CMP-11")
FUNCTION = "func(cmd *C, args []string) ([]string, error)"


def _breaking(before: dict[str, str], after: dict[str, str]) -> set[str]:
    packages = [{path: f"package p\n\n{text}" for path, text in one.items()} for one in (before, after)]
    return {path for path, (_, breaks) in changes_by_path(compared_files(*packages)).items() if breaks}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"func (c *C) R(f {FUNCTION}) {{}}\n", "func (c *C) R(f Complete) {}\n"),
        (f"type S struct {{\n\tF {FUNCTION}\n}}\n", "type S struct {\n\tF Complete\n}\n"),
        (f"func F() {FUNCTION} {{ return nil }}\n", "func F() Complete { return nil }\n"),
    ],
)
def test_an_alias_is_the_type_that_it_names(before: str, after: str) -> None:
    aliases = "type Line = string\n\ntype Complete = func(cmd *C, args []string) ([]Line, error)\n"
    assert _breaking({"a.go": before}, {"a.go": after, "b.go": aliases}) == set()
    other = aliases.replace("= string", "= []byte")
    assert _breaking({"a.go": before}, {"a.go": after, "b.go": other}) != set()


@pytest.mark.parametrize("after", ["type A = B\n", "type A = inner.B\n"])
def test_a_type_that_went_elsewhere_and_left_its_name(after: str) -> None:
    before = {"a.go": "type A struct {\n\tX int\n}\n\nfunc (a A) M() {}\n"}
    assert _breaking(before, {"a.go": after, "b.go": "type B struct {\n\tX int\n}\n\nfunc (b B) M() {}\n"}) == set()
    assert _breaking(before, {"a.go": "type A = func()\n"}) == {"A"}


def test_a_type_that_became_a_name_of_what_it_was_made_of() -> None:
    assert _breaking({"a.go": f"type A {FUNCTION}\n"}, {"a.go": f"type A = {FUNCTION}\n"}) == set()
    assert _breaking({"a.go": f"type A {FUNCTION}\n"}, {"a.go": "type A = func()\n"}) == {"A"}


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("func F() (func(*C, []string, string) ([]string, error), bool)", "func F() (func{}, bool)", False),
        ("func F(f func(*C, []string, string) ([]string, error))", "func F(f func{})", False),
        ("type T func(*C, []string, string) ([]string, error)", "type T func{}", False),
        ("func F(f func(*C, string, string) ([]string, error))", "func F(f func{})", True),
        ("func F(f func(*C, []string, string) []string)", "func F(f func{})", True),
    ],
)
def test_names_of_parameters_are_no_part_of_a_function_type(before: str, after: str, breaks: bool) -> None:
    named = "(cmd *C, args []string, to string) (found []string, err error)"
    body = "" if before.startswith("type") else " { return }"
    texts = [{"a.go": f"{one}{body}\n"} for one in (before, after.replace("{}", named, 1))]
    assert bool(_breaking(texts[0], texts[1])) is breaks


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ("func(a, b int, c ...pkg.T)", "func(int, int, ...pkg.T)"),
        ("func(l List[int], m map[string]int)", "func(List[int], map[string]int)"),
        ("func(l [4]int, f func(x int) error)", "func([4]int, func(int) error)"),
        ("map[string]func(n int) (m int)", "map[string]func(int) (int)"),
    ],
)
def test_what_is_a_name_in_a_function_type(one: str, same: str) -> None:
    assert _breaking({"a.go": f"var V {one}\n"}, {"a.go": f"var V {same}\n"}) == set()
    assert _breaking({"a.go": f"var V {one}\n"}, {"a.go": f"var V {same.replace('int', 'byte', 1)}\n"}) == {"V"}


@pytest.mark.parametrize(
    ("source", "after", "breaks"),
    [
        ("github.com/spf13/pflag", "flag.Allowlist", False),
        ("flag", "flag.Allowlist", True),
        ("github.com/spf13/pflag", "func(flag.Allowlist)", True),
    ],
)
def test_only_another_package_knows_whether_its_names_are_the_same(source: str, after: str, breaks: bool) -> None:
    texts = [{"a.go": f'import flag "{source}"\n\ntype A {named}\n'} for named in ("flag.Whitelist", after)]
    assert bool(_breaking(texts[0], texts[1])) is breaks


STRUCT = "package shop\n\ntype Till struct {\n\tName string\n%s}\n"


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("", "\trouteConf\n", False),
        ("\t*pkg.Base\n", '\t*pkg.Base `json:"base"`\n\tsync.Mutex\n', False),
        ("\t*pkg.Base\n", "\tpkg.Base\n", True),
        ("\trouteConf\n", "", True),
        ("\tList[int, string]\n", "\tList[int, int]\n", True),
    ],
)
def test_what_a_struct_of_go_embeds(before: str, after: str, breaks: bool) -> None:
    changes = every(compared("till.go", STRUCT % before, STRUCT % after))
    assert any(change.breaking for change in changes) == breaks


def test_a_method_may_stand_in_another_file_of_its_package() -> None:
    till = "package shop\n\ntype Till struct{}\n"
    method = "\nfunc (t *Till) Open(name string) error { return nil }\n"
    before = {"till.go": till + method, "open.go": "package shop\n"}
    after = {"till.go": till, "open.go": "package shop\n" + method}
    assert not any(change.breaking for change in every(compared_files(before, after)))
    after["open.go"] = after["open.go"].replace("name string", "name int")
    assert any(change.breaking for change in every(compared_files(before, after)))


def test_a_method_of_an_interface_may_give_any_by_its_other_name() -> None:
    text = "package shop\n\ntype Store interface {\n\tGet(key string) interface{}\n}\n"
    assert not any(
        change.breaking for change in every(compared("store.go", text, text.replace("interface{}\n", "any\n")))
    )
