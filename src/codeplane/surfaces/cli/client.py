"""Talking to a running server as the owner: `codeplane.client` with the owner's token."""

from codeplane.client.client import Client as AnyClient
from codeplane.kernel.errors import Unauthorized
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import ServerFacts


class Client(AnyClient):
    """The owner, calling the server of a workspace."""

    def __init__(self, workspace: Workspace, facts: ServerFacts) -> None:
        try:
            token = workspace.owner_token.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Unauthorized(f"{workspace.owner_token} cannot be read: {error}") from error
        super().__init__(facts.host, facts.port, token=token, user_agent="cpl")
