# What people and .ci/run call. `make` alone lists the targets.
#
# Everything here works without a C compiler, except race.

GO       ?= go
SEEDS    ?= 10000
SIMTIME  ?= 15m
PART     ?= 1/1
FUZZTIME ?= 10s
BENCH    ?= .
PKG      ?= ./...

# Packages whose tests read BRAID_SEEDS: the simulations.
SIM = $(shell grep -rlE --include='*_test.go' '"BRAID_SEEDS"' . | xargs -r -n1 dirname | sort -u)

# Packages that are others with the invariants compiled in.
INVARIANTS = $(shell grep -rlE --include='*.go' '^//go:build .*invariants' . | xargs -r -n1 dirname | sort -u)

# What the race detector looks at: not the rules of source text. A simulated world has one goroutine, so what it can find there is what two worlds
# share: a few seeds do. The detector would have each test binary sleep for a second at its end, for goroutines that still run; goleak finds those.
RACED     = $(shell $(GO) list ./... | grep -v /internal/lint$$)
RACESEEDS ?= 10

.PHONY: help
help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

.PHONY: check
check: fmt vet lint static unit ## what every commit passes; under a minute once built
	@$(MAKE) --no-print-directory sim SEEDS=1000

.PHONY: fmt
fmt: ## fails if a file is not gofmt'ed
	@bad=$$(gofmt -l .); test -z "$$bad" || { echo "not gofmt'ed (run gofmt -w):" $$bad; exit 1; }

.PHONY: vet
vet: ## go vet, plain and with the invariants compiled in
	$(GO) vet ./...
	$(GO) vet -tags invariants $(INVARIANTS)
	$(GO) vet -tags interop ./test/interop
	@if [ -e /usr/include/infiniband/verbs.h ]; then set -x; CGO_ENABLED=1 $(GO) vet -tags verbs ./rdma/verbs ./transport/verbsrc ./test/verbs; fi

.PHONY: lint
lint: ## sizes, arrows, names and bans of this project
	$(GO) test ./internal/lint

.PHONY: static
static: ## staticcheck, and exhaustive switches over our own enumerations
	$(GO) tool staticcheck ./...
	$(GO) tool exhaustive -typeonly '^github\.com/openbraid/braid' ./...

.PHONY: unit
unit: ## all tests, the long ones shortened; golden files are compared here
	$(GO) test -short ./...

.PHONY: test
test: ## all tests
	$(GO) test ./...

.PHONY: files
files: ## 2,000 files and 1 GB are copied while a rail is cut each second
	BRAID_FILES=1g $(GO) test -count=1 -timeout 15m -v -run TestRailsAreCut ./internal/files

SOAK ?= 1000
SOAKLEAST ?= 17000000
SOAKOVER ?= tcp
SOAKTESTS ?= put_lat put_bw put_signal_bw get add fadd swap cswap am_lat am_bw tag_lat tag_bw tag_sync_bw

.PHONY: soak
soak: ## SOAK=1000 random cuts of each of SOAKTESTS, all tests, over two lanes of SOAKOVER=tcp, SOAKLEAST operations or more: 10^8 in all, each verified, and their sum; minutes
	@GO="$(GO)" bash .ci/soak $(SOAK) $(SOAKLEAST) $(SOAKOVER) "$(SOAKTESTS)"

BLACKOUTS ?= 1000

.PHONY: blackout
blackout: ## how long BLACKOUTS=1000 resets, and as many silences, both ways and one way, stop what is under way on one of two TCP lanes; ten minutes
	@GO="$(GO)" bash .ci/blackout $(BLACKOUTS)

.PHONY: matrix
matrix: ## every family x transport x 1, 2, 4 lanes x sizes x expected or not x a lane cut or none, compared byte by byte; a part of it is a test; ONLY=real, ONLY=tcp: some columns
	@out=$$(BRAID_MATRIX=1 $(GO) test -count=1 -timeout 120m -v -run 'TestMatrix/$(ONLY)' ./test/matrix); end=$$?; \
	echo "$$out" | grep -v '^=== '; exit $$end

.PHONY: pingpong
pingpong: ## a million ping-pongs in which both sides sleep for each answer, level- and edge-triggered: two to five minutes
	BRAID_SOAK=1 $(GO) test -count=1 -timeout 30m -v -run TestF3_ArmHammer .

.PHONY: race
race: ## all tests under the race detector, with the invariants compiled in; needs a C compiler
	@test -n "$(RACED)" || { echo "go list names no packages"; exit 1; }
	GORACE="$$GORACE atexit_sleep_ms=50" BRAID_SEEDS=$(RACESEEDS) CGO_ENABLED=1 $(GO) test -race -short -vet=off -tags invariants -p 3 -timeout 15m $(RACED)

.PHONY: sim
sim: ## SEEDS=10000 seeds of the simulated network, as each change has; nightly has 10^6
	@test -n "$(SIM)" || { echo "no test reads BRAID_SEEDS: there is no simulation to run"; exit 1; }
	GOGC=400 BRAID_SEEDS=$(SEEDS) $(GO) test -count=1 -vet=off -tags invariants -timeout $(SIMTIME) $(SIM)

NIGHTSEEDS ?= 1000000

.PHONY: nightly
nightly: ## what is too long for each change: NIGHTSEEDS=10^6 seeds of the simulated network, the soak, blackouts, the large searches, all mutants; hours
	@$(MAKE) --no-print-directory sim SEEDS=$(NIGHTSEEDS) SIMTIME=24h
	@$(MAKE) --no-print-directory soak blackout searchdeep mutants

.PHONY: search
search: ## all runs of small worlds of the hand-over, each with its states; what goes wrong without each rule
	@out=$$($(GO) test -count=1 -timeout 60m -v -run 'TestSearch|TestEachRule' ./internal/failover); end=$$?; \
	echo "$$out" | grep 'states\|^ *--- \|without it'; exit $$end

.PHONY: searchdeep
searchdeep: ## larger worlds, too: minutes
	@BRAID_DEEP=1 $(MAKE) --no-print-directory search

.PHONY: litmus
litmus: ## small programs of operations, fences and flushes, in every order; tables; under 3 minutes. BRAID_SEED= chooses others
	@out=$$(BRAID_LITMUS=1 GOGC=400 $(GO) test -count=1 -vet=off -timeout 15m -v -run 'TestPrograms|TestAll' ./test/litmus); end=$$?; \
	echo "$$out" | grep -v '^=== \|--- PASS'; exit $$end

.PHONY: litmusall
litmusall: ## all programs of at most 4 operations, 2 lanes, 1 cut, instead of a part of them: two to four hours of a processor; PART=3/16 is one of 16 parts
	@out=$$(BRAID_LITMUS=2 BRAID_PART=$(PART) GOGC=300 $(GO) test -count=1 -timeout 24h -v -run 'TestPrograms|TestAll' ./test/litmus); end=$$?; \
	echo "$$out" | grep -v '^=== \|--- PASS'; exit $$end

.PHONY: fuzz
fuzz: ## FUZZTIME=10s for every fuzz target there is
	@GO="$(GO)" bash .ci/fuzz $(FUZZTIME)

.PHONY: bench
bench: ## benchmarks; BENCH= and PKG= choose
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

PAIRS ?= 1600

.PHONY: pairmodes
pairmodes: ## what failover costs beside none: every test, 8 bytes, 4 KiB, 1 MiB, tcp and rc, PAIRS=1600 pairs of blocks each; ratio, 95 % and whether the goal is met; half an hour
	$(GO) run ./bench --only '^pair/' --pairs $(PAIRS)

.PHONY: mutants
mutants: ## break the code on purpose, rule by rule; the tests must notice each; PART=2/3 is the second of three parts
	BRAID_MUTANTS=1 BRAID_PART=$(PART) $(GO) test -count=1 -timeout 20m -v ./test/mutants

.PHONY: interop
interop: ## the software RDMA device against a program in C over the kernel's, in a virtual machine; Debian, the first time as root
	bash test/interop/verbs peer

.PHONY: verbs
verbs: ## rdma/verbs and braid over it, on the kernel's soft-RoCE in virtual machines, with a table; Debian, the first time as root; up to 15 minutes
	bash test/interop/verbs

.PHONY: demo
demo: ## see a lane die and nothing else
	$(GO) run ./cmd/braid demo

.PHONY: cross
cross: ## vet for another processor and another system: each file is in one of the two, or in what runs here
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) vet ./...
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) vet ./...
