"""Helps commands to change the user's own settings: folder, options, validation and the running server."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from codeplane.kernel.errors import InvalidArgument, WorkspaceNotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.cli.discovery import find_server, find_workspace
from codeplane.surfaces.cli.owner_client import open_owner_client

if TYPE_CHECKING:
    from pydantic import BaseModel


def settings_folder() -> Path:
    """Return the folder of the user's own settings."""
    from codeplane.adapters.yaml_config import user_folder

    folder = user_folder(os.environ)
    if folder is None:
        raise InvalidArgument("there is no home folder to keep settings in", hint="set HOME or XDG_CONFIG_HOME")
    return folder


def prepare_settings_folder() -> Path:
    """Create the folder of the user's own settings where it is missing, and return it."""
    from codeplane.adapters.coding_clients.install_record import record_folders
    from codeplane.adapters.file_replacement import storage_error

    folder = settings_folder()
    try:
        with record_folders(folder / "settings"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, folder) from error
    return folder


def parse_pairs(given: Iterable[str]) -> JsonObject:
    """Parse options of the form NAME=VALUE."""
    pairs: JsonObject = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InvalidArgument(f"{pair!r} is not NAME=VALUE")
        pairs[name] = value
    return pairs


def validate_settings(section: "type[BaseModel]", value: JsonValue, *, hint: str) -> None:
    """Raise InvalidArgument when a server could not start with these settings."""
    from pydantic import ValidationError

    try:
        section.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"] if part != "[key]")
        raise InvalidArgument(f"{where}: {first['msg']}", hint=hint) from error


def reload_server(*calls: tuple[str, JsonObject]) -> None:
    """Have the server of this repository, if one runs, take the settings over by these calls; warn if it does not."""
    try:
        workspace = find_workspace(Path(), explicit=False)
    except WorkspaceNotFound:
        return
    if find_server(workspace) is None:
        return
    with open_owner_client(workspace) as client:
        answers = [client.call(operation, arguments) for operation, arguments in calls]
    for answer in answers:
        if isinstance(error := answer.get("error"), dict):
            print(f"warning: the running server did not take it over: {error['message']}", file=sys.stderr)
