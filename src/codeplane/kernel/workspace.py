"""A repository root and the places CodePlane keeps its own files in."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

OWN_FOLDER = ".codeplane"
# Names the running server in every HTTP answer; server.json holds the same.
INSTANCE_HEADER = "x-codeplane-instance"
_NAME_LENGTH = 24


def client_secrets(environ: Mapping[str, str], home: Path) -> Path:
    """The user's folder of the secrets that registered clients show; never inside a repository."""
    given = environ.get("XDG_CONFIG_HOME", "")
    base = Path(given) if given and Path(given).is_absolute() else home / ".config"
    return base / "codeplane" / "clients"


def install_record(environ: Mapping[str, str], home: Path) -> Path:
    """The user's file that names the repositories which were set up."""
    return _user_state(environ, home) / "installed.json"


def job_folders(environ: Mapping[str, str], home: Path) -> Path:
    """The user's folder of the work trees of jobs; outside of every repository, whose own folder git must not write."""
    return _user_state(environ, home) / "jobs"


def job_folder(folder: Path, root: Path) -> Path:
    """The folder of one repository's jobs below a folder of work trees; a copy of the repository has its own."""
    return folder / sha256(os.fsencode(root.resolve())).hexdigest()[:_NAME_LENGTH]


def _user_state(environ: Mapping[str, str], home: Path) -> Path:
    given = environ.get("XDG_STATE_HOME", "")
    return (Path(given) if given.startswith("/") else home / ".local" / "state") / "codeplane"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A repository root with its `.codeplane/`."""

    root: Path

    @property
    def header(self) -> bytes:
        """The root as the value of an HTTP header: its bytes, with those a header cannot hold escaped."""
        return b"".join(
            b"%%%02X" % byte if byte < 0x20 or byte == 0x7F else bytes([byte]) for byte in os.fsencode(self.root)
        )

    @property
    def home(self) -> Path:
        """The folder of everything that is ours; it ignores itself in git."""
        return self.root / OWN_FOLDER

    @property
    def ignore(self) -> Path:
        """Make git ignore our files."""
        return self.home / ".gitignore"

    @property
    def repo_id(self) -> Path:
        """This repository's identifier, made once."""
        return self.home / "repo_id"

    @property
    def ledger(self) -> Path:
        """The log and its projections."""
        return self.home / "ledger.db"

    @property
    def config(self) -> Path:
        """The repository's own settings."""
        return self.home / "config.yaml"

    @property
    def port(self) -> Path:
        """The running server's port, for clients."""
        return self.home / "port"

    @property
    def server(self) -> Path:
        """Who serves this workspace: pid, address and start."""
        return self.home / "server.json"

    @property
    def lock(self) -> Path:
        """Locked by the one process that serves or embeds this workspace."""
        return self.home / "lock"

    @property
    def owner_token(self) -> Path:
        """The owner's secret, readable by the owner alone."""
        return self.home / "owner.token"

    @property
    def server_key(self) -> Path:
        """Seals the tokens of devices."""
        return self.home / "server.key"

    @property
    def agent_keys(self) -> Path:
        """Sign the tokens of agents."""
        return self.home / "agent.keys"

    @property
    def tls(self) -> Path:
        """The server's certificate and its key."""
        return self.home / "tls"

    @property
    def grpc(self) -> Path:
        """The sockets between the gRPC port and the servers behind it."""
        return self.home / "grpc"

    @property
    def policy(self) -> Path:
        """The owner's own rules, in Rego."""
        return self.home / "policy"

    @property
    def log(self) -> Path:
        """The server's own log, as JSON lines."""
        return self.home / "logs" / "server.jsonl"

    @property
    def workspaces(self) -> Path:
        """The indexes and clones of further workspaces, a folder each."""
        return self.home / "workspaces"

    @property
    def attached(self) -> Path:
        """Which further workspaces are attached."""
        return self.home / "workspaces.json"

    @property
    def exports(self) -> Path:
        """Exported traces."""
        return self.home / "exports"
