# Everything sets itself up in .venv; nothing but Python 3.11 or later and make is needed.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-fast lint wheel-test docs site-test routes solvers engine pairs defaults claims \
	headlines golden truth conform matrix experiments bench mutation fuzz faults clean

demo: .venv/installed
	$(BIN)/mklcvx demo

# Two workers with two threads each would wait for one another: BLAS has one. A file stays with one worker: its tests
# share what they have solved.
test: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

# Under a minute: what is worth running after every change.
test-fast: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf build/typed build/lib && $(BIN)/python -m pip install -q --no-deps --target build/typed .
	cd build/typed && ../../$(BIN)/mypy --config-file ../../pyproject.toml

wheel-test: .venv/installed
	$(BIN)/python tests/helpers/wheel_check.py

routes: .venv/installed
	$(BIN)/python validation/routes.py

solvers: .venv/installed
	$(BIN)/python validation/solvers.py -o validation/solvers.md

engine: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/engine.py -o validation/engine.md

pairs: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/pairs.py -o validation/pairs.md

# The papers' data sets take part if MKLCVX_DATA names their folder.
defaults: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/defaults.py -o validation/defaults.md

claims: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/claims

headlines: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/headlines

golden: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/golden

truth: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/truth

conform: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/conform

matrix: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/mklcvx validate -o validation/matrix
	$(BIN)/python validation/matrix/readme.py

experiments: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/experiments

bench: .venv/installed
	$(BIN)/python validation/bench

mutation: .venv/installed
	$(BIN)/python validation/mutate.py -o validation/mutation.md

# Damaged files for every reader; SECONDS=600 takes ten minutes.
SECONDS ?= 60
fuzz: .venv/fuzz
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/robustness/fuzz.py --seconds $(SECONDS)

faults: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/robustness/faults.py -o validation/robustness/faults.md

docs: .venv/docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/sphinx-build -n -W --keep-going -d build/doctrees docs build/site

# Needs Debian's chromium; SITE_CHECK=--if-possible does without where there is none.
site-test: docs .venv/browser
	$(BIN)/python tests/helpers/site_check.py build/site $(SITE_CHECK)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/helpers/notebook_check.py build/site

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[test,lint]"
	touch $@

.venv/docs: .venv/installed
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[docs]"
	touch $@

.venv/fuzz: .venv/installed
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[fuzz]"
	touch $@

.venv/browser: .venv/installed
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[browser]"
	touch $@

clean:
	rm -rf docs/chapters docs/_figures docs/api/generated docs/outside
	find docs/formulations -maxdepth 1 -name '*.md' ! -name index.md -delete
	rm -rf docs/formulations/_taken
	rm -rf .venv build dist *.egg-info
