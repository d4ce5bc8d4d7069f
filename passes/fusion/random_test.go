package fusion_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// TestRandomMasks makes masks of comparisons, triangles and constants, most of them
// not causal, and demands that what becomes of them computes the same: a mask that
// is wrongly taken for a causal one, or for one that keeps something in each row,
// shows.
func TestRandomMasks(t *testing.T) {
	history := tensor.New(lower(16))
	found := map[string]int{}
	for seed := range uint64(400) {
		f := func(q, k, v tt) tt { return attend(rand.New(rand.NewPCG(seed, 1)), history, q, k, v) }
		gm, err := fx.Trace(context.Background(), f, fx.Input("q", "f32[N,3,L,8]"), fx.Input("k", "f32[N,3,S,8]"), fx.Input("v", "f32[N,3,S,8]"))
		require.NoError(t, err)
		before := gm.Graph.String()
		sizes := [][2]int{{5, 3}, {3, 5}, {4, 4}, {1, 6}}[seed%4]
		_, err = gm.Apply(context.Background(), fx.Optimise(), fx.PassOptions{
			Numeric: &passes.Numeric{Sizes: map[string]int{"N": 2, "L": sizes[0], "S": sizes[1]}, Rel: 1e-5, Abs: 1e-5}})
		require.NoError(t, err, "seed %d: %s", seed, before)
		switch after := gm.Graph.String(); {
		case strings.Contains(after, "is_causal=true"):
			found["causal"]++
		case strings.Contains(after, "scaled_dot_product_attention"):
			found["mask"]++
		default:
			found["refused"]++
		}
	}
	for _, what := range []string{"causal", "mask", "refused"} {
		require.Greater(t, found[what], 20, "%s of %v", what, found)
	}
}

// attend is attention with a random mask in a random spelling.
func attend(r *rand.Rand, history, q, k, v tt) tt {
	s := scores(q, k)
	m := randomMask(r, history, q.Size(-2), k.Size(-2))
	low := []float64{lowest, -1e9, -inf}[r.IntN(3)]
	zeros := tensor.Zeros(q.Size(-2), k.Size(-2))
	switch r.IntN(5) {
	case 0:
		s = s.MaskedFill(m, low)
	case 1:
		s = m.WhereScalar(s, low)
	case 2:
		s = tensor.Where(m, tensor.Full([]int{}, low), s)
	case 3:
		s = s.Add(zeros.MaskedFill(m, low))
	default:
		s = m.WhereScalar(zeros, low).Add(s)
	}
	return s.Softmax(-1).Matmul(v)
}

func randomMask(r *rand.Rand, history tt, rows, cols tensor.Size) tt {
	var m tt
	switch r.IntN(3) {
	case 0:
		before := r.IntN(3)
		i, j := tensor.Arange(rows.Add(before)).Slice(0, before, tensor.End), tensor.Arange(cols)
		if r.IntN(3) == 0 {
			i = i.AddScalar(float64(r.IntN(3) - 1))
		}
		i, j = i.Unsqueeze(1), j.Unsqueeze(0)
		if r.IntN(2) == 0 {
			i, j = j, i
		}
		m = []func(x, y tt) tt{tensor.Gt, tensor.Lt, tensor.Ge, tensor.Le}[r.IntN(4)](i, j)
	case 1:
		ones := tensor.Full([]any{rows, cols}, float64(r.IntN(4)))
		d := r.IntN(3) - 1
		if m = ones.Tril(d); r.IntN(2) == 0 {
			m = ones.Triu(d)
		}
		m = []func(x tt) tt{
			func(x tt) tt { return x.EqScalar(0) }, func(x tt) tt { return x.NeScalar(0) }, func(x tt) tt { return x.Cast(array.Bool) },
			func(x tt) tt { return x.EqScalar(1) },
		}[r.IntN(4)](m)
	default:
		from := [][2]int{{0, 0}, {0, 0}, {1, 0}, {0, 1}}[r.IntN(4)]
		m = history.Slice(2, from[0], rows.Add(from[0])).Slice(3, from[1], cols.Add(from[1]))
	}
	if r.IntN(4) == 0 {
		other := randomMask(r, history, rows, cols)
		m = []func(x, y tt) tt{tensor.LogicalAnd, tensor.LogicalOr}[r.IntN(2)](m, other)
	}
	for range r.IntN(3) {
		switch r.IntN(4) {
		case 0:
			m = m.LogicalNot()
		case 1:
			m = m.BitwiseNot()
		case 2:
			m = m.Cast(array.I64).NeScalar(0)
		default:
			m = m.Reshape(1, 1, rows, cols)
		}
	}
	return m
}
