# The commands of the project; `make` lists them.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# SQLite and the race detector need cgo. Without a C compiler Go would switch it
# off by itself and fail later, with a message about something else.
export CGO_ENABLED = 1

# The commit is part of the program's version, also where -buildvcs=false keeps the
# go command from looking. Without tables for debuggers (-w) the program is a quarter smaller.
cli     := github.com/nextrun/nextrun/ops/cli
ldflags  = -w -X $(cli).version=$(VERSION) \
           -X $(cli).commit=$(shell git describe --always --dirty --exclude='*' 2>/dev/null)

TESTFLAGS ?=
BENCH     ?= .
FUZZTIME  ?= 20s

golangci-lint := go tool -modfile=tools/go.mod golangci-lint
shell-scripts := $(shell grep -lrE --exclude-dir=node_modules '^.!.*bash$$|^. shellcheck shell=bash' scripts .ci testdata/consumers testdata/browser)

.PHONY: help
help: ## List the commands
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: doctor
doctor: ## Say what this machine lacks for working on nextrun, and how to install it
	@scripts/doctor

.PHONY: build
build: ## Build bin/nextrun
	@scripts/need cc
	@go build -trimpath -ldflags '$(ldflags)' -o bin/nextrun ./cmd/nextrun

.PHONY: build-static
build-static: ## Build bin/nextrun for PostgreSQL only, without cgo: it needs no C compiler, nor libraries of the system
	CGO_ENABLED=0 go build -trimpath -ldflags '$(ldflags)' -o bin/nextrun ./cmd/nextrun

.PHONY: deb rpm
deb rpm: ## Build a package in bin/, of the tag that is checked out or VERSION=1.2.3
	@scripts/need cc
	scripts/package bin $@

.PHONY: run
run: build ## Show a demo on SQLite: tasks that fire and run; Control-C ends it
	@scripts/demo

.PHONY: shop
shop: build ## Make shop.db, the database of a shop that has been open for a month
	bin/nextrun --db sqlite:shop.db migrate up
	go run ./scripts/runsql shop.db <scripts/shop/shop.sql
	bin/nextrun --db sqlite:shop.db --config scripts/shop/nextrun.yaml scheduler --once
	@echo 'Look around: bin/nextrun --db sqlite:shop.db --config scripts/shop/nextrun.yaml dashboard'

.PHONY: picture
picture: build ## Record the picture of the demo in the README
	scripts/picture

.PHONY: pictures
pictures: ## Take the pictures of the dashboard in docs/dashboard.md, in a browser
	@scripts/need cc
	@scripts/need chromium
	cd testdata/browser && go test -tags pictures -run '^TestPictures$$' -count 1 -v -timeout 30m .

# Commands, calendar, migrations and the model have one goroutine to speak of.
RACED   ?= ./periodic/scheduler ./jobqueue/executor ./store ./store/queues $(filter-out %/periodic/scheduler/internal/model,$(shell go list ./periodic/... ./jobqueue/... ./store/... ./internal/... ./ops/cli/service ./ops/kafka))
test-db  = scripts/in-memory scripts/with-postgres

.PHONY: test
test: ## Vet and test against SQLite and PostgreSQL; TESTFLAGS='-run X -v' for a part
	+@scripts/with-needs $(MAKE) --no-print-directory test-here

longest := ./periodic/scheduler ./cmd/nextrun ./jobqueue/executor ./store ./migrations ./store/queues ./cmd/nextrun/situations ./jobqueue/outbox/relay

.PHONY: test-here
test-here:
	go vet ./...
	@# Most tests wait most of the time, so more packages than cores run at once. The longest begin first, so that none runs alone at the end.
	$(test-db) go test -vet=off -timeout 20m -p 3 -parallel 6 $(TESTFLAGS) $(longest) ./...
	cd store/pgxstore && go vet ./...
	cd testdata/drivers && go vet ./... && ../../scripts/in-memory ../../scripts/with-postgres go test $(TESTFLAGS) ./...
	cd bench && go vet ./... && ../scripts/in-memory ../scripts/with-postgres go test $(TESTFLAGS) ./...

# The tests that judge how late healthy work is, by storetest.Punctual.
pace := ^TestG5(Rows(That|Of)|Jobs|Uncommitted|LockedTable)|ComesBack|HoldUpNoOther(Job)?$$|HoldUpTheir

.PHONY: test-pace
test-pace: ## Judge how late healthy work is beside rows that fail, one test at a time: on a quiet machine; TESTFLAGS='-v'
	@scripts/need cc
	NEXTRUN_TEST_PACE=1 $(test-db) go test -vet=off -p 1 -parallel 1 -count 1 -timeout 20m -run '$(pace)' $(TESTFLAGS) ./periodic/scheduler ./jobqueue/executor ./jobqueue/outbox/relay

.PHONY: test-race
test-race: ## Test what runs goroutines with the race detector, which makes tests several times slower; RACED=./periodic, TESTFLAGS='-run X'
	@scripts/need cc
	$(test-db) go test -race -vet=off -timeout 30m -parallel 6 $(TESTFLAGS) $(RACED)

.PHONY: test-pgx
test-pgx: ## Test scheduler, executor, relay and store on PostgreSQL over a pool of pgx; TESTFLAGS='-run X'
	@scripts/need cc
	scripts/test-pgx -timeout 20m -run '/postgres|Postgres' $(TESTFLAGS) ./periodic/scheduler ./jobqueue/executor ./jobqueue/outbox/relay ./store ./store/queues

.PHONY: test-roles
test-roles: ## Test scheduler, executor, relay and dashboard on PostgreSQL with the rights of their roles only; TESTFLAGS='-run X'
	@scripts/need cc
	NEXTRUN_TEST_ROLES=1 scripts/with-postgres go test -parallel 6 -timeout 20m -run '/postgres|Postgres' $(TESTFLAGS) ./periodic/scheduler ./jobqueue/executor ./jobqueue/outbox/relay ./ops/dashboard

.PHONY: test-versions
test-versions: ## Test on PostgreSQL 13 and 18, with old versions of SQLite and the oldest Go; TESTFLAGS='-run X', VERSIONS='13 sqlite'
	@scripts/need cc
	TESTFLAGS="$(TESTFLAGS)" scripts/test-versions $(VERSIONS)

.PHONY: situations
situations: ## Set up what people meet, on both databases, and compare what nextrun says of it; go test ./... has it, too
	@scripts/need promtool
	@scripts/need cc
	scripts/in-memory scripts/with-postgres go test ./cmd/nextrun/situations -count 1 $(TESTFLAGS)

.PHONY: test-static
test-static: ## Build without SQLite, in both ways, and try the programs
	@scripts/need cc
	scripts/with-postgres go test -tags builds -run TestBuildWithoutCgo ./cmd/nextrun

.PHONY: test-rollback
test-rollback: ## Replace a program by one that has an additive migration more, and roll it back, while its tasks run
	@scripts/need cc
	$(test-db) go test -vet=off -tags builds -count 1 -v -run TestRollback $(TESTFLAGS) ./cmd/nextrun

.PHONY: test-river
test-river: ## The part of test-queues that needs no npm: feed River
	@scripts/need cc
	cd testdata/consumers && ../../scripts/with-postgres go test -parallel 10 -run '^TestRiver' $(TESTFLAGS) .

.PHONY: test-queues
test-queues: ## Feed the other queues and let their real workers run the jobs; needs npm
	@scripts/need cc
	testdata/consumers/node/install
	cd testdata/consumers && go vet ./...
	cd testdata/consumers && NEXTRUN_TEST_PACE=1 ../../scripts/with-postgres go test -parallel 4 -timeout 20m $(TESTFLAGS) .

.PHONY: test-browser
test-browser: ## Use the dashboard in a real browser; needs Chromium, and npm for axe-core
	@scripts/need cc
	@scripts/need chromium
	testdata/browser/axe/install
	cd testdata/browser && go vet ./... && go vet -tags pictures ./...
	cd testdata/browser && ../../scripts/in-memory go test -count 1 -v -timeout 30m $(TESTFLAGS) .

.PHONY: licenses
licenses: ## Write dist/licenses.txt, the licences of all that is linked, after a change of go.mod
	scripts/licenses >dist/licenses.new
	mv dist/licenses.new dist/licenses.txt

.PHONY: vulnerabilities
vulnerabilities: build ## Look for known vulnerabilities in what bin/nextrun links
	scripts/vulnerabilities

.PHONY: test-reproducible
test-reproducible: ## Build program and packages twice, in different directories, and compare the bytes
	@scripts/need cc
	scripts/test-reproducible

.PHONY: reference
reference: ## Write the lists of docs/reference.md, after a change of the schema, a metric, a cause, a state or an exit code
	@scripts/need cc
	NEXTRUN_WRITE_PAGES=1 $(test-db) go test -p 1 -count 1 -run '^TestReference' ./cmd/nextrun ./ops/metrics ./ops/internal/why

.PHONY: manifests
manifests: ## Write dist/kubernetes/nextrun.yaml, the Helm chart without values
	cd testdata/kubernetes && go test . -run TestManifestsAreTheChart -update

.PHONY: test-kubernetes
test-kubernetes: ## Check the Helm chart and the manifests against the types of the Kubernetes API
	cd testdata/kubernetes && go vet ./... && go test $(TESTFLAGS) ./...

.PHONY: test-install
test-install: ## Build as `go install` does: from a clean cache, with what go.mod says
	scripts/test-install

.PHONY: release
release: ## Make the release VERSION=0.1.0 in a scratch clone, up to its upload: checks, notes, artefacts, checksums
	scripts/release '$(VERSION)'

.PHONY: test-packages
test-packages: ## Install, run, update and purge the .deb on a clean Debian, and look at the .rpm; needs root
	@scripts/need cc
	scripts/test-packages

.PHONY: test-fresh
test-fresh: ## Try make run and make test in a minimal Debian that has only Go, make, git and a C compiler; needs root
	scripts/test-fresh

.PHONY: test-containers
test-containers: ## Build the images, run docker-compose.yml and try what the documentation says of it; needs docker or root
	scripts/test-containers

.PHONY: test-alerts
test-alerts: ## Test the alerts for Prometheus, and the expressions of the Grafana dashboard, with promtool
	@scripts/need promtool
	cd dist/prometheus && promtool check rules nextrun.rules.yml && promtool test rules nextrun.rules.test.yml
	scripts/dashboard-rules dist/grafana/nextrun.json

.PHONY: lint
lint: lint-go lint-shell ## Run the linters

.PHONY: lint-go
lint-go:
	@scripts/need cc
	$(golangci-lint) run
	cd bench && go tool -modfile=../tools/go.mod golangci-lint run

.PHONY: lint-shell
lint-shell:
	@if command -v shellcheck >/dev/null; then set -x; shellcheck -x $(shell-scripts); \
	else echo 'lint: no shellcheck here, so the shell scripts were not checked'; fi

.PHONY: bench
bench: build ## Measure beside limits and River, on SQLite and a durable PostgreSQL: 20 minutes; BENCH=REGEXP for a part, peers or million for more
	cd bench && NEXTRUN_TEST_POSTGRES_DURABLE=1 ../scripts/with-postgres go run . -run '$(BENCH)' -nextrun ../bin/nextrun $(BENCHFLAGS)

.PHONY: bench-list
bench-list: ## Name what make bench measures
	@cd bench && go run . -list

.PHONY: bench-go
bench-go: ## The Go benchmarks of the packages; BENCH=REGEXP for a part
	@scripts/need cc
	NEXTRUN_TEST_POSTGRES_DURABLE=1 scripts/with-postgres go test -p 1 -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: hostile
hostile: DURATION = 10m
hostile: ## Set every column to values that nobody expects, beside 1,000 healthy tasks; DURATION=10m, SEED=, DATABASE=sqlite
	@scripts/need cc
	scripts/with-postgres go test -timeout 3h -count 1 -v $(TESTFLAGS) ./cmd/nextrun/hostile -args -hostile.duration $(DURATION) \
		-hostile.seed $(SEED) -hostile.database $(DATABASE) -hostile.healthy 1000

DURATION  ?= 2m
SEED      ?= $(shell date +%s)
DATABASE  ?= both
INSTANCES ?= 8
TASKS     ?= 2000

.PHONY: chaos
chaos: ## Let faults happen to eight processes and their database, and account for every tick; DURATION=1h SEED=7 DATABASE=postgres|sqlite
	@scripts/need cc
	cd bench && go run ./chaos -duration $(DURATION) -seed $(SEED) -database $(DATABASE) -instances $(INSTANCES) -tasks $(TASKS) $(CHAOSFLAGS)

.PHONY: model
model: ## Visit 100,000 states of each scene of the model, and more at random; MODEL='-model.states N -model.seed N -model.walks N'
	@scripts/need cc
	scripts/with-postgres go test -vet=off -timeout 0 -v ./periodic/scheduler/internal/model -model.states 100000 -model.random 200000 -model.recover 4 -model.walks 20 $(MODEL)

.PHONY: test-crashpoints
test-crashpoints: ## Kill or stop processes at RUNS (4) of their statements and commits, in each mode, on one database or the other
	@scripts/need cc
	NEXTRUN_CRASH_RUNS=$(or $(RUNS),4) NEXTRUN_CRASH_DATABASE=alternate NEXTRUN_CRASH_SEED=$(SEED) $(test-db) \
		go test -tags crashpoints -count 1 -timeout 20m -parallel 12 $(TESTFLAGS) ./store/internal/testkit/crash

.PHONY: crashpoints
crashpoints: ## Kill or stop processes at all kinds of statements and commits, on each database: an hour or two; RUNS=20, CRASH=stop/leader for a part, SEED=7
	@scripts/need cc
	NEXTRUN_CRASH_RUNS=$(RUNS) NEXTRUN_CRASH_SEED=$(SEED) $(test-db) go test -tags crashpoints -count 1 -timeout 24h -parallel 12 -v \
		-run '/$(CRASH)' ./store/internal/testkit/crash

.PHONY: fuzz
fuzz: ## Fuzz every parser, each for FUZZTIME (20s)
	@scripts/fuzz $(FUZZTIME)

.PHONY: clean
clean: ## Remove what was built and the demo's database
	rm -rf bin demo.db demo.db-wal demo.db-shm
