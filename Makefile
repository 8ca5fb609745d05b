# claw: make test is all a newcomer needs. `make help` lists the rest.

GO      ?= go
PREFIX  ?= /usr/local
DESTDIR ?=
# How long `make fuzz` gives to each target.
FUZZTIME ?= 20s
GOFUMPT     = $(GO) run mvdan.cc/gofumpt@v0.12.0
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS  = -s -w -X claw/cmd/claw/internal/cli.version=$(VERSION)
ROOT     = $(DESTDIR)$(PREFIX)

export CGO_ENABLED ?= 0
.DEFAULT_GOAL := build

.PHONY: help build test race script crash fuzz bench fmt lint vet deps docs check cross demo install uninstall clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' Makefile

build: ## bin/claw
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/claw ./cmd/claw

test: build ## every test
	$(GO) test ./...

race: ## every test with the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race ./...

script: ## the scripts that drive the real program
	$(GO) test -count=1 ./cmd/claw

crash: ## 10,000 deaths at file operations and 1,000 by kill -9
	@GO='$(GO)' .ci/crash

fuzz: ## every fuzz target for FUZZTIME
	@.ci/fuzz $(FUZZTIME)

bench: build ## measure, and compare with floors and peers
	@.ci/bench/run

fmt: ## rewrite sources in the one format
	@$(GOFUMPT) -l -w .

lint: ## format and staticcheck
	@test -z "$$($(GOFUMPT) -l . | tee /dev/stderr)"
	@$(STATICCHECK) ./...

vet: ## go vet
	@$(GO) vet ./...

deps: ## who may import what, sizes, layout
	@$(GO) test -count=1 ./cmd/claw/internal/guard

docs: ## write the generated parts of the manual anew
	@$(GO) test -count=1 ./cmd/claw/internal/cli -run 'TestManual$$' -update

cross: ## build and vet for the other platforms
	@for p in darwin/arm64 linux/arm64; do GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build ./... && GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./... || exit 1; done

check: vet lint deps test race cross ## what has to pass before a commit

demo: build ## a tour of half a minute, in a temporary state directory
	@.ci/demo.sh bin/claw

install: build ## below PREFIX: the program, its manual and completions
	@.ci/install '$(ROOT)'

uninstall: ## takes away what install put there
	@.ci/install -u '$(ROOT)'

clean: ## what build made
	@rm -rf bin
