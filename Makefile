# What a developer runs. CI runs .ci/run, which calls the README's commands.
GO ?= go
# Inputs, not a time: .ci/run says why.
FUZZTIME ?= 20000x
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: test race lint gen fuzz cover bench check nightly cold docs systems card card-kit release trial apidiff playground

test:
	$(GO) test ./... && for m in examples/* bench; do $(GO) test -C $$m ./... || exit 1; done

race:
	CGO_ENABLED=1 $(GO) test -race -short ./...

lint:
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(STATICCHECK) ./...

gen:
	$(GO) generate ./...
	$(GO) generate -C examples/digits ./...
	$(GO) generate -C examples/chargpt ./...

docs:
	$(GO) run ./internal/generators/docs
	$(GO) generate ./internal/testkit/conform

fuzz:
	$(GO) test ./graph -run xxx -fuzz 'FuzzParse$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./array/safetensors -run xxx -fuzz 'FuzzParse$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./onnx -run xxx -fuzz 'FuzzImport$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./onnx -run xxx -fuzz 'FuzzMutate$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./pt2 -run xxx -fuzz 'FuzzImport$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./pt2 -run xxx -fuzz 'FuzzMutate$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./array/npy -run xxx -fuzz 'FuzzParseArchive$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./array/gguf -run xxx -fuzz 'FuzzParse$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./array/torchpt -run xxx -fuzz 'FuzzParse$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./array/weights -run xxx -fuzz 'FuzzIndex$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./internal/ziparc -run xxx -fuzz 'FuzzOpen$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x
	$(GO) test ./shape -run xxx -fuzz 'FuzzParseType$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 200x

cover:
	$(GO) test -cover ./...

# Capture, passes and edits here; kernels and networks against their peers in bench/.
bench:
	$(GO) test -run xxx -bench . -benchmem ./tracer ./models ./passes/... ./graph
	$(GO) test -C bench -run xxx -bench Graph .
	cd bench && $(GO) run .

check: lint test

# A test binary for a machine that has NVIDIA's driver and nothing else: docs/devices.md says how it is run.
# Its suite, kernels as PTX and expected results, takes clang-22 and some minutes.
CARD = lowering/gpu/cardtest
card:
	CGO_ENABLED=0 $(GO) test -count=1 -v -timeout 3h -run '^TestMake$$' ./$(CARD) -make $(CURDIR)/$(CARD)/build/suite
	CGO_ENABLED=0 $(GO) test -c -tags card -trimpath -ldflags '-s -w' -o card.test ./$(CARD)
	./card.test -test.run '^TestSuiteIsWhole$$' -test.v
	size=$$(wc -c < card.test); echo "card.test has $$size bytes"; test $$size -lt 62914560

# What a machine with a card takes next to this tree, in .card: docs/devices.md says how to run it.
card-kit: card
	mkdir -p .card && mv card.test .card/card.test
	for p in gpu xla; do CGO_ENABLED=0 $(GO) test -c -trimpath -ldflags '-s -w' -o .card/$$p.test ./lowering/$$p || exit 1; done
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o .card/fxgen ./cmd/fxgen
	for n in resnet50:x=N,3,224,224 learning_to_paint:x=N,9,128,128 bert_base:input_ids=N,128:attention_mask=N,128 gpt2:input_ids=N,128; do \
	  for b in 1 32; do .card/fxgen lower $${n%%:*} $$(echo $${n#*:} | sed "s/N/$$b/g; s/^/-shape /; s/:/ -shape /") \
	    -target xla -force -o .card/$${n%%:*}_$$b.mlir || exit 1; done; done
	cd .card && for f in card.test gpu.test xla.test fxgen; do tar cJf $$f.tar.xz $$f && rm $$f || exit 1; done

# Everything builds for these, without cgo.
systems:
	for s in linux/amd64 linux/arm64 darwin/arm64 windows/amd64 js/wasm; do \
	  GOOS=$${s%/*} GOARCH=$${s#*/} CGO_ENABLED=0 $(GO) build ./... || exit 1; done

# The README's test command on a fresh machine: empty caches, one of two processors busy.
cold:
	.ci/cold

# The tests that compare networks with their references, in all engines, with Winograd
# and without.
FIXTURES = TestFixturesInEveryEngine|TestModelsEqualTheInterpreter

# All networks in all engines at every level of the processor, every faulty model through fxgen, 5,000 random
# programs through capture and faults put into it, other machines' bytes, fresh calls
# beside PyTorch, kernels on arm64 under qemu, long fuzzing. Debian's qemu-user is
# needed with libc6-arm64-cross and gcc-aarch64-linux-gnu, python3-torch for the comparison, chromium-driver for pages.
nightly: systems cold
	GOFX_NIGHTLY=1 $(GO) test -count=1 -timeout 90m ./...
	GOFX_CPU=generic $(GO) test -count=1 -timeout 30m ./kernel/... ./op/... ./lowering/...
	GOFX_NIGHTLY=1 GOFX_CPU=avx2 $(GO) test -count=1 -timeout 90m -run '$(FIXTURES)' ./cmd/fxgen ./lowering/cpu
	GOFX_NIGHTLY=1 GOFX_CPU=generic $(GO) test -count=1 -timeout 180m -run '$(FIXTURES)' ./cmd/fxgen ./lowering/cpu
	QEMU_LD_PREFIX=/usr/aarch64-linux-gnu GOARCH=arm64 CGO_ENABLED=0 $(GO) test -count=1 -timeout 60m -exec qemu-aarch64 ./diag ./array/... ./shape ./op/expr ./kernel/... ./tracer ./lowering/...
	$(MAKE) race fuzz FUZZTIME=300000x

# Everything that a release consists of, in DIST; docs/install.md describes it. Nothing is pushed, and without
# APPLY=-apply the tree stays as it is.
DIST ?= dist
release:
	$(GO) run ./internal/generators/release make -version '$(VERSION)' -o '$(DIST)' $(APPLY)

# The page that runs fxgen; docs/playground.md describes it.
playground:
	mkdir -p $(DIST)
	$(GO) run ./cmd/fxgen playground -o $(DIST)/playground.html

# What a new user does, with modules made of this tree.
trial:
	$(GO) run ./internal/generators/release try

apidiff:
	$(GO) run ./internal/generators/release apidiff
