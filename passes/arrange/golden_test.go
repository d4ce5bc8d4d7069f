package arrange_test

import (
	"testing"

	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/arrange"
)

func TestGoldens(t *testing.T) {
	for _, p := range []passes.Pass{arrange.Moves, arrange.Half, arrange.Bfloat} {
		t.Run(p.Name, func(t *testing.T) { passtest.Golden(t, "testdata/"+p.Name, p) })
	}
}
