"""Addresses that others reach are not served without TLS and tokens."""

from pathlib import Path

import pytest

from codeplane.adapters.yaml_config import load_config
from codeplane.kernel.binding import may_bind
from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import BindRefused
from codeplane.kernel.workspace import Workspace
from tests.interaction.requirements import requirement
from tests.trust.refusals.worlds import STARTS, Start

pytestmark = requirement("TRUST-35")


@pytest.mark.parametrize("start", STARTS, ids=lambda start: " ".join(start.settings))
def test_an_address_that_others_reach_needs_both(start: Start, tmp_path: Path) -> None:
    with pytest.raises(BindRefused):
        may_bind(_server(tmp_path, start.settings))
    may_bind(_server(tmp_path, start.passes))


def _server(folder: Path, settings: tuple[str, ...]) -> ServerConfig:
    workspace = Workspace(root=folder)
    return load_config(workspace=workspace, user_config=None, environ={}, overrides=settings).config.server
