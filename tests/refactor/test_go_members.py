"""Renames and deletes of Go's members, which interfaces and other packages hold to their names."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import failed, made, texts

ZOO = {
    "go.mod": "module example.com/zoo\n\ngo 1.22\n",
    "zoo.go": """package zoo

import "fmt"

type Speaker interface {
	Speak() string
	Name() string
}

type Base struct{ name string }

func (b *Base) Name() string { return b.name }

type Dog struct{ *Base }

func (d *Dog) Speak() string { return d.Name() }

// Other has a method of that name, but is no Speaker.
type Other struct{}

func (o Other) Name() (string, error) { return "", nil }

func (o Other) String() string { return "other" }

func (o Other) Legs() int { return 4 }

func All(list []Speaker) {
	for _, one := range list {
		fmt.Println(one.Name(), one.Speak())
	}
	var dog = Dog{Base: &Base{}}
	_ = dog.Base.name
	_ = Other{}.String()
}

func init() {}
""",
    "hook_windows.go": "package zoo\n\nfunc hook() int { return 1 }\n\nvar _ = hook()\n",
    "hook_linux.go": "package zoo\n\nfunc hook() int { return 2 }\n",
    "use.go": "package zoo\n\nvar _ = hook()\n",
    "app/main.go": 'package main\n\nimport "example.com/zoo"\n\nfunc main() { zoo.All(nil) }\n',
}


@requirement("REF-42")
async def test_what_interfaces_and_systems_hold_together_is_renamed_together(tmp_path: Path) -> None:
    root = made(tmp_path, ZOO)
    async with asking(root) as ask:

        async def rename(symbol: str, new_name: str) -> dict[str, str]:
            done = result(await ask("refactor.rename", symbol=symbol, new_name=new_name, apply=True))
            assert done["status"] == "applied", symbol
            now = texts(root)
            await ask("undo")
            return now

        now = await rename("Base.Name", "Title")
        wanted = ZOO["zoo.go"].replace("Name()", "Title()").replace("Other) Title()", "Other) Name()")
        assert now["zoo.go"] == wanted
        assert (await rename("Speaker.Name", "Title"))["zoo.go"] == wanted
        now = await rename("Other.Name", "Title")
        assert now["zoo.go"] == ZOO["zoo.go"].replace("Other) Name()", "Other) Title()")
        now = await rename("Base", "Root")
        assert now["zoo.go"] == ZOO["zoo.go"].replace("Base", "Root")
        now = await rename("hook_linux.go:3:6", "start")
        assert now == {path: text.replace("hook()", "start()") for path, text in ZOO.items()}
        now = await rename("Base.name", "title")
        assert now["zoo.go"] == ZOO["zoo.go"].replace("name string", "title string").replace(".name", ".title")


@requirement("REF-40")
async def test_names_that_others_ask_for_are_not_changed_without_a_question(tmp_path: Path) -> None:
    root = made(tmp_path, ZOO)
    async with asking(root) as ask:
        answer = await ask("refactor.rename", symbol="Other.String", new_name="Text", apply=True)
        found = result(answer)
        assert found["status"] != "applied"
        assert "fmt.Stringer" in str(found["manifest"])
        assert "look at outside_base first" in str(answer["text"])
        assert "apply:" not in str(answer["text"]) and "refactor_rename" not in str(answer)
        for symbol, new_name, error in (
            ("zoo.go:36:6", "start", "NOT_REFACTORABLE"),
            ("app/main.go:5:6", "start", "NOT_REFACTORABLE"),
            ("Other.Name", "Legs", "NAME_TAKEN"),
            ("Base.name", "Name", "NAME_TAKEN"),
            ("zoo.go:27:6", "all", "INVALID_ARGUMENT"),
        ):
            asked = await ask("refactor.rename", symbol=symbol, new_name=new_name, apply=True)
            assert failed(asked) == error, (symbol, new_name)
    assert texts(root) == ZOO


@requirement("REF-41")
async def test_methods_that_interfaces_ask_for_are_not_deleted(tmp_path: Path) -> None:
    root = made(tmp_path, ZOO)
    async with asking(root) as ask:
        for symbol in ("Dog.Speak", "Other.String", "zoo.go:36:6", "hook_linux.go:3:6"):
            envelope = await ask("refactor.delete", target=symbol, apply=True)
            assert failed(envelope) == "STILL_USED", symbol
            if symbol == "Dog.Speak":
                assert "zoo.go:6" in str(envelope["error"])
        assert texts(root) == ZOO
        for symbol in ("Other.Legs", "Other.Name"):
            assert result(await ask("refactor.delete", target=symbol, apply=True))["status"] == "applied"


FLAGS = {
    "go.mod": "module example.com/tool\n\ngo 1.22\n\nrequire github.com/spf13/pflag v1.0.5\n",
    "values.go": """package tool

import "github.com/spf13/pflag"

type argument struct{}

func (a *argument) Set(s string) error { return nil }
func (a *argument) Kind() string       { return "argument" }

type assigned struct{}

func (a assigned) Kind() string { return "assigned" }

var _ pflag.Value = assigned{}

type returned struct{}

func (r *returned) Kind() string { return "returned" }

func NewReturned() pflag.Value { return &returned{} }

type field struct{}

func (f *field) Kind() string { return "field" }

var flag = pflag.Flag{Value: &field{}}

type passed struct{}

func (p passed) Kind() string { return "passed" }

func add(set *pflag.FlagSet, value pflag.Value) { set.Var(value, "name", "usage") }

type Kept struct{ argument }

func (k Kept) Describe() string { return k.Kind() }

func New(set *pflag.FlagSet) string {
	set.Var(&argument{}, "other", "usage")
	add(set, passed{})
	if set == nil {
		done()
	}
	return Kept{}.Describe()
}

func done() { return }
""",
}


@requirement("REF-42")
async def test_methods_of_what_unseen_packages_are_given_are_not_renamed_at_once(tmp_path: Path) -> None:
    root = made(tmp_path, FLAGS)
    async with asking(root) as ask:
        for symbol in ("argument.Set", "argument.Kind", "assigned.Kind", "returned.Kind", "field.Kind", "passed.Kind"):
            found = result(await ask("refactor.rename", symbol=symbol, new_name="Other", apply=True))
            assert found["status"] != "applied", symbol
            assert "github.com/spf13/pflag" in str(found["manifest"]), symbol
            assert failed(await ask("refactor.delete", target=symbol, apply=True)) == "STILL_USED", symbol
        assert texts(root) == FLAGS
        found = result(await ask("refactor.rename", symbol="Kept.Describe", new_name="Say", apply=True))
        assert found["status"] == "applied"


IMPORTS = {
    "go.mod": "module example.com/files\n\ngo 1.22\n",
    "files.go": """package files

import (
	"fmt"
	"io"
	yaml "gopkg.in/yaml.v3" // for Dump

	"github.com/go-chi/chi/v5"
)

func Dump(w io.Writer) {
	out, _ := yaml.Marshal(chi.NewRouter())
	fmt.Fprintln(w, out)
}

func Print(w io.Writer) { fmt.Fprintln(w) }
""",
    "one.go": 'package files\n\nimport "os"\n\nfunc Open() { os.Open("os") }\n',
}


@requirement("REF-41")
async def test_imports_that_only_a_deleted_function_used_go_with_it(tmp_path: Path) -> None:
    root = made(tmp_path, IMPORTS)
    async with asking(root) as ask:
        for symbol in ("Dump", "Open"):
            assert result(await ask("refactor.delete", target=symbol, apply=True))["status"] == "applied"
    assert texts(root)["files.go"] == (
        'package files\n\nimport (\n\t"fmt"\n\t"io"\n\n)\n\nfunc Print(w io.Writer) { fmt.Fprintln(w) }\n'
    )
    assert "os" not in texts(root)["one.go"]
