# What a developer runs. CI runs .ci/run, which calls the README's test command.
GO ?= go
FUZZTIME ?= 20s

.PHONY: test race lint gen fuzz cover bench check nightly docs

test: ; ./test.sh

race: ; CGO_ENABLED=1 $(GO) test -race -short ./...

lint:
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) tool staticcheck ./... 2>/dev/null || staticcheck ./...

gen: ; $(GO) generate ./...

fuzz:
	$(GO) test ./graph -run xxx -fuzz FuzzParse -fuzztime $(FUZZTIME)
	$(GO) test ./array/safetensors -run xxx -fuzz Fuzz -fuzztime $(FUZZTIME)

cover: ; $(GO) test -cover ./...

bench: ; $(GO) test -run xxx -bench . -benchmem ./tracer ./passes/... ./graph

check: lint test

# All models in all engines, long fuzzing, other architectures under qemu.
nightly:
	GOFX_NIGHTLY=1 $(GO) test -count=1 -timeout 90m ./...
	$(MAKE) fuzz FUZZTIME=5m
