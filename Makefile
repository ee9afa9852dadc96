SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

export PATH := $(shell tools/setup path):$(PATH)

# `make run` settings: the port, the program in the terminal, and further options of coop.
PORT ?= 8080
AGENT ?= $(or $(shell command -v bash),sh)
ARGS ?=
PROFILE ?= dev

.PHONY: help
help: ## list these targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

.PHONY: run
run: ## start coop on a loopback port: PORT=8080 AGENT="claude …" ARGS="--cols 120" PROFILE=release
	cargo build --locked --profile $(PROFILE) --bin coop
	cargo run --quiet --locked --profile $(PROFILE) --bin coop -- --port $(PORT) $(ARGS) -- $(AGENT) \
	  | sed -u "s|^HTTP listening on \(.*\)|&\ncoop's page: http://\1/|"

.PHONY: test
test: setup-test test-rust test-generated $(if $(wildcard clients/web/package.json),test-web) $(if $(wildcard clients/go/go.mod),test-go) ## set up and run every test
	@tools/setup missing

.PHONY: test-rust
test-rust:
	cargo test --workspace --all-features --locked

# The real agents, against a model that the test plays.
.PHONY: test-agents
test-agents:
	tools/setup agents
	cargo test --locked --test agents

.PHONY: test-generated
test-generated:
	tools/generate --check

# The page and its client, in a real browser.
.PHONY: test-web
test-web: clients/web/node_modules/.package-lock.json
	cargo build --locked --bin coop
	cd clients/web && COOP_BIN="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/coop" npm test

clients/web/node_modules/.package-lock.json: clients/web/package-lock.json
	cd clients/web && npm ci --no-audit --no-fund
	@touch $@

.PHONY: test-go
test-go:
	cd clients/go && go vet ./... && go test ./...

# Each baseline is the descriptor of an interface that clients were promised; see CONTRIBUTING.md.
.PHONY: check
check: ## format, lints, proto lint and compatibility, licences
	tools/setup check
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	buf lint
	shopt -s failglob; for baseline in proto/baseline/*.binpb; do buf breaking --against "$$baseline"; done
	cargo deny --all-features check --hide-inclusion-graph bans licenses sources

.PHONY: bench
bench: ## measure, against tmux and the bare PTY
	tools/setup test
	cargo bench --workspace --locked

.PHONY: gen
gen: ## generate code from proto/; the only generator
	tools/setup gen
	tools/generate

.PHONY: setup
setup: ## install every tool
	tools/setup all

.PHONY: setup-test
setup-test:
	tools/setup test
