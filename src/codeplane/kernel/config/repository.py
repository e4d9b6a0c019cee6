"""The repository: index, changes, git and tests."""

from typing import Annotated, Literal

from pydantic import Field

from codeplane.kernel.config.section import Off, Patterns, Section


class IndexConfig(Section):
    """The index of the repository."""

    watch: bool = Field(True, description="listen to the system's file events; off, every answer walks the disk")
    max_file_bytes: int = Field(10 * 1024 * 1024, ge=1024, description="larger files are not indexed, and counted")
    verify_after_sec: float = Field(30.0, gt=0, description="a whole walk at least this often while questions come")
    wait_sec: float = Field(30.0, gt=0, description="how long a question waits for what it needs of the index")
    memory_mb: int = Field(400, ge=0, description="above it parsing goes on with one process, and says so; 0: no limit")
    include: Patterns = Field((), description="git-ignored files that are indexed all the same, as in generated/**")
    secrets: Patterns = Field((), description="secrets files that are shown like any other, as in .env.test")
    processes: int = Field(0, ge=0, le=64, description="processes that parse at once; 0 is one a core, at most four")


class WorkspacesConfig(Section):
    """Other folders that can be queried."""

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
    """Changes of files, and how long they can be undone."""

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
