package fusion_test

import (
	"testing"

	"github.com/gofx-dev/gofx/internal/passtest"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
)

func TestGoldens(t *testing.T) {
	for _, p := range []passes.Pass{fusion.ConvBN, fusion.LinearBN, fusion.Softmax, fusion.Attention, fusion.LayerNorm,
		fusion.RmsNorm, fusion.Gelu, fusion.Silu, fusion.Hardswish} {
		t.Run(p.Name, func(t *testing.T) { passtest.Golden(t, "testdata/"+p.Name, p) })
	}
}
