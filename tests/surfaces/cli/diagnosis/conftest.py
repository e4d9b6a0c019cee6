"""A repository to look at."""

from pathlib import Path

import pytest

from codeplane.adapters.home import prepare_home
from codeplane.kernel.workspace import Workspace


@pytest.fixture
def workspace(repo: Path) -> Workspace:
    """A repository that was set up, without a server."""
    found = Workspace(root=repo.resolve())
    prepare_home(found)
    return found
