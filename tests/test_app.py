"""Settings that name what is not there are refused at the start, not found out by a gate that stays shut."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import ConfigInvalid
from tests.harness import git
from tests.interaction.requirements import requirement
from tests.kernel.plane import Ask, asking


async def nothing(ask: Ask) -> None:
    """Not reached when the settings are refused."""


@requirement("CLI-08")
@pytest.mark.parametrize(
    ("setting", "advice"),
    [("trust.allow=ledger.retian", "did you mean 'ledger.retain'"), ("mcp.toolset=gti", "mcp.toolset names 'gti'")],
)
async def test_names_that_are_not_there_are_refused(repo: Path, setting: str, advice: str) -> None:
    with pytest.raises(ConfigInvalid, match=advice):
        async with asking(repo, setting) as ask:
            await nothing(ask)


async def test_names_that_are_there_are_taken(repo: Path) -> None:
    async with asking(repo, "trust.allow=ledger.retain", "mcp.toolset=session,core") as ask:
        await nothing(ask)


@requirement("MCP-12")
async def test_names_that_are_switched_off_are_taken(repo: Path) -> None:
    off = ("refactor.enabled=false", "web.enabled=false")
    async with asking(repo, *off, 'trust.allow=["refactor.move", "web.open"]', "mcp.toolset=refactor,core") as ask:
        await nothing(ask)


@requirement("TRUST-05")
async def test_settings_that_come_with_the_repository_are_not_the_owners(repo: Path) -> None:
    (repo / ".codeplane").mkdir()
    (repo / ".codeplane" / "config.yaml").write_text("trust: {mode: automatic}\n")
    git(repo, "add", "--force", ".codeplane/config.yaml")
    with pytest.raises(ConfigInvalid, match="under version control"):
        async with asking(repo) as ask:
            await nothing(ask)
    git(repo, "rm", "--quiet", "--cached", ".codeplane/config.yaml")
    async with asking(repo) as ask:
        await nothing(ask)


async def test_a_home_that_leads_elsewhere_or_is_a_repository_of_its_own_is_not_the_owners(repo: Path) -> None:
    (repo / "cfg").mkdir()
    (repo / "cfg" / "config.yaml").write_text("trust: {mode: automatic}\n")
    (repo / ".codeplane").symlink_to("cfg")
    with pytest.raises(ConfigInvalid, match="leads elsewhere"):
        async with asking(repo) as ask:
            await nothing(ask)
    (repo / ".codeplane").unlink()
    (repo / "cfg").rename(repo / ".codeplane")
    git(repo / ".codeplane", "init", "--quiet")
    with pytest.raises(ConfigInvalid, match="a repository of its own"):
        async with asking(repo) as ask:
            await nothing(ask)


async def test_a_policy_that_comes_with_the_repository_is_not_the_owners(repo: Path) -> None:
    (repo / ".codeplane" / "policy").mkdir(parents=True)
    (repo / ".codeplane" / "policy" / "x.rego").write_text("package codeplane.policy\n")
    git(repo, "add", "--force", ".codeplane/policy/x.rego")
    with pytest.raises(ConfigInvalid, match="under version control"):
        async with asking(repo) as ask:
            await nothing(ask)
