# The two commands of the README are `make demo` and `make test`; both do all the set-up.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
BIN := .venv/bin
export PYTHON

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: runtime
runtime:
	@tools/setup runtime

.PHONY: dev
dev: ## make .venv ready for development
	@tools/setup dev

.PHONY: demo
demo: runtime ## bring up a simulated lab, apply two tiers, verify, report
	@tools/demo

.PHONY: test
test: lint $(if $(TUNECTL_REQUIRE_ALL),molecule e2e) ## set up everything, lint, run the tests
	@$(BIN)/pytest -n auto $(PYTEST_ARGS)

.PHONY: molecule
molecule: dev ## test every role in containers with systemd (podman, runc)
	@tools/molecule test --all

.PHONY: e2e
e2e: dev ## test on virtual machines that boot (QEMU), about ten minutes
	@$(BIN)/pytest -m e2e $(PYTEST_ARGS) tests/e2e

.PHONY: lint
lint: dev ## ruff, mypy, import rules, yamllint, ansible-lint, spelling, collection build
	@tools/lint

.PHONY: conformance
conformance: dev ## run the recorded answers of the real programs (TUNECTL_ORACLES names the directory)
	@$(BIN)/pytest -q tests/conformance

.PHONY: coverage
coverage: dev ## line coverage of model, planner and renderers
	@$(BIN)/pytest -q -n auto --cov --cov-report=term-missing:skip-covered tests/unit tests/conformance tests/cases

.PHONY: bench
bench: dev ## measure ratios against the peers in tests/bench
	@PYTHONPATH=tests:.collections $(BIN)/python -m bench $(BENCH_ARGS)

.PHONY: golden
golden: dev ## write the golden files anew; read the difference before you commit it
	@$(BIN)/pytest -q tests --update-golden || true
	@git --no-pager diff --stat -- tests

.PHONY: format
format: dev ## format the code
	@$(BIN)/ruff check --fix-only --quiet . && $(BIN)/ruff format .

.PHONY: lock
lock: dev ## renew requirements.lock from pyproject.toml
	@tools/lock

.PHONY: clean
clean: ## remove everything that is made
	@rm -rf .venv .tunectl .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
