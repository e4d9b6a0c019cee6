"""Dotted names in docstrings, comments and documents are changed by what they lead to, and what is left is said."""

from pathlib import Path
from typing import cast

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import made, texts

CLIENT = '''"""Clients, see BaseClient.build_request."""


class BaseClient:
    def build_request(self):
        return 1

    def send(self):
        return 2


class Client(BaseClient):
    """Made by `Client.build_request()`, see :meth:`~Client.build_request` and :meth:`.Client.build_request`.

    Also net.Client.build_request, :py:meth:`build_request() <net.Client.build_request>` and AsyncClient.build_request.
    Not Other.build_request, and `session.build_request()` may be anything.
    """

    def send(self):
        # Unlike Client.send, BaseClient.send does nothing.
        return 3


class AsyncClient(BaseClient):
    """Sends as `AsyncClient.send` says."""


def get():
    return 4
'''
NET = {
    "net/__init__.py": "from net._client import AsyncClient, BaseClient, Client, get\n",
    "net/_client.py": CLIENT,
    "net/other.py": "class Other:\n    def build_request(self):\n        return 1\n\n    def send(self): ...\n",
    "docs/guide.md": "Use `Client.build_request()` or AsyncClient.build_request, not `Other.build_request()`.\n\n"
    "`Client.send` is another than `BaseClient.send`; AsyncClient.send is the latter. A Client.send call sends.\n"
    "Call `net.get()`, not `requests.get()`.\n",
}


async def _renamed(tmp_path: Path, symbol: str, new_name: str, **choice: object) -> tuple[dict[str, str], JsonObject]:
    """The files after a rename, and the envelope that says so."""
    root = made(tmp_path, NET)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol=symbol, new_name=new_name))
        done = await ask("refactor.rename", refactor_id=plan["refactor_id"], **choice)
        assert result(done)["status"] == "applied", done
    return texts(root), done


@requirement("REF-20")
async def test_every_dotted_name_that_leads_to_a_method_is_changed_also_through_heirs(tmp_path: Path) -> None:
    found, done = await _renamed(tmp_path, "BaseClient.build_request", "make", exclude=["anchored", "unknown"])
    output = found["net/_client.py"]
    for mention in (
        "see BaseClient.make.",
        "`Client.make()`",
        ":meth:`~Client.make`",
        ":meth:`.Client.make`",
        "Also net.Client.make,",
        ":py:meth:`make() <net.Client.make>`",
        "and AsyncClient.make.",
    ):
        assert mention in output
    assert "Not Other.build_request, and `session.build_request()` may" in output
    assert found["docs/guide.md"].startswith("Use `Client.make()` or AsyncClient.make, not `Other.build_request()`.\n")
    left = cast(JsonObject, cast(JsonObject, result(done)["applied"])["doc_updates_left"])
    places = {(one["file"], one["line"]) for one in cast(list[JsonObject], left["matches"])}
    assert left["total"] == 3 and places == {("net/_client.py", 16), ("docs/guide.md", 1)}
    line = "3 words in comments and documentation left alone, less sure: docs/guide.md 1:71; net/_client.py 16:15 16:43"
    assert line in str(done["text"])


@requirement("REF-20")
async def test_a_plan_names_the_words_that_it_leaves(tmp_path: Path) -> None:
    root = made(tmp_path, NET)
    async with asking(root) as ask:
        text = str((await ask("refactor.rename", symbol="BaseClient.build_request", new_name="make"))["text"])
        line = next(one for one in text.splitlines() if "left alone, less sure" in one)
        assert line.startswith("3 words left alone, less sure (to change: include=[documents] or [#NUMBER, …]): ")
        assert "docs/guide.md #" in line and "=16:43" in line


@requirement("REF-20")
async def test_what_a_text_means_follows_the_candidate_that_is_chosen(tmp_path: Path) -> None:
    rest = {"exclude": ["anchored", "unknown"]}
    alone, _ = await _renamed(tmp_path / "alone", "Client.send", "post", candidate="this_one", **rest)
    assert "`Client.post` is another than `BaseClient.send`; AsyncClient.send is" in alone["docs/guide.md"]
    assert "A Client.post call sends." in alone["docs/guide.md"]
    assert "# Unlike Client.post, BaseClient.send does" in alone["net/_client.py"]
    family, _ = await _renamed(tmp_path / "family", "Client.send", "post", candidate="family", **rest)
    assert "`Client.post` is another than `BaseClient.post`; AsyncClient.post is" in family["docs/guide.md"]
    assert "# Unlike Client.post, BaseClient.post does" in family["net/_client.py"]
    assert "as `AsyncClient.post` says" in family["net/_client.py"]


@requirement("REF-20")
async def test_a_function_is_known_by_the_package_that_gives_it(tmp_path: Path) -> None:
    found, _ = await _renamed(tmp_path, "net/_client.py:get", "fetch", exclude=["anchored", "unknown"])
    assert "Call `net.fetch()`, not `requests.get()`." in found["docs/guide.md"]


@requirement("REF-20")
async def test_a_class_is_known_in_prose_by_its_member(tmp_path: Path) -> None:
    found, _ = await _renamed(tmp_path, "net/_client.py:Client", "Session", exclude=["anchored", "unknown"])
    assert "A Session.send call sends." in found["docs/guide.md"]
    assert "see :meth:`~Session.build_request` and :meth:`.Session.build_request`" in found["net/_client.py"]
    assert "# Unlike Session.send, BaseClient.send does" in found["net/_client.py"]


@requirement("REF-20")
async def test_the_docstring_of_a_class_speaks_of_its_own_members(tmp_path: Path) -> None:
    classes = """class Import:
    \'\'\'A name from elsewhere; `bound_as` is its name here, unlike `Facts.bound_as`.\'\'\'

    bound_as: str = ""


class Facts:
    \'\'\'What a file holds; `bound_as` has the names by their scopes.\'\'\'

    bound_as: str = ""
""".replace("\\'", "'")
    root = made(tmp_path, {"model.py": classes})
    async with asking(root) as ask:
        done = await ask("refactor.rename", symbol="Facts.bound_as", new_name="rows_of", apply=True)
        assert result(done)["status"] == "applied", done
    text = texts(root)["model.py"]
    assert "`bound_as` is its name here, unlike `Facts.rows_of`." in text
    assert "`rows_of` has the names by their scopes." in text
