"""Who may ask which model, and where: the owner's settings decide, and nothing in the work tree adds to them."""

from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Actor, ActorKind, Caller, Origin
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, events
from tests.trust.untrusted.engine import engine
from tests.trust.untrusted.test_marks import reads
from tests.work.models.model_plane import ask_model, model_plane, openai, providers, text_of
from tests.work.models.scripted_provider import answer, openai_text, scripted_provider

pytestmark = requirement("MODEL-02")

WELL = answer(openai_text("yes"))
ELSEWHERE: JsonObject = {"name": "far", "kind": "openai", "base_url": "https://models.invalid/v1", "models": ["big"]}
JOB = Caller(
    surface="work",
    actor=Actor(kind=ActorKind.JOB, actor_id="job_1"),
    origin=Origin(work_id="wrk_1", on_behalf_of=Actor(kind=ActorKind.OWNER, actor_id="owner")),
)
MODELS = """models:
  providers:
    - {name: mine, kind: openai, base_url: "http://127.0.0.1:1/v1", models: [small]}
"""


async def test_only_models_on_the_list_are_asked(tmp_path: Path) -> None:
    with scripted_provider(WELL) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url, "small", "large"))) as opened:
            for name in ("local/small", "local/large", ""):
                items, outcome = await ask_model(opened, model=name)
                assert outcome.error is None and text_of(items) == "yes"
            for name in ("local/other", "local", "local/", "elsewhere/small", "small", "../small", "local/*"):
                _, outcome = await ask_model(opened, model=name)
                assert outcome.error is not None and outcome.error.name == "PROVIDER_DENIED"
                assert outcome.error.details["allowed"] == ["local/small", "local/large"]
        assert [request.body["model"] for request in provider.requests] == ["small", "large", "small"]


async def test_the_list_can_be_narrower_or_wider_than_what_the_providers_name(tmp_path: Path) -> None:
    with scripted_provider(WELL) as provider:
        entry = openai("local", provider.url, "small", "large")
        async with model_plane(tmp_path, providers(entry), "models.allow=[local/small]") as opened:
            assert (await ask_model(opened, model="local/small"))[1].error is None
            _, outcome = await ask_model(opened, model="local/large")
            assert outcome.error is not None and outcome.error.name == "PROVIDER_DENIED"
        async with model_plane(tmp_path, providers(entry), "models.allow=[local/*]") as opened:
            assert (await ask_model(opened, model="local/qwen3:8b"))[1].error is None


async def test_without_a_provider_the_command_that_adds_one_is_named(tmp_path: Path) -> None:
    async with model_plane(tmp_path) as opened:
        _, outcome = await ask_model(opened)
        assert outcome.error is not None and outcome.error.name == "PROVIDER_DENIED"
        assert "cpl models add" in outcome.error.hint


async def test_other_machines_are_reached_only_where_the_owner_allows_it(tmp_path: Path) -> None:
    async with model_plane(tmp_path, providers(ELSEWHERE)) as opened:
        for caller in (OWNER, AGENT, JOB):
            _, outcome = await ask_model(opened, caller=caller)
            assert outcome.error is not None and outcome.error.name == "PROVIDER_DENIED"
            assert outcome.error.details["host"] == "models.invalid"
        assert await events(opened, "model.called") == []
    settings = (providers(ELSEWHERE), "models.external=true", "models.retries=0", "models.connect_sec=1")
    async with model_plane(tmp_path, *settings) as opened:
        # It is asked now, and is not there.
        _, outcome = await ask_model(opened)
        assert outcome.error is not None and outcome.error.name != "PROVIDER_DENIED"
        assert len(await events(opened, "model.called")) == 1
        _, outcome = await ask_model(opened, local_only=True)
        assert outcome.error is not None and outcome.error.name == "PROVIDER_DENIED"


async def test_a_fallback_on_another_machine_is_left_out_unless_the_owner_allows_it(tmp_path: Path) -> None:
    with scripted_provider(WELL) as provider:
        pass
    entries = providers(openai("local", provider.url), ELSEWHERE)
    chain = 'models.fallbacks={"local/small": ["far/big"]}'
    async with model_plane(tmp_path, entries, chain, "models.retries=0") as opened:
        items, outcome = await ask_model(opened)
        assert items == [] and outcome.error is not None and outcome.error.details["model"] == "local/small"
    async with model_plane(tmp_path, entries, chain, "models.retries=0", "models.external=true") as opened:
        items, _ = await ask_model(opened)
        assert [(item.kind, item.to) for item in items] == [("fallback", "far/big")]


async def test_agents_and_jobs_ask_unasked_within_the_list_also_after_untrusted_content(tmp_path: Path) -> None:
    with scripted_provider(WELL) as provider, engine() as search:
        # A host that counts as another machine, and is this one.
        settings = (providers(openai("local", provider.url)), search, "trust.mode=always")
        async with model_plane(tmp_path, *settings) as opened:
            for caller in (AGENT, JOB):
                assert (await ask_model(opened, caller=caller))[1].error is None
            await reads(opened)
            assert (await ask_model(opened, caller=AGENT))[1].error is None
            # The mark is there: what is outward in the sense of the rule asks.
            outcome = await opened.conveyor.call("web.search", {"query": "again"}, AGENT)
            assert outcome.error is not None and outcome.error.name == "APPROVAL_PENDING"
            _, outcome = await ask_model(opened, caller=AGENT, model="local/other")
            assert outcome.error is not None and outcome.error.name == "PROVIDER_DENIED"


async def test_a_call_to_another_machine_is_no_outward_call_of_the_untrusted_rule(tmp_path: Path) -> None:
    with engine() as search:
        settings = (providers(ELSEWHERE), search, "models.external=true", "models.retries=0", "models.connect_sec=1")
        async with model_plane(tmp_path, *settings) as opened:
            await reads(opened)
            _, outcome = await ask_model(opened, caller=AGENT)
            assert outcome.error is not None and outcome.error.name in ("PROVIDER_UNAVAILABLE", "PROVIDER_REJECTED")


async def test_an_agent_without_the_right_to_run_tools_asks_no_model(tmp_path: Path) -> None:
    with scripted_provider(WELL) as provider:
        settings = (providers(openai("local", provider.url)), "trust.agent_capabilities=[read_files]")
        async with model_plane(tmp_path, *settings) as opened:
            _, outcome = await ask_model(opened, caller=AGENT)
            assert outcome.error is not None and outcome.error.name == "CAPABILITY_DENIED"
            nobody = replace(AGENT, surface="connect")
            _, outcome = await ask_model(opened, caller=nobody)
            assert outcome.error is not None and outcome.error.name == "UNAUTHORIZED"
        assert provider.requests == []


async def test_rules_of_the_owner_see_the_model_and_may_refuse_it(tmp_path: Path) -> None:
    folder = tmp_path / ".codeplane" / "policy"
    folder.mkdir(parents=True)
    (folder / "models.rego").write_text(
        'package codeplane.policy\n\nimport rego.v1\n\ndeny contains "not the large one" if {\n'
        '\tinput.operation.name == "model.call"\n\t"local/large" in input.remote_names\n}\n'
    )
    with scripted_provider(WELL) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url, "small", "large"))) as opened:
            assert (await ask_model(opened, caller=AGENT, model="local/small"))[1].error is None
            _, outcome = await ask_model(opened, caller=AGENT, model="local/large")
            assert outcome.error is not None and outcome.error.name == "POLICY_DENIED"
            assert "not the large one" in outcome.error.message
        assert len(provider.requests) == 1


def load(root: Path, environ: dict[str, str]) -> tuple[str, ...]:
    config = load_workspace_config(Workspace(root=root), (), environ).config
    return tuple(provider.name for provider in config.models.providers)


def test_a_file_in_the_work_tree_names_no_provider(repo: Path, tmp_path: Path) -> None:
    own = tmp_path / "config" / "codeplane"
    own.mkdir(parents=True)
    (own / "config.yaml").write_text(MODELS)
    assert load(repo, {"XDG_CONFIG_HOME": str(own.parent)}) == ("mine",)
    (repo / ".codeplane").mkdir()
    (repo / ".codeplane" / "config.yaml").write_text(MODELS)
    with pytest.raises(ConfigInvalid, match="not taken from a file in the repository"):
        load(repo, {"XDG_CONFIG_HOME": str(own.parent)})


@pytest.mark.parametrize("is_link", [False, True])
def test_a_settings_folder_in_the_work_tree_is_not_the_owners(repo: Path, tmp_path: Path, is_link: bool) -> None:
    """As of somebody who keeps their whole home under version control."""
    folder = repo / ".config" / "codeplane"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("logging: {level: WARN}\n")
    home = repo / ".config"
    if is_link:
        home = tmp_path / "linked"
        home.symlink_to(repo / ".config")
    assert load(repo, {"XDG_CONFIG_HOME": str(home)}) == ()
    (folder / "config.yaml").write_text(MODELS)
    with pytest.raises(ConfigInvalid, match="not taken from a file in the repository"):
        load(repo, {"XDG_CONFIG_HOME": str(home)})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("models.default=local/large",), "models.default names 'local/large'"),
        (('models.fallbacks={"local/small": ["far/away"]}',), "models.fallbacks.local/small names 'far/away'"),
        (("models.allow=[other/small]",), "models.allow names 'other/small'"),
        ((providers({"name": "a", "kind": "openai", "base_url": "ftp://x"}),), "not an http or https address"),
        ((providers({"name": "a", "kind": "openai"}),), "not an http or https address"),
        ((providers(ELSEWHERE, ELSEWHERE),), "twice"),
        ((providers({"name": "A b", "kind": "openai"}),), "name"),
        ((providers({"name": "a", "kind": "other"}),), "kind"),
    ],
)
async def test_settings_that_name_what_is_not_there_are_refused_at_the_start(
    tmp_path: Path, settings: tuple[str, ...], said: str
) -> None:
    entry = providers(openai("local", "http://127.0.0.1:1/v1"))
    with pytest.raises(ConfigInvalid) as refused:
        async with model_plane(tmp_path, entry, *settings):
            pass
    assert said in refused.value.message


async def test_a_key_is_not_sent_in_the_clear(tmp_path: Path) -> None:
    entry: JsonObject = ELSEWHERE | {"base_url": "http://models.invalid/v1", "api_key_env": "FAR_KEY"}
    with pytest.raises(ConfigInvalid, match="in the clear"):
        async with model_plane(tmp_path, providers(entry), environ={"FAR_KEY": "k" * 20}):
            pass
