# The commands of the project; `make` lists them.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# SQLite and the race detector need cgo. Without a C compiler Go would switch it
# off by itself and fail later, with a message about something else.
export CGO_ENABLED = 1

# The commit is part of the program's version, also where -buildvcs=false keeps the
# go command from looking.
cli     := github.com/nextrun/nextrun/cmd/nextrun/cli
ldflags  = -X $(cli).version=$(VERSION) \
           $(shell git log -1 --format='-X $(cli).committed=%cI' 2>/dev/null) \
           -X $(cli).commit=$(shell git describe --always --dirty --exclude='*' 2>/dev/null)

TESTFLAGS ?=
BENCH     ?= .
FUZZTIME  ?= 20s

golangci-lint := go tool -modfile=tools/go.mod golangci-lint
shell-scripts := $(shell grep -lrE --exclude-dir=node_modules '^.!.*bash$$|^. shellcheck shell=bash' scripts .ci testdata/consumers testdata/browser testdata/containers)

.PHONY: help
help: ## List the commands
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: doctor
doctor: ## Say what this machine lacks for working on nextrun, and how to install it
	@scripts/doctor

.PHONY: build
build: ## Build bin/nextrun
	@scripts/need-cc
	go build -ldflags '$(ldflags)' -o bin/nextrun ./cmd/nextrun

.PHONY: build-static
build-static: ## Build bin/nextrun for PostgreSQL only, without cgo: it needs no C compiler, nor libraries of the system
	CGO_ENABLED=0 go build -ldflags '$(ldflags)' -o bin/nextrun ./cmd/nextrun

.PHONY: deb rpm
deb rpm: ## Build a package in bin/, of the tag that is checked out or VERSION=1.2.3
	@scripts/need-cc
	scripts/package bin $@

.PHONY: run
run: build ## Show a demo on SQLite: tasks that fire and run; Control-C ends it
	@scripts/demo

.PHONY: picture
picture: build ## Record the picture of the demo in the README
	scripts/picture/record

.PHONY: pictures
pictures: ## Take the pictures of the dashboard in docs/dashboard.md, in a browser
	@scripts/need-cc
	@scripts/need-chromium
	cd testdata/browser && go test -tags pictures -run '^TestPictures$$' -count 1 -v -timeout 30m .

# The race detector makes tests several times slower. Commands, calendar and migrations
# have one goroutine to speak of.
raced   := ./periodic/... ./jobqueue/... ./store/... ./internal/... ./cmd/nextrun/cli/service ./cmd/nextrun/kafka
unraced  = $(filter-out $(shell go list $(raced)),$(shell go list ./...))

.PHONY: test
test: ## Vet and test against SQLite and PostgreSQL; TESTFLAGS='-run X -v' for a part
	@scripts/need-cc
	go vet ./...
	@# Most tests wait most of the time. The longest packages begin first, so that none runs alone at the end.
	scripts/with-postgres go test -race -vet=off -timeout 20m -parallel 6 $(TESTFLAGS) ./periodic ./jobqueue ./store $(raced); code=$$?; \
	scripts/with-postgres go test -vet=off -timeout 20m -parallel 6 $(TESTFLAGS) $(unraced) && exit $$code
	cd testdata/drivers && ../../scripts/with-postgres go test $(TESTFLAGS) ./...
	cd bench && go vet ./... && go test $(TESTFLAGS) ./...

.PHONY: test-static
test-static: ## Build without SQLite, in both ways, and try the programs
	@scripts/need-cc
	scripts/with-postgres go test -tags static -run TestBuildWithoutCgo ./cmd/nextrun

.PHONY: test-river
test-river: ## The part of test-queues that needs no npm: feed River
	@scripts/need-cc
	cd testdata/consumers && ../../scripts/with-postgres go test -parallel 10 -run '^TestRiver' $(TESTFLAGS) .

.PHONY: test-queues
test-queues: ## Feed the other queues and let their real workers run the jobs; needs npm
	@scripts/need-cc
	testdata/consumers/node/install
	cd testdata/consumers && go vet ./...
	cd testdata/consumers && ../../scripts/with-postgres go test -parallel 4 -timeout 20m $(TESTFLAGS) .

.PHONY: test-browser
test-browser: ## Use the dashboard in a real browser; needs Chromium, and npm for axe-core
	@scripts/need-cc
	@scripts/need-chromium
	testdata/browser/axe/install
	cd testdata/browser && go vet ./... && go vet -tags pictures ./...
	cd testdata/browser && ../../scripts/with-postgres go test -count 1 -v -timeout 30m $(TESTFLAGS) .

.PHONY: snapshot
snapshot: ## Describe the schema that the migrations make, after a new migration
	scripts/with-postgres go test ./migrations -run TestSnapshot -update

.PHONY: manifests
manifests: ## Write dist/kubernetes/nextrun.yaml, the Helm chart without values
	cd testdata/kubernetes && go test . -run TestManifestsAreTheChart -update

.PHONY: test-originals
test-originals: ## Compare imported schedules with systemd, cron, pg_cron and the library of Kubernetes
	@scripts/need-cc
	@scripts/need-originals
	cd testdata/originals && go vet ./... && go test -count 1 -v $(TESTFLAGS) ./...

.PHONY: test-kubernetes
test-kubernetes: ## Check the Helm chart and the manifests against the types of the Kubernetes API
	cd testdata/kubernetes && go vet ./... && go test $(TESTFLAGS) ./...

.PHONY: test-install
test-install: ## Build as `go install` does: from a clean cache, with what go.mod says
	scripts/test-install

.PHONY: check-release
check-release: ## Check the configuration of goreleaser, which builds releases; the first time takes minutes
	go run github.com/goreleaser/goreleaser/v2@v2.15.4 check

.PHONY: test-packages
test-packages: ## Install, run, update and purge the .deb on a clean Debian, and look at the .rpm; needs root
	@scripts/need-cc
	scripts/test-packages

.PHONY: test-containers
test-containers: ## Build the images, run docker-compose.yml and try what the documentation says of it; needs docker or root
	scripts/test-containers

.PHONY: test-alerts
test-alerts: ## Test the alerts for Prometheus, and the expressions of the Grafana dashboard, with promtool
	@scripts/need-promtool
	cd dist/prometheus && promtool check rules nextrun.rules.yml && promtool test rules nextrun.rules.test.yml
	scripts/dashboard-rules dist/grafana/nextrun.json

.PHONY: lint
lint: lint-go lint-shell ## Run the linters

.PHONY: lint-go
lint-go:
	@scripts/need-cc
	$(golangci-lint) run

.PHONY: lint-shell
lint-shell:
	@if command -v shellcheck >/dev/null; then set -x; shellcheck -x $(shell-scripts); \
	else echo 'lint: no shellcheck here, so the shell scripts were not checked'; fi

ROUNDS ?= 7

.PHONY: bench
bench: build ## Measure beside limits and peers, on SQLite and a durable PostgreSQL: two hours; BENCH=REGEXP for a part, ROUNDS=3
	@command -v npm >/dev/null && testdata/consumers/node/install >/dev/null || echo 'bench: no npm here, so without Graphile Worker and pg-boss'
	cd bench && NEXTRUN_TEST_POSTGRES_DURABLE=1 ../scripts/with-postgres go run . -run '$(BENCH)' -rounds $(ROUNDS) -nextrun ../bin/nextrun \
		-node ../testdata/consumers/node -json ../bin/bench.json -markdown ../bin/bench.md $(BENCHFLAGS)

.PHONY: bench-list
bench-list: ## Name what make bench measures
	@cd bench && go run . -list

.PHONY: bench-go
bench-go: ## The Go benchmarks of the packages; BENCH=REGEXP for a part
	@scripts/need-cc
	NEXTRUN_TEST_POSTGRES_DURABLE=1 scripts/with-postgres go test -p 1 -run '^$$' -bench '$(BENCH)' -benchmem ./...
	cd testdata/consumers && NEXTRUN_TEST_POSTGRES_DURABLE=1 ../../scripts/with-postgres go test -run '^$$' -bench '$(BENCH)' -benchtime 3x .

.PHONY: bench-recovery
bench-recovery: ## Kill 30 processes of each role on each database, and measure how soon others take over
	@scripts/need-cc
	scripts/with-postgres go test -run '^$$' -bench Recovery -benchtime 6x -timeout 30m ./store

.PHONY: bench-calendar
bench-calendar: ## Compare the calendar with other libraries
	cd bench && go test -run '^$$' -bench '$(BENCH)' -benchmem ./calendar

.PHONY: soak-queue
soak-queue: ## Kill and stop executors at random for five minutes, on each database
	@scripts/need-cc
	scripts/with-postgres go test -tags soak -run 'TestSoak$$' -timeout 30m -v ./jobqueue

.PHONY: soak
soak: ## Kill schedulers and executors at random for a minute, 500 tasks due every second, on each database
	@scripts/need-cc
	NEXTRUN_SOAK_SECONDS=60 NEXTRUN_SOAK_TASKS=500 scripts/with-postgres go test -timeout 20m -run TestProcessesAreKilled -v ./cmd/nextrun

.PHONY: soak-isolation
soak-isolation: ## Let rows be refused and locked at random beside 200 healthy tasks for a minute, on each database
	@scripts/need-cc
	NEXTRUN_SOAK_SECONDS=60 NEXTRUN_SOAK_TASKS=200 scripts/with-postgres go test -timeout 20m -run TestMisfortunesHoldUpNobodyElse -v ./cmd/nextrun

.PHONY: soak-lock
soak-lock: ## Let 1,000 misfortunes happen to 20 contenders for the lock, on each database
	@scripts/need-cc
	NEXTRUN_SOAK_LOCK_ROUNDS=1000 NEXTRUN_SOAK_LOCK_CONTENDERS=20 scripts/with-postgres go test -timeout 30m -run TestLockSurvivesChaos -v ./periodic

.PHONY: fuzz
fuzz: ## Fuzz every parser, each for FUZZTIME (20s)
	@scripts/fuzz $(FUZZTIME)

.PHONY: clean
clean: ## Remove what was built and the demo's database
	rm -rf bin demo.db demo.db-wal demo.db-shm
