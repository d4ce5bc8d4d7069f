package reduce

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// TestSameForCaches reduces rows and columns, normalises and takes softmax.
func TestSameForCaches(t *testing.T) {
	random := func(shape ...int) *array.Array {
		a := array.New(array.F32, shape...)
		copy(array.Data[float32](a), kerneltest.RandomFloats(rand.New(rand.NewPCG(3, 9)), a.Len()))
		return a
	}
	for _, c := range []struct {
		s       par.Step
		in, out []int
	}{
		{Reduce{Kind: "sum", Dims: []int{0}}, []int{90, 700}, []int{700}},
		{Reduce{Kind: "sum", Dims: []int{1}}, []int{90, 700}, []int{90}},
		{Reduce{Kind: "max", Dims: []int{0}}, []int{40, 5000}, []int{5000}},
		{Var{Dims: []int{0}}, []int{90, 700}, []int{700}},
		{Softmax{Dim: 0}, []int{70, 700}, []int{70, 700}},
		{Softmax{Dim: 1}, []int{70, 700}, []int{70, 700}},
		{LayerNorm{Axes: 1, Eps: 1e-5}, []int{70, 700}, []int{70, 700}},
	} {
		t.Run(fmt.Sprintf("%T%v", c.s, c.in), func(t *testing.T) {
			kerneltest.SameForCaches(t, func() (par.Step, *array.Array, []*array.Array) {
				return c.s, array.New(array.F32, c.out...), []*array.Array{random(c.in...), nil, nil}
			})
		})
	}
}

// TestTwinsForOtherCaches compares with references as with other caches.
func TestTwinsForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, c cpu.Caches) {
		require.True(t, 0 < normStrip() && 4*normStrip() <= c.L1/2)
		require.True(t, 0 < softmaxElems() && 4*softmaxElems() <= c.L2/4)
		t.Run("columns", TestColumnAssembly)
		t.Run("rows", TestRowsTogether)
		t.Run("norms", TestLayerNormAndRMSNorm)
		t.Run("softmax", TestSoftmax)
	})
}
