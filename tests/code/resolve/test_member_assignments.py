"""Where members are set is looked for once in a text, and again where the text is another."""

from dataclasses import replace

from codeplane.code.resolve.member_assignments import MemberAssignments
from codeplane.index.files.file import Stamp
from codeplane.index.snapshot import IndexedFile
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-41")

TEXT = b"self.name = 1\nprint(self.name)\nsetattr(self, 'name', 2)\n"


def known(path: str) -> IndexedFile:
    stamp = Stamp(1, 1, 1, 1, 1)
    return IndexedFile(path=path, stamp=stamp, digest="same", offset=0, length=len(TEXT), tracked=True)


class Reading:
    """A text that counts how often it is read."""

    def __init__(self, text: bytes) -> None:
        self.text, self.times = text, 0

    def __call__(self) -> bytes:
        self.times += 1
        return self.text


def test_a_text_is_looked_through_once_for_a_name() -> None:
    given, read, one = MemberAssignments(), Reading(TEXT), known("a.py")
    places = given.places("name", one, read)
    assert [TEXT[at : at + 4] for at in places] == [b"name", b"name"]
    assert (given.places("name", one, read), read.times) == (places, 1)
    assert (given.places("nam", one, read), read.times) == ((), 2)


def test_a_file_that_is_another_is_looked_through_again() -> None:
    given = MemberAssignments()
    given.places("name", known("a.py"), Reading(TEXT))
    assert given.places("name", known("a.py"), Reading(b"x.name()\n")) == ()
    assert given.places("name", known("b.py"), Reading(b"x.name = 1\n")) == (2,)


def test_beyond_the_bound_the_names_of_long_ago_are_forgotten() -> None:
    given, files = MemberAssignments(most=2), [known("a.py"), known("b.py")]
    first, second = Reading(TEXT), Reading(TEXT)
    for one in files:
        given.places("name", one, first)
    given.places("other", files[0], second)
    given.places("other", files[0], second)
    assert second.times == 1, "the newest is kept"
    given.places("name", files[0], first)
    assert first.times == 3, "the oldest is looked for again"


def test_a_text_that_sets_nothing_by_name_says_so_of_every_name_until_it_is_another() -> None:
    given, plain = MemberAssignments(), replace(known("a.py"), digest="plain")
    assert given.places("name", plain, Reading(b"x.name = x.other = 1\n")) == (2,)
    assert given.places("other", plain, Reading(b"x.name = x.other = 1\n")) == (11,)
    assert given.places("name", known("a.py"), Reading(TEXT)) == (5, TEXT.index(b"name', 2"))
