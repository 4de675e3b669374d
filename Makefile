GO        ?= go
FUZZTIME  ?= 10s
CHECKS    ?= 3000
BENCH     ?= .
COUNT     ?= 6
ROUNDS    ?= 5
SESSIONS  ?= 1000000
PARTS     ?= throughput,boundary,heap,scale
KILLS     ?= 50
SEED      ?=
BINARY    := build/otelcol-continuity
VULNDB    ?= latest

# Everything is built by the toolchain that go.mod names, in which known faults of the standard library
# are fixed, also where a machine's own setting is GOTOOLCHAIN=local. Where it cannot be had, the
# machine's own go builds, and `make vuln` says what that means.
ifeq ($(origin GOTOOLCHAIN),undefined)
TOOLCHAIN := $(shell sed -n 's/^toolchain //p' go.mod)
export GOTOOLCHAIN := $(shell GOTOOLCHAIN=$(TOOLCHAIN) $(GO) version >/dev/null 2>&1 && echo $(TOOLCHAIN) || echo local)
endif
COMMAND   := build/continuity
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
CONFIG    := distribution/config.yaml

# Tools are pinned in tools/go.mod and built on first use; the go command caches them.
TOOL := $(GO) tool -modfile=tools/go.mod

# The conformance cases are kept outside the repository; without them that step is skipped.
CONFORMANCE := ../shared/conformance

# What the binary is made of. Folders count too, so that a file that goes leads to a new build.
SOURCES := go.mod go.sum $(shell find processor internal continuity \
	-not -name '*_test.go' -not -name '*.md' -not -path '*/testdata*' 2>/dev/null)
COMMAND_SOURCES := go.mod go.sum $(shell find cmd internal continuity testdata -not -name '*_test.go' 2>/dev/null)

# Every complete collector configuration in the repository.
CONFIGS = $(shell grep -rlE --include='*.yaml' --include='*.yml' --exclude-dir=build --exclude-dir=.git '^service:' . \
	| xargs grep -lE '^receivers:')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: have-prometheus test-prometheus test-backends help build run demo test unit lint fmt generate generate-check validate conformance fuzz bench vuln cover clean model chaos cross

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: $(BINARY) $(COMMAND) ## build the distribution (some minutes the first time) and the command continuity

# Two steps, so that a change of Go code does not resolve the modules again. The builder's checks of
# versions are off because some components are older than the core; builder-config.yaml says which.
BUILDER := $(TOOL) builder --config builder-config.yaml --skip-strict-versioning

build/_build/go.mod: builder-config.yaml go.mod go.sum tools/go.mod
	@mkdir -p build
	@echo "collecting the modules of the distribution"
	@$(BUILDER) --skip-compilation >build/modules.log 2>&1 || { cat build/modules.log; exit 1; }
	@touch $@

$(BINARY): build/_build/go.mod $(SOURCES)
	@echo "building $@" && touch build/started
	@$(BUILDER) --skip-generate --skip-get-modules >build/compile.log 2>&1 || \
		$(BUILDER) >build/compile.log 2>&1 || { cat build/compile.log; exit 1; } # a new import needs the modules anew
	@ln -f build/_build/$(@F) $@ && touch -r build/started $@  # what is saved meanwhile is newer

$(COMMAND): $(COMMAND_SOURCES)
	@mkdir -p build && echo "building $@" && touch build/started-command
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o $@ ./cmd/continuity
	@touch -r build/started-command $@

cross: ## check that the command builds for other systems (some minutes the first time)
	@for os in linux darwin windows; do echo "building for $$os" && GOOS=$$os CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/continuity || exit 1; done

run: $(BINARY) ## start the distribution with its default configuration
	$(BINARY) --config $(CONFIG)

demo: $(BINARY) ## send the six cases and a recorded session, and print the verdicts
	@$(GO) run ./distribution/demo --binary $(BINARY)

test: lint unit generate-check validate conformance vuln ## everything that must hold before a merge

unit: $(BINARY) ## run the unit tests with the race detector, the demo's on the built distribution
	CONTINUITY_BINARY=$(CURDIR)/$(BINARY) $(GO) test -race -timeout 20m ./...

model: ## compare the core with the reference model at length: CHECKS histories a profile, a new seed each time
	$(GO) test ./internal/boundary -count=1 -rapid.checks=$(CHECKS) -rapid.seed=$$(date +%s)

# The storage of the collector is in TMPDIR. A test that is cut off leaves its collector behind: hence the long timeout.
chaos: $(BINARY) ## end the collector KILLS times amid drawn sessions, and compare all receipts; SEED draws the same ones
	CONTINUITY_CHAOS=$(KILLS) CONTINUITY_CHAOS_SEED=$(SEED) CONTINUITY_BINARY=$(CURDIR)/$(BINARY) \
		$(GO) test ./internal/boundary -run '^TestChaos$$' -count=1 -v -timeout 24h

# Debian calls the programs prometheus and prometheus-alertmanager, others alertmanager.
PROMETHEUS   ?= prometheus
PROMTOOL     ?= promtool
ALERTMANAGER ?= $(shell command -v prometheus-alertmanager || echo alertmanager)
AMTOOL       ?= amtool
RULES        := deploy/prometheus

have-prometheus:
	@for program in "$(PROMETHEUS)" "$(PROMTOOL)" "$(ALERTMANAGER)" "$(AMTOOL)"; do command -v "$$program" >/dev/null || { \
		echo "$$program is needed: install prometheus (2.42 or later) and alertmanager, or name the programs with PROMETHEUS, PROMTOOL, ALERTMANAGER and AMTOOL"; exit 1; }; done

test-prometheus: have-prometheus $(BINARY) ## test rules, alerts and dashboards with Prometheus and Alertmanager (Debian: prometheus, prometheus-alertmanager)
	$(PROMTOOL) check rules $(RULES)/continuity.rules.yaml
	$(PROMTOOL) check config $(RULES)/prometheus.yaml
	$(AMTOOL) check-config $(RULES)/alertmanager.yaml
	$(PROMTOOL) test rules $(RULES)/continuity.test.yaml $(RULES)/continuity.days.test.yaml
	CONTINUITY_BINARY=$(CURDIR)/$(BINARY) CONTINUITY_PROMETHEUS=$(PROMETHEUS) CONTINUITY_ALERTMANAGER=$(ALERTMANAGER) \
		$(GO) test ./deploy/e2e -run '^TestPrometheusAndAlertmanager$$' -count=1 -v

# Jaeger is pinned in a module of its own, so that it is in the way of nothing.
JAEGER ?= build/jaeger

build/jaeger: backends/go.mod backends/go.sum
	@mkdir -p build && echo "building Jaeger: some minutes, and all its modules are needed"
	@cd backends && $(GO) build -o ../build/jaeger github.com/jaegertracing/jaeger/cmd/jaeger || \
		{ echo "Jaeger cannot be built: its modules are needed (go mod download), or a binary of version 2 in JAEGER=..."; exit 1; }

test-backends: $(BINARY) $(JAEGER) ## test what Jaeger shows of receipts, and the dashboards by Grafana's model (builds Jaeger)
	cd backends && $(GO) test -count=1 ./...
	CONTINUITY_BINARY=$(CURDIR)/$(BINARY) CONTINUITY_JAEGER=$(abspath $(JAEGER)) $(GO) test ./deploy/e2e -run '^TestJaeger$$' -count=1 -v

# Chromium is found in PATH by one of its names, or named with BROWSER. SHOTS is a folder for pictures of the pages.
BROWSER ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome-stable || command -v google-chrome)
SHOTS   ?=

.PHONY: test-report
test-report: ## test the page of `continuity report` in a headless Chromium, and measure it with ten thousand boundaries
	@[ -n "$(BROWSER)" ] || { echo "Chromium is needed: install it (Debian: chromium), or name it with BROWSER=..."; exit 1; }
	CONTINUITY_BROWSER="$(BROWSER)" CONTINUITY_REPORT_SHOTS="$(abspath $(SHOTS))" $(GO) test ./cmd/continuity/internal/report -count=1 -v

lint: ## check the style and the rules of .golangci.yaml
	$(TOOL) golangci-lint run ./...

fmt: ## format the code
	$(TOOL) golangci-lint fmt ./...

generate: ## write the generated files anew
	$(GO) generate ./...

# The copy is under a name that the go command does not look into.
GENERATED = find . -path ./build -prune -o -path ./.git -prune -o \
	\( -name 'generated_*.go' -o -name documentation.md -o -path ./docs/attributes.md -o -path './deploy/grafana/*.json' \) -type f -print

generate-check: ## fail if a generated file differs from what its source gives
	@rm -rf build/_generated && mkdir -p build/_generated
	@$(GENERATED) | while read -r f; do mkdir -p "build/_generated/$$(dirname "$$f")" && cp "$$f" "build/_generated/$$f"; done
	@$(MAKE) --no-print-directory generate
	@$(GENERATED) | { bad=0; while read -r f; do diff -u "build/_generated/$$f" "$$f" || bad=1; done; \
		[ $$bad = 0 ] || { echo "generated files were out of date; they are written anew: commit them"; exit 1; }; }

validate: $(BINARY) ## validate every collector configuration in the repository
	@for config in $(CONFIGS); do \
		echo "validate $$config"; $(BINARY) validate --config "$$config" || exit 1; done

conformance: $(BINARY) ## run the conformance cases on the binary, where they are to be had
	@if [ -d $(CONFORMANCE) ]; then python3 $(CONFORMANCE)/run.py --binary $(BINARY); \
	else echo "no conformance cases at $(CONFORMANCE): skipped"; fi

fuzz: ## run each fuzz target for FUZZTIME
	@grep -rE --include='*_test.go' --exclude-dir=build -o '^func Fuzz[A-Za-z0-9_]+' . | sed 's/:func / /' | \
	while read -r file target; do \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x "$$(dirname "$$file")" || exit 1; done

# The second half compares with other components, in a module of its own: bench/README.md says what it can.
bench: ## run the benchmarks that match BENCH, COUNT times, and compare with other components (ROUNDS, SESSIONS, PARTS)
	@mkdir -p build
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./... >build/bench.txt || { cat build/bench.txt; exit 1; }
	@$(TOOL) benchstat build/bench.txt
	cd bench && $(GO) run . -rounds $(ROUNDS) -sessions $(SESSIONS) -parts $(PARTS) \
		-bench ../build/bench-neighbours.txt -markdown ../build/bench.md -svg ../build/bench.svg

# The database is a module like others, so that whoever can build can ask it too.
vuln: $(BINARY) ## look for known vulnerabilities in our code and in the distribution
	@db=$$(cd tools && $(GO) mod download -json golang.org/x/vulndb@$(VULNDB) | sed -n 's/^.*"Dir": "\(.*\)",*$$/\1/p') && \
	check=$$($(GO) tool -n -modfile=tools/go.mod govulncheck) && echo "vulnerability database: $${db##*@}" && \
	"$$check" -db "file://$$db/data/osv" ./... && cd build/_build && "$$check" -db "file://$$db/data/osv" -tags grpcnotrace ./...

cover: ## measure test coverage across packages
	@mkdir -p build
	$(GO) test -coverpkg=./... -coverprofile=build/cover.out ./...
	@$(GO) tool cover -func=build/cover.out | tail -1

clean: ## remove all that was built
	rm -rf build
