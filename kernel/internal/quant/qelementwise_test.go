package quant

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/narrow"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func TestQAddAndQMul(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for range 100 {
		n, d := r.IntN(120), anyByte(r)
		a, b := qArray(r, d, n), qArray(r, d, n)
		in := []*array.Array{a, qScale(r, 1, 0.1), qZero(r, d), b, qScale(r, 1, 0.1), qZero(r, d), qScale(r, 1, 0.2), qZero(r, d)}
		out := array.New(d, n)
		lo, hi := int32(0), int32(255)
		if d == array.I8 {
			lo, hi = -128, 127
		}
		relu := r.IntN(2) == 0
		sa, sb, sy := array.Data[float32](in[1])[0], array.Data[float32](in[4])[0], array.Data[float32](in[6])[0]
		za, zb, zy := intAt(in[2], 0), intAt(in[5], 0), intAt(in[7], 0)
		if relu {
			lo = max(lo, zy)
		}
		var sums, products []float64
		for i := range n {
			x, y := int32(array.Int64At(a, i))-za, int32(array.Int64At(b, i))-zb
			s := float32(float32(x)*(sa/sy)) + float32(float32(y)*(sb/sy))
			sums = append(sums, float64(realRound(s, lo, hi, zy)))
			products = append(products, float64(realRound(float32(x*y)*(float32(sa*sb)/sy), lo, hi, zy)))
		}
		kerneltest.QLevels(t, func(level string) {
			QAdd{ReLU: relu}.Run(&par.Workspace{}, []*array.Array{out}, in)
			requireValues(t, sums, out, "%s add", level)
			QMul{ReLU: relu}.Run(&par.Workspace{}, []*array.Array{out}, in)
			requireValues(t, products, out, "%s mul", level)
		})
	}
}

// TestQPairsBroadcast compares steps whose operands broadcast with the same steps
// on operands that were written out.
func TestQPairsBroadcast(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 150 {
		var out, a, b []int
		for range 1 + r.IntN(5) {
			n := []int{1, 2, 3, 7, 40, 600}[r.IntN(6)]
			if operand.Prod(out)*n > 5000 {
				n = 2
			}
			one := r.IntN(4)
			out = append(out, n)
			a, b = append(a, n), append(b, n)
			if one == 0 {
				a[len(a)-1] = 1
			} else if one == 1 {
				b[len(b)-1] = 1
			}
		}
		if cut := r.IntN(len(b) + 1); operand.Prod(b[:cut]) == 1 {
			b = b[cut:]
		}
		d := anyByte(r)
		in := []*array.Array{qArray(r, d, a...), qScale(r, 1, 0.1), qZero(r, d), qArray(r, d, b...), qScale(r, 1, 0.1), qZero(r, d), qScale(r, 1, 0.2), qZero(r, d)}
		whole := append([]*array.Array{}, in...)
		whole[0], whole[3] = array.Clone(array.Expand(in[0], out...)), array.Clone(array.Expand(in[3], out...))
		got, want := array.New(d, out...), array.New(d, out...)
		for _, step := range []par.Step{QAdd{}, QMul{ReLU: true}} {
			kerneltest.QLevels(t, func(level string) {
				w := &par.Workspace{Threads: 1 + r.IntN(3)}
				step.Run(w, []*array.Array{want}, whole)
				step.Run(w, []*array.Array{got}, in)
				require.True(t, array.Equal(want, got), "%s %T %v %v", level, step, a, b)
			})
		}
	}
	x := array.New(array.U8, 2, 3)
	in := []*array.Array{x, qScale(r, 1, 1), nil, x, qScale(r, 1, 1), nil, qScale(r, 1, 1), nil}
	for _, out := range [][]int{{2, 4}, {3}, {5, 2, 3}, {3, 2}} {
		require.Panics(t, func() { QAdd{}.Run(&par.Workspace{}, []*array.Array{array.New(array.U8, out...)}, in) })
	}
}

// TestQPairsInPieces computes ranges of elements that begin and end anywhere, as
// several threads do.
func TestQPairsInPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	for _, c := range [][3][]int{{{7, 31, 13}, {7, 31, 1}, {7, 31, 13}}, {{5, 40, 9}, {40, 9}, {5, 40, 1}}, {{5, 3, 300}, {5, 3, 300}, {5, 1, 1}}, {{2, 30, 20}, {30, 1}, {2, 30, 20}}} {
		out, a, b := c[0], c[1], c[2]
		x, y := qArray(r, array.U8, a...), qArray(r, array.U8, b...)
		j := qPairJob{sum: qSum{scaleA: 0.5, scaleB: 0.25, hi: 255}, dst: make([]uint8, operand.Prod(out))}
		require.True(t, j.axes.join(out, a, b))
		j.a, j.b = array.Data[uint8](array.Clone(x)), array.Data[uint8](array.Clone(y))
		want := make([]uint8, len(j.dst))
		qAddGo(array.Data[uint8](array.Clone(array.Expand(x, out...))), array.Data[uint8](array.Clone(array.Expand(y, out...))), &j.sum, want)
		for range 200 {
			lo := r.IntN(len(want))
			hi := lo + 1 + r.IntN(len(want)-lo)
			clear(j.dst)
			j.Do(lo, hi)
			require.Equal(t, want[lo:hi], j.dst[lo:hi], "%v of %v", [2]int{lo, hi}, c)
			require.Zero(t, slices.Max(append(j.dst[hi:], 0))+slices.Max(append(j.dst[:lo:lo], 0)), "nothing else is written")
		}
	}
}

// TestQPairsWithoutElements has nothing to compute, wherever the dimension of size 0 is.
func TestQPairsWithoutElements(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, c := range [][3][]int{{{3, 0}, {3, 0}, {3, 0}}, {{2, 0}, {1, 1}, {2, 0}}, {{0}, {5, 3, 1}, {5, 3, 0}}, {{2, 0, 4}, {3, 1, 0, 1}, {3, 2, 0, 4}}} {
		in := []*array.Array{qArray(r, array.U8, c[0]...), qScale(r, 1, 1), nil, qArray(r, array.U8, c[1]...), qScale(r, 1, 1), nil, qScale(r, 1, 1), nil}
		QAdd{}.Run(&par.Workspace{}, []*array.Array{array.New(array.U8, c[2]...)}, in)
		in[0], in[3] = in[3], in[0]
		QMul{}.Run(&par.Workspace{}, []*array.Array{array.New(array.U8, c[2]...)}, in)
	}
	in := []*array.Array{qArray(r, array.U8, 3, 0), qScale(r, 1, 1), nil, qArray(r, array.U8, 2, 0), qScale(r, 1, 1), nil, qScale(r, 1, 1), nil}
	require.Panics(t, func() { QAdd{}.Run(&par.Workspace{}, []*array.Array{array.New(array.U8, 3, 0)}, in) })
}

func TestQuantizeAndDequantize(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 1e-42, 0.5, 1.5, -2.5}
	for range 80 {
		d := anyByte(r)
		shape := []int{1 + r.IntN(4), 1 + r.IntN(5), 1 + r.IntN(40)}
		x := array.FromSlice(kerneltest.RandomFloats(r, operand.Prod(shape)), shape...)
		for i, v := range array.Data[float32](x) {
			array.Data[float32](x)[i] = v * 20
			if r.IntN(5) == 0 {
				array.Data[float32](x)[i] = special[r.IntN(len(special))]
			}
		}
		axis, per := r.IntN(3), 1
		if r.IntN(2) == 0 {
			per = shape[axis]
		}
		scale, zero := qScale(r, per, 0.2), qArray(r, d, per)
		if r.IntN(4) == 0 {
			scale = array.FromSlice([]float32{1}, 1)
		}
		lo, hi := int32(0), int32(255)
		if d == array.I8 {
			lo, hi = -128, 127
		}
		param := func(i int) (float32, int32) {
			c := i / operand.Prod(shape[axis+1:]) % shape[axis]
			return array.Data[float32](scale)[c%scale.Len()], intAt(zero, c%zero.Len())
		}
		var want []float64
		for i, v := range array.Data[float32](x) {
			s, z := param(i)
			want = append(want, float64(realRound(v/s, lo, hi, z)))
		}
		out, back := array.New(d, shape...), array.New(array.F32, shape...)
		kerneltest.QLevels(t, func(level string) {
			w := &par.Workspace{Threads: 2}
			Quantize{Axis: axis - 3*r.IntN(2)}.Run(w, []*array.Array{out}, []*array.Array{x, scale, zero})
			requireValues(t, want, out, "%s quantize", level)
			Dequantize{Axis: axis}.Run(w, []*array.Array{back}, []*array.Array{out, scale, zero})
			for i, v := range array.Data[float32](back) {
				s, z := param(i)
				require.Equal(t, float32(int32(want[i])-z)*s, v)
			}
		})
	}
}

func TestDynamicQuantizeCoversTheRange(t *testing.T) {
	for _, c := range []struct {
		x     []float32
		scale float32
		zero  uint8
		q     []uint8
	}{
		{[]float32{0, 2, -3, -2.5, 1.34, 0.51}, 5.0 / 255, 153, []uint8{153, 255, 0, 26, 221, 179}},
		{[]float32{1, 2.1, 1.3, 2.5, 3.34, 4}, 4.0 / 255, 0, []uint8{64, 134, 83, 159, 213, 255}},
		{[]float32{0, 0}, 1.0 / 255, 0, []uint8{0, 0}},
		{[]float32{-1, -2}, 2.0 / 255, 255, []uint8{128, 0}},
	} {
		out := []*array.Array{array.New(array.U8, len(c.x)), array.New(array.F32), array.New(array.U8)}
		DynamicQuantize{}.Run(&par.Workspace{}, out, []*array.Array{array.FromSlice(c.x, len(c.x))})
		require.InEpsilon(t, c.scale, array.Data[float32](out[1])[0], 1e-6)
		require.Equal(t, c.zero, array.Data[uint8](out[2])[0])
		require.Equal(t, c.q, array.Data[uint8](out[0]))
	}
	huge := []float32{-math.MaxFloat32, math.MaxFloat32}
	scale, zero := rangeParams(valueRange(huge))
	require.False(t, math.IsInf(float64(scale), 0))
	require.Contains(t, []uint8{127, 128}, zero)
}

func TestQTable(t *testing.T) {
	table := make([]uint8, 256)
	for i := range table {
		table[i] = uint8(3*i + 1)
	}
	x := array.FromSlice([]int8{-128, -1, 0, 127}, 4)
	out := array.New(array.U8, 4)
	QTable{}.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{x, array.FromSlice(table, 256)})
	require.Equal(t, []uint8{table[128], table[255], table[0], table[127]}, array.Data[uint8](out))
}

// TestQStepsRefuse gives steps operands that no type rule would let through.
func TestQStepsRefuse(t *testing.T) {
	u8, f := array.New(array.U8, 2, 3), array.FromSlice([]float32{1}, 1)
	img, filter := array.New(array.U8, 1, 2, 4, 4), array.New(array.I8, 3, 2, 3, 3)
	out := func(d array.DType, shape ...int) []*array.Array { return []*array.Array{array.New(d, shape...)} }
	for name, run := range map[string]func(w *par.Workspace){
		"short a": func(w *par.Workspace) {
			QGemm(w, 2, make([]uint8, 5), 3, PackQ(true, 1, 3, make([]int8, 3), 3), make([]int32, 2), 1)
		},
		"short c": func(w *par.Workspace) {
			QGemm(w, 2, make([]uint8, 6), 3, PackQ(true, 1, 3, make([]int8, 3), 3), make([]int32, 1), 1)
		},
		"short b":  func(*par.Workspace) { PackQ(true, 2, 3, make([]int8, 5), 3) },
		"huge b":   func(*par.Workspace) { PackQ(true, 1<<40, 1<<40, nil, 1<<40) },
		"negative": func(*par.Workspace) { PackQ(true, -1, 3, nil, 3) },
		"inner": func(w *par.Workspace) {
			QLinear{}.Run(w, out(array.U8, 2, 4), []*array.Array{u8, f, nil, array.New(array.I8, 4, 2), f, nil, f, nil})
		},
		"packed": func(w *par.Workspace) {
			QLinear{Packed: true}.Run(w, out(array.U8, 2, 4), []*array.Array{u8, f, nil, array.New(array.I8, 9), f, nil, f, nil})
		},
		"type": func(w *par.Workspace) {
			QLinear{}.Run(w, out(array.F64, 2, 4), []*array.Array{u8, f, nil, array.New(array.I8, 4, 3), f, nil, f, nil})
		},
		"scales": func(w *par.Workspace) {
			QLinear{}.Run(w, out(array.U8, 2, 4), []*array.Array{u8, f, nil, array.New(array.I8, 4, 3), array.New(array.F32, 3), nil, f, nil})
		},
		"bias": func(w *par.Workspace) {
			QLinear{}.Run(w, out(array.U8, 2, 4), []*array.Array{u8, f, nil, array.New(array.I8, 4, 3), f, nil, f, nil, array.New(array.I32, 3)})
		},
		"batch": func(w *par.Workspace) {
			QMatMul{}.Run(w, out(array.I32, 2, 2, 3), []*array.Array{array.New(array.U8, 3, 2, 3), f, nil, array.New(array.I8, 3, 3), f, nil, nil, nil})
		},
		"channels": func(w *par.Workspace) {
			QConv{Groups: 2}.Run(w, out(array.U8, 1, 3, 2, 2), []*array.Array{img, f, nil, filter, f, nil, f, nil})
		},
		"stride": func(w *par.Workspace) {
			QConv{Stride: []int{0, 1}}.Run(w, out(array.U8, 1, 3, 2, 2), []*array.Array{img, f, nil, filter, f, nil, f, nil})
		},
		"stride rank": func(w *par.Workspace) {
			QConv{Stride: []int{1}}.Run(w, out(array.U8, 1, 3, 2, 2), []*array.Array{img, f, nil, filter, f, nil, f, nil})
		},
		"kernel": func(w *par.Workspace) {
			QConv{Packed: true}.Run(w, out(array.U8, 1, 3, 2, 2), []*array.Array{img, f, nil, filter, f, nil, f, nil})
		},
		"add": func(w *par.Workspace) {
			QAdd{}.Run(w, out(array.U8, 2, 3), []*array.Array{u8, f, nil, img, f, nil, f, nil})
		},
		"axis": func(w *par.Workspace) {
			Quantize{Axis: 5}.Run(w, out(array.U8, 2, 3), []*array.Array{array.New(array.F32, 2, 3), array.New(array.F32, 3), nil})
		},
		"table": func(w *par.Workspace) { QTable{}.Run(w, out(array.U8, 2, 3), []*array.Array{u8, u8}) },
		"int4 group": func(w *par.Workspace) {
			narrow.Int4Linear{Group: 20}.Run(w, out(array.F32, 1, 2), []*array.Array{array.New(array.F32, 1, 40), u8, f, nil})
		},
		"int4 weight": func(w *par.Workspace) {
			narrow.Int4Linear{Group: 32}.Run(w, out(array.F32, 1, 2), []*array.Array{array.New(array.F32, 1, 40), u8, array.New(array.F32, 2, 2), nil})
		},
		"half weight": func(w *par.Workspace) {
			narrow.HalfLinear{}.Run(w, out(array.F32, 1, 2), []*array.Array{array.New(array.F32, 1, 3), array.New(array.F32, 2, 3)})
		},
		"half columns": func(w *par.Workspace) {
			narrow.HalfLinear{}.Run(w, out(array.F32, 1, 2), []*array.Array{array.New(array.F32, 1, 3), array.New(array.F16, 2, 4)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				e, ok := recover().(*diag.Error)
				require.True(t, ok, "no *diag.Error")
				require.NotEmpty(t, e.Msg)
			}()
			run(&par.Workspace{})
		})
	}
}
