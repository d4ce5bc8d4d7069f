package std

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
)

// takesNarrow are the operators on types that only hold values, besides those that move
// elements: what computes on numbers must not be among them.
var takesNarrow = []*op.Op{Cast, Quantize, Dequantize}

func TestWhoTakesNarrowTypes(t *testing.T) {
	for _, o := range op.All() {
		if o.Narrow && o.Class != op.Movement {
			require.Contains(t, takesNarrow, o)
		}
	}
	for _, o := range takesNarrow {
		require.True(t, o.Narrow, o.Name)
	}
	for _, o := range []*op.Op{Pad, Unfold, Where, Scatter, Add, Full} {
		require.False(t, o.Narrow, o.Name)
	}
}

// lendBytes gives the bytes of an array of 32-bit floats or more, one for each element, to
// an array of type d; index operands stay as they are.
func lendBytes(x *array.Array, d array.DType) *array.Array {
	if x == nil || !x.DType().IsFloat() {
		return x
	}
	back, order := make([]int, x.Rank()), make([]int, x.Rank())
	for i := range order {
		order[i] = i
		if !x.IsContiguous() { // the last dimension is the outermost in memory
			order[i] = x.Rank() - 1 - i
		}
		back[order[i]] = x.Dim(i)
	}
	a := array.New(d, back...)
	for i := range a.Len() {
		array.Bytes(a)[i] = uint8(7 * i)
	}
	return array.Permute(a, order...)
}

// Operators that move elements move those of narrow types as those of u8.
func TestNarrowTypesMoveByBytes(t *testing.T) {
	moved := map[string]int{}
	for _, o := range op.All() {
		if !o.Narrow || o.Class != op.Movement || o == Bitcast {
			continue
		}
		for _, s := range o.Samples() {
			for _, d := range array.NarrowDTypes() {
				in, bytes := make([]*array.Array, len(s.In)), make([]*array.Array, len(s.In))
				floats := false
				for i, x := range s.In {
					floats = floats || x != nil && x.DType().IsFloat()
					in[i], bytes[i] = lendBytes(x, d), lendBytes(x, array.U8)
				}
				if !floats {
					continue
				}
				want, err := o.Eval(&kernel.Workspace{}, s.Attrs, bytes)
				require.NoError(t, err, "%s %s of u8", o.Name, s.Name)
				got, err := o.Eval(&kernel.Workspace{}, s.Attrs, in)
				require.NoError(t, err, "%s %s of %s", o.Name, s.Name, d)
				require.Len(t, got, len(want))
				for i := range want {
					if want[i].DType() != array.U8 {
						continue
					}
					require.Equal(t, d, got[i].DType(), "%s %s", o.Name, s.Name)
					require.Equal(t, array.Bytes(array.Contiguous(want[i])), array.Bytes(array.Contiguous(got[i])), "%s %s of %s", o.Name, s.Name, d)
				}
				moved[o.Name]++
			}
		}
	}
	for _, o := range []*op.Op{Reshape, Transpose, Slice, Cat, Gather, IndexSelect, Embedding, Tile, SliceScatter, Stack} {
		require.NotZero(t, moved[o.Name], o.Name)
	}
}

// All other operators refuse narrow types in any place, by their type rule.
func TestNarrowTypesAreRefused(t *testing.T) {
	tried := 0
	for _, o := range op.All() {
		if o.Narrow || o.AdHoc || o.Structural() {
			continue
		}
		for _, s := range o.Samples()[:min(4, len(o.Samples()))] {
			for i, x := range s.In {
				if x == nil {
					continue
				}
				for _, d := range array.NarrowDTypes() {
					in := append([]*array.Array(nil), s.In...)
					in[i] = array.New(d, x.Shape()...)
					_, err := o.Eval(&kernel.Workspace{}, s.Attrs, in)
					var e *diag.Error
					require.True(t, errors.As(err, &e), "%s %s takes %s as operand %d", o.Name, s.Name, d, i)
					require.Equal(t, op.DTypeMismatch, e.Code, "%s: %v", o.Name, err)
					tried++
				}
			}
		}
	}
	require.Greater(t, tried, 1000)
}

// Results of a narrow type are refused as operands are.
func TestNarrowResultsAreRefused(t *testing.T) {
	x := array.New(array.F32, 2, 2)
	for _, c := range []struct {
		o     *op.Op
		attrs any
		in    []*array.Array
	}{
		{ZerosLike, LikeAttrs{DType: array.F8E5M2}, []*array.Array{x}},
		{Full, FullAttrs{Value: op.Int(1), DType: array.I4}, nil},
		{Sum, ReduceAttrs{DType: array.U4}, []*array.Array{x}},
		{Eye, EyeAttrs{DType: array.F4E2M1FN}, nil},
		{Cat, DimAttrs{}, []*array.Array{x, array.New(array.F8E5M2, 2, 2)}},
		{Cat, DimAttrs{}, []*array.Array{array.New(array.U4, 2, 2), array.New(array.I4, 2, 2)}},
		{SliceScatter, SliceAttrs{Stop: End}, []*array.Array{x, array.New(array.I4, 2, 2)}},
	} {
		_, err := c.o.Eval(&kernel.Workspace{}, c.attrs, c.in)
		require.ErrorIs(t, err, op.DTypeMismatch, "%s %v", c.o.Name, c.attrs)
	}
	_, err := Add.Eval(&kernel.Workspace{}, nil, []*array.Array{array.New(array.F8E4M3FN, 2), array.New(array.F8E4M3FN, 2)})
	require.ErrorContains(t, err, "f8e4m3fn, which add does not take: it only holds values")
}

// Expressions have casts of narrow types, and nothing else on them.
func TestNarrowExpressions(t *testing.T) {
	b := expr.NewBuilder()
	x := b.Input(0, array.F8E5M2)
	require.Panics(t, func() { b.Add(x, x) })
	require.Panics(t, func() { b.Select(b.ConstBool(true), x, x) })
	require.Panics(t, func() { b.Eq(x, x) })
	twice := b.Cast(b.Cast(b.Input(1, array.F32), array.F8E5M2), array.F32)
	body := b.Graph(twice)
	c := expr.NewBuilder()
	simple := c.Simplify(body, []expr.Value{{}, c.Input(1, array.F32)})
	require.Len(t, c.Graph(simple...).Nodes, 3, "a cast to f8 and back rounds")
	kept := b.CastRounded(b.Input(1, array.F32), array.F8E5M2, array.Unsaturated)
	require.NotEqual(t, b.Cast(b.Input(1, array.F32), array.F8E5M2), kept)
	inlined := c.Inline(b.Graph(kept), []expr.Value{{}, c.Input(1, array.F32)})
	require.Equal(t, c.CastRounded(c.Input(1, array.F32), array.F8E5M2, array.Unsaturated), inlined[0], "how a cast rounds is inlined with it")
	bits, ok := b.CastRounded(b.Const(array.F32, 1e9), array.F8E5M2, array.Unsaturated).ConstBits()
	require.True(t, ok)
	require.Equal(t, uint64(0x7c), bits)
	bits, _ = b.Cast(b.ConstInt(array.I64, 9), array.I4).ConstBits()
	require.Equal(t, ^uint64(6), bits, "-7")
}
