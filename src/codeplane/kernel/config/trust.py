"""Permissions, and how a person is asked."""

from typing import Annotated, Literal

from pydantic import Field

from codeplane.kernel.config.section import Capability, Off, Section


class TrustConfig(Section):
    """Which calls run without asking."""

    mode: Literal["automatic", "trust", "always"] = Field(
        "trust",
        description="trust: reads and workspace writes run, the rest asks; automatic: all but shell runs; "
        "always: every change asks",
    )
    allow: tuple[str, ...] = Field(
        (), description="operations that run without asking though they are destructive or outward, as in git.reset"
    )
    agent_capabilities: tuple[Capability, ...] = Field(
        ("read_files", "write_files", "execute_tools", "execute_shell", "context_sharing", "streaming_tasks"),
        description="capabilities of agents without a token of their own",
    )


class ApprovalsConfig(Section):
    """Questions to a person."""

    wait_sec: float = Field(25.0, ge=0, le=3600, description="how long a call waits for the answer; 0: not at all")
    expires_minutes: float = Field(60.0, gt=0, description="a question without an answer is rejected after this long")
    expiring_soon_minutes: float = Field(10.0, ge=0, description="how long before that a notification says so")
    max_pending: int = Field(20_000, ge=1, description="questions open at once; more are refused")
    max_pending_each: int = Field(1000, ge=1, description="questions of one caller open at once")
    elicit: bool = Field(True, description="ask the person at MCP clients that `cpl clients allow` named")
    trust_days: float = Field(7.0, gt=0, description="how long a remembered answer holds")


class NotificationsConfig(Section):
    """How an absent person is notified; taken from the owner's own settings alone."""

    command: tuple[str, ...] = Field(
        (), max_length=20, description="run for each notification, with its summary as the last argument: notify-send"
    )
    webhook: str = Field(
        "",
        max_length=2000,
        pattern=r"^(https?://\S+)?$",
        description="each notification is posted here once you allowed it: cpl notifications allow",
    )
    per_minute: int = Field(20, ge=1, le=1000, description="notifications that are delivered in a minute, at most")
    reach_outs_per_hour: int = Field(
        6, ge=0, le=1000, description="how often agents may reach out by themselves, all together"
    )


class PolicyConfig(Section):
    """The rules in Rego."""

    timeout_ms: float = Field(250.0, gt=0, description="a decision that takes longer is a denial")
    cached: int = Field(4096, ge=0, description="decisions kept by policy version and whole input")
    reload_sec: float = Field(1.0, gt=0, description="how often .codeplane/policy is checked for changes")


class DevicesConfig(Section):
    """Paired devices."""

    pairing_minutes: float = Field(5.0, gt=0, le=60, description="how long a pairing code can be used")
    pairing_tries: int = Field(5, ge=1, description="wrong codes a minute, from all callers together")
    token_days: float = Field(30.0, gt=0, description="a device's token ends after this long without renewal")
    max_devices: int = Field(100, ge=1, description="devices paired at once")


class ShellConfig(Section):
    """Shell commands of agents; a person is asked about each."""

    enabled: bool = Field(True, description="off, there is no run_bash")
    sandbox: Annotated[Literal["required", "off"], Off] = Field(
        "required", description="off runs commands without bubblewrap"
    )
    network: bool = Field(False, description="whether commands in the sandbox reach the network")
    output_kb: int = Field(
        1024, ge=1, le=65_536, description="output kept of one command; the rest is dropped, which the answer says"
    )
    max_running: int = Field(4, ge=1, le=64, description="commands at once")


class WebConfig(Section):
    """Pages fetched for agents."""

    enabled: bool = Field(True, description="off, there are no web_open and web_search")
    allow: tuple[str, ...] = Field((), description="only these hosts, as in docs.python.org or *.python.org")
    deny: tuple[str, ...] = Field((), description="never these hosts")
    max_kb: int = Field(2048, ge=1, le=65_536, description="largest page")
    timeout_sec: float = Field(20.0, gt=0, le=120, description="for one page with its redirects")
    max_redirects: int = Field(5, ge=0, le=20, description="redirects followed, each checked again")
    search_url: str = Field("", description="a SearXNG-compatible endpoint for web_search, as in https://host/search")
