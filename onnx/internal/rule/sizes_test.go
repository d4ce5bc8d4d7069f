package rule

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Exporters write "expand, but keep dimensions that are -1" as comparisons of sizes: they
// are decided when a model is imported where they are the same for all sizes.
func TestComparisonsOfSizes(t *testing.T) {
	n, minus := shape.Sym("N"), shape.Const(-1)
	f := &sizeFolder{spec.Folder{Workspace: &kernel.Workspace{}}, &Draft{}}
	list := func(d ...shape.Dim) op.Value { return known1(SizeList(d...)) }
	have := f.Call(std.Eq, nil, list(n, minus, One), list(minus))
	require.Equal(t, []bool{false, true, false}, array.Data[bool](have.(spec.Constants).A[0]))
	got := f.Call(std.Where, nil, have, list(One), list(n, minus, shape.Const(7)))
	require.Equal(t, SizeList(n, One, shape.Const(7)), got.(symbols).s[0])
	open := f.Call(std.Eq, nil, list(n), list(shape.Const(3)))
	got = f.Call(std.Where, nil, open, list(n), list(Zero))
	for size, want := range map[int]int{0: 0, 2: 0, 3: 3, 4: 0} {
		v, err := got.(symbols).s[0].Dims[0].Eval(func(string) (int, bool) { return size, true })
		require.NoError(t, err)
		require.Equal(t, want, v, size)
	}
	for _, broken := range []func(){
		func() { f.Call(std.Eq, nil, list(n, n), list(n, n, n)) },
		func() { f.Call(std.Div, std.DivAttrs{RoundingMode: "trunc"}, list(n), list(n.AddInt(-3))) },
		func() { f.Call(std.Div, nil, list(n), list(n)) },
		func() { f.Call(std.Sqrt, nil, list(n)) },
		func() { f.Call(std.Sort, std.SortAttrs{}, list(n, One)) },
		func() { f.Call(std.Add, nil, list(n), spec.Constants{A: []*array.Array{array.New(array.I64, 2000)}}) },
	} {
		require.PanicsWithValue(t, spec.TooLarge{}, broken)
	}
}

// drawnSizes are operators that sizes go through, with operands drawn from the existing
// values.
var drawnSizes = []struct {
	o     *op.Op
	attrs any
	in    int
	fixed []*array.Array
}{
	{o: std.Add, in: 2}, {o: std.Sub, in: 2}, {o: std.Mul, in: 2}, {o: std.Neg, in: 1}, {o: std.Abs, in: 1}, {o: std.Sign, in: 1},
	{o: std.Minimum, in: 2}, {o: std.Maximum, in: 2}, {o: std.Clamp, attrs: std.ClampAttrs{Min: op.Int(2), Max: op.Int(9)}, in: 1},
	{o: std.Remainder, attrs: std.ReversibleAttrs{Other: op.Int(4)}, in: 1}, {o: std.Fmod, attrs: std.ReversibleAttrs{Other: op.Int(3)}, in: 1},
	{o: std.FloorDivide, attrs: std.ReversibleAttrs{Other: op.Int(2)}, in: 1}, {o: std.Div, attrs: std.DivAttrs{Other: op.Int(3), RoundingMode: "trunc"}, in: 1},
	{o: std.Flip, attrs: std.FlipAttrs{Dims: op.IntList(0)}, in: 1}, {o: std.Roll, attrs: std.RollAttrs{Shifts: op.IntList(1)}, in: 1},
	{o: std.Sum, attrs: std.ReduceAttrs{KeepDim: true}, in: 1}, {o: std.Amax, attrs: std.ReduceAttrs{Dim: op.IntList(0), KeepDim: true}, in: 1}, {o: std.Amin, attrs: std.ReduceAttrs{KeepDim: true}, in: 1},
	{o: std.Slice, attrs: std.SliceAttrs{Start: shape.Const(1), Stop: std.End}, in: 1}, {o: std.Cat, in: 2},
	{o: std.IndexSelect, in: 1, fixed: []*array.Array{array.FromSlice([]int64{0, 0, 1}, 3)}},
	{o: std.Pad, attrs: std.PadAttrs{Pad: shape.ConstDims(1, 0)}, in: 1}, {o: std.Eq, in: 2}, {o: std.Ne, in: 2}, {o: std.Lt, in: 2}, {o: std.Ge, in: 2},
	{o: std.Where, in: 3}, {o: std.LogicalAnd, in: 2}, {o: std.LogicalOr, in: 2}, {o: std.LogicalNot, in: 1}, {o: std.LogicalXor, in: 2},
	{o: std.Cast, attrs: std.CastAttrs{DType: array.I64}, in: 1}, {o: std.Cast, attrs: std.CastAttrs{DType: array.Bool}, in: 1},
}

// Rules compute the same results for sizes as for the numbers that those sizes turn out to
// be.
func TestSizesComputeAsNumbers(t *testing.T) {
	w := &kernel.Workspace{}
	call := func(b op.Builder, o *op.Op, attrs any, in ...op.Value) (v op.Value) {
		defer func() {
			if recover() != nil {
				v = nil
			}
		}()
		return b.Call(o, attrs, in...)
	}
	rapid.Check(t, func(t *rapid.T) {
		env := map[string]int{"N": rapid.IntRange(0, 9).Draw(t, "N"), "M": rapid.IntRange(0, 9).Draw(t, "M")}
		number := func(d shape.Dim) int {
			v, err := d.Eval(func(s string) (int, bool) { return env[s], true })
			require.NoError(t, err)
			return v
		}
		first := []shape.Dim{shape.Sym("N"), shape.Sym("M"), shape.Const(3)}
		open := []op.Value{known1(SizeList(first...)), known1(SizeList(shape.Sym("M").AddInt(-4)))}
		known := []op.Value{spec.Constants{A: []*array.Array{spec.IntArray([]int{env["N"], env["M"], 3}, false, array.I64)}},
			spec.Constants{A: []*array.Array{spec.IntArray([]int{env["M"] - 4}, false, array.I64)}}}
		for range rapid.IntRange(1, 6).Draw(t, "calls") {
			c := drawnSizes[rapid.IntRange(0, len(drawnSizes)-1).Draw(t, "operator")]
			var a, b []op.Value
			for range c.in {
				k := rapid.IntRange(0, len(open)-1).Draw(t, "operand")
				a, b = append(a, open[k]), append(b, known[k])
			}
			for _, x := range c.fixed {
				a, b = append(a, spec.Constants{A: []*array.Array{x}}), append(b, spec.Constants{A: []*array.Array{x}})
			}
			want := call(&spec.Folder{Workspace: w}, c.o, c.attrs, b...)
			got := call(&sizeFolder{spec.Folder{Workspace: w}, &Draft{}}, c.o, c.attrs, a...)
			if got == nil || want == nil {
				continue
			}
			s, ref := elements(got), want.(spec.Constants).A[0]
			require.Equal(t, ref.Shape(), append([]int{}, s.Shape...), c.o)
			require.Equal(t, ref.DType(), s.DType, c.o)
			for i, d := range s.Dims {
				require.Equal(t, int(array.Int64At(array.Contiguous(ref), i)), number(d), "%s: %s with %v", c.o, d, env)
			}
			open, known = append(open, got), append(known, want)
		}
	})
}
