SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

export PATH := $(shell tools/setup path):$(PATH)

# Settings of `make run`: the port, the program in the terminal, more options of coop, the profile.
PORT ?= 8080
AGENT ?= $(or $(shell command -v bash),sh)
ARGS ?=
PROFILE ?= dev

# Settings of `make fuzz`: seconds for each target, and the targets; all by default.
SECONDS ?= 20
TARGET ?=

# Settings of `make test-walk`: how many steps, and the number that decides on them.
STEPS ?= 500
SEED ?= 1

# The tests of `make sanitize`; all by default.
FILTER ?=

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

.PHONY: run
run: ## build coop and run it in the foreground: PORT=8080 AGENT="claude …" ARGS="--cols 120" PROFILE=release
	cargo build --locked --profile $(PROFILE) --bin coop
	tools/run cargo run --quiet --locked --profile $(PROFILE) --bin coop -- --port $(PORT) $(ARGS) -- $(AGENT)

.PHONY: test
test: setup-test test-rust test-generated test-fuzz $(if $(wildcard clients/web/package.json),test-web) $(if $(wildcard clients/go/go.mod),test-go) ## install the missing tools and run every test
	@tools/setup missing

.PHONY: test-rust
test-rust: setup-xterm
	cargo test --workspace --all-features --locked

# The real agents, with a fake model API.
.PHONY: test-agents
test-agents:
	tools/setup agents
	cargo test --locked --test agents

# Every size of terminal and every length of message, with the real agents.
.PHONY: test-grid
test-grid:
	tools/setup agents
	COOP_TEST_GRID=1 cargo test --locked --test agents sizes

# Older versions of codex in a folder that was never trusted; each is 300 MB, in a temporary directory.
.PHONY: test-codex-versions
test-codex-versions:
	for version in 0.152.0 0.157.1 0.161.0; do \
	  dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; echo "codex $$version"; \
	  npm install --prefix "$$dir" --no-audit --no-fund --loglevel=error "@openai/codex@$$version"; \
	  PATH="$$dir/node_modules/.bin:$$PATH" cargo test --locked --test agents trust_is_given_by_grooming; rm -rf "$$dir"; done

# A long random walk with each real agent. A failure names its seed, which repeats the walk.
.PHONY: test-walk
test-walk:
	tools/setup agents
	COOP_TEST_WALK="$(STEPS) $(SEED)" cargo test --locked --test agents walk

# All tests of the agents, and writes the states that each test saw.
.PHONY: journal
journal:
	tools/setup agents
	rows=$$(mktemp); trap 'rm -f "$$rows"' EXIT; COOP_AGENTS_JOURNAL="$$rows" cargo test --locked --test agents; \
	  { sed '/^| `/d' tests/agents/journal.md; LC_ALL=C sort -s -u -t'`' -k2,2 "$$rows"; } >"$$rows.new"; \
	  cp "$$rows.new" tests/agents/journal.md; rm "$$rows.new"

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

# Every fuzz target for 20 seconds, two at a time.
.PHONY: test-fuzz
test-fuzz:
	tools/fuzz

# xterm.js, which the screen is compared with. Without it that comparison says that it did not run.
.PHONY: setup-xterm
setup-xterm:
	@command -v npm >/dev/null || { printf '\n*** coop: MISSING npm: xterm.js cannot be installed\n\n' >&2; exit 0; }; \
	  cd tests/xterm && [[ node_modules/.package-lock.json -nt package-lock.json ]] || \
	  { npm ci --no-audit --no-fund && touch node_modules/.package-lock.json; }

.PHONY: test-go
test-go:
	cd clients/go && go vet ./... && go test ./...

# Each baseline is the descriptor of a released interface, which must not break; see CONTRIBUTING.md.
.PHONY: check
check: advisories ## check format, lints, proto lint and compatibility, licences, advisories
	tools/setup check
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	buf lint
	shopt -s failglob; for baseline in proto/baseline/*.binpb; do buf breaking --against "$$baseline"; done
	cargo deny --all-features check --hide-inclusion-graph bans licenses sources

# Whether a dependency has a known hole. The database is not part of the project: without a network
# one line says that nothing was checked.
.PHONY: advisories
advisories:
	tools/setup check
	if timeout 120 cargo deny fetch db >/dev/null 2>&1; then cargo deny --all-features check --hide-inclusion-graph advisories; \
	  else printf '\n*** coop: MISSING the database of RustSec, which cannot be fetched: no advisory was checked\n\n' >&2; fi

.PHONY: fuzz
fuzz: ## fuzz what reads bytes from outside: SECONDS=600 TARGET="terminal json"
	tools/setup fuzz
	tools/fuzz $(SECONDS) $(TARGET)

# Not part of `make test`: everything is built once more for it. It looks for wrong accesses, not
# for leaks.
.PHONY: sanitize
sanitize: ## run the unit tests under AddressSanitizer: FILTER=term::
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0 \
	  cargo test --lib --locked --target $$(rustc -vV | sed -n 's/^host: //p') --target-dir target/sanitize $(FILTER)

# Not part of `make test` either. It needs `rustup component add --toolchain nightly miri rust-src`, and
# runs only what does no I/O: the parsers and encoders, with few random cases, since it is slow.
MIRI ?= term::tokenizer term::decoder term::keys term::sequence source::bounded_json source::json_lines gateway::ws::frames
.PHONY: miri
miri: ## run the tests of parsers and encoders under Miri: MIRI=term::keys
	PROPTEST_CASES=4 MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --lib --locked \
	  --target-dir target/miri -- $(MIRI)

.PHONY: bench
bench: ## run the benchmarks, against tmux and a plain PTY
	tools/setup test
	cargo bench --workspace --locked

.PHONY: gen
gen: ## generate code from proto/
	tools/setup gen
	tools/generate

.PHONY: setup
setup: ## install every tool
	tools/setup all

.PHONY: setup-test
setup-test:
	tools/setup test
