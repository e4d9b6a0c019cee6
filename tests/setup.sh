#!/bin/sh
# Brings what the tests need besides Python packages: a few Debian tools, the MCP clients in tests/clients
# the JavaScript test runners in tests/testing/npm, the indexers in tests/refactor/scip/npm and the MCP servers in
# tests/work/tools/npm, and the agents in tests/work/agents/npm.
# `make test` calls it every time, so it does nothing, quickly, when everything is there.
set -eu
cd "$(dirname "$0")/.."

missing=
command -v strace >/dev/null 2>&1 || missing="$missing strace"
command -v rg >/dev/null 2>&1 || missing="$missing ripgrep"
command -v ctags >/dev/null 2>&1 || missing="$missing universal-ctags"
command -v bwrap >/dev/null 2>&1 || missing="$missing bubblewrap"
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
command -v nvim >/dev/null 2>&1 || missing="$missing neovim"
command -v cargo >/dev/null 2>&1 || missing="$missing cargo gcc libc6-dev"

if [ -n "$missing" ]; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2086  # a list of package names
        { timeout 120 apt-get update -qq && timeout 400 apt-get install -qq --no-install-recommends $missing; } \
            >&2 </dev/null || echo "tests/setup.sh: WARNING: apt-get could not install:$missing" >&2
    else
        echo "tests/setup.sh: WARNING: not installed, and only root can with apt-get:$missing" >&2
        echo "tests/setup.sh: WARNING: the tests that need them will say so" >&2
    fi
fi

"${VENV:-.venv}/bin/python" tests/clients/node.py
"${VENV:-.venv}/bin/python" -m tests.refactor.scip.indexers ||
    echo "tests/setup.sh: WARNING: the SCIP indexers could not be installed; the tests that need them will say so" >&2
"${VENV:-.venv}/bin/python" -m tests.surfaces.connect.npm_clients install ||
    echo "tests/setup.sh: WARNING: buf and connect-node could not be installed; the tests that need them will say so" >&2
"${VENV:-.venv}/bin/python" -m tests.surfaces.acp.npm_clients ||
    echo "tests/setup.sh: WARNING: the ACP clients could not be installed; the tests that need them will fail" >&2
"${VENV:-.venv}/bin/python" -m tests.work.tools.published_servers ||
    echo "tests/setup.sh: WARNING: the MCP servers could not be installed; the tests that need them will fail" >&2
"${VENV:-.venv}/bin/python" -m tests.work.agents.published_agents ||
    echo "tests/setup.sh: WARNING: the ACP agents could not be installed; the tests that need them will fail" >&2
"${VENV:-.venv}/bin/python" -m tests.surfaces.lsp.npm_clients ||
    echo "tests/setup.sh: WARNING: the language clients could not be installed; the tests that need them will say so" >&2
exec "${VENV:-.venv}/bin/python" -m tests.testing.node
