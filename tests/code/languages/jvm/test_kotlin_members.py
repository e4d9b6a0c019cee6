"""Names of Kotlin, followed by the declared types of receivers and what its library makes of them."""

from pathlib import Path

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-50")

MAPS = {
    "Map.kt": (
        "package maps\n"
        "class World\n"
        "data class Status(val kind: Int)\n"
        "class Machine {\n"
        "    private val map = hashMapOf<Status, (world: World) -> World>()\n"
        "    private val plain = HashMap<World, Status>()\n"
        "    fun run(pair: Pair<Status, World>, maps: List<Map<String, Status>>) {\n"
        "        map.keys.filter { it.kind == 1 }.map { it.kind }\n"
        "        plain.values.first().kind\n"
        "        plain.forEach { it.value.kind }\n"
        "        for (entry in map.entries) entry.key.kind\n"
        "        pair.first.kind + maps.first().values.last().kind\n"
        "        maps.size.kind\n"
        "        maps.held.kind\n"
        "    }\n"
        "}\n"
    )
}


def test_what_maps_and_pairs_hold_is_followed_and_other_properties_may_hold_it(tmp_path: Path) -> None:
    with written(tmp_path / "repo", MAPS) as repo:
        kinds = repo.uses("Map.kt:3:23")
        assert kinds.pop("Map.kt:14:19") == "ANCHORED"
        assert kinds.pop("Map.kt:13:19", "ANCHORED") == "ANCHORED"
        assert sorted(kinds, key=lambda place: [int(part) for part in place.split(":")[1:]]) == [
            "Map.kt:3:23",
            "Map.kt:8:30",
            "Map.kt:8:51",
            "Map.kt:9:30",
            "Map.kt:10:34",
            "Map.kt:11:46",
            "Map.kt:12:20",
            "Map.kt:12:54",
        ]
        assert set(kinds.values()) == {"PROVEN", "STRONG"}


def test_properties_of_a_base_from_outside_may_hold_what_it_is_made_of(tmp_path: Path) -> None:
    files = {
        "A.kt": (
            "package a\n"
            "import lib.Base\n"
            "import lib.Plain\n"
            "data class Status(val kind: Int)\n"
            "class A : Base<Status>() { fun run() = this.item.kind }\n"
            "class B : Plain() { fun run() = this.item.kind }\n"
        )
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("A.kt:4:23") == {"A.kt:4:23": "PROVEN", "A.kt:5:50": "ANCHORED"}


def test_members_of_a_companion_with_a_name_are_reached_through_its_class_and_its_name(tmp_path: Path) -> None:
    files = {
        "A.kt": "package a\n\nopen class Item(val title: String) {\n    companion object Maker {\n"
        '        const val MARK = "m"\n        fun make(title: String): Item = Item(title)\n    }\n}\n'
        'fun Item.Maker.more() = make("b")\nclass Plain { companion object { fun q() = 1 } }\n'
        "fun Plain.Companion.r() = q()\n",
        "B.kt": "package b\n\nimport a.*\nimport a.Item.Maker.make as create\nimport a.Item.Maker.MARK\n\n"
        'fun f() = Item.MARK + Item.Maker.MARK + MARK\nfun g() = listOf(create("a"), Item.make("b"))\n',
    }
    with written(tmp_path / "repo", files) as repo:
        sure = {"PROVEN", "STRONG"}
        assert set(repo.uses("Item.Maker")) == {"A.kt:4:22", "A.kt:9:10", "B.kt:4:15", "B.kt:5:15", "B.kt:7:28"}
        assert set(repo.uses("A.kt:5:19")) == {"A.kt:5:19", "B.kt:5:21", "B.kt:7:16", "B.kt:7:34", "B.kt:7:41"}
        assert set(repo.uses("A.kt:6:13")) == {"A.kt:6:13", "A.kt:9:25", "B.kt:4:21", "B.kt:8:36"}
        assert set(repo.uses("Plain.q")) == {"A.kt:10:38", "A.kt:11:27"}
        for asked in ("Item.Maker", "A.kt:5:19", "A.kt:6:13", "Plain.q"):
            assert set(repo.uses(asked).values()) <= sure


def test_a_property_has_its_own_type_beside_a_function_of_its_name(tmp_path: Path) -> None:
    files = {
        "A.kt": "class Renamer { fun toJson() = 1 }\nclass Other { fun toJson() = 2 }\n"
        "class Box {\n    var renamer: Renamer? = null\n    fun renamer(other: Renamer): Other = Other()\n}\n",
        "B.kt": "fun f(box: Box) = box.renamer?.toJson()\nfun g(box: Box, r: Renamer) = box.renamer(r).toJson()\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("Renamer.toJson") == {"A.kt:1:21": "PROVEN", "B.kt:1:32": "STRONG"}
        assert repo.uses("Other.toJson") == {"A.kt:2:19": "PROVEN", "B.kt:2:46": "STRONG"}


def test_an_object_in_a_lambda_with_a_receiver_from_outside_is_itself(tmp_path: Path) -> None:
    files = {
        "A.kt": "object Render { fun draw(to: Appendable) = 1 }\n"
        "fun f() = StringBuilder().apply { Render.draw(this) }.toString()\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("Render.draw") == {"A.kt:1:21": "PROVEN", "A.kt:2:42": "STRONG"}
