# Everything here works on a fresh clone with Go, make and a C compiler.
GO      ?= go
BIN     := bin/lustrum
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: build demo test race lint fuzz bench integration vuln clean

build: ## the lustrum binary
	$(GO) build -trimpath -buildvcs=auto -ldflags "-X main.version=0.1.0-$(VERSION)" -o $(BIN) ./cmd/lustrum

demo: build ## a census of a score of servers on this machine
	$(BIN) demo --out demo

test: lint ## every test that needs nothing but Go
	$(GO) test ./...

race: ## the same under the race detector
	$(GO) test -race ./...

lint: ## gofmt, go vet, staticcheck, tidy
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these files"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff

FUZZTIME ?= 60s
fuzz: ## each fuzz target for FUZZTIME
	@set -e; $(GO) list ./... | while read -r p; do \
	  for f in $$($(GO) test -list '^Fuzz' "$$p" | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) "$$p"; done; done

bench: ## benchmarks
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

integration: ## real MCP servers from npm, the official registry on PostgreSQL
	@command -v node >/dev/null || { echo "integration needs Node.js 20 or newer"; exit 1; }
	mkdir -p build/npm
	cp cmd/lustrum/testdata/npm/package.json cmd/lustrum/testdata/npm/package-lock.json build/npm/
	cd build/npm && npm ci --ignore-scripts --no-audit --no-fund
	test -x build/registry || GOBIN=$(CURDIR)/build GOFLAGS=-buildvcs=false $(GO) install github.com/modelcontextprotocol/registry/cmd/registry@v1.8.8
	$(GO) test -tags integration -count=1 -v -run 'Real' ./cmd/lustrum
	LUSTRUM_TEST_NPM=$(CURDIR)/build/npm/node_modules $(GO) test -count=1 -v -run NPM ./attest/verify

vuln: ## govulncheck, offline where VULNDB names a database folder
	$(GO) tool govulncheck $(if $(VULNDB),-db file://$(VULNDB)) ./...

clean:
	rm -rf bin build demo
