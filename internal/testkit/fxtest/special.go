package fxtest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Special returns operands of which one, drawn among those of floats, has a NaN, an infinity, or both
// infinities at places that are drawn, or is one number everywhere; nil where none is of floats.
func Special(r *rand.Rand, in []*array.Array) []*array.Array {
	var floats []int
	kinds := 5
	for i, a := range in {
		if a != nil && a.DType().IsFloat() && !a.DType().IsNarrow() && a.Len() > 0 {
			floats = append(floats, i)
			if !tame(a) {
				kinds = 4 // equal factors would let sums of large terms cancel
			}
		}
	}
	if len(floats) == 0 {
		return nil
	}
	in = slices.Clone(in)
	at := floats[r.IntN(len(floats))]
	a := array.Contiguous(array.Clone(in[at]))
	in[at] = a
	set := func(x float64) { array.SetFloat64At(a, r.IntN(a.Len()), x) }
	switch r.IntN(kinds) {
	case 0:
		set(math.NaN())
	case 1:
		set(math.Inf(1))
	case 2:
		set(math.Inf(-1))
	case 3:
		set(math.Inf(1))
		set(math.Inf(-1))
	case 4:
		for i := range a.Len() {
			array.SetFloat64At(a, i, 1.7)
		}
	}
	return in
}

// tame reports whether all elements are as large as activations are.
func tame(a *array.Array) bool {
	for i := range a.Len() {
		if !(math.Abs(array.Float64At(a, i)) < 1e3) {
			return false
		}
	}
	return true
}

// reordered are the operators whose nonfinite elements targets may compute in another order.
var reordered = map[string]bool{"conv1d": true, "conv2d": true, "conv3d": true, "conv_transpose1d": true, "conv_transpose2d": true, "conv_transpose3d": true,
	"conv1d_weight_grad": true, "conv2d_weight_grad": true, "conv3d_weight_grad": true, "block_attention": true, "block_linear": true, "block_linear_dynamic": true, "int4_linear": true, "int8_linear": true, "prod": true}

// Excused reports whether results of such operands are nobody's promise, as the operator's record says.
func Excused(o *op.Op, attrs any, in []*array.Array) bool {
	return reordered[o.Name] && len(o.Departs(op.Alters, attrs, in)) > 0
}

// Call is a call of an operator.
type Call struct {
	Op    *op.Op
	Attrs any
	In    []*array.Array
}

// FarFromZero returns calls of norms and deviations of elements that have more in common than they
// differ by, or are equal: a result that is rounded like the elements, and not like their
// differences, is far off. Their results are within 1e-5 of the interpreter's.
func FarFromZero() (calls []Call) {
	r := rand.New(rand.NewPCG(3, 754))
	for _, spread := range []float64{0, 0.01, 1} {
		array32 := func(n int, f func() float64) *array.Array {
			a := array.New(array.F32, n)
			for i := range n {
				array.SetFloat64At(a, i, f())
			}
			return a
		}
		x := array.Reshape(array32(420, func() float64 { return 3333.3 + spread*r.NormFloat64() }), 3, 4, 5, 7)
		weight, bias := array32(4, r.Float64), array32(4, r.NormFloat64)
		mean, variance := array32(4, func() float64 { return 3333 }), array32(4, func() float64 { return 0.7 })
		calls = append(calls,
			Call{std.LayerNorm, std.LayerNormAttrs{NormalizedShape: shape.ConstDims(5, 7), Eps: 1e-5}, []*array.Array{x, nil, nil}},
			Call{std.GroupNorm, std.GroupNormAttrs{NumGroups: 2, Eps: 1e-5}, []*array.Array{x, weight, bias}},
			Call{std.InstanceNorm, std.InstanceNormAttrs{Eps: 1e-5}, []*array.Array{x, nil, nil, weight, bias}},
			Call{std.BatchNorm, std.BatchNormAttrs{Eps: 1e-5, Training: true}, []*array.Array{x, nil, nil, weight, bias}},
			Call{std.BatchNorm, std.BatchNormAttrs{Eps: 1e-5}, []*array.Array{x, mean, variance, weight, bias}},
			Call{std.Var, std.VarAttrs{Dim: op.IntList(1, 3)}, []*array.Array{x}},
			Call{std.Std, std.VarAttrs{Dim: op.IntList(0, -1), KeepDim: true}, []*array.Array{x}})
	}
	return calls
}
