package fusion_test

import (
	"testing"

	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/passes/fusion"
)

func TestGoldens(t *testing.T) {
	for _, p := range append(fusion.Recognisers(), fusion.ConvBN, fusion.LinearBN, fusion.BNAffine, fusion.MergeLinear, fusion.MergeMatmul, fusion.ScatterAdd) {
		t.Run(p.Name, func(t *testing.T) { passtest.Golden(t, "testdata/"+p.Name, p) })
	}
}
