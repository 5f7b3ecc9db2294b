# Everything sets itself up in .venv; nothing but Python 3.11 or later and make is needed.
PYTHON ?= python3
BIN := .venv/bin
# Tests start many processes: what Python has compiled is kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-fast lint wheel-test docs site-test solvers engine pairs defaults claims hypergraphs \
	golden truth forged conform matrix experiments bench mutation test-lowest test-newest coverage release-check beside \
	cluster streamed weight-ranges soak misuse seams threads test-conditions test-processors fuzz faults clean

demo: .venv/installed
	$(BIN)/mklcvx demo

# Two workers with two threads each would wait for one another: BLAS has one. A file stays with one worker: its tests
# share what they have solved.
test: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

# Less than two minutes: what is worth running after every change.
test-fast: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

lint: .venv/installed
	$(BIN)/ruff check --no-cache .  # its cache does not see that a module was renamed
	$(BIN)/ruff format --check .
	rm -rf build/typed && mkdir -p build/typed && cp -R mklcvx build/typed/ && cp -R formulations build/typed/mklcvx/
	cd build/typed && ../../$(BIN)/mypy --config-file ../../pyproject.toml

wheel-test: .venv/installed
	rm -rf build/lib && $(BIN)/python tests/helpers/wheel_check.py

# The oldest versions that pyproject.toml admits, and the newest that there are, each in an environment of its own. Old
# packages warn of what newer ones deprecate, so warnings are no errors there; pyparsing 3.3 warns matplotlib 3.9 aloud.
# One test builds the wheel, with pip.
test-lowest: .venv/release
	$(BIN)/uv venv -q --clear build/lowest
	$(BIN)/uv pip install -q --python build/lowest --resolution lowest-direct -e ".[test]" "pyparsing>=3.2,<3.3" "pip>=24" "setuptools>=77"
	OPENBLAS_NUM_THREADS=1 build/lowest/bin/python -m pytest -n 2 --dist loadfile -o filterwarnings=default $(TESTS)

test-newest: .venv/release
	$(BIN)/uv venv -q --clear build/newest
	$(BIN)/uv pip install -q --python build/newest --upgrade -e ".[test]" pip setuptools
	OPENBLAS_NUM_THREADS=1 build/newest/bin/python -m pytest -n 2 --dist loadfile $(TESTS)

# The share of lines that the tests run must not fall below what pyproject.toml says.
coverage: .venv/release
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report=term:skip-covered $(TESTS)

release-check: .venv/release
	$(BIN)/python validation/release.py --tests

solvers: .venv/installed
	$(BIN)/python validation/solvers.py -o validation/solvers.md

streamed: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/streamed.py -o validation/streamed.md

engine: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/engine.py -o validation/engine.md

pairs: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/pairs.py -o validation/pairs.md

# The papers' data sets take part if MKLCVX_DATA names their folder.
defaults: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/defaults.py -o validation/defaults.md

claims: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/claims

hypergraphs: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/hypergraphs.py -o validation/hypergraphs.md

golden: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/golden

weight-ranges: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/weight_ranges.py -o validation/weight_ranges.md --zoo

truth: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/truth
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/truth --planted

forged: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/forged

conform: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/conform

matrix: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/mklcvx validate -o validation/matrix
	$(BIN)/python validation/matrix/readme.py

experiments: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/experiments

bench: .venv/installed
	$(BIN)/python validation/bench

# Beside MKLpy and himalaya, in an environment of their own.
beside: .venv-peers/installed
	OPENBLAS_NUM_THREADS=1 .venv-peers/bin/python validation/bench --study beside -o validation/bench/beside

# What two processes of a cluster give.
cluster: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/cluster.py -o validation/cluster.md

MINUTES ?= 60
soak: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/robustness/soak.py --minutes $(MINUTES)

misuse: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/robustness/misuse.py

# Work that is interrupted, starved and crowded at random; COUNT=500 takes a minute or two.
COUNT ?= 10000
seams: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/robustness/seams.py --count $(COUNT) -o validation/robustness/seams.md

threads: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/robustness/threads.py -o validation/robustness/threads.md

# The quick tests in other orders, optimised, in the C locale, in a folder that cannot be written to, without root.
test-conditions: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/robustness/conditions.py

# The whole suite as OpenBLAS rounds on other processors, and with two of its threads; TESTS=tests/solvers restricts it.
test-processors: .venv/installed
	$(BIN)/python validation/robustness/conditions.py --processors $(TESTS)

mutation: .venv/installed
	$(BIN)/python validation/mutate.py --trust --journal validation/mutants.jsonl -o validation/mutation.md

# Damaged files for every reader; SECONDS=600 takes ten minutes.
SECONDS ?= 60
fuzz: .venv/fuzz
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/robustness/fuzz.py --seconds $(SECONDS)

faults: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python validation/robustness/failing_writes.py -o validation/robustness/failing_writes.md

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

.venv-peers/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install -q --upgrade pip
	.venv-peers/bin/python -m pip install -q -c constraints.txt -e ".[bench,experiments]"
	touch $@

.venv/docs: .venv/installed
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[docs]"
	touch $@

.venv/release: .venv/installed
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[release]"
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
	rm -rf .venv .venv-peers build dist *.egg-info
