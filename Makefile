# `make demo` and `make test` set everything up themselves on a machine with Python 3.11 or newer.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p && break; done)
BIN = .venv/bin
# Three processes for two cores: the tests that kill workers mostly wait for them.
TESTS = $(BIN)/python -m pytest -n $$(( $$($(BIN)/python -c "import os; print(os.cpu_count())") * 3 / 2 )) --dist worksteal

.PHONY: help demo test lint check-types test-postgres bench lock clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   sets everything up and runs the demo"
	@echo "make test   sets everything up and passes the tests"
	@echo "make lint   style, types, import contracts, migrations"
	@echo "make test-postgres   the tests on the PostgreSQL of DATABASE_URL"
	@echo "make bench  the benchmarks"
	@echo "make lock   locks requirements*.in again"

.venv/made: requirements.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Assay needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	"$(PYTHON)" -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt
	@touch $@

.venv/made-dev: .venv/made requirements-dev.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt -r requirements-dev.txt
	@touch $@

demo: .venv/made
	@$(BIN)/python demo/start.py

test: lint
	tests/chromium.sh
	$(TESTS) -m "not browser"
	$(BIN)/python -m pytest -n auto --dist loadfile -m browser

lint: .venv/made-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djlint --lint --quiet templates
	$(BIN)/lint-imports
	$(BIN)/python -m mypy
	ASSAY_SECRET_KEY=lint $(BIN)/python manage.py makemigrations --check --dry-run

test-postgres: .venv/made-dev
	@test -n "$(DATABASE_URL)" || { echo "Set DATABASE_URL to a PostgreSQL whose user may create databases."; exit 1; }
	$(TESTS) -m "not browser"

lock:
	python3 -m venv .venv/lock && .venv/lock/bin/pip install --quiet uv
	.venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --upgrade requirements.in -o requirements.txt
	.venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --upgrade requirements-dev.in -o requirements-dev.txt

clean:
	rm -rf .venv var

bench: .venv/made-dev
	$(BIN)/python -m bench.imports
	$(BIN)/python -m bench.pages
	$(BIN)/python -m bench.editor
	$(BIN)/python -m bench.jobs --size
	$(BIN)/python -m bench.assigning
	$(BIN)/python -m bench.drawing
	$(BIN)/python -m bench.judging
	$(BIN)/python -m bench.scores
	$(BIN)/python -m bench.agreement
	$(BIN)/python -m bench.comparing
