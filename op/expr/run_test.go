package expr_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// element returns the storage index of the element of a, broadcast to shape, at
// flat index i.
func element(a *array.Array, shape []int, i int) int {
	pos := a.Offset()
	for k := len(shape) - 1; k >= 0; k-- {
		c := i % shape[k]
		i /= shape[k]
		if j := k - (len(shape) - a.Rank()); j >= 0 && a.Dim(j) != 1 {
			pos += c * a.Strides()[j]
		}
	}
	return pos
}

// drawView draws an array of small integers that broadcasts to shape: dropped and
// unit axes, permuted memory, gaps, negative and zero strides, an offset.
func drawView(t *rapid.T, d array.DType, shape []int, name string) *array.Array {
	dims := slices.Clone(shape[rapid.IntRange(0, len(shape)).Draw(t, name+" dropped"):])
	perm := make([]int, len(dims))
	for i := range perm {
		perm[i] = i
		if rapid.IntRange(0, 3).Draw(t, name+" unit") == 0 {
			dims[i] = 1
		}
	}
	perm = rapid.Permutation(perm).Draw(t, name+" perm")
	strides, size, offset := make([]int, len(dims)), 1, 0
	for _, k := range perm {
		strides[k] = size * rapid.SampledFrom([]int{1, 1, 1, 2, -1, 0}).Draw(t, name+" step")
		if strides[k] < 0 {
			offset -= strides[k] * (max(dims[k], 1) - 1)
		}
		size += max(dims[k], 1) * max(strides[k], -strides[k])
	}
	pad := rapid.IntRange(0, 3).Draw(t, name+" offset")
	base := array.New(d, size+pad)
	for i := range base.Len() {
		v := uint64((i*7 + 3) % 23)
		switch {
		case d.IsFloat():
			v = fromFloat(d, float64(v))
		case d == array.Bool:
			v &= 1
		}
		setBits(base, i, v)
	}
	return array.Make(d, dims, strides, offset+pad, base.Storage())
}

// TestLayouts compares broadcast and strided inputs with indexing one by one.
func TestLayouts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(0, 5).Draw(t, "rank")
		shape := make([]int, rank)
		total := 1
		for i := range shape {
			shape[i] = rapid.SampledFrom([]int{0, 1, 1, 2, 3, 5, 16, 40}).Draw(t, "dim")
			if total*max(shape[i], 1) > 4000 {
				shape[i] = 1
			}
			total *= shape[i]
		}
		d := rapid.SampledFrom(array.DTypes()).Draw(t, "dtype")
		x, y := drawView(t, d, shape, "x"), drawView(t, d, shape, "y")
		b := expr.NewBuilder()
		u, v := b.Input(0, d), b.Input(1, d)
		both := b.Select(b.Lt(u, v), v, u)
		p := b.Compile(both, b.Eq(u, v))
		outs := []*array.Array{array.New(d, shape...), array.New(array.Bool, shape...)}
		var w kernel.Workspace
		step := kernel.Elementwise{Program: p}
		step.Run(&w, outs, []*array.Array{x, y})
		if w.HighWater() != step.ScratchBytes(outs, []*array.Array{x, y}) {
			t.Fatalf("ScratchBytes says %d, Run took %d", step.ScratchBytes(outs, []*array.Array{x, y}), w.HighWater())
		}
		for i := range total {
			a, e := getBits(x, element(x, shape, i)), getBits(y, element(y, shape, i))
			if got := getBits(outs[0], i); got != max(a, e) {
				t.Fatalf("element %d of %v: %d, want %d", i, shape, got, max(a, e))
			}
			if got := array.Raw[bool](outs[1])[i]; got != (a == e) {
				t.Fatalf("element %d of %v: equal is %v", i, shape, got)
			}
		}
	})
}

func TestBlockBoundaries(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 511, 512, 513, 1024, 1025} {
		for _, d := range array.DTypes() {
			b := expr.NewBuilder()
			// The constant lives across blocks; input and index change with them.
			v := b.Xor(b.And(b.Cast(b.Index(), array.I32), b.ConstInt(array.I32, 1)), b.Cast(b.Cast(b.Input(0, d), array.Bool), array.I32))
			x := array.New(d, n)
			for i := range n {
				if i%3 == 0 {
					setBits(x, i, grid(d)[len(grid(d))-1])
				}
			}
			got := array.Data[int32](run(t, b, []int{n}, []*array.Array{x}, v)[0])
			require.Len(t, got, n)
			for i, g := range got {
				want := int32(i & 1)
				if i%3 == 0 {
					want ^= 1
				}
				require.Equal(t, want, g, "%s element %d of %d", d, i, n)
			}
		}
	}
}

func TestIndexAndCoordinates(t *testing.T) {
	shape := []int{3, 7, 1, 50}
	b := expr.NewBuilder()
	c := []expr.Value{b.Coord(0), b.Coord(1), b.Coord(-2), b.Coord(-1)}
	flat := c[0]
	for k := 1; k < len(shape); k++ {
		flat = b.Add(b.Mul(flat, b.ConstInt(array.I64, int64(shape[k]))), c[k])
	}
	got := run(t, b, shape, nil, append(c, b.Index(), flat)...)
	for i := range got[0].Len() {
		rest := i
		for k := len(shape) - 1; k >= 0; k-- {
			require.Equal(t, int64(rest%shape[k]), array.Data[int64](got[k])[i])
			rest /= shape[k]
		}
		require.Equal(t, int64(i), array.Data[int64](got[4])[i])
		require.Equal(t, int64(i), array.Data[int64](got[5])[i])
	}
}

// TestOutputsOfAnyKind: inputs, constants and one value twice may be outputs; an
// input that is not read may be nil; outputs may start inside their storage.
func TestOutputsOfAnyKind(t *testing.T) {
	const n = 600
	b := expr.NewBuilder()
	x := b.Input(2, array.F32)
	sum := b.Add(x, x)
	p := b.Compile(x, b.ConstInt(array.I8, -3), sum, sum, b.Neg(x))
	require.Equal(t, []array.DType{array.Invalid, array.Invalid, array.F32}, p.Inputs)
	in := array.New(array.F32, n)
	for i := range n {
		array.Data[float32](in)[i] = float32(i)
	}
	outs := []*array.Array{array.New(array.F32, n), array.New(array.I8, n), array.New(array.F32, n), nil, array.New(array.F32, n)}
	big := array.New(array.F32, n+5)
	outs[3] = array.Make(array.F32, []int{n}, []int{1}, 5, big.Storage())
	var w kernel.Workspace
	kernel.Elementwise{Program: p}.Run(&w, outs, []*array.Array{nil, nil, in})
	for i := range n {
		require.Equal(t, float32(i), array.Data[float32](outs[0])[i])
		require.Equal(t, int8(-3), array.Data[int8](outs[1])[i])
		require.Equal(t, float32(2*i), array.Data[float32](outs[2])[i])
		require.Equal(t, float32(2*i), array.Data[float32](big)[i+5])
		require.Equal(t, float32(-i), array.Data[float32](outs[4])[i])
	}
	require.Equal(t, make([]float32, 5), array.Data[float32](big)[:5])
}

// TestRunAllocatesNothing holds from the second run on, and from the first after Reserve.
func TestRunAllocatesNothing(t *testing.T) {
	b := expr.NewBuilder()
	x, h, i := b.Input(0, array.F32), b.Cast(b.Input(1, array.F16), array.F32), b.Cast(b.Input(2, array.I32), array.F32)
	v := b.Select(b.Lt(x, h), b.Mul(b.Tanh(x), i), b.Cast(b.Coord(1), array.F32))
	in := []*array.Array{
		array.New(array.F32, 40, 50), array.New(array.F16, 50),
		array.Make(array.I32, []int{40, 50}, []int{1, 40}, 0, array.New(array.I32, 2000).Storage()),
	}
	out := []*array.Array{array.New(array.F32, 40, 50)}
	var step kernel.Step = kernel.Elementwise{Program: b.Compile(v)}
	var w kernel.Workspace
	w.Reserve(step.(kernel.Scratcher).ScratchBytes(out, in))
	require.Zero(t, testing.AllocsPerRun(5, func() { step.Run(&w, out, in) }))
}

// TestThreadsGiveTheSameResults cuts a run into chunks whose ends do not fall on
// rows, on three threads, and repeats it to see that nothing is allocated.
func TestThreadsGiveTheSameResults(t *testing.T) {
	const rows, cols = 700, 300
	b := expr.NewBuilder()
	x, y := b.Input(0, array.F32), b.Input(1, array.F32)
	v := b.Add(b.Tanh(b.Add(x, y)), b.Cast(b.Add(b.Index(), b.Coord(1)), array.F32))
	base := array.New(array.F32, rows*cols)
	for i := range base.Len() {
		array.Data[float32](base)[i] = float32(i%1000) / 100
	}
	in := []*array.Array{
		array.Make(array.F32, []int{rows, cols}, []int{1, rows}, 0, base.Storage()),
		array.Make(array.F32, []int{cols}, []int{-1}, cols, base.Storage()),
	}
	want := run(t, b, []int{rows, cols}, in, v)[0]
	out := []*array.Array{array.New(array.F32, rows, cols)}
	var step kernel.Step = kernel.Elementwise{Program: b.Compile(v)}
	w := kernel.Workspace{Threads: 3}
	step.Run(&w, out, in)
	require.Equal(t, array.Data[float32](want), array.Data[float32](out[0]))
	require.Less(t, testing.AllocsPerRun(20, func() { step.Run(&w, out, in) }), 1.0)
}

func TestRunRefusesWrongOperands(t *testing.T) {
	b := expr.NewBuilder()
	p := b.Compile(b.Add(b.Input(0, array.F32), b.Input(1, array.F32)))
	f := func(shape ...int) *array.Array { return array.New(array.F32, shape...) }
	for name, k := range map[string]struct{ out, in []*array.Array }{
		"no output":   {nil, []*array.Array{f(3), f(3)}},
		"few inputs":  {[]*array.Array{f(3)}, []*array.Array{f(3)}},
		"nil input":   {[]*array.Array{f(3)}, []*array.Array{f(3), nil}},
		"input type":  {[]*array.Array{f(3)}, []*array.Array{f(3), array.New(array.I32, 3)}},
		"output type": {[]*array.Array{array.New(array.F64, 3)}, []*array.Array{f(3), f(3)}},
		"input shape": {[]*array.Array{f(3)}, []*array.Array{f(3), f(2)}},
		"input rank":  {[]*array.Array{f(3)}, []*array.Array{f(3), f(1, 3)}},
		"strided output": {
			[]*array.Array{array.Make(array.F32, []int{3}, []int{2}, 0, f(6).Storage())}, []*array.Array{f(3), f(3)},
		},
	} {
		requireBug(t, name, func() {
			var w kernel.Workspace
			kernel.Elementwise{Program: p}.Run(&w, k.out, k.in)
		})
	}
	requireBug(t, "axis", func() {
		var w kernel.Workspace
		kernel.Elementwise{Program: b.Compile(b.Coord(1))}.Run(&w, []*array.Array{array.New(array.I64, 3)}, nil)
	})
}

func requireBug(t *testing.T, name string, f func()) {
	t.Helper()
	requireCode(t, name, diag.Internal, f)
}

func requireCode(t *testing.T, name string, code diag.Code, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		err, ok := recover().(*diag.Error)
		require.True(t, ok, "%s: no *diag.Error", name)
		require.ErrorIs(t, err, code, name)
	}()
	f()
}
