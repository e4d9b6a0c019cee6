# Two commands do everything on a fresh machine: `make up` and `make test`.
PYTHON ?= python3
REPO ?= .
VENV := .venv
BIN := $(VENV)/bin
# How many tests run side by side: one more than two cores, since tests wait for a third of their time.
WORKERS ?= 3
PYTEST := -n $(WORKERS) --dist worksteal -o verbosity_subtests=1

.PHONY: install dev up down test coverage browser pictures check protos bench soak docs dist lock clean

install: $(VENV)/.installed

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@echo "installing what CodePlane needs (once, a minute or two)"
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

dev: $(VENV)/.dev

$(VENV)/.dev: requirements-dev.lock $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

# A start compiles all of CodePlane where byte code may not be kept.
up: export PYTHONDONTWRITEBYTECODE =
up: install
	@$(BIN)/cpl up --detach --repo "$(REPO)"

down:
	@$(BIN)/cpl down --repo "$(REPO)"

# Hundreds of processes start in the tests; each would compile all of CodePlane if none were allowed to keep it.
test: export PYTHONDONTWRITEBYTECODE =
test: dev
	@sh tests/setup.sh
	sh tests/in_memory.sh $(BIN)/python -m pytest $(PYTEST)

# The same with every line and branch that runs noted, in the servers too, which takes half as long again.
coverage: export PYTHONDONTWRITEBYTECODE =
coverage: dev
	@sh tests/setup.sh
	$(BIN)/python -m coverage erase
	sh tests/in_memory.sh $(BIN)/python -m coverage run -m pytest $(PYTEST)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

# The browser's tests alone; `make test` has them too, in a process of their own.
browser: dev
	@sh tests/setup.sh
	$(BIN)/python -m pytest tests/browser

check: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --recursive --severity-level medium --configfile pyproject.toml src
	$(BIN)/python -m tests.surfaces.connect.npm_clients
	$(BIN)/python tests/audit.py
	$(BIN)/python -m pytest -q tests/interaction/test_requirements.py

protos: dev
	$(BIN)/python proto/generate.py

bench: dev
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-bench.lock
	$(BIN)/python -m bench.ledger
	$(BIN)/python -m bench.overhead
	$(BIN)/python -m bench.startup
	$(BIN)/python -m bench.mutate

soak: dev
	$(BIN)/python -m pytest -m soak tests/soak
	CODEPLANE_DRAWN=1 $(BIN)/python -m pytest $(PYTEST) $$(grep -rl --include='test_*.py' hypothesis tests)
	CODEPLANE_GIT_CASES=3000 $(BIN)/python -m pytest tests/git/test_reader_matches_git.py
	CODEPLANE_EDIT_STEPS=1000 $(BIN)/python -m pytest tests/query/search/test_search.py
	CODEPLANE_PROGRAMS=400 $(BIN)/python -m pytest $(PYTEST) tests/refactor/test_programs.py

docs: dev
	$(BIN)/python -m codeplane.surfaces.cli.reference docs/reference
	$(BIN)/python -c "from tests.interaction.test_requirements import DOCUMENT, rendered; DOCUMENT.write_text(rendered())"

# What the documents show of the dashboard, of a real run.
pictures: dev
	@sh tests/setup.sh
	$(BIN)/python -m tests.browser.screenshots docs/images light

dist: dev
	rm -rf dist
	$(BIN)/python -m build --wheel --sdist
	$(BIN)/python -m tests.surfaces.lsp.pack_extension dist/codeplane.vsix

lock: dev
	$(BIN)/pip-compile $(LOCK) --extra build --output-file requirements.lock pyproject.toml
	$(BIN)/pip-compile $(LOCK) --extra build --extra dev --output-file requirements-dev.lock pyproject.toml
	$(BIN)/pip-compile $(LOCK) --extra bench --output-file requirements-bench.lock pyproject.toml

LOCK := --quiet --strip-extras --generate-hashes --allow-unsafe --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --upgrade

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .coverage .coverage.*
