"""The secret of a registered MCP client: a file in the user's folder, never in a repository."""

import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.errors import InvalidArgument, StorageFailed
from codeplane.kernel.workspace import Workspace, client_secrets

HEADER = "X-CodePlane-Client"
# Begins as the owner's token does, so that it is taken out of texts in the same way.
_PREFIX = "cpl_client_"
_NO_ID = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSecret:
    """The file with one client's secret for one repository."""

    file: Path

    @classmethod
    def of(cls, workspace: Workspace, name: str) -> "ClientSecret":
        """Return the secret of a client by its registered name."""
        if not name.replace("-", "").replace("_", "").replace(".", "").isalnum() or name.startswith("."):
            raise InvalidArgument(f"{name!r} is not a client's name", hint="see: cpl clients --help")
        return cls(file=folder_of(workspace) / f"{name}.key")

    def read(self) -> str:
        """Return the secret, or an empty text if there is none."""
        try:
            secret = self.file.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""
        return secret if secret.startswith(_PREFIX) and secret.isprintable() and " " not in secret else ""

    def make(self, workspace: Workspace) -> str:
        """Write a new secret, readable by the user alone, in place of an older one; its hash."""
        from codeplane.adapters.coding_clients.install_record import record_folders

        folder = self.file.parent
        if folder.name == _NO_ID:
            raise InvalidArgument("this repository has no .codeplane/ yet", hint="cpl init")
        try:
            with record_folders(self.file):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            real = folder.resolve()
            if real == workspace.root or workspace.root in real.parents:
                raise InvalidArgument(
                    f"{folder} is inside the repository, where agents could read the secret",
                    hint="set XDG_CONFIG_HOME to a folder outside of it",
                )
            secret = _PREFIX + secrets.token_urlsafe(32)
            temporary = folder / f".{self.file.name}.{secrets.token_hex(4)}"
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
                stream.write(secret + "\n")
            temporary.replace(self.file)
        except OSError as error:
            raise StorageFailed(f"{self.file} cannot be written: {error.strerror}") from error
        return hashlib.sha256(secret.encode()).hexdigest()

    def remove(self) -> None:
        """Delete the secret, and its folder when it was the last."""
        try:
            self.file.unlink(missing_ok=True)
            self.file.parent.rmdir()
        except OSError:
            return


def folder_of(workspace: Workspace) -> Path:
    """Return the user's folder with the secrets of one repository."""
    try:
        repo_id = workspace.repo_id.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        repo_id = ""
    # A repository names itself; what is no plain name leads nowhere.
    plain = repo_id if repo_id.replace("-", "").isalnum() else _NO_ID
    return client_secrets(os.environ, Path.home()) / plain
