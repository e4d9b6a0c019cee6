"""How the tests of this folder run."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The event loop that the server uses too."""
    return "asyncio"
