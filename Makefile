# `make demo` and `make test` set everything up themselves on a machine with Python 3.11 or newer.
SUITS = import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
# The system's own where it suits, as Debian's does, else the first that does.
PYTHON ?= $(shell for p in /usr/bin/python3 python3.11 python3.12 python3.13 python3.14 python3; do "$$p" -c '$(SUITS)' 2>/dev/null && echo "$$p" && break; done)
BIN = .venv/bin
# Three processes for two cores: the tests that kill workers mostly wait for them. Browsers wait for jobs and for pages.
CORES = $$($(BIN)/python -c "import os; print(os.cpu_count())")
PYTEST = $(BIN)/python -m pytest
TESTS = $(PYTEST) -n $$(( $(CORES) * 3 / 2 )) --dist worksteal

# Where it is set, each of the many processes of the tests and benchmarks compiles every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help python demo messages test test-sqlite test-browser chromium lint ruff djlint contracts mypy migrations test-postgres faults endpoints peers fuzz try-hosts try-deployment try-image try-wheel try-firefox tour bench load weight attacks mutations audit lock clean
.DEFAULT_GOAL := help
# Tests begin beside mypy, which takes one processor for minutes.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=2
endif

help:
	@echo "make demo   sets everything up and runs the demo"
	@echo "make test   sets everything up and passes the tests"
	@echo "make lint   style, types, import contracts, migrations"
	@echo "make test-sqlite, make test-browser   the two parts of make test after lint"
	@echo "make test-postgres   the tests on the PostgreSQL of DATABASE_URL; ONLY=database: those that .ci/run runs"
	@echo "make try-deployment   compose.yaml's commands behind nginx, on this machine's PostgreSQL"
	@echo "make try-image   builds the image with buildah, as root, and tries the same in it"
	@echo "make try-wheel   builds the wheel, installs it in an environment of its own, and runs demo, server and a study there"
	@echo "make try-firefox   labels on the four screens in Debian's Firefox, with screenshots in var"
	@echo "make faults kills processes, fills disks, sets clocks back, ... and counts what is lost (docs/evidence/faults.md)"
	@echo "make try-hosts   three hosts on this machine, as root: clocks an hour apart, one cut off for two minutes"
	@echo "make endpoints   jobs on OpenAI-compatible servers that others wrote, which it installs beside Assay (800 MB)"
	@echo "make peers   the rounds of doccano, Potato and Label Studio beside Assay's; it installs them (2 GB)"
	@echo "make fuzz   changed files, answers of models and requests by the ten thousand (docs/evidence/fuzzing.md)"
	@echo "make tour   takes the screenshots of docs/organizer/tour.md anew"
	@echo "make bench  the benchmarks"
	@echo "make load   fifty assessors at work while a job writes labels, for MINUTES=10, on the database of DATABASE_URL"
	@echo "make weight what labelling screens and organizers' pages weigh, in a browser"
	@echo "make attacks tries attacks on a demo that it starts, and prints what happened"
	@echo "make mutations   breaks rules on purpose, one at a time, and sees that tests fail"
	@echo "make messages brings the catalogs of translated pages to what the code says"
	@echo "make audit  asks for known weaknesses of what is locked"
	@echo "make lock   locks requirements*.in again"

# Says which Python it would be, or what is lacking.
python:
	@"$(PYTHON)" -c '$(SUITS)' 2>/dev/null || { echo "Assay needs Python 3.11 or newer with its venv module (Debian: apt install python3-venv); set PYTHON=..."; exit 1; }
	@echo "$(PYTHON)"

# Python compiles what it imports; pip would compile three times as much. Debian's pip takes twice as long as a new one.
PIP = $(BIN)/python -m pip install --quiet --no-compile --require-hashes
INSTALL = "$(PYTHON)" -m venv .venv && $(PIP) -r requirements-pip.txt && $(PIP) -r requirements.txt

.venv/made: requirements-pip.txt requirements.txt
	@$(MAKE) --no-print-directory python
	$(INSTALL)
	@touch $@

.venv/made-dev: requirements-pip.txt requirements.txt requirements-dev.txt
	@$(MAKE) --no-print-directory python
	$(INSTALL) -r requirements-dev.txt
	@touch .venv/made $@

demo: .venv/made
	@$(BIN)/python -m assay demo

test: chromium lint test-sqlite
	@$(MAKE) --no-print-directory test-browser

test-sqlite: .venv/made-dev
	$(TESTS) --ignore tests/browser

chromium:
	tests/chromium.sh

test-browser: .venv/made-dev chromium
	$(PYTEST) -n $$(( $(CORES) * 2 )) --dist loadfile --no-loadscope-reorder tests/browser

lint: mypy ruff contracts migrations djlint

mypy ruff contracts migrations djlint: .venv/made-dev

ruff:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

djlint:
	$(BIN)/djlint --lint --quiet templates

contracts:
	$(BIN)/lint-imports

mypy:
	$(BIN)/python -m mypy

migrations:
	ASSAY_SECRET_KEY=lint $(BIN)/python manage.py makemigrations --check --dry-run

# ONLY=database leaves out what is the same on any database.
test-postgres: .venv/made-dev
	@test -n "$(DATABASE_URL)" || { echo "Set DATABASE_URL to a PostgreSQL whose user may create databases."; exit 1; }
	$(TESTS) --ignore tests/browser $(if $(ONLY),-m $(ONLY))

try-deployment: .venv/made-dev
	$(BIN)/python -m tests.deploy.try_deployment redis
	$(BIN)/python -m tests.deploy.try_deployment amqp

try-image: .venv/made-dev
	buildah bud --isolation chroot --tag assay .
	container=$$(buildah from assay) && { $(BIN)/python -m tests.deploy.try_deployment redis "$$(buildah mount $$container)"; tried=$$?; buildah rm $$container; exit $$tried; }

try-wheel: .venv/made-dev
	$(BIN)/python -m tests.deploy.try_wheel

# Playwright drives only a Firefox of its own, so Mozilla's client drives Debian's.
try-firefox: .venv/made-dev chromium
	command -v firefox-esr >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends firefox-esr
	$(BIN)/python -m pip install --quiet --upgrade --target .venv/firefox marionette_driver==3.7.1
	@mkdir -p var
	PYTHONPATH=.venv/firefox $(BIN)/python -m tests.browser.try_firefox var

faults: .venv/made-dev
	$(BIN)/python -m tests.faults
	$(BIN)/python -m pytest tests/faults/killed_jobs.py tests/faults/killed_batches.py

try-hosts: .venv/made-dev
	$(BIN)/python -m tests.faults --world hosts

# In an environment of their own: Assay needs none of these servers.
endpoints: .venv/made-dev
	"$(PYTHON)" -m venv .venv/endpoints && .venv/endpoints/bin/pip install --quiet -r tests/endpoints/servers.txt
	$(BIN)/python -m tests.endpoints

# Each in an environment of its own: what they need clashes.
peers: .venv/made-dev
	grep -v '^#' bench/peers.txt | while read -r name pins; do "$(PYTHON)" -m venv .venv/peers/$$name && .venv/peers/$$name/bin/pip install --quiet $$pins || exit 1; done
	$(BIN)/python -m bench.peers

# The same SEED tries the same; it is printed with what came of it.
fuzz: SEED ?= $(shell date +%Y%m%d)
fuzz: .venv/made-dev
	ASSAY_FUZZ=long ASSAY_FUZZ_SEED=$(SEED) $(TESTS) tests/fuzz $$(grep -rl "^ *@given" tests --include "test_*.py" --exclude-dir fuzz)

tour: .venv/made-dev chromium
	ASSAY_TOUR=docs/tour $(BIN)/python -m pytest -m browser tests/browser/test_whole_study.py

lock:
	"$(PYTHON)" -m venv .venv/lock && .venv/lock/bin/pip install --quiet uv
	echo pip | .venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --upgrade - -o requirements-pip.txt
	.venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --upgrade requirements.in -o requirements.txt
	.venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --upgrade requirements-s3.in -c requirements.txt -o requirements-s3.txt
	.venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --upgrade requirements-dev.in -o requirements-dev.txt

messages: .venv/made-dev
	DJANGO_SETTINGS_MODULE=tests.lint_settings $(BIN)/python -m tests.messages

attacks: .venv/made-dev
	$(BIN)/python -m tests.attacks

mutations: .venv/made-dev
	$(BIN)/python -m tests.mutations

# In an environment of its own; it sends the names and versions of both files to PyPI, and nothing else.
audit: requirements.txt requirements-s3.txt
	"$(PYTHON)" -m venv .venv/audit && .venv/audit/bin/pip install --quiet pip-audit
	.venv/audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.txt -r requirements-s3.txt

clean:
	rm -rf .venv var

# All of them, whatever is over its limit.
BENCHES = imports pages editor "jobs --size" launching planning assigning drawing judging scores statistics_pages exporting agreement comparing relabelling memory
bench: .venv/made-dev
	@over=0; for script in $(BENCHES); do echo "bench.$$script"; $(BIN)/python -m bench.$$script || over=1; done; exit $$over

load: .venv/made-dev
	@mkdir -p var
	$(BIN)/python -m bench.load --minutes $(or $(MINUTES),10) --people $(or $(PEOPLE),50) --out var/load.json

weight: .venv/made-dev chromium
	$(BIN)/python -m bench.weight
