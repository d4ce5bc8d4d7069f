package fusion_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/tensor"
)

const (
	batch, heads, length, width = 2, 3, 7, 8

	lowest = -math.MaxFloat32
)

// operands returns q, k and v. The last row of q holds what is no number.
func operands(special bool) (q, k, v *array.Array) {
	r := passes.Random{State: 9}
	q, k, v = r.Array(array.F32, batch, heads, length, width), r.Array(array.F32, batch, heads, length, width), r.Array(array.F32, batch, heads, length, width)
	for i := range q.Len() {
		array.SetFloat64At(q, i, 5*array.Float64At(q, i))
	}
	for i := range width {
		array.SetFloat64At(q, i, 0)
	}
	if special {
		array.SetFloat64At(q, q.Len()-1, math.NaN())
		array.SetFloat64At(q, q.Len()-width-1, inf)
		array.SetFloat64At(v, 3, -inf)
		array.SetFloat64At(v, width+5, math.NaN())
	}
	return q, k, v
}

// mask returns a mask of one row for each batch, that is true for what f says.
func mask(f func(b, key int) bool) *array.Array {
	a := array.New(array.Bool, batch, 1, 1, length)
	for b := range batch {
		for key := range length {
			if f(b, key) {
				array.SetInt64At(a, b*length+key, 1)
			}
		}
	}
	return a
}

// lower returns a matrix that is true where the column is not after the row.
func lower(n int) *array.Array {
	a := array.New(array.Bool, 1, 1, n, n)
	for i := range n {
		for j := range i + 1 {
			array.SetInt64At(a, i*n+j, 1)
		}
	}
	return a
}

func scores(q, k tt) tt { return q.Matmul(k.Transpose(-1, -2)).DivScalar(math.Sqrt(width)) }

// TestAttentionAgrees holds the bound that the pass states, with masks of every
// kind. all is a mask that leaves nothing of the second batch.
func TestAttentionAgrees(t *testing.T) {
	some := mask(func(b, key int) bool { return b == 0 && key > 4 })
	all := mask(func(b, key int) bool { return b == 1 || key > 4 })
	add := func(low float64, m *array.Array) *array.Array {
		a := array.New(array.F32, batch, 1, 1, length)
		for i := range a.Len() {
			if array.Float64At(m, i) != 0 {
				array.SetFloat64At(a, i, low)
			}
		}
		return a
	}
	kept := tensor.New(mask(func(b, key int) bool { return key != 2 }))
	history := tensor.New(lower(16))
	fill := func(low float64) any {
		return func(q, k, v, m tt) tt { return scores(q, k).MaskedFill(m, low).Softmax(-1).Matmul(v) }
	}
	added := func(q, k, v, m tt) tt { return scores(q, k).Add(m).Softmax(-1).Matmul(v) }
	for name, c := range map[string]struct {
		f    any
		mask *array.Array
	}{
		"plain": {func(q, k, v tt) tt { return scores(q, k).Softmax(-1).Matmul(v) }, nil},
		"scaled q": {func(q, k, v tt) tt {
			return q.MulScalar(1 / math.Sqrt(width)).Matmul(k.Transpose(-1, -2)).Softmax(-1).Matmul(v)
		}, nil},
		"added":                     {added, add(-1.5, some)},
		"added lowest, whole rows":  {added, add(lowest, all)},
		"added -inf, whole rows":    {added, add(-inf, all)},
		"filled -inf":               {fill(-inf), some},
		"filled -inf, whole rows":   {fill(-inf), all},
		"constant mask":             {func(q, k, v tt) tt { return kept.WhereScalar(scores(q, k), lowest).Softmax(-1).Matmul(v) }, nil},
		"constant mask, inverted":   {func(q, k, v tt) tt { return scores(q, k).MaskedFill(kept.LogicalNot(), -1e9).Softmax(-1).Matmul(v) }, nil},
		"causal, a slice of a mask": {func(q, k, v tt) tt { return causalSlice(history, q, k).Softmax(-1).Matmul(v) }, nil},
		"causal, -inf added":        {func(q, k, v tt) tt { return scores(q, k).Add(triu(q)).Softmax(-1).Matmul(v) }, nil},
	} {
		for _, special := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				q, k, v := operands(special)
				in := []*array.Array{q, k, v}
				if c.mask != nil {
					in = append(in, c.mask)
				}
				before, after := apply(t, fusion.Attention, 1, c.f, in...)
				within(t, before, after, func(i int) float64 { return attentionBound(q, k, i) })
			})
		}
	}
}

func causalSlice(history, q, k tt) tt {
	keep := history.Slice(2, 0, q.Size(-2)).Slice(3, 0, k.Size(-2))
	return tensor.Where(keep, scores(q, k), tensor.Full([]int{}, lowest))
}

func triu(q tt) tt {
	return tensor.Full([]int{length, length}, -inf).Triu(1)
}

// attentionBound is the bound of element i of the result: the values are below 1.
func attentionBound(q, k *array.Array, i int) float64 {
	row := i / width
	head := row / length
	largest := 0.0
	for key := range length {
		size := 0.0
		for e := range width {
			size += math.Abs(array.Float64At(q, row*width+e) * array.Float64At(k, (head*length+key)*width+e))
		}
		largest = max(largest, size/math.Sqrt(width))
	}
	return 2*(width+2)*rounding*largest + 8*rounding
}

// TestConstantMasks looks at the operator that constants become.
func TestConstantMasks(t *testing.T) {
	q, k, v := operands(false)
	attention := func(m *array.Array) func(q, k, v tt) tt {
		c := tensor.New(m)
		return func(q, k, v tt) tt { return c.WhereScalar(scores(q, k), -1e9).Softmax(-1).Matmul(v) }
	}
	gm := recognised(t, attention(lower(length)), q, k, v)
	require.Contains(t, gm, "is_causal=true")
	almost := lower(length)
	array.SetInt64At(almost, 1, 1)
	gm = recognised(t, attention(almost), q, k, v)
	require.Contains(t, gm, "(%a, %b, %c, %")
	require.NotContains(t, gm, "is_causal")
	array.SetInt64At(almost, 0, 0)
	array.SetInt64At(almost, 1, 0) // nothing is left in the first row
	require.NotContains(t, recognised(t, attention(almost), q, k, v), "scaled_dot_product_attention")
}

// TestAttention_masksThatTheirTypeRounds has masks that hold nothing but zeros.
func TestAttention_masksThatTheirTypeRounds(t *testing.T) {
	q, k, v := operands(false)
	full := func(x float64, d array.DType) tt {
		return tensor.Full([]int{length, length}, x, tensor.FullAttrs{DType: d})
	}
	for _, ones := range []func() tt{
		func() tt { return full(0.5, array.I64) },
		func() tt { return full(1e-10, array.F16) },
		func() tt { return full(1, array.F32).FullLike(0.5, tensor.FullLikeAttrs{DType: array.I32}) },
	} {
		f := func(q, k, v tt) tt {
			return ones().Tril(0).NeScalar(0).WhereScalar(scores(q, k), -1e9).Softmax(-1).Matmul(v)
		}
		require.NotContains(t, recognised(t, f, q, k, v), "scaled_dot_product_attention")
	}
}

// TestAttention_causalSliceOfSymbolicSizes looks at a model that keeps a mask of its greatest
// length and takes the corner that it needs.
func TestAttention_causalSliceOfSymbolicSizes(t *testing.T) {
	history := tensor.New(lower(16))
	f := func(q, k, v tt) tt { return causalSlice(history, q, k).Softmax(-1).Matmul(v) }
	gm, err := fx.Trace(context.Background(), f, fx.Input("q", "f32[N,4,L,8]"), fx.Input("k", "f32[N,4,S,8]"), fx.Input("v", "f32[N,4,S,8]"))
	require.NoError(t, err)
	_, err = gm.Apply(context.Background(), fx.Optimise(), fx.PassOptions{Expect: []passes.Expectation{fx.Expect("attention", 1)},
		Numeric: &passes.Numeric{Sizes: map[string]int{"N": 2, "L": 5, "S": 3}, Rel: 1e-5, Abs: 1e-6}})
	require.NoError(t, err)
	require.Contains(t, gm.Graph.String(), "(%q, %k, %v) {is_causal=true")
}
