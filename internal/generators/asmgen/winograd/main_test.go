package main

import (
	"testing"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// The checked-in files equal the generator's output.
func TestUpToDate(t *testing.T) {
	differ, err := simd.Outdated("../../../../kernel/internal", generate)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range differ {
		t.Errorf("%s differs from what the generator writes: run go generate ./kernel/...", name)
	}
}
