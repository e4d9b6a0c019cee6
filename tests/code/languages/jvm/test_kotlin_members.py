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
