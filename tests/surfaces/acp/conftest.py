"""Servers that the tests of ACP share."""

from collections.abc import Iterator

import pytest

from tests.harness import Server, make_repo, start

FILES = {
    "greeting.py": 'def greet(name):\n    """Say hello to somebody."""\n    return name\n',
    "README.md": "# Greetings\n",
}


@pytest.fixture(scope="package")
def plain_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A repository with a server and no model: prompts are answered from the index."""
    running = start(make_repo(tmp_path_factory.mktemp("acp") / "repo", FILES))
    yield running
    running.stop()
