"""What names of Go mean by the types and scopes around them; one repository, a folder for each case."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.code.resolve.written import Written, written
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-50")

MODULE = {"go.mod": "module example.com/all\n\ngo 1.23\n"}
FILES = MODULE | {
    "narrowed/a.go": """package narrowed
type Dog struct{}
func (d *Dog) Bark() {}
type Cat struct{}
func (c Cat) Bark() {}
func use(x any, ch chan *Dog, dogs map[string]*Dog, list ...*Dog) {
	switch v := x.(type) {
	case *Dog:
		v.Bark()
	case Cat:
		v.Bark()
	}
	if d, ok := x.(*Dog); ok { d.Bark() }
	select { case d := <-ch: d.Bark() }
	for d := range ch { d.Bark() }
	for _, d := range dogs { d.Bark() }
	list[0].Bark()
	(<-ch).Bark()
	f := (*Dog).Bark
	g := list[0].Bark
	make := func() *Dog { return nil }
	make().Bark()
	_, _ = f, g
}
""",
    "generic/a.go": """package generic
type Coin struct{}
func (c Coin) Flip() {}
type Box[T any] struct{ inner T }
func (b *Box[E]) Get() E { return b.inner }
func (b *Box[T]) Each(yield func(int, T) bool) {}
func Map[T, U any](list []T, f func(T) U) []U { return nil }
func First[T any](list []T) T { return list[0] }
func Zero[T any]() T { var zero T; return zero }
type Flipper interface{ Flip() }
func All[F Flipper](list []F) { for _, one := range list { one.Flip() } }
type T struct{}
func use(box *Box[Coin], coins []Coin) {
	box.Get().Flip()
	box.inner.Flip()
	for _, c := range box.Each { c.Flip() }
	First(coins).Flip()
	Map(coins, func(c Coin) *Coin { return &c })[0].Flip()
	Zero[Coin]().Flip()
}
""",
    "embedded/a.go": """package embedded
type Base struct{ Tag string }
type Named interface{ Tagged() string }
type Item struct {
	*Base
	Named
	other struct{ Tag int }
}
func use(i Item) {
	i.Base.Tag = i.Tag
	_ = Item{Base: &Base{Tag: "a"}}
	i.other.Tag = 1
	_ = i.Tagged()
}
""",
    "shadow/a.go": """package shadow
import "strings"
type key struct{}
var count = 1
func size(strings *strings.Reader) int {
	key := any(key{})
	_ = key
	for _, count := range []int{count} {
		count := count
		_ = count
	}
	if count := count + 1; count > 0 { return count }
count:
	for { break count }
}
""",
    "kinds/a.go": """package kinds
type Kind int
const (
	One Kind = iota
	Two
)
func (k Kind) Label() string { return "" }
func max(a int) int { return a }
var _ = Two.Label() + One.Label()
type Alias = Kind
func (a Alias) Long() string { return Alias(1).Label() }
""",
    "kinds/a_windows.go": "package kinds\nfunc system() int { return 1 }\n",
    "kinds/a_linux.go": "package kinds\nfunc system() int { return 2 }\n",
    "kinds/b.go": "package kinds\nvar _ = system() + max(1)\n",
    "other/a.go": """package other
import kinds "example.com/all/kinds"
import . "example.com/all/embedded"
var _ = max(1, 2)
var _ Base
var tests = []struct{ label string; Label func() }{{label: "a", Label: nil}}
func use(k kinds.Kind) { k.Long(); tests[0].Label() }
""",
    "go-store/store.go": """package store
func Open() *File { return nil }
type File struct{}
func (f *File) Sync() {}
""",
    "go-store/export_test.go": "package store\nvar Hidden = hidden\nvar hidden = 1\n",
    "go-store/store_test.go": """package store_test
import "example.com/all/go-store"
func use() int { store.Open().Sync(); return store.Hidden }
""",
    "outer/go.mod": "module example.com/outer\n\nreplace example.com/old => ../go-store\n",
    "outer/a.go": 'package outer\nimport "example.com/old"\nfunc use() { store.Open() }\n',
    "published/go.mod": "module example.com/published\n\nrequire example.com/all v1.0.0\n",
    "published/a.go": 'package published\nimport "example.com/all/go-store"\nfunc use() { store.Open() }\n',
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    with written(Path(tmp_path_factory.mktemp("go")) / "repo", FILES) as found:
        yield found


@pytest.mark.parametrize(
    ("query", "certain", "proposed"),
    [
        ("Dog.Bark", "narrowed/a.go:3 9 13 14 15 16 17 18 19 20 22", ""),
        ("Cat.Bark", "narrowed/a.go:5 11", ""),
        ("Coin.Flip", "generic/a.go:3 14 15 16 17 18 19", "generic/a.go:10 11"),
        ("Flipper.Flip", "generic/a.go:10 11", ""),
        # The parameters of types and methods are no uses of the type T.
        ("generic/a.go:12:6", "generic/a.go:12", ""),
        ("Base", "embedded/a.go:2 5 10 11 11 other/a.go:5", ""),
        ("Base.Tag", "embedded/a.go:2 10 10 11", ""),
        ("embedded/a.go:7:16", "embedded/a.go:7 12", ""),
        ("Named.Tagged", "embedded/a.go:3 13", ""),
        # A name in its own value, above its declaration, or as a label means something else.
        ("shadow/a.go:3:6", "shadow/a.go:3 6", ""),
        ("shadow/a.go:4:5", "shadow/a.go:4 8 12", ""),
        ("shadow/a.go:8:9", "shadow/a.go:8 9", ""),
        ("shadow/a.go:9:3", "shadow/a.go:9 10", ""),
        ("Kind.Label", "kinds/a.go:7 9 9 11", ""),
        ("Alias.Long", "kinds/a.go:11 other/a.go:7", ""),
        # Elsewhere `max` is that of the language.
        ("kinds/a.go:8:6", "kinds/a.go:8 kinds/b.go:2", ""),
        ("kinds/a_linux.go:2:6", "kinds/a_linux.go:2 kinds/b.go:2", "kinds/a_windows.go:2"),
        ("other/a.go:6:38", "other/a.go:6 6 7", ""),
        ("File.Sync", "go-store/store.go:4 go-store/store_test.go:3", ""),
        ("Hidden", "go-store/export_test.go:2 go-store/store_test.go:3", ""),
        ("go-store/store.go:2:6", "go-store/store.go:2 go-store/store_test.go:3 outer/a.go:3", "published/a.go:3"),
    ],
)
def test_uses_by_type_and_scope(repository: Written, query: str, certain: str, proposed: str) -> None:
    uses = repository.uses(query)
    assert _lines(place for place, tier in uses.items() if tier in ("PROVEN", "STRONG")) == certain
    assert _lines(place for place, tier in uses.items() if tier not in ("PROVEN", "STRONG")) == proposed


def _lines(places: Iterator[str]) -> str:
    """The places as `path:line line …`, in order."""
    found: dict[str, list[int]] = {}
    for place in places:
        path, line, _ = place.split(":")
        found.setdefault(path, []).append(int(line))
    return " ".join(f"{path}:{' '.join(map(str, sorted(found[path])))}" for path in sorted(found))
