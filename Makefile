# `make help` lists what can be made; everything installed and stored lies in .murmur.
.DEFAULT_GOAL := help
SHELL := /bin/bash
SOURCE ?= synthetic
SOURCES := synthetic bluesky wikimedia
PIP := 26.3
PIP_TOOLS := 7.6.2
PIP_COMPILE := --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links
.PHONY: help setup demo test test-fast test-all test-connector test-browser compose-test compose film encoder lint lock clean

help:  ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## install everything below .murmur (sudo only for missing Debian packages)
	@deploy/local/setup/run

demo:  ## install, start, feed tweets (SOURCE=bluesky: live ones), print the page's address; Ctrl-C stops all of it
	@$(if $(filter $(SOURCE),$(SOURCES)),,$(error SOURCE=$(SOURCE) is none of $(SOURCES)))
	@deploy/local/setup/run --ports
	@exec .murmur/venv/bin/python -m cli.demo '$(SOURCE)'

test:  ## install and run all checks but the long ones
	@tests/run connector lint fast page counting whole server browser

test-fast:  ## checks that need no servers
	@tests/run lint fast page counting

test-all:  ## all checks, with the long fault runs and the whole connector
	@tests/run connector-all lint fast page counting whole server slow browser

test-connector:  ## all checks of Spark's data sources, against real servers
	@tests/run connector-all

test-browser:  ## the page in headless Chromium
	@tests/run browser

compose-test:  ## build the image, run each Compose file, kill each container; needs Docker (not part of any other)
	@.murmur/venv/bin/python -m pytest tests/containers/trial.py --log-cli-level=INFO

film:  ## the moving picture and the stills that the README shows, of an instance of its own whose Spark is killed
	@deploy/local/setup/run --tests
	@docs/film/make

compose:  ## write the Compose files anew, from the processes of deploy/local
	@.murmur/venv/bin/python -m deploy.containers.compose

encoder:  ## make the text encoder's table anew (8 minutes, 115 MB to fetch), and say how good it is
	@OMP_NUM_THREADS=1 .murmur/venv/bin/python -m search.training.distill

lint:  ## style and types of Python and of the page, and what may import what
	@tests/run lint

lock:  ## pin the Python packages of requirements*.in, with hashes; nothing moves that they do not ask to move
	python3.11 -m venv .murmur/lock && .murmur/lock/bin/pip install --quiet pip==$(PIP) pip-tools==$(PIP_TOOLS)
	.murmur/lock/bin/pip-compile $(PIP_COMPILE) --output-file requirements.txt requirements.in middleware/*/requirements.in
	.murmur/lock/bin/pip-compile $(PIP_COMPILE) --output-file requirements-checks.txt requirements-checks.in
	for file in deploy/local/*/requirements.in; do \
	    .murmur/lock/bin/pip-compile $(PIP_COMPILE) --output-file $${file%.in}.txt $$file; done

clean:  ## remove what was built and installed, but nothing that an instance stored
	rm -rf .murmur/stamps .murmur/venv .murmur/lock .murmur/jars .murmur/encoder .murmur/log frontend/dist frontend/node_modules test-results build *.egg-info
	rm -rf deploy/local/*/target spark_jobs/*/target middleware/*/*/target spark_*/target spark_*/*/target
	find . -name __pycache__ -type d -prune -not -path './.murmur/*' -exec rm -rf {} +
