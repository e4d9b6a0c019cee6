"""What is not ours is what it says it is, and comes with its licence."""

import re
from hashlib import sha256
from pathlib import Path

import codeplane.surfaces.web as web
from tests.interaction.requirements import requirement

pytestmark = requirement("WEB-06")

VENDOR = Path(web.__file__).parent / "static" / "vendor"


def test_every_file_is_the_one_that_is_named() -> None:
    named = dict(re.findall(r"^\| (\S+) \| [^|]+ \| ([0-9a-f]{64}) \|$", (VENDOR / "README.md").read_text(), re.M))
    found = {
        path.name: sha256(path.read_bytes()).hexdigest() for path in VENDOR.iterdir() if path.suffix in (".js", ".css")
    }
    assert found == named and len(found) == 5


def test_licences_are_there() -> None:
    assert {path.name for path in VENDOR.glob("*.LICENSE")} == {"htmx.LICENSE", "uplot.LICENSE"}
