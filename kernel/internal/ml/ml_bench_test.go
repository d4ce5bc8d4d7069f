package ml

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// full is a tree in which all leaves are as deep.
func full(r *rand.Rand, depth, features int) *node {
	if depth == 0 {
		return &node{adds: map[int]float64{0: r.NormFloat64()}}
	}
	return &node{r.IntN(features), TreeAtMost | TreeMissing*int32(r.IntN(2)), r.NormFloat64() / 2, full(r, depth-1, features), full(r, depth-1, features), nil}
}

// BenchmarkTrees are 100 trees of depth 6 over 30 features, as boosting makes them.
func BenchmarkTrees(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var trees []*node
	for range 100 {
		trees = append(trees, full(r, 6, 30))
	}
	tables := laid(trees, array.F32, array.F32)
	for _, rows := range []int{1, 100, 10000} {
		b.Run(strconv.Itoa(rows), func(b *testing.B) {
			x := array.New(array.F32, rows, 30)
			for i := range x.Len() {
				array.SetFloat64At(x, i, r.NormFloat64())
			}
			in, out, w := append([]*array.Array{x}, tables...), []*array.Array{array.New(array.F32, rows, 1)}, &par.Workspace{}
			for b.Loop() {
				Trees{}.Run(w, out, in)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}
