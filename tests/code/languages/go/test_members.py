"""Fields and methods of Go, followed by the declared types of what they are read from."""

from pathlib import Path

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-50")

SHOP = {
    "go.mod": "module example.com/shop\n\ngo 1.19\n",
    "cart.go": (
        "package shop\n"
        "type Base struct{ id int }\n"
        'func (b *Base) Label() string { return "b" }\n'
        "type Cart struct {\n"
        "\t*Base\n"
        "\titems []Item\n"
        "\ttotal int\n"
        "}\n"
        "func NewCart() (*Cart, error) { return &Cart{total: 1}, nil }\n"
        "func (c *Cart) Add(i Item) { c.items = append(c.items, i); c.total += i.Price() }\n"
        "type Item struct{ price int }\n"
        "func (i Item) Price() int { return i.price }\n"
        "func (i Other) Price() int { return 2 }\n"
        "type Other struct{}\n"
    ),
    "use.go": (
        "package shop\n"
        "func use(unknown interface{ Price() int }) int {\n"
        "\tc, _ := NewCart()\n"
        "\tc.Add(Item{price: 3})\n"
        "\tfor _, it := range c.items { c.total += it.Price() }\n"
        "\to := Other{}\n"
        "\tlist := []Item{{price: 1}}\n"
        "\tprices := map[int]int{price: 2}\n"
        "\treturn o.Price() + list[0].Price() + len(c.Label()) + unknown.Price() + prices[1]\n"
        "}\n"
        "var price = 1\n"
    ),
}


def test_a_method_is_that_of_its_receivers_type(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SHOP) as repo:
        assert repo.uses("Item.Price") == {
            "cart.go:10:73": "STRONG",
            "cart.go:12:15": "PROVEN",
            "use.go:2:29": "ANCHORED",
            "use.go:5:45": "STRONG",
            "use.go:9:29": "STRONG",
            "use.go:9:64": "ANCHORED",
        }


def test_a_field_is_found_in_literals_that_leave_out_their_type(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SHOP) as repo:
        assert repo.uses("Item.price") == {
            "cart.go:11:19": "PROVEN",
            "cart.go:12:38": "STRONG",
            "use.go:4:13": "STRONG",
            "use.go:7:18": "STRONG",
        }


def test_an_embedded_type_gives_its_methods(tmp_path: Path) -> None:
    with written(tmp_path / "repo", SHOP) as repo:
        assert repo.uses("Base.Label") == {"cart.go:3:16": "PROVEN", "use.go:9:45": "STRONG"}


UNSEEN = {
    "go.mod": "module example.com/zoo\n\ngo 1.22\n",
    "tag/tag.go": "package tag\n\nfunc tag() int { return 1 }\n\nfunc Add() int { return tag() }\n",
    "tag/open.go": "package tag\n\ntype Open struct{ size int }\n\nfunc (o Open) Size(x interface{ Size() int }) {}\n",
    "app/main.go": (
        "package main\n\n"
        'import "example.com/zoo/tag"\n\n'
        "type Own struct{ ID int }\n\n"
        "func size(x Own) int { return x.ID }\n\n"
        "func main() { tag.Add() }\n"
    ),
    "other/other.go": (
        "package other\n\n"
        'import "example.com/unknown/far"\n\n'
        "func use() int { return far.New().ID + far.New().size + far.tag }\n"
    ),
}


def test_names_that_other_packages_cannot_reach_are_not_looked_for_there(tmp_path: Path) -> None:
    with written(tmp_path / "repo", UNSEEN) as repo:
        assert repo.uses("tag/tag.go:tag") == {"tag/tag.go:3:6": "PROVEN", "tag/tag.go:5:25": "PROVEN"}
        assert repo.uses("Own.ID") == {"app/main.go:5:18": "PROVEN", "app/main.go:7:33": "STRONG"}
        assert repo.uses("Open.size") == {"tag/open.go:3:19": "PROVEN"}


def test_what_generic_types_and_functions_from_outside_give_may_be_of_the_repository(tmp_path: Path) -> None:
    files = {
        "go.mod": "module example.com/box\n\ngo 1.21\n",
        "box.go": (
            "package box\n"
            'import "example.org/lib"\n'
            "type Status struct{ kind int }\n"
            "type Inner struct{ lib.Box[Status] }\n"
            "type Plain struct{ lib.Plain }\n"
            "func run(i Inner, p Plain) int {\n"
            "\treturn i.Held.kind + lib.Make[Status]().kind + p.Held.kind\n"
            "}\n"
        ),
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("box.go:3:21") == {
            "box.go:3:21": "PROVEN",
            "box.go:7:16": "ANCHORED",
            "box.go:7:42": "ANCHORED",
        }
