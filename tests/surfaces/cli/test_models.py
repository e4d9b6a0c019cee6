"""`cpl models`: what is configured, whether it answers, and keys that stay sealed."""

import json
import stat
from pathlib import Path

import pytest

from tests.harness import cpl, start
from tests.interaction.requirements import requirement
from tests.work.models.scripted_provider import answer, openai_text, scripted_provider, status

pytestmark = requirement("MODEL-07")

KEY = "kq7-not-shaped-like-any-known-key"


class Owner:
    """Somebody with a home of their own and a repository elsewhere."""

    def __init__(self, home: Path, repo: Path) -> None:
        self.folder = home / "codeplane"
        self.repo = repo
        self.environ = {"XDG_CONFIG_HOME": str(home)}

    def type(self, *arguments: str, stdin: str | None = None, code: int = 0) -> str:
        """What `cpl models` prints."""
        done = cpl("models", *arguments, cwd=self.repo, environ=self.environ, stdin=stdin)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def owner(tmp_path: Path, repo: Path) -> Owner:
    return Owner(tmp_path / "config", repo)


def test_with_nothing_configured_it_says_how_to_add_one(owner: Owner) -> None:
    text = owner.type()
    assert "no model is configured" in text and "cpl models add ollama --model MODEL" in text
    assert "no model is configured" in owner.type("test", code=1)


def test_a_provider_is_added_tested_listed_and_removed(owner: Owner) -> None:
    with scripted_provider(answer(openai_text("ready"))) as provider:
        added = owner.type("add", "mine", "--url", provider.url, "-m", "small", "-m", "large", "--price", "1,2")
        assert "added mine: mine/small, mine/large" in added
        assert "mine/small answers 'ready'" in owner.type("test")
        assert "mine/large answers 'ready'" in owner.type("test", "mine/large")
        text = owner.type()
        assert "mine/small (default; $1 in, $2 out for a million tokens)" in text
        assert "today: 2 calls, 0 failed, 30 tokens, $0.0000" in text
        listed = json.loads(owner.type("--json"))["result"]
        assert [model["model"] for model in listed["providers"][0]["models"]] == ["mine/small", "mine/large"]
        provider.script = [status(401, {"error": {"message": "bad key"}})]
        assert "PROVIDER_REJECTED" in owner.type("test", code=1)
    assert "removed mine" in owner.type("remove", "mine")
    assert "no model is configured" in owner.type()
    assert "has no provider 'mine'" in owner.type("remove", "mine", code=1)


def test_another_machine_is_added_only_with_consent(owner: Owner) -> None:
    text = owner.type("add", "openai", "-m", "gpt-5", code=2)
    assert "would leave this one" in text and "--external" in text
    assert not owner.folder.exists()
    owner.type("add", "openai", "-m", "gpt-5", "--external")
    listed = json.loads(owner.type("--json"))["result"]
    assert listed["external"] is True and listed["providers"][0]["key"] == "missing"
    assert "OPENAI_API_KEY is not set" in owner.type()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "openai"), "no model of openai is named"),
        (("add", "mine", "-m", "x"), "the address of mine is not known"),
        (("add", "Mine!", "--url", "http://127.0.0.1:1/v1", "-m", "x"), "name"),
        (("add", "mine", "--url", "http://127.0.0.1:1/v1", "-m", "x", "--kind", "other"), "kind"),
        (("add", "mine", "--url", "http://127.0.0.1:1/v1", "-m", "x", "--price", "cheap"), "IN,OUT"),
        (("key", "mine"), "no key was given"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    owner: Owner, arguments: tuple[str, ...], said: str
) -> None:
    assert said in owner.type(*arguments, stdin="", code=2)
    assert not owner.folder.exists()


def test_a_key_is_kept_sealed_and_used(owner: Owner) -> None:
    with scripted_provider(answer(openai_text("ready"))) as provider:
        owner.type("add", "mine", "--url", provider.url, "-m", "small", "--key-env", "MINE_KEY")
        assert "MINE_KEY is not set" in owner.type("test", code=1)
        assert KEY not in owner.type("key", "mine", stdin=f"{KEY}\n")
        owner.type("test")
        assert provider.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        for path in owner.folder.iterdir():
            assert KEY.encode() not in path.read_bytes()
        sealed = owner.folder / "model-keys.sealed"
        assert stat.S_IMODE(sealed.stat().st_mode) == 0o600
        # A variable that is set counts before it.
        owner.environ["MINE_KEY"] = "another-key-of-mine"
        owner.type("test")
        assert provider.requests[-1].headers["authorization"] == "Bearer another-key-of-mine"
        del owner.environ["MINE_KEY"]
        data = bytearray(sealed.read_bytes())
        data[-1] ^= 1
        sealed.write_bytes(data)
        assert "cannot be opened" in owner.type("test", code=1)
        sealed.unlink()
        assert "there is no key of 'mine'" in owner.type("key", "mine", "--remove", code=1)
        owner.type("key", "mine", stdin=f"{KEY}\n")
        assert "forgot the key of mine" in owner.type("key", "mine", "--remove")
        assert "MINE_KEY is not set" in owner.type("test", code=1)


@requirement("MODEL-03")
def test_a_server_keeps_keys_out_of_its_files_and_answers(owner: Owner) -> None:
    with scripted_provider(answer(openai_text("ready"))) as provider:
        owner.type("add", "mine", "--url", provider.url, "-m", "small", "--key-env", "MINE_KEY")
        server = start(owner.repo, environ={**owner.environ, "MINE_KEY": KEY})
        try:
            assert "mine/small answers 'ready'" in owner.type("test")
            assert provider.requests[-1].headers["authorization"] == f"Bearer {KEY}"
            owner.type("add", "later", "--url", provider.url, "-m", "small")
            text = owner.type()
            assert "models.providers" in text and "later" not in text.replace("models.providers", "")
            unknown = owner.type("test", "later/small", code=1)
            assert "not on the owner's list" in unknown and "not in force until a restart: models.providers" in unknown
            assert "hint: changed and not in force until a restart: models.providers" in unknown
            refused = status(400, {"error": {"message": f"the key {KEY} is no good here"}})
            provider.script = [refused]
            answers = [owner.type("test", code=1), owner.type("--json"), owner.type()]
            answers += [
                json.dumps(server.call(name)) for name in ("trace.list", "ledger.events", "settings.show", "status")
            ]
        finally:
            assert server.stop() == 0
        assert [text for text in answers if KEY in text] == []
        files = [path for path in (owner.repo / ".codeplane").rglob("*") if path.is_file()]
        assert len(files) > 5 and [path for path in files if KEY.encode() in path.read_bytes()] == []
